import { expect, test } from "vitest"
import { compile } from "../../grammar/compile.ts"
import type { Grammar } from "../../grammar/grammar.ts"
import { printFrame, printLexeme, printStack, printState, printThread } from "../../grammar/print.ts"
import { States } from "../../grammar/state.ts"

const encoder = new TextEncoder()

/**
 * The states after `texts`, a text in place of each state's id. Threads come in the order of their
 * ids: here they are sorted.
 */
function print(grammar: Grammar, texts: readonly string[], many?: number): string {
  const states = new States(grammar, many)
  const lines = texts.flatMap((text) => {
    const [title, ...threads] = printState(states, states.advance(states.start, encoder.encode(text))).split(
      "\n",
    )
    return [title.replace(/^state \d+/, text), ...threads.sort()]
  })
  return `\n${lines.join("\n")}\n`
}

test("a JSON schema: a key that is read, the end of a value, an array inside, the end", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "integer" }, b: { type: "array", items: { const: 1 } } },
    required: ["a"],
  }
  const { grammar } = compile({ kind: "json", schema })
  expect(print(grammar, ['{"', '{"a":1', '{"a":1,"b":[1', '{"a":1}'])).toBe(String.raw`
{", 1 thread
  [a], read "\"", ends "a\":1}" ▸ ObjectFrame ▸ end
{"a":1, 3 threads
  [,], ends ",\"\":1}" ▸ ObjectFrame ▸ end
  [0-9] or tag 1, ends "}" ▸ ObjectFrame ▸ end
  [0a 20 }], ends "}" ▸ end
{"a":1,"b":[1, 2 threads
  [,], ends ",1]}" ▸ ArrayFrame(/properties/b) ▸ ObjectFrame ▸ end
  [0a 20 ]], ends "]}" ▸ ObjectFrame ▸ end
{"a":1}, 1 thread
  end
`)
})

test("a grammar: a rule below itself", () => {
  const { grammar } = compile({
    kind: "gbnf",
    text: 'root ::= "(" root ")" | item+\nitem ::= [a-z] ("," item)?',
  })
  expect(print(grammar, ["", "((a", "((a)"])).toBe(`
, 2 threads
  [(], ends "(a)" ▸ RuleFrame ▸ end
  [a-z], ends "a" ▸ RuleFrame ▸ RuleFrame ▸ end
((a, 3 threads
  [)], ends "))" ▸ RuleFrame ▸ end
  [,], ends ",a))" ▸ RuleFrame ▸ RuleFrame ▸ RuleFrame ▸ RuleFrame ▸ end
  [a-z], ends "a))" ▸ RuleFrame ▸ RuleFrame ▸ RuleFrame ▸ RuleFrame ▸ end
((a), 1 thread
  [)], ends ")" ▸ end
`)
})

test("readings that lie together below a thread stand in brackets", () => {
  const either = (...keys: string[]) => ({
    anyOf: keys.map((key) => ({ properties: { [key]: { type: "string" } } })),
  })
  const { grammar } = compile({ kind: "json", schema: { additionalProperties: either("a", "b", "c") } })
  expect(print(grammar, ['{"x":{"y":{"z":'], 2)).toMatch(
    /ObjectFrame ▸ \(ObjectFrame\(.* ▸ end \| ObjectFrame\(.* ▸ end\)$/m,
  )
})

test("a thread, its lexeme, its stack and its frames are printed alone as well", () => {
  const states = new States(compile({ kind: "json", schema: { type: "array", items: { const: 1 } } }).grammar)
  const state = states.advance(states.start, encoder.encode("[1"))
  const threads = Array.from({ length: states.threadCount(state) }, (_, i) => states.thread(state, i))
  const thread = threads.find((id) => states.threadStack(id) !== 0) as number
  expect(printThread(states, thread)).toBe('[,], ends ",1]" ▸ ArrayFrame ▸ end')
  expect(printLexeme(states.threadLexeme(thread))).toBe("[,]")
  expect(printStack(states.stacks, states.threadStack(thread))).toBe("ArrayFrame ▸ end")
  expect(printFrame(states.stacks.top[states.threadStack(thread)])).toBe("ArrayFrame")
})
