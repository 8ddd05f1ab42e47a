/**
 * Which operators of a decoder's graph the execution providers of onnxruntime have, and the
 * replacements of the others.
 *
 * | operator | cpu | web (WebGPU) | cuda |
 * |---|---|---|---|
 * | MatMulNBits, 4 and 8 bits, blocks of 16 and 32 | float32 | float32, float16 | float32, float16 |
 * | GatherBlockQuantized of bytes, 4 and 8 bits | float32 | float32, float16 | float32, float16 |
 * | GroupQueryAttention | float32, float16 | float32, float16 | float16, bfloat16 alone |
 * | its norms of queries and keys | no | yes | yes |
 * | CausalConvWithState | float32 | float32, float16 | float32, float16 |
 *
 * Norms of queries and keys are nodes of their own before the attention, which all three run. Only
 * CUDA's attention needs another graph: there queries, keys, values and the cache are float16,
 * between two casts. An operator that a provider lacks runs on the CPU, at the price of copies.
 *
 * Source: onnxruntime 1.30, the registrations of kernels in contrib_ops. The CPU's column was run
 * here; the two others were not.
 */

export type Provider = "cpu" | "web" | "cuda"

/** The type in which attention is computed and stored, as ONNX numbers types. */
export const attentionTypes: Readonly<Record<Provider, 1 | 10>> = { cpu: 1, web: 1, cuda: 10 }
