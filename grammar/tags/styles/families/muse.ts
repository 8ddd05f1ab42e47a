/**
 * Muse: every message names its recipient: the model itself, the user, or a tool, which it names
 * once more.
 */
import { everyType, type Style } from "../style.ts"
import { key, name, parameters, value, wire } from "../wire.ts"

const between = "<|start|>assistant"

export const muse: Style = {
  name: "muse",
  controls: ["<|start|>", "<|message|>", "<|eom|>", "<|eot|>"],
  blocks: [
    {
      call: wire` to=${name}<|message|><atem:function_calls>\n<atem:invoke name="${name}">\n${parameters}</atem:invoke>\n</atem:function_calls>`,
      between: wire`<|eom|>${between}`,
      end: wire`<|eot|>`,
      parameter: {
        forms: [{ types: everyType, wire: wire`<atem:parameter name="${key}">${value}</atem:parameter>\n` }],
      },
    },
  ],
  messages: {
    reasoning: { begin: " to=self<|message|>", ends: ["<|eom|>"] },
    remark: { begin: " to=user<|message|>", ends: ["<|eom|>"] },
    answer: { begin: " to=user<|message|>", ends: ["<|eot|>"] },
    between,
    end: "",
  },
}
