/**
 * The parts of a decoder, without the names that its architecture and its file format have for
 * them. `decoder.ts` makes one of a model's parameters, and `graph.ts` writes it as a graph without
 * a case for any architecture.
 *
 * A layer: x += mixed(mixer(input(x))), then x += output(mlp(middle(x))), where `input`, `mixed`,
 * `middle` and `output` are norms that may be absent, and the mixer is attention or a short
 * convolution. In a parallel layer both read input(x).
 */

import type { Rope } from "./rope.ts"
import type { Matrix, Rows } from "./write.ts"

/** Wᵀx, plus a bias if there is one. */
export interface Linear extends Matrix {
  readonly bias: readonly Rows[] | null
}

export interface Norm {
  readonly kind: "rms" | "layer"
  readonly size: number
  readonly weight: string
  readonly bias: string | null
  readonly epsilon: number
  /** What is added to each stored weight. */
  readonly plus: number
}

export interface Attention {
  readonly kind: "attention"
  readonly heads: number
  readonly kvHeads: number
  readonly headDim: number
  readonly query: Linear
  readonly key: Linear
  readonly value: Linear
  readonly out: Linear
  /**
   * Norms of the queries and keys; of each head if `size` is that of a head, else of all together.
   */
  readonly queryNorm: Norm | null
  readonly keyNorm: Norm | null
  readonly scale: number
  /** 0: none. */
  readonly softcap: number
  /** How many tokens a token sees, itself among them; 0: all. */
  readonly window: number
  /** null: positions are not turned into the queries and keys. */
  readonly rope: Rope | null
  /** A logit a head that takes attention away from all tokens. */
  readonly sinks: string | null
}

/**
 * A gated convolution along the last few tokens of each channel: three parts of one product, b · x
 * is convolved, times c.
 */
export interface Convolution {
  readonly kind: "convolution"
  readonly input: Linear
  readonly kernel: string
  /** How many tokens it reaches over, the new one among them. */
  readonly width: number
  readonly out: Linear
}

export type Activation = "silu" | "gelu"

export interface Mlp {
  readonly kind: "mlp"
  /** null: the activation is applied to `up` itself. */
  readonly gate: Linear | null
  readonly up: Linear
  readonly down: Linear
  readonly activation: Activation
}

export interface Layer {
  readonly mixer: Attention | Convolution
  readonly mlp: Mlp
  readonly input: Norm | null
  readonly mixed: Norm | null
  readonly middle: Norm | null
  readonly output: Norm | null
  readonly isParallel: boolean
}

export interface Decoder {
  /** The name in GGUF. */
  readonly architecture: string
  readonly hidden: number
  readonly vocabulary: number
  /** Number of positions in the tables of angles. */
  readonly context: number
  readonly embedding: Matrix
  readonly embeddingScale: number
  readonly layers: readonly Layer[]
  /** What each layer's two sums are multiplied by before they are added. */
  readonly residualScale: number
  readonly finalNorm: Norm
  readonly head: Linear
  readonly logitScale: number
  /** 0: none. */
  readonly logitSoftcap: number
  /** Whether a tensor of the file is part of the above, or known not to be needed. */
  readonly unneeded: (tensor: string) => boolean
}
