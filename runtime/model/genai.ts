/**
 * Reads `genai_config.json`, which the model builder of onnxruntime-genai writes next to its graph.
 * It has the contents of `config.json` under other names, and the name of the graph.
 *
 * A graph with an input or output whose name differs from the Hugging Face layout is refused by the
 * first such name.
 */
import { ModelError } from "../errors.ts"

type JsonObject = Readonly<Record<string, unknown>>

export interface GenaiModel {
  /** The configuration in the form of `config.json`. */
  readonly config: Readonly<Record<string, unknown>>
  /** The graph's file in the directory. */
  readonly graph: string
}

/**
 * The names that are supported; those of caches contain the layer as `%d`. Earlier versions had
 * other names for states.
 */
const inputNames: Readonly<Record<string, readonly string[]>> = {
  input_ids: ["input_ids"],
  attention_mask: ["attention_mask"],
  position_ids: ["position_ids"],
  past_key_names: ["past_key_values.%d.key"],
  past_value_names: ["past_key_values.%d.value"],
  past_conv_names: ["past.%d.conv", "past_conv.%d", "past_key_values.%d.conv_state"],
  past_recurrent_names: ["past.%d.recurrent", "past_recurrent.%d", "past_key_values.%d.recurrent_state"],
}
const outputNames: Readonly<Record<string, readonly string[]>> = {
  logits: ["logits"],
  present_key_names: ["present.%d.key"],
  present_value_names: ["present.%d.value"],
  present_conv_names: ["present.%d.conv", "present_conv.%d", "present.%d.conv_state"],
  present_recurrent_names: ["present.%d.recurrent", "present_recurrent.%d", "present.%d.recurrent_state"],
}

/** Reads the configuration. Throws ModelError naming the field of `path` that is wrong. */
export function readGenaiConfig(path: string, config: JsonObject): GenaiModel {
  const model = objectOf(path, config.model, "model")
  for (const part of ["encoder", "vision", "speech", "embedding"])
    if (model[part] !== undefined) throw new ModelError(`${path}: model.${part}: only text decoders run here`)
  const decoder = objectOf(path, model.decoder, "model.decoder")
  if (decoder.pipeline !== undefined)
    throw new ModelError(`${path}: model.decoder.pipeline: a graph in several parts does not run here`)
  checkNames(path, "inputs", decoder.inputs, inputNames)
  checkNames(path, "outputs", decoder.outputs, outputNames)
  const { filename = "model.onnx" } = decoder
  if (typeof filename !== "string" || /[/\\]/.test(filename))
    throw new ModelError(`${path}: model.decoder.filename is ${JSON.stringify(filename)}, not a file's name`)
  return {
    graph: filename,
    config: {
      model_type: model.type,
      vocab_size: model.vocab_size,
      max_position_embeddings: model.context_length,
      eos_token_id: model.eos_token_id,
      hidden_size: decoder.hidden_size,
      head_dim: decoder.head_size,
      num_attention_heads: decoder.num_attention_heads,
      num_key_value_heads: decoder.num_key_value_heads,
      num_hidden_layers: decoder.num_hidden_layers,
      sliding_window: (decoder.sliding_window as JsonObject | undefined)?.window_size,
    },
  }
}

function checkNames(
  path: string,
  what: string,
  names: unknown,
  known: Readonly<Record<string, readonly string[]>>,
): void {
  for (const [key, name] of Object.entries(objectOf(path, names ?? {}, `model.decoder.${what}`))) {
    if (known[key]?.includes(String(name))) continue
    const place = `${path}: model.decoder.${what}.${key} is ${JSON.stringify(name)}`
    throw new ModelError(
      known[key] === undefined
        ? `${place}: it is unknown. Build the decoder alone, with its cache as keys and values`
        : `${place}, not ${JSON.stringify(known[key][0])}. Build the graph with the names of its layout`,
    )
  }
}

function objectOf(path: string, value: unknown, name: string): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject
  throw new ModelError(`${path}: ${name} must be an object`)
}
