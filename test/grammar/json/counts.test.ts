/** Lengths and counts that no text comes up to: refused before the first byte where a value needs them, idle where one bounds them. */
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { GrammarError } from "../../../grammar/errors.ts"
import { compile, type GrammarInput } from "../../../grammar/index.ts"
import { TokenFsm } from "../../../mask/index.ts"
import { acceptsText, vocabularyOf } from "../../support/oracle.ts"

const bytes = vocabularyOf(Array.from({ length: 256 }, (_, byte) => byte))

function refusal(input: GrammarInput): { kind: string; path: string; message: string } | null {
  try {
    compile(input)
    return null
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error
    return { kind: error.kind, path: error.path, message: error.message }
  }
}

const json = (schema: unknown): GrammarInput => ({ kind: "json", schema: schema as string })

/** Around 2^31 and 2^53, and what is no double. */
const counts = [
  "1048577",
  "2147483646",
  "2147483647",
  "2147483648",
  "4294967296",
  "4294967297",
  "1000000000000000",
  "9007199254740991",
  "9007199254740993",
  "1e308",
  "1e400",
]

describe.each(counts)("%s", (count) => {
  test.each([
    ["a string", `{"type":"string","minLength":${count}}`, "/minLength"],
    ["a string with a pattern", `{"type":"string","pattern":"^a*$","minLength":${count}}`, "/minLength"],
    ["any type", `{"minLength":${count}}`, "/minLength"],
    ["an array", `{"type":"array","items":{"type":"integer"},"minItems":${count}}`, "/minItems"],
    ["items that differ", `{"type":"array","uniqueItems":true,"minItems":${count}}`, "/minItems"],
    ["items that count", `{"type":"array","contains":{"const":1},"minContains":${count}}`, "/minContains"],
    ["an object", `{"type":"object","minProperties":${count}}`, "/minProperties"],
    ["an optional property", `{"properties":{"a":{"minLength":${count}}}}`, "/properties/a/minLength"],
    ["other properties", `{"additionalProperties":{"minItems":${count}}}`, "/additionalProperties/minItems"],
    ["one branch of two", `{"anyOf":[{"type":"null"},{"minLength":${count}}]}`, "/anyOf/1/minLength"],
    ["an item", `{"items":{"minLength":${count}}}`, "/items/minLength"],
    ["names", `{"type":"object","propertyNames":{"minLength":${count}}}`, "/propertyNames/minLength"],
  ])("is more than any text has: %s", (_, schema, path) => {
    const error = refusal(json(schema))
    expect(error).toMatchObject({ kind: "limit", path })
    expect(error?.message).toMatch(
      / of at least \d+ \w+ is longer than the bound of 1048576 characters\. Lower min/,
    )
  })
})

test.each([
  ["lengths", { type: "string", not: { maxLength: 2147483647 } }, "/not/maxLength"],
  ["items", { type: "array", not: { maxItems: 4294967296 } }, "/not/maxItems"],
  ["properties", { type: "object", not: { maxProperties: 1e15 } }, "/not/maxProperties"],
])("what is left of %s without an upper bound is longer than any text", (_, schema, path) => {
  expect(refusal(json(schema))).toMatchObject({ kind: "limit", path })
  expect(refusal(json(schema))?.message).toMatch(/only values above \d+ satisfy the schema/)
})

test("what contradicts itself besides is unsatisfiable still", () => {
  expect(refusal(json({ type: "string", maxLength: 2147483647, enum: [1] }))?.kind).toBe("unsatisfiable")
  expect(refusal(json({ type: "array", minItems: 4294967296, maxItems: 2 }))?.kind).toBe("unsatisfiable")
})

test.each<[name: string, schema: unknown, accept: string[], reject: string[]]>([
  ["an upper length", { type: "string", maxLength: 2147483647 }, ['"a"', '""'], ["1"]],
  ["an upper length and a pattern", { type: "string", maxLength: 1e15, pattern: "^a+$" }, ['"aa"'], ['"b"']],
  ["an upper count", { type: "array", maxItems: 4294967296 }, ["[]", "[1,2]"], ["{}"]],
  ["a denied minimum", { not: { minLength: 4294967296 } }, ['"a"', '""'], ["1"]],
  ["an asked minimum", { if: { minLength: 4294967296 }, else: { const: "b" } }, ['"b"', "1"], ['"a"']],
  ["a denied upper bound", { oneOf: [{ maxLength: 2147483647 }, { pattern: "^b" }] }, ['"a"'], ['"b"']],
  ["a count that no value has", { contains: { const: 1 }, maxContains: 1e15 }, ["[1]", "[1,1]"], ["[2]"]],
  ["an absurd count of another type", { type: "integer", minLength: 4294967296 }, ["1"], ['"a"']],
  ["an absurd count that nothing has", { type: "array", minItems: 0, maxItems: 2 }, ["[1]"], ["[1,2,3]"]],
])("%s", (_, schema, accept, reject) => {
  const fsm = new TokenFsm(compile(json(schema), { surface: "conform" }).grammar, bytes)
  for (const text of accept) expect(acceptsText(fsm, text), text).toBe(true)
  for (const text of reject) expect(acceptsText(fsm, text), text).toBe(false)
})

test("counts multiply over items and required properties, wherever they are", () => {
  const rows = { type: "array", minItems: 2000, items: { type: "array", minItems: 2000 } }
  for (const schema of [rows, { properties: { a: rows } }, { anyOf: [{ type: "null" }, rows] }])
    expect(refusal(json(schema))).toMatchObject({ kind: "limit" })
  const texts = { type: "array", minItems: 1000, items: { type: "string", pattern: "^(abcd){400}$" } }
  expect(refusal(json(texts))?.message).toMatch(/has 1603001 characters or more, above the bound of 1048576/)
})

test.each<[name: string, input: GrammarInput]>([
  ["a repetition of one", { kind: "regex", pattern: "(a{46341}){46341}" }],
  ["a branch of two", { kind: "regex", pattern: "a|b(c{2000}){2000}" }],
  ["what may be left out", { kind: "regex", pattern: "((c{2000}){2000})?" }],
  ["two in a row", { kind: "regex", pattern: "a{600000}b{600000}" }],
  ["three levels", { kind: "regex", pattern: "((a{2000}){2000}){2000}" }],
  ["a pattern", json({ type: "string", pattern: "(a{46341}){46341}" })],
  ["GBNF", { kind: "gbnf", text: 'root ::= ("a"{65536}){65536}' }],
  ["a branch in GBNF", { kind: "gbnf", text: 'root ::= "a" | "b" ("c"{65536}){65536}' }],
  [
    "a loop in GBNF",
    { kind: "gbnf", text: 'root ::= "a" (x{2000} "b")* \nx ::= y{2000} \ny ::= "c" root? "d"' },
  ],
  [
    "rules that double",
    {
      kind: "gbnf",
      text: `root ::= "x" | r0\n${Array.from({ length: 60 }, (_, i) => `r${i} ::= r${i + 1} r${i + 1}`).join("\n")}\nr60 ::= "a" | "b" r60`,
    },
  ],
  ["Lark", { kind: "lark", text: 'start: (A~65536)~65536\nA: "a" | "b"' }],
  ["a Lark terminal", { kind: "lark", text: 'start: A?\nA: ("a"~65536)~65536' }],
  [
    "a structural tag",
    {
      kind: "tag",
      format: {
        type: "repeat",
        min: 65536,
        max: 65536,
        content: { type: "repeat", min: 65536, max: -1, content: { type: "const_string", value: "a" } },
      },
    },
  ],
])("products of counts are a limit, not a contradiction: %s", (_, input) => {
  expect(refusal(input)).toMatchObject({ kind: "limit" })
  expect(refusal(input)?.message).toMatch(/ takes at least \d+ bytes, above the bound of 1048576\. Lower/)
})

const long = "x".repeat(1_100_000)

test.each<[name: string, input: GrammarInput]>([
  ["a choice", { kind: "choice", options: ["a", long] }],
  ["a substring", { kind: "substring", chunks: ["a", long] }],
  ["an enum", json({ enum: ["a", long] })],
  ["a const of an optional property", json({ properties: { a: { const: [long] } } })],
  ["GBNF", { kind: "gbnf", text: `root ::= "a" | "${long}"` }],
])("a text that is longer than the bound is refused: %s", (_, input) => {
  expect(refusal(input)).toMatchObject({ kind: "limit" })
})

test("counts that are raised above what is kept of them stay what they are to any text", () => {
  const limits = { maxRepeat: Number.MAX_SAFE_INTEGER }
  for (const pattern of ["a{0,4294967297}", "(a{0,65536}){0,65537}", "(a|b{0,9007199254740991})*"]) {
    const fsm = new TokenFsm(compile({ kind: "regex", pattern }, { limits }).grammar, bytes)
    expect(acceptsText(fsm, "aaa"), pattern).toBe(true)
    expect(acceptsText(fsm, "c"), pattern).toBe(false)
  }
})

const factor = fc.constantFrom(1, 2, 3, 7, 1_000, 1_024, 1_025, 46_341, 65_536, 1_000_000)

test("nested repetitions are refused exactly where the product of their counts is above the bound", () => {
  fc.assert(
    fc.property(fc.array(factor, { minLength: 1, maxLength: 5 }), fc.boolean(), (factors, isBranch) => {
      const product = factors.reduce((all, count) => all * BigInt(count), 1n)
      const pattern = factors.reduce((inner, count) => `(?:${inner}){${count}}`, "a")
      const gbnf = factors.reduce((inner, count) => `(${inner}){${count}}`, '"a"')
      const expected = product > 1_048_576n ? "limit" : undefined
      const inputs: GrammarInput[] = [
        { kind: "regex", pattern: isBranch ? `b|${pattern}` : pattern },
        { kind: "gbnf", text: `root ::= ${isBranch ? `"b" | ${gbnf}` : gbnf}` },
      ]
      for (const input of inputs) expect(refusal(input)?.kind, `${pattern} in ${input.kind}`).toBe(expected)
    }),
    { numRuns: 60, seed: 48 },
  )
})
