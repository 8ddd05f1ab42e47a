/**
 * Writes one line of the log for each request: its route, how it ended, and what it took.
 *
 * A line holds nothing of a request's content: no prompt, text, schema or key, and no error
 * message, since messages may repeat them. A logger is any object with these four methods, such as
 * one of pino.
 */
import type { Outcome } from "./exchange.ts"

/** The logger of the application. The fields are JSON values. */
export interface RequestLogger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** Routes that monitoring polls. */
const probes = new Set(["/health", "/ping", "/metrics", "/load", "/version"])

/**
 * Logs failures of the server as errors, 429 and 503 as warnings, and probes that succeed as debug.
 */
export function logOutcome(logger: RequestLogger, outcome: Outcome): void {
  const { requestId, method, endpoint, status, ms, tokens, finish, refusal, isAborted } = outcome
  const fields = {
    ...{ request_id: requestId, method, endpoint, status, ms: Math.round(ms * 10) / 10 },
    ...(tokens && {
      prompt_tokens: tokens.promptTokens,
      cached_tokens: tokens.cachedTokens,
      completion_tokens: tokens.completionTokens,
    }),
    ...(finish.length > 0 && { finish: finish.join(",") }),
    ...(refusal && { refusal: refusal.code }),
    ...(refusal?.kind !== undefined && { kind: refusal.kind }),
    ...(refusal?.fault !== undefined && { fault: refusal.fault }),
    ...(isAborted && { aborted: true }),
  }
  logger[levelOf(outcome)](fields, "request")
}

function levelOf({ status, endpoint, refusal }: Outcome): keyof RequestLogger {
  if (refusal?.code === "server_error") return "error"
  if (refusal?.code === "shutting_down" || status === 429 || status >= 500) return "warn"
  return probes.has(endpoint) && status < 400 ? "debug" : "info"
}
