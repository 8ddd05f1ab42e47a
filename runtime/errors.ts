/**
 * Errors that a caller of the engine may handle, beside `GrammarError` and `SamplingError` of the
 * floors below.
 *
 * `RequestError` and `ModelError` say what is wrong, where, the value, the bound and what to do in
 * the message alone, since many clients show nothing else. The others carry the evidence of an
 * answer that is not usable, so that nothing is lost.
 */

/** Why a request is refused; the server sends the same codes. */
export type RequestErrorCode =
  | "context_length_exceeded"
  | "max_tokens_too_small"
  | "queue_full"
  | "invalid_value"
  | "missing_required_parameter"
  | "unsupported_parameter"
  | "shutting_down"
  | "engine_dead"

/** The numbers of tokens that do not fit into the context together. */
export interface ContextOverflow {
  readonly contextLength: number
  /** Of the prompt; where it is too long to be counted, a lower bound. */
  readonly promptTokens: number
  readonly isCounted: boolean
  /** The budget of the answer, where the prompt alone fits; null where it does not. */
  readonly maxTokens: number | null
  /** Tokens that the answer takes at least, as far as is known. Default: 1. */
  readonly answerTokens?: number
}

/**
 * A request that is refused before its first token. `param` is the wire name of the field, when one
 * is to blame.
 */
export class RequestError extends Error {
  readonly code: RequestErrorCode
  readonly param: string | undefined
  /** Set where the tokens of a request have been held against the context. */
  readonly overflow: ContextOverflow | undefined

  constructor(code: RequestErrorCode, message: string, param?: string, overflow?: ContextOverflow) {
    super(message)
    this.name = "RequestError"
    this.code = code
    this.param = param
    this.overflow = overflow
  }
}

/**
 * A model that cannot be loaded or that failed while running. The message names the file or input
 * and a way out.
 */
export class ModelError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = "ModelError"
  }
}

/** The output ended before the constraint was complete. */
export class IncompleteError extends Error {
  readonly text: string
  readonly finishReason: string

  constructor(text: string, finishReason: string, message: string) {
    super(message)
    this.name = "IncompleteError"
    this.text = text
    this.finishReason = finishReason
  }
}

/** What a schema's own validator has found, and where in the value. */
export interface ValidationIssue {
  readonly message: string
  readonly path?: readonly unknown[]
}

/**
 * The text is what the schema's grammar allows, and the validator beside it still refused the
 * value.
 */
export class ValidationError extends Error {
  readonly text: string
  readonly value: unknown
  readonly issues: readonly ValidationIssue[]

  constructor(text: string, value: unknown, issues: readonly ValidationIssue[]) {
    super(
      `the answer does not pass the schema's validator: ${issues.map((issue) => issue.message).join("; ")}`,
    )
    this.name = "ValidationError"
    this.text = text
    this.value = value
    this.issues = issues
  }
}

/**
 * Returns the error of a function that the caller's signal ended: the reason that the signal was
 * given, as `AbortSignal.timeout` gives one, or the AbortError itself if the signal has no reason
 * of its own.
 */
export function reasonOf(error: unknown): unknown {
  if (!(error instanceof AbortError) || error.cause === undefined) return error
  const { cause } = error
  return (cause as { name?: unknown } | null)?.name === "AbortError" ? error : cause
}

/** The caller's signal ended the request; `text` is what had been written. */
export class AbortError extends Error {
  readonly text: string

  constructor(text = "", options?: ErrorOptions) {
    super("the request was aborted", options)
    this.name = "AbortError"
    this.text = text
  }
}
