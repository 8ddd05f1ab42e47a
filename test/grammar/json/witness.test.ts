import { expect, test } from "vitest"
import { compile } from "../../../grammar/index.ts"
import { Matcher, TokenFsm, Vocabulary } from "../../../mask/index.ts"

const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
const vocabulary = Vocabulary.fromBytes([...bytes, null], { endIds: [256] })

const cases: [name: string, schema: unknown, prefix: string][] = [
  ["two unique items of any kind", { type: "array", minItems: 2, uniqueItems: true }, ""],
  [
    "the same below a required property",
    { required: ["b"], properties: { b: { minItems: 3, uniqueItems: true, type: "array" } } },
    "{",
  ],
  [
    "unique arrays",
    {
      type: "array",
      minItems: 3,
      uniqueItems: true,
      items: { type: "array", uniqueItems: true, minItems: 1 },
    },
    "[",
  ],
  [
    "many unique values out of a list",
    {
      type: "array",
      minItems: 60,
      uniqueItems: true,
      items: { enum: Array.from({ length: 99 }, (_, i) => `é"${i}`) },
    },
    '["é\\"5",',
  ],
  [
    "many unique values, scalars and others",
    {
      type: "array",
      minItems: 20,
      uniqueItems: true,
      items: { enum: [1, "a", null, true, { b: 1 }, [1], ...Array.from({ length: 20 }, (_, i) => i + 0.5)] },
    },
    "[[1],1.5",
  ],
  [
    "the one value that contains asks for",
    { type: "array", contains: { enum: [1] }, uniqueItems: true },
    "[2,",
  ],
  [
    "a list that ends somewhere",
    {
      $ref: "#/$defs/n",
      $defs: {
        n: {
          required: ["next"],
          type: "object",
          properties: { next: { anyOf: [{ $ref: "#/$defs/n" }, { type: "null" }] } },
        },
      },
    },
    '{"next":{',
  ],
  ["64 hexadecimal digits somewhere", { type: "string", pattern: "[0-9a-f]{64}" }, '"12ab'],
  ["ten thousand items", { type: "array", minItems: 10_000 }, "[1"],
  [
    "more members than calls may nest",
    { type: "object", required: Array.from({ length: 3_000 }, (_, i) => `p${i}`) },
    "{",
  ],
  ["an item after a comma", { type: "array", items: { type: "integer" } }, "[1,"],
  [
    "of two classes of names exactly one with a list that is not empty",
    {
      type: "object",
      oneOf: ["a", "b"].map((letter) => {
        const full = { type: "array", minItems: 1, items: { type: "object" } }
        const some = { not: { patternProperties: { [letter]: { not: full } } } }
        return { allOf: [{ patternProperties: { [letter]: full } }, some] }
      }),
    },
    '{"',
  ],
  ["a multiple of a small fraction", { type: "integer", multipleOf: 0.123456789 }, "12"],
]

for (const [name, schema, prefix] of cases) {
  test(`a short completion: ${name}`, () => {
    const matcher = new Matcher(new TokenFsm(compile({ kind: "json", schema }).grammar, vocabulary))
    expect(matcher.acceptBytes(new TextEncoder().encode(prefix))).toBe(true)
    const rest = matcher.shortest()
    expect(rest.length === 0 || matcher.acceptBytes(rest), new TextDecoder().decode(rest)).toBe(true)
    expect(matcher.isAccepting(), new TextDecoder().decode(rest)).toBe(true)
  })
}

test("unique items cannot be counted twice: no value is left for the second match", () => {
  for (const contains of [{ type: "null" }, { const: 1 }]) {
    const schema = { type: "array", contains, minContains: 2, uniqueItems: true }
    expect(() => compile({ kind: "json", schema })).toThrow(
      expect.objectContaining({ kind: "unsatisfiable" }),
    )
  }
  const two = { type: "array", contains: { type: "boolean" }, minContains: 2, uniqueItems: true }
  const matcher = new Matcher(new TokenFsm(compile({ kind: "json", schema: two }).grammar, vocabulary))
  expect(matcher.acceptBytes(new TextEncoder().encode("[1,true,2"))).toBe(true)
  expect(matcher.acceptBytes(matcher.shortest())).toBe(true)
  expect(matcher.isAccepting()).toBe(true)
})

test("null is written, not the string of a million characters beside it", () => {
  const schema = { type: ["string", "null"], minLength: 1e6 }
  const matcher = new Matcher(new TokenFsm(compile({ kind: "json", schema }).grammar, vocabulary))
  expect(matcher.acceptBytes(new TextEncoder().encode("n"))).toBe(true)
  const list = { type: "array", items: schema, minItems: 1 }
  const items = new Matcher(new TokenFsm(compile({ kind: "json", schema: list }).grammar, vocabulary))
  expect(new TextDecoder().decode(items.shortest())).toBe("[null]")
})

test.each<[name: string, schema: unknown]>([
  ["one string", { type: "string", minLength: 1e9 }],
  ["many strings", { type: "array", minItems: 1e6, items: { type: "string", minLength: 10_000 } }],
])("a shortest text that no memory holds is a limit: %s", (_, schema) => {
  expect(() => compile({ kind: "json", schema })).toThrow(expect.objectContaining({ kind: "limit" }))
})

test("a shortest value that no memory holds is a limit, not a crash", () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 40 }, (_, i) => {
      const next = i === 39 ? { type: "null" } : { $ref: `#/$defs/d${i + 1}` }
      return [`d${i}`, { type: "object", required: ["a", "b"], properties: { a: next, b: next } }]
    }),
  )
  expect(() => compile({ kind: "json", schema: { $ref: "#/$defs/d0", $defs } })).toThrow(
    expect.objectContaining({ kind: "limit", path: "/$defs/d23" }),
  )
})
