/**
 * The application on a socket.
 *
 * When it is bound to a loopback address, it accepts only local names in the Host header: a web
 * page that makes its own name resolve to 127.0.0.1 (DNS rebinding) is refused. Closing has two
 * steps: first no new connections, then a time in which running answers may finish. Before that,
 * `settled` waits for them while the port stays open.
 *
 * What a connection can cost is bounded: the time of its headers and of its body, the number of
 * connections, and the time for which a reader may take nothing.
 */

import { once } from "node:events"
import { createServer, type Server as HttpServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { getRequestListener } from "@hono/node-server"
import { checkOptions, type Fields } from "../runtime/options.ts"
import { errorResponse, Refusal } from "./errors.ts"
import { isLocalName, isLoopback } from "./http/access.ts"
import { answerHalfClosed } from "./http/halfclosed.ts"
import { gatherPieces } from "./http/pieces.ts"

/** Where a server listens, and what a connection may cost. Every field is optional. */
export interface ServeOptions {
  /** 127.0.0.1 unless given. */
  host?: string
  /** 8080 unless given; 0 takes a free one. */
  port?: number
  /** Host names that pass besides loopback names on a loopback address; `*` lets any pass. */
  allowHosts?: readonly string[]
  /**
   * Milliseconds for which a client may read nothing of its reply before the connection is closed;
   * 0: no bound. Default 5 minutes.
   */
  stallMs?: number
  /** Connections at once, at least 1; further ones are closed. Default 4,096. */
  maxConnections?: number
}

const serveFields = {
  ...{ host: "text", port: "number", allowHosts: "texts", stallMs: "number", maxConnections: "number" },
} as const satisfies Fields<ServeOptions>

/** Longer ones run out at once. */
const maxTimerMs = 2 ** 31 - 1

/**
 * Times in milliseconds. Node's parser answers by itself, in text: 408 if a request is late, 431 if
 * its head is too large.
 */
const connectionLimits = {
  /** A slow head holds only its connection, but connections are limited. */
  headersTimeout: 15_000,
  /** The largest body in this time takes 1.1 Mbit/s. */
  requestTimeout: 120_000,
  maxHeaderSize: 16_384,
  /**
   * Longer than the minute after which proxies usually close idle connections, so that they never
   * send into a closing one.
   */
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
}

/** An application that listens. It answers until `close`. */
export interface RunningServer {
  readonly url: string
  readonly port: number
  /**
   * Resolves to whether the replies that run now end within `maxMs`. The server keeps listening and
   * answering.
   */
  settled(maxMs: number): Promise<boolean>
  /** Stops listening, waits for running replies for at most `drainMs`, then cuts them off. */
  close(options?: { drainMs?: number }): Promise<void>
}

/** The server cannot listen on the address. */
export class ListenError extends Error {
  override readonly name = "ListenError"
}

/**
 * An application as createApp makes it; anything with a `fetch` serves. The chunks of an event
 * stream have to be whole events.
 */
export interface Application {
  fetch(request: Request): Response | Promise<Response>
}

/** Resolves when the socket listens. Throws `ListenError` when it cannot. */
export async function serve(app: Application, options: ServeOptions = {}): Promise<RunningServer> {
  checkOptions(options, serveFields, { aliases: { hostname: "host", allowHost: "allowHosts" } })
  const { host = "127.0.0.1", port = 8080, allowHosts = [] } = options
  const { stallMs = 300_000, maxConnections = 4_096 } = options
  // Some versions of Node take 0 for no bound, others for no connection.
  if (maxConnections < 1) throw new RangeError(`maxConnections: ${maxConnections} is below 1`)
  const checked = isLoopback(host) && !allowHosts.includes("*")
  /** What runs, and with what reply of the application, once that is there. */
  const running = new Map<ServerResponse, Response | undefined>()
  const answer = async (request: Request, { outgoing }: { outgoing: unknown }): Promise<Response> => {
    const name = hostName(request.headers.get("host"))
    if (checked && !isLocalName(name) && !allowHosts.includes(name)) return foreignHost(name)
    const response = writable(await app.fetch(request))
    const socketResponse = outgoing as ServerResponse
    if (running.has(socketResponse)) running.set(socketResponse, response)
    return response
  }
  const listener = getRequestListener(answer, {
    hostname: host,
    // A library must not replace the globals of its process.
    overrideGlobalObjects: false,
    errorHandler: (error) => errorResponse(isNoAddress(error) ? noAddress() : error),
  })
  const server = createServer(connectionLimits, listener)
  server.prependListener("request", (_, response: ServerResponse) => {
    running.set(response, undefined)
    response.once("close", () => running.delete(response))
  })
  server.maxConnections = maxConnections
  gatherPieces(server)
  cutStalled(server, stallMs)
  answerHalfClosed(server, (response) => {
    return /^text\/event-stream/.test(running.get(response)?.headers.get("content-type") ?? "")
  })
  await listen(server, host, port)
  const address = server.address() as AddressInfo
  const authority = address.family === "IPv6" ? `[${address.address}]` : address.address
  return {
    url: `http://${authority}:${address.port}`,
    port: address.port,
    settled: (maxMs) => settled([...running.keys()], maxMs),
    close: (options = {}) => {
      checkOptions(options, { drainMs: "number" })
      return close(server, options.drainMs ?? 0)
    },
  }
}

/**
 * A `fetch` that ends in the application, for clients in the same process. When its signal fires
 * the call rejects with AbortError, and so does the body, as with the global one.
 */
export function createFetch(
  app: Application,
): (input: string | URL | Request, init?: RequestInit) => Promise<Response> {
  return async (input, init) => {
    const request = new Request(input, init)
    // The caller's own signal: a request's signal no longer fires once the request has been
    // collected.
    const signal = init?.signal ?? (input instanceof Request ? input.signal : request.signal)
    signal.throwIfAborted()
    const aborted = new Promise<never>((_, reject) => {
      const abort = (): void => reject(request.signal.reason)
      signal.addEventListener("abort", abort, { once: true })
    })
    const response = await Promise.race([app.fetch(request), aborted])
    aborted.catch(() => {})
    if (response.body === null) return response
    const body = response.body.pipeThrough(new TransformStream(undefined, undefined, { highWaterMark: 0 }), {
      signal,
    })
    return new Response(body, response)
  }
}

function listen(server: HttpServer, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)))
    server.listen(port, host, resolve)
  })
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): ListenError {
  const place = `${host}:${port}`
  switch (error.code) {
    case "EADDRINUSE":
      return new ListenError(
        `${place} is in use by another program. Stop it, or choose another port with --port`,
      )
    case "EACCES":
      return new ListenError(`${place} needs privileges. Choose a port above 1023 with --port`)
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new ListenError(`${host} is no address of this machine. Choose another with --host`)
    default:
      return new ListenError(
        `cannot listen on ${place}: ${error.message}. Choose another with --host and --port`,
      )
  }
}

/** Closes connections whose client reads nothing although there is something to read. */
function cutStalled(server: HttpServer, stallMs: number): void {
  // Also fires while a client waits for the server, which is not bounded.
  server.setTimeout(Math.min(stallMs, maxTimerMs), (socket) => {
    if (socket.writableLength > 0) socket.destroy()
  })
}

async function settled(replies: readonly ServerResponse[], maxMs: number): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, Math.min(maxMs, maxTimerMs), false)
  })
  const ended = Promise.all(replies.map((reply) => once(reply, "close"))).then(() => true)
  const isSettled = await Promise.race([ended, late])
  clearTimeout(timer)
  return isSettled
}

async function close(server: HttpServer, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // A kept-alive connection counts as open after its last reply: sweep, or closing waits for its
  // timeout.
  const sweep = setInterval(() => server.closeIdleConnections(), 25)
  const timer = setTimeout(() => server.closeAllConnections(), drainMs)
  await closed
  clearInterval(sweep)
  clearTimeout(timer)
}

/**
 * Returns the reply, or an error if Node would refuse to write its head: then nothing would end the
 * producer of the body.
 */
function writable(response: Response): Response {
  for (const [name, value] of response.headers) {
    if (/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) continue
    response.body?.cancel().catch(() => {})
    return errorResponse(new Error(`the reply's header ${name} has a character that no header may have`))
  }
  return response
}

/** Host header and request line make no URL, so there is no request either. */
function isNoAddress(error: unknown): boolean {
  return error instanceof Error && error.name === "RequestError"
}

function noAddress(): Refusal {
  const hint = "Send a path, and the name and port of this server as host"
  return new Refusal("invalid_value", "the request line and the host header are no address", { hint })
}

function foreignHost(name: string): Response {
  const message = `host ${JSON.stringify(name)} is not allowed on a loopback address`
  return errorResponse(
    new Refusal("forbidden", message, { hint: "Use 127.0.0.1 or localhost, or start with --allow-host" }),
  )
}

/** `[::1]:8080` → `::1`, `localhost:8080` → `localhost`. */
function hostName(host: string | null): string {
  return (host ?? "")
    .replace(/:\d+$/, "")
    .replace(/^\[(.*)\]$/, "$1")
    .toLowerCase()
}
