/**
 * Odd uses of HTTP and of the connection itself: slow, half-closed, broken, many, and methods and headers that no
 * client sends.
 */
import { connect, type Socket } from "node:net"
import { setTimeout } from "node:timers/promises"
import { type Answer, chatBody, openSocket, rawStatuses, send, sendRaw } from "../requests.ts"
import { type Kinds, outcome, repeat } from "./kind.ts"

const routes = [
  ...["/v1/chat/completions", "/v1/models", "/v1/models/tokenrail-embedded", "/health", "/ping", "/version"],
  ...["/load", "/", "/v1/responses", "/nothing"],
]

const small = { max_tokens: 3 }

/** The text of a request, as it goes over the wire. */
function wire(fields: object, headers: Record<string, string | number> = {}): string {
  const body = chatBody(fields)
  const all = {
    host: "127.0.0.1",
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST /v1/chat/completions HTTP/1.1\r\n${lines.join("")}\r\n${body}`
}

/** Raw exchanges one after the other, as answers. */
async function exchange(
  port: number,
  texts: readonly (string | Uint8Array)[],
  options: { timeoutMs?: number; halfClose?: boolean } = {},
): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const text of texts) {
    const begin = performance.now()
    const reply = await sendRaw(port, text, { timeoutMs: 1_000, ...options })
    answers.push(...rawStatuses(reply).map((status) => outcome(status, begin)))
  }
  return answers
}

/** Holds sockets open for a time, while something is done with each. */
async function hold(
  port: number,
  count: number,
  forMs: number,
  use: (socket: Socket, i: number) => void,
): Promise<void> {
  const sockets = repeat(count, () => openSocket(port))
  for (const [i, socket] of sockets.entries()) socket.once("connect", () => use(socket, i))
  await setTimeout(forMs)
  for (const socket of sockets) socket.destroy()
}

export const socketKinds: Kinds = {
  "half-closed after the request": (port) =>
    exchange(
      port,
      repeat(10, () => wire(small)),
      { halfClose: true },
    ),
  "half-closed in the body": (port) =>
    exchange(
      port,
      repeat(10, (i) => wire(small).slice(0, 60 + 20 * i)),
      { halfClose: true },
    ),
  "slow header": async (port) => {
    const begin = performance.now()
    await hold(port, 50, 4_000, (socket) => {
      const text = wire(small)
      let at = 0
      const timer = setInterval(() => socket.write(text[at++ % text.length]), 100)
      socket.once("close", () => clearInterval(timer))
    })
    return [outcome("left", begin)]
  },
  "slow body": async (port) => {
    const begin = performance.now()
    await hold(port, 50, 4_000, (socket) => {
      const text = wire(small)
      let at = text.indexOf("\r\n\r\n") + 4
      socket.write(text.slice(0, at))
      const timer = setInterval(() => socket.write(text[at++] ?? " "), 100)
      socket.once("close", () => clearInterval(timer))
    })
    return [outcome("left", begin)]
  },
  "connections: 300 idle": async (port) => {
    const begin = performance.now()
    await hold(port, 300, 2_000, () => {})
    return [outcome("left", begin)]
  },
  "connections: 3,000 opened and closed": async (port) => {
    const begin = performance.now()
    for (let i = 0; i < 30; i++) await hold(port, 100, 10, (socket) => socket.resetAndDestroy())
    return [outcome("left", begin)]
  },
  "requests: 400 at once": (port) =>
    Promise.all(repeat(400, () => send(port, { body: chatBody({ max_tokens: 4 }) }))),
  "streams that nobody reads: 20": async (port) => {
    const begin = performance.now()
    const text = wire({ max_tokens: 1_500, ignore_eos: true, stream: true, logprobs: true, top_logprobs: 20 })
    await hold(port, 20, 6_000, (socket) => {
      socket.pause()
      socket.write(text)
    })
    return [outcome("left", begin)]
  },
  "whole answers that nobody reads: 20": async (port) => {
    const begin = performance.now()
    await hold(port, 20, 4_000, (socket) => {
      socket.pause()
      socket.write(wire({ max_tokens: 200, logprobs: true, top_logprobs: 20 }))
    })
    return [outcome("left", begin)]
  },
  "left at every phase": async (port) => {
    const answers: Answer[] = []
    const json = {
      type: "object",
      properties: Object.fromEntries(repeat(3_000, (i) => [`p${i}`, { type: "integer" }])),
    }
    const body = chatBody({ structured_outputs: { json }, max_tokens: 200, stream: true })
    for (const ms of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]) {
      answers.push(await send(port, { body, signal: AbortSignal.timeout(ms) }))
    }
    return answers
  },
  "content-length: too small": (port) =>
    exchange(
      port,
      [5, 0, 100].map((length) => wire(small, { "content-length": length })),
    ),
  "content-length: too large, then gone": (port) =>
    exchange(port, [wire(small, { "content-length": 1_000 })], { timeoutMs: 1_500 }),
  "content-length: no number": (port) =>
    exchange(
      port,
      ["-1", "1e3", "0x10", "18446744073709551617", "5, 5", ""].map((length) =>
        wire(small, { "content-length": length }),
      ),
    ),
  "content-length: claims a terabyte": (port) =>
    exchange(port, [wire(small, { "content-length": 1e12 })], { timeoutMs: 1_500 }),
  "chunks: garbage": (port) => {
    const head =
      "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
    return exchange(port, [
      ...[
        "zz\r\n",
        "-5\r\nhello\r\n",
        "ffffffffffffffff\r\n",
        "5\r\nhello world\r\n0\r\n\r\n",
        "0\r\n\r\n",
      ].map((chunk) => head + chunk),
      `${head}1;${"x".repeat(100_000)}\r\n{\r\n0\r\n\r\n`,
      `${head}0\r\n${repeat(3_000, (i) => `t${i}: x\r\n`).join("")}\r\n`,
    ])
  },
  "chunks: without an end": async (port) => {
    const begin = performance.now()
    await hold(port, 10, 3_000, (socket) => {
      socket.write(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n",
      )
      const timer = setInterval(() => socket.write("1\r\n \r\n".repeat(2_000)), 20)
      socket.once("close", () => clearInterval(timer))
    })
    return [outcome("left", begin)]
  },
  "both length and chunks": (port) => exchange(port, [wire(small, { "transfer-encoding": "chunked" })]),
  "pipelined: 100 chats, 2,000 health checks": async (port) => [
    ...(await exchange(port, [wire(small).repeat(100)], { timeoutMs: 15_000 })),
    ...(await exchange(port, ["GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n".repeat(2_000)], {
      timeoutMs: 3_000,
    })),
  ],
  "methods on every route": async (port) => {
    const answers: Answer[] = []
    for (const path of routes) {
      for (const method of ["HEAD", "OPTIONS", "PUT", "TRACE", "DELETE", "PATCH", "PROPFIND", "QUERY"]) {
        const request = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`
        answers.push(...(await exchange(port, [request])))
      }
    }
    return answers
  },
  "request lines": (port) =>
    exchange(
      port,
      [
        ...["CONNECT 127.0.0.1:80 HTTP/1.1", "GET http://127.0.0.1/health HTTP/1.1", "GET //health HTTP/1.1"],
        ...[
          "GET /health HTTP/1.0",
          "GET /health HTTP/9.9",
          "GET /health",
          "PRI * HTTP/2.0",
          "OPTIONS * HTTP/1.1",
        ],
        ...[
          "GET /%00%ff%zz HTTP/1.1",
          "GET /v1/models/%2e%2e%2f%2e%2e HTTP/1.1",
          "GET /v1/models/%E0%A4%A HTTP/1.1",
        ],
        ...["GET http://[::1 HTTP/1.1", "GET \\health HTTP/1.1", `GET /${"a".repeat(20_000)} HTTP/1.1`],
        ...[
          "GET /health?a=%zz&a[]=1&__proto__=2 HTTP/1.1",
          "GET /../../etc/passwd HTTP/1.1",
          "\u0000\u0001\u0002",
        ],
      ].map((line) => `${line}\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`),
    ),
  "headers: large, many, odd": (port) =>
    exchange(port, [
      wire(small, { "x-large": "h".repeat(100_000), connection: "close" }),
      wire(small, { ...Object.fromEntries(repeat(1_900, (i) => [`h${i}`, i])), connection: "close" }),
      wire(small, { "x-nul": "a\u0000b", connection: "close" }),
      wire(small, { "bad name": "x", connection: "close" }),
      wire(small, { host: "", connection: "close" }),
      wire(small, { host: "evil.example", connection: "close" }),
      wire(small, { host: "[::1", connection: "close" }),
      wire(small, { host: "127.0.0.1/?@x", connection: "close" }),
      wire(small, { host: `${"1.".repeat(3_000)}1`, connection: "close" }),
      wire(small, { origin: "x".repeat(5_000), connection: "close" }),
      wire(small, { origin: "null", connection: "close" }),
      wire(small, { "content-encoding": "gzip", connection: "close" }),
      wire(small, { "content-type": `application/json;${" ;".repeat(5_000)}`, connection: "close" }),
      wire(small, { "x-request-id": "\u00e9\u00ff", connection: "close" }),
      wire(small, { authorization: `Bearer ${" ".repeat(10_000)}`, connection: "close" }),
      wire(small, { expect: "100-continue", connection: "close" }),
      wire(small, { expect: "the impossible", connection: "close" }),
      wire(small, { upgrade: "websocket", connection: "upgrade" }),
      "GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\nhost: 127.0.0.1\r\n\r\n",
      "GET /health HTTP/1.1\r\nconnection: close\r\n\r\n",
    ]),
  "a connection reset in the body": async (port) => {
    const begin = performance.now()
    await Promise.all(
      repeat(40, async (i) => {
        const socket = connect({ host: "127.0.0.1", port })
        socket.on("error", () => {})
        socket.write(wire({ metadata: "x".repeat(200_000) }).slice(0, 100 + 4_000 * i))
        await setTimeout(50)
        socket.resetAndDestroy()
      }),
    )
    return [outcome("left", begin)]
  },
}
