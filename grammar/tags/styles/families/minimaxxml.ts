/** MiniMax M2: elements with attributes. */
import { everyType, type Style } from "../style.ts"
import { key, name, parameters, value, wire } from "../wire.ts"

export const minimaxXml: Style = {
  name: "minimax_xml",
  controls: ["<minimax:tool_call>", "</minimax:tool_call>"],
  blocks: [
    {
      lead: "\n",
      begin: wire`<minimax:tool_call>\n`,
      call: wire`<invoke name="${name}">\n${parameters}</invoke>\n`,
      end: wire`</minimax:tool_call>`,
      parameter: {
        forms: [{ types: everyType, wire: wire`<parameter name="${key}">${value}</parameter>\n` }],
      },
    },
  ],
  reasoning: { begin: "<think>\n", end: "\n</think>", suffix: "\n\n" },
}
