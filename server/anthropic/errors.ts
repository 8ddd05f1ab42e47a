/**
 * Errors as Anthropic's clients read them: `{type: "error", error: {type, message}, request_id}`.
 *
 * Error codes, statuses and headers are those of ../errors.ts; the type follows from the status.
 * The additional keys of OpenAI's form are kept: clients ignore them, and people read them.
 */
import { type ErrorContext, type HttpError, toHttpError } from "../errors.ts"
import type { EndpointWords } from "../overflow.ts"

/** Error types by status. All other statuses from 400 to 499 have `invalid_request_error`. */
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
 * Details by refused field. Clients recognise these words and then repeat the request in another
 * form.
 */
const detailsOf: Readonly<Record<string, object>> = {
  thread: { error_code: "thread_unsupported_request" },
}

export const words: EndpointWords = { api: "anthropic", prompt: "messages", maxTokens: "max_tokens" }

export interface MessagesErrorContext extends ErrorContext {
  requestId?: string
}

/**
 * Returns the body of an unsuccessful reply, which is also the event that ends a stream with an
 * error.
 */
export function messagesErrorBody({ status, body }: HttpError, requestId: string | null): object {
  const type = types[status] ?? "invalid_request_error"
  const details = detailsOf[body.error.param ?? ""]
  return { type: "error", error: { ...body.error, type, ...(details && { details }) }, request_id: requestId }
}

/** Returns a complete reply for any error. Never throws. */
export function messagesErrorResponse(error: unknown, context: MessagesErrorContext = {}): Response {
  const told = toHttpError(error, { toolPath, words, ...context })
  return Response.json(messagesErrorBody(told, context.requestId ?? null), {
    status: told.status,
    headers: told.headers,
  })
}

/**
 * Returns whether a request belongs to Anthropic's API, whose clients expect errors in its form
 * even on unknown paths. Decided by the path, or by the header that these clients always send.
 */
export function isAnthropic({ url, headers }: Request): boolean {
  const path = new URL(url).pathname
  return headers.has("anthropic-version") || path === "/v1/messages" || path.startsWith("/v1/messages/")
}

/** Maps a path in a turn to the request's: the schema of a tool is in another field there. */
function toolPath(path: string): string {
  return path.replace(/^(\/\d+)\/function\/parameters/, "$1/input_schema")
}
