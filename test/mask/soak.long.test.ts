/**
 * Masks over the shipped vocabulary: random schemas under all presets, every bit of every mask against accept.
 *
 * Small vocabularies cannot meet the fast paths (slices, length rows, long tokens): this one can. At each place of a walk
 * the shortest completion must finish the text, and the finished text must be valid for ajv.
 */
import { readFileSync } from "node:fs"
import { Ajv2020 } from "ajv/dist/2020.js"
import { expect, test } from "vitest"
import { type CompileOptions, compile, GrammarError } from "../../grammar/index.ts"
import { isAllowed, Matcher, parseVocabulary, TokenFsm, type Vocabulary } from "../../mask/index.ts"
import { allowedIds, randomOf } from "../support/oracle.ts"
import { type Family, randomSchema, type SchemaValue } from "../support/schemas.ts"
import { Validator } from "../support/validate.ts"

const read = (name: string) => JSON.parse(readFileSync(`runtime/embedded/${name}`, "utf8"))
const vocabulary = parseVocabulary(read("tokenizer.json"), read("tokenizer_config.json"), { endIds: [0, 2] })
const presets: CompileOptions[] = [
  { surface: "generate" },
  { surface: "conform", unsatisfiable: "error" },
  { surface: "generate", escapes: "all", whitespace: "any" },
]
const isFull = process.env.TOKENRAIL_TESTS === "full"
/** A hundred schemas take some ten seconds. */
const schemaCount = Number(process.env.SOAK_COUNT ?? (isFull ? 3_000 : 150))
const firstSeed = Number(process.env.SOAK_SEED ?? 1)
/** What ajv reads differently from the standard, or not at all. */
const without: Family[] = ["format", "unevaluated"]

/** A field or two with bounds that the vocabulary's long tokens cross. */
function textSchema(seed: number): SchemaValue {
  const random = randomOf(seed)
  const pick = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)]
  const strings = [
    { type: "string", maxLength: Math.floor(random() * 12) },
    { type: "string", minLength: 1, maxLength: 1 + Math.floor(random() * 40) },
    { type: "string", pattern: pick(["^[a-f]{1,4}-[0-9]+$", "é|ab", "\\s\\w+$", "^(?!the).*$", "^.{2,9}$"]) },
    { type: "string", pattern: pick(["^[A-Z]", "[a-z]$", "\\d"]), maxLength: 9 },
    { type: "string", not: { enum: ["ab", "the", ""] } },
    { enum: ["the", "there", 'a"b\\', "ü\n", 12, null, { a: [1] }] },
    { type: "integer", minimum: -Math.floor(random() * 50), maximum: Math.floor(random() * 5_000) },
    { type: "number", multipleOf: 0.25, minimum: -2, exclusiveMaximum: 7 },
  ]
  const names = ["a", "the", 'd"d', "größe"].filter(() => random() < 0.6)
  switch (Math.floor(random() * 4)) {
    case 0:
      return { type: "array", items: pick(strings), maxItems: 3, uniqueItems: random() < 0.3 }
    case 1:
      return { type: "object", additionalProperties: pick(strings), maxProperties: 2 }
    case 2:
      return { anyOf: [pick(strings), pick(strings)] }
    default:
      return {
        type: "object",
        properties: Object.fromEntries(names.map((name) => [name, pick(strings)])),
        required: names.filter(() => random() < 0.5),
        additionalProperties: pick<unknown>([false, true, pick(strings)]),
      }
  }
}

interface Checked {
  masks: number
  problem: string | null
}

/** Walks once through `fsm`, and compares each mask with accept, token by token. */
function checkWalk(fsm: TokenFsm, seed: number, isValid: (text: string) => boolean): Checked {
  const row = new Uint32Array(vocabulary.words)
  const random = randomOf(seed)
  const matcher = new Matcher(fsm)
  let bytes: number[] = []
  for (let step = 0; step < 20; step++) {
    const at = () => `after ${JSON.stringify(Buffer.from(bytes).toString())}`
    matcher.fillMask(row)
    for (let token = 0; token < vocabulary.width; token++) {
      const accepted = matcher.accept(token)
      if (accepted) matcher.rollback(1)
      if (accepted !== isAllowed(row, token))
        return {
          masks: step,
          problem: `token ${token} ${nameOf(vocabulary, token)}: accept ${accepted} ${at()}`,
        }
    }
    const rest = matcher.shortest()
    const fork = matcher.fork()
    if ((rest.length > 0 && !fork.acceptBytes(rest)) || !fork.isAccepting())
      return { masks: step, problem: `shortest ${Buffer.from(rest)} does not finish ${at()}` }
    const text = Buffer.concat([Buffer.from(bytes), rest]).toString()
    if (!isValid(text)) return { masks: step, problem: `not valid: ${JSON.stringify(text)}` }
    const allowed = allowedIds(row, vocabulary.width)
    if (allowed.length === 0) return { masks: step, problem: `empty mask ${at()}` }
    const token = allowed[Math.floor(random() * allowed.length)]
    if (vocabulary.endIds.includes(token)) return { masks: step + 1, problem: null }
    matcher.accept(token)
    bytes = [...bytes, ...vocabulary.bytes(token)]
  }
  return { masks: 20, problem: null }
}

const nameOf = (of: Vocabulary, token: number) => JSON.stringify(Buffer.from(of.bytes(token)).toString())

test("every bit equals accept, and every shortest completion is valid", {
  timeout: 60_000 + 1_000 * schemaCount,
}, () => {
  const problems: string[] = []
  let masks = 0
  let refused = 0
  for (let seed = firstSeed; seed < firstSeed + schemaCount; seed++) {
    const schema = seed % 2 === 0 ? textSchema(seed) : randomSchema(seed, { without })
    const options = presets[seed % presets.length]
    const place = `seed ${seed} ${JSON.stringify(options)} ${JSON.stringify(schema)}`
    let compiled: ReturnType<typeof compile>
    try {
      compiled = compile({ kind: "json", schema }, options)
    } catch (error) {
      if (error instanceof GrammarError && error.kind !== "syntax") refused++
      else problems.push(`${(error as Error).message}: ${place}`)
      continue
    }
    try {
      const validate = new Ajv2020({ strict: false, validateFormats: false, multipleOfPrecision: 9 }).compile(
        schema,
      )
      // ajv takes an array for one that contains what it does not when contains stands under if or not beside other
      // keywords of arrays, and rounds long numbers: there the reference decides.
      const reference = new Validator(JSON.stringify(schema))
      const isDoubtful = (text: string) =>
        place.includes('"maxContains"') ||
        (place.includes('"contains"') && /"(not|if)"/.test(place)) ||
        /\d{16}/.test(text)
      const isValid = (text: string) =>
        validate(JSON.parse(text)) || (isDoubtful(text) && reference.accepts(text))
      const checked = checkWalk(new TokenFsm(compiled.grammar, vocabulary), seed, isValid)
      masks += checked.masks
      if (checked.problem !== null) problems.push(`${checked.problem}: ${place}`)
    } catch (error) {
      problems.push(`${(error as Error).message}: ${place}`)
    }
  }
  if (process.env.SOAK_COUNT) console.log({ schemaCount, masks, refused })
  expect(problems).toEqual([])
  expect(masks).toBeGreaterThan(schemaCount)
  expect(refused).toBeLessThan(schemaCount / 4)
})

test("it can fail: a mask that lacks one bit", () => {
  const { grammar } = compile({ kind: "json", schema: { type: "integer" } })
  const fsm = new TokenFsm(grammar, vocabulary)
  const fillMask = fsm.mask.bind(fsm)
  fsm.mask = (state) => ({ ...fillMask(state), ids: fillMask(state).ids.slice(1) })
  expect(checkWalk(fsm, 1, () => true).problem).toMatch(/accept true/)
})
