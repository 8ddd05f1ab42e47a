/**
 * The parameters of a model under one name each, whether they come from GGUF's metadata or from a
 * config.json.
 *
 * A key that is ignored may change the result as much as any other. So the reader records which
 * keys were read, and refuses every other key by its name unless it is known to have no effect.
 */

import { ModelError } from "../../errors.ts"
import { damaged } from "./metadata.ts"

/**
 * [key in GGUF after the architecture, key in config.json, other spellings there]; null: that
 * format has no such key.
 */
const keys = {
  hidden: ["embedding_length", "hidden_size"],
  layers: ["block_count", "num_hidden_layers"],
  heads: ["attention.head_count", "num_attention_heads"],
  kvHeads: ["attention.head_count_kv", "num_key_value_heads"],
  headDim: ["attention.key_length", "head_dim"],
  valueDim: ["attention.value_length", null],
  context: ["context_length", "max_position_embeddings"],
  rmsEpsilon: ["attention.layer_norm_rms_epsilon", "rms_norm_eps", "norm_eps"],
  layerEpsilon: ["attention.layer_norm_epsilon", "layer_norm_eps", "norm_epsilon"],
  ropeBase: ["rope.freq_base", "rope_theta"],
  ropeDims: ["rope.dimension_count", null],
  partialRotary: [null, "partial_rotary_factor"],
  localRopeBase: ["rope.freq_base_swa", "rope_local_base_freq"],
  window: ["attention.sliding_window", "sliding_window"],
  windowPattern: ["attention.sliding_window_pattern", "sliding_window_pattern", "_sliding_window_pattern"],
  layerTypes: [null, "layer_types"],
  turnedLayers: [null, "no_rope_layers"],
  attentionScale: ["attention.scale", "attention_multiplier"],
  queryScalar: [null, "query_pre_attn_scalar"],
  residualScale: ["residual_scale", "residual_multiplier"],
  embeddingScale: ["embedding_scale", "embedding_multiplier"],
  logitScale: ["logit_scale", "logit_scale"],
  logitDivisor: ["logit_scale", "logits_scaling"],
  attentionSoftcap: ["attn_logit_softcapping", "attn_logit_softcapping"],
  logitSoftcap: ["final_logit_softcapping", "final_logit_softcapping"],
  convolutionWidth: ["shortconv.l_cache", "conv_L_cache"],
  attentionLayers: [null, "full_attn_idxs"],
} as const satisfies Readonly<Record<string, readonly [string | null, string | null, string?]>>

export type ParameterName = keyof typeof keys

/** The least and the greatest value of a number. */
export type Bounds = readonly [least: number, most: number]

const epsilons: Bounds = [1e-15, 0.01]
export const ropeBases: Bounds = [10, 1e12]
const scales: Bounds = [1e-4, 1e4]
const softcaps: Bounds = [1, 1e4]

/**
 * Bounds far beyond known models. Outside of them, onnxruntime refuses the graph, or the answers
 * are noise.
 */
const bounds: Readonly<Partial<Record<ParameterName, Bounds>>> = {
  rmsEpsilon: epsilons,
  layerEpsilon: epsilons,
  ropeBase: ropeBases,
  localRopeBase: ropeBases,
  attentionScale: scales,
  queryScalar: scales,
  residualScale: scales,
  embeddingScale: scales,
  logitScale: scales,
  logitDivisor: scales,
  attentionSoftcap: softcaps,
  logitSoftcap: softcaps,
}

const anyNumber: Bounds = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]

/** Keys that do not concern the graph, or that follow from the shapes of the tensors. */
const idle: Readonly<Record<"gguf" | "config", readonly string[]>> = {
  gguf: ["vocab_size", "feed_forward_length", "rope.scaling.finetuned", "tensor_data_layout"],
  config: [
    // These describe the file, its training, and how other programs run it.
    ...["architectures", "auto_map", "cache_implementation", "dtype", "id2label", "label2id", "model_type"],
    ...["name_or_path", "output_attentions", "output_hidden_states", "pretraining_tp", "torch_dtype"],
    ...["transformers_version", "unsloth_fixed", "unsloth_version", "use_cache", "initializer_range"],
    ...["attention_dropout", "embd_pdrop", "embedding_dropout", "hidden_dropout_prob", "resid_pdrop"],
    ...["residual_dropout", "block_mlp_init_scale", "block_out_init_scale", "block_use_xavier_init"],
    ...["conv_use_xavier_init", "bos_token_id", "eos_token_id", "pad_token_id"],
    // These follow from the tensors, or are read in another way.
    ...["attention_bias", "intermediate_size", "mlp_bias", "tie_word_embeddings", "use_bias", "vocab_size"],
    ...["block_auto_adjust_ff_dim", "block_dim", "block_ff_dim", "block_ffn_dim_multiplier"],
    ...["block_multiple_of", "block_norm_eps", "conv_dim", "conv_dim_out", "num_heads", "hidden_act"],
    ...[
      "hidden_activation",
      "rope_scaling",
      "rope_parameters",
      "max_window_layers",
      "no_rope_layer_interval",
    ],
    ...["layer_switch", "use_embedding_sharing", "use_parallel_embedding"],
  ],
}

/** Keys for which the written graph implements only these values. */
const fixed: Readonly<Record<string, readonly unknown[]>> = {
  "attention.causal": [true],
  use_bidirectional_attention: [false],
  use_sliding_window: [false, true],
  block_use_swiglu: [true],
  use_pos_enc: [true],
  norm_type: ["layer_norm"],
  mlp_type: ["default"],
  position_embedding_type: ["rope_gptj"],
  use_gated_activation: [true],
  use_parallel_block: [true],
  rotary_pct: [1],
  order_of_interleaved_layers: ["local_attn_first"],
}

export class Parameters {
  readonly format: "gguf" | "config"
  /** The file, or "config.json", for messages. */
  private readonly place: string
  private readonly prefix: string
  private readonly values: ReadonlyMap<string, unknown>
  private readonly read = new Set<string>()

  /** `prefix` is put before each key. */
  constructor(
    format: "gguf" | "config",
    place: string,
    prefix: string,
    values: ReadonlyMap<string, unknown>,
  ) {
    this.format = format
    this.place = place
    this.prefix = prefix
    this.values = values
  }

  /** Throws a ModelError about the value of a key. */
  refuse(key: string, what: string): never {
    throw new ModelError(`${this.place}: ${key} ${what}`)
  }

  /**
   * Returns the value of a key as it is spelled in the format; undefined if it is absent or null.
   */
  raw(key: string): unknown {
    const whole = this.prefix + key
    this.read.add(whole)
    return this.values.get(whole) ?? undefined
  }

  /** Returns the value of a parameter; undefined if the format has no such key. */
  value(name: ParameterName): unknown {
    const key = this.keyOf(name)
    return key === null ? undefined : this.raw(key)
  }

  /**
   * Returns a number within the bounds of the parameter. Throws ModelError for another value, or if
   * it is absent and there is no fallback.
   */
  number(name: ParameterName, fallback?: number): number {
    return this.checked(this.keyOf(name) ?? name, this.value(name), fallback, bounds[name])
  }

  /** Returns an integer from `least` to `most`. */
  integer(name: ParameterName, least: number, most: number, fallback?: number): number {
    const value = this.number(name, fallback)
    if (Number.isInteger(value) && value >= least && value <= most) return value
    return this.refuse(this.spelt(name), `is ${value}, and must be an integer from ${least} to ${most}`)
  }

  /** Returns an integer for each layer: from a list, or one for all. */
  perLayer(name: ParameterName, count: number, least: number, most: number, fallback?: number): number[] {
    const value = this.value(name)
    if (!Array.isArray(value)) return Array<number>(count).fill(this.integer(name, least, most, fallback))
    if (value.length !== count)
      this.refuse(this.spelt(name), `has ${value.length} values for ${count} layers`)
    for (const each of value) {
      if (!(Number.isInteger(each) && each >= least && each <= most))
        this.refuse(
          this.spelt(name),
          `holds ${String(each)}, and must hold integers from ${least} to ${most}`,
        )
    }
    return value as number[]
  }

  /**
   * Returns a finite number at a key of the format. The value of the fallback is always accepted,
   * regardless of the bounds.
   */
  checked(key: string, value: unknown, fallback?: number, [least, most]: Bounds = anyNumber): number {
    const found = value ?? fallback
    if (found === undefined) return this.refuse(this.prefix + key, "is missing")
    if (typeof found !== "number" || !Number.isFinite(found))
      return this.refuse(this.prefix + key, `is ${spellValue(found)}, not a number. ${damaged}`)
    if (found === fallback || (found >= least && found <= most)) return found
    return this.refuse(this.prefix + key, `is ${found}, and must be from ${least} to ${most}. ${damaged}`)
  }

  /** Throws ModelError naming a key that was not read and may change the result. */
  refuseUnread(): void {
    for (const [key, value] of this.values) {
      if (!key.startsWith(this.prefix) || this.read.has(key)) continue
      const own = key.slice(this.prefix.length)
      if (idle[this.format].includes(own) || own.startsWith("_")) continue
      if (Object.hasOwn(fixed, own) && fixed[own].includes(value)) continue
      const isOff = value === null || value === false
      if (this.format === "config" && isOff && !fixed[own]?.includes(true)) continue
      this.refuse(key, `is ${spellValue(value)} and has an unknown effect. Choose another model`)
    }
  }

  /** Returns the key of a parameter as the format spells it. */
  spelt(name: ParameterName): string {
    return this.prefix + (this.keyOf(name) ?? name)
  }

  private keyOf(name: ParameterName): string | null {
    const [gguf, config, other] = keys[name] as readonly [string | null, string | null, string?]
    if (this.format === "gguf") return gguf
    return other !== undefined && config !== null && !this.values.has(config) ? other : config
  }
}

/** Formats a value of either format for a message of one line, with at most 80 characters. */
export function spellValue(value: unknown): string {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value)
  return JSON.stringify(isObject ? value : String(value)).slice(0, 80)
}
