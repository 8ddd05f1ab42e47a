/** `oneOf` between schemas that are proven to exclude each other, and between those that are not: as the reference validator reads it. */
import { expect, test } from "vitest"
import { compile } from "../../../../grammar/index.ts"
import { States } from "../../../../grammar/state.ts"
import { randomOf } from "../../../support/oracle.ts"
import { Validator } from "../../../support/validate.ts"

type Random = () => number
type Schema = Record<string, unknown>

const encoder = new TextEncoder()
const names = ["a", "b", "c"]
const pick = <T>(random: Random, values: readonly T[]): T => values[Math.floor(random() * values.length)]

/** An object that is closed or not, with a constant or not. */
function plain(random: Random): Schema {
  const known = names.filter(() => random() < 0.7)
  const value = () => pick(random, [{ const: 1 }, { const: 2 }, { enum: [2, "x"] }, { type: "string" }, {}])
  return {
    type: "object",
    properties: Object.fromEntries(known.map((name) => [name, value()])),
    required: names.filter(() => random() < 0.4),
    ...(random() < 0.6 ? { additionalProperties: false } : {}),
  }
}

/** Alternatives of alternatives, some of them through a reference that leads back to the root. */
function alternatives(random: Random, depth: number): Schema {
  if (depth === 0 || random() < 0.3) return plain(random)
  const keyword = pick(random, ["oneOf", "oneOf", "anyOf"])
  const list = Array.from({ length: 2 + Math.floor(random() * 2) }, () => alternatives(random, depth - 1))
  return random() < 0.2 ? { ...plain(random), [keyword]: list } : { [keyword]: list }
}

function object(random: Random): Schema {
  const present = names.filter(() => random() < 0.6)
  return Object.fromEntries(present.map((name) => [name, pick(random, [1, 2, "x", "y", null])]))
}

test("alternatives of alternatives: random ones", () => {
  let valid = 0
  for (let seed = 1; seed <= 120; seed++) {
    const random = randomOf(seed)
    const schema = alternatives(random, 3)
    const validator = new Validator(JSON.stringify(schema))
    const options = { surface: "conform", unsatisfiable: "empty" } as const
    const states = new States(compile({ kind: "json", schema }, options).grammar)
    for (let n = 0; n < 20; n++) {
      const text = JSON.stringify(object(random))
      const isValid = validator.accepts(text)
      const accepted = states.isAccepting(states.advance(states.start, encoder.encode(text)))
      expect({ seed, schema, text, accepted }).toEqual({ seed, schema, text, accepted: isValid })
      if (isValid) valid++
    }
  }
  expect(valid).toBeGreaterThan(100)
})

test("events with actions of their own exclude each other, whatever their actions are", () => {
  const event = (i: number) => ({
    oneOf: ["created", "edited", "deleted"].map((action) => ({
      type: "object",
      properties: {
        action: { const: action },
        [`event${i}`]: { type: "object" },
        sender: { type: "string" },
      },
      required: ["action", `event${i}`],
      additionalProperties: false,
    })),
  })
  const schema = { oneOf: Array.from({ length: 60 }, (_, i) => event(i)) }
  const { grammar } = compile({ kind: "json", schema }, { surface: "conform", limits: { satSteps: 20_000 } })
  const states = new States(grammar)
  const accepts = (text: string) => states.isAccepting(states.advance(states.start, encoder.encode(text)))
  expect(accepts('{"sender":"x","event59":{},"action":"edited"}')).toBe(true)
  expect(accepts('{"event1":{},"event2":{},"action":"edited"}')).toBe(false)
  expect(accepts('{"sender":"x","action":"edited"}')).toBe(false)
})

test("schemas that lead back to themselves through their alternatives are compared to an end", () => {
  const schema = {
    $defs: {
      left: { oneOf: [{ $ref: "#/$defs/right" }, { type: "object", required: ["a"] }] },
      right: { anyOf: [{ type: "object", properties: { of: { $ref: "#/$defs/left" } }, required: ["b"] }] },
    },
    oneOf: [{ $ref: "#/$defs/left" }, { $ref: "#/$defs/right" }],
  }
  const validator = new Validator(JSON.stringify(schema))
  const states = new States(compile({ kind: "json", schema }, { surface: "conform" }).grammar)
  for (const value of [
    { a: 1 },
    { b: 1 },
    { a: 1, b: 1 },
    { a: 1, of: { b: 1 } },
    { a: 1, b: 1, of: { a: 1 } },
    {},
  ]) {
    const text = JSON.stringify(value)
    const accepted = states.isAccepting(states.advance(states.start, encoder.encode(text)))
    expect({ text, accepted }).toEqual({ text, accepted: validator.accepts(text) })
  }
})
