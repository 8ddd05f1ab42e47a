/**
 * Errors as Anthropic's clients read them: `{type: "error", error: {type, message}, request_id}`.
 *
 * What goes wrong is the same as elsewhere (../errors.ts), and so are statuses and headers. The
 * type follows from the status. The keys that OpenAI's form has besides stay: clients pass them by,
 * and people read them.
 */
import { type ErrorContext, type HttpError, toHttpError } from "../errors.ts"
import type { EndpointWords } from "../overflow.ts"

/** By status; every other one of 400 to 499 is `invalid_request_error`. */
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
 * By the field that is refused: what tells the client to send the same request in another way,
 * which it does by itself.
 */
const detailsOf: Readonly<Record<string, object>> = {
  thread: { error_code: "thread_unsupported_request" },
}

export const words: EndpointWords = { api: "anthropic", prompt: "messages", maxTokens: "max_tokens" }

export interface MessagesErrorContext extends ErrorContext {
  requestId?: string
}

/** The body of a reply that is no success, and of the event that ends a stream by an error. */
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
 * Whether a request is one of Anthropic's API, whose clients read errors in its form, also where
 * nothing is: by its path, or by the header that they send everywhere.
 */
export function isAnthropic({ url, headers }: Request): boolean {
  const path = new URL(url).pathname
  return headers.has("anthropic-version") || path === "/v1/messages" || path.startsWith("/v1/messages/")
}

/** The turn has the schema of a tool where chat has it. */
function toolPath(path: string): string {
  return path.replace(/^(\/\d+)\/function\/parameters/, "$1/input_schema")
}
