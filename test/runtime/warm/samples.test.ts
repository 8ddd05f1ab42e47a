/** The samples that warm a vocabulary up mean what they say, in every round. */
import { expect, test } from "vitest"
import { compile, type GrammarInput } from "../../../grammar/index.ts"
import { States } from "../../../grammar/state.ts"
import { sampleRounds } from "../../../runtime/warm/samples.ts"

const encoder = new TextEncoder()
const rounds = [...sampleRounds()]

const textOf = (input: GrammarInput): GrammarInput =>
  input.kind === "json" ? { ...input, schema: JSON.stringify(input.schema) } : input

test.each([0, 1, 2])("round %i: every text satisfies its constraint", (round) => {
  for (const { input, texts } of rounds[round]) {
    const { grammar } = compile(textOf(input), { surface: "conform" })
    const states = new States(grammar)
    for (const text of texts) {
      const end = states.advance(states.start, encoder.encode(text))
      expect([text, states.isAccepting(end)]).toEqual([text, true])
    }
  }
})

test("hardly a schema of a round comes in another one", () => {
  const schemas = (round: number) =>
    rounds[round].flatMap(({ input }) => (input.kind === "json" ? [JSON.stringify(input.schema)] : []))
  const first = new Set(schemas(0))
  expect(schemas(1).filter((schema) => first.has(schema)).length).toBeLessThan(3)
})

test("compiles on the generate surface too", () => {
  for (const { input } of rounds[2]) compile(textOf(input), { surface: "generate" })
})
