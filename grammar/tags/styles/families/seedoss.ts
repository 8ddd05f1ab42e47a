/**
 * Seed-OSS: elements like those of Qwen3-Coder, without line ends around the values.
 */
import { everyType, type Style } from "../style.ts"
import { key, name, parameters, value, wire } from "../wire.ts"

export const seedOss: Style = {
  name: "seed_oss",
  controls: ["<seed:tool_call>", "</seed:tool_call>"],
  blocks: [
    {
      lead: "\n",
      call: wire`<seed:tool_call>\n<function=${name}>\n${parameters}</function>\n</seed:tool_call>`,
      between: wire`\n`,
      parameter: { forms: [{ types: everyType, wire: wire`<parameter=${key}>${value}</parameter>\n` }] },
    },
  ],
  reasoning: { begin: "<seed:think>", end: "</seed:think>", suffix: "\n" },
}
