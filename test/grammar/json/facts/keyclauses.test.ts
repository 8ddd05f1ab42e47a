/**
 * Objects with many conditions: they are read exactly when the reference validator accepts them, every prefix of a valid one can
 * be completed, and what completes it is valid. Choosing for each condition would take more branches than there may be.
 */
import { describe, expect, test } from "vitest"
import { Completions } from "../../../../grammar/completions.ts"
import { compile } from "../../../../grammar/index.ts"
import { DeadState, States } from "../../../../grammar/state.ts"
import { randomOf } from "../../../support/oracle.ts"
import { Validator } from "../../../support/validate.ts"

type Random = () => number
type Schema = Record<string, unknown> | boolean

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const names = ["a", "b", "c", "d", "e"]
const below = (random: Random, bound: number) => Math.floor(random() * bound)
const pick = <T>(random: Random, values: readonly T[]): T => values[below(random, values.length)]
const some = <T>(random: Random, values: readonly T[]): T[] => {
  const chosen = values.filter(() => random() < 0.35)
  return chosen.length === 0 ? [pick(random, values)] : chosen
}

/** What a condition says of one property. */
function value(random: Random): Schema {
  switch (below(random, 8)) {
    case 0:
      return { const: pick(random, [1, 2, "x", "y", null]) }
    case 1:
      return { enum: some(random, [1, 2, 3, "x", "y", true]) }
    case 2:
      return { type: pick(random, ["string", "integer", "object", "array", "boolean"]) }
    case 3:
      return { type: "object", required: [pick(random, names)] }
    case 4:
      return { type: "object", properties: { [pick(random, names)]: { const: 1 } } }
    case 5:
      return { minimum: below(random, 3) }
    case 6:
      return { items: { const: 1 } }
    default:
      return { not: { const: pick(random, [1, "x"]) } }
  }
}

/** What an alternative says of an object: several keys at once. */
function part(random: Random): Schema {
  const asked = some(random, names)
  const properties = Object.fromEntries(asked.map((name) => [name, value(random)]))
  const required = names.filter(() => random() < 0.2)
  return { properties, ...(required.length === 0 ? {} : { required }) }
}

function condition(random: Random): Schema {
  switch (below(random, 6)) {
    case 0:
    case 1:
      return { if: { ...(part(random) as object), required: [pick(random, names)] }, then: part(random) }
    case 2:
      return { if: { properties: { a: value(random) } }, then: part(random), else: part(random) }
    case 3:
      return { dependentSchemas: { [pick(random, names)]: part(random) } }
    case 4:
      return { anyOf: [part(random), part(random)] }
    default:
      return { dependentSchemas: { [pick(random, names)]: condition(random) } }
  }
}

function instance(random: Random, depth = 2): unknown {
  if (depth === 0 || random() < 0.7) return pick(random, [1, 2, 3, "x", "y", null, true])
  if (random() < 0.3) return [1, pick(random, [1, 2])]
  return members(random, depth - 1)
}

function members(random: Random, depth: number): Record<string, unknown> {
  const chosen = names.filter(() => random() < 0.5).sort(() => random() - 0.5)
  return Object.fromEntries(chosen.map((name) => [name, instance(random, depth)]))
}

function check(schema: Schema, random: Random, count: number): number {
  const { grammar } = compile({ kind: "json", schema }, { surface: "conform" })
  const states = new States(grammar)
  const validator = new Validator(JSON.stringify(schema))
  let valid = 0
  for (let i = 0; i < count; i++) {
    const text = JSON.stringify(members(random, 2))
    const bytes = encoder.encode(text)
    const end = states.advance(states.start, bytes)
    const isRead = end !== DeadState && states.isAccepting(end)
    expect([schema, text, isRead]).toEqual([schema, text, validator.accepts(text)])
    let state = states.start
    for (let at = 0; at < bytes.length && state !== DeadState; at++) {
      if (at % 5 === 0) {
        const completed =
          decoder.decode(bytes.subarray(0, at)) + decoder.decode(new Completions(states).shortest(state))
        expect([schema, completed, validator.accepts(completed)]).toEqual([schema, completed, true])
      }
      state = states.advance(state, bytes, at, at + 1)
    }
    if (isRead) valid++
  }
  return valid
}

describe("many conditions", () => {
  test("random ones", () => {
    const random = randomOf(31)
    let valid = 0
    for (let i = 0; i < 40; i++) {
      const count = 1 + below(random, 9)
      const allOf = Array.from({ length: count }, () => condition(random))
      valid += check({ type: "object", allOf }, random, 12)
    }
    expect(valid).toBeGreaterThan(60)
  })

  test("twenty that ask for the same key", () => {
    const kinds = Array.from({ length: 20 }, (_, i) => `k${i}`)
    const allOf = kinds.map((kind) => ({
      if: { properties: { kind: { const: kind } } },
      then: { properties: { settings: { required: [kind] } } },
    }))
    const schema = { type: "object", required: ["kind"], allOf }
    const states = new States(compile({ kind: "json", schema }, { surface: "conform" }).grammar)
    const accepts = (value: unknown) =>
      states.isAccepting(states.advance(states.start, encoder.encode(JSON.stringify(value))))
    expect(accepts({ kind: "k3", settings: { k3: 1 } })).toBe(true)
    expect(accepts({ kind: "k3", settings: { k4: 1 } })).toBe(false)
    expect(accepts({ kind: "k3" })).toBe(true)
    expect(accepts({ kind: "other", settings: {} })).toBe(true)
    expect(accepts({ settings: 1, kind: "k19" })).toBe(true)
  })

  test("sixty objects that exclude each other by keys of their own, and share others", () => {
    const kinds = Array.from({ length: 60 }, (_, i) => `k${i}`)
    const shared = { type: "string", pattern: "^[a-z]+$" }
    const oneOf = kinds.map((kind) => ({
      type: "object",
      properties: { [kind]: { type: ["string", "null"] }, output: shared, space: { type: "integer" } },
      required: [kind],
    }))
    const states = new States(compile({ kind: "json", schema: { oneOf } }, { surface: "conform" }).grammar)
    const accepts = (value: unknown) =>
      states.isAccepting(states.advance(states.start, encoder.encode(JSON.stringify(value))))
    expect(accepts({ k3: "a" })).toBe(true)
    expect(accepts({ output: "x", k59: null, other: 1, space: 2 })).toBe(true)
    expect(accepts({ k3: "a", k4: "b" })).toBe(false)
    // Beside a value that is wrong for it the other object does not hold.
    expect(accepts({ k3: 1, k4: "b" })).toBe(true)
    expect(accepts({ k4: "b", output: 1 })).toBe(false)
    expect(accepts({})).toBe(false)
    const before = encoder.encode('{"k3":"a","k4":')
    const rest = decoder.decode(new Completions(states).shortest(states.advance(states.start, before)))
    expect(typeof JSON.parse(`{"k3":"a","k4":${rest}`).k4).toBe("number")
  })

  test("an object of sixty properties or another one: readings do not add up", () => {
    const properties = Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [`k${i}`, { oneOf: [{ type: "string" }, { type: "boolean" }] }]),
    )
    const open = { type: "object", additionalProperties: true }
    const old = { ...open, properties: { old: { ...open, properties } }, required: ["old"] }
    const now = { allOf: [{ ...open, properties }], not: { ...open, required: ["old"] } }
    const { grammar } = compile(
      { kind: "json", schema: { oneOf: [old, now] } },
      { surface: "conform", limits: { threads: 64 } },
    )
    const states = new States(grammar)
    const accepts = (value: unknown) =>
      states.isAccepting(states.advance(states.start, encoder.encode(JSON.stringify(value))))
    expect(accepts({ z: 1, k5: "a" })).toBe(true)
    expect(accepts({ k5: 1 })).toBe(false)
    expect(accepts({ k5: 1, old: { k1: true } })).toBe(true)
    expect(accepts({ k5: 1, old: { k1: 1 } })).toBe(false)
  })

  test("names that are passed over in schema order ask nothing of what comes behind them", () => {
    const fields = Array.from({ length: 14 }, (_, i) => `f${i}`)
    const holds = (field: string) => ({
      required: ["dynamic"],
      properties: { dynamic: { contains: { const: field } } },
    })
    const schema = {
      type: "object",
      properties: {
        ...Object.fromEntries(fields.map((field) => [field, { type: "string" }])),
        dynamic: { type: "array", items: { enum: fields } },
      },
      additionalProperties: false,
      dependentSchemas: Object.fromEntries(fields.map((field) => [field, { not: holds(field) }])),
    }
    const states = new States(compile({ kind: "json", schema }, { surface: "generate" }).grammar)
    const accepts = (text: string) => states.isAccepting(states.advance(states.start, encoder.encode(text)))
    expect(accepts('{"dynamic":["f0","f13"]}')).toBe(true)
    expect(accepts('{"f1":"a","f9":"b","dynamic":["f2","f13"]}')).toBe(true)
    expect(accepts('{"f1":"a","f9":"b","dynamic":["f2","f9"]}')).toBe(false)
  })

  test("objects that tell the values of one name apart in too many ways are refused before a text", () => {
    const oneOf = Array.from({ length: 30 }, (_, i) => ({
      type: "object",
      properties: {
        [`k${i}`]: { type: "string" },
        s: i % 2 ? { const: `v${i}` } : { type: "number", multipleOf: i + 1 },
      },
      required: [`k${i}`],
    }))
    const run = (count: number) => () =>
      compile({ kind: "json", schema: { oneOf: oneOf.slice(0, count) } }, { surface: "conform" })
    expect(run(12)).not.toThrow()
    expect(run(30)).toThrow(
      /ways in which one property meets obligations|readings of one key in all alternatives of an object/,
    )
  })

  test("nine hundred objects below a pattern, told apart by a constant", () => {
    const anyOf = Array.from({ length: 900 }, (_, i) => ({
      type: "object",
      properties: { kind: { const: `k${i}` }, of: { anyOf: [{ type: "string" }, { type: "array" }] } },
      required: ["kind"],
      additionalProperties: false,
    }))
    const schema = {
      type: "object",
      patternProperties: { "^[a-z]+$": { anyOf } },
      additionalProperties: false,
    }
    const states = new States(compile({ kind: "json", schema }, { surface: "conform" }).grammar)
    const accepts = (value: unknown) =>
      states.isAccepting(states.advance(states.start, encoder.encode(JSON.stringify(value))))
    expect(accepts({ a: { kind: "k899", of: [] }, b: { of: "x", kind: "k0" } })).toBe(true)
    expect(accepts({ a: { kind: "k900" } })).toBe(false)
  })

  test("more objects beside each other than may be open are refused before a text, wherever they are", () => {
    const anyOf = Array.from({ length: 70 }, (_, i) => ({
      type: "object",
      properties: { [`k${i}`]: { type: "string" } },
      additionalProperties: false,
    }))
    const run = (threads: number) => () =>
      compile({ kind: "json", schema: { properties: { a: { items: { anyOf } } } } }, { limits: { threads } })
    expect(run(70)).not.toThrow()
    expect(run(60)).toThrow("/properties/a/items: alternatives of one value: 61 is above the bound of 60")
    const values = Array.from({ length: 70 }, (_, i) => ({ const: `v${i}` }))
    expect(() =>
      compile({ kind: "json", schema: { items: { anyOf: values } } }, { limits: { threads: 60 } }),
    ).not.toThrow()
  })
})
