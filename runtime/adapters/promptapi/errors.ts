/**
 * Errors of the engine as the exceptions that the Prompt API names
 * (https://webmachinelearning.github.io/prompt-api). The engine's error is their `cause`.
 */
import { GrammarError } from "../../../grammar/index.ts"
import { AbortError, IncompleteError, RequestError } from "../../errors.ts"

/** Returns an exception with a name of the platform. */
export function exception(name: string, message: string, cause?: unknown): DOMException {
  const error = new DOMException(message, name)
  return cause === undefined ? error : Object.assign(error, { cause })
}

/** Returns the exception of an input that has more tokens than there is room for. */
export function quotaExceeded(requested: number, quota: number): DOMException {
  const what = `the input has ${requested} tokens, and the context window has room for ${quota}. Shorten it`
  return Object.assign(exception("QuotaExceededError", what), { requested, quota })
}

/** Returns what a call rejects with: the signal's own reason, or the platform's exception. */
export function exceptionOf(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason
  if (error instanceof AbortError) return exception("AbortError", error.message, error)
  if (error instanceof GrammarError) {
    if (error.kind === "syntax") return new TypeError(error.message, { cause: error })
    const name = error.kind === "unsatisfiable" ? "SyntaxError" : "NotSupportedError"
    return exception(name, error.message, error)
  }
  if (error instanceof IncompleteError) return exception("SyntaxError", error.message, error)
  if (!(error instanceof RequestError)) return error
  const { overflow } = error
  if (overflow === undefined) return exception("OperationError", error.message, error)
  const { promptTokens, contextLength, answerTokens = 1 } = overflow
  return quotaExceeded(promptTokens + answerTokens, contextLength)
}
