/**
 * The parts that the endpoints for text share: fields, their checks, and the engine's options for
 * them.
 *
 * An endpoint makes one zod object of `generationFields` and its own fields, reads a body with
 * `readFields`, and passes the result to `generationRequest`. Sizes are checked first (bounds.ts),
 * so that later checks work on bounded values. constraint.ts reads constraints, and keys.ts handles
 * all other keys of a body. Only the types of sampling parameters are checked here; the sampler
 * checks their ranges.
 */
import { z } from "zod"
import type { GenerateOptions } from "../../../runtime/index.ts"
import { invalid, missing, type Refusal } from "../../errors.ts"
import type { RequestBody } from "../../http/body.ts"
import { cutText, quote } from "../../http/quote.ts"
import { checkBounds } from "./bounds.ts"
import { checkKeys, type RefusedKeys } from "./keys.ts"
import type { LeftOut } from "./leftout.ts"
import { generates, readPeers, refusedPeers } from "./peers.ts"
import { refuseHalfPairs } from "./surrogates.ts"
import { tokenIds } from "./tokenids.ts"

/** The parts of every request besides its prompt, its constraint and the fields of its endpoint. */
export interface GenerationRequest {
  model: string
  /** The engine's options, without constraint and signal. */
  options: GenerateOptions
  stream: boolean
  includeUsage: boolean
  /** Whether each chunk has the usage. */
  continuousUsage: boolean
  /** Whether the request's `tokenrail` object asks for a report. */
  report: boolean
  timing: boolean
  /** Unknown keys without effect, as the caller spelt them. */
  ignored: string[]
  /** The parts that are left out of the request. */
  leftOut: readonly LeftOut[]
}

export const count = z.int().min(1).nullish()
const number = z.number().nullish()
export const flag = z.boolean().nullish()

/**
 * Parameters of the sampler under their wire names. Types are checked here, ranges by the sampler.
 */
const samplingFields = {
  temperature: number,
  top_p: number,
  top_k: z.int().nullish(),
  min_p: number,
  typical_p: number,
  top_n_sigma: number,
  epsilon_cutoff: number,
  eta_cutoff: number,
  xtc_probability: number,
  xtc_threshold: number,
  mirostat: z.int().nullish(),
  mirostat_tau: number,
  mirostat_eta: number,
  adaptive_target: number,
  adaptive_decay: number,
  dynatemp_range: number,
  dynatemp_exponent: number,
  repetition_penalty: number,
  frequency_penalty: number,
  presence_penalty: number,
  penalty_window: z.int().nullish(),
  no_repeat_ngram_size: z.int().nullish(),
  sampler_order: z.union([z.string(), z.array(z.string())]).nullish(),
  penalty_exempt: z.string().nullish(),
  dry_multiplier: number,
  dry_base: number,
  dry_allowed_length: z.int().nullish(),
  dry_last_n: z.int().nullish(),
  dry_sequence_breakers: z.array(z.string().min(1)).nullish(),
  allowed_token_ids: tokenIds,
  bad_words: z.array(z.string()).nullish(),
  min_tokens: z.int().min(0).nullish(),
  logprobs_mode: z.string().nullish(),
  logprob_token_ids: tokenIds,
}

/** Our names of the fields, and vLLM's. */
const repetition = z.union([
  z.strictObject({ min: z.number().nullish(), max: z.number(), count: z.number() }),
  z
    .strictObject({
      min_pattern_size: z.number().nullish(),
      max_pattern_size: z.number(),
      min_count: z.number(),
    })
    .transform(({ min_pattern_size, max_pattern_size, min_count }) => ({
      min: min_pattern_size,
      max: max_pattern_size,
      count: min_count,
    })),
])

/** The fields that end a text before its grammar does. */
const stopFields = {
  stop: z
    .union([z.string(), z.array(z.string())], { error: "must be a string or a list of strings" })
    .nullish(),
  stop_regex: z.union([z.string(), z.array(z.string())]).nullish(),
  stop_when: z.string().nullish(),
  stop_token_ids: tokenIds,
  include_stop_str_in_output: flag,
  ignore_eos: flag,
  repetition_detection: repetition.nullish(),
}

/** Fields of every endpoint that generates text. */
export const generationFields = {
  ...samplingFields,
  ...stopFields,
  model: z.string().min(1),
  // The sampler reads the pairs of a list.
  logit_bias: z.union([z.record(z.string(), z.number()), z.array(z.unknown())]).nullish(),
  // Read from the text of the body.
  seed: z.unknown().optional(),
  n: z.int().min(1).max(128).nullish(),
  use_beam_search: flag,
  beam_width: z.int().nullish(),
  length_penalty: number,
  early_stopping: flag,
  stream_granularity: z.string().nullish(),
  verify: z.string().nullish(),
  stream: flag,
  stream_options: z
    .object({ include_usage: flag, continuous_usage_stats: flag, include_obfuscation: flag })
    .nullish(),
}

type GenerationFields = z.infer<z.ZodObject<typeof generationFields>>

export interface ReadFields<Fields> {
  fields: Fields
  seed: bigint | null
  ignored: string[]
}

/**
 * Returns the checked fields of a body. Keys that are not fields of `object` are refused or
 * ignored, see keys.ts. Throws `Refusal`. The cost is linear in the sizes that the bounds allow.
 */
export function readFields<Shape extends z.ZodRawShape>(
  body: Pick<RequestBody, "value" | "text">,
  object: z.ZodObject<Shape>,
  refused: RefusedKeys = {},
): ReadFields<z.infer<z.ZodObject<Shape>>> {
  const names = Object.keys(object.shape)
  const value = readPeers(body.value, object.shape)
  const own = generates(object.shape) ? { ...refusedPeers, ...refused } : refused
  const ignored = checkKeys(value, object.shape, own)
  checkBounds(value, names)
  for (const field of names) refuseHalfPairs(value[field], field)
  const seed = readSeed(body)
  const parsed = object.safeParse(value)
  if (!parsed.success) throw fieldError(parsed.error)
  return { fields: parsed.data, seed, ignored }
}

/**
 * Returns the request that the shared fields describe. `own` holds the engine's options for the
 * endpoint's own fields. Throws `Refusal`.
 */
export function generationRequest(
  body: RequestBody,
  { fields, seed, ignored }: ReadFields<GenerationFields>,
  own: Nullable<GenerateOptions>,
  leftOut: readonly LeftOut[] = [],
): GenerationRequest {
  if (fields.stream_options && !fields.stream) throw invalid("stream_options", "needs stream: true")
  const tokenrail = (body.value.tokenrail ?? {}) as Record<string, unknown>
  return {
    model: fields.model,
    options: defined<GenerateOptions>({
      ...samplingOptions(fields),
      logitBias: fields.logit_bias && readBias(fields.logit_bias),
      seed,
      n: fields.n,
      useBeamSearch: fields.use_beam_search,
      beamWidth: fields.beam_width,
      lengthPenalty: fields.length_penalty,
      earlyStopping: fields.early_stopping,
      stop: fields.stop,
      stopRegex: fields.stop_regex,
      // The engine checks the value.
      stopWhen: fields.stop_when as GenerateOptions["stopWhen"],
      repetitionDetection: fields.repetition_detection,
      streamGranularity: fields.stream_granularity as GenerateOptions["streamGranularity"],
      verify: fields.verify as GenerateOptions["verify"],
      stopTokenIds: fields.stop_token_ids,
      includeStopStrInOutput: fields.include_stop_str_in_output,
      ignoreEos: fields.ignore_eos,
      ...own,
    }),
    stream: fields.stream ?? false,
    includeUsage: fields.stream_options?.include_usage ?? false,
    continuousUsage: fields.stream_options?.continuous_usage_stats ?? false,
    report: tokenrail.report === true,
    timing: tokenrail.timing === true,
    ignored,
    leftOut,
  }
}

/** Returns the first issue as a refusal. Its param is the path in the notation of code. */
export function fieldError(error: z.ZodError): Refusal {
  const [issue] = error.issues
  const param = issue.path
    .map((step, i) => (typeof step === "number" ? `[${step}]` : `${i ? "." : ""}${String(step)}`))
    .join("")
  if (issue.code === "unrecognized_keys") return invalid(param, `: unknown key ${quote(issue.keys[0])}`)
  if (issue.code === "invalid_type" && issue.message.endsWith("received undefined")) return missing(param)
  return invalid(param, `: ${issue.message}`)
}

/** Returns the options under camel-case names: `top_n_sigma` → `topNSigma`. */
function samplingOptions(fields: GenerationFields): Partial<GenerateOptions> {
  const names = Object.keys(samplingFields) as (keyof typeof samplingFields)[]
  const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
  return Object.fromEntries(names.map((name) => [camel(name), fields[name]]))
}

function readBias(bias: Record<string, number> | unknown[]): GenerateOptions["logitBias"] {
  if (Array.isArray(bias)) return bias as GenerateOptions["logitBias"] & unknown[]
  for (const id of Object.keys(bias)) {
    if (!/^\d+$/.test(id)) throw invalid("logit_bias", `: ${quote(id)} is not a token id`)
  }
  return bias
}

// Reads the seed from the text of the body, since 2^63 does not survive JSON.parse.
function readSeed(body: Pick<RequestBody, "text">): bigint | null {
  const own = body.text(["seed"])
  const isOwn = own !== null && own !== "null"
  const spelling = isOwn ? own : body.text(["random_seed"])
  if (spelling === null || spelling === "null") return null
  const [, digits] = /^"?(-?\d{1,19})"?$/.exec(spelling) ?? []
  if (digits === undefined || BigInt.asIntN(64, BigInt(digits)) !== BigInt(digits)) {
    throw invalid(
      "seed",
      `must be an integer of 64 bits, got ${cutText(spelling, 40)}`,
      "Send one from -9223372036854775808 to 9223372036854775807, in decimal digits",
    )
  }
  return BigInt(digits)
}

/** Members that are null or undefined mean "default" on the wire. */
type Nullable<T> = { [K in keyof T]?: T[K] | null | undefined }

/** Returns the object without the members that mean "default". */
function defined<T extends object>(fields: Nullable<T>): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as T
}
