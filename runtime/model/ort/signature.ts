/**
 * The inputs and outputs of an ONNX graph, from its own metadata. Their dimensions take precedence
 * over config.json.
 *
 * The layout is that of the Hugging Face exports of decoder-only models: `input_ids`,
 * `attention_mask`, optional `position_ids`, `past_key_values.<i>.key|value` in; `logits`,
 * `present.<i>.key|value` out. Layers that keep no keys have a state of fixed size instead
 * (`past_conv.<i>`, `past_ssm.<i>`, `past_recurrent.<i>`; onnxruntime-genai's builder writes
 * `past.<i>.conv`). The decoder of a vision model takes `inputs_embeds`, which a second graph
 * computes from the tokens. Any other input is refused by its name, since an input with a guessed
 * value would silently give wrong answers.
 */

import { ModelError } from "../../errors.ts"
import { freshName, isTokenwise, keepInputs, keptName, placesName, presentName, stepsName } from "./names.ts"

/**
 * The part of onnxruntime's metadata that is read here. It is plain data, so that tests can contain
 * it.
 */
export interface ValueInfo {
  readonly name: string
  readonly isTensor: boolean
  readonly type?: string
  /** A number for a size that the graph fixes, a name for any other. */
  readonly shape?: readonly (number | string)[]
}

export type FloatType = "float32" | "float16"

/** A tensor that the graph passes from one run to the next. */
export interface CacheShape {
  readonly past: string
  readonly present: string
  /**
   * Name of the output with only the new tokens' values, if the graph has one (`slim.ts`); a state
   * is always output as a whole.
   */
  readonly fresh: string | undefined
  readonly type: FloatType
  /**
   * The dimensions after B of a state, which summarises all tokens and is zero before the first
   * one. Null for keys or values, which are kept per token.
   */
  readonly state: readonly number[] | null
  /** Keys have the shape [B, heads, P, dim]. A state counts as one head with all its numbers. */
  readonly heads: number
  readonly dim: number
}

export interface Signature {
  /** V, the columns of the logits. */
  readonly width: number
  readonly caches: readonly CacheShape[]
  /** Whether some layer keeps a state, which cannot be rewound. */
  readonly hasStates: boolean
  /**
   * Number of planes of `position_ids`: 0 if there is no such input, 1 for [B, S], else n for [n,
   * B, S], whose planes are equal for text.
   */
  readonly positionPlanes: number
  /** Name of the input that limits the logits to the last n positions, if there is one. */
  readonly logitsToKeep: string | undefined
  /** Whether an input lists the tokens whose logits are requested (`slim.ts`). */
  readonly namesKept: boolean
  /** Whether an input says how many tokens are read one after the other (`steps.ts`). */
  readonly takesSteps: boolean
  readonly hasCacheBranch: boolean
  /**
   * Inputs that the graph of embeddings computes from the tokens; empty if this graph takes the
   * tokens.
   */
  readonly embeds: readonly string[]
  /**
   * Number of tokens before the new one to which some layer is limited; undefined if no such layer
   * is known.
   */
  readonly window: number | undefined
}

/** The graph that computes `inputs_embeds`. */
export interface EmbeddingInfo {
  readonly path: string
  readonly inputs: readonly ValueInfo[]
  readonly outputs: readonly ValueInfo[]
}

type Config = Readonly<Record<string, unknown>>
type Refuse = (what: string, way?: string) => never

const knownInputs = ["input_ids", "attention_mask", "position_ids", "use_cache_branch", ...keepInputs]

/** What a runtime says of a graph that it has opened. */
export interface OpenedGraph {
  readonly inputMetadata: readonly unknown[]
  readonly outputMetadata: readonly unknown[]
}

/** Returns whether a graph reads embeddings instead of token ids. */
export function wantsEmbeddings({ inputMetadata }: OpenedGraph): boolean {
  return (inputMetadata as readonly ValueInfo[]).some(({ name }) => name === "inputs_embeds")
}

/** As `readSignature`, for an opened graph and the one that makes the embeddings it wants. */
export function signatureOf(
  graph: string,
  { inputMetadata, outputMetadata }: OpenedGraph,
  config: Config,
  embedding?: { readonly path: string; readonly graph: OpenedGraph },
): Signature {
  const infos = (list: readonly unknown[]): ValueInfo[] => list as ValueInfo[]
  return readSignature(
    graph,
    infos(inputMetadata),
    infos(outputMetadata),
    config,
    embedding && {
      path: embedding.path,
      inputs: infos(embedding.graph.inputMetadata),
      outputs: infos(embedding.graph.outputMetadata),
    },
  )
}

/**
 * Reads the inputs and outputs. Throws ModelError naming one that is unknown, missing or of an
 * unexpected shape.
 */
export function readSignature(
  graph: string,
  inputs: readonly ValueInfo[],
  outputs: readonly ValueInfo[],
  config: Config,
  embedding?: EmbeddingInfo,
): Signature {
  const refuse: Refuse = (what, way = "A decoder-only ONNX export with its cache is needed") => {
    throw new ModelError(`${graph}: ${what}. ${way}`)
  }
  const inputOf = new Map(inputs.map((input) => [input.name, input]))
  const outputOf = new Map(outputs.map((output) => [output.name, output]))
  refuseOtherKinds(inputOf, outputOf, refuse)
  const embeds = inputOf.has("inputs_embeds") ? readEmbeds(inputOf, embedding, refuse) : []
  for (const name of embeds.length > 0 ? ["attention_mask"] : ["input_ids", "attention_mask"]) {
    const input = inputOf.get(name) ?? refuse(`input ${name} is missing`)
    if (input.type !== "int64") refuse(`input ${name} has type ${input.type}, not int64`)
  }
  const caches: CacheShape[] = []
  for (const input of inputs) {
    if (input.name.startsWith("past")) caches.push(readCache(input, outputOf, config, refuse))
  }
  const known = [
    ...knownInputs,
    ...embeds,
    keptName,
    stepsName,
    ...caches.map(({ heads }) => placesName(heads)),
  ]
  for (const { name } of inputs)
    if (!name.startsWith("past") && !known.includes(name)) refuse(`input ${name} is unknown`)
  if (caches.length === 0) refuse("it has no past_key_values inputs, so nothing could be cached")
  const logits = outputOf.get("logits") ?? refuse("output logits is missing")
  floatType(logits, refuse)
  return {
    width:
      dimension(logits.shape?.at(-1), config.vocab_size) ??
      refuse("output logits: the number of columns is unknown"),
    caches,
    hasStates: caches.some(({ state }) => state !== null),
    positionPlanes: positionPlanes(inputOf.get("position_ids"), refuse),
    logitsToKeep: keepInputs.find((name) => inputOf.has(name)),
    namesKept: inputOf.has(keptName),
    takesSteps: inputOf.has(stepsName),
    hasCacheBranch: inputOf.has("use_cache_branch"),
    embeds,
    window: windowOf(config),
  }
}

/** Throws ModelError for an unsupported kind of model, recognized by its typical input. */
function refuseOtherKinds(
  inputOf: ReadonlyMap<string, ValueInfo>,
  outputOf: ReadonlyMap<string, ValueInfo>,
  refuse: Refuse,
): void {
  const decoder = "Choose a model that writes text: a decoder with its cache"
  for (const name of ["encoder_hidden_states", "encoder_attention_mask"])
    if (inputOf.has(name))
      refuse(`input ${name} belongs to a decoder with an encoder, as in translation`, decoder)
  const isCached = [...inputOf.keys()].some((name) => name.startsWith("past"))
  if (outputOf.has("logits") || isCached) return
  const vectors = ["last_hidden_state", "sentence_embedding", "token_embeddings", "pooler_output"]
  const given = vectors.find((name) => outputOf.has(name))
  if (given !== undefined)
    refuse(
      `output ${given} and no logits: it is an encoder or an embedding model, which writes no text`,
      decoder,
    )
}

/** Returns the inputs that the graph of embeddings computes. */
function readEmbeds(
  inputOf: ReadonlyMap<string, ValueInfo>,
  embedding: EmbeddingInfo | undefined,
  refuse: Refuse,
): readonly string[] {
  if (!embedding)
    return refuse(
      "input inputs_embeds: the graph that makes it of tokens is missing",
      "Put the embed_tokens.onnx of the same export beside it",
    )
  const { path, inputs, outputs } = embedding
  const refuseThat = (what: string): never => {
    throw new ModelError(`${path}: ${what}. It must take input_ids alone and give inputs_embeds`)
  }
  for (const { name } of inputs) if (name !== "input_ids") refuseThat(`input ${name} is unknown`)
  if (!outputs.some(({ name }) => name === "inputs_embeds")) refuseThat("output inputs_embeds is missing")
  const made = outputs.filter(({ name }) => inputOf.has(name))
  for (const { name, type } of made) {
    const wanted = inputOf.get(name)?.type
    if (type !== wanted)
      refuseThat(`output ${name} has type ${type}, and the decoder takes ${wanted}. Choose another dtype`)
  }
  return made.map(({ name }) => name)
}

/**
 * Reads an input `past…`: keys and values if it grows with each token, a state if its sizes are
 * fixed.
 */
function readCache(
  past: ValueInfo,
  outputOf: ReadonlyMap<string, ValueInfo>,
  config: Config,
  refuse: Refuse,
): CacheShape {
  const { name, shape = [] } = past
  const present = presentName(name)
  if (!outputOf.has(present)) refuse(`output ${present} is missing`)
  const type = floatType(past, refuse)
  if (!isTokenwise(name)) {
    const sizes = shape.slice(1)
    for (const size of sizes)
      if (typeof size !== "number" || size <= 0)
        refuse(`input ${name} has the dimensions ${shape.join(" × ")}: a state of fixed sizes was expected`)
    const state = sizes as number[]
    const dim = state.reduce((a, b) => a * b, 1)
    return { past: name, present, fresh: undefined, type, state, heads: 1, dim }
  }
  if (shape.length !== 4) refuse(`input ${name} has ${shape.length} dimensions, not 4`)
  return {
    past: name,
    present,
    fresh: outputOf.has(freshName(present)) ? freshName(present) : undefined,
    type,
    state: null,
    heads: dimension(shape[1], headCount(config)) ?? refuse(`input ${name}: the number of heads is unknown`),
    dim: dimension(shape[3], headDim(config)) ?? refuse(`input ${name}: the size of a head is unknown`),
  }
}

/**
 * Returns the number of planes of the position input. Vision models count positions in three or
 * four dimensions, which are equal for text.
 */
function positionPlanes(positions: ValueInfo | undefined, refuse: Refuse): number {
  if (!positions) return 0
  const { shape = [] } = positions
  if (shape.length === 2) return 1
  const [planes] = shape
  if (shape.length === 3 && (planes === 3 || planes === 4)) return planes
  return refuse(`input position_ids has the dimensions ${shape.join(" × ")}, not 2, nor 3 or 4 rows of them`)
}

function windowOf(config: Config): number | undefined {
  const { sliding_window: window, use_sliding_window: isUsed, layer_types: layers } = config
  if (typeof window !== "number" || window <= 0 || isUsed === false) return undefined
  const slides = !Array.isArray(layers) || layers.some((layer) => String(layer).includes("sliding"))
  return slides ? window : undefined
}

function floatType(info: ValueInfo, refuse: Refuse): FloatType {
  if (info.type === "float32" || info.type === "float16") return info.type
  return refuse(`${info.name} has type ${info.type}, not float32 or float16`, "Choose another dtype")
}

function dimension(size: number | string | undefined, fallback: unknown): number | undefined {
  for (const candidate of [size, fallback]) {
    if (typeof candidate === "number" && Number.isInteger(candidate) && candidate > 0) return candidate
  }
  return undefined
}

function headCount(config: Config): unknown {
  return config.num_key_value_heads ?? config.num_attention_heads ?? config.n_head
}

function headDim(config: Config): unknown {
  const {
    head_dim: dim,
    hidden_size: hidden = config.n_embd,
    num_attention_heads: heads = config.n_head,
  } = config
  return dim ?? Number(hidden) / Number(heads)
}
