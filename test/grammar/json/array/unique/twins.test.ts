/** The negation of `uniqueItems`: arrays are read exactly when the reference validator accepts them, prefix by prefix. */
import { describe, expect, test } from "vitest"
import { Completions } from "../../../../../grammar/completions.ts"
import { compile } from "../../../../../grammar/index.ts"
import { States } from "../../../../../grammar/state.ts"
import { randomOf } from "../../../../support/oracle.ts"
import { randomInstances, randomSchema, type SchemaValue } from "../../../../support/schemas.ts"
import { Validator } from "../../../../support/validate.ts"

const texts =
  '0 1 2 3 1.0 1.5 -1 5 "" "a" "\\u0061" "b" "ab" true false null [] [1] [1,1] {} {"a":1} {"a":1.0}'.split(
    " ",
  )
const twins = { not: { uniqueItems: true } }

const schemas: readonly object[] = [
  { type: "array", ...twins },
  { type: "array", ...twins, maxItems: 2 },
  { type: "array", ...twins, minItems: 3, maxItems: 4 },
  { type: "array", ...twins, items: { type: "integer", minimum: 0, maximum: 2 }, maxItems: 3 },
  { type: "array", ...twins, items: { type: "string", maxLength: 1 }, maxItems: 3 },
  {
    type: "array",
    ...twins,
    prefixItems: [{ type: "integer", maximum: 2 }, { type: "string" }, { minimum: 1 }],
    items: false,
  },
  {
    type: "array",
    ...twins,
    prefixItems: [{ type: "integer" }, { type: "string" }, { type: "array" }],
    maxItems: 4,
  },
  {
    type: "array",
    ...twins,
    prefixItems: [{ type: "integer" }, { type: "string" }],
    items: { enum: [1, "a", null] },
  },
  {
    type: "array",
    ...twins,
    prefixItems: [{ type: "integer" }],
    items: { type: ["integer", "array"], minItems: 1 },
    maxItems: 3,
  },
  { type: "array", ...twins, contains: { type: "string" }, maxItems: 4 },
  { type: "array", ...twins, contains: { type: "string" }, minContains: 2, maxContains: 2, maxItems: 3 },
  { type: "array", ...twins, contains: { const: 1 }, minContains: 0, maxContains: 1, maxItems: 3 },
  {
    type: "array",
    ...twins,
    contains: { type: "integer" },
    minContains: 1,
    maxContains: 1,
    items: { enum: [0, 1, "a"] },
  },
  { type: "array", ...twins, items: { type: "array", ...twins }, maxItems: 3 },
  { type: "array", ...twins, items: { type: "object", properties: { a: { type: "integer" } } }, maxItems: 3 },
  { type: "array", not: { uniqueItems: true, items: { type: "string" } }, maxItems: 3 },
  { type: "array", not: { uniqueItems: true, minItems: 2 }, maxItems: 4 },
  {
    oneOf: [
      { type: "array", uniqueItems: true },
      { type: "array", maxItems: 2 },
    ],
  },
  {
    oneOf: [
      { type: "array", items: { type: "string" }, uniqueItems: true },
      { type: "array", items: { type: "integer" }, uniqueItems: true },
    ],
  },
  { type: "array", if: { uniqueItems: true }, then: { maxItems: 1 }, else: { minItems: 3 } },
  {
    type: "array",
    oneOf: [
      { items: { type: "string" } },
      { uniqueItems: true, items: { type: "integer" } },
      { uniqueItems: true, items: { type: "boolean" } },
    ],
  },
  {
    type: "array",
    uniqueItems: true,
    items: { type: "array", ...twins, items: { enum: [1, true] }, maxItems: 2 },
  },
]

const encoder = new TextEncoder()

describe("two equal items", () => {
  test.each(schemas.map((schema, i) => [i, JSON.stringify(schema)]))("%i: %s", (i, told) => {
    const random = randomOf(77 + i)
    const validator = new Validator(told)
    const states = new States(compile({ kind: "json", schema: told }, { surface: "conform" }).grammar)
    const pool = () => texts[Math.floor(random() * texts.length)]
    let [valid, invalid] = [0, 0]
    for (let round = 0; round < 400; round++) {
      const few = round === 0 ? ["1", '"a"', "[]"] : [pool(), pool(), pool()]
      const drawn = Array.from({ length: Math.floor(random() * 6) }, () => few[Math.floor(random() * 3)])
      const list = round === 0 ? [...few, few[0]] : drawn
      const text = `[${list.join()}]`
      const isValid = validator.accepts(text)
      expect([text, states.isAccepting(states.advance(states.start, encoder.encode(text)))]).toEqual([
        text,
        isValid,
      ])
      if (isValid) valid++
      else invalid++
      const cut = text.slice(0, Math.floor(random() * text.length))
      const state = states.advance(states.start, encoder.encode(cut))
      if (isValid) expect(state, cut).not.toBe(0)
      if (state === 0) continue
      const finished = cut + new TextDecoder().decode(new Completions(states).shortest(state))
      expect([finished, validator.accepts(finished)]).toEqual([finished, true])
    }
    expect(Math.min(valid, invalid)).toBeGreaterThan(0)
  })

  test.each([
    { type: "array", ...twins, maxItems: 1 },
    { type: "array", ...twins, uniqueItems: true },
    { type: "array", ...twins, prefixItems: [{ type: "integer" }, { type: "string" }], items: false },
    { type: "array", ...twins, contains: {}, maxContains: 1 },
  ])("none: %j", (schema) => {
    expect(compile({ kind: "json", schema }, { surface: "conform" }).report.satisfiable).toBe(false)
  })

  const unique = { uniqueItems: true }
  test.each<[name: string, around: (schema: SchemaValue) => SchemaValue]>([
    ["not, beside it", (schema) => ({ allOf: [schema], not: unique })],
    [
      "oneOf",
      (schema) => ({
        oneOf: [
          { allOf: [schema], ...unique },
          { type: "array", maxItems: 3 },
        ],
      }),
    ],
    ["if", (schema) => ({ if: unique, then: schema, else: { minItems: 2 } })],
    ["not, around it", (schema) => ({ not: { allOf: [schema], ...unique } })],
    ["in items", (schema) => ({ type: "array", items: { allOf: [schema], not: unique } })],
  ])("random schemas: %s", (name, around) => {
    let valid = 0
    for (let seed = 1; seed <= 60; seed++) {
      const inner = randomSchema(seed, { depth: 2, without: ["recursion"] })
      if (typeof inner === "boolean") continue
      const schema = around(inner)
      const told = JSON.stringify(schema)
      const validator = new Validator(told)
      const { grammar } = compile(
        { kind: "json", schema: told },
        { surface: "conform", unsatisfiable: "empty" },
      )
      const states = new States(grammar)
      const random = randomOf(seed)
      const pick = () => texts[Math.floor(random() * texts.length)]
      const lists = Array.from({ length: 10 }, () => {
        const few = [pick(), pick()]
        return `[${Array.from({ length: Math.floor(random() * 5) }, () => few[Math.floor(random() * 2)]).join()}]`
      })
      for (const text of [...randomInstances(schema, seed), ...lists]) {
        const isValid = validator.accepts(text)
        if (isValid) valid++
        const isRead = states.isAccepting(states.advance(states.start, encoder.encode(text)))
        expect([name, seed, text, isRead]).toEqual([name, seed, text, isValid])
      }
    }
    expect(valid).toBeGreaterThan(20)
  })
})
