/** Hermes, Qwen 2.5 and 3, Granite 4: a JSON object between tags, calls line by line. */
import type { Block, Style } from "../style.ts"
import { json, name, wire } from "../wire.ts"

/** Calls without the tags, with the object as in the template. */
const bare: readonly Block[] = [{ call: wire`{"name": "${name}", "arguments": ${json}}`, between: wire`\n` }]

export const hermes: Style = {
  name: "hermes",
  controls: ["<tool_call>", "</tool_call>"],
  blocks: [
    {
      call: wire`<tool_call>\n{"name": "${name}", "arguments": ${json}}\n</tool_call>`,
      between: wire`\n`,
    },
  ],
  bare,
  reasoning: { begin: "<think>", end: "</think>", suffix: "\n\n" },
}
