/** `unevaluatedProperties` and `unevaluatedItems` where the suite does not look: negated, nested, beside `if` and `contains`. */
import { describe, expect, test } from "vitest"
import { compile } from "../../../../grammar/index.ts"
import { byteMachine, TextChecker } from "../../../../server/suite/checker.ts"

const table: [name: string, schema: unknown, accept: unknown[], reject: unknown[]][] = [
  [
    "branches that hold together cover together",
    {
      anyOf: [{ properties: { a: { type: "integer" } } }, { properties: { b: {} } }],
      unevaluatedProperties: false,
    },
    [{}, { a: 1 }, { b: 1 }, { a: 1, b: 1 }],
    [{ c: 1 }, { a: "x" }, { a: "x", b: 1 }],
  ],
  [
    "a branch that fails covers nothing",
    {
      anyOf: [{ required: ["x"], properties: { x: {}, a: {} } }, { properties: { b: {} } }],
      unevaluatedProperties: { type: "null" },
    },
    [{ x: 1, a: 1 }, { a: null }, { b: 1, a: null }, { x: 1, a: 1, b: 1 }],
    [{ a: 1 }, { b: 1, a: 1 }],
  ],
  [
    "the negation needs a member that nothing covers",
    { type: "object", not: { properties: { a: {} }, unevaluatedProperties: { type: "integer" } } },
    [{ b: "x" }, { a: 1, c: null }],
    [{}, { a: "x" }, { b: 1 }],
  ],
  [
    "the negation, with a branch that may cover",
    {
      type: "object",
      not: { anyOf: [true, { required: ["b"], properties: { b: {}, c: {} } }], unevaluatedProperties: false },
    },
    [{ c: 1 }, { a: 1 }, { b: 1, d: 1 }],
    [{}, { b: 1 }, { b: 1, c: 1 }],
  ],
  [
    "if without then covers when it holds",
    { if: { properties: { a: { const: 1 } }, required: ["a"] }, unevaluatedProperties: false },
    [{}, { a: 1 }],
    [{ a: 2 }, { b: 1 }],
  ],
  [
    "else covers only where if fails",
    {
      if: { required: ["a"], properties: { a: {} } },
      else: { properties: { b: {} } },
      unevaluatedProperties: false,
    },
    [{}, { a: 1 }, { b: 1 }],
    [{ a: 1, b: 1 }],
  ],
  [
    "not covers nothing, and neither does its double",
    { not: { not: { properties: { a: {} } } }, unevaluatedProperties: false },
    [{}],
    [{ a: 1 }],
  ],
  [
    "a dependent schema covers when its trigger is there",
    {
      properties: { t: {} },
      dependentSchemas: { t: { properties: { a: {} } } },
      unevaluatedProperties: false,
    },
    [{}, { t: 1 }, { t: 1, a: 1 }],
    [{ a: 1 }],
  ],
  [
    "contains covers the items that it matches",
    { prefixItems: [{}], contains: { type: "string" }, unevaluatedItems: { type: "null" } },
    [["x"], [1, "x", null], [1, null, "y"]],
    [[], [1], [1, "x", 2]],
  ],
  [
    "the negation of items that contains covers",
    { type: "array", not: { contains: { type: "string" }, unevaluatedItems: { type: "null" } } },
    [[], [null], ["x", 1]],
    [["x"], ["x", null]],
  ],
  [
    "items beyond the longest prefix that holds",
    {
      anyOf: [{ prefixItems: [{ const: 1 }] }, { prefixItems: [{}, { const: 2 }] }],
      unevaluatedItems: false,
    },
    [[], [1], [1, 2], [5], [5, 2]],
    [
      [1, 3],
      [5, 3],
      [5, 2, 1],
    ],
  ],
]

describe("unevaluated members", () => {
  test.each(table)("%s", (_, schema, accept, reject) => {
    const { grammar } = compile({ kind: "json", schema }, { surface: "conform", dialect: "2020-12" })
    const checker = new TextChecker(byteMachine(grammar))
    const verdicts = (values: unknown[]) =>
      values.map((value) => [JSON.stringify(value), checker.check(JSON.stringify(value)).accepted])
    expect(verdicts(accept)).toEqual(accept.map((value) => [JSON.stringify(value), true]))
    expect(verdicts(reject)).toEqual(reject.map((value) => [JSON.stringify(value), false]))
  })
})
