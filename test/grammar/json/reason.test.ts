/** What the report says of schemas that nothing satisfies, and of every keyword. */
import { expect, test } from "vitest"
import { compile, GrammarError } from "../../../grammar/index.ts"

const report = (schema: unknown) => compile({ kind: "json", schema }, { unsatisfiable: "empty" }).report

test.each([
  [
    { type: "object", required: ["x"], properties: { x: false } },
    "/required",
    '"x" is required but /properties/x allows no value',
  ],
  [
    {
      allOf: [{ $ref: "#/$defs/a" }],
      $defs: { a: { type: "object", required: ["x"], properties: { x: { enum: [] } } } },
    },
    "/$defs/a/required",
    '"x" is required but /$defs/a/properties/x allows no value: enum [] at /$defs/a/properties/x/enum allows no value',
  ],
  [
    {
      type: "object",
      required: ["x"],
      properties: { x: { type: "string" } },
      allOf: [{ properties: { x: { type: "integer" } } }],
    },
    "/required",
    '"x" is required but /properties/x and /allOf/0/properties/x allow no value together: type "string" at /properties/x/type contradicts type "integer" at /allOf/0/properties/x/type',
  ],
  [
    { type: "array", minItems: 1, items: { minimum: 5, maximum: 3, type: "number" } },
    "/minItems",
    "an item is required but /items allows no value: minimum 5 at /items/minimum contradicts maximum 3 at /items/maximum",
  ],
  [
    { type: "string", allOf: [{ type: "integer" }] },
    "/allOf/0/type",
    'type "string" at /type contradicts type "integer" at /allOf/0/type',
  ],
  [{ anyOf: [false, { enum: [] }] }, "/anyOf", "no branch allows a value"],
  [
    { type: "integer", minimum: 5, maximum: 3 },
    "",
    "minimum 5 at /minimum contradicts maximum 3 at /maximum",
  ],
  [
    { type: "integer", exclusiveMinimum: 0, maximum: 5, multipleOf: 7 },
    "",
    "its keywords contradict each other: no value satisfies all of them",
  ],
])("%j", (schema, path, message) => {
  const { satisfiable, reason } = report(schema)
  expect(satisfiable).toBe(false)
  expect(reason).toEqual({ path, message })
  expect(() => compile({ kind: "json", schema })).toThrow(GrammarError)
})

test("a satisfiable schema has no reason, and each keyword is noted once", () => {
  const { satisfiable, reason, keywords } = report({
    type: "object",
    properties: {
      a: { $ref: "#/$defs/s" },
      b: { $ref: "#/$defs/s" },
      c: { nullable: true, format: "made-up" },
    },
    else: {},
    $defs: { s: { type: "string", title: "text" } },
  })
  expect([satisfiable, reason]).toEqual([true, undefined])
  const paths = keywords.map(({ path }) => path)
  expect(new Set(paths).size).toBe(paths.length)
  expect(Object.fromEntries(keywords.map(({ path, status, note }) => [path, note ?? status]))).toMatchObject({
    "/type": "exact",
    "/properties": "exact",
    "/else": "no if",
    "/$defs/s/type": "exact",
    "/$defs/s/title": "annotation",
    "/properties/c/nullable": "unknown keyword",
    "/properties/c/format": "unknown format",
  })
})

test("a search for the words that takes too long leaves a general sentence", () => {
  // Whether any string matches takes 2^30 states to see; the contradiction is one of integers.
  const pattern = "^(?=[ab]*a[ab]{30}$)(?=[ab]*b[ab]{30}$)"
  const schema = { type: "integer", exclusiveMinimum: 0, maximum: 5, multipleOf: 7, pattern }
  const message = "its keywords contradict each other: no value satisfies all of them"
  const limits = { compileMs: 300 }
  expect(compile({ kind: "json", schema }, { unsatisfiable: "empty", limits }).report.reason).toEqual({
    ...{ path: "", message },
  })
  expect(() => compile({ kind: "json", schema }, { limits })).toThrow(message)
})
