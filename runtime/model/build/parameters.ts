/**
 * The parameters of a model under one name each, whether they stand in GGUF's metadata or in a config.json.
 *
 * What is not read may change the result as much as what is. So the reader remembers which keys were asked for, and a key that was
 * not, and that is not known to be without effect, is refused by its name.
 */

import { ModelError } from "../../errors.ts"

/** [key in GGUF behind the architecture, key in config.json, other spellings there]; null: that format has no such key. */
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
} as const satisfies Readonly<Record<string, readonly [string | null, string | null, string?]>>

export type ParameterName = keyof typeof keys

/** Keys that say nothing about the graph, or what the shapes of the tensors say too. */
const idle: Readonly<Record<"gguf" | "config", readonly string[]>> = {
  gguf: ["vocab_size", "feed_forward_length", "attention.causal", "rope.scaling.finetuned"],
  config: [
    ...["architectures", "attention_dropout", "auto_map", "bos_token_id", "cache_implementation", "dtype"],
    ...["eos_token_id", "hidden_dropout_prob", "initializer_range", "intermediate_size", "model_type"],
    ...["pad_token_id", "pretraining_tp", "tie_word_embeddings", "torch_dtype", "transformers_version"],
    ...["use_cache", "vocab_size", "embd_pdrop", "resid_pdrop", "residual_dropout", "embedding_dropout"],
    ...[
      "attention_bias",
      "mlp_bias",
      "use_bias",
      "max_window_layers",
      "rope_scaling",
      "rope_parameters",
      "id2label",
    ],
    ...["label2id", "unsloth_fixed", "unsloth_version", "name_or_path", "hidden_act", "hidden_activation"],
    ...[
      "use_bidirectional_attention",
      "use_sliding_window",
      "no_rope_layer_interval",
      "output_hidden_states",
      "output_attentions",
    ],
  ],
}

/** Values of keys in `idle` that a graph as it is written here has; another one is refused. */
const fixed: Readonly<Record<string, readonly unknown[]>> = {
  "attention.causal": [true],
  use_bidirectional_attention: [false, null],
  use_sliding_window: [false, null],
}

export class Parameters {
  readonly format: "gguf" | "config"
  /** For messages: the file, or "config.json". */
  private readonly place: string
  private readonly prefix: string
  private readonly values: ReadonlyMap<string, unknown>
  private readonly read = new Set<string>()

  /** `prefix` stands before each key. */
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

  /** The value of a key as it is spelt in the format; undefined if it is absent or null. */
  raw(key: string): unknown {
    const whole = this.prefix + key
    this.read.add(whole)
    return this.values.get(whole) ?? undefined
  }

  /** The value of a parameter; undefined if the format has no such key. */
  value(name: ParameterName): unknown {
    const key = this.keyOf(name)
    return key === null ? undefined : this.raw(key)
  }

  /** A finite number. Throws ModelError if it is another value, or absent without a fallback. */
  number(name: ParameterName, fallback?: number): number {
    return this.checked(this.keyOf(name) ?? name, this.value(name), fallback)
  }

  /** An integer from `least` to `most`. */
  integer(name: ParameterName, least: number, most: number, fallback?: number): number {
    const value = this.number(name, fallback)
    if (Number.isInteger(value) && value >= least && value <= most) return value
    return this.refuse(this.spelt(name), `is ${value}, and must be an integer from ${least} to ${most}`)
  }

  /** An integer for each layer: a list of them, or one for all. */
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

  /** A finite number at a key of the format. */
  checked(key: string, value: unknown, fallback?: number): number {
    const found = value ?? fallback
    if (typeof found === "number" && Number.isFinite(found)) return found
    const what =
      found === undefined ? "is missing" : `is ${JSON.stringify(String(found)).slice(0, 80)}, not a number`
    return this.refuse(this.prefix + key, what)
  }

  /** Throws ModelError naming a key that was not asked for and may change the result. */
  refuseUnread(): void {
    for (const [key, value] of this.values) {
      if (!key.startsWith(this.prefix) || this.read.has(key)) continue
      const own = key.slice(this.prefix.length)
      const isOff = value === null || value === false || value === undefined
      const isIdle = idle[this.format].includes(own) || own.startsWith("_")
      const allowed = Object.hasOwn(fixed, own) ? fixed[own] : undefined
      if (allowed === undefined ? isIdle || (isOff && this.format === "config") : allowed.includes(value))
        continue
      this.refuse(
        key,
        `is ${JSON.stringify(String(value)).slice(0, 80)}, and what it changes is not known here. Choose another model`,
      )
    }
  }

  /** The key of a parameter as the format spells it. */
  spelt(name: ParameterName): string {
    return this.prefix + (this.keyOf(name) ?? name)
  }

  private keyOf(name: ParameterName): string | null {
    const [gguf, config, other] = keys[name] as readonly [string | null, string | null, string?]
    if (this.format === "gguf") return gguf
    return other !== undefined && config !== null && !this.values.has(config) ? other : config
  }
}
