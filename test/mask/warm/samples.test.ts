/** The samples that warm a vocabulary up mean what they say, in every round. */
import { expect, test } from "vitest"
import { compile } from "../../../grammar/index.ts"
import { States } from "../../../grammar/state.ts"
import { grammars, samples } from "../../../mask/warm/samples.ts"

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

test.each([0, 1, 2, 3])("round %i: every text is of its grammar", (round) => {
  for (const { input, texts } of grammars(round)) {
    const states = new States(compile(input).grammar)
    for (const text of texts) {
      const end = states.advance(states.start, encoder.encode(text))
      expect([text, states.isAccepting(end)]).toEqual([text, true])
    }
  }
})

test("a round is the same each time, and hardly a schema of it comes in another one", () => {
  const schemas = (round: number) => samples(round).map(({ schema }) => JSON.stringify(schema))
  expect(schemas(1)).toEqual(schemas(1))
  const first = new Set(schemas(0))
  expect(schemas(1).filter((schema) => first.has(schema)).length).toBeLessThan(3)
})

test("compiles on the generate surface too", () => {
  for (const { schema } of samples(2)) compile({ kind: "json", schema }, { surface: "generate" })
})
