/**
 * MiniMax M1: all calls between one pair of tags, each on its line.
 */
import type { Style } from "../style.ts"
import { json, name, wire } from "../wire.ts"

export const minimaxM1: Style = {
  name: "minimax_m1",
  controls: ["<tool_calls>", "</tool_calls>"],
  blocks: [
    {
      begin: wire`<tool_calls>\n`,
      call: wire`{"name": "${name}", "arguments": ${json}}\n`,
      end: wire`</tool_calls>`,
    },
  ],
}
