/**
 * The long runs over MaskBench dev: `node dist/test/soak/main.js masks|walks|walk|spellings|stored|forced --vocab DIR [--surface generate]
 * [--seed 1] [--count N] [--every 1] [--first 0] [--draw uniform|byte] [--id NAME] [--limit-ms MS]`.
 *
 * `walk` draws `--tokens` over dev, the hard schemas and the bombs together, `--mask-ms` for each mask, and tells masks above
 * `--slow-ms`.
 *
 * `--count` is per schema: walks, or spellings of each valid text; `--steps` are the tokens of a walk. Prints one line a disagreement, then a JSON summary;
 * exit 1 when there was any. Figures do not depend on what ran before but through caches, which must not matter.
 */
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { type CompileOptions, GrammarError } from "../../grammar/index.ts"
import { toText } from "../../grammar/json/read/reader.ts"
import { parseVocabulary } from "../../mask/index.ts"
import { Tokenizer } from "../../runtime/model/tokenizer.ts"
import { bombs, bombText } from "../support/bombs/bombs.ts"
import { hardLines, maskBenchLines } from "../support/validate/corpora.ts"
import type { Draw } from "./draw.ts"
import { soakForced } from "./forced.ts"
import { compareMasks, plainLocals } from "./masks.ts"
import { soakRoam } from "./roam.ts"
import { soakSpellings } from "./spellings.ts"
import { soakStored } from "./stored.ts"
import { soakWalks } from "./walks.ts"

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    vocab: { type: "string", default: "runtime/embedded" },
    surface: { type: "string", default: "conform" },
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "2" },
    steps: { type: "string", default: "4" },
    tries: { type: "string", default: "20" },
    every: { type: "string", default: "1" },
    first: { type: "string", default: "0" },
    draw: { type: "string", default: "byte" },
    id: { type: "string" },
    tokens: { type: "string", default: "1000000" },
    "mask-ms": { type: "string", default: "5000" },
    "slow-ms": { type: "string", default: "500" },
  },
})
const what = positionals[0]
const seed = Number(flags.seed)
const count = Number(flags.count)
const draw = flags.draw as Draw
const compileOptions = {
  surface: flags.surface as "conform",
  unsatisfiable: "empty",
} satisfies CompileOptions

const read = (name: string) => JSON.parse(readFileSync(`${flags.vocab}/${name}`, "utf8"))
const [tokenizer, config] = [read("tokenizer.json"), read("tokenizer_config.json")]
const added: { id: number; content: string }[] = tokenizer.added_tokens
const endIds = added.filter(({ content }) => content === config.eos_token).map(({ id }) => id)
const vocabulary = parseVocabulary(tokenizer, config, { endIds })
const directory = {
  path: flags.vocab,
  tokenizerJson: tokenizer,
  tokenizerConfig: config,
  chatTemplates: new Map(),
}
const encode = new Tokenizer(directory, vocabulary).encodePart
const plain = plainLocals(vocabulary)
const totals: Record<string, number> = { schemas: 0, refused: 0, limits: 0, disagreements: 0 }
const begin = performance.now()
let index = 0
const schemas = what === "walk" ? [...maskBenchLines(), ...hardLines(), ...bombLines()] : maskBenchLines()
const schemaCount = Array.isArray(schemas) ? schemas.length : 0
for (const { id, schema, tests } of schemas) {
  const at = index++
  if (at % Number(flags.every) !== Number(flags.first) || (flags.id !== undefined && flags.id !== id))
    continue
  const text = typeof schema === "string" ? schema : toText(schema)
  totals.schemas++
  try {
    const result = run(text, tests)
    for (const [name, value] of Object.entries(result))
      if (name === "slowestMask") totals[name] = Math.max(totals[name] ?? 0, Math.round(Number(value)))
      else if (typeof value === "number") totals[name] = (totals[name] ?? 0) + value
    totals.disagreements += result.disagreements.length
    for (const line of [...result.disagreements, ...(result.limits ?? []), ...(result.slow ?? [])])
      console.log(`${id}: ${line}`)
  } catch (error) {
    if (error instanceof GrammarError && error.kind === "limit") totals.limits++
    else if (error instanceof GrammarError) totals.refused++
    else totals.disagreements++
    console.log(`${id}: ${error instanceof GrammarError ? error : (error as Error).stack}`)
  }
  if (totals.schemas % 100 === 0)
    console.error(
      `${elapsed()} s, ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB ${JSON.stringify(totals)}`,
    )
}
console.log(JSON.stringify({ what, flags, elapsed_s: elapsed(), totals }))
process.exitCode = totals.disagreements > 0 ? 1 : 0

function elapsed(): number {
  return Math.round((performance.now() - begin) / 1000)
}

function run(
  schema: string,
  tests: { valid: boolean; text: string }[],
): { disagreements: string[]; limits?: string[]; slow?: string[] } {
  switch (what) {
    case "masks": {
      const texts = tests.map((test) => test.text)
      const shared = { vocabulary, plain, compile: compileOptions, seed, draw }
      return compareMasks(schema, texts, {
        ...shared,
        walks: count,
        steps: Number(flags.steps),
        tries: Number(flags.tries),
      })
    }
    case "walks":
      return soakWalks(schema, {
        ...{ vocabulary, compile: compileOptions, seed, draw },
        ...{ tokens: count, walkTokens: Number(flags.steps) },
      })
    case "walk":
      return soakRoam(schema, {
        ...{ vocabulary, compile: compileOptions, seed: seed + index },
        ...{ tokens: Math.ceil((Number(flags.tokens) * Number(flags.every)) / schemaCount), walkTokens: 60 },
        texts: tests.filter(({ valid }) => valid).map((test) => test.text),
        ...{ compileMs: 10_000, maskMs: Number(flags["mask-ms"]), slowMs: Number(flags["slow-ms"]) },
      })
    case "spellings":
      return soakSpellings(schema, tests, { vocabulary, compile: compileOptions, seed, count })
    case "stored":
      return soakStored(schema, {
        ...{ vocabulary, compile: compileOptions, seed, draw },
        ...{ walks: count, steps: Number(flags.steps), maxStates: 20_000 },
      })
    case "forced":
      return soakForced(schema, tests, { vocabulary, encode, compile: compileOptions })
    default:
      throw new Error(`unknown soak ${what}: masks, walks, walk, spellings, stored, forced`)
  }
}

function* bombLines() {
  for (const name of Object.keys(bombs)) yield { id: `bomb ${name}`, schema: bombText(name), tests: [] }
}
