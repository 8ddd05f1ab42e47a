/**
 * A model file's parameters and tensors → the parts of its decoder (`blueprint.ts`) → the graph in
 * a folder.
 *
 * Every tensor must have the shape that follows from the parameters, every parameter must be known,
 * and every tensor of the file must be read by some node: elsewhere, the unused tensor would change
 * the result.
 */

import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { ModelError } from "../../errors.ts"
import type { Dtype } from "../weights/blocks.ts"
import type { Gguf } from "../weights/gguf.ts"
import { parameterCountOf, type Weights } from "../weights/weights.ts"
import { type Architecture, architectures, type Role } from "./architectures.ts"
import type { Attention, Convolution, Decoder, Layer, Linear, Mlp, Norm } from "./blueprint.ts"
import { writeGraph } from "./graph.ts"
import { Parameters } from "./parameters.ts"
import type { Provider } from "./providers.ts"
import { readRopes } from "./scaling.ts"
import { GraphWriter, type Rows, type SaveOptions } from "./write.ts"

export type { Decoder } from "./blueprint.ts"

/**
 * Reads the decoder of a GGUF file. Throws ModelError naming an architecture, key, value or tensor
 * that is not supported.
 */
export function decoderOfGguf(gguf: Gguf): Decoder {
  const place = gguf.paths[0]
  const type = gguf.metadata.get("general.type") ?? "model"
  if (type !== "model")
    throw new ModelError(
      `${place}: general.type is ${JSON.stringify(type)}. Choose the file of the model itself`,
    )
  const name = gguf.metadata.get("general.architecture")
  const found = architectures.find((each) => each.name === name)
  if (found === undefined)
    throw unknownArchitecture(
      place,
      name,
      architectures.map(({ name }) => name),
    )
  const parameters = new Parameters("gguf", place, `${found.name}.`, gguf.metadata)
  return new DecoderReader(found, parameters, gguf, place).read(false)
}

/**
 * Reads the decoder that a config.json describes, with the tensor names of transformers. Throws as
 * `decoderOfGguf` does.
 */
export function decoderOfConfig(config: Readonly<Record<string, unknown>>, weights: Weights): Decoder {
  const place = "config.json"
  const name = config.model_type
  const found = architectures.find(({ modelTypes }) => modelTypes.includes(String(name)))
  if (found === undefined)
    throw unknownArchitecture(
      place,
      name,
      architectures.flatMap((each) => each.modelTypes),
    )
  const parameters = new Parameters("config", place, "", new Map(Object.entries(config)))
  const activation = config.hidden_activation ?? config.hidden_act ?? found.activations[0]
  if (!found.activations.includes(String(activation)))
    parameters.refuse("hidden_act", `is ${JSON.stringify(activation)}, not ${found.activations.join(" or ")}`)
  if (config.quantization_config)
    parameters.refuse(
      "quantization_config",
      "is set. Choose the weights that are not quantized, or a GGUF file",
    )
  return new DecoderReader(found, parameters, weights, place).read(config.tie_word_embeddings === true)
}

export interface WriteOptions extends SaveOptions {
  /** The type in which float weights are written. */
  readonly dtype: Dtype
  /** The execution provider that will run the graph. */
  readonly provider: Provider
  readonly endIds: readonly number[]
  /** What the weights were quantized as before, for config.json. */
  readonly fileType?: string
}

/**
 * Plans everything that is written for a decoder, without its bytes. Throws ModelError naming a
 * tensor of the file that no node reads.
 */
export function planDecoder(
  decoder: Decoder,
  weights: Weights,
  dtype: Dtype,
  provider: Provider = "cpu",
): GraphWriter {
  const graph = new GraphWriter(weights, dtype)
  writeGraph(decoder, graph, provider)
  for (const name of weights.tensors.keys()) {
    if (graph.usedTensors.has(name) || decoder.unneeded(name)) continue
    throw new ModelError(
      `tensor ${JSON.stringify(name)} is not part of a ${decoder.architecture} model as it is known here. Choose another model`,
    )
  }
  return graph
}

/**
 * Writes model.onnx, model.onnx.data and config.json into `folder`. It holds at most a few MiB of
 * rows in memory. Throws ModelError naming a tensor of the file that no node reads, before anything
 * is written.
 */
export async function writeDecoder(
  decoder: Decoder,
  weights: Weights,
  folder: string,
  { dtype, provider, endIds, fileType, onProgress, signal }: WriteOptions,
): Promise<void> {
  const graph = planDecoder(decoder, weights, dtype, provider)
  await graph.save(folder, { ...(onProgress && { onProgress }), ...(signal && { signal }) })
  const config = {
    ...configOf(decoder, endIds),
    ...{ parameter_count: parameterCountOf(weights), file_type: fileType },
  }
  writeFileSync(join(folder, "config.json"), `${JSON.stringify(config, null, 2)}\n`)
}

/** Returns the fields of config.json that the engine reads. */
function configOf(decoder: Decoder, endIds: readonly number[]): Record<string, unknown> {
  const { architecture, hidden, vocabulary, context, layers } = decoder
  const attentions = layers.flatMap(({ mixer }) => (mixer.kind === "attention" ? [mixer] : []))
  const windows = attentions.map(({ window }) => window).filter((window) => window !== 0)
  return {
    model_type: architecture,
    vocab_size: vocabulary,
    max_position_embeddings: context,
    eos_token_id: endIds,
    hidden_size: hidden,
    num_hidden_layers: layers.length,
    num_attention_heads: attentions[0]?.heads,
    num_key_value_heads: attentions[0]?.kvHeads,
    head_dim: attentions[0]?.headDim,
    ...(windows.length > 0 && {
      sliding_window: Math.min(...windows),
      layer_types: layers.map(({ mixer }) =>
        mixer.kind === "attention" && mixer.window === 0 ? "full_attention" : "sliding_attention",
      ),
    }),
  }
}

function unknownArchitecture(place: string, name: unknown, known: readonly string[]): ModelError {
  const what =
    name === undefined ? "no architecture is named" : `architecture ${JSON.stringify(name)} is not served`
  return new ModelError(`${place}: ${what}. Choose a model of one of these: ${known.join(", ")}`)
}

const maxLayers = 1_024
const maxHeads = 1_024
const maxHidden = 2 ** 17
const maxVocabulary = 2 ** 22
const maxInner = 2 ** 20

type ReadNorm = (role: Role, layer: number | null, size: number) => Norm
type AttentionShape = Pick<
  Attention,
  "heads" | "kvHeads" | "headDim" | "scale" | "softcap" | "window" | "rope"
>

class DecoderReader {
  private readonly architecture: Architecture
  private readonly parameters: Parameters
  private readonly weights: Weights
  private readonly place: string
  private readonly spelling: 0 | 1

  constructor(architecture: Architecture, parameters: Parameters, weights: Weights, place: string) {
    this.architecture = architecture
    this.parameters = parameters
    this.weights = weights
    this.place = place
    this.spelling = parameters.format === "gguf" ? 0 : 1
  }

  /** `isTied`: whether the configuration says that the embedding is also the head. */
  read(isTied: boolean): Decoder {
    const { architecture, parameters } = this
    const hidden = parameters.integer("hidden", 8, maxHidden)
    const count = parameters.integer("layers", 1, maxLayers)
    const heads = this.heads(hidden, count)
    const epsilon = parameters.number(architecture.norm === "rms" ? "rmsEpsilon" : "layerEpsilon")
    const ropes = readRopes(architecture, parameters, this.weights, heads.headDim)
    const locals = this.localLayers(count)
    const window = this.window()
    const [vocabulary] = this.tensor("embedding", null).shape
    const scale = this.attentionScale(hidden, heads, count)
    const softcap = this.optional("attentionSoftcap", 0)
    const norm = (role: Role, layer: number | null, size: number) => this.norm(role, layer, size, epsilon)
    const layers = Array.from({ length: count }, (_, index): Layer => {
      const place = locals[index] ? { window, rope: ropes.local } : { window: 0, rope: ropes.global }
      const kvHeads = heads.kvHeads[index]
      return this.layer(index, hidden, norm, { ...heads, ...place, kvHeads, scale, softcap })
    })
    const embedding = this.linear("embedding", null, vocabulary, hidden)
    const hasHead = this.weights.tensors.has(this.nameOf("head", null)) && !isTied
    const decoder: Decoder = {
      architecture: architecture.name,
      hidden,
      vocabulary,
      context: ropes.context,
      embedding,
      embeddingScale: architecture.scalesEmbedding ? Math.sqrt(hidden) : this.optional("embeddingScale", 1),
      layers,
      residualScale: this.optional("residualScale", 1),
      finalNorm: norm("finalNorm", null, hidden),
      head: hasHead ? this.linear("head", null, vocabulary, hidden) : embedding,
      logitScale: this.optional("logitScale", 1) / this.optional("logitDivisor", 1),
      logitSoftcap: this.optional("logitSoftcap", 0),
      unneeded: (tensor) =>
        ropes.tensors.includes(tensor) ||
        /(^|\.)(rotary_emb\.inv_freq|attn_rot_embd\.weight)$/.test(tensor) ||
        // These tensors are the vision part of a model that has one. Text does not pass through it.
        /^(v|mm)\./.test(tensor) ||
        (isTied && tensor === this.nameOf("head", null)),
    }
    if (!(vocabulary <= maxVocabulary))
      throw new ModelError(`${this.place}: the embedding has ${vocabulary} rows, more than ${maxVocabulary}`)
    parameters.refuseUnread()
    return decoder
  }

  /**
   * Returns the number of attention heads and their size; the heads of keys and values are given
   * layer by layer.
   */
  private heads(hidden: number, count: number): { heads: number; kvHeads: number[]; headDim: number } {
    const { parameters } = this
    const heads = parameters.integer("heads", 1, maxHeads)
    const kvHeads = parameters.perLayer("kvHeads", count, 0, maxHeads, heads)
    const headDim = parameters.integer("headDim", 8, 1_024, hidden / heads)
    if (parameters.integer("valueDim", 8, 1_024, headDim) !== headDim)
      parameters.refuse(parameters.spelt("valueDim"), `differs from that of keys, ${headDim}`)
    if (headDim % 8 !== 0)
      parameters.refuse(parameters.spelt("headDim"), `is ${headDim}, not a multiple of 8`)
    return { heads, kvHeads, headDim }
  }

  private layer(index: number, hidden: number, norm: ReadNorm, shape: AttentionShape): Layer {
    const { architecture, parameters } = this
    const { heads, kvHeads } = shape
    const normed = (role: "input" | "mixed" | "middle" | "output") =>
      architecture.norms.includes(role) ? norm(role, index, hidden) : null
    if (kvHeads > 0 && heads % kvHeads !== 0)
      parameters.refuse(parameters.spelt("kvHeads"), `is ${kvHeads}, no divisor of ${heads} heads`)
    const isConvolution = kvHeads === 0 || this.isConvolution(index)
    return {
      mixer: isConvolution ? this.convolution(index, hidden) : this.attention(index, hidden, norm, shape),
      mlp: this.mlp(index, hidden),
      input: normed("input"),
      mixed: normed("mixed"),
      middle: normed("middle"),
      output: normed("output"),
      isParallel: architecture.isParallel,
    }
  }

  /** Returns for each layer whether it is local. */
  private localLayers(count: number): boolean[] {
    const { architecture, parameters } = this
    const types = parameters.value("layerTypes")
    if (Array.isArray(types) && architecture.parameters.includes("window")) {
      if (types.length !== count)
        parameters.refuse("layer_types", `has ${types.length} entries for ${count} layers`)
      return types.map((type) => type === "sliding_attention")
    }
    if (Array.isArray(types) && types.includes("sliding_attention"))
      parameters.refuse("layer_types", "has sliding attention, which is not known for this architecture")
    const turned = architecture.parameters.includes("turnedLayers")
      ? parameters.value("turnedLayers")
      : undefined
    if (Array.isArray(turned) && turned.length === count) return turned.map((each) => each === 1)
    const pattern = architecture.parameters.includes("windowPattern")
      ? parameters.value("windowPattern")
      : undefined
    if (Array.isArray(pattern) && pattern.length === count) return pattern.map((each) => each === true)
    if (pattern !== undefined && !(typeof pattern === "number" && Number.isInteger(pattern) && pattern >= 1))
      parameters.refuse(parameters.spelt("windowPattern"), "is neither a number of layers nor a list of all")
    const period = (pattern as number | undefined) ?? architecture.period
    return Array.from({ length: count }, (_, index) => period === 0 || index % period < period - 1)
  }

  private window(): number {
    const { architecture, parameters } = this
    const value = parameters.value("window")
    if (value === undefined || parameters.raw("use_sliding_window") === false) return 0
    if (!architecture.parameters.includes("window"))
      parameters.refuse(
        parameters.spelt("window"),
        `is ${String(value)}: no window is known for this architecture`,
      )
    return parameters.integer("window", 0, 2 ** 31)
  }

  private attentionScale(
    hidden: number,
    { heads, headDim }: { heads: number; headDim: number },
    layers: number,
  ): number {
    const { architecture, parameters } = this
    const given = this.optional("attentionScale", 0)
    if (given !== 0) return given
    const scalar = architecture.parameters.includes("queryScalar")
      ? parameters.value("queryScalar")
      : undefined
    if (scalar !== undefined) return 1 / Math.sqrt(parameters.number("queryScalar"))
    const isByHidden = parameters.format === "gguf" && architecture.scaledByHidden.includes(layers)
    return 1 / Math.sqrt(isByHidden ? hidden / heads : headDim)
  }

  private optional(name: Architecture["parameters"][number], fallback: number): number {
    return this.architecture.parameters.includes(name) ? this.parameters.number(name, fallback) : fallback
  }

  private attention(layer: number, hidden: number, norm: ReadNorm, shape: AttentionShape): Attention {
    const { heads, kvHeads, headDim } = shape
    const { fused, queryKeyNorm } = this.architecture
    const [queries, keys] = [heads * headDim, kvHeads * headDim]
    const isFused = fused.includes("queryKeyValue")
    const part = (role: Role, first: number, rows: number): Linear =>
      isFused
        ? this.slice("queryKeyValue", layer, [first, rows], [queries + 2 * keys, hidden])
        : this.linear(role, layer, rows, hidden)
    const normOf = (role: Role, rows: number): Norm | null =>
      queryKeyNorm === "none" ? null : norm(role, layer, queryKeyNorm === "heads" ? headDim : rows)
    return {
      kind: "attention",
      ...shape,
      query: part("query", 0, queries),
      key: part("key", queries, keys),
      value: part("value", queries + keys, keys),
      out: this.linear("out", layer, hidden, queries),
      queryNorm: normOf("queryNorm", queries),
      keyNorm: normOf("keyNorm", keys),
      sinks: null,
    }
  }

  /**
   * Returns whether a layer of a config.json is a convolution; in GGUF such a layer has no key
   * heads.
   */
  private isConvolution(layer: number): boolean {
    const { parameters, architecture } = this
    if (!architecture.parameters.includes("convolutionWidth")) return false
    const [types, attentions] = [parameters.value("layerTypes"), parameters.value("attentionLayers")]
    if (Array.isArray(types)) return types[layer] === "conv"
    return Array.isArray(attentions) && !attentions.includes(layer)
  }

  private convolution(layer: number, hidden: number): Convolution {
    const { architecture, parameters } = this
    if (!architecture.parameters.includes("convolutionWidth"))
      parameters.refuse(parameters.spelt("kvHeads"), `is 0 in layer ${layer}, which needs heads`)
    const width = parameters.integer("convolutionWidth", 2, 64)
    const dims = this.spelling === 0 ? [hidden, width] : [hidden, 1, width]
    return {
      kind: "convolution",
      input: this.linear("convIn", layer, 3 * hidden, hidden),
      kernel: this.tensor("convKernel", layer, dims).name,
      width,
      out: this.linear("convOut", layer, hidden, hidden),
    }
  }

  private mlp(layer: number, hidden: number): Mlp {
    const { isGated, fused, activation } = this.architecture
    const isFused = fused.includes("gateUp")
    const [rows = 0] = this.tensor(isFused ? "gateUp" : "up", layer).shape
    const inner = isFused ? rows / 2 : rows
    if (!Number.isInteger(inner) || inner < 1 || inner > maxInner)
      throw new ModelError(
        `${this.nameOf(isFused ? "gateUp" : "up", layer)}: ${rows} rows do not make an MLP`,
      )
    const part = (role: Role, first: number): Linear =>
      isFused
        ? this.slice("gateUp", layer, [first, inner], [rows, hidden])
        : this.linear(role, layer, inner, hidden)
    return {
      kind: "mlp",
      gate: isGated ? part("gate", 0) : null,
      up: part("up", inner),
      down: this.linear("down", layer, hidden, inner),
      activation,
    }
  }

  private norm(role: Role, layer: number | null, size: number, epsilon: number): Norm {
    const { norm: kind, normPlus } = this.architecture
    const weight = this.tensor(role, layer, [size]).name
    const bias = kind === "layer" ? this.biasOf(weight, size) : null
    return { kind, size, weight, bias, epsilon, plus: this.spelling === 1 ? normPlus : 0 }
  }

  private linear(role: Role, layer: number | null, rows: number, columns: number): Linear {
    return this.slice(role, layer, [0, rows], [rows, columns])
  }

  /** Returns `count` rows of a tensor of this shape, starting at row `first`. */
  private slice(
    role: Role,
    layer: number | null,
    [first, count]: readonly [number, number],
    [all, columns]: readonly [number, number],
  ): Linear {
    const { name } = this.tensor(role, layer, [all, columns])
    const bias = this.biasOf(name, all)
    if (bias !== null && count !== all)
      throw new ModelError(
        `${this.place}: tensor ${bias}: a bias of several parts in one tensor is not served`,
      )
    const rows: Rows[] = [{ tensor: name, first, count }]
    return { rows, columns, bias: bias === null ? null : [{ tensor: bias, first: 0, count: 1 }] }
  }

  private biasOf(weight: string, size: number): string | null {
    const name = weight.replace(/\.weight$/, ".bias")
    const tensor = this.weights.tensors.get(name)
    if (tensor === undefined) return null
    this.checkShape(name, tensor.shape, [size])
    return name
  }

  /** Returns the tensor of a part. Throws ModelError if it is missing or has another shape. */
  private tensor(role: Role, layer: number | null, shape?: readonly number[]) {
    const name = this.nameOf(role, layer)
    const tensor = this.weights.tensors.get(name)
    if (tensor === undefined)
      throw new ModelError(
        `${this.place}: tensor ${name} is missing. The file is damaged or of another model`,
      )
    if (shape !== undefined) this.checkShape(name, tensor.shape, shape)
    return tensor
  }

  private checkShape(name: string, found: readonly number[], expected: readonly number[]): void {
    if (found.length === expected.length && found.every((size, at) => size === expected[at])) return
    throw new ModelError(
      `${this.place}: tensor ${name} has the shape ${found.join(" × ")}, and by the parameters it must have ${expected.join(" × ")}`,
    )
  }

  private nameOf(role: Role, layer: number | null): string {
    const own = this.architecture.names[role][this.spelling]
    if (layer === null) return `${own}.weight`
    return `${this.spelling === 0 ? "blk" : "model.layers"}.${layer}.${own}.weight`
  }
}
