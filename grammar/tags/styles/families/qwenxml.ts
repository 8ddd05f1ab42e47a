/**
 * Qwen3-Coder and Qwen 3.5: an element for each argument, with its value on lines of its own.
 */
import { everyType, type Parameter, type Style } from "../style.ts"
import { key, name, parameters, value, wire } from "../wire.ts"

const parameter: Parameter = {
  forms: [{ types: everyType, wire: wire`<parameter=${key}>${value}</parameter>\n` }],
  padding: "\n",
}

export const qwenXml: Style = {
  name: "qwen_xml",
  controls: ["<tool_call>", "</tool_call>"],
  blocks: [
    {
      call: wire`<tool_call>\n<function=${name}>\n${parameters}</function>\n</tool_call>`,
      between: wire`\n`,
      parameter,
    },
  ],
  bare: [{ call: wire`<function=${name}>\n${parameters}</function>`, between: wire`\n`, parameter }],
  reasoning: { begin: "<think>", end: "</think>", suffix: "\n\n" },
}
