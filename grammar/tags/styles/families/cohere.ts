/**
 * Cohere's Command R7B and A: a list of numbered actions. The text for the user has marks, too.
 */
import type { Messages, Style } from "../style.ts"
import { id, index, json, name, wire } from "../wire.ts"

const messages = (text: string): Messages => ({
  reasoning: { begin: "<|START_THINKING|>", ends: ["<|END_THINKING|>"] },
  answer: { begin: `<|START_${text}|>`, ends: [`<|END_${text}|>`] },
  between: "",
  end: "",
})

const cohereStyle = (styleName: string, text: string): Style => ({
  name: styleName,
  controls: [
    "<|START_ACTION|>",
    "<|END_ACTION|>",
    `<|START_${text}|>`,
    `<|END_${text}|>`,
    "<|START_THINKING|>",
    "<|END_THINKING|>",
  ],
  blocks: [
    {
      begin: wire`<|START_ACTION|>[\n`,
      call: wire`    {"tool_call_id": "${id([index(0)])}", "tool_name": "${name}", "parameters": ${json}}`,
      between: wire`,\n`,
      end: wire`\n]<|END_ACTION|>`,
    },
  ],
  messages: messages(text),
})

export const cohere = cohereStyle("cohere", "RESPONSE")
export const cohere2 = cohereStyle("cohere2", "TEXT")
