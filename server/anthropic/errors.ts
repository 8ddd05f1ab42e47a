/**
 * Errors as Anthropic's clients read them: `{type: "error", error: {type, message}, request_id}`.
 *
 * What goes wrong is the same as elsewhere (../errors.ts), and so are statuses and headers. The
 * type follows from the status. The keys that OpenAI's form has besides stay: clients pass them by,
 * and people read them.
 */
import { type ErrorContext, type HttpError, toHttpError } from "../errors.ts"
import type { EndpointWords } from "../overflow.ts"

/** Error types by status. Every other status from 400 to 499 has `invalid_request_error`. */
const types: Readonly<Record<number, string>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  503: "overloaded_error",
}

/**
 * By refused field: the words by which a client recognises that it should send the same request in
 * another form, which it then does by itself.
 */
const detailsOf: Readonly<Record<string, object>> = {
  thread: { error_code: "thread_unsupported_request" },
}

export const words: EndpointWords = { api: "anthropic", prompt: "messages", maxTokens: "max_tokens" }

export interface MessagesErrorContext extends ErrorContext {
  requestId?: string
}

/** The body of an unsuccessful reply, and of the event that ends a stream with an error. */
export function messagesErrorBody({ status, body }: HttpError, requestId: string | null): object {
  const type = types[status] ?? "invalid_request_error"
  const details = detailsOf[body.error.param ?? ""]
  return { type: "error", error: { ...body.error, type, ...(details && { details }) }, request_id: requestId }
}

/** Every error as a finished reply. Never throws. */
export function messagesErrorResponse(error: unknown, context: MessagesErrorContext = {}): Response {
  const told = toHttpError(error, { toolPath, words, ...context })
  return Response.json(messagesErrorBody(told, context.requestId ?? null), {
    status: told.status,
    headers: told.headers,
  })
}

/**
 * Whether a request belongs to Anthropic's API, whose clients read errors in its form even on
 * unknown paths. Decided by the path, or by the header that these clients always send.
 */
export function isAnthropic({ url, headers }: Request): boolean {
  const path = new URL(url).pathname
  return headers.has("anthropic-version") || path === "/v1/messages" || path.startsWith("/v1/messages/")
}

/** The turn has the schema of a tool where chat has it. */
function toolPath(path: string): string {
  return path.replace(/^(\/\d+)\/function\/parameters/, "$1/input_schema")
}
