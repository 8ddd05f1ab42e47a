/**
 * GigaChat 3 and 3.1: text, then one call and nothing after it. Their templates show no turn with
 * two calls.
 */
import type { Style } from "../style.ts"
import { json, name, wire } from "../wire.ts"

export const gigachat31: Style = {
  name: "gigachat3_1",
  controls: ["<|function_call|>", "<|message_sep|>", "<|role_sep|>"],
  blocks: [{ call: wire`<|function_call|>{"name": "${name}", "arguments": ${json}}` }],
  maxCalls: 1,
}

/** GigaChat 3: a call is a message of its own after the text. */
export const gigachat3: Style = {
  name: "gigachat3",
  controls: ["<|message_sep|>", "<|role_sep|>"],
  blocks: [
    {
      call: wire`<|message_sep|>\n\nfunction call<|role_sep|>\n{"name": "${name}", "arguments": ${json}}`,
    },
  ],
  maxCalls: 1,
}
