/**
 * The parts of a decoder, independent of the names that its architecture and its file format give
 * them. `decoder.ts` builds one from a model's parameters, and `graph.ts` writes it as a graph
 * without cases for architectures.
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
  /** Number that is added to each stored weight. */
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
   * Norms of the queries and keys: for each head if `size` is the size of a head, else over all
   * heads together.
   */
  readonly queryNorm: Norm | null
  readonly keyNorm: Norm | null
  readonly scale: number
  /** 0 if there is none. */
  readonly softcap: number
  /** Number of tokens that a token attends to, including itself; 0: all. */
  readonly window: number
  /** Null if queries and keys are not rotated by their positions. */
  readonly rope: Rope | null
  /**
   * Name of a tensor with one logit per head that takes attention away from all tokens; null if
   * there is none.
   */
  readonly sinks: string | null
}

/**
 * A gated convolution over the last few tokens of each channel: one product gives three parts b, c
 * and x; b · x is convolved, and the result is multiplied by c.
 */
export interface Convolution {
  readonly kind: "convolution"
  readonly input: Linear
  readonly kernel: string
  /** Number of tokens in the kernel, including the new one. */
  readonly width: number
  readonly out: Linear
}

export type Activation = "silu" | "gelu"

export interface Mlp {
  readonly kind: "mlp"
  /** Null if the activation is applied to `up` itself. */
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
  /** The name of the architecture in GGUF. */
  readonly architecture: string
  readonly hidden: number
  readonly vocabulary: number
  /** Number of positions in the tables of angles. */
  readonly context: number
  readonly embedding: Matrix
  readonly embeddingScale: number
  readonly layers: readonly Layer[]
  /** Factor of each layer's two sums before they are added to the residual stream. */
  readonly residualScale: number
  readonly finalNorm: Norm
  readonly head: Linear
  readonly logitScale: number
  /** 0 if there is none. */
  readonly logitSoftcap: number
  /** Returns whether a tensor of the file is part of the above, or is known not to be needed. */
  readonly unneeded: (tensor: string) => boolean
}
