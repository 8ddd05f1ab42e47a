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
