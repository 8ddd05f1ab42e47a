/**
 * What an ONNX graph takes and gives, read from its own metadata: the graph's dimensions win over config.json.
 *
 * The layout is that of the Hugging Face exports of decoder-only models: `input_ids`, `attention_mask`, optional
 * `position_ids`, `past_key_values.<i>.key|value` in; `logits`, `present.<i>.key|value` out. Everything else is refused
 * by its name, since an input that we do not fill would silently be wrong.
 */

import { ModelError } from "../../errors.ts"

/** The part of onnxruntime's metadata that is read here; plain data, so that tests can write it down. */
export interface ValueInfo {
  readonly name: string
  readonly isTensor: boolean
  readonly type?: string
  /** Numbers where the graph fixes them, names where it does not. */
  readonly shape?: readonly (number | string)[]
}

/** One cache tensor of shape [B, heads, P, dim]. */
export interface CacheShape {
  readonly past: string
  readonly present: string
  readonly heads: number
  readonly dim: number
}

export interface Signature {
  /** V. */
  readonly width: number
  readonly caches: readonly CacheShape[]
  readonly cacheType: "float32" | "float16"
  readonly logitsType: "float32" | "float16"
  readonly hasPositions: boolean
  /** The input that limits the logits to the last n positions, where there is one. */
  readonly logitsToKeep: string | undefined
  readonly hasCacheBranch: boolean
}

const keepInputs = ["num_logits_to_keep", "logits_to_keep"]

/** Throws ModelError naming the input or output that is unknown, missing or of an unexpected shape. */
export function readSignature(
  graph: string,
  inputs: readonly ValueInfo[],
  outputs: readonly ValueInfo[],
  config: Readonly<Record<string, unknown>>,
): Signature {
  const refuse = (what: string): never => {
    throw new ModelError(`${graph}: ${what}. A decoder-only ONNX export with its cache is needed`)
  }
  const inputOf = new Map(inputs.map((input) => [input.name, input]))
  const outputOf = new Map(outputs.map((output) => [output.name, output]))
  for (const name of ["input_ids", "attention_mask"]) {
    const input = inputOf.get(name) ?? refuse(`input ${name} is missing`)
    if (input.type !== "int64") refuse(`input ${name} has type ${input.type}, not int64`)
  }
  const pasts: ValueInfo[] = []
  for (const input of inputs) {
    if (/^past_key_values\.\d+\.(key|value)$/.test(input.name)) pasts.push(input)
    else if (!knownInputs.includes(input.name)) refuse(`input ${input.name} is unknown`)
  }
  if (pasts.length === 0) refuse("it has no past_key_values inputs, so nothing could be cached")
  const caches = pasts.map((past): CacheShape => {
    const present = past.name.replace("past_key_values", "present")
    if (!outputOf.has(present)) refuse(`output ${present} is missing`)
    const shape = past.shape ?? []
    if (shape.length !== 4) refuse(`input ${past.name} has ${shape.length} dimensions, not 4`)
    return {
      past: past.name,
      present,
      heads:
        dimension(shape[1], headCount(config)) ??
        refuse(`input ${past.name}: the number of heads is unknown`),
      dim:
        dimension(shape[3], headDim(config)) ?? refuse(`input ${past.name}: the size of a head is unknown`),
    }
  })
  const logits = outputOf.get("logits") ?? refuse("output logits is missing")
  return {
    width:
      dimension(logits.shape?.at(-1), config.vocab_size) ??
      refuse("output logits: the number of columns is unknown"),
    caches,
    cacheType: floatType(pasts[0], refuse),
    logitsType: floatType(logits, refuse),
    hasPositions: inputOf.has("position_ids"),
    logitsToKeep: keepInputs.find((name) => inputOf.has(name)),
    hasCacheBranch: inputOf.has("use_cache_branch"),
  }
}

const knownInputs = ["input_ids", "attention_mask", "position_ids", "use_cache_branch", ...keepInputs]

function floatType(info: ValueInfo, refuse: (what: string) => never): "float32" | "float16" {
  if (info.type === "float32" || info.type === "float16") return info.type
  return refuse(`${info.name} has type ${info.type}, not float32 or float16`)
}

function dimension(size: number | string | undefined, fallback: unknown): number | undefined {
  for (const candidate of [size, fallback]) {
    if (typeof candidate === "number" && Number.isInteger(candidate) && candidate > 0) return candidate
  }
  return undefined
}

function headCount(config: Readonly<Record<string, unknown>>): unknown {
  return config.num_key_value_heads ?? config.num_attention_heads
}

function headDim(config: Readonly<Record<string, unknown>>): unknown {
  return config.head_dim ?? Number(config.hidden_size) / Number(config.num_attention_heads)
}
