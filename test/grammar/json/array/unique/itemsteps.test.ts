/** Items that must differ, value by value: arrays are read exactly when the reference validator accepts them. */
import { describe, expect, test } from "vitest"
import { Completions } from "../../../../../grammar/completions.ts"
import { compile } from "../../../../../grammar/index.ts"
import { States } from "../../../../../grammar/state.ts"
import { randomOf } from "../../../../support/oracle.ts"
import { Validator } from "../../../../support/validate.ts"

const texts = (
  '0 1 2 3 1.0 1.5 1.50 2e0 10e-1 0.2e1 -0 -1 5 7 8 12 "" "a" "\\u0061" "b" "ab" "abc" "é" "\\u00e9" "x1" "x2" "\\n" ' +
  'true false null [] [1] [1.0] ["a"] {} {"a":1} {"a":1.0} {"b":2,"a":1} {"a":1,"b":2}'
).split(" ")

const items: readonly object[] = [
  {},
  { type: "integer" },
  { type: "integer", minimum: 0, maximum: 3 },
  { type: "number", minimum: 0, multipleOf: 0.5 },
  { type: "number", exclusiveMinimum: 0, not: { multipleOf: 5 } },
  {
    anyOf: [
      { type: "number", maximum: 2 },
      { type: "integer", minimum: 1 },
    ],
  },
  { enum: [1, 2.0, "a", "ab", null, true, [1], { a: 1 }] },
  { type: "string" },
  { type: "string", maxLength: 1 },
  { type: "string", pattern: "^[ab]+$", minLength: 1, maxLength: 3 },
  { type: "string", pattern: "^[ab]$" },
  { type: "string", not: { const: "a" } },
  { type: ["boolean", "null", "string"], pattern: "^x?\\d*$" },
  { type: ["integer", "array"], items: { type: "integer" } },
  { type: ["object", "string"], enum: [{ a: 1 }, "b", "ab", {}] },
]

const encoder = new TextEncoder()

describe.each(["conform", "default"] as const)("surface %s", (surface) => {
  test.each(items.map((schema, i) => [i, JSON.stringify(schema)]))("items %i: %s", (i, told) => {
    const random = randomOf(31 + i)
    const pick = () => texts[Math.floor(random() * texts.length)]
    const schema = { type: "array", uniqueItems: true, items: items[i], maxItems: 6 }
    const validator = new Validator(JSON.stringify(schema))
    const own = texts.filter((text) => validator.accepts(`[${text}]`))
    const { grammar } = compile({ kind: "json", schema }, surface === "conform" ? { surface } : {})
    const states = new States(grammar)
    const reads = (text: string) => states.isAccepting(states.advance(states.start, encoder.encode(text)))
    const spelled = texts.filter((text) => reads(`[${text}]`))
    if (surface === "conform") expect(spelled, told).toEqual(own)
    let valid = 0
    for (let round = 0; round < 150; round++) {
      const list = Array.from({ length: 1 + Math.floor(random() * 5) }, () =>
        random() < 0.9 && spelled.length > 0 ? spelled[Math.floor(random() * spelled.length)] : pick(),
      )
      const text = `[${list.join(surface === "conform" ? "," : ", ")}]`
      // Other spellings of a value are read only where the surface has them.
      const isValid = validator.accepts(text) && list.every((item) => spelled.includes(item))
      expect([text, reads(text)]).toEqual([text, isValid])
      if (isValid) valid++
      const state = states.advance(states.start, encoder.encode(text.slice(0, -1)))
      if (state !== 0) {
        const rest = new TextDecoder().decode(new Completions(states).shortest(state))
        expect(validator.accepts(text.slice(0, -1) + rest), text.slice(0, -1) + rest).toBe(true)
      }
    }
    expect(valid).toBeGreaterThan(0)
  })
})
