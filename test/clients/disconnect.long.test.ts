import { connect, type Socket } from "node:net"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../runtime/index.ts"
import { createApp, type RunningServer, serve } from "../../server/index.ts"

let engine: Engine
let server: RunningServer
beforeAll(async () => {
  engine = await open({ device: "cpu" })
  server = await serve(createApp(engine), { port: 0 })
})
afterAll(async () => {
  await server.close()
  await engine.close()
})

const leavers = new Map([3, 7, 8, 12, 19].map((client, i) => [client, 1 + 3 * i]))

/** One streaming client; a leaver closes its connection after so many events, long before the end of its answer. */
async function run(client: number): Promise<{ text: string; finished: boolean }> {
  const controller = new AbortController()
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: engine.model.id,
      messages: [{ role: "user", content: `Count, client ${client}.` }],
      structured_outputs: { regex: `client ${client}: [a-z ]{${leavers.has(client) ? 1200 : 60}}` },
      temperature: 1.5,
      stream: true,
    }),
    signal: controller.signal,
  })
  expect(response.status).toBe(200)
  let source = ""
  const eventCount = () => source.split("\n\n").length - 1
  try {
    for await (const bytes of response.body!) {
      source += new TextDecoder().decode(bytes)
      if (eventCount() >= (leavers.get(client) ?? Number.POSITIVE_INFINITY)) controller.abort()
    }
  } catch (error) {
    expect((error as Error).name).toBe("AbortError")
  }
  const chunks = source.split("\n\n").filter((line) => line.startsWith("data: {"))
  const deltas = chunks.map((line) => JSON.parse(line.slice(6)).choices[0].delta.content ?? "")
  return { text: deltas.join(""), finished: source.endsWith("data: [DONE]\n\n") }
}

test("20 clients stream, 5 hang up: the other 15 finish and the slots come back", {
  timeout: 300_000,
}, async () => {
  const results = await Promise.all(Array.from({ length: 20 }, (_, client) => run(client)))
  for (const [client, { text, finished }] of results.entries()) {
    expect(finished, `client ${client}`).toBe(!leavers.has(client))
    if (finished) expect(text).toMatch(new RegExp(`^client ${client}: [a-z ]{60}$`))
  }
  const load = async () => (await fetch(`${server.url}/load`)).json()
  await expect.poll(load, { timeout: 5000 }).toMatchObject({ running: 0, waiting: 0 })
})

const loadOf = async () => {
  const { running, waiting } = await (await fetch(`${server.url}/load`)).json()
  return running + waiting
}

/** Sends a request on a connection of its own. */
function send(fields: object): Socket {
  const body = JSON.stringify({
    model: engine.model.id,
    messages: [{ role: "user", content: "hi" }],
    ...fields,
  })
  const socket = connect({ port: server.port, host: "127.0.0.1", allowHalfOpen: true })
  socket.on("error", () => {})
  socket.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  )
  return socket
}

const long = { structured_outputs: { regex: "[a-z]{1500}" } }

test.each([
  ["whole", { n: 2, ...long }],
  ["streamed", { n: 2, stream: true, ...long }],
  ["more than there are slots, streamed", { n: 20, stream: true, ...long }],
  ["more than there are slots, whole", { n: 20, ...long }],
])("a client that hangs up gives slots and places in the line back soon: %s", async (_, fields) => {
  const socket = send(fields)
  socket.resume()
  await expect.poll(loadOf, { interval: 10, timeout: 10_000 }).toBe(fields.n)
  socket.destroy()
  await expect.poll(loadOf, { interval: 5, timeout: 5_000 }).toBe(0)
})

test.each([
  ["whole", {}, /"content":"[a-z]{200}"/],
  ["streamed", { stream: true }, /"finish_reason":"stop".*data: \[DONE\]\n\n/s],
])("a client that only shuts down its sending side gets its answer: %s", async (_, fields, answer) => {
  const socket = send({ structured_outputs: { regex: "[a-z]{200}" }, ...fields })
  socket.end()
  let text = ""
  for await (const chunk of socket) text += chunk
  expect(text).toMatch(answer)
  await expect.poll(loadOf).toBe(0)
})

test("streams that nobody reads end, and their events are few", async () => {
  const fields = { stream: true, n: 2, structured_outputs: { regex: "[a-z]{400}" } }
  const sockets = Array.from({ length: 4 }, () => send(fields).pause())
  await expect.poll(loadOf, { interval: 10 }).toBe(8)
  await expect.poll(loadOf, { interval: 100, timeout: 50_000 }).toBe(0)
  const texts = await Promise.all(
    sockets.map(async (socket) => {
      let text = ""
      socket.end()
      for await (const chunk of socket) text += chunk
      return text
    }),
  )
  for (const text of texts) {
    const letters = [...text.matchAll(/"delta":\{"content":"([a-z]*)"\}/g)].map(([, content]) => content)
    expect(letters.join("").length).toBe(800)
    expect(text).toMatch(/data: \[DONE\]\n\n/)
  }
})
