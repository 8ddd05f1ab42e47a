/** Machines that are closed ahead of time, against the lazy ones; and what has no end. */
import { describe, expect, test } from "vitest"
import { type CompileOptions, compile, type GrammarInput, type Limits } from "../../../grammar/index.ts"
import { DeadState } from "../../../grammar/state.ts"
import { type ClosedFsm, precompile, TokenFsm, Vocabulary } from "../../../mask/index.ts"
import { expectSameWalks } from "../../support/machines.ts"

const encoder = new TextEncoder()
const pieces = [
  '{"',
  '":',
  '"}',
  '", "',
  "true",
  "fal",
  "12",
  "ab",
  "[[",
  "]]",
  "é",
  "ä",
  "null",
  "e1",
  "20",
  "-0",
]
const bytes: (Uint8Array | null)[] = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
const tokens = [...bytes, ...pieces.map((piece) => encoder.encode(piece)), encoder.encode("ab"), null, null]
const vocabulary = Vocabulary.fromBytes(tokens, {
  width: tokens.length + 7,
  endIds: [tokens.length - 1, tokens.length - 2],
})

const closedObject = (properties: Record<string, unknown>, more: object = {}) => ({
  kind: "json" as const,
  schema: { type: "object", properties, additionalProperties: false, ...more },
})
const flags = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { type: "boolean" }]))

const finite: [name: string, input: GrammarInput, options?: CompileOptions][] = [
  ["a choice", { kind: "choice", options: ["a", "ab", "true", "", "é"] }],
  ["a date", { kind: "regex", pattern: "(19|20)[0-9]{2}-(0[1-9]|1[0-2])" }],
  ["a pattern with lookahead", { kind: "regex", pattern: "(?=.*b)[abä]{1,5}", flags: "u" }],
  ["a pattern without end", { kind: "regex", pattern: "(ab|12)*[^a]?" }],
  ["a string", { kind: "json", schema: { type: "string" } }],
  ["a short string", { kind: "json", schema: { type: "string", minLength: 1, maxLength: 4 } }],
  ["numbers", { kind: "json", schema: { type: "number", minimum: -0.5, maximum: 120 } }],
  ["a format", { kind: "json", schema: { type: "string", format: "date" } }],
  ["values", { kind: "json", schema: { enum: [1, "a", [true, null], { a: 12 }] } }],
  ["a closed object", closedObject({ a: { type: "string" }, ab: { enum: [1, 12] } }, { required: ["ab"] })],
  ["properties in any order", closedObject(flags(3)), { surface: "conform", whitespace: "tight" }],
  ["a bounded array", { kind: "json", schema: { type: "array", items: { type: "boolean" }, maxItems: 3 } }],
  [
    "unique items of few",
    { kind: "json", schema: { type: "array", uniqueItems: true, items: { enum: [1, 2] } } },
  ],
  [
    "a conditional",
    closedObject({ a: { type: "boolean" }, b: { type: "null" } }, { dependentRequired: { a: ["b"] } }),
  ],
  ["nothing", { kind: "json", schema: false }, { unsatisfiable: "empty" }],
]

describe.each(finite)("%s", (_, input, options) => {
  const lazy = () => new TokenFsm(compile(input, options).grammar, vocabulary)

  test("says what the lazy machine says", () => {
    const closed = precompile(lazy())
    expectSameWalks(lazy(), closed, { walks: 5, steps: 10 })
    expect(closed.stats().walks).toBe(0)
  })

  test("without stored masks too, by a walk a state", () => {
    const closed = precompile(lazy(), { maxMaskBytes: -1 })
    expectSameWalks(lazy(), closed, { walks: 2, steps: 6 })
    expect(closed.stats().walks > 0).toBe(closed.start !== DeadState)
  })
})

const infinite: [name: string, schema: object, place: string, says: RegExp][] = [
  [
    "an open object",
    { type: "object", properties: { a: true } },
    "",
    /more than 2000 states: names or items must differ/,
  ],
  [
    "unique items of many",
    { type: "array", uniqueItems: true, items: { type: "string" } },
    "",
    /must differ from all earlier/,
  ],
  [
    "recursion",
    { $defs: { n: { type: "array", items: { $ref: "#/$defs/n" } } }, $ref: "#/$defs/n" },
    "/$defs/n",
    /nests \d+ levels deep by then. Bound the recursion/,
  ],
  ["a long string", { type: "string", maxLength: 5_000 }, "", /Lower them, or raise maxStates/],
]

test.each(infinite)("refuses %s, and says what has no end", (_, schema, place, says) => {
  const fsm = new TokenFsm(compile({ kind: "json", schema }).grammar, vocabulary)
  const close = () => precompile(fsm, { maxStates: 2_000 })
  expect(close).toThrow(expect.objectContaining({ name: "GrammarError", kind: "limit" }))
  expect(close).toThrow(says)
  expect(close).toThrow(expect.objectContaining({ path: expect.stringContaining(place) }))
})

test("a text that ends far away is refused before it is searched for at every state", () => {
  const close = (limits: Partial<Limits> = {}) =>
    precompile(
      new TokenFsm(
        compile({ kind: "json", schema: { minLength: 400, type: "string" } }, { limits }).grammar,
        vocabulary,
      ),
    )
  expect(() => close()).toThrow(/characters, above the bound of 256 .* Raise limits\.storedEnding/)
  expect(() => close({ storedEnding: 420, storedEndings: 10_000 })).toThrow(/Raise limits\.storedEndings/)
})

test("optional properties in schema order add states, they do not multiply them", () => {
  const countOf = (count: number): number => {
    const closed: ClosedFsm = precompile(
      new TokenFsm(compile(closedObject(flags(count))).grammar, vocabulary),
    )
    return closed.stateCount
  }
  const [four, eight, twelve] = [4, 8, 12].map(countOf)
  expect(twelve - eight).toBeLessThan(1.5 * (eight - four))
})
