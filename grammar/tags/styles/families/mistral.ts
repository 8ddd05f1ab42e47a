/**
 * Mistral: since tokenizer version 11 each call has its own control token, some with an id. Before,
 * there was one list of all calls.
 */
import type { Style } from "../style.ts"
import { id, json, letters, name, optional, wire } from "../wire.ts"

export const mistral: Style = {
  name: "mistral",
  controls: ["[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"],
  blocks: [
    { call: wire`[TOOL_CALLS]${name}${optional(wire`[CALL_ID]${id([letters(9)])}`)}[ARGS]${json}` },
    {
      begin: wire`[TOOL_CALLS][`,
      call: wire`{"name": "${name}", "arguments": ${json}${optional(wire`, "id": "${id([letters(9)])}"`)}}`,
      between: wire`, `,
      end: wire`]`,
    },
  ],
  reasoning: { begin: "[THINK]", end: "[/THINK]" },
}
