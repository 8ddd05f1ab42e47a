/** Short completions: the fewest bytes that are surely needed, and a text that ends there. */
import { expect, test } from "vitest"
import { Completions } from "../../grammar/completions.ts"
import { compile, type GrammarInput } from "../../grammar/index.ts"
import { DeadState, States } from "../../grammar/state.ts"

const encoder = new TextEncoder()
const statesOf = (input: GrammarInput) => new States(compile(input).grammar)

test("a complete text has the empty completion, a rejected one has none", () => {
  const states = statesOf({ kind: "json", schema: { const: "a" } })
  const completions = new Completions(states)
  const at = (text: string) => states.advance(states.start, encoder.encode(text))
  const rest = (text: string) => new TextDecoder().decode(completions.shortest(at(text)))
  expect([rest(""), rest('"a'), rest('"a"')]).toEqual(['"a"', '"', ""])
  expect([completions.least(at('"a')), completions.least(at('"a"'))]).toEqual([1, 0])
  expect(() => completions.shortest(DeadState)).toThrow("nothing completes a text that was rejected")
})

test("a bound on the bytes of an object counts the names that it needs, as they are written", () => {
  for (const names of [[], ["name"], ["name", 'q"\n', "é\u0001", ""]]) {
    const properties = Object.fromEntries(names.map((name) => [name, { type: "integer" }]))
    const states = statesOf({ kind: "json", schema: { type: "object", properties, required: names } })
    const shortest = new Completions(states).shortest(states.start).length
    const least = new Completions(states).least(states.start)
    expect(least).toBeLessThanOrEqual(shortest)
    // The quotes of a name, a colon, a value, and a comma or a brace.
    expect(least).toBeGreaterThanOrEqual(1 + names.reduce((sum, name) => sum + name.length + 5, 0))
  }
})

test("a shortest call is the first of the shortest ones, wherever its tool stands", () => {
  const tool = (name: string, required: readonly string[]) => ({
    type: "function",
    function: {
      name,
      parameters: {
        type: "object",
        properties: Object.fromEntries(required.map((each) => [each, { type: "integer" }])),
        required,
        additionalProperties: false,
      },
    },
  })
  const many = Array.from({ length: 30 }, (_, i) => tool(`long_name_${i}`, ["first", "second"]))
  const shortestOf = (tools: readonly object[]) => {
    const states = statesOf({ kind: "tools", style: "hermes", tools, tool_choice: "required" })
    return new TextDecoder().decode(new Completions(states).shortest(states.start))
  }
  for (const name of ["ab", "abcdefgh"]) {
    const short = tool(name, [])
    const alone = shortestOf([short])
    for (const tools of [
      [short, ...many],
      [...many, short],
      [...many.slice(9), short, ...many.slice(0, 9)],
      [...many, short, tool("x".repeat(name.length), [])],
    ])
      expect(shortestOf(tools)).toBe(alone)
  }
})
