/**
 * Decoder architectures as data: which parts of `blueprint.ts` each has, and the names of its
 * tensors in GGUF and at Hugging Face. An architecture that is not listed is refused: with guessed
 * parts a model would write fluent but wrong answers.
 *
 * Sources: llama.cpp (src/llama-arch.cpp, llama-model.cpp and its models) for GGUF, the modelling
 * code of transformers for config.json.
 */

import type { Activation } from "./blueprint.ts"
import type { ParameterName } from "./parameters.ts"

/** A part of a model that has a tensor of its own. */
export type Role =
  | "embedding"
  | "finalNorm"
  | "head"
  | "input"
  | "mixed"
  | "middle"
  | "output"
  | "query"
  | "key"
  | "value"
  | "queryKeyValue"
  | "out"
  | "queryNorm"
  | "keyNorm"
  | "gate"
  | "up"
  | "gateUp"
  | "down"
  | "convIn"
  | "convKernel"
  | "convOut"
  | "sinks"

/**
 * [name in GGUF, name in safetensors], without ".weight". Names of a layer's tensors have the
 * prefix "blk.<i>." or "model.layers.<i>.".
 */
type Names = Readonly<Record<Role, readonly [string, string]>>

const usualNames: Names = {
  embedding: ["token_embd", "model.embed_tokens"],
  finalNorm: ["output_norm", "model.norm"],
  head: ["output", "lm_head"],
  input: ["attn_norm", "input_layernorm"],
  mixed: ["post_attention_norm", "post_attention_layernorm"],
  middle: ["ffn_norm", "post_attention_layernorm"],
  output: ["post_ffw_norm", "post_feedforward_layernorm"],
  query: ["attn_q", "self_attn.q_proj"],
  key: ["attn_k", "self_attn.k_proj"],
  value: ["attn_v", "self_attn.v_proj"],
  queryKeyValue: ["attn_qkv", "self_attn.qkv_proj"],
  out: ["attn_output", "self_attn.o_proj"],
  queryNorm: ["attn_q_norm", "self_attn.q_norm"],
  keyNorm: ["attn_k_norm", "self_attn.k_norm"],
  gate: ["ffn_gate", "mlp.gate_proj"],
  up: ["ffn_up", "mlp.up_proj"],
  gateUp: ["ffn_up", "mlp.gate_up_proj"],
  down: ["ffn_down", "mlp.down_proj"],
  convIn: ["shortconv.in_proj", "conv.in_proj"],
  convKernel: ["shortconv.conv", "conv.conv"],
  convOut: ["shortconv.out_proj", "conv.out_proj"],
  sinks: ["attn_sinks", "self_attn.sinks"],
}

export interface Architecture {
  /** `general.architecture` in GGUF. */
  readonly name: string
  /** `model_type` in config.json. */
  readonly modelTypes: readonly string[]
  readonly norm: "rms" | "layer"
  /** The norms that a layer has. */
  readonly norms: readonly ("input" | "mixed" | "middle" | "output")[]
  /** Number that is added to the weights of norms in safetensors; in GGUF it is already added. */
  readonly normPlus: number
  /** Norms of queries and keys: separate for each head, or over all heads together. */
  readonly queryKeyNorm: "none" | "heads" | "whole"
  /**
   * Whether positions rotate pairs of neighbours instead of pairs from the two halves. Converters
   * to GGUF put the rows of some models into that order.
   */
  readonly isInterleaved: { readonly gguf: boolean; readonly config: boolean }
  /** Tensors that are fused into one: queries, keys and values, or gate and up. */
  readonly fused: readonly ("queryKeyValue" | "gateUp")[]
  readonly isGated: boolean
  readonly activation: Activation
  /** Accepted values of `hidden_act` in config.json; the first if it is absent. */
  readonly activations: readonly string[]
  readonly isParallel: boolean
  /** Whether the embedding is multiplied by the square root of the hidden size. */
  readonly scalesEmbedding: boolean
  /**
   * All layers except every `period`-th are local: they have the window. 0: all layers are the
   * same.
   */
  readonly period: number
  /** How the layers that are not local differ in other ways. */
  readonly globalLayers: "same" | "noRope" | "ownRope"
  /** Parameters that only some architectures have. */
  readonly parameters: readonly ParameterName[]
  /**
   * Numbers of layers for which the attention scale is based on hidden size / heads. Needed for
   * GGUF, which does not record it.
   */
  readonly scaledByHidden: readonly number[]
  readonly names: Names
}

type Differences = Partial<Omit<Architecture, "names">> & {
  readonly names?: Partial<Names>
}

/** An architecture that differs from that of Llama in these points. */
function architecture(
  name: string,
  modelTypes: readonly string[],
  differences: Differences = {},
): Architecture {
  return {
    name,
    modelTypes,
    norm: "rms",
    norms: ["input", "middle"],
    normPlus: 0,
    queryKeyNorm: "none",
    isInterleaved: { gguf: false, config: false },
    fused: [],
    isGated: true,
    activation: "silu",
    activations: ["silu", "swish"],
    isParallel: false,
    scalesEmbedding: false,
    period: 0,
    globalLayers: "same",
    parameters: [],
    scaledByHidden: [],
    ...differences,
    names: { ...usualNames, ...differences.names },
  }
}

/**
 * The converter to GGUF puts the rows of queries and keys into this order, so that neighbours are
 * rotated.
 */
const reordered = { gguf: true, config: false }
const neighbours = { gguf: true, config: true }
const gelu = {
  activation: "gelu",
  activations: ["gelu_pytorch_tanh", "gelu_new", "gelu_fast"],
} as const
const fourNorms = {
  norms: ["input", "mixed", "middle", "output"],
  names: { middle: ["ffn_norm", "pre_feedforward_layernorm"] },
} as const

export const architectures: readonly Architecture[] = [
  architecture("llama", ["llama", "mistral"], { isInterleaved: reordered, parameters: ["window"] }),
  architecture("qwen2", ["qwen2"]),
  architecture("qwen3", ["qwen3"], { queryKeyNorm: "heads" }),
  architecture("gemma", ["gemma"], {
    ...gelu,
    // Configurations of the first release have "gelu" but mean its approximation.
    activations: [...gelu.activations, "gelu"],
    normPlus: 1,
    scalesEmbedding: true,
  }),
  architecture("gemma2", ["gemma2"], {
    ...gelu,
    ...fourNorms,
    normPlus: 1,
    scalesEmbedding: true,
    period: 2,
    parameters: ["window", "windowPattern", "queryScalar", "attentionSoftcap", "logitSoftcap"],
    scaledByHidden: [46],
  }),
  architecture("gemma3", ["gemma3_text"], {
    ...gelu,
    ...fourNorms,
    normPlus: 1,
    queryKeyNorm: "heads",
    scalesEmbedding: true,
    period: 6,
    globalLayers: "ownRope",
    parameters: [
      "window",
      "windowPattern",
      "queryScalar",
      "attentionSoftcap",
      "logitSoftcap",
      "localRopeBase",
    ],
    scaledByHidden: [62],
  }),
  architecture("phi3", ["phi3"], { fused: ["queryKeyValue", "gateUp"], parameters: ["window"] }),
  architecture("smollm3", ["smollm3"], {
    isInterleaved: reordered,
    period: 4,
    globalLayers: "noRope",
    parameters: ["turnedLayers"],
  }),
  architecture("granite", ["granite"], {
    isInterleaved: reordered,
    parameters: ["attentionScale", "residualScale", "embeddingScale", "logitDivisor"],
  }),
  architecture("olmo2", ["olmo2"], { norms: ["mixed", "output"], queryKeyNorm: "whole" }),
  architecture("command-r", ["cohere"], {
    norm: "layer",
    norms: ["input"],
    isInterleaved: neighbours,
    isParallel: true,
    parameters: ["logitScale"],
  }),
  architecture("cohere2", ["cohere2"], {
    norm: "layer",
    norms: ["input"],
    isInterleaved: neighbours,
    isParallel: true,
    period: 4,
    globalLayers: "noRope",
    parameters: ["logitScale", "window", "windowPattern"],
  }),
  architecture("starcoder2", ["starcoder2"], {
    ...gelu,
    norm: "layer",
    isGated: false,
    parameters: ["window"],
    names: { up: ["ffn_up", "mlp.c_fc"], down: ["ffn_down", "mlp.c_proj"] },
  }),
  architecture("glm4", ["glm4"], {
    norms: ["input", "mixed", "middle", "output"],
    isInterleaved: neighbours,
    fused: ["gateUp"],
    names: {
      mixed: ["post_attention_norm", "post_self_attn_layernorm"],
      output: ["post_ffw_norm", "post_mlp_layernorm"],
    },
  }),
  architecture("lfm2", ["lfm2"], {
    queryKeyNorm: "heads",
    parameters: ["convolutionWidth"],
    names: {
      finalNorm: ["token_embd_norm", "model.embedding_norm"],
      input: ["attn_norm", "operator_norm"],
      middle: ["ffn_norm", "ffn_norm"],
      out: ["attn_output", "self_attn.out_proj"],
      queryNorm: ["attn_q_norm", "self_attn.q_layernorm"],
      keyNorm: ["attn_k_norm", "self_attn.k_layernorm"],
      gate: ["ffn_gate", "feed_forward.w1"],
      up: ["ffn_up", "feed_forward.w3"],
      down: ["ffn_down", "feed_forward.w2"],
    },
  }),
]
