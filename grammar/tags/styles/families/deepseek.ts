/** DeepSeek V3 and R1, which fence the arguments as code, and V3.1, which does not. */
import type { Style } from "../style.ts"
import { json, name, wire } from "../wire.ts"

const controls = [
  "<｜tool▁calls▁begin｜>",
  "<｜tool▁call▁begin｜>",
  "<｜tool▁sep｜>",
  "<｜tool▁call▁end｜>",
  "<｜tool▁calls▁end｜>",
]

export const deepseekV3: Style = {
  name: "deepseek_v3",
  controls,
  blocks: [
    {
      begin: wire`<｜tool▁calls▁begin｜>`,
      call: wire`<｜tool▁call▁begin｜>function<｜tool▁sep｜>${name}\n\`\`\`json\n${json}\n\`\`\`<｜tool▁call▁end｜>`,
      between: wire`\n`,
      end: wire`<｜tool▁calls▁end｜>`,
    },
  ],
  reasoning: { begin: "<think>", end: "</think>" },
}

export const deepseekV31: Style = {
  name: "deepseek_v3_1",
  controls,
  blocks: [
    {
      begin: wire`<｜tool▁calls▁begin｜>`,
      call: wire`<｜tool▁call▁begin｜>${name}<｜tool▁sep｜>${json}<｜tool▁call▁end｜>`,
      end: wire`<｜tool▁calls▁end｜>`,
    },
  ],
  reasoning: { begin: "<think>", end: "</think>" },
}
