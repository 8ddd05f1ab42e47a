/**
 * The application below a path of Express, Fastify, Hono, Node and route handlers: replies,
 * streams, aborts, bodies that were read.
 */
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import { createRequire } from "node:module"
import { type AddressInfo, connect } from "node:net"
import { gzipSync } from "node:zlib"
import fastify from "fastify"
import { Hono } from "hono"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Engine, open } from "../../runtime/index.ts"
import {
  type App,
  createApp,
  fastifyPlugin,
  nodeListener,
  type RequestAnswer,
  serve,
  underPath,
} from "../../server/index.ts"

/** The part of Express that is used; it has no types of its own. */
interface Express {
  use(...parts: unknown[]): void
  listen(port: number): Server
}
const express: (() => Express) & { json(options?: object): unknown } = createRequire(import.meta.url)(
  "express",
)

let engine: Engine
let app: App
const closers: (() => unknown)[] = []
beforeAll(async () => {
  engine = await open({ device: "cpu", slots: 2, threads: 1 })
  app = createApp(engine)
})
afterAll(async () => {
  for (const close of closers) await close()
  await engine.close()
})

const urlOf = async (server: Server): Promise<string> => {
  if (!server.listening) await once(server, "listening")
  closers.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
const listen = (listener: RequestAnswer) => urlOf(createServer(listener).listen(0))
const withExpress = async (...uses: unknown[][]): Promise<string> => {
  const outer = express()
  for (const use of uses) outer.use(...use)
  return urlOf(outer.listen(0))
}
const keepBytes = (request: { rawBody?: unknown }, _: unknown, bytes: Buffer) => {
  request.rawBody = bytes
}

const places: Record<string, () => Promise<string>> = {
  Express: async () => `${await withExpress(["/llm", nodeListener(app)], [express.json()])}/llm`,
  "Express, behind a parser that keeps the bytes": async () =>
    `${await withExpress([express.json({ verify: keepBytes })], ["/llm", nodeListener(app)])}/llm`,
  Fastify: async () => {
    const outer = fastify({ forceCloseConnections: true })
    await outer.register(fastifyPlugin(app), { prefix: "/llm" })
    closers.push(() => outer.close())
    return `${await outer.listen({ port: 0 })}/llm`
  },
  Hono: async () => {
    const outer = new Hono()
    outer.mount("/llm", app.fetch)
    const { url, close } = await serve(outer, { port: 0 })
    closers.push(() => close({ drainMs: 0 }))
    return `${url}/llm`
  },
  Node: async () => `${await listen(nodeListener(app, "/llm/"))}/llm`,
}

const messages = [{ role: "user", content: "Hi" }]
const ask = (base: string, fields: object, signal?: AbortSignal, schema = "") =>
  fetch(`${base}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: engine.model.id, messages, seed: 1, ...fields }).replace(
      '"SCHEMA"',
      schema,
    ),
    ...(signal && { signal }),
  })
/** Sends the text as it is and returns the status of the reply. */
const statusOf = async (port: number, text: string): Promise<number> => {
  const socket = connect(port, "127.0.0.1")
  socket.end(text)
  let reply = ""
  for await (const piece of socket) reply += piece
  return Number(reply.split(" ")[1])
}

describe.each(Object.entries(places))("%s", (_, place) => {
  test("replies, streams, and an abort of the client that frees its slot", async () => {
    const base = await place()
    expect((await fetch(`${base}/health`)).status).toBe(200)
    expect((await fetch(`${base}/nowhere`)).status).toBe(404)
    // The text of the schema arrives as it is: JSON.parse would move the name 1 to the front.
    const schema =
      '{"properties": {"b": {"const": 1}, "1": {"const": 2}}, "required": ["b", "1"], "type": "object"}'
    const { choices } = await (await ask(base, { guided_json: "SCHEMA" }, undefined, schema)).json()
    expect(choices[0].message.content).toMatch(/^\{\s*"b"/)
    const stream = await ask(base, { stream: true, guided_regex: "[ab]{6}" })
    expect(await stream.text()).toMatch(/^data: [\s\S]*data: \[DONE\]\n\n$/)
    const end = new AbortController()
    const long = await ask(base, { stream: true, ignore_eos: true }, end.signal)
    const reader = long.body!.getReader()
    await reader.read()
    expect(engine.load().running).toBe(1)
    end.abort()
    while (engine.load().running > 0) await new Promise((resolve) => setTimeout(resolve, 5))
  })
})

test.each(["Express", "Fastify", "Node"])(
  "%s: a request needs no Host; an invalid one is 400",
  async (name) => {
    const { pathname, port } = new URL(await places[name]())
    const head = `GET ${pathname}/health HTTP/1.0\r\n`
    expect(await statusOf(Number(port), `${head}\r\n`)).toBe(200)
    expect(await statusOf(Number(port), `${head}Host: a b\r\n\r\n`)).toBe(400)
  },
)

test("a body that was read before is an error that says so and is not retried", async () => {
  const base = await withExpress([express.json()], ["/llm", nodeListener(app)])
  const reply = await ask(`${base}/llm`, {})
  expect([reply.status, reply.headers.get("x-should-retry")]).toEqual([500, "false"])
  const head = "POST /llm/v1/messages HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
  expect(await statusOf(Number(new URL(base).port), `${head}\r\n{}`)).toBe(500)
  expect(await statusOf(Number(new URL(base).port), `${head}Host: a b\r\n\r\n{}`)).toBe(400)
  expect((await reply.json()).error.message).toMatch(
    /read before .* express\.json\(\)\. Mount the application before/,
  )
  const handle = underPath(app, "/api/llm")
  const read = new Request("http://test/api/llm/v1/chat/completions", { method: "POST", body: "{}" })
  await read.text()
  expect((await handle(read)).status).toBe(500)
})

test("a compressed body that the parser has decoded is not decoded again", async () => {
  const bases = await Promise.all([
    places["Express, behind a parser that keeps the bytes"](),
    withExpress([nodeListener(app)]),
  ])
  for (const base of bases) {
    const text = JSON.stringify({ model: engine.model.id, messages, guided_choice: ["yes"] })
    const reply = await fetch(`${base}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", "content-encoding": "gzip" },
      body: gzipSync(text),
    })
    expect((await reply.json()).choices?.[0].message.content).toBe("yes")
  }
})

test("other routes of Fastify keep their parsers", async () => {
  const outer = fastify({ forceCloseConnections: true })
  outer.post("/own", async ({ body }) => body)
  await outer.register(fastifyPlugin(app), { prefix: "/llm" })
  closers.push(() => outer.close())
  const { json } = await outer.inject({ method: "POST", url: "/own", payload: { a: 1 } })
  expect(json()).toEqual({ a: 1 })
})

test("route handlers get requests below their path alone, with body and query", async () => {
  const handle = underPath(app, "/api/llm")
  const post = (path: string) =>
    handle(
      new Request(`http://test${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: engine.model.id, messages, guided_choice: ["yes", "no"] }),
      }),
    )
  const { choices } = await (await post("/api/llm/v1/chat/completions?of=next")).json()
  expect(["yes", "no"]).toContain(choices[0].message.content)
  for (const path of ["/api/llmx/v1/models", "/v1/models", "/"]) expect((await post(path)).status).toBe(404)
  const origin = "http://localhost:3000"
  const preflight = { origin, "access-control-request-method": "POST" }
  const init = { method: "OPTIONS", headers: preflight }
  const allowed = await handle(new Request("http://test/api/llm/v1/chat/completions", init))
  expect([allowed.status, allowed.headers.get("access-control-allow-origin")]).toEqual([204, origin])
  expect(() => underPath(app, "api")).toThrow('path: "api" does not begin with a slash')
  const end = new AbortController()
  end.abort()
  const request = new Request("http://test/api/llm/v1/models", { signal: end.signal })
  expect((await handle(request)).status).toBeGreaterThanOrEqual(200)
})
