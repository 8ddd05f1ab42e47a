/**
 * Solar Open: messages that have a kind where other styles have a channel. All calls are one
 * message.
 */
import type { Style } from "../style.ts"
import { id, json, letters, name, wire } from "../wire.ts"

export const solarOpen: Style = {
  name: "solar_open",
  controls: [
    ...["<|begin|>", "<|end|>", "<|think|>", "<|content|>", "<|tool_calls|>", "<|calls|>"],
    ...["<|tool_call:begin|>", "<|tool_call:name|>", "<|tool_call:args|>", "<|tool_call:end|>"],
  ],
  blocks: [
    {
      begin: wire`<|tool_calls|>`,
      call: wire`<|tool_call:begin|>${id([letters(10)])}<|tool_call:name|>${name}<|tool_call:args|>${json}<|tool_call:end|>`,
      end: wire`<|calls|>`,
    },
  ],
  messages: {
    reasoning: { begin: "<|think|>", ends: ["<|end|>"] },
    answer: { begin: "<|content|>", ends: ["<|end|>"] },
    between: "<|begin|>assistant",
    end: "",
  },
}
