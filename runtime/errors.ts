/**
 * Errors that a caller of the engine may handle, in addition to `GrammarError` and `SamplingError`
 * of the lower layers.
 *
 * The messages of `RequestError` and `ModelError` say what is wrong, where, the value, the bound
 * and what to do, since many clients show only the message. The other errors carry the parts of an
 * unusable answer, so that the caller can still read them.
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
  /** Number of tokens of the prompt; a lower bound if the prompt is too long to be counted. */
  readonly promptTokens: number
  readonly isCounted: boolean
  /** The budget of the answer if the prompt alone fits; otherwise null. */
  readonly maxTokens: number | null
  /** The least known number of tokens of the answer. Default: 1. */
  readonly answerTokens?: number
}

/**
 * A request that is refused before its first token. `param` is the field at fault by its wire name,
 * if there is one.
 */
export class RequestError extends Error {
  readonly code: RequestErrorCode
  readonly param: string | undefined
  /** Set if the tokens of a request do not fit into the context. */
  readonly overflow: ContextOverflow | undefined

  constructor(code: RequestErrorCode, message: string, param?: string, overflow?: ContextOverflow) {
    super(message)
    this.name = "RequestError"
    this.code = code
    this.param = param
    this.overflow = overflow
  }
}

/** Returns the refusal of a value: the message is its field, `param`, and `what` is wrong. */
export function wrong(param: string, what: string): RequestError {
  return new RequestError("invalid_value", `${param}: ${what}`, param)
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

/** A problem that a schema's own validator has found, and its path in the value. */
export interface ValidationIssue {
  readonly message: string
  readonly path?: readonly unknown[]
}

/** The text satisfies the schema's grammar, but the schema's own validator refused the value. */
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
 * Returns the error of a function that the caller's signal ended: the signal's reason, such as that
 * of `AbortSignal.timeout`, or the AbortError itself if the signal has no reason of its own.
 */
export function reasonOf(error: unknown): unknown {
  if (!(error instanceof AbortError) || error.cause === undefined) return error
  const { cause } = error
  return (cause as { name?: unknown } | null)?.name === "AbortError" ? error : cause
}

/** The caller's signal ended the request; `text` is the text written until then. */
export class AbortError extends Error {
  readonly text: string

  constructor(text = "", options?: ErrorOptions) {
    super("the request was aborted", options)
    this.name = "AbortError"
    this.text = text
  }
}
