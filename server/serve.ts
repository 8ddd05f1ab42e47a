/**
 * Runs the application on a socket.
 *
 * If the server is bound to a loopback address, it accepts only local names in the Host header, so
 * that it refuses a web page whose own name resolves to 127.0.0.1 (DNS rebinding). Closing has two
 * steps: first new connections are refused, then running answers may finish within a time limit.
 * Before that, `settled` waits for them while the port stays open.
 *
 * The cost of a connection is bounded: the time for its headers and its body, the number of
 * connections, and the time for which a client may read nothing.
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

/** The address of a server, and bounds on a connection's cost. Every field is optional. */
export interface ServeOptions {
  /** Default 127.0.0.1. */
  host?: string
  /** Default 8080; 0 chooses a free port. */
  port?: number
  /** Accepted host names, in addition to loopback names on a loopback address; `*` accepts all. */
  allowHosts?: readonly string[]
  /**
   * Milliseconds for which a client may read nothing of its reply before the connection is closed;
   * 0 means no bound. Default 5 minutes.
   */
  stallMs?: number
  /** Maximum number of connections, at least 1; further ones are closed. Default 4,096. */
  maxConnections?: number
}

const serveFields = {
  ...{ host: "text", port: "number", allowHosts: "texts", stallMs: "number", maxConnections: "number" },
} as const satisfies Fields<ServeOptions>

/** Longer timers fire at once. */
const maxTimerMs = 2 ** 31 - 1

/**
 * Times in milliseconds. Node's parser itself sends two replies as text: 408 if a request is late,
 * 431 if its head is too large.
 */
const connectionLimits = {
  /** A slow head costs only its connection, but the number of connections is limited. */
  headersTimeout: 15_000,
  /** The largest body needs 1.1 Mbit/s to arrive in this time. */
  requestTimeout: 120_000,
  maxHeaderSize: 16_384,
  /**
   * Longer than the minute after which proxies usually close idle connections, so that a proxy
   * never sends on a connection that this server closes.
   */
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5_000,
}

/** A listening server. It answers until `close`. */
export interface RunningServer {
  readonly url: string
  readonly port: number
  /**
   * Resolves to whether the replies that are running now end within `maxMs`. The server keeps
   * listening and answering.
   */
  settled(maxMs: number): Promise<boolean>
  /** Stops listening, waits for running replies for at most `drainMs`, then aborts them. */
  close(options?: { drainMs?: number }): Promise<void>
}

/** Thrown if the server cannot listen on the address. */
export class ListenError extends Error {
  override readonly name = "ListenError"
}

/**
 * The part of an application that `serve` uses; any object with a `fetch` will do. Each chunk of an
 * event stream must consist of whole events.
 */
export interface Application {
  fetch(request: Request): Response | Promise<Response>
}

/** Resolves when the socket listens. Throws `ListenError` if it cannot. */
export async function serve(app: Application, options: ServeOptions = {}): Promise<RunningServer> {
  checkOptions(options, serveFields, { aliases: { hostname: "host", allowHost: "allowHosts" } })
  const { host = "127.0.0.1", port = 8080, allowHosts = [] } = options
  const { stallMs = 300_000, maxConnections = 4_096 } = options
  // 0 means no bound in some versions of Node and no connection in others.
  if (maxConnections < 1) throw new RangeError(`maxConnections: ${maxConnections} is below 1`)
  const checked = isLoopback(host) && !allowHosts.includes("*")
  /** The running replies of Node, with the reply of the application once that exists. */
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
    errorHandler: listenerErrorResponse,
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
 * Returns a `fetch` that calls the application, for clients in the same process. When its signal
 * fires, the call rejects with AbortError, and so does the body, as with the global one.
 */
export function createFetch(
  app: Application,
): (input: string | URL | Request, init?: RequestInit) => Promise<Response> {
  return async (input, init) => {
    const request = new Request(input, init)
    // The caller's own signal is used, because the signal of a request does not fire after the
    // request has been garbage collected.
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
      return new ListenError(`${host} is not an address of this machine. Choose another with --host`)
    default:
      return new ListenError(
        `cannot listen on ${place}: ${error.message}. Choose another with --host and --port`,
      )
  }
}

/** Closes connections whose client does not read although there is data to read. */
function cutStalled(server: HttpServer, stallMs: number): void {
  // The timeout also fires while a client waits for the server, which is not bounded.
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
  // A keep-alive connection counts as open after its last reply. Without this sweep, closing would
  // wait for its timeout.
  const sweep = setInterval(() => server.closeIdleConnections(), 25)
  const timer = setTimeout(() => server.closeAllConnections(), drainMs)
  await closed
  clearInterval(sweep)
  clearTimeout(timer)
}

/**
 * Returns the reply, or an error reply if Node would refuse to write its head: then nothing would
 * end the producer of the body.
 */
function writable(response: Response): Response {
  for (const [name, value] of response.headers) {
    if (/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) continue
    response.body?.cancel().catch(() => {})
    return errorResponse(
      new Error(`the reply's header ${name} has a character that is not allowed in headers`),
    )
  }
  return response
}

/**
 * Returns the reply to an error outside of the application. A call whose Host header and request
 * line do not form a URL has no Request, and its error is the client's.
 */
export function listenerErrorResponse(error: unknown): Response {
  const isNoAddress = error instanceof Error && error.name === "RequestError"
  return errorResponse(isNoAddress ? noAddress() : error)
}

function noAddress(): Refusal {
  const hint = "Send a path, and the name and port of this server as host"
  return new Refusal("invalid_value", "the request line and the host header do not form a URL", { hint })
}

function foreignHost(name: string): Response {
  const message = `host ${JSON.stringify(name)} is not allowed on a loopback address`
  return errorResponse(
    new Refusal("forbidden", message, { hint: "Use 127.0.0.1 or localhost, or start with --allow-host" }),
  )
}

/** Returns the name without the port: `[::1]:8080` → `::1`, `localhost:8080` → `localhost`. */
function hostName(host: string | null): string {
  return (host ?? "")
    .replace(/:\d+$/, "")
    .replace(/^\[(.*)\]$/, "$1")
    .toLowerCase()
}
