/** The samples that warm a vocabulary up mean what they say, in every round. */
import { expect, test } from "vitest"
import { compile } from "../../grammar/index.ts"
import { States } from "../../grammar/state.ts"
import { samples } from "../../mask/samples.ts"

const encoder = new TextEncoder()

test.each([0, 1, 2, 3])("round %i: every text satisfies its schema", (round) => {
  for (const { schema, texts } of samples(round)) {
    const { grammar } = compile({ kind: "json", schema: JSON.stringify(schema) }, { surface: "conform" })
    const states = new States(grammar)
    for (const text of texts) {
      const end = states.advance(states.start, encoder.encode(text))
      expect([text, states.isAccepting(end)]).toEqual([text, true])
    }
  }
})

test("a round is the same each time, and no other round has its names", () => {
  expect(samples(1)).toEqual(samples(1))
  const names = (round: number) => new Set(JSON.stringify(samples(round)[0].schema).match(/"\w+":\{/g))
  expect([...names(1)].filter((name) => names(0).has(name) && name !== '"properties":{')).toEqual([])
})

test("compiles on the generate surface too", () => {
  for (const { schema } of samples(2)) compile({ kind: "json", schema }, { surface: "generate" })
})
