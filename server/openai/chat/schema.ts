/**
 * The fields of `POST /v1/chat/completions`: from a JSON object to a checked request.
 *
 * The fields that chat shares with the other endpoints are in request/fields.ts, and the fields of
 * a message in request/messages.ts.
 */
import { z } from "zod"
import type { Message } from "../../../runtime/index.ts"
import { invalid } from "../../errors.ts"
import type { RequestBody } from "../../http/body.ts"
import {
  count,
  flag,
  type GenerationRequest,
  generationFields,
  generationRequest,
  readFields,
} from "../request/fields.ts"
import type { LeftOut } from "../request/leftout.ts"
import { message, prediction, readPrediction, toMessages } from "../request/messages.ts"
import { checkTemplateKwargs, templateOptionsOf } from "../request/templatekwargs.ts"
import { readTools } from "../request/tools.ts"

export interface ChatRequest extends GenerationRequest {
  messages: Message[]
  /** Number of alternatives in each row, or null for a reply without log-probabilities. */
  topLogprobs: number | null
  /** Whether the reply holds the thoughts that precede the answer. */
  showsReasoning: boolean
  /** The name of the field with the request's budget. */
  maxTokensField: "max_tokens" | "max_completion_tokens"
}

/** Values of `reasoning_effort`. */
export const efforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const

/** The fields of a request. */
export const chatFields = z.object({
  ...generationFields,
  messages: z.array(message).min(1),
  max_completion_tokens: count,
  max_tokens: count,
  prediction: prediction.nullish(),
  logprobs: flag,
  top_logprobs: z.int().min(0).max(20).nullish(),
  reasoning_effort: z.enum(efforts).nullish(),
  thinking_token_budget: z.int().min(0).nullish(),
  include_reasoning: flag,
  // Read by tools.ts.
  tools: z.unknown().optional(),
  tool_choice: z.unknown().optional(),
  parallel_tool_calls: flag,
  max_tool_calls: count,
  chat_template_kwargs: z.record(z.string(), z.unknown()).nullish(),
})

/**
 * Returns the checked request. Throws `Refusal`. The cost is linear in the sizes that the bounds
 * allow.
 */
export function parseChat(body: RequestBody): ChatRequest {
  const read = readFields(body, chatFields)
  const { fields } = read
  // zod omits a key named `__proto__`, so the original object is checked.
  checkTemplateKwargs(body.value.chat_template_kwargs ?? {})
  if (fields.top_logprobs != null && !fields.logprobs) throw invalid("top_logprobs", "needs logprobs: true")
  if (fields.logprob_token_ids?.length && !fields.logprobs) {
    const param = "logprob_token_ids"
    throw invalid(param, "needs logprobs: true")
  }
  const topLogprobs = fields.logprobs ? (fields.top_logprobs ?? 0) : null
  const leftOut: LeftOut[] = []
  const own = {
    maxTokens: fields.max_completion_tokens ?? fields.max_tokens,
    prediction: fields.prediction && readPrediction(fields.prediction),
    logprobs: topLogprobs,
    ...readTools(body, leftOut),
    reasoningEffort: fields.reasoning_effort,
    thinkingTokenBudget: fields.thinking_token_budget,
    ...templateOptionsOf(fields.chat_template_kwargs),
  }
  return {
    ...generationRequest(body, read, own, leftOut),
    messages: toMessages(fields.messages),
    topLogprobs,
    showsReasoning: fields.include_reasoning ?? true,
    maxTokensField: fields.max_completion_tokens == null ? "max_tokens" : "max_completion_tokens",
  }
}
