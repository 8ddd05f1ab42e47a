/**
 * How each token of an answer came about: drawn by the sampler, written because the constraint
 * leaves one text, taken from a draft, or drawn while the budget ends; and what the constraint's
 * mask did to the model's distribution at its place.
 *
 * `firstTokens` makes the first tokens of an answer those of the caller, each within the
 * constraint. Together with a trace this shows what may follow any text.
 */
import { isAllowed } from "../../mask/index.ts"
import type { MaskEffect } from "../../sampler/effect.ts"
import type { SamplingParams } from "../../sampler/index.ts"
import { RequestError, wrong } from "../errors.ts"

/** Maximum number of tokens in each list of a trace. */
const maxTraceTokens = 64
const defaultTraceTokens = 5

/** One token of an answer. */
export interface TokenTrace {
  readonly token: number
  /**
   * `sampled`: drawn. `draft`: drawn, and a draft had proposed it. `forced`: the only text that the
   * constraint allows. `closing`: written after the budget had first forbidden a token (`onLength:
   * "close"`). `given`: one of `firstTokens`.
   */
  readonly kind: "sampled" | "forced" | "draft" | "closing" | "given"
  /** Null for a token that was written without running the model. */
  readonly effect: MaskEffect | null
  /** Microseconds to fill the mask; null if no mask was filled for this token alone. */
  readonly maskUs: number | null
}

/**
 * Returns the number of tokens in each list of a trace; 0 if none is requested. Throws
 * RequestError.
 */
export function readTrace(trace: boolean | number | null | undefined, isSearch: boolean): number {
  if (trace === undefined || trace === null || trace === false) return 0
  if (isSearch) throw wrong("trace", "a beam search draws no tokens, so there is none: leave it out")
  if (trace === true) return defaultTraceTokens
  if (Number.isInteger(trace) && trace >= 1 && trace <= maxTraceTokens) return trace
  throw wrong("trace", `${trace} is not true, false or an integer from 1 to ${maxTraceTokens}`)
}

/** What an answer's first tokens are checked against. `width`: number of the model's tokens. */
interface FirstContext {
  readonly maxTokens: number
  readonly width: number
  readonly params: SamplingParams
  readonly isSearch: boolean
}

/** Returns the checked tokens with which an answer begins. Throws RequestError. */
export function readFirstTokens(
  tokens: readonly number[] | null | undefined,
  { maxTokens, width, params, isSearch }: FirstContext,
): readonly number[] {
  const param = "first_tokens"
  if (tokens === undefined || tokens === null || tokens.length === 0) return []
  if (isSearch) throw wrong(param, "a beam search chooses all tokens: leave it out")
  if (tokens.length > maxTokens) {
    throw wrong(param, `${tokens.length} tokens are more than max_tokens, ${maxTokens}: raise it`)
  }
  if (params.logprobs !== null && params.logprobsMode.startsWith("processed")) {
    throw wrong(param, `tokens that are not drawn have no ${params.logprobsMode}: use raw_logprobs`)
  }
  for (const [index, id] of tokens.entries()) {
    const isToken = Number.isInteger(id) && id >= 0 && id < width
    if (isToken && (params.allowed === null || isAllowed(params.allowed, id))) continue
    const why = isToken
      ? "is not among allowed_token_ids: add it, or leave it out"
      : `is not a token of this model, whose ids end at ${width - 1}`
    throw wrong(param, `[${index}]: ${id} ${why}`)
  }
  return tokens
}

/**
 * The error of a first token that the constraint does not allow at its place. `forced`: the token
 * that it writes there, if it leaves only one text.
 */
export function forbiddenFirst(index: number, token: number, forced?: number): RequestError {
  const what = `first_tokens[${index}]: token ${token} may not come here`
  const message =
    forced === undefined
      ? `${what}: choose one that the constraint allows`
      : `${what}, since the constraint forces token ${forced} here: send that one`
  return new RequestError("invalid_value", message, `first_tokens[${index}]`)
}
