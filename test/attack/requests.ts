/**
 * Requests of the attackers. They are bounded in time and never throw: whatever happens is an answer.
 */
import { type IncomingHttpHeaders, request } from "node:http"
import { connect, type Socket } from "node:net"
import { streamError } from "./events.ts"

export interface Answer {
  /** The HTTP status, or why there is none: `timeout`, `ECONNRESET`, `closed`, `left`. */
  status: number | string
  /** Until the status line. */
  headMs: number
  /** Until the end. */
  ms: number
  headers: IncomingHttpHeaders
  text: string
  /** The error event of a stream that had begun. */
  diedOf: string | null
}

export interface SendOptions {
  method?: string
  path?: string
  headers?: Record<string, string | string[]>
  body?: string | Uint8Array
  timeoutMs?: number
  /** Breaks the connection off. */
  signal?: AbortSignal
  /** Breaks the connection off after so many bytes of the reply. */
  leaveAfterBytes?: number
}

const defaultTimeoutMs = 30_000
export const model = "tokenrail-embedded"

/** The body of a chat request: `fields` over small defaults. */
export function chatBody(fields: object): string {
  const messages = [{ role: "user", content: "Write something." }]
  return JSON.stringify({ model, messages, max_tokens: 20, temperature: 1, ...fields })
}

/** One request on a connection of its own. */
export function send(port: number, options: SendOptions = {}): Promise<Answer> {
  const { method = "POST", path = "/v1/chat/completions", body = "", signal, leaveAfterBytes } = options
  const begin = performance.now()
  const answer: Answer = { status: "closed", headMs: 0, ms: 0, headers: {}, text: "", diedOf: null }
  return new Promise((resolve) => {
    let isFinished = false
    const finish = (why?: string) => {
      if (isFinished) return
      isFinished = true
      clearTimeout(timer)
      answer.ms = performance.now() - begin
      if (why !== undefined && typeof answer.status === "string") answer.status = why
      if (why !== undefined && typeof answer.status === "number") answer.status = `${answer.status} ${why}`
      answer.headMs ||= answer.ms
      answer.diedOf = streamError(answer.text)
      resolve(answer)
    }
    const headers = {
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
      ...options.headers,
    }
    const outgoing = request(
      { host: "127.0.0.1", port, method, path, headers, agent: false, signal },
      (response) => {
        answer.status = response.statusCode!
        answer.headMs = performance.now() - begin
        answer.headers = response.headers
        const chunks: Buffer[] = []
        let byteCount = 0
        const end = (why?: string) => {
          answer.text = Buffer.concat(chunks).toString("utf8")
          finish(why)
        }
        response.on("data", (chunk: Buffer) => {
          chunks.push(chunk)
          byteCount += chunk.length
          if (leaveAfterBytes !== undefined && byteCount >= leaveAfterBytes) {
            outgoing.destroy()
            end("left")
          }
        })
        response.on("end", () => end())
        response.on("error", () => end(signal?.aborted ? "left" : "cut"))
      },
    )
    const timer = setTimeout(() => {
      finish("timeout")
      outgoing.destroy()
    }, options.timeoutMs ?? defaultTimeoutMs)
    outgoing.on("error", (error: NodeJS.ErrnoException) => {
      // A server that has refused a long body may close before it has read it: the reply is on its way.
      if (typeof answer.status === "string")
        setTimeout(() => finish(signal?.aborted ? "left" : (error.code ?? error.message)), 200)
    })
    outgoing.end(body)
  })
}

/** Sends a chat request. */
export function chat(port: number, fields: object, options: SendOptions = {}): Promise<Answer> {
  return send(port, { ...options, body: chatBody(fields) })
}

/** Status, code and message of an answer, short enough for a line. */
export function describe({ status, text, diedOf }: Answer): string {
  if (diedOf !== null) return `${status} then error: ${diedOf.slice(0, 200)}`
  const message = /"message":"((?:[^"\\]|\\.){0,200})/.exec(text)?.[1]
  return message === undefined || status === 200 ? String(status) : `${status} ${message}`
}

export interface RawOptions {
  timeoutMs?: number
  /** Ends the writing side after the last byte. */
  halfClose?: boolean
}

/** Writes bytes as they are and reads until the other side closes or the time is over. Never throws. */
export function sendRaw(port: number, bytes: string | Uint8Array, options: RawOptions = {}): Promise<string> {
  return new Promise((resolve) => {
    const socket = openSocket(port)
    const chunks: Buffer[] = []
    const finish = () => {
      clearTimeout(timer)
      socket.destroy()
      resolve(Buffer.concat(chunks).toString("latin1"))
    }
    const timer = setTimeout(finish, options.timeoutMs ?? 2_000)
    socket.on("data", (chunk) => chunks.push(chunk))
    socket.on("end", finish)
    socket.on("close", finish)
    if (options.halfClose) socket.end(bytes)
    else socket.write(bytes)
  })
}

/** A connection whose errors are no concern of anyone's. */
export function openSocket(port: number): Socket {
  const socket = connect({ host: "127.0.0.1", port, allowHalfOpen: true })
  socket.on("error", () => {})
  return socket
}

/** The statuses in what a raw exchange returned, or `closed` if there were none. */
export function rawStatuses(reply: string): (number | string)[] {
  const found = [...reply.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
  return found.length > 0 ? found : ["closed"]
}
