/** Compiled constraints that went through a file: equal machines, or an error that names the part. */
import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { type CompileOptions, compile, GrammarError, type GrammarInput } from "../../../grammar/index.ts"
import {
  deserialize,
  Matcher,
  precompile,
  type Stored,
  StoreError,
  serializeMachine,
  serializeSource,
  TokenFsm,
  Vocabulary,
} from "../../../mask/index.ts"
import { sha256 } from "../../../mask/sha256.ts"
import { engineBuild } from "../../../mask/stored/store.ts"
import { expectSameWalks } from "../../support/machines.ts"
import { randomOf } from "../../support/oracle.ts"

const encoder = new TextEncoder()
const bytes: (Uint8Array | null)[] = Array.from({ length: 128 }, (_, byte) => Uint8Array.of(byte))
const vocabularyOf = (...pieces: string[]) =>
  Vocabulary.fromBytes([...bytes, ...pieces.map((piece) => encoder.encode(piece)), null], {
    endIds: [bytes.length + pieces.length],
  })
const vocabulary = vocabularyOf('{"', '": ', "true", "ab", "12")
const otherVocabulary = vocabularyOf('{"', '":', "false", "abc")

const person: GrammarInput = {
  kind: "json",
  schema: {
    type: "object",
    properties: { a: { type: "string", maxLength: 3 }, ab: { type: "integer", minimum: 1, maximum: 12 } },
    required: ["a"],
    additionalProperties: false,
  },
}
const open: GrammarInput = { kind: "json", schema: '{"type":"object","properties":{"a":{"minimum":1.0}}}' }

const lazy = (input: GrammarInput, options?: CompileOptions, over = vocabulary) =>
  new TokenFsm(compile(input, options).grammar, over)
function machineOf(input: GrammarInput, options: { masks?: boolean } = {}): Uint8Array {
  const { grammar, report } = compile(input)
  return serializeMachine(precompile(new TokenFsm(grammar, vocabulary)), report, options)
}

const files: [name: string, input: GrammarInput, options: CompileOptions, file: () => Uint8Array][] = [
  ["machine", person, {}, () => machineOf(person)],
  ["machine without masks", person, {}, () => machineOf(person, { masks: false })],
  ["source", open, {}, () => serializeSource(open)],
  [
    "source with options",
    open,
    { surface: "conform" },
    () => serializeSource(open, { surface: "conform" }, vocabulary),
  ],
]

describe.each(files)("%s", (name, input, options, file) => {
  const read = (over = vocabulary): Stored => deserialize(file(), over)

  test("the machine and the report are those that were written", () => {
    const stored = read()
    expect(stored.form).toBe(name.split(" ")[0])
    expectSameWalks(lazy(input, options), stored.machine)
    const { report, grammar } = compile(input, options)
    expect(JSON.stringify(stored.report)).toBe(JSON.stringify(report))
    expect(stored.grammarHash).toBe(sha256(encoder.encode(grammar.key)))
  })

  test("a vocabulary it is not for is named; without masks any will do", () => {
    if (["machine", "source with options"].includes(name)) {
      expect(read().vocabularyHash).toBe(vocabulary.hash)
      expect(() => read(otherVocabulary)).toThrow(expect.objectContaining({ part: "vocabulary hash" }))
    } else {
      expect(read().vocabularyHash).toBeUndefined()
      expectSameWalks(lazy(input, options, otherVocabulary), read(otherVocabulary).machine)
    }
  })

  test("bytes that are the same twice", () => {
    expect(Buffer.from(file()).equals(file())).toBe(true)
  })

  test("a flipped bit, a cut or a tail is found", () => {
    const good = file()
    const random = randomOf(5)
    for (let run = 0; run < 600; run++) {
      const bad = good.slice()
      bad[Math.floor(random() * bad.length)] ^= 1 << Math.floor(8 * random())
      expect(() => deserialize(bad, vocabulary)).toThrow(StoreError)
    }
    for (let length = 0; length < good.length; length += 1 + Math.floor(random() * (good.length / 300))) {
      expect(() => deserialize(good.subarray(0, length), vocabulary)).toThrow(StoreError)
    }
    expect(() => deserialize(Uint8Array.of(...good, 0), vocabulary)).toThrow(StoreError)
  })

  // Whoever changes a file can also mend its checksum: then nothing but the checks of each count and index is left.
  test("with a mended checksum: an error, or a machine that runs to its end", () => {
    const good = file()
    const random = randomOf(9)
    const change = (bad: Uint8Array): void => {
      const at = 8 + Math.floor(random() * (bad.length - 44))
      const kind = Math.floor(random() * 4)
      if (kind === 0) bad[at] ^= 1 << Math.floor(8 * random())
      else if (kind === 1) bad[at] = Math.floor(256 * random())
      else
        new DataView(bad.buffer).setUint32(at, kind === 2 ? 0xffffffff : Math.floor(2 ** 31 * random()), true)
    }
    let survivors = 0
    for (let run = 0; run < 1_500; run++) {
      const bad = good.slice()
      change(bad)
      if (random() < 0.2) change(bad)
      let stored: Stored
      try {
        stored = deserialize(mended(bad), vocabulary)
      } catch (error) {
        if (error instanceof StoreError || error instanceof GrammarError) continue
        throw error
      }
      survivors++
      runToEnd(stored, random)
    }
    if (name.startsWith("machine")) expect(survivors).toBeGreaterThan(0)
  })
})

/** The checksum of what is before it. */
function mended(file: Uint8Array): Uint8Array {
  const body = file.slice(0, file.length - 32)
  const hex = sha256(body)
  return Uint8Array.of(
    ...body,
    ...Array.from({ length: 32 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16)),
  )
}

function runToEnd({ machine }: Stored, random: () => number): void {
  const matcher = new Matcher(machine)
  const row = new Uint32Array(vocabulary.words)
  for (let step = 0; step < 12; step++) {
    matcher.fillMask(row)
    matcher.explain()
    matcher.accept(Math.floor(random() * vocabulary.width))
  }
  expect(matcher.acceptBytes(matcher.shortest()) || matcher.isTerminated()).toBe(true)
  expect(matcher.isAccepting()).toBe(true)
}

test.each<[part: string, at: number, value: number]>([
  ["magic", 0, 0],
  ["format version", 8, 2],
  ["content", 12, 7],
  ["engine build", 20, 0x31],
  ["checksum", 60, 0xff],
])("%s: what is wrong is named", (part, at, value) => {
  const bad = machineOf(person)
  bad[at] = value
  expect(() => deserialize(bad, vocabulary)).toThrow(expect.objectContaining({ name: "StoreError", part }))
})

test("a source that compiles to another grammar or report is refused", () => {
  const good = serializeSource(open)
  for (const [from, to, part] of [
    ['minimum\\":1.0', 'minimum\\":2.0', "grammar hash"],
    ['"exact"', '"exakt"', "report"],
  ]) {
    const text = Buffer.from(good).toString("latin1")
    expect(text).toContain(from)
    const bad = mended(new Uint8Array(Buffer.from(text.replace(from, to), "latin1")))
    expect(() => deserialize(bad, vocabulary)).toThrow(expect.objectContaining({ part }))
  }
})

test("a schema value that JSON cannot write is to be given as text", () => {
  const input: GrammarInput = { kind: "json", schema: { const: 12345678901234567890n } }
  expect(() => serializeSource(input)).toThrow(/JSON cannot write. Give its text instead/)
  expect(
    deserialize(serializeSource({ kind: "json", schema: '{"const":12345678901234567890}' }), vocabulary).form,
  ).toBe("source")
})

test("the build is the package's version", () => {
  expect(engineBuild).toBe(JSON.parse(readFileSync("package.json", "utf8")).version)
})

test("control tokens that a source names are those of the vocabulary where it is read", () => {
  const input: GrammarInput = { kind: "gbnf", text: 'root ::= "a" <|x|> "b"' }
  const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
  const over = (id: number) =>
    Vocabulary.fromBytes([...bytes, null, null, null], {
      width: 259,
      endIds: [256],
      specials: { "<|x|>": id },
    })
  const [one, other] = [over(257), over(258)]
  const file = serializeSource(input, { tokens: one })
  for (const [vocabularyThere, id] of [
    [one, 257],
    [other, 258],
  ] as const) {
    const { machine } = deserialize(file, vocabularyThere)
    expect(new Matcher(machine).validate([97, id, 98])).toBe(3)
    expect(new Matcher(machine).validate([97, 515 - id])).toBe(1)
  }
  expect(() => deserialize(file, vocabulary)).toThrow(/no token is spelled <\|x\|>/)
  const spelled = new Matcher(deserialize(file, vocabulary, { spellsTokens: true }).machine)
  expect(spelled.acceptBytes(encoder.encode("a<|x|>b"))).toBe(true)
  const own = serializeSource(input, {}, one)
  expect(() => deserialize(own, other)).toThrow(expect.objectContaining({ part: "vocabulary hash" }))
  expect(new Matcher(deserialize(own, one).machine).validate([97, 257, 98])).toBe(3)
})
