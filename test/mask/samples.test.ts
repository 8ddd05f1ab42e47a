/** The samples that warm a vocabulary up mean what they say, in every round. */
import { expect, test } from "vitest"
import { compile } from "../../grammar/index.ts"
import { States } from "../../grammar/state.ts"
import { samples } from "../../mask/samples.ts"

test.each([0, 1, 7])("round %i: every value satisfies its schema", (round) => {
  for (const { schema, values } of samples(round)) {
    const { grammar } = compile({ kind: "json", schema: JSON.stringify(schema) }, { surface: "conform" })
    const states = new States(grammar)
    for (const value of values) {
      const text = JSON.stringify(value)
      const end = states.advance(states.start, new TextEncoder().encode(text))
      expect([text, states.isAccepting(end)]).toEqual([text, true])
    }
  }
})

test("rounds have names of their own, and as many samples", () => {
  const [first, second] = [samples(0), samples(1)]
  expect(second.length).toBe(first.length)
  expect(JSON.stringify(second)).not.toBe(JSON.stringify(first))
})
