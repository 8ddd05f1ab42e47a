/**
 * What the chat templates of models render: turns without calls, with one and with two, with reasoning and without, are
 * accepted wherever they may stand, and read back to what was rendered. `from` names the model in each row of the data.
 */
import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { gather } from "../../../../grammar/tags/styles/read/events.ts"
import { readTurn, TurnReader } from "../../../../grammar/tags/styles/read/reader.ts"
import type { Reasoning } from "../../../../grammar/tags/styles/style.ts"
import { randomOf } from "../../../support/oracle.ts"
import { Reader, tool, turnGrammar } from "./support.ts"

interface Row {
  style: string
  from: string
  reasoning?: Reasoning
  thought?: string
  content: string
  calls: number
  text: string
}

const rows = readFileSync("test/cases/styles/rendered.jsonl", "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Row)

const tools = [
  tool("math.factorial", {
    type: "object",
    properties: {
      number: { type: "integer" },
      note: { type: "string" },
      list: { type: "array", items: { type: "integer" } },
      exact: { type: "boolean" },
    },
    required: ["number"],
    additionalProperties: false,
  }),
  tool("ping", { type: "object", properties: {} }),
]
const rendered = [
  { name: "math.factorial", arguments: { number: 5, note: 'héllo "x"\nnew', list: [1, 2], exact: true } },
  { name: "ping", arguments: {} },
]
const named = { type: "function", function: { name: "math.factorial" } }

for (const { style, from, reasoning, thought = "", content, calls, text } of rows) {
  const said = [`${calls} calls`, thought && "reasoning", content && "text"].filter(Boolean).join(", ")
  test(`${style} (${from}): ${said}`, () => {
    const turn = { style, tools, reasoning }
    const accepts = (more: object) => new Reader(turnGrammar({ ...turn, ...more })).accepts(text)
    const areOnlyCalls = calls > 0 && content === ""
    expect(accepts({})).toBe(true)
    expect(accepts({ tool_choice: "required" })).toBe(areOnlyCalls)
    expect(accepts({ tool_choice: named })).toBe(areOnlyCalls && calls === 1)
    expect(accepts({ tool_choice: "none" })).toBe(calls === 0)
    expect(accepts({ parallel_tool_calls: false })).toBe(calls < 2)
    const read = readTurn(turn, text)
    expect(read.text.trim()).toBe(content)
    expect(read.reasoning).toBe(thought)
    const found = read.calls.map(({ name, arguments: json }) => ({ name, arguments: JSON.parse(json) }))
    expect(found).toEqual(rendered.slice(0, calls))
    expect(read.calls.every(({ isComplete }) => isComplete)).toBe(true)
    const random = randomOf(text.length)
    const reader = new TurnReader(turn)
    const events = []
    for (let at = 0, end = 0; at < text.length; at = end) {
      end = at + 1 + Math.floor(random() * 9)
      events.push(...reader.feed(text.slice(at, end)))
    }
    expect(gather([...events, ...reader.end()])).toEqual(read)
  })
}
