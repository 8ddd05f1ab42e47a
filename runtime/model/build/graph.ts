/**
 * Builds the graph of a decoder, in the layout of onnxruntime-genai's grouped-query exports:
 * `input_ids`, `attention_mask`, `past_key_values.<i>.key|value` (`past.<i>.conv` of a convolution)
 * → `logits`, `present.…`, all of float32.
 *
 * A sum and the norm that follows it are written as one operator. `hidden_states` is the input of
 * the last product, in a separate node: `ort/slim.ts` uses it to leave out the tokens of which no
 * logits are needed.
 */

import { headInput } from "../ort/names.ts"
import type { OnnxAttribute } from "../ort/onnx.ts"
import type { Activation, Attention, Convolution, Decoder, Linear, Mlp, Norm } from "./blueprint.ts"
import { attentionTypes, type Provider } from "./providers.ts"
import { type Rope, ropeTable } from "./rope.ts"
import { Float32, type GraphWriter, Int32, Int64, microsoft } from "./write.ts"

/** Adds all nodes of a decoder. */
export function writeGraph(decoder: Decoder, graph: GraphWriter, provider: Provider): void {
  new DecoderGraph(decoder, graph, provider).write()
}

/** A residual stream. Its value is `sum` plus `added`. */
interface Stream {
  readonly sum: string
  readonly added: string | null
}

class DecoderGraph {
  private readonly decoder: Decoder
  private readonly graph: GraphWriter
  private readonly tables = new Map<string, readonly [string, string]>()
  private readonly attentionType: number
  private lengths = ""
  private total = ""

  constructor(decoder: Decoder, graph: GraphWriter, provider: Provider) {
    this.decoder = decoder
    this.graph = graph
    this.attentionType = attentionTypes[provider]
  }

  write(): void {
    const { decoder, graph } = this
    const { layers, head, logitSoftcap, vocabulary } = decoder
    const ids = graph.input("input_ids", Int64, [0, 0])
    this.countTokens(graph.input("attention_mask", Int64, [0, 0]))
    let stream: Stream = { sum: this.embed(ids), added: null }
    for (const [index, layer] of layers.entries()) {
      const name = `layer.${index}`
      const [sum, input] = this.normed(`${name}.input`, stream, layer.input)
      const mixer =
        layer.mixer.kind === "attention"
          ? this.attend(`${name}.attention`, index, input, layer.mixer)
          : this.convolve(`${name}.convolution`, index, input, layer.mixer)
      const mixed = this.scaled(`${name}.mixed`, this.norm(`${name}.mixed_norm`, mixer, layer.mixed))
      if (layer.isParallel) {
        const mlp = this.scaled(`${name}.output`, this.mlp(`${name}.mlp`, input, layer.mlp))
        stream = { sum, added: graph.node(`${name}.both`, "Add", [mixed, mlp]) }
        continue
      }
      const [middle, read] = this.normed(`${name}.middle`, { sum, added: mixed }, layer.middle)
      const mlp = this.norm(`${name}.output_norm`, this.mlp(`${name}.mlp`, read, layer.mlp), layer.output)
      stream = { sum: middle, added: this.scaled(`${name}.output`, mlp) }
    }
    const [, last] = this.normed("final", stream, decoder.finalNorm)
    graph.node(headInput, "Identity", [last])
    let logits = this.linear("head", headInput, head)
    logits = this.times("scaled_logits", logits, decoder.logitScale)
    if (logitSoftcap !== 0) {
      const small = this.times("logits_by_cap", logits, 1 / logitSoftcap)
      logits = this.times("capped_logits", graph.node("bounded_logits", "Tanh", [small]), logitSoftcap)
    }
    graph.node("logits", "Identity", [logits])
    graph.output("logits", Float32, [0, 0, vocabulary])
  }

  /**
   * Computes the counts that attention needs: the last position of each row, and the length of the
   * longest one.
   */
  private countTokens(mask: string): void {
    const { graph } = this
    const one = graph.ints([1])
    const toInt32 = [{ name: "to", int: Int32 }]
    const sums = graph.node("mask.sums", "ReduceSum", [mask, one], [{ name: "keepdims", int: 0 }])
    const last = graph.node("mask.last", "Sub", [sums, one])
    this.lengths = graph.node("mask.lengths", "Cast", [last], toInt32)
    const shape = graph.node("mask.shape", "Shape", [mask])
    const places = graph.node("mask.places", "Gather", [shape, one])
    this.total = graph.node("mask.total", "Cast", [places], toInt32)
  }

  private embed(ids: string): string {
    const { embedding, head, embeddingScale } = this.decoder
    const isTied = JSON.stringify(embedding.rows) === JSON.stringify(head.rows)
    return this.times(
      "scaled_embedding",
      this.graph.gather("embedding", ids, embedding, isTied),
      embeddingScale,
    )
  }

  /** Returns the sum of a stream and the norm of it. */
  private normed(name: string, { sum, added }: Stream, norm: Norm | null): [string, string] {
    const { graph } = this
    if (added === null) return [sum, this.norm(`${name}_norm`, sum, norm)]
    const whole = `${name}_sum`
    if (norm === null) {
      graph.node(whole, "Add", [sum, added])
      return [whole, whole]
    }
    const [weight, bias] = this.normWeights(`${name}_norm`, norm)
    graph.node(
      `${name}_norm`,
      norm.kind === "rms" ? "SkipSimplifiedLayerNormalization" : "SkipLayerNormalization",
      [sum, added, weight, ...(bias === null ? [] : [bias])],
      [{ name: "epsilon", float: norm.epsilon }],
      { domain: microsoft, outputs: [`${name}_norm`, "", "", whole] },
    )
    return [whole, `${name}_norm`]
  }

  private norm(name: string, x: string, norm: Norm | null): string {
    if (norm === null) return x
    const [weight, bias] = this.normWeights(name, norm)
    return this.graph.node(
      name,
      norm.kind === "rms" ? "SimplifiedLayerNormalization" : "LayerNormalization",
      [x, weight, ...(bias === null ? [] : [bias])],
      [
        { name: "axis", int: -1 },
        { name: "epsilon", float: norm.epsilon },
        { name: "stash_type", int: 1 },
      ],
    )
  }

  private normWeights(name: string, { size, weight, bias, plus }: Norm): [string, string | null] {
    const rows = (tensor: string) => [{ tensor, first: 0, count: 1 }]
    return [
      this.graph.vector(`${name}.weight`, rows(weight), [size], plus),
      bias === null ? null : this.graph.vector(`${name}.bias`, rows(bias), [size]),
    ]
  }

  private linear(name: string, x: string, { bias, rows, columns }: Linear): string {
    const { graph } = this
    if (bias === null) return graph.multiply(name, x, { rows, columns })
    const product = graph.multiply(`${name}.product`, x, { rows, columns })
    const size = rows.reduce((sum, { count }) => sum + count, 0)
    return graph.node(name, "Add", [product, graph.vector(`${name}.bias`, bias, [size])])
  }

  private times(name: string, x: string, factor: number): string {
    if (factor === 1) return x
    const scalar = this.graph.values(`${name}.factor`, [1], () => [Float32Array.of(factor)])
    return this.graph.node(name, "Mul", [x, scalar])
  }

  private scaled(name: string, x: string): string {
    return this.times(`${name}_scaled`, x, this.decoder.residualScale)
  }

  private attend(name: string, index: number, x: string, attention: Attention): string {
    const { graph } = this
    const { heads, kvHeads, headDim, rope, window, sinks } = attention
    const type = this.attentionType
    const dims = [0, kvHeads, 0, headDim]
    const past = ["key", "value"].map((part) => {
      graph.output(`present.${index}.${part}`, type, dims)
      return graph.input(`past_key_values.${index}.${part}`, type, dims)
    })
    const angles = rope === null ? ["", ""] : this.anglesOf(rope)
    const attributes: OnnxAttribute[] = [
      { name: "num_heads", int: heads },
      { name: "kv_num_heads", int: kvHeads },
      { name: "scale", float: attention.scale },
      { name: "do_rotary", int: rope === null ? 0 : 1 },
      { name: "rotary_interleaved", int: rope?.isInterleaved ? 1 : 0 },
    ]
    if (attention.softcap !== 0) attributes.push({ name: "softcap", float: attention.softcap })
    if (window !== 0 && window < this.decoder.context)
      attributes.push({ name: "local_window_size", int: window })
    const head =
      sinks === null
        ? []
        : [this.cast(graph.vector(`${name}.sinks`, [{ tensor: sinks, first: 0, count: 1 }], [heads]), type)]
    graph.node(
      `${name}.heads`,
      "GroupQueryAttention",
      [
        ...this.queries(name, x, attention).map((part) => this.cast(part, type)),
        ...past,
        this.lengths,
        this.total,
        ...angles,
        ...(head.length === 0 ? [] : ["", "", ...head]),
      ],
      attributes,
      {
        domain: microsoft,
        outputs: [`${name}.heads`, `present.${index}.key`, `present.${index}.value`],
      },
    )
    return this.linear(`${name}.out`, this.cast(`${name}.heads`, Float32, type), attention.out)
  }

  /** Returns `x`, of type `from`, cast to another type; an absent input stays absent. */
  private cast(x: string, to: number, from = Float32): string {
    if (x === "" || to === from) return x
    return this.graph.node(`${x}.cast`, "Cast", [x], [{ name: "to", int: to }])
  }

  /**
   * Returns queries, keys and values. One product computes them all if their weights can be one
   * matrix and none of them has a norm of its own.
   */
  private queries(name: string, x: string, attention: Attention): [string, string, string] {
    const { graph } = this
    const { query, key, value, queryNorm, keyNorm, headDim } = attention
    const parts = [query, key, value]
    const isBiased = new Set(parts.map(({ bias }) => bias !== null))
    if (queryNorm === null && keyNorm === null && isBiased.size === 1 && graph.isUniform(parts)) {
      const all = {
        columns: query.columns,
        rows: parts.flatMap(({ rows }) => rows),
        bias: query.bias === null ? null : parts.flatMap(({ bias }) => bias!),
      }
      return [this.linear(`${name}.all`, x, all), "", ""]
    }
    return [
      this.headNorm(
        `${name}.query_norm`,
        this.linear(`${name}.query`, x, query),
        queryNorm,
        headDim,
        attention.heads,
      ),
      this.headNorm(
        `${name}.key_norm`,
        this.linear(`${name}.key`, x, key),
        keyNorm,
        headDim,
        attention.kvHeads,
      ),
      this.linear(`${name}.value`, x, value),
    ]
  }

  private headNorm(name: string, x: string, norm: Norm | null, headDim: number, heads: number): string {
    const { graph } = this
    if (norm === null || (norm.size === heads * headDim && heads > 1)) return this.norm(name, x, norm)
    const apart = graph.node(`${name}.apart`, "Reshape", [x, graph.ints([0, 0, heads, headDim])])
    const normed = this.norm(`${name}.of_heads`, apart, norm)
    return graph.node(name, "Reshape", [normed, graph.ints([0, 0, heads * headDim])])
  }

  /** Returns the tables of a rope; layers with equal angles share them. */
  private anglesOf(rope: Rope): readonly [string, string] {
    const key = JSON.stringify([rope.frequencies, rope.magnitude])
    const known = this.tables.get(key)
    if (known !== undefined) return known
    const { context } = this.decoder
    const [cos, sin] = (["cos", "sin"] as const).map((part) =>
      this.graph.values(`${part}.${this.tables.size}`, [context, rope.frequencies.length], () =>
        ropeTable(rope, part, context),
      ),
    )
    const tables = [this.cast(cos, this.attentionType), this.cast(sin, this.attentionType)] as const
    this.tables.set(key, tables)
    return tables
  }

  private convolve(name: string, index: number, x: string, convolution: Convolution): string {
    const { graph } = this
    const { hidden } = this.decoder
    const { input, kernel, width, out } = convolution
    const turn = [{ name: "perm", ints: [0, 2, 1] }]
    const product = this.linear(`${name}.input`, x, input)
    const turned = graph.node(`${name}.channels`, "Transpose", [product], turn)
    const [b, c, value] = ["b", "c", "x"].map((part) => `${name}.${part}`)
    graph.node(
      b,
      "Split",
      [turned],
      [
        { name: "axis", int: 1 },
        { name: "num_outputs", int: 3 },
      ],
      {
        outputs: [b, c, value],
      },
    )
    const gated = graph.node(`${name}.gated`, "Mul", [b, value])
    const rows = [{ tensor: kernel, first: 0, count: hidden }]
    const weight = graph.vector(`${name}.kernel`, rows, [hidden, 1, width])
    const dims = [0, hidden, width - 1]
    const past = graph.input(`past.${index}.conv`, Float32, dims)
    graph.output(`present.${index}.conv`, Float32, dims)
    const convolved = graph.node(
      `${name}.convolved`,
      "CausalConvWithState",
      [gated, weight, "", past],
      [
        { name: "ndim", int: 1 },
        { name: "activation", text: "none" },
      ],
      { domain: microsoft, outputs: [`${name}.convolved`, `present.${index}.conv`] },
    )
    const opened = graph.node(`${name}.opened`, "Mul", [c, convolved])
    return this.linear(`${name}.out`, graph.node(`${name}.tokens`, "Transpose", [opened], turn), out)
  }

  private mlp(name: string, x: string, { gate, up, down, activation }: Mlp): string {
    const opened =
      gate === null ? null : this.activate(`${name}.gate`, this.linear(`${name}.gate`, x, gate), activation)
    const wide = this.linear(`${name}.up`, x, up)
    const inner =
      opened === null
        ? this.activate(`${name}.up`, wide, activation)
        : this.graph.node(`${name}.inner`, "Mul", [opened, wide])
    return this.linear(`${name}.down`, inner, down)
  }

  private activate(name: string, x: string, activation: Activation): string {
    const { graph } = this
    if (activation === "gelu")
      return graph.node(`${name}.gelu`, "Gelu", [x], [{ name: "approximate", text: "tanh" }])
    return graph.node(`${name}.silu`, "Mul", [x, graph.node(`${name}.sigmoid`, "Sigmoid", [x])])
  }
}
