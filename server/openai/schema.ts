/**
 * The fields of `POST /v1/chat/completions`: from a JSON object to a checked request.
 *
 * The honoured fields are the zod object below; constraints are read in constraint.ts, and what else a body may hold in
 * keys.ts. How much a field may hold is checked first (bounds.ts), so that whatever follows is done with little.
 * Ranges of sampling parameters are the sampler's business; here only types are checked.
 */
import { z } from "zod"
import type { GenerateOptions, Message } from "../../runtime/index.ts"
import { Refusal } from "../errors.ts"
import type { RequestBody } from "../http/body.ts"
import { cutText, quote } from "../http/quote.ts"
import { checkBound, checkBounds, wholeBounds } from "./bounds.ts"
import { checkKeys } from "./keys.ts"
import { refuseHalfPairs } from "./surrogates.ts"
import { checkTemplateKwargs } from "./templatekwargs.ts"

export interface ChatRequest {
  model: string
  messages: Message[]
  /** All that the engine is told besides the constraint and the signal. */
  options: GenerateOptions
  stream: boolean
  includeUsage: boolean
  /** Usage on every chunk. */
  continuousUsage: boolean
  /** Alternatives a row, or null: no log-probabilities in the reply. */
  topLogprobs: number | null
  /** Of the request's `tokenrail` object. */
  report: boolean
  timing: boolean
  /** Unknown keys without effect, as the caller spelt them. */
  ignored: string[]
}

type Part = { type: "text"; text: string } | { type: "refusal"; refusal: string }

// A predicate, which ends at the first part that is none: a union makes an error for each branch of each part.
const content = z.custom<string | Part[]>(
  (value) => typeof value === "string" || (Array.isArray(value) && value.length > 0 && value.every(isPart)),
  {
    error: (issue) =>
      issue.input === undefined
        ? "is missing"
        : 'must be a string or a list of {type: "text", text}; images, audio and files are not supported',
  },
)

function isPart(value: unknown): value is Part {
  if (typeof value !== "object" || value === null) return false
  const { type, text, refusal } = value as Record<string, unknown>
  return type === "text" ? typeof text === "string" : type === "refusal" && typeof refusal === "string"
}

const toolCall = z.looseObject({
  id: z.string(),
  type: z.literal("function"),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
})
const named = { name: z.string().nullish() }
const message = z.discriminatedUnion(
  "role",
  [
    z.looseObject({ role: z.enum(["system", "developer", "user"]), content, ...named }),
    z.looseObject({
      role: z.literal("assistant"),
      content: content.nullish(),
      tool_calls: z.array(toolCall).nullish(),
      ...named,
    }),
    z.looseObject({ role: z.literal("tool"), content, tool_call_id: z.string() }),
    z.looseObject({ role: z.literal("function"), content, name: z.string() }),
  ],
  { error: "role must be system, developer, user, assistant, tool or function" },
)

const count = z.int().min(1).nullish()
const number = z.number().nullish()
const flag = z.boolean().nullish()
// One error for all members.
const tokenIds = z
  .array(z.unknown())
  .superRefine((ids, context) => {
    const index = ids.findIndex((id) => !Number.isSafeInteger(id) || (id as number) < 0)
    if (index < 0) return
    const message = `${quote(ids[index])} is not a token id, which is a whole number`
    context.addIssue({ code: "custom", path: [index], message })
  })
  .transform((ids) => ids as number[])
  .nullish()

/** Parameters of the sampler under their wire names: types here, ranges there. */
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

/** By our names, and by vLLM's. */
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

const chatFields = z.object({
  ...samplingFields,
  model: z.string().min(1),
  messages: z.array(message).min(1),
  max_completion_tokens: count,
  max_tokens: count,
  logit_bias: z.record(z.string(), z.number()).nullish(),
  // Read from the text of the body.
  seed: z.unknown().optional(),
  n: z.int().min(1).max(128).nullish(),
  stop: z
    .union([z.string(), z.array(z.string())], { error: "must be a string or a list of strings" })
    .nullish(),
  stop_regex: z.union([z.string(), z.array(z.string())]).nullish(),
  stop_when: z.string().nullish(),
  repetition_detection: repetition.nullish(),
  stream_granularity: z.string().nullish(),
  verify: z.string().nullish(),
  prediction: z.looseObject({ type: z.literal("content"), content }).nullish(),
  stop_token_ids: tokenIds,
  include_stop_str_in_output: flag,
  ignore_eos: flag,
  logprobs: flag,
  top_logprobs: z.int().min(0).max(20).nullish(),
  stream: flag,
  stream_options: z
    .object({ include_usage: flag, continuous_usage_stats: flag, include_obfuscation: flag })
    .nullish(),
  reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh"]).nullish(),
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
})

/** The checked request. Throws `Refusal`. The cost is linear in what the bounds let through. */
export function parseChat(body: RequestBody): ChatRequest {
  const ignored = checkKeys(body.value, chatFields.shape)
  checkBounds(body.value, Object.keys(chatFields.shape))
  for (const field of Object.keys(chatFields.shape)) refuseHalfPairs(body.value[field], field)
  const seed = readSeed(body)
  const parsed = chatFields.safeParse(body.value)
  if (!parsed.success) throw fieldError(parsed.error)
  const fields = parsed.data
  // zod leaves out a key that is named `__proto__`.
  checkTemplateKwargs(body.value.chat_template_kwargs ?? {})
  if (fields.stream_options && !fields.stream) {
    throw new Refusal("invalid_value", "stream_options needs stream: true", { param: "stream_options" })
  }
  if (fields.top_logprobs != null && !fields.logprobs) {
    throw new Refusal("invalid_value", "top_logprobs needs logprobs: true", { param: "top_logprobs" })
  }
  if (fields.logprob_token_ids?.length && !fields.logprobs) {
    const param = "logprob_token_ids"
    throw new Refusal("invalid_value", `${param} needs logprobs: true`, { param })
  }
  const topLogprobs = fields.logprobs ? (fields.top_logprobs ?? 0) : null
  const tokenrail = (body.value.tokenrail ?? {}) as Record<string, unknown>
  return {
    model: fields.model,
    messages: fields.messages.map(toMessage),
    options: defined({
      maxTokens: fields.max_completion_tokens ?? fields.max_tokens,
      ...samplingOptions(fields),
      logitBias: fields.logit_bias && biasById(fields.logit_bias),
      seed,
      n: fields.n,
      stop: fields.stop,
      stopRegex: fields.stop_regex,
      // The engine names the values that there are.
      stopWhen: fields.stop_when as GenerateOptions["stopWhen"],
      repetitionDetection: fields.repetition_detection,
      streamGranularity: fields.stream_granularity as GenerateOptions["streamGranularity"],
      prediction: fields.prediction && readPrediction(fields.prediction.content),
      verify: fields.verify as GenerateOptions["verify"],
      stopTokenIds: fields.stop_token_ids,
      includeStopStrInOutput: fields.include_stop_str_in_output,
      ignoreEos: fields.ignore_eos,
      logprobs: topLogprobs,
      templateOptions: templateOptions(fields),
    }),
    stream: fields.stream ?? false,
    includeUsage: fields.stream_options?.include_usage ?? false,
    continuousUsage: fields.stream_options?.continuous_usage_stats ?? false,
    topLogprobs,
    report: tokenrail.report === true,
    timing: tokenrail.timing === true,
    ignored,
  }
}

/** The first issue as a refusal whose param is the path as one would write it in code. */
function fieldError(error: z.ZodError): Refusal {
  const [issue] = error.issues
  const param = issue.path
    .map((step, i) => (typeof step === "number" ? `[${step}]` : `${i ? "." : ""}${String(step)}`))
    .join("")
  if (issue.code === "unrecognized_keys") {
    return new Refusal("invalid_value", `${param}: unknown key ${quote(issue.keys[0])}`, { param })
  }
  const missing = issue.code === "invalid_type" && issue.message.endsWith("received undefined")
  if (missing) return new Refusal("missing_required_parameter", `${param} is missing`, { param })
  return new Refusal("invalid_value", `${param}: ${issue.message}`, { param })
}

function toMessage(raw: z.infer<typeof message>, index: number): Message {
  if (raw.role === "assistant" && raw.content == null && !raw.tool_calls?.length) {
    const param = `messages[${index}].content`
    throw new Refusal("missing_required_parameter", `${param} is missing`, { param })
  }
  const role = raw.role === "developer" ? "system" : raw.role
  return { ...raw, role, content: flatten(raw.content) } as Message
}

// Parts are joined by a newline, as vLLM does for templates that take strings.
function flatten(content: z.infer<typeof message>["content"]): string {
  if (content == null) return ""
  if (typeof content === "string") return content
  return content.map((part) => (part.type === "text" ? part.text : part.refusal)).join("\n")
}

/** `top_n_sigma` → `topNSigma`. */
function samplingOptions(fields: z.infer<typeof chatFields>): Partial<GenerateOptions> {
  const names = Object.keys(samplingFields) as (keyof typeof samplingFields)[]
  const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
  return Object.fromEntries(names.map((name) => [camel(name), fields[name]]))
}

function biasById(bias: Record<string, number>): Record<number, number> {
  for (const id of Object.keys(bias)) {
    if (!/^\d+$/.test(id)) {
      throw new Refusal("invalid_value", `logit_bias: ${quote(id)} is not a token id`, {
        param: "logit_bias",
      })
    }
  }
  return bias
}

// Through the body's text: 2^63 does not survive JSON.parse.
function readSeed(body: RequestBody): bigint | null {
  const spelling = body.text(["seed"])
  if (spelling === null || spelling === "null") return null
  const [, digits] = /^"?(-?\d{1,19})"?$/.exec(spelling) ?? []
  if (digits === undefined || BigInt.asIntN(64, BigInt(digits)) !== BigInt(digits)) {
    throw new Refusal("invalid_value", `seed must be an integer of 64 bits, got ${cutText(spelling, 40)}`, {
      param: "seed",
      hint: "Send one from -9223372036854775808 to 9223372036854775807, in decimal digits",
    })
  }
  return BigInt(digits)
}

function readPrediction(content: z.infer<typeof message>["content"]): string {
  const prediction = flatten(content)
  checkBound(wholeBounds.prediction, prediction.length)
  return prediction
}

function templateOptions(fields: z.infer<typeof chatFields>): GenerateOptions["templateOptions"] | null {
  const effort = fields.reasoning_effort
  const reasoning = effort ? { reasoning_effort: effort, enable_thinking: effort !== "none" } : null
  const variables = { ...reasoning, ...fields.chat_template_kwargs }
  return Object.keys(variables).length > 0 ? { variables } : null
}

/** Without the members that are null or undefined, which mean "default" on the wire. */
function defined<T extends object>(fields: { [K in keyof T]: T[K] | null | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as T
}
