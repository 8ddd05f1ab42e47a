/** Nemotron Nano 2: one list of all calls between tags in capitals. */
import type { Style } from "../style.ts"
import { json, name, wire } from "../wire.ts"

export const nemotronV2: Style = {
  name: "nemotron_v2",
  controls: ["<TOOLCALL>", "</TOOLCALL>"],
  blocks: [
    {
      begin: wire`<TOOLCALL>[`,
      call: wire`{"name": "${name}", "arguments": ${json}}`,
      between: wire`, `,
      end: wire`]</TOOLCALL>`,
    },
  ],
  reasoning: { begin: "<think>", end: "</think>", suffix: "\n\n" },
}
