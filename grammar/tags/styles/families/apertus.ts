/**
 * Apertus: one list of all calls. Each is an object whose only key is the name.
 */
import type { Style } from "../style.ts"
import { json, name, wire } from "../wire.ts"

export const apertus: Style = {
  name: "apertus",
  controls: ["<|tools_prefix|>", "<|tools_suffix|>", "<|inner_prefix|>", "<|inner_suffix|>"],
  blocks: [
    {
      begin: wire`<|tools_prefix|>[`,
      call: wire`{"${name}": ${json}}`,
      between: wire`, `,
      end: wire`]<|tools_suffix|>`,
    },
  ],
  reasoning: { begin: "<|inner_prefix|>", end: "<|inner_suffix|>" },
}
