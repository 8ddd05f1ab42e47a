/** Graphs that are built of tiny GGUF files (`test/decoders/make.py`), opened as any model: they answer what llama.cpp answers. */
import { mkdtempSync, readdirSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type Decoder, decoderOfGguf, writeDecoder } from "../../../../runtime/model/build/decoder.ts"
import { type OnnxNode, readGraph } from "../../../../runtime/model/ort/onnx.ts"
import { openGguf } from "../../../../runtime/model/weights/gguf.ts"
import { buildTiny, expectedAnswers, ggufPath } from "../../../support/builtmodels.ts"
import { openGraph } from "../../../support/ortsession.ts"

/** The number of an attribute; undefined if it is absent. */
function intOf({ attributes }: OnnxNode, name: string): number | undefined {
  for (const bytes of attributes) {
    const length = bytes[1]
    if (Buffer.from(bytes.subarray(2, 2 + length)).toString() === name) return bytes[2 + length + 1]
  }
  return undefined
}

/** Opens a built model and has it answer each prompt greedily. */
async function expectAnswers(
  folder: string,
  decoder: Decoder,
  rows: (typeof expectedAnswers)[string],
): Promise<void> {
  const session = await openGraph(folder, { slotCount: 2, contextLength: decoder.context })
  expect(session.isBatched).toBe(true)
  for (const { prompt, tokens, logits } of rows) {
    const made: number[] = []
    let start = 0
    let feed = prompt
    while (made.length < tokens.length) {
      const row = await session.forward([{ slot: 0, start, tokens: feed, logitsCount: 1 }])
      const [least, most] = [Math.min(...row), Math.max(...row)]
      // Both round activations to 8 bits, and differently.
      if (made.length === 0) {
        for (const [id, logit] of logits)
          expect(Math.abs(row[id] - logit) / (most - least), `logit ${id}`).toBeLessThan(0.02)
      }
      made.push(row.indexOf(most))
      start += feed.length
      feed = made.slice(-1)
    }
    expect(made).toEqual(tokens)
  }
}

describe.each(Object.entries(expectedAnswers))("%s", (name, rows) => {
  test("answers the tokens of llama.cpp, by fast kernels alone", async () => {
    const { folder, decoder } = await buildTiny(name)
    const graph = readGraph(readFileSync(join(folder, "model.onnx")))
    const products = graph.nodes.filter(({ op }) => op === "MatMulNBits")
    expect(products.length).toBeGreaterThan(4)
    for (const node of products) {
      expect(intOf(node, "accuracy_level")).toBe(4)
      expect([4, 8]).toContain(intOf(node, "bits"))
      expect([16, 32]).toContain(intOf(node, "block_size"))
      expect(node.inputs.length, "no zero points").toBe(3)
    }
    await expectAnswers(folder, decoder, rows)
  })
})

test.each(Object.keys(expectedAnswers))("%s: every parameter and tensor is accounted for", async (name) => {
  const gguf = await openGguf(ggufPath(name))
  const withKey = new Map([...gguf.metadata, [`${name}.attention.unheard_of`, 1] as const])
  expect(() => decoderOfGguf({ ...gguf, metadata: withKey })).toThrow(
    `${name}.attention.unheard_of is "1" and has an unknown effect`,
  )
  gguf.close()
})

test.each(["qwen2", "gemma2", "gemma3", "command-r"])(
  "%s: attention in halves, as CUDA has it",
  async (name) => {
    const { folder, decoder } = await buildTiny(name, { provider: "cuda" })
    const graph = readGraph(readFileSync(join(folder, "model.onnx")))
    const caches = graph.inputs.filter((input) => input.name.startsWith("past"))
    expect(new Set(caches.map(({ type }) => type))).toEqual(new Set([10]))
    await expectAnswers(folder, decoder, expectedAnswers[name])
  },
)

test.each([
  ["rope.freq_base", 0, "llama.rope.freq_base is 0, and must be from 10 to 1000000000000"],
  ["rope.freq_base", 1, "llama.rope.freq_base is 1, and must be from 10 to 1000000000000"],
  ["rope.scaling.factor", 1e38, "llama.rope.scaling.factor is 1e+38, and must be from 0.01 to 10000"],
  ["rope.scaling.attn_factor", 0, "llama.rope.scaling.attn_factor is 0, and must be from 0.01 to 100"],
  [
    "attention.layer_norm_rms_epsilon",
    -1e-5,
    "llama.attention.layer_norm_rms_epsilon is -0.00001, and must be from 1e-15 to 0.01",
  ],
  ["context_length", 1, "llama.context_length is 1, and must be an integer from 8 to 1048576"],
  ["rope.freq_base", Number.NaN, 'llama.rope.freq_base is "NaN", not a number'],
  ["rope.scaling.type", "dynamic", 'rope.scaling.type is "dynamic", which is not served'],
  [
    "rope.dimension_count",
    12,
    "llama.rope.dimension_count makes 12 turned numbers a head, no multiple of 16",
  ],
  [
    "context_length",
    2 ** 40,
    "llama.context_length is 1099511627776, and must be an integer from 8 to 1048576",
  ],
  [
    "rope.scaling.original_context_length",
    100.5,
    "rope.scaling.original_context_length is 100.5, and must be an integer of at least 8",
  ],
  [
    "rope.scaling.original_context_length",
    0,
    "rope.scaling.original_context_length is 0, and must be an integer of at least 8",
  ],
  ["block_count", 3, "tensor blk.2.attn_q.weight is missing"],
  ["block_count", 1, 'tensor "blk.1.attn_norm.weight" is not part of a llama model'],
  [
    "attention.head_count",
    1,
    "tensor blk.0.attn_k.weight has the shape 16 × 32, and by the parameters it must have 32 × 32",
  ],
  ["attention.causal", false, 'llama.attention.causal is "false" and has an unknown effect'],
  ["embedding_length", [32], 'llama.embedding_length is "32", not a number'],
])("llama.%s = %j is refused before anything is written", async (key, value, message) => {
  const gguf = await openGguf(ggufPath("llama"))
  const folder = mkdtempSync(join(tmpdir(), "built-"))
  const metadata = new Map([...gguf.metadata, [`llama.${key}`, value] as const])
  const changed = { ...gguf, metadata }
  const write = async () =>
    writeDecoder(decoderOfGguf(changed), changed, folder, { dtype: "q8", provider: "cpu", endIds: [285] })
  await expect(write()).rejects.toThrow(message)
  expect(readdirSync(folder)).toEqual([])
  gguf.close()
})

test.each([
  ["granite", "logit_scale", 1e-40, "granite.logit_scale is 1e-40, and must be from 0.0001 to 10000"],
  ["granite", "residual_scale", 0, "granite.residual_scale is 0, and must be from 0.0001 to 10000"],
  [
    "gemma2",
    "final_logit_softcapping",
    1e-3,
    "final_logit_softcapping is 0.001, and must be from 1 to 10000",
  ],
  ["command-r", "attention.layer_norm_epsilon", 1, "layer_norm_epsilon is 1, and must be from 1e-15 to 0.01"],
])("%s.%s = %j makes noise, and is refused with its bound", async (name, key, value, message) => {
  const gguf = await openGguf(ggufPath(name))
  const metadata = new Map([...gguf.metadata, [`${name}.${key}`, value] as const])
  expect(() => decoderOfGguf({ ...gguf, metadata })).toThrow(message)
  gguf.close()
})

test("tables of angles are no larger than 64 MiB, or than the weights", async () => {
  const gguf = await openGguf(ggufPath("llama"))
  const tensors = new Map(gguf.tensors)
  const metadata = new Map([...gguf.metadata, ["llama.context_length", 2 ** 20] as const])
  // 8 pairs a head.
  expect(decoderOfGguf({ ...gguf, metadata }).context).toBe(2 ** 20)
  const wide = (context: number, extra = 1) => {
    const values: [string, number][] = [
      ["context_length", context],
      ["attention.key_length", 1_024],
      ["rope.dimension_count", 1_024],
    ]
    const shape = (rows: number, columns: number) => ({ type: "F32", shape: [rows, columns] })
    for (const layer of [0, 1]) {
      for (const [part, rows] of [
        ["q", 2_048],
        ["k", 1_024],
        ["v", 1_024],
      ] as const)
        tensors.set(`blk.${layer}.attn_${part}.weight`, { name: part, ...shape(rows, 32) })
      tensors.set(`blk.${layer}.attn_output.weight`, { name: "o", ...shape(32, 2_048) })
    }
    tensors.delete("rope_freqs.weight")
    tensors.set("v.extra.weight", { name: "extra", ...shape(extra, 2 ** 20) })
    const all = [...gguf.metadata, ...values.map(([key, value]) => [`llama.${key}`, value] as const)]
    return decoderOfGguf({ ...gguf, tensors, metadata: new Map(all) })
  }
  expect(() => wide(2 ** 20)).toThrow(
    /llama\.context_length is 1048576, for which the tables of angles take 4294967296 bytes, more than 67108864\. Set it to at most 16384$/,
  )
  wide(16_384)
  wide(2 ** 20, 1_024)
  gguf.close()
})
