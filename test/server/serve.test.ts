import { request as httpRequest } from "node:http"
import { connect } from "node:net"
import { setTimeout } from "node:timers/promises"
import { afterEach, expect, test } from "vitest"
import { eventStream } from "../../server/http/sse.ts"
import { createFetch, ListenError, type RunningServer, serve } from "../../server/serve.ts"
import { raw } from "../support/rawsocket.ts"

const servers: RunningServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})
async function start(...args: Parameters<typeof serve>): Promise<RunningServer> {
  const server = await serve(...args)
  servers.push(server)
  return server
}
const hello = { fetch: () => new Response("hello") }

function status(port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ port, host: "127.0.0.1", headers: { host } }, (response) => {
      response.resume()
      resolve(response.statusCode!)
    })
    request.on("error", reject).end()
  })
}

test("serves the application and says where", async () => {
  const { url, port } = await start(hello, { port: 0 })
  expect(url).toBe(`http://127.0.0.1:${port}`)
  expect(await (await fetch(url)).text()).toBe("hello")
})

test("a loopback address answers only to loopback names and those it is told", async () => {
  const { port } = await start(hello, { port: 0, allowHosts: ["box.example"] })
  for (const host of ["localhost", "127.0.0.1:1234", "[::1]:80", "app.localhost", "box.example:99"]) {
    expect(await status(port, host), host).toBe(200)
  }
  for (const host of ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8080"]) {
    expect(await status(port, host), host).toBe(403)
  }
})

test("a port in use is an error that names it and the way out", async () => {
  const { port } = await start(hello, { port: 0 })
  const second = serve(hello, { port })
  await expect(second).rejects.toBeInstanceOf(ListenError)
  await expect(second).rejects.toThrow(
    `127.0.0.1:${port} is in use by another program. Stop it, or choose another port with --port`,
  )
})

test("closing lets a running reply finish within its time and cuts it off after", async () => {
  const slow = {
    fetch: () =>
      new Response(
        new ReadableStream({
          async start(controller) {
            controller.enqueue(new TextEncoder().encode("begin "))
            await setTimeout(300)
            controller.enqueue(new TextEncoder().encode("end"))
            controller.close()
          },
        }),
      ),
  }
  const patient = await serve(slow, { port: 0 })
  const finished = await fetch(patient.url)
  await patient.close({ drainMs: 5000 })
  expect(await finished.text()).toBe("begin end")
  await expect(fetch(patient.url)).rejects.toThrow()
  const hasty = await serve(slow, { port: 0 })
  const cut = await fetch(hasty.url)
  await hasty.close({ drainMs: 20 })
  await expect(cut.text()).rejects.toThrow()
})

test("createFetch rejects as the global fetch does when its signal fires", async () => {
  const never = createFetch({ fetch: () => new Promise<Response>(() => {}) })
  const controller = new AbortController()
  const response = never("http://localhost/", { signal: controller.signal })
  controller.abort()
  await expect(response).rejects.toMatchObject({ name: "AbortError" })
  await expect(never("http://localhost/", { signal: AbortSignal.abort() })).rejects.toMatchObject({
    name: "AbortError",
  })
})

test("createFetch ends the body, too, when its signal fires", async () => {
  const endless = new ReadableStream({
    async pull(stream) {
      await setTimeout(1)
      stream.enqueue(new Uint8Array(1))
    },
  })
  const controller = new AbortController()
  const response = await createFetch({ fetch: () => new Response(endless) })("http://localhost/", controller)
  void setTimeout(20).then(() => controller.abort())
  await expect(response.arrayBuffer()).rejects.toMatchObject({ name: "AbortError" })
})

const get = "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"

/** Replies after so long, whole or as a stream that begins at once and sends further events when `next` resolves. */
function slowApp(waitMs: number, seen: string[]) {
  const events = async function* () {
    yield 1
    await setTimeout(waitMs)
    yield 2
  }
  return {
    async fetch(request: Request) {
      request.signal.addEventListener("abort", () => seen.push("aborted"))
      if (request.url.endsWith("/stream")) {
        return eventStream(events(), { describeError: String, cancel: () => seen.push("cancelled") })
      }
      await setTimeout(waitMs)
      return new Response("late")
    },
  }
}

test.each([
  ["whole", get, /^(HTTP\/1.1 100 Continue\r\n\r\n)+HTTP\/1.1 200 OK\r\n.*\r\n\r\nlate$/s],
  ["streamed", get.replace("/", "/stream"), /data: 1\n\n.*data: 2\n\n.*data: \[DONE\]\n\n/s],
])("a client that has shut down its side gets its answer, %s", async (_, text, answer) => {
  const seen: string[] = []
  const { port } = await start(slowApp(400, seen), { port: 0 })
  const { closed } = raw(port, text, { halfClose: true })
  expect(await closed).toMatch(answer)
  expect(seen).toEqual([])
})

test.each([
  ["before a whole answer", get],
  ["before a whole answer of HTTP/1.0", get.replace("1.1", "1.0")],
  ["within a stream", get.replace("/", "/stream")],
])("a client that is gone ends the work for it soon: %s", async (_, text) => {
  const seen: string[] = []
  const { port } = await start(slowApp(5_000, seen), { port: 0 })
  const { socket } = raw(port, text)
  await setTimeout(100)
  socket.destroy()
  await expect.poll(() => seen, { timeout: 1_000, interval: 10 }).toContain("aborted")
})

test("a client that is gone is asked again and again, near ones soon and far ones later", async () => {
  const { port } = await start(slowApp(400, []), { port: 0 })
  const reply = (await raw(port, get, { halfClose: true }).closed) as string
  // At once, after 8, 40 and 200 ms: the reset of the first probe is seen by one of the others, however far it comes from.
  expect(reply.split("100 Continue").length - 1).toBeGreaterThanOrEqual(3)
})

test("a client that takes nothing is cut off after its time, and one that only waits is not", async () => {
  let made = 0
  const seen: string[] = []
  const endless = {
    fetch: () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            made++
            controller.enqueue(new Uint8Array(65_536))
          },
          cancel: () => void seen.push("cancelled"),
        }),
      ),
  }
  const stalled = await start(endless, { port: 0, stallMs: 300 })
  raw(stalled.port, get).socket.pause()
  await expect.poll(() => seen, { timeout: 5_000 }).toEqual(["cancelled"])
  // What the system keeps for a connection, not what could be made meanwhile.
  expect(made).toBeLessThan(400)
  const patient = await start(slowApp(1_000, seen), { port: 0, stallMs: 100 })
  expect(await (await fetch(patient.url)).text()).toBe("late")
})

test("a reply whose head cannot be written is an error, and its body is cancelled", async () => {
  const seen: string[] = []
  const app = {
    fetch: () =>
      new Response(new ReadableStream({ cancel: () => void seen.push("cancelled") }), {
        headers: { "x-name": "a\u0001b" },
      }),
  }
  const { url } = await start(app, { port: 0 })
  const response = await fetch(url)
  expect([response.status, (await response.json()).error.message]).toEqual([
    500,
    "internal error: the reply's header x-name has a character that is not allowed in headers",
  ])
  expect(seen).toEqual(["cancelled"])
})

test("a client gone before the status line ends the body", async () => {
  const seen: string[] = []
  const app = {
    fetch: async () => {
      await setTimeout(300)
      return eventStream(
        (async function* () {
          for (let i = 0; i < 100; i++) {
            yield i
            await setTimeout(20)
          }
        })(),
        { describeError: String, cancel: () => seen.push("cancelled") },
      )
    },
  }
  const { port } = await start(app, { port: 0 })
  const { socket } = raw(port, get)
  await setTimeout(50)
  socket.destroy()
  await expect.poll(() => seen, { timeout: 2_000 }).toEqual(["cancelled"])
})

test("the port stays open while running replies settle", async () => {
  const server = await start(slowApp(300, []), { port: 0 })
  expect(await server.settled(0)).toBe(true)
  const running = fetch(server.url)
  await setTimeout(50)
  expect(await server.settled(20)).toBe(false)
  const settled = server.settled(5_000)
  const later = fetch(server.url)
  expect(await settled).toBe(true)
  expect(await (await running).text()).toBe("late")
  expect(await (await later).text()).toBe("late")
})

test.each(["[::1", "a b", "a/b:x"])("a host header that is no address (%s) is 400 in JSON", async (host) => {
  const server = await serve({ fetch: () => new Response("never") }, { port: 0 })
  const socket = connect({ port: server.port, host: "127.0.0.1" })
  socket.write(`GET /health HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
  let text = ""
  for await (const chunk of socket) text += chunk
  expect(text).toMatch(/^HTTP\/1.1 (400|403)/)
  expect(JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)).error.message).toMatch(/host/)
  await server.close()
})
