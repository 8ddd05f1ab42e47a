/**
 * Errors as Ollama's clients read them: `{"error": "text"}`.
 *
 * Statuses and headers are those of ../errors.ts.
 */
import { type ErrorContext, type HttpError, toHttpError } from "../errors.ts"

/** Returns the body of an unsuccessful reply, which is also the line that ends a stream. */
export function ollamaErrorBody({ body }: HttpError): { error: string } {
  return { error: body.error.message }
}

/** Returns a complete reply for any error. Never throws. */
export function ollamaErrorResponse(error: unknown, context?: ErrorContext): Response {
  const told = toHttpError(error, context)
  return Response.json(ollamaErrorBody(told), { status: told.status, headers: told.headers })
}

/** Returns whether a request is for a path of Ollama's API. */
export function isOllama({ url }: Request): boolean {
  return new URL(url).pathname.startsWith("/api/")
}
