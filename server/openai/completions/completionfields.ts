/**
 * The fields of `POST /v1/completions`: from a JSON object to a checked request.
 *
 * The fields shared with the other endpoints are in request/fields.ts. A prompt is raw: text, or
 * token ids, or a list of either. Each prompt gets `n` answers.
 */
import { z } from "zod"
import { invalid, missing, Refusal, unsupported } from "../../errors.ts"
import type { RequestBody } from "../../http/body.ts"
import { quote } from "../../http/quote.ts"
import type { EndpointWords } from "../../overflow.ts"
import { checkBound, wholeBounds } from "../request/bounds.ts"
import {
  flag,
  type GenerationRequest,
  generationFields,
  generationRequest,
  readFields,
} from "../request/fields.ts"
import type { RefusedKeys } from "../request/keys.ts"
import { prediction, readPrediction } from "../request/messages.ts"

export type RawPrompt = string | readonly number[]

export interface CompletionRequest extends GenerationRequest {
  prompts: readonly RawPrompt[]
  /** Whether `prompt` is a list, so that errors name the index of a prompt. */
  isList: boolean
  /** Number of answers to each prompt in the reply. */
  n: number
  /** Number of answers to each prompt that are generated; the reply has the best of them. */
  bestOf: number
  /**
   * Whether the reply has the prompt's text before the answer's, and its log-probabilities before
   * those of the answer.
   */
  echo: boolean
  /** Number of alternatives for each token, or null for a reply without log-probabilities. */
  topLogprobs: number | null
}

export const words: EndpointWords = { api: "openai", prompt: "prompt", maxTokens: "max_tokens" }

/** Budget of a request without one, if the context has room for it. OpenAI's default. */
export const defaultMaxTokens = 16

/** The fields of a request. */
export const completionFields = z.object({
  ...generationFields,
  // Checked below, because zod would make an error for each of two million wrong ids.
  prompt: z.unknown().optional(),
  max_tokens: z.int().min(0).nullish(),
  best_of: z.int().min(1).max(128).nullish(),
  echo: flag,
  logprobs: z
    .int({ error: "is the number of alternatives here, from 0 to 5" })
    .min(0)
    .max(5, { error: "is at most 5 here; /v1/chat/completions has top_logprobs up to 20" })
    .nullish(),
  parse_special: flag,
  add_special_tokens: flag,
  prediction: prediction.nullish(),
})

/** Fields of chat, and fields that need a specially trained model. */
const refused: RefusedKeys = {
  suffix: [[""], "Write the prompt with the model's own fill-in tokens"],
  messages: [[], "Send messages to /v1/chat/completions"],
  tools: [[[]], "Send tools to /v1/chat/completions"],
  tool_choice: [["none", "auto"], "Send tools to /v1/chat/completions"],
  prompt_logprobs: [[], "Set echo: true and logprobs"],
}

/**
 * Returns the checked request. Throws `Refusal`. The cost is linear in the sizes that the bounds
 * allow.
 */
export function parseCompletion(body: RequestBody): CompletionRequest {
  const read = readFields(body, completionFields, refused)
  const { fields } = read
  const prompts = readPrompts(fields.prompt)
  const n = fields.n ?? 1
  // A beam search always returns the best answers; `best_of` is its width.
  const isSearch = fields.use_beam_search === true
  const bestOf = isSearch ? n : (fields.best_of ?? n)
  const echo = fields.echo ?? false
  const maxTokens = fields.max_tokens ?? null
  const topLogprobs = fields.logprobs ?? null
  checkBest({ n, bestOf, stream: fields.stream ?? false, mode: fields.logprobs_mode ?? "" })
  checkNothing({ maxTokens, echo, count: bestOf })
  if (fields.logprob_token_ids?.length) {
    throw unsupported(
      "logprob_token_ids",
      "is not supported in this form of log-probabilities",
      "Use /v1/chat/completions, or leave it out",
    )
  }
  const judgesPrompt = echo && (topLogprobs !== null || maxTokens === 0)
  const request = generationRequest(body, read, {
    maxTokens,
    prediction: fields.prediction && readPrediction(fields.prediction),
    // Log-probabilities are needed to choose the answers with the highest mean.
    logprobs: topLogprobs ?? (bestOf > n ? 0 : null),
    promptLogprobs: judgesPrompt ? (topLogprobs ?? 0) : null,
    raw: true,
    parseSpecial: fields.parse_special,
    addSpecialTokens: fields.add_special_tokens,
    n: bestOf,
    ...(isSearch && { beamWidth: fields.beam_width ?? fields.best_of }),
  })
  return {
    ...request,
    prompts,
    isList: Array.isArray(fields.prompt) && typeof fields.prompt[0] !== "number",
    ...{ n, bestOf, echo, topLogprobs },
  }
}

function checkBest({
  n,
  bestOf,
  stream,
  mode,
}: {
  n: number
  bestOf: number
  stream: boolean
  mode: string
}) {
  const param = "best_of"
  if (bestOf < n)
    throw invalid(param, `: ${bestOf} answers are fewer than n, ${n}`, "Raise best_of, or lower n")
  if (bestOf === n) return
  if (stream) {
    const what = ": the best answers are known only when all have ended"
    throw invalid(param, what, "Set stream: false, or leave best_of out")
  }
  if (mode.endsWith("logits")) {
    throw new Refusal(
      "invalid_value",
      `best_of compares log-probabilities, and logprobs_mode is ${quote(mode)}`,
      {
        param: "logprobs_mode",
        hint: "Leave it out",
      },
    )
  }
}

/** Throws `Refusal` for a budget of 0 without `echo` or with several answers. */
function checkNothing({
  maxTokens,
  echo,
  count,
}: {
  maxTokens: number | null
  echo: boolean
  count: number
}): void {
  if (maxTokens !== 0 || (echo && count === 1)) return
  const what = echo ? `and ${count} answers are all the same` : "and without echo the reply would be empty"
  throw invalid(
    "max_tokens",
    `: 0 writes nothing, ${what}`,
    echo ? "Set n: 1" : "Set echo: true, or ask for at least one token",
  )
}

/** Returns the prompts of a request. Throws `Refusal` that names the first invalid one. */
function readPrompts(value: unknown): RawPrompt[] {
  if (value === undefined || value === null) throw missing("prompt")
  if (typeof value === "string") return [value]
  if (!Array.isArray(value)) throw noPrompt("prompt", value)
  if (value.length === 0 || typeof value[0] === "number") return [readIds(value, "prompt")]
  checkBound(wholeBounds.prompts, value.length)
  const kind = typeof value[0]
  return value.map((each, index) => {
    const field = `prompt[${index}]`
    if (typeof each !== kind) throw noPrompt(field, each)
    return typeof each === "string" ? each : readIds(each, field)
  })
}

function readIds(value: unknown, field: string): readonly number[] {
  if (!Array.isArray(value)) throw noPrompt(field, value)
  if (value.length === 0) throw invalid(field, ": it has no token", "Send at least one")
  const index = value.findIndex((id) => !Number.isSafeInteger(id) || id < 0)
  if (index < 0) return value
  const param = `${field}[${index}]`
  throw invalid(param, `: ${quote(value[index])} is not a token id, which is a whole number`)
}

function noPrompt(param: string, value: unknown): Refusal {
  return invalid(
    param,
    `: ${quote(value)} is not a prompt`,
    "A prompt is a string or a list of token ids; prompt holds one of them, or a list of one kind",
  )
}
