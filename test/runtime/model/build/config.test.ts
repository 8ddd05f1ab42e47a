/** Decoders that a config.json describes, with tensors named as transformers names them. */
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as ort from "onnxruntime-node"
import { expect, test } from "vitest"
import {
  type Decoder,
  decoderOfConfig,
  decoderOfGguf,
  writeDecoder,
} from "../../../../runtime/model/build/decoder.ts"
import { distance } from "../../../../runtime/model/ort/layout.ts"
import { openGguf } from "../../../../runtime/model/weights/gguf.ts"
import type { Weights } from "../../../../runtime/model/weights/weights.ts"
import { ggufPath } from "../../../support/builtmodels.ts"
import { asFloats, asTransformers, spellings } from "../../../support/renamed.ts"

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

test.each([
  [{ rms_norm_eps: 0 }, "rms_norm_eps is 0, and must be from 1e-15 to 0.01"],
  [{ rms_norm_eps: "1e-5" }, 'rms_norm_eps is "1e-5", not a number'],
  [{ rope_theta: 1 }, "rope_theta is 1, and must be from 10 to 1000000000000"],
  [{ rope_parameters: { rope_theta: 1e38 } }, "rope_theta is 1e+38, and must be from 10 to 1000000000000"],
  [{ partial_rotary_factor: 1e38 }, "partial_rotary_factor is 1e+38, and must be from 0.01 to 1"],
  [{ rope_scaling: { type: "linear", factor: 1e38 } }, "factor is 1e+38, and must be from 0.01 to 10000"],
  [
    { rope_scaling: { type: "yarn", factor: 4, attention_factor: 0 } },
    "attention_factor is 0, and must be from",
  ],
  [{ rope_scaling: { type: "yarn", factor: 4, mscale: 1, mscale_all_dim: -7.3 } }, "no usable angles"],
  [
    { rope_scaling: { type: "longrope", short_factor: [1, 1, 1, 1, 1, 1, 1, 1e38] } },
    'rope_scaling.short_factor holds "1e+38", and must hold numbers from 0.01 to 10000',
  ],
  [{ rms_norm_eps: { a: 1 } }, 'rms_norm_eps is {"a":1}, not a number'],
  [{ max_position_embeddings: 1 }, "max_position_embeddings is 1, and must be an integer from 8 to 1048576"],
])("llama with %j is refused with its bounds", (changes, message) => {
  const config = {
    ...{ model_type: "llama", hidden_size: 64, num_hidden_layers: 1, num_attention_heads: 4 },
    ...{ rms_norm_eps: 1e-5, max_position_embeddings: 256, ...changes },
  }
  expect(() => decoderOfConfig(config, noWeights)).toThrow(message)
  expect(() => decoderOfConfig(config, noWeights)).toThrow(/^config\.json: /)
})

const prompt = Array.from({ length: 24 }, (_, at) => (at * 37 + 11) % 284)

/** The logits of each token of the prompt. */
async function logitsOf(decoder: Decoder, weights: Weights): Promise<Float32Array> {
  const folder = mkdtempSync(join(tmpdir(), "built-"))
  await writeDecoder(decoder, weights, folder, { dtype: "fp32", provider: "cpu", endIds: [285] })
  const session = await ort.InferenceSession.create(join(folder, "model.onnx"), { intraOpNumThreads: 1 })
  const int64 = (values: number[]) =>
    new ort.Tensor("int64", BigInt64Array.from(values, BigInt), [1, values.length])
  const feeds: Record<string, ort.Tensor> = {
    input_ids: int64(prompt),
    attention_mask: int64(prompt.map(() => 1)),
  }
  for (const info of session.inputMetadata) {
    if (!info.isTensor || !info.name.startsWith("past")) continue
    const dims = info.shape.map((size, at) => (typeof size === "number" ? size : at === 0 ? 1 : 0))
    const count = dims.reduce((product, size) => product * size, 1)
    feeds[info.name] = new ort.Tensor("float32", new Float32Array(count), dims)
  }
  const { logits } = await session.run(feeds, ["logits"])
  await session.release()
  return logits.data as Float32Array
}

test.each(Object.keys(spellings))("%s: the same model under the names of transformers", async (name) => {
  const gguf = asFloats(await openGguf(ggufPath(name)))
  const { config, weights } = asTransformers(gguf, name)
  const expected = await logitsOf(decoderOfGguf(gguf), gguf)
  const logits = await logitsOf(decoderOfConfig(config, weights), weights)
  gguf.close()
  expect(distance(expected, logits)).toBeLessThan(1e-4)
})
