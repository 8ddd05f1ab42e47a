/**
 * Other servers' names for fields that change the distribution, the end or the length of an answer.
 *
 * A name whose field exists here is read as that field, with the meaning that it has on the other
 * server. Any other name is refused with the nearest field as a hint, unless its value asks for no
 * effect. No name is ignored: the answer would have another distribution than the requested one.
 * Sources: the server and the samplers of llama.cpp, Ollama, SGLang, vLLM, text-generation-webui,
 * Text Generation Inference and transformers.
 */
import { invalid, Refusal, unsupported } from "../../errors.ts"
import { quote } from "../../http/quote.ts"
import type { RefusedKeys } from "./keys.ts"
import { isSamplers, readSamplers } from "./samplers.ts"

type Fields = Readonly<Record<string, unknown>>

/**
 * Names of the same field, our own names first. If there are several, the first that the endpoint
 * has is used.
 */
const renamed: readonly (readonly [own: readonly string[], peers: readonly string[]])[] = [
  [["temperature"], ["temp"]],
  [["typical_p"], ["typ_p", "typical"]],
  [["top_n_sigma"], ["nsigma"]],
  [["mirostat"], ["mirostat_mode"]],
  [["mirostat_tau"], ["mirostat_ent"]],
  [["mirostat_eta"], ["mirostat_lr"]],
  [["dry_last_n"], ["dry_penalty_last_n"]],
  [["bad_words"], ["banned_strings"]],
  [["min_tokens"], ["min_new_tokens"]],
  [["n"], ["num_return_sequences"]],
  [["include_stop_str_in_output"], ["no_stop_trim"]],
  [["thinking_token_budget"], ["reasoning_budget"]],
  [
    ["stop_sequences", "stop"],
    ["stop_sequences", "stop_sequence", "stop_strings", "stop_words", "stopping_strings"],
  ],
  [
    ["max_completion_tokens", "max_output_tokens", "max_tokens"],
    ["max_output_tokens", "n_predict", "num_predict", "max_new_tokens"],
  ],
]

/** Budgets that a negative value leaves unset. */
const unbounded = new Set(["n_predict", "num_predict", "max_new_tokens", "reasoning_budget"])

/** Number of tokens that llama.cpp's penalties read by default. */
const peerWindow = 64

const nothing = "Leave it out"
const filters = "Use min_p, top_p, typical_p or top_n_sigma"
const window = "Use repetition_penalty and penalty_window"

/** Fields without a stage here: [values that ask for no effect, hint]. */
export const refusedPeers: RefusedKeys = {
  min_keep: [[0, 1], `${filters}: each keeps one token at least`],
  tfs_z: [[1], filters],
  tfs: [[1], filters],
  top_a: [[0], filters],
  skew: [[0], filters],
  smoothing_factor: [[0], "Use temperature or dynatemp_range"],
  smoothing_curve: [[1], "Use temperature or dynatemp_range"],
  dynamic_temperature: [[false], "Use temperature and dynatemp_range"],
  dynatemp_low: [
    [],
    "Use temperature and dynatemp_range: the temperature moves by the range in both directions",
  ],
  dynatemp_high: [
    [],
    "Use temperature and dynatemp_range: the temperature moves by the range in both directions",
  ],
  min_temp: [[], "Use temperature and dynatemp_range: the temperature moves by the range in both directions"],
  max_temp: [[], "Use temperature and dynatemp_range: the temperature moves by the range in both directions"],
  penalize_nl: [[true], "Use logit_bias: line breaks are penalised like all tokens"],
  rep_pen: [[1], window],
  rep_pen_range: [[], window],
  rep_pen_slope: [[], window],
  repetition_penalty_range: [[], window],
  repetition_penalty_sustain: [[], window],
  repetition_decay: [[], window],
  encoder_repetition_penalty: [[1], "Use repetition_penalty, which counts the prompt too"],
  encoder_no_repeat_ngram_size: [[0], "Use no_repeat_ngram_size, which counts the prompt too"],
  dry_range: [[], "Use dry_last_n"],
  dry_penalty_range: [[], "Use dry_last_n"],
  sampler_priority: [[], "Use samplers or sampler_order"],
  sampler_seed: [[-1], "Use seed"],
  guidance_scale: [[1], "There is no guidance here: leave it out"],
  cfg_scale: [[1], "There is no guidance here: leave it out"],
  negative_prompt: [[""], "There is no guidance here: leave it out"],
  penalty_alpha: [
    [0],
    "Contrastive search compares hidden states, and the model's graph gives logits alone: use use_beam_search or min_p",
  ],
  num_beam_groups: [[1], "Beams are not grouped here: leave it out"],
  diversity_penalty: [[0], "Beams are not grouped here: leave it out"],
  watermark: [[false], nothing],
  banned_tokens: [[[]], "Use bad_words, or logit_bias with -100"],
  custom_token_bans: [["", []], "Use bad_words, or logit_bias with -100"],
  bad_words_ids: [[[]], "Use bad_words, which bans every spelling of a word"],
  suppress_tokens: [[[]], "Use logit_bias with -100"],
  begin_suppress_tokens: [[[]], "Use logit_bias with -100"],
  sequence_bias: [[], "Use logit_bias or bad_words"],
  force_words_ids: [[[]], "Use structured_outputs.regex or a grammar"],
  forced_bos_token_id: [[], "Use structured_outputs.regex or a grammar"],
  forced_eos_token_id: [[], "Use on_length: close in tokenrail"],
  ban_eos_token: [[false], "Use ignore_eos or min_tokens"],
  min_length: [[0], "Use min_tokens, which does not count the prompt"],
  max_length: [[], "Use max_tokens, which does not count the prompt"],
  max_time: [[], "Use max_tokens, or close the connection"],
  t_max_predict_ms: [[0, -1], "Use max_tokens, or close the connection"],
  n_indent: [[0], "Use stop or stop_regex"],
  token_healing: [[false], "Use tokenrail.heal"],
  num_ctx: [[], "The context is the server's: start it with --context"],
  n_ctx: [[], "The context is the server's: start it with --context"],
  options: [[{}], "Send its members at the top level, as messages is"],
  sampling_params: [[{}], "Send its members at the top level, as messages is"],
  generation_config: [[{}], "Send its members at the top level, as messages is"],
  logits_processors: [[[]], "No code of a client is run here: leave it out"],
  custom_logit_processor: [[""], "No code of a client is run here: leave it out"],
  vllm_xargs: [[{}], "Send the fields that this server names"],
  lora: [[[]], "This server has one model: leave it out"],
  lora_path: [[], "This server has one model: leave it out"],
  adapter_id: [[], "This server has one model: leave it out"],
  prompt_embeds: [[], "Send text or token ids"],
  safe_prompt: [[false], "Send a system message"],
}

/** Returns whether an endpoint with these fields generates text. */
export function generates(honoured: Fields): boolean {
  return Object.hasOwn(honoured, "temperature")
}

/**
 * Returns the fields of a body, with the names of other servers replaced by those of `honoured`.
 * Throws `Refusal` if two names of a field ask for different values, if the endpoint has no such
 * field, or if a name is a different spelling of one in `honoured`.
 */
export function readPeers(body: Fields, honoured: Fields): Fields {
  if (!generates(honoured)) return body
  const fields: Record<string, unknown> = { ...body }
  for (const [own, peers] of renamed) for (const peer of peers) rename(fields, peer, own, honoured)
  readPenalties(fields)
  if (Object.hasOwn(fields, "samplers")) replaceSamplers(fields)
  if (Object.hasOwn(fields, "temperature_last")) moveTemperature(fields)
  if (Object.hasOwn(fields, "do_sample")) readDoSample(fields)
  if (Object.hasOwn(fields, "num_beams")) readBeams(fields)
  for (const key of Object.keys(fields)) if (!Object.hasOwn(honoured, key)) refuseMisspelt(key, honoured)
  return fields
}

function rename(
  fields: Record<string, unknown>,
  peer: string,
  own: readonly string[],
  honoured: Fields,
): void {
  if (!Object.hasOwn(fields, peer) || Object.hasOwn(honoured, peer)) return
  const given = fields[peer]
  const target = own.find((name) => Object.hasOwn(honoured, name))
  if (target === undefined) {
    if (given === null) return
    throw unsupported(peer, "is not supported here", nothing)
  }
  delete fields[peer]
  if (unbounded.has(peer) && typeof given === "number" && given < 0) {
    // Only completions need a value: on other endpoints an unset budget is unbounded.
    if (Object.hasOwn(honoured, "echo")) put(fields, peer, target, Number.MAX_SAFE_INTEGER)
  } else put(fields, peer, target, target === "stop_sequences" && typeof given === "string" ? [given] : given)
}

/**
 * Sets `own` to the value of `peer`, unless it is set already. Throws `Refusal` if the values
 * differ.
 */
function put(fields: Record<string, unknown>, peer: string, own: string, value: unknown): void {
  if (value === null || value === undefined) return
  const known = fields[own]
  if (known === null || known === undefined) fields[own] = value
  else if (JSON.stringify(known) !== JSON.stringify(value)) {
    throw invalid(peer, `and ${own} are one field and ask for different values`, `Send ${own} alone`)
  }
}

/**
 * Applies the default of llama.cpp's penalties: they read the last 64 tokens of prompt and answer.
 */
function readPenalties(fields: Record<string, unknown>): void {
  const isPeer = fields.repeat_penalty !== undefined && fields.repeat_penalty !== null
  put(fields, "repeat_penalty", "repetition_penalty", fields.repeat_penalty)
  for (const peer of ["repeat_last_n", "penalty_last_n"]) {
    const count = fields[peer]
    delete fields[peer]
    if (count === 0) turnOffPenalties(fields)
    else put(fields, peer, "penalty_window", count === -1 ? Number.MAX_SAFE_INTEGER : count)
  }
  delete fields.repeat_penalty
  if (isPeer) fields.penalty_window ??= peerWindow
}

function turnOffPenalties(fields: Record<string, unknown>): void {
  for (const name of ["repetition_penalty", "frequency_penalty", "presence_penalty"]) fields[name] = null
}

function replaceSamplers(fields: Record<string, unknown>): void {
  const { samplers } = fields
  delete fields.samplers
  if (samplers === null) return
  refuseOrder(fields, "samplers")
  if (!isSamplers(samplers)) {
    throw invalid("samplers", `: ${quote(samplers)} is not a list of names or a string of their letters`)
  }
  const { order, off } = readSamplers(samplers)
  if (order.includes("penalties") && !("repetition_penalty" in off)) fields.penalty_window ??= peerWindow
  Object.assign(fields, off, { sampler_order: order })
}

function moveTemperature(fields: Record<string, unknown>): void {
  const { temperature_last: isLast } = fields
  delete fields.temperature_last
  if (isLast === null || isLast === false) return
  if (isLast !== true) {
    throw invalid("temperature_last", `: ${quote(isLast)} is not true or false`)
  }
  refuseOrder(fields, "temperature_last")
  fields.sampler_order = [...filtersFirst]
}

const filtersFirst = [
  ...["penalties", "dry", "top_n_sigma", "min_p", "top_k", "typical_p", "top_p", "xtc", "temperature"],
]

function refuseOrder(fields: Fields, peer: string): void {
  if (fields.sampler_order === undefined || fields.sampler_order === null) return
  throw invalid(peer, "and sampler_order both set the order of the stages", "Send one of them")
}

/** Makes the answer greedy if sampling is off, whatever the temperature is. */
function readDoSample(fields: Record<string, unknown>): void {
  const { do_sample: samples } = fields
  delete fields.do_sample
  if (samples === false) fields.temperature = 0
  else if (samples !== true && samples !== null) {
    throw invalid("do_sample", `: ${quote(samples)} is not true or false`)
  }
}

/** Reads the number of beams under the name of transformers, in which one beam means no search. */
function readBeams(fields: Record<string, unknown>): void {
  const { num_beams: beams } = fields
  delete fields.num_beams
  if (beams === null || beams === 1) return
  put(fields, "num_beams", "beam_width", beams)
  put(fields, "num_beams", "use_beam_search", true)
}

/** Throws `Refusal` for a name like `topP`. */
function refuseMisspelt(key: string, honoured: Fields): void {
  const own = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll("-", "_")
  if (own === key || !Object.hasOwn(honoured, own)) return
  throw new Refusal("unsupported_parameter", `${quote(key)} is not a field here`, {
    param: key,
    hint: `Did you mean ${own}?`,
  })
}
