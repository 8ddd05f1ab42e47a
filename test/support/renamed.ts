/** A tiny GGUF model as transformers would have it: config.json and tensors under its names, as floats, rows in its order. */
import { floats } from "../../runtime/model/weights/blocks.ts"
import type { Gguf } from "../../runtime/model/weights/gguf.ts"
import type { Tensor, Weights } from "../../runtime/model/weights/weights.ts"

/** GGUF's name of a part → that of transformers; `mixed` and others are laid over the usual ones. */
const usual: Readonly<Record<string, string>> = {
  token_embd: "embed_tokens",
  output_norm: "norm",
  attn_norm: "input_layernorm",
  ffn_norm: "post_attention_layernorm",
  attn_q: "self_attn.q_proj",
  attn_k: "self_attn.k_proj",
  attn_v: "self_attn.v_proj",
  attn_qkv: "self_attn.qkv_proj",
  attn_output: "self_attn.o_proj",
  attn_q_norm: "self_attn.q_norm",
  attn_k_norm: "self_attn.k_norm",
  ffn_gate: "mlp.gate_proj",
  ffn_up: "mlp.up_proj",
  ffn_down: "mlp.down_proj",
}
const gemmaNames = {
  post_attention_norm: "post_attention_layernorm",
  ffn_norm: "pre_feedforward_layernorm",
  post_ffw_norm: "post_feedforward_layernorm",
}

interface Spelling {
  readonly names?: Readonly<Record<string, string>>
  readonly config: Readonly<Record<string, unknown>>
  /** The converter to GGUF has put the rows of queries and keys into another order. */
  readonly isReordered?: boolean
  /** The converter to GGUF has added one to the weights of norms. */
  readonly isOneLess?: boolean
}

/** By GGUF's architecture. `config` holds what differs from the sizes that all have. */
export const spellings: Readonly<Record<string, Spelling>> = {
  qwen2: {
    config: {
      model_type: "qwen2",
      rope_theta: 1e6,
      rope_scaling: { type: "linear", factor: 2 },
      sliding_window: 32_768,
      use_sliding_window: false,
      max_window_layers: 2,
    },
  },
  qwen3: {
    config: {
      model_type: "qwen3",
      rope_parameters: {
        rope_type: "yarn",
        rope_theta: 1e6,
        factor: 4,
        original_max_position_embeddings: 64,
      },
    },
  },
  gemma: { isOneLess: true, config: { model_type: "gemma", hidden_act: "gelu", hidden_activation: null } },
  gemma2: {
    isOneLess: true,
    names: gemmaNames,
    config: {
      model_type: "gemma2",
      hidden_activation: "gelu_pytorch_tanh",
      sliding_window: 8,
      query_pre_attn_scalar: 32,
      attn_logit_softcapping: 5,
      final_logit_softcapping: 30,
    },
  },
  gemma3: {
    isOneLess: true,
    names: gemmaNames,
    config: {
      model_type: "gemma3_text",
      hidden_activation: "gelu_pytorch_tanh",
      sliding_window: 8,
      query_pre_attn_scalar: 16,
      rope_theta: 1e6,
      rope_local_base_freq: 1e4,
      attn_logit_softcapping: null,
      layer_types: [...Array(5).fill("sliding_attention"), "full_attention"],
      use_bidirectional_attention: false,
    },
  },
  phi3: {
    names: { ffn_up: "mlp.gate_up_proj" },
    config: {
      model_type: "phi3",
      partial_rotary_factor: 0.5,
      original_max_position_embeddings: 256,
      sliding_window: 262_144,
      rope_scaling: {
        type: "longrope",
        short_factor: [1, 1.1, 1.2, 1.3, 1.5, 1.8, 2, 3],
        long_factor: [1, 2, 3, 4, 5, 6, 7, 8],
        attention_factor: 1.0690449676,
      },
    },
  },
  smollm3: {
    isReordered: true,
    config: {
      model_type: "smollm3",
      rope_theta: 5e6,
      no_rope_layers: [1, 1, 1, 0],
      no_rope_layer_interval: 4,
      layer_types: Array(4).fill("full_attention"),
    },
  },
  granite: {
    isReordered: true,
    config: {
      model_type: "granite",
      attention_multiplier: 0.12,
      embedding_multiplier: 3,
      residual_multiplier: 0.4,
      logits_scaling: 0.5,
    },
  },
  olmo2: {
    names: { post_attention_norm: "post_attention_layernorm", post_ffw_norm: "post_feedforward_layernorm" },
    config: { model_type: "olmo2" },
  },
  "command-r": { config: { model_type: "cohere", logit_scale: 0.25, use_qk_norm: false } },
  cohere2: {
    config: {
      model_type: "cohere2",
      logit_scale: 0.5,
      sliding_window: 8,
      sliding_window_pattern: 4,
      position_embedding_type: "rope_gptj",
    },
  },
  starcoder2: {
    names: { ffn_up: "mlp.c_fc", ffn_down: "mlp.c_proj" },
    config: { model_type: "starcoder2", hidden_act: "gelu_pytorch_tanh", norm_epsilon: 1e-5, use_bias: true },
  },
  glm4: {
    names: {
      post_attention_norm: "post_self_attn_layernorm",
      post_ffw_norm: "post_mlp_layernorm",
      ffn_up: "mlp.gate_up_proj",
    },
    config: { model_type: "glm4", partial_rotary_factor: 0.5 },
  },
  lfm2: {
    names: {
      token_embd_norm: "embedding_norm",
      attn_norm: "operator_norm",
      ffn_norm: "ffn_norm",
      attn_output: "self_attn.out_proj",
      attn_q_norm: "self_attn.q_layernorm",
      attn_k_norm: "self_attn.k_layernorm",
      ffn_gate: "feed_forward.w1",
      ffn_up: "feed_forward.w3",
      ffn_down: "feed_forward.w2",
      "shortconv.in_proj": "conv.in_proj",
      "shortconv.conv": "conv.conv",
      "shortconv.out_proj": "conv.out_proj",
    },
    config: {
      model_type: "lfm2",
      norm_eps: 1e-5,
      rms_norm_eps: undefined,
      rope_theta: 1e6,
      conv_L_cache: 3,
      conv_bias: false,
      full_attn_idxs: [1],
    },
  },
  llama: {
    isReordered: true,
    config: { model_type: "llama", rope_theta: 1e4 },
  },
}

/** The weights of a GGUF file as floats, by the same names. */
export function asFloats(gguf: Gguf): Gguf {
  const tensors = new Map([...gguf.tensors].map(([name, tensor]) => [name, { ...tensor, type: "F32" }]))
  // A config.json has a formula in place of these factors.
  tensors.delete("rope_freqs.weight")
  const rows = (name: string, first: number, count: number): Uint8Array =>
    new Uint8Array(floats(gguf.tensors.get(name)!.type, gguf.rows(name, first, count)).buffer)
  return { ...gguf, tensors, rows }
}

/** The same model as transformers has it. */
export function asTransformers(
  gguf: Gguf,
  name: string,
): { config: Record<string, unknown>; weights: Weights } {
  const { names = {}, config, isReordered = false, isOneLess = false } = spellings[name]
  const number = (key: string, absent: number): number => {
    const value = gguf.metadata.get(`${name}.${key}`) ?? absent
    return Math.max(...[value].flat().map(Number))
  }
  const hidden = number("embedding_length", 0)
  const heads = number("attention.head_count", 0)
  const headDim = number("attention.key_length", hidden / heads)
  const tensors = new Map<string, Tensor>()
  const values = new Map<string, Float32Array>()
  for (const { name: own, type, shape } of gguf.tensors.values()) {
    const [, layer, part, suffix] = /^(?:blk\.(\d+)\.)?(.+)\.(weight|bias)$/.exec(own)!
    if (part.startsWith("rope_")) continue
    const renamed = { ...usual, ...names }[part] ?? part
    const prefix = layer === undefined ? "model." : `model.layers.${layer}.`
    const full = part === "output" ? "lm_head.weight" : `${prefix}${renamed}.${suffix}`
    const rowCount = shape.slice(0, -1).reduce((product, size) => product * size, 1)
    const all = floats(type, gguf.rows(own, 0, rowCount))
    if (isOneLess && part.endsWith("norm")) for (const [at, value] of all.entries()) all[at] = value - 1
    const isTurned = isReordered && (part === "attn_q" || part === "attn_k")
    values.set(full, isTurned ? halvesOf(all, headDim, shape[1]) : all)
    const dims = part === "shortconv.conv" ? [shape[0], 1, shape[1]] : shape
    tensors.set(full, { name: full, type: "F32", shape: dims })
  }
  const weights: Weights = {
    tensors,
    rows(tensor, first, count) {
      const columns = tensors.get(tensor)!.shape.at(-1)!
      return new Uint8Array(values.get(tensor)!.slice(first * columns, (first + count) * columns).buffer)
    },
    close() {},
  }
  const sizes = {
    hidden_size: hidden,
    num_hidden_layers: number("block_count", 0),
    num_attention_heads: heads,
    num_key_value_heads: number("attention.head_count_kv", heads),
    head_dim: headDim,
    max_position_embeddings: number("context_length", 0),
    ...(name.startsWith("co") ? { layer_norm_eps: 1e-5 } : { rms_norm_eps: 1e-5 }),
    rope_theta: 1e4,
    tie_word_embeddings: !gguf.tensors.has("output.weight"),
    vocab_size: 288,
  }
  const { rope_parameters } = config
  const all = Object.entries({ ...sizes, ...(rope_parameters ? { rope_theta: undefined } : {}), ...config })
  const isStarcoder = name === "starcoder2"
  return {
    config: Object.fromEntries(
      all.filter(([key, value]) => value !== undefined && !(isStarcoder && key === "rms_norm_eps")),
    ),
    weights,
  }
}

/** Rows of neighbours, as GGUF has them, in two halves a head. */
function halvesOf(values: Float32Array, headDim: number, columns: number): Float32Array {
  const turned = new Float32Array(values.length)
  const rowCount = values.length / columns
  for (let row = 0; row < rowCount; row++) {
    const at = row % headDim
    const from = row - at + ((2 * at) % headDim) + (at >= headDim / 2 ? 1 : 0)
    turned.set(values.subarray(from * columns, (from + 1) * columns), row * columns)
  }
  return turned
}
