/** Hermes, Qwen 2.5 and 3, Granite 4: a JSON object between tags, calls line by line. */
import type { Style } from "../style.ts"
import { json, name, wire } from "../wire.ts"

export const hermes: Style = {
  name: "hermes",
  controls: ["<tool_call>", "</tool_call>"],
  blocks: [
    {
      call: wire`<tool_call>\n{"name": "${name}", "arguments": ${json}}\n</tool_call>`,
      between: wire`\n`,
    },
  ],
  reasoning: { begin: "<think>", end: "</think>", suffix: "\n\n" },
}
