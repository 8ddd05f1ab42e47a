/** Unique items that are containers with finitely many values: satisfiable up to their number, and not one item more. */
import { describe, expect, test } from "vitest"
import { Completions } from "../../../grammar/completions.ts"
import type { GrammarError } from "../../../grammar/errors.ts"
import { compile } from "../../../grammar/index.ts"
import { States } from "../../../grammar/state.ts"
import { refusalOf } from "../../support/cases.ts"
import { Validator } from "../../support/validate.ts"

const flag = { type: "boolean" }
const closed = (properties: object, more: object = {}) => ({
  type: "object",
  properties,
  additionalProperties: false,
  ...more,
})
const two = (items: object, more: object = {}) => ({
  type: "array",
  items,
  minItems: 2,
  maxItems: 2,
  ...more,
})
const nested = (depth: number): object =>
  depth === 0 ? flag : { type: "array", items: nested(depth - 1), minItems: 1, maxItems: 1 }

/** What is tested, the item's schema, and how many values it has. */
const table: [name: string, item: object, count: number][] = [
  ["pairs", two(flag), 4],
  ["pairs without repetition", two(flag, { uniqueItems: true }), 2],
  ["up to three without repetition", { type: "array", items: { enum: [1, 2, 3] }, uniqueItems: true }, 16],
  [
    "without repetition, by position",
    two({ enum: [1, 2] }, { uniqueItems: true, prefixItems: [{ const: 1 }] }),
    1,
  ],
  ["pairs that contain true", two(flag, { contains: { const: true } }), 3],
  ["pairs that contain true once", two(flag, { contains: { const: true }, maxContains: 1 }), 2],
  ["contains fills the only place", { type: "array", contains: { const: 1 }, maxItems: 1 }, 1],
  ["one kind of item, up to ten", { type: "array", items: { const: 1 }, maxItems: 10 }, 11],
  [
    "a first item of any kind before an impossible one",
    { type: "array", prefixItems: [{}, false], minItems: 2 },
    0,
  ],
  ["twelve levels", nested(12), 2],
  ["not both names", closed({ a: { const: 1 }, b: { const: 1 } }, { not: { required: ["a", "b"] } }), 3],
  ["at most one name", closed({ a: flag, b: flag }, { maxProperties: 1 }), 5],
  ["at least two names", closed({ a: flag, b: flag, c: { const: 0 } }, { minProperties: 2 }), 12],
  [
    "no room for the name with any value",
    closed({ a: flag, b: {} }, { required: ["a"], maxProperties: 1 }),
    2,
  ],
  [
    "other names have no value",
    {
      type: "object",
      properties: { a: flag },
      additionalProperties: { type: "string", minLength: 2, maxLength: 1 },
    },
    3,
  ],
  [
    "no room for other names",
    { type: "object", required: ["a"], properties: { a: flag }, maxProperties: 1 },
    2,
  ],
  ["null or itself in threes without repetition", { $ref: "#/$defs/threes" }, 1],
]

const $defs = {
  threes: {
    anyOf: [
      { type: "null" },
      { type: "array", items: { $ref: "#/$defs/threes" }, minItems: 3, maxItems: 3, uniqueItems: true },
    ],
  },
  tower: {
    anyOf: [{ type: "null" }, { type: "array", items: { $ref: "#/$defs/tower" }, minItems: 1, maxItems: 1 }],
  },
  set: { type: "array", uniqueItems: true, items: { $ref: "#/$defs/set" } },
}

/** Items with values without end. */
const infinite: [name: string, item: object][] = [
  ["pairs of anything", two({}, { uniqueItems: true })],
  ["other names", { type: "object", properties: { a: flag, b: flag }, maxProperties: 2 }],
  [
    "other names beside more values than can be listed",
    {
      type: "object",
      properties: {
        a: two({ enum: [1, 2, 3, 4, 5, 6, 7] }, { minItems: 1, maxItems: 7, uniqueItems: true }),
      },
      minProperties: 1,
    },
  ],
  ["one place that is free", { type: "array", contains: { const: 1 }, maxItems: 2 }],
  ["one value over and over", { type: "array", items: { const: 1 } }],
  ["towers", { $ref: "#/$defs/tower" }],
  ["sets of sets", { $ref: "#/$defs/set" }],
  [
    "triples of a hundred",
    two({ enum: Array.from({ length: 100 }, (_, i) => i) }, { maxItems: 3, uniqueItems: true }),
  ],
]

function statesOf(item: object, count: number): States {
  const schema = { $defs, type: "array", uniqueItems: true, minItems: count, items: item }
  return new States(compile({ kind: "json", schema }, { surface: "conform", unsatisfiable: "empty" }).grammar)
}

function expectValid(item: object, count: number): void {
  const states = statesOf(item, count)
  const text = new TextDecoder().decode(new Completions(states).shortest(states.start))
  const schema = { $defs, type: "array", uniqueItems: true, minItems: count, items: item }
  expect(new Validator(JSON.stringify(schema)).accepts(text), text).toBe(true)
}

describe("values of unique items", () => {
  test.each(table)("%s", (_name, item, count) => {
    if (count > 0) expectValid(item, count)
    expect(statesOf(item, count + 1).start).toBe(0)
  })

  test.each(infinite)("%s: no end", (_name, item) => expectValid(item, 9))

  test("arrays of one value up to 20,000 are counted by what they hold", () => {
    const refused = refusalOf(() => statesOf({ type: "array", items: { const: 1 }, maxItems: 20_000 }, 2))
    expect([refused.kind, refused.path]).toEqual(["limit", "/items"])
  })

  test("two definitions that need each other's values end in a limit or are told apart", () => {
    const one = {
      anyOf: [{ type: "null" }, { type: "array", prefixItems: [{ $ref: "#/$defs/two" }], minItems: 1 }],
    }
    const schema = {
      $ref: "#/$defs/two",
      $defs: {
        one,
        two: { type: "array", items: { $ref: "#/$defs/one" }, minItems: 2, maxItems: 2, uniqueItems: true },
      },
    }
    try {
      const { report } = compile({ kind: "json", schema }, { unsatisfiable: "empty" })
      expect(report.satisfiable).toBe(false)
    } catch (error) {
      expect((error as GrammarError).kind).toBe("limit")
    }
  })
})
