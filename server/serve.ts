/**
 * The application on a socket.
 *
 * Bound to a loopback address it answers only to loopback names in the Host header: a web page that makes its own name
 * resolve to 127.0.0.1 (DNS rebinding) is turned away. Closing is in two steps: no new connections, then a time in which
 * running answers may finish.
 */

import type { Server as HttpServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createAdaptorServer } from "@hono/node-server"
import { isLoopback } from "./access.ts"
import { errorResponse, Refusal } from "./errors.ts"

export interface ServeOptions {
  /** 127.0.0.1 unless given. */
  host?: string
  /** 8080 unless given; 0 takes a free one. */
  port?: number
  /** Host names that pass besides loopback names on a loopback address; `*` lets any pass. */
  allowHosts?: readonly string[]
}

export interface RunningServer {
  readonly url: string
  readonly port: number
  /** Stops listening, waits for running replies for at most `drainMs`, then cuts them off. */
  close(options?: { drainMs?: number }): Promise<void>
}

/** The address cannot be had. */
export class ListenError extends Error {
  override readonly name = "ListenError"
}

/** An application as createApp makes it; anything with a `fetch` serves. */
export interface Application {
  fetch(request: Request): Response | Promise<Response>
}

/** Resolves when the socket listens. Throws `ListenError` when it cannot. */
export async function serve(app: Application, options: ServeOptions = {}): Promise<RunningServer> {
  const { host = "127.0.0.1", port = 8080, allowHosts = [] } = options
  const checked = isLoopback(host) && !allowHosts.includes("*")
  const server = createAdaptorServer({
    hostname: host,
    // A library does not replace the globals of the process that it is loaded into.
    overrideGlobalObjects: false,
    fetch: (request) => {
      const name = hostName(request.headers.get("host"))
      if (checked && !isLoopback(name) && !allowHosts.includes(name)) return foreignHost(name)
      return app.fetch(request)
    },
  }) as HttpServer
  await listen(server, host, port)
  const address = server.address() as AddressInfo
  const authority = address.family === "IPv6" ? `[${address.address}]` : address.address
  return {
    url: `http://${authority}:${address.port}`,
    port: address.port,
    close: ({ drainMs = 0 } = {}) => close(server, drainMs),
  }
}

/**
 * A `fetch` that ends in the application, for clients in the same process. When its signal fires the call rejects with
 * AbortError, and so does the body, as with the global one.
 */
export function createFetch(app: Application): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const { signal } = request
    signal.throwIfAborted()
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason), { once: true })
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

async function close(server: HttpServer, drainMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // A kept-alive connection counts as open after its last reply: sweep, or closing waits for its timeout.
  const sweep = setInterval(() => server.closeIdleConnections(), 25)
  const timer = setTimeout(() => server.closeAllConnections(), drainMs)
  await closed
  clearInterval(sweep)
  clearTimeout(timer)
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
