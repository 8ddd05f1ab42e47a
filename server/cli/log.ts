/**
 * The log of a server on standard error: lines of text on a terminal, else one JSON object for each
 * line.
 *
 * pino writes the objects. No line holds the content of a request (http/requestlog.ts).
 */
import type { RequestLogger } from "../http/requestlog.ts"
import type { Io } from "./exit.ts"

export const logLevels = ["debug", "info", "warn", "error", "silent"] as const
export type LogLevel = (typeof logLevels)[number]

/** Also accepts lines without fields. */
export interface Log extends RequestLogger {
  info(fields: object | string, message?: string): void
  warn(fields: object | string, message?: string): void
}

export interface LogOptions {
  level: LogLevel
  /** Whether to write JSON on a terminal too. */
  isJson: boolean
}

export async function openLog(
  { level, isJson }: LogOptions,
  io: Pick<Io, "err" | "isTerminal">,
): Promise<Log> {
  const { pino } = await import("pino")
  const isText = io.isTerminal && !isJson
  const options = {
    level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  const write = (line: string): void => io.err(isText ? `${inWords(JSON.parse(line))}\n` : line)
  const log: Log = pino(options, { write })
  return log
}

/**
 * Returns a line like `23:59:59 info POST /v1/chat/completions 200 in 153 ms, 20 + 34 tokens, stop,
 * req_…`.
 */
function inWords({ level, time, msg, ...fields }: Record<string, unknown>): string {
  const head = `${String(time).slice(11, 19)} ${String(level).padEnd(5)}`
  if (fields.endpoint === undefined) return `${head} ${msg}`
  const { method, endpoint, status, ms, request_id, prompt_tokens, completion_tokens } = fields
  const { finish, refusal, kind, fault, aborted } = fields
  const parts = [
    `${method} ${endpoint} ${status} in ${Math.round(Number(ms))} ms`,
    completion_tokens === undefined ? "" : `${prompt_tokens} + ${completion_tokens} tokens`,
    ...[finish, refusal, kind, aborted && "the client has gone", request_id, fault].map((part) => part ?? ""),
  ]
  return `${head} ${parts.filter((part) => part !== "").join(", ")}`
}
