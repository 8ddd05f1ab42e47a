/** Calls as Python writes them: Llama 4 and 3.2 bare, LFM 2 between control tokens. */
import { type Block, everyType, type Style } from "../style.ts"
import { key, name, parameters, value, wire } from "../wire.ts"

const block: Block = {
  begin: wire`[`,
  call: wire`${name}(${parameters})`,
  between: wire`, `,
  end: wire`]`,
  parameter: {
    forms: [{ types: everyType, wire: wire`${key}=${value}` }],
    between: ", ",
    notation: "python",
  },
}

export const pythonic: Style = {
  name: "pythonic",
  controls: ["<|python_start|>", "<|python_end|>"],
  trigger: wire`[${name}(`,
  blocks: [block],
}

export const lfm2: Style = {
  name: "lfm2",
  controls: ["<|tool_call_start|>", "<|tool_call_end|>"],
  blocks: [{ ...block, begin: wire`<|tool_call_start|>[`, end: wire`]<|tool_call_end|>` }],
  reasoning: { begin: "<think>", end: "</think>" },
}
