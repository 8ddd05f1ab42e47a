/** Names of tools that hold colons and slashes, and names of which one begins as another: every style writes and reads them. */
import { expect, test } from "vitest"
import { styles } from "../../../../grammar/tags/styles/all.ts"
import { gather } from "../../../../grammar/tags/styles/read/events.ts"
import { readTurn, TurnReader } from "../../../../grammar/tags/styles/read/reader.ts"
import { isToolName } from "../../../../grammar/tags/styles/tools.ts"
import { randomOf } from "../../../support/oracle.ts"
import { Reader, tool, turnGrammar, Writer, written } from "./support.ts"

const names = ["a", "a:", "a:0", "a.b", "server:any.name", "server:any", "org/repo/tool", "@x/y#z", "天気"]

for (const style of styles) {
  test(style.name, () => {
    const turn = { style: style.name, tools: names.map((name) => tool(name)) }
    const reader = new Reader(turnGrammar({ ...turn, tool_choice: "required" }))
    for (const name of names) {
      for (const at of style.blocks.keys()) {
        const text = written(new Writer(randomOf(1)).calls(style, at, [{ name, arguments: {} }]))
        expect([text, reader.accepts(text)]).toEqual([text, true])
        expect(readTurn(turn, text).calls).toMatchObject([{ name, arguments: "{}", isComplete: true }])
        const pieces = new TurnReader(turn)
        const events = [...text].flatMap((unit) => pieces.feed(unit))
        expect(gather([...events, ...pieces.end()])).toEqual(readTurn(turn, text))
      }
    }
  })
}

test.each([
  "",
  "a b",
  'a"',
  "a\\b",
  "a<b",
  "a>b",
  "a(b",
  "a[b",
  "a{b",
  "a|b",
  "a\nb",
  "a".repeat(129),
  "\ud800",
  1,
])("%j is no name", (name) => {
  expect(isToolName(name)).toBe(false)
})
