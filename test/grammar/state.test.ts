/** States over bytes: equal situations are one integer, and the bounds that hold while a text is read. */

import { expect, test } from "vitest"
import { explain } from "../../grammar/explain.ts"
import { type CompileOptions, compile, type GrammarInput } from "../../grammar/index.ts"
import { DeadState, States } from "../../grammar/state.ts"

const encoder = new TextEncoder()
const statesOf = (input: GrammarInput, options?: CompileOptions) =>
  new States(compile(input, options).grammar)
const read = (states: States, text: string) => states.advance(states.start, encoder.encode(text))

test("the same situation is the same state, whatever was read before", () => {
  const states = statesOf({ kind: "json", schema: { type: "array", items: { type: "array" } } })
  expect(read(states, "[[1, 2], [")).toBe(read(states, "[[3], [], ["))
  expect(read(states, "[[")).not.toBe(read(states, "["))
})

test("reading bytes one by one or all at once is the same; a dead text stays dead", () => {
  const states = statesOf({ kind: "json", schema: true })
  const bytes = encoder.encode('{"a": [1.5, "é\\n", null]}')
  let state = states.start
  for (let n = 0; n < bytes.length; n++) {
    state = states.advance(state, bytes, n, n + 1)
    expect(state).toBe(states.advance(states.start, bytes.subarray(0, n + 1)))
    expect(states.isAccepting(state)).toBe(n === bytes.length - 1)
  }
  expect(read(states, "[}")).toBe(DeadState)
  expect(states.advance(DeadState, bytes)).toBe(DeadState)
})

test("stackDepth: a text that nests deeper is refused with the bound and the way out", () => {
  const options = { limits: { stackDepth: 4 } }
  const states = statesOf({ kind: "json", schema: true }, options)
  expect(read(states, "[[[")).not.toBe(DeadState)
  expect(() => read(states, "[[[[[[[")).toThrow(
    "the text nests deeper than 4 levels. Raise limits.stackDepth",
  )
  expect(() => read(statesOf({ kind: "json", schema: true }), "[".repeat(100))).not.toThrow()
})

test("threads: readings that are open at once are bounded", () => {
  const anyOf = [2, 3, 5, 7].map((n) => ({ type: "array", items: { multipleOf: n, type: "integer" } }))
  const schema = { anyOf }
  expect(read(statesOf({ kind: "json", schema }), "[210, 21")).not.toBe(DeadState)
  expect(() => read(statesOf({ kind: "json", schema }, { limits: { threads: 2 } }), "[210, 21")).toThrow(
    /3 is above the bound of 2\. Raise limits\.threads/,
  )
})

test("explain names what may follow", () => {
  const schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] }
  const states = statesOf({ kind: "json", schema })
  expect(explain(states, states.start).map(({ what }) => what)).toEqual(["an object"])
  const after = explain(states, read(states, '{"a": '))
  expect(after.map(({ what }) => what)).toEqual(["an integer"])
})
