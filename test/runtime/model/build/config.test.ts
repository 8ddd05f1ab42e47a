/** Decoders that a config.json describes, with tensors named as transformers names them. */
import { expect, test } from "vitest"
import { decoderOfConfig } from "../../../../runtime/model/build/decoder.ts"

const noWeights = { tensors: new Map(), rows: () => new Uint8Array(), close: () => {} }

test.each([
  [
    { model_type: "bert" },
    'config.json: architecture "bert" is not served. Choose a model of one of these: llama',
  ],
  [{}, "config.json: no architecture is named"],
  [{ model_type: "llama", hidden_act: "relu" }, 'config.json: hidden_act is "relu", not silu or swish'],
  [{ model_type: "llama", quantization_config: {} }, "config.json: quantization_config is set."],
  [
    { model_type: "llama", hidden_size: -1 },
    "config.json: hidden_size is -1, and must be an integer from 8 to 131072",
  ],
])("%j is refused", (config, message) => {
  expect(() => decoderOfConfig(config, noWeights)).toThrow(message)
})
