/**
 * Mutated bodies on every route that takes one: each is answered, or refused in JSON with a message, within a minute.
 *
 * The same over sockets, with mutated heads besides: `node dist/test/attack/mutants.js`.
 */
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../runtime/index.ts"
import { createApp } from "../../server/app.ts"
import { changed } from "../attack/mutation.ts"
import { among, whole } from "../attack/schemas/generator.ts"
import { type Json, seeds } from "../attack/seeds.ts"
import { randomOf } from "../support/oracle.ts"

let engine: Engine
let app: ReturnType<typeof createApp>
/** A response that is stored, with an item of it. */
let stored: { id: string; item: string }
beforeAll(async () => {
  engine = await open({ device: "cpu", context: 384 })
  app = createApp(engine, { anyModel: true, ollama: true })
  const response = await post("/v1/responses", { model: "m", input: "hi", max_output_tokens: 2 })
  const { id, output } = await response.json()
  stored = { id, item: output[0].id }
})
afterAll(() => engine.close())

function post(path: string, body: Json): Promise<Response> {
  const headers = { "content-type": "application/json" }
  return Promise.resolve(app.request(path, { method: "POST", headers, body: JSON.stringify(body) }))
}

/** What each seed asks of what is stored already. */
function withStored({ path, body }: { path: string; body: Json }, random: () => number): Json {
  if (!path.startsWith("/v1/responses") || random() < 0.5) return body
  const reference: Json = { type: "item_reference", id: stored.item }
  const more: { [key: string]: Json } =
    random() < 0.5
      ? { previous_response_id: stored.id }
      : { input: [reference, { role: "user", content: "and?" }] }
  return { ...(body as { [key: string]: Json }), ...more }
}

/** The answer in time; what does not come is `null`. */
function inTime<T>(answer: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms)
  })
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}

test.each(seeds.map(({ path, body }, i) => [path, i, body] as const))(
  "%s: seed %i is good",
  async (path, _, body) => {
    const response = await post(path, body)
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
  },
)

test("no body makes the server fail: 2,000 mutants are answered or refused with a message", {
  timeout: 600_000,
}, async () => {
  const statuses = new Map<number, number>()
  const count = 2000
  let next = 0
  const attack = async (): Promise<void> => {
    while (next < count) {
      const random = randomOf(next++)
      const seed = among(random, seeds)
      let body = structuredClone(withStored(seed, random))
      for (let steps = 1 + whole(random, 3); steps > 0; steps--) body = changed(random, body)
      const mutant = `${seed.path} ${JSON.stringify(body)}`
      const reply = await inTime(
        post(seed.path, body).then(async (response) => [response, await response.text()] as const),
        60_000,
      )
      if (reply === null) throw new Error(`no answer in a minute: ${mutant}`)
      const [{ status, headers }, text] = reply
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      expect([200, 400, 404], `${mutant}\n${text}`).toContain(status)
      if (status === 200) expect(text, mutant).not.toContain('"server_error"')
      else {
        expect(headers.get("content-type"), mutant).toMatch(/^application\/json/)
        const { error } = JSON.parse(text)
        const message = seed.path.startsWith("/api/") ? error : error.message
        expect(message.length, `${mutant}\n${text}`).toBeGreaterThan(5)
      }
    }
  }
  await Promise.all(Array.from({ length: 4 }, attack))
  // Both sides of the line are met, or nothing was tested.
  expect(statuses.get(200)).toBeGreaterThan(200)
  expect(statuses.get(400)).toBeGreaterThan(400)
  expect(engine.load()).toMatchObject({ running: 0, waiting: 0 })
})
