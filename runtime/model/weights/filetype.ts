/**
 * What the weights of a model are quantized as, by the names of GGUF: "Q4_K_M", "F16". For people
 * who choose among models; no code depends on it.
 */
import type { Weights } from "./weights.ts"

/** The name if nothing says it, as Ollama writes it. */
const unknownFileType = "unknown"

/**
 * Names by `general.file_type`. The numbers that are left out belong to types that were removed.
 * Source: enum llama_ftype, https://github.com/ggml-org/llama.cpp/blob/master/include/llama.h
 */
const names: Readonly<Record<number, string>> = {
  ...{ 0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K" },
  ...{ 11: "Q3_K_S", 12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S" },
  ...{ 17: "Q5_K_M", 18: "Q6_K", 32: "BF16" },
}

/** Returns the file type that the file states, or else the type of most of its values. */
export function fileTypeOf(weights: Pick<Weights, "tensors">, stated?: unknown): string {
  if (typeof stated === "number" && Object.hasOwn(names, stated)) return names[stated]
  const counts = new Map<string, number>()
  for (const { type, shape } of weights.tensors.values())
    counts.set(type, (counts.get(type) ?? 0) + shape.reduce((a, b) => a * b, 1))
  return [...counts].reduce((most, each) => (each[1] > most[1] ? each : most), [unknownFileType, 0])[0]
}

/** Returns the type in the name of a graph file, such as `onnx/model_q4f16.onnx`: "Q4F16". */
export function fileTypeOfGraph(file: string): string {
  const [, suffix] = /_(fp32|fp16|q8|q4f16|q4|bnb4|int8|uint8)\.onnx$/.exec(file) ?? []
  return suffix === undefined ? unknownFileType : suffix.replace(/^fp/, "f").toUpperCase()
}
