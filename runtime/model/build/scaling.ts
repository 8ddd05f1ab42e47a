/**
 * Reads the angles by which the layers of a model rotate, from its parameters: GGUF's `rope.*` keys
 * and tensors of factors, and `rope_scaling` or `rope_parameters` of a config.json.
 */

import { floats } from "../weights/blocks.ts"
import { bytesOf } from "../weights/storage.ts"
import type { Weights } from "../weights/weights.ts"
import type { Architecture } from "./architectures.ts"
import { damaged } from "./metadata.ts"
import { type Bounds, type Parameters, ropeBases, spellValue } from "./parameters.ts"
import { type Rope, ropeFrequencies, type Stretch, yarnMagnitude } from "./rope.ts"

/** Ropes of a model's layers; null: queries and keys of these layers are not rotated. */
export interface Ropes {
  readonly local: Rope | null
  readonly global: Rope | null
  /** Number of positions of the model with this scaling. */
  readonly context: number
  /**
   * Tensors of factors that the angles already contain, or that are for texts of another length.
   */
  readonly tensors: readonly string[]
}

const maxContext = 2 ** 20
/** Minimum positions of a model: the trials at the opening of a graph need them. */
const minContext = 8
/**
 * Bytes that the tables of angles may always take; those of a larger model may take as many as its
 * weights.
 */
const leastTableBytes = 2 ** 26

/** Bounds far beyond known models, as in `parameters.ts`. */
const factorBounds: Bounds = [0.01, 1e4]
const magnitudeBounds: Bounds = [0.01, 100]
const turnBounds: Bounds = [1e-3, 1e4]
const shareBounds: Bounds = [0.01, 1]

/** Angles of one kind of layers, before it is known whether all layers have them. */
interface Turning {
  readonly base: number
  readonly stretch: Stretch
  readonly magnitude: number
  /** For a model with two lists of factors: the context length that the first list is for. */
  readonly context?: number
  /** Factors by which pairs are slowed down in addition to the extension. */
  readonly factors?: ArrayLike<number>
  readonly tensors?: readonly string[]
}

/** Reads all parameters of positions. Throws ModelError naming an unknown kind of scaling. */
export function readRopes(
  architecture: Architecture,
  parameters: Parameters,
  weights: Weights,
  headDim: number,
): Ropes {
  const longest = parameters.integer("context", minContext, maxContext)
  const dims = rotaryDims(parameters, headDim)
  const isGguf = parameters.format === "gguf"
  const read = (kind: string): Turning =>
    isGguf ? ggufTurning(parameters, weights, longest, dims) : configTurning(parameters, kind, longest, dims)
  const ropeOf = ({ base, stretch, magnitude, factors }: Turning): Rope => {
    const frequencies = ropeFrequencies(dims, base, stretch).map(
      (angle, pair) => angle / (factors?.[pair] ?? 1),
    )
    const [least, most] = magnitudeBounds
    if (
      !frequencies.every((angle) => angle > 0 && angle <= 1e6) ||
      !(magnitude >= least && magnitude <= most)
    )
      parameters.refuse(
        parameters.spelt("ropeBase"),
        `is ${base}, which with its scaling turns by no usable angles`,
      )
    return { frequencies, magnitude, isInterleaved: architecture.isInterleaved[parameters.format] }
  }
  const turning = read("full_attention")
  const rope = ropeOf(turning)
  const tensors = turning.tensors ?? []
  const common = { context: Math.min(longest, turning.context ?? longest), tensors }
  const tableCount = architecture.globalLayers === "ownRope" ? 2 : 1
  checkTables(parameters, weights, common.context, 4 * dims * tableCount)
  switch (architecture.globalLayers) {
    case "same":
      return { local: rope, global: rope, ...common }
    case "noRope":
      return { local: rope, global: null, ...common }
    case "ownRope":
      return { local: ropeOf(localTurning(parameters, longest, dims)), global: rope, ...common }
    default:
      return architecture.globalLayers satisfies never
  }
}

/**
 * The tables have a row for each position, and a file of a few bytes may claim a million positions.
 */
function checkTables(parameters: Parameters, weights: Weights, context: number, rowBytes: number): void {
  const weightBytes = [...weights.tensors.values()].reduce((sum, tensor) => sum + (bytesOf(tensor) || 0), 0)
  const most = Math.max(leastTableBytes, weightBytes)
  if (context * rowBytes <= most) return
  parameters.refuse(
    parameters.spelt("context"),
    `is ${context}, for which the tables of angles take ${context * rowBytes} bytes, more than ${most}. ` +
      `Set it to at most ${Math.floor(most / rowBytes)}`,
  )
}

function rotaryDims(parameters: Parameters, headDim: number): number {
  const parts = ropeObject(parameters, "full_attention")
  const partial = parts?.partial_rotary_factor ?? parameters.value("partialRotary") ?? 1
  const share = parameters.checked("partial_rotary_factor", partial, 1, shareBounds)
  const dims = parameters.integer("ropeDims", 2, headDim, Math.trunc(share * headDim))
  if (dims % 16 !== 0)
    parameters.refuse(parameters.spelt("ropeDims"), `makes ${dims} turned numbers a head, no multiple of 16`)
  return dims
}

/**
 * Returns the context length of the original training. Throws ModelError if it is not a number of
 * tokens.
 */
function contextOf(parameters: Parameters, key: string, tokens: number): number {
  if (Number.isInteger(tokens) && tokens >= minContext) return tokens
  return parameters.refuse(key, `is ${tokens}, and must be an integer of at least ${minContext}`)
}

function localTurning(parameters: Parameters, longest: number, dims: number): Turning {
  const own = parameters.format === "config" ? ropeObject(parameters, "sliding_attention") : undefined
  if (own?.rope_theta !== undefined) return configTurning(parameters, "sliding_attention", longest, dims)
  const base = parameters.number("localRopeBase", 10_000)
  return { base, stretch: { kind: "none" }, magnitude: 1 }
}

function ggufTurning(parameters: Parameters, weights: Weights, longest: number, dims: number): Turning {
  const number = (key: string, fallback: number, bounds?: Bounds): number =>
    parameters.checked(key, parameters.raw(key), fallback, bounds)
  const base = parameters.number("ropeBase", 10_000)
  const factor = number("rope.scaling.factor", number("rope.scale_linear", 1, factorBounds), factorBounds)
  // Converters write the two lists of longrope without naming the type.
  const hasLists = weights.tensors.has("rope_factors_short.weight")
  const kind = parameters.raw("rope.scaling.type") ?? (hasLists ? "longrope" : "linear")
  const key = "rope.scaling.original_context_length"
  const original = contextOf(parameters, key, number(key, longest))
  const magnitude = number("rope.scaling.attn_factor", 1, magnitudeBounds)
  const plain = { base, magnitude, ...factorsOf(weights, ["rope_freqs.weight"], parameters, dims) }
  switch (kind) {
    case "none":
      return { ...plain, stretch: { kind: "none" } }
    case "linear":
      return { ...plain, stretch: { kind: "linear", factor } }
    case "yarn": {
      const fast = number("rope.scaling.yarn_beta_fast", 32, turnBounds)
      const slow = number("rope.scaling.yarn_beta_slow", 1, turnBounds)
      const stretch = { kind: "yarn", factor, original, fast, slow, isTruncated: true } as const
      return { ...plain, stretch, magnitude: magnitude * yarnMagnitude(factor) }
    }
    case "longrope": {
      const names = ["rope_factors_short.weight", "rope_factors_long.weight"]
      const short = factorsOf(weights, names, parameters, dims)
      if (short.factors === undefined)
        parameters.refuse("rope.scaling.type", "is longrope, and its factors are missing")
      return { base, magnitude, ...short, stretch: { kind: "none" }, context: original }
    }
    default:
      return parameters.refuse("rope.scaling.type", `is ${JSON.stringify(kind)}, which is not served`)
  }
}

/** Returns the factors of the first of these tensors; empty if it does not exist. */
function factorsOf(
  weights: Weights,
  tensors: readonly string[],
  parameters: Parameters,
  dims: number,
): Pick<Turning, "factors" | "tensors"> {
  const [name] = tensors
  const tensor = weights.tensors.get(name)
  if (tensor === undefined) return {}
  if (tensor.shape.length !== 1 || tensor.shape[0] !== dims / 2)
    parameters.refuse(name, `has the shape ${tensor.shape.join(" × ")}, not ${dims / 2}`)
  const factors = floats(tensor.type, weights.rows(name, 0, 1), name)
  checkFactors(parameters, name, factors)
  return { factors, tensors }
}

function checkFactors(parameters: Parameters, name: string, factors: Iterable<unknown>): void {
  const [least, most] = factorBounds
  for (const factor of factors) {
    if (typeof factor === "number" && factor >= least && factor <= most) continue
    parameters.refuse(
      name,
      `holds ${spellValue(factor)}, and must hold numbers from ${least} to ${most}. ${damaged}`,
    )
  }
}

type JsonObject = Readonly<Record<string, unknown>>

/**
 * Returns the settings of positions in a config.json, for one kind of layers if it distinguishes
 * them.
 */
function ropeObject(parameters: Parameters, kind: string): JsonObject | undefined {
  if (parameters.format === "gguf") return undefined
  const found = parameters.raw("rope_parameters") ?? parameters.raw("rope_scaling")
  if (found === undefined) return undefined
  if (typeof found !== "object" || Array.isArray(found)) parameters.refuse("rope_scaling", "is no object")
  const all = found as JsonObject
  return kind in all ? (all[kind] as JsonObject) : all
}

/** Keys that each kind of scaling has. */
const ropeKeys: Readonly<Record<string, readonly string[]>> = {
  default: [],
  linear: ["factor"],
  llama3: ["factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"],
  yarn: [
    ...["factor", "original_max_position_embeddings", "attention_factor", "beta_fast", "beta_slow"],
    ...["mscale", "mscale_all_dim", "truncate"],
  ],
  longrope: ["short_factor", "long_factor", "factor", "attention_factor", "original_max_position_embeddings"],
}
const commonRopeKeys = ["type", "rope_type", "rope_theta", "partial_rotary_factor"]

function configTurning(parameters: Parameters, kind: string, longest: number, dims: number): Turning {
  const parts = ropeObject(parameters, kind) ?? {}
  const number = (key: string, fallback?: number, bounds?: Bounds): number =>
    parameters.checked(key, parts[key], fallback, bounds)
  const factorOf = (): number => number("factor", undefined, factorBounds)
  const named = String(parts.rope_type ?? parts.type ?? "default")
  const type = named === "su" ? "longrope" : named
  if (!Object.hasOwn(ropeKeys, type))
    parameters.refuse("rope_scaling", `has the type ${JSON.stringify(type)}, which is not served`)
  for (const [key, value] of Object.entries(parts)) {
    if (value !== null && ![...ropeKeys[type], ...commonRopeKeys].includes(key))
      parameters.refuse("rope_scaling", `has the key ${key}, which is not known for the type ${type}`)
  }
  const base =
    parts.rope_theta === undefined
      ? parameters.number("ropeBase", 10_000)
      : number("rope_theta", undefined, ropeBases)
  const key = "original_max_position_embeddings"
  const outer = parameters.checked(key, parameters.raw(key), longest)
  const original = contextOf(parameters, key, number(key, outer))
  switch (type) {
    case "linear":
      return { base, magnitude: 1, stretch: { kind: type, factor: factorOf() } }
    case "llama3": {
      const [low, high] = ["low_freq_factor", "high_freq_factor"].map((each) =>
        number(each, undefined, turnBounds),
      )
      return { base, magnitude: 1, stretch: { kind: type, factor: factorOf(), low, high, original } }
    }
    case "yarn": {
      const factor = factorOf()
      const [one, all] = [number("mscale", 0), number("mscale_all_dim", 0)]
      const usual =
        one !== 0 && all !== 0
          ? yarnMagnitude(factor, one) / yarnMagnitude(factor, all)
          : yarnMagnitude(factor)
      const [fast, slow] = [number("beta_fast", 32, turnBounds), number("beta_slow", 1, turnBounds)]
      const isTruncated = parts.truncate !== false
      const stretch = { kind: type, factor, original, fast, slow, isTruncated } as const
      return { base, stretch, magnitude: number("attention_factor", usual, magnitudeBounds) }
    }
    case "longrope": {
      const factors = parts.short_factor
      if (!Array.isArray(factors) || factors.length !== dims / 2)
        return parameters.refuse("rope_scaling.short_factor", `is not a list of ${dims / 2} numbers`)
      checkFactors(parameters, "rope_scaling.short_factor", factors)
      const times = number("factor", longest / original)
      const usual = times <= 1 ? 1 : Math.sqrt(1 + Math.log(times) / Math.log(original))
      const stretch = { kind: "factors", factors: factors as number[] } as const
      return {
        base,
        stretch,
        magnitude: number("attention_factor", usual, magnitudeBounds),
        context: original,
      }
    }
    default:
      return { base, magnitude: 1, stretch: { kind: "none" } }
  }
}
