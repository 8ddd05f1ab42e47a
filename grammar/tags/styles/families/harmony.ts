/**
 * Harmony (gpt-oss): everything is a message on a channel, and a call is addressed to its tool. The
 * address is after the channel, as the model writes it, or before it, as in its template.
 */
import type { Style } from "../style.ts"
import { either, json, name, optional, wire } from "../wire.ts"

export const harmony: Style = {
  name: "harmony",
  controls: ["<|start|>", "<|channel|>", "<|constrain|>", "<|message|>", "<|end|>", "<|return|>", "<|call|>"],
  blocks: [
    {
      call: wire`<|channel|>commentary to=functions.${name}${optional(" ")}<|constrain|>json<|message|>${json}<|call|>`,
    },
    {
      call: wire` to=functions.${name}<|channel|>commentary ${either("<|constrain|>json", "json")}<|message|>${json}<|call|>`,
    },
  ],
  messages: {
    reasoning: { begin: "<|channel|>analysis<|message|>", ends: ["<|end|>"] },
    remark: { begin: "<|channel|>commentary<|message|>", ends: ["<|end|>"] },
    answer: { begin: "<|channel|>final<|message|>", ends: ["<|return|>", "<|end|>"] },
    between: "<|start|>assistant",
  },
}
