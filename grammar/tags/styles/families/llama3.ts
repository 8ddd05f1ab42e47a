/**
 * Llama 3.1 to 3.3: a bare JSON object, whose first key is the mark of a call.
 */
import type { Style } from "../style.ts"
import { json, name, optional, wire } from "../wire.ts"

export const llama3Json: Style = {
  name: "llama3_json",
  controls: ["<|python_tag|>"],
  trigger: wire`{"name": `,
  blocks: [
    {
      call: wire`${optional("<|python_tag|>")}{"name": "${name}", "parameters": ${json}}`,
      between: wire`; `,
    },
  ],
}
