/** Texts that are cut anywhere, by a budget or by a client that leaves: what stands before the cut is read, and nothing fails. */
import { expect, test } from "vitest"
import { styles } from "../../../../grammar/tags/styles/all.ts"
import { readTurn } from "../../../../grammar/tags/styles/read/reader.ts"
import type { Style } from "../../../../grammar/tags/styles/style.ts"
import { randomOf } from "../../../support/oracle.ts"
import { RandomTools } from "./randomtools.ts"
import { tool, Writer, written } from "./support.ts"

const Rounds = 4

for (const style of styles) {
  test(style.name, () => {
    for (let seed = 1; seed <= Rounds; seed++) {
      const random = randomOf(seed)
      const source = new RandomTools(random)
      const tools = source.tools(2)
      const turn = { style: style.name, tools: tools.map((each) => tool(each.name, each.parameters)) }
      const calls = tools
        .map((each) => ({ name: each.name, arguments: source.arguments(each) }))
        .slice(0, style.maxCalls)
      for (const at of style.blocks.keys()) {
        const text = messagesOf(style) + written(new Writer(random).calls(style, at, calls))
        const whole = readTurn(turn, text)
        expect(whole.calls.length).toBe(calls.length)
        for (let end = 0; end < text.length; end++) {
          const read = readTurn(turn, text.slice(0, end))
          expect(read.calls.map(({ name }) => name)).toEqual(
            whole.calls.slice(0, read.calls.length).map(({ name }) => name),
          )
        }
      }
    }
  })
}

/** What a style that writes messages may say before it calls. */
function messagesOf({ messages }: Style): string {
  if (messages === undefined) return ""
  const { reasoning, remark = reasoning, between } = messages
  return [reasoning, remark].map(({ begin, ends }) => `${begin}so${ends[0]}${between}`).join("")
}
