/** `compile`: presets, identity, reports, empty languages. */
import { describe, expect, test } from "vitest"
import { type CompileOptions, compile, type GrammarInput } from "../../grammar/index.ts"
import { TokenFsm } from "../../mask/index.ts"
import { acceptsText, jsonVocabulary } from "../support/oracle.ts"

const takes = (input: GrammarInput, options: CompileOptions, text: string) =>
  acceptsText(new TokenFsm(compile(input, options).grammar, jsonVocabulary), text)
const ab: GrammarInput = {
  kind: "json",
  schema: '{"properties":{"a":{},"b":{}},"type":["object","string","number"]}',
}

const spellings: [text: string, generate: boolean, only: CompileOptions][] = [
  ['{"a": 1, "b": 1}', true, {}],
  ['{"b": 1, "a": 1}', false, { order: "any" }],
  ['{ "a" : 1 }', false, { whitespace: "any" }],
  ['{"a" :1}', false, { whitespace: "any" }],
  ['"\\u0061"', false, { escapes: "all" }],
  ["1e2", false, { numbers: "all" }],
]

describe("presets", () => {
  test.each(spellings)("%s", (text, generate, only) => {
    expect(takes(ab, {}, text)).toBe(generate)
    expect(takes(ab, { surface: "generate" }, text)).toBe(generate)
    expect(takes(ab, { surface: "conform" }, text)).toBe(true)
    expect(takes(ab, only, text)).toBe(true)
  })
  test("an option wins over its preset", () => {
    expect(takes(ab, { surface: "conform", order: "schema" }, '{"b":1,"a":1}')).toBe(false)
    expect(takes(ab, { surface: "conform", numbers: "plain" }, "1e2")).toBe(false)
  })
})

describe("unsatisfiable constraints", () => {
  test.each<[string, GrammarInput]>([
    ["json", { kind: "json", schema: { type: "integer", minimum: 1, maximum: 0 } }],
    ["json false", { kind: "json", schema: false }],
  ])("%s: an error when generating, the empty language when conforming", (_, input) => {
    expect(() => compile(input)).toThrow(/./)
    const { grammar, report } = compile(input, { surface: "conform" })
    expect([grammar.isEmpty, report.satisfiable]).toEqual([true, false])
    expect(report.reason?.message.length).toBeGreaterThan(5)
    const fsm = new TokenFsm(grammar, jsonVocabulary)
    const row = new Uint32Array(jsonVocabulary.words)
    fsm.fillMask(fsm.start, row)
    expect(row.every((word) => word === 0)).toBe(true)
    expect(() => compile(input, { surface: "conform", unsatisfiable: "error" })).toThrow(/./)
  })
})

test("the key is the identity of input and options", () => {
  const key = (input: GrammarInput, options?: CompileOptions) => compile(input, options).grammar.key
  const choice: GrammarInput = { kind: "choice", options: ["a"] }
  expect(key(choice)).toBe(key({ kind: "choice", options: ["a"] }))
  expect(key(choice)).not.toBe(key({ kind: "choice", options: ["b"] }))
  expect(key(choice)).not.toBe(key({ kind: "regex", pattern: "a" }))
  expect(key(choice)).not.toBe(key(choice, { limits: { threads: 9 } }))
})

test("a strict schema closes the objects that it leaves open, unless the options say otherwise; it has a key of its own", () => {
  for (const schema of ['{"properties":{"a":{}}}', { properties: { a: {} } }]) {
    const of = (strict?: boolean, openObjects?: "declared" | "always") => {
      const input: GrammarInput = { kind: "json", schema, ...(strict !== undefined && { strict }) }
      const { grammar, report } = compile(input, { ...(openObjects && { openObjects }) })
      return { key: grammar.key, isClosed: report.keywords[0].note?.includes("openObjects") ?? false }
    }
    expect([of().isClosed, of(false).isClosed, of(true).isClosed]).toEqual([false, false, true])
    expect([of(true, "always").isClosed, of(false, "declared").isClosed]).toEqual([false, true])
    const keys = [of(), of(true), of(undefined, "declared"), of(undefined, "always")].map(({ key }) => key)
    expect(new Set(keys).size).toBe(4)
  }
})

test("the report names every keyword once, and counts them", () => {
  const schema = { title: "t", type: "object", properties: { a: { minLength: 1, examples: [1] } } }
  const { report } = compile({ kind: "json", schema })
  const paths = report.keywords.map((note) => note.path)
  expect(new Set(paths).size).toBe(paths.length)
  const status = Object.fromEntries(report.keywords.map((note) => [note.path, note.status]))
  expect(status).toMatchObject({
    "/title": "annotation",
    "/type": "exact",
    "/properties": "exact",
    "/properties/a/minLength": "exact",
    "/properties/a/examples": "annotation",
  })
  const { exact, annotation, relaxed } = report.counts
  expect(exact + annotation + relaxed).toBe(paths.length)
  const { report: other } = compile({ kind: "regex", pattern: "a" })
  expect(other).toMatchObject({ satisfiable: true, keywords: [] })
  expect(other.counts).toEqual({ exact: 0, annotation: 0, relaxed: 0 })
})

test("reports share one hidden class, and are whole as JSON", () => {
  const { report } = compile({ kind: "json", schema: '{"minimum":5,"title":"t"}' })
  // Getters of its own would give each report a hidden class, which outlives it together with the schema.
  expect(Object.getOwnPropertyDescriptor(report, "keywords")).toBeUndefined()
  const { keywords, counts } = report
  expect(JSON.parse(JSON.stringify(report))).toEqual({ satisfiable: true, keywords, counts })
})
