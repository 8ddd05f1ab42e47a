/**
 * Kimi K3: blocks that are opened and closed by control tokens. An argument states the type of its
 * value.
 */
import { everyType, type Style } from "../style.ts"
import { index, key, name, parameters, value, wire } from "../wire.ts"

const response = { begin: "<|open|>response<|sep|>", ends: ["<|close|>response<|sep|>"] }

export const kimiK3: Style = {
  name: "kimi_k3",
  controls: ["<|open|>", "<|close|>", "<|sep|>"],
  blocks: [
    {
      // The template always writes a response, which is empty before calls alone.
      lead: response.begin + response.ends[0],
      begin: wire`<|open|>tools<|sep|>`,
      call: wire`<|open|>call tool="${name}" index="${index(1)}"<|sep|>${parameters}<|close|>call<|sep|>`,
      end: wire`<|close|>tools<|sep|>`,
      parameter: {
        forms: everyType.map((type) => ({
          types: [type],
          wire: wire`<|open|>argument key="${key}" type="${type}"<|sep|>${value}<|close|>argument<|sep|>`,
        })),
      },
    },
  ],
  messages: {
    reasoning: { begin: "<|open|>think<|sep|>", ends: ["<|close|>think<|sep|>"] },
    remark: response,
    answer: response,
    between: "",
    end: "<|close|>message<|sep|>",
  },
}
