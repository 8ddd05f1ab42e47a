/**
 * MiMo V2: like Qwen3-Coder, without line ends.
 */
import { everyType, type Parameter, type Style } from "../style.ts"
import { key, name, parameters, value, wire } from "../wire.ts"

const parameter: Parameter = {
  forms: [{ types: everyType, wire: wire`<parameter=${key}>${value}</parameter>` }],
}

export const mimo: Style = {
  name: "mimo",
  controls: ["<tool_call>", "</tool_call>"],
  blocks: [
    {
      call: wire`<tool_call><function=${name}>${parameters}</function></tool_call>`,
      parameter,
    },
  ],
  bare: [{ call: wire`<function=${name}>${parameters}</function>`, parameter }],
  reasoning: { begin: "<think>", end: "</think>" },
}
