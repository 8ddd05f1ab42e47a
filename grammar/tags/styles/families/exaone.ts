/**
 * EXAONE 4: like Hermes, on one line.
 */
import type { Style } from "../style.ts"
import { json, name, wire } from "../wire.ts"

export const exaone: Style = {
  name: "exaone",
  controls: ["<tool_call>", "</tool_call>"],
  blocks: [
    { call: wire`<tool_call>{"name": "${name}", "arguments": ${json}}</tool_call>`, between: wire`\n` },
  ],
  bare: [{ call: wire`{"name": "${name}", "arguments": ${json}}`, between: wire`\n` }],
  reasoning: { begin: "<think>", end: "</think>", suffix: "\n\n" },
}
