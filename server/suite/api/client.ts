/**
 * Sends requests to a server that may do anything: reply with garbage, never end, or close the
 * connection. Every outcome is a `Reply`; nothing is thrown.
 *
 * A reply is read to its end, at most `maxBytes` of it and for at most `timeoutMs`. A status of
 * 429, or of 503 with `retry-after`, is tried again after the time that the server asks for.
 */
import { type ApiRequest, type JsonObject, type Reply, writeBody } from "./case.ts"

export interface ApiTarget {
  /** Base URL, such as `http://localhost:8080/v1`. */
  readonly url: string
  readonly apiKey?: string
  readonly timeoutMs: number
  /** Point in time, by `performance.now()`, after which no request is sent. */
  readonly deadline: number
  readonly signal: AbortSignal
}

/** Returns why there is no whole reply, or no request, if the user or the time ended the run. */
export function endOfRun({ signal }: ApiTarget, wasSent: boolean): string {
  if (!signal.aborted) return "the time of the run is up"
  return wasSent ? "stopped before the reply had ended" : "not sent (stopped)"
}

/** The most that is read of one reply. */
const maxBytes = 4 * 1024 * 1024
const maxTries = 5
const longestWaitMs = 30_000

/** Sends one request. `defaults` are fields of the body that the request does not set itself. */
export async function send(target: ApiTarget, request: ApiRequest, defaults: JsonObject): Promise<Reply> {
  const { body } = request
  const sent = typeof body === "object" ? writeBody({ ...defaults, ...body }) : (body ?? "")
  for (let tries = 1; ; tries++) {
    const { reply, retryMs } = await sendOnce(target, request, sent)
    const isLast = tries === maxTries || performance.now() + (retryMs ?? 0) > target.deadline
    if (retryMs === null || isLast || target.signal.aborted) return reply
    await pause(retryMs, target.signal)
  }
}

async function sendOnce(
  target: ApiTarget,
  { path, body, headers }: ApiRequest,
  sent: string,
): Promise<{ reply: Reply; retryMs: number | null }> {
  const none = { status: 0, contentType: "", text: "", isUtf8: true, sent }
  const ended = (failure: string) => ({ reply: { ...none, failure }, retryMs: null })
  const runMs = target.deadline - performance.now()
  const leftMs = Math.min(target.timeoutMs, runMs)
  const runOver = (wasSent: boolean) => {
    return { reply: { ...none, failure: endOfRun(target, wasSent), isRunOver: true }, retryMs: null }
  }
  if (leftMs <= 0 || target.signal.aborted) return runOver(false)
  const timeout = AbortSignal.timeout(Math.ceil(leftMs))
  const isRunOver = () => target.signal.aborted || (timeout.aborted && runMs < target.timeoutMs)
  let response: Response
  try {
    response = await fetch(target.url + path, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(target.apiKey !== undefined && { authorization: `Bearer ${target.apiKey}` }),
        ...headers,
      },
      ...(body !== undefined && { body: sent }),
      redirect: "manual",
      signal: AbortSignal.any([timeout, target.signal]),
    })
  } catch (error) {
    if (isRunOver()) return runOver(true)
    return ended(timeout.aborted ? noEnd(leftMs) : describe(error))
  }
  const { bytes, failure } = await readBody(response, () => (timeout.aborted ? noEnd(leftMs) : null))
  if (failure !== null && isRunOver()) return runOver(true)
  const reply = {
    status: response.status,
    contentType: response.headers.get("content-type") ?? "",
    ...decode(bytes),
    failure,
    sent,
  }
  return { reply, retryMs: retryAfter(response) }
}

function noEnd(ms: number): string {
  return `no complete reply within ${(ms / 1000).toFixed(1)} s`
}

/**
 * Reads a body, at most `maxBytes` of it. If its end does not come, `failure` is what `late`
 * returns, else the error.
 */
export async function readBody(
  response: Response,
  late: () => string | null,
): Promise<{ bytes: Uint8Array; failure: string | null }> {
  const parts: Uint8Array[] = []
  let size = 0
  let failure: string | null = null
  const reader = response.body?.getReader()
  try {
    for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
      parts.push(part.value)
      size += part.value.length
      if (size <= maxBytes) continue
      failure = `the reply is longer than ${maxBytes} bytes`
      await reader?.cancel()
      break
    }
  } catch (error) {
    failure = late() ?? describe(error)
  }
  return { bytes: Buffer.concat(parts).subarray(0, maxBytes), failure }
}

function decode(bytes: Uint8Array): { text: string; isUtf8: boolean } {
  const text = new TextDecoder().decode(bytes)
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes)
    return { text, isUtf8: true }
  } catch {
    return { text, isUtf8: false }
  }
}

/** Returns the milliseconds after which the server wants the request again, or null. */
function retryAfter(response: Response): number | null {
  const header = response.headers.get("retry-after")
  if (response.status !== 429 && !(response.status === 503 && header !== null)) return null
  const seconds = Number(header ?? 1)
  const ms = Number.isFinite(seconds) ? 1000 * seconds : Date.parse(header ?? "") - Date.now()
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 100), longestWaitMs) : 1000
}

/** Returns the message of a failed request and its cause. */
export function describe(error: unknown): string {
  const { message, cause } = error as Error
  const { code, message: reason } = (cause ?? {}) as { code?: string; message?: string }
  return reason ? `${message}: ${reason}` : code ? `${message}: ${code}` : message
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener("abort", end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener("abort", end)
  })
}
