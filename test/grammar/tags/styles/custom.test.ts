/** Custom tools: one text for an argument, free, by a regular expression, or by a grammar inside of JSON's quotes. */
import { expect, test } from "vitest"
import { Completions } from "../../../../grammar/completions.ts"
import { Rules } from "../../../../grammar/ebnf/rules.ts"
import { defaultLimits } from "../../../../grammar/errors.ts"
import type { Grammar } from "../../../../grammar/grammar.ts"
import { exprs } from "../../../../grammar/lexeme/expr/expr.ts"
import { gather } from "../../../../grammar/tags/styles/read/events.ts"
import { TurnReader } from "../../../../grammar/tags/styles/read/reader.ts"
import { refusalOf } from "../../../support/cases.ts"
import { Reader, turnGrammar } from "./support.ts"

const own = (format?: unknown) => ({ type: "custom", custom: { name: "own", format } })
const regex = own({ type: "grammar", grammar: { syntax: "regex", definition: "[a-c]+|d" } })
const lark = own({ type: "grammar", grammar: { syntax: "lark", definition: "nested" } })
const call = (json: string) => `<tool_call>\n{"name": "own", "arguments": {"input": ${json}}}\n</tool_call>`

/** Brackets around a quote, a line end, a control character or a letter: nesting needs a stack. */
function nested(): Grammar {
  const rules = new Rules(defaultLimits)
  const rule = rules.declare("start")
  rules.define(rule, [rule], () => {
    const { terms } = rules
    const leaf = terms.expr(exprs.or(['"', "\n", "\u001b", "é"].map((text) => exprs.literal(text))))
    return terms.or([leaf, terms.concat(terms.text("("), rules.use(rule), terms.text(")"))])
  })
  return rules.grammar(rule, { key: () => "nested", title: "nested" })!
}

test.each([
  ["free text", own(), ['""', '"any\\ntext"'], ["5", "{}"]],
  ["text by its name", own({ type: "text" }), ['"x"'], ["null"]],
  ["a regular expression", regex, ['"abc"', '"d"'], ['""', '"abd"', '"x"']],
  [
    "a grammar",
    lark,
    ['"((é))"', '"(\\")"', '"(\\n)"', '"\\u001b"'],
    ['"(é"', '"é)"', '"\\u000a"', '"()"', '"a"'],
  ],
])("%s", (_, tool, accept, reject) => {
  const turn = { style: "hermes", tools: [tool], tool_choice: { type: "custom", custom: { name: "own" } } }
  const said = new Reader(turnGrammar(turn, { lark: nested }))
  for (const json of accept) {
    expect([json, said.accepts(call(json))]).toEqual([json, true])
    const reader = new TurnReader(turn)
    const events = [...[...call(json)].flatMap((unit) => reader.feed(unit)), ...reader.end()]
    const read = { name: "own", isCustom: true, arguments: JSON.parse(json), isComplete: true }
    expect(gather(events).calls).toEqual([read])
  }
  for (const json of reject) expect([json, said.accepts(call(json))]).toEqual([json, false])
})

test("an input that is begun can be finished", () => {
  const { states } = new Reader(
    turnGrammar({ style: "hermes", tools: [lark], tool_choice: "required" }, { lark: nested }),
  )
  const bytes = new TextEncoder().encode(call('"((\\u001b))"'))
  for (let end = 0; end < bytes.length; end++) {
    const state = states.advance(states.start, bytes, 0, end)
    expect([end, states.isAccepting(states.advance(state, new Completions(states).shortest(state)))]).toEqual(
      [end, true],
    )
  }
})

test("where arguments are elements, a grammar cannot say where it ends", () => {
  const error = refusalOf(() => turnGrammar({ style: "qwen_xml", tools: [lark] }, { lark: nested }))
  expect([error.kind, error.path]).toEqual(["unsupported", "/0/custom/format/grammar/definition"])
})
