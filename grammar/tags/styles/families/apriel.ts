/** Apriel: one list of all calls between tags, on one line. */
import type { Style } from "../style.ts"
import { json, name, wire } from "../wire.ts"

export const apriel: Style = {
  name: "apriel",
  controls: ["<tool_calls>", "</tool_calls>"],
  blocks: [
    {
      begin: wire`<tool_calls>[`,
      call: wire`{"name": "${name}", "arguments": ${json}}`,
      between: wire`, `,
      end: wire`]</tool_calls>`,
    },
  ],
}
