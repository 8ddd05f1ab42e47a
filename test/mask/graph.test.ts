/** Graphs of machines against their definition: every token is tried from every state. */
import { describe, expect, test } from "vitest"
import { compile, type GrammarInput } from "../../grammar/index.ts"
import { bindGrammar, Matcher, precompile, TokenFsm, Vocabulary, walkStates } from "../../mask/index.ts"

const texts = [
  "a",
  "b",
  "ab",
  "ba",
  "0",
  "1",
  "01",
  "[",
  "]",
  "[[",
  '"',
  "{",
  "}",
  ":",
  '{"a":',
  "\u00e9",
  ",",
]
const encoder = new TextEncoder()
const end = texts.length
const vocabulary = Vocabulary.fromBytes([...texts.map((text) => encoder.encode(text)), null], {
  endIds: [end],
})
const machineOf = (input: GrammarInput) =>
  bindGrammar(compile(input, { whitespace: "none" }).grammar, vocabulary)

/** The edges by trying each token from each state that was found, as lines of machine states. */
function tried(input: GrammarInput, most: number): { states: number; edges: string[] } {
  const matchers = [new Matcher(machineOf(input))]
  const known = new Set([matchers[0].state])
  const edges: string[] = []
  for (const from of matchers) {
    for (const [token, text] of texts.entries()) {
      const to = from.fork()
      if (!to.accept(token)) continue
      edges.push(`${from.state} ${text} ${to.state}${to.isAccepting() ? "!" : ""}`)
      if (!known.has(to.state)) {
        known.add(to.state)
        matchers.push(to)
      }
    }
    if (known.size > most) throw new Error("the case has more states than the test tries")
  }
  return { states: known.size, edges: edges.sort() }
}

const finite: [name: string, input: GrammarInput][] = [
  ["a pattern", { kind: "regex", pattern: "(a|b){2,3}0?" }],
  ["a pattern with a loop", { kind: "regex", pattern: "(ab|[01])*é" }],
  ["choices", { kind: "choice", options: ["ab", "aba", "b0"] }],
  [
    "a closed object",
    {
      kind: "json",
      schema: { type: "object", properties: { a: { enum: [0, 1] } }, additionalProperties: false },
    },
  ],
  [
    "a bounded array",
    { kind: "json", schema: { type: "array", items: { type: "array", maxItems: 0 }, maxItems: 2 } },
  ],
  ["a text without an alternative", { kind: "regex", pattern: "abab" }],
  ["the empty text", { kind: "regex", pattern: "" }],
]

test.each(finite)("the graph of %s has the states and tokens that are found one by one", (_, input) => {
  const graph = walkStates(machineOf(input))
  const state = (index: number) => `${graph.states[index].state}${graph.states[index].isAccepting ? "!" : ""}`
  const edges = graph.edges.flatMap(({ from, to, tokens }) =>
    Array.from(tokens, (token) => `${graph.states[from].state} ${texts[token]} ${state(to)}`),
  )
  expect({ states: graph.states.length, edges: edges.sort() }).toEqual(tried(input, 200))
  expect(graph.isWhole).toBe(true)
  // One edge for a pair, in the order of the walk.
  const pairs = graph.edges.map(({ from, to }) => `${from} ${to}`)
  expect(new Set(pairs).size).toBe(pairs.length)
  expect(graph.edges.map(({ from }) => from)).toEqual(
    graph.edges.map(({ from }) => from).sort((a, b) => a - b),
  )
})

test("a closed machine has the same graph", () => {
  const { grammar } = compile({ kind: "regex", pattern: "(a|b){2,3}0?" })
  const machine = new TokenFsm(grammar, vocabulary)
  const shape = ({ states, edges }: ReturnType<typeof walkStates>) => ({
    ends: states.map(({ isAccepting }) => isAccepting),
    edges: edges.map(({ from, to, tokens }) => [from, to, [...tokens]]),
  })
  expect(shape(walkStates(precompile(machine)))).toEqual(shape(walkStates(machine)))
})

describe("bounds", () => {
  const nested: GrammarInput = { kind: "gbnf", text: 'root ::= "[" root "]" | "a"' }

  test("a graph that is cut holds the nearest states, and says where it goes on", () => {
    const small = walkStates(machineOf(nested), { maxStates: 5 })
    expect(small.states.length).toBe(5)
    expect([small.isWhole, small.states.some(({ isCut }) => isCut)]).toEqual([false, true])
    // Nothing that a larger graph has between the same states is missing.
    const large = walkStates(machineOf(nested), { maxStates: 50 })
    const among = large.edges.filter(({ from, to }) => from < 5 && to < 5)
    expect(small.edges.map(({ from, to, tokens }) => [from, to, [...tokens]])).toEqual(
      among.map(({ from, to, tokens }) => [from, to, [...tokens]]),
    )
    for (const [index, { isCut }] of small.states.entries())
      expect(isCut).toBe(large.edges.some(({ from, to }) => from === index && to >= 5))
  })

  test("a limit of the grammar cuts the graph", () => {
    const deep = walkStates(machineOf(nested), { maxStates: 5_000 })
    expect([deep.isWhole, deep.states.length < 5_000]).toEqual([false, true])
  })

  test("tokens on edges are bounded too", () => {
    const graph = walkStates(machineOf({ kind: "regex", pattern: "[ab01]*" }), { maxTokens: 3 })
    expect(graph).toMatchObject({ edges: [], isWhole: false, states: [{ isCut: true, isAccepting: true }] })
  })

  test("a bound below one state, and an unknown option, are refused", () => {
    expect(() => walkStates(machineOf(nested), { maxStates: 0 })).toThrow("maxStates (0) is below 1")
    expect(() => walkStates(machineOf(nested), { states: 3 } as never)).toThrow("states")
  })
})
