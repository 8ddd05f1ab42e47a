/**
 * Maps every error to HTTP. Only this file decides the status of an error.
 *
 * The floors below throw errors with kinds and no statuses (GrammarError, SamplingError,
 * RequestError, …); the server throws `Refusal` for errors that it detects itself. All of them get
 * the body that every OpenAI client reads: `{error: {message, type, param, code, kind?, path?,
 * hint?}}`. The message alone must be enough, because some clients show nothing else. Few statuses
 * are used on purpose: clients retry 408, 409, 429 and 5xx, and some of them 415 and 422, so an
 * error that would occur again is a 400.
 */
import { AbortError, GrammarError, ModelError, RequestError, SamplingError } from "../runtime/index.ts"
import { cutMiddle } from "./http/quote.ts"
import { type EndpointWords, fieldNames, overflowTold } from "./overflow.ts"

/**
 * Maximum UTF-16 units of an error's message, of its hint, and of its path. Longer texts lose their
 * middle.
 */
export const maxMessageUnits = 2_000
export const maxPlaceUnits = 256

/** Status of each error code. The type follows from the status. */
export const statuses = {
  invalid_json: 400,
  invalid_value: 400,
  missing_required_parameter: 400,
  unsupported_parameter: 400,
  invalid_json_schema: 400,
  invalid_grammar: 400,
  context_length_exceeded: 400,
  max_tokens_too_small: 400,
  invalid_api_key: 401,
  forbidden: 403,
  model_not_found: 404,
  not_found: 404,
  unknown_url: 404,
  method_not_allowed: 405,
  request_too_large: 413,
  unsupported_encoding: 415,
  upgrade_required: 426,
  queue_full: 429,
  rate_limit_exceeded: 429,
  server_error: 500,
  overloaded: 503,
  model_loading: 503,
  shutting_down: 503,
  engine_dead: 503,
} as const

/** Why a request is refused or failed; each has one HTTP status. */
export type ErrorCode = keyof typeof statuses

/** The body of an unsuccessful reply, which is also the event that ends a stream with an error. */
export interface ErrorBody {
  error: {
    message: string
    type: "invalid_request_error" | "rate_limit_error" | "server_error"
    /** The field of the request, as the caller spelt it. */
    param: string | null
    code: ErrorCode
    /** For a GrammarError: syntax, unsupported, unsatisfiable or limit. */
    kind?: string
    /** For a GrammarError: the path inside the constraint, a JSON pointer for a schema. */
    path?: string
    hint?: string
  }
}

export interface RefusalDetails {
  param?: string
  /** What the caller can do. The message ends with it too. */
  hint?: string
  headers?: Record<string, string>
}

/** A request that the server itself refuses. */
export class Refusal extends Error {
  readonly code: ErrorCode
  /** The message without the hint. */
  readonly fault: string
  readonly details: RefusalDetails

  constructor(code: ErrorCode, fault: string, details: RefusalDetails = {}) {
    super(details.hint ? `${fault}. ${details.hint}` : fault)
    this.name = "Refusal"
    this.code = code
    this.fault = fault
    this.details = details
  }
}

/** Returns the refusal of a wrong value. `what` continues the sentence that its place begins. */
export function invalid(param: string, what: string, hint?: string): Refusal {
  return new Refusal("invalid_value", sentence(param, what), { param, hint })
}

/** Returns the refusal of what is not offered here. `what` continues as in `invalid`. */
export function unsupported(param: string, what: string, hint?: string): Refusal {
  return new Refusal("unsupported_parameter", sentence(param, what), { param, hint })
}

export function missing(param: string, hint?: string): Refusal {
  return new Refusal("missing_required_parameter", `${param} is missing`, { param, hint })
}

function sentence(param: string, what: string): string {
  return what.startsWith(":") ? param + what : `${param} ${what}`
}

/** The origin of a constraint, so that the refusal of a grammar can name the request's field. */
export interface ErrorContext {
  constraint?: { field: string; isSchema: boolean } | null
  /** Whether the request has tools, so that the path of a refusal may point into them. */
  hasTools?: boolean
  /** Maps a path in the tools of a turn to a path in the request, if they differ. */
  toolPath?: (path: string) => string
  /**
   * The field names of the endpoint, and the sentence by which its clients recognise a prompt that
   * is too long.
   */
  words?: EndpointWords
  /** Seconds after which a client may try again if the queue is full. */
  retryAfterSeconds?: number
  /** Receives the error that the client gets, and its cause. */
  noted?: (told: ErrorBody["error"], error: unknown) => void
}

export interface HttpError {
  status: number
  body: ErrorBody
  headers: Record<string, string>
}

/** Returns status, body and headers for any error. Never throws. */
export function toHttpError(error: unknown, context: ErrorContext = {}): HttpError {
  const told = classify(error, context)
  context.noted?.(told.body.error, error)
  return told
}

/** Returns a complete reply for any error. */
export function errorResponse(error: unknown, context?: ErrorContext): Response {
  const { status, body, headers } = toHttpError(error, context)
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", ...headers },
  })
}

function classify(error: unknown, context: ErrorContext): HttpError {
  if (error instanceof Refusal) {
    const { param, hint, headers } = error.details
    return assemble(error.code, error.message, { param, hint, headers }, context)
  }
  if (error instanceof GrammarError) return assembleGrammar(error, context)
  if (error instanceof SamplingError) {
    return assemble("invalid_value", error.message, { param: error.param }, context)
  }
  if (error instanceof RequestError) {
    const code = error.code in statuses ? (error.code as ErrorCode) : "invalid_value"
    const { param = "" } = error
    const { words } = context
    if (words !== undefined && error.overflow !== undefined) {
      const { message, param: field } = overflowTold(error.overflow, words)
      // An item of a list of prompts is named by its index.
      return assemble(code, message, { param: param.startsWith(`${field}[`) ? param : field }, context)
    }
    const own = words && fieldNames(words)[param]
    if (own === undefined) return assemble(code, error.message, { param: error.param }, context)
    return assemble(code, error.message.replaceAll(param, own), { param: own }, context)
  }
  if (error instanceof AbortError) return assemble("server_error", "the request was aborted", {}, context)
  const lack = lackOf(error)
  if (lack !== undefined) return assemble("overloaded", lack, { hint: "Try again later" }, context)
  const message = withoutPaths(error instanceof Error ? error.message : String(error))
  if (error instanceof ModelError) return assemble("server_error", message, {}, context)
  return assemble("server_error", `internal error: ${message}`, {}, context)
}

/**
 * Missing resources by the code of the system's error. Such errors are temporary: neither the
 * request nor the server is at fault.
 */
const lacks: Readonly<Record<string, string>> = {
  EMFILE: "the server has as many files open as it may",
  ENFILE: "the server's machine has as many files open as it can",
  ENOSPC: "the server's disk is full",
  EDQUOT: "the server's disk is full",
  ENOMEM: "the server's machine has no memory left",
}

/**
 * Returns the message of the missing resource, or undefined if none is missing. Also checks the
 * causes of the error.
 */
function lackOf(error: unknown): string | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    const { code } = at as NodeJS.ErrnoException
    if (typeof code === "string" && Object.hasOwn(lacks, code)) return lacks[code]
  }
  return undefined
}

/** Returns a system message without the paths that it quotes, which clients must not see. */
function withoutPaths(message: string): string {
  return message.replace(/(['"])(?:file:\/\/|[A-Za-z]:)?[\\/][^'"]*\1/g, "a file")
}

/**
 * In a request with tools, the path of an error points into the answer's constraint, points into
 * the tools, or is one of these fields of the turn.
 */
const answerPath = "response_format"
const turnFields = ["tool_choice", "max_tool_calls", "parallel_tool_calls", "tools"]

function assembleGrammar({ kind, path, message }: GrammarError, context: ErrorContext): HttpError {
  const { constraint } = context
  if (context.hasTools && turnFields.includes(path)) {
    return assemble("invalid_value", message, { param: path, kind, path: "" }, context)
  }
  const isTool = context.hasTools === true && !path.startsWith(answerPath)
  const field = isTool ? "tools" : constraint?.field
  const place = isTool ? (context.toolPath?.(path) ?? path) : path
  const inner = place.startsWith(answerPath) ? place.slice(answerPath.length) : place
  const said = path === inner ? message : message.replace(path, inner || (field ?? ""))
  const isSchema = isTool ? !/^\/\d+\/custom\//.test(path) : constraint?.isSchema !== false
  const code = isSchema ? "invalid_json_schema" : "invalid_grammar"
  return assemble(code, said, { param: field, kind, path: inner }, context)
}

function assemble(
  code: ErrorCode,
  message: string,
  details: RefusalDetails & { kind?: string; path?: string },
  context: ErrorContext,
): HttpError {
  const status = statuses[code]
  const { param, kind, path, hint } = details
  const type = status === 429 ? "rate_limit_error" : status >= 500 ? "server_error" : "invalid_request_error"
  const error = {
    message: cutMiddle(message, maxMessageUnits),
    type,
    param: param === undefined ? null : cutMiddle(param, maxPlaceUnits),
    code,
    ...(kind !== undefined && { kind }),
    ...(path !== undefined && { path: cutMiddle(path, maxPlaceUnits) }),
    ...(hint !== undefined && { hint: cutMiddle(hint, maxMessageUnits) }),
  } as const
  return { status, body: { error }, headers: { ...retryAdvice(status, context), ...details.headers } }
}

function retryAdvice(status: number, context: ErrorContext): Record<string, string> {
  if (status === 429 || status === 503) return retryHeaders(context.retryAfterSeconds ?? 1)
  return status === 500 ? { "x-should-retry": "false" } : {}
}

/**
 * Returns headers that ask for a retry. LangChain gives up on a 429 without `retry-after`; openai
 * reads the milliseconds first.
 */
export function retryHeaders(waitSeconds: number): Record<string, string> {
  const seconds = Math.max(1, Math.ceil(waitSeconds))
  return { "retry-after": String(seconds), "retry-after-ms": String(seconds * 1000) }
}
