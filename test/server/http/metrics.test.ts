import { readFileSync } from "node:fs"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"
import { createApp } from "../../../server/app.ts"

let engine: Engine
beforeAll(async () => {
  engine = await open({ device: "cpu", slots: 2 })
})
afterAll(() => engine.close())

const chat = (fields: object) => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ model: engine.model.id, messages: [{ role: "user", content: "hi" }], ...fields }),
})

/** Series → value, of what the application says after `count` requests have been counted. */
async function seriesOf(app: ReturnType<typeof createApp>): Promise<Map<string, number>> {
  const response = await app.request("/metrics")
  expect(response.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/)
  const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"))
  return new Map(lines.map((line) => [line.replace(/ \S+$/, ""), Number(/ (\S+)$/.exec(line)?.[1])]))
}

test("requests, refusals and what the engine did are counted; a client makes no series of its own", async () => {
  const app = createApp(engine)
  const before = await seriesOf(app)
  await (
    await app.request("/v1/chat/completions", chat({ structured_outputs: { regex: "[a-f]{12}" } }))
  ).json()
  await (await app.request("/v1/chat/completions", chat({ stream: true, max_tokens: 3 }))).text()
  const bound = {
    structured_outputs: { regex: "[gh]{10,400}" },
    max_tokens: 30,
    tokenrail: { on_length: "close" },
  }
  const [closed] = (await (await app.request("/v1/chat/completions", chat(bound))).json()).choices
  await app.request("/v1/chat/completions", chat({ structured_outputs: { regex: "(" } }))
  await app.request("/v1/chat/completions", chat({ model: "gpt-9" }))
  for (let i = 0; i < 20; i++)
    await app.request(`/nowhere/${i}`, { headers: { "x-request-id": `mine-${i}` } })
  await app.request(`/v1/models/${engine.model.id}`)
  const after = await seriesOf(app)
  const grown = Object.fromEntries(
    [...after].map(([name, value]) => [name, value - (before.get(name) ?? 0)]).filter(([, by]) => by !== 0),
  )
  expect(grown).toMatchObject({
    'tokenrail_requests_total{endpoint="/v1/chat/completions",status="200"}': 3,
    'tokenrail_requests_total{endpoint="/v1/chat/completions",status="400"}': 1,
    'tokenrail_requests_total{endpoint="/v1/chat/completions",status="404"}': 1,
    'tokenrail_requests_total{endpoint="/v1/models/:id",status="200"}': 1,
    'tokenrail_requests_total{endpoint="other",status="404"}': 20,
    'tokenrail_refusals_total{kind="syntax"}': 1,
    'tokenrail_refusals_total{kind="model_not_found"}': 1,
    'tokenrail_refusals_total{kind="unknown_url"}': 20,
    'tokenrail_request_seconds_count{endpoint="/v1/chat/completions"}': 5,
    tokenrail_ttft_seconds_count: 3,
    tokenrail_tpot_seconds_count: 3,
    'tokenrail_compile_seconds_count{input="regex"}': 2,
    ...(closed.stop_reason === "closed" && { tokenrail_closed_total: 1 }),
  })
  for (const name of [
    ...[
      'tokens_total{kind="prompt"}',
      'tokens_total{kind="completion"}',
      'compile_cache_total{result="miss"}',
    ],
    ...["mask_seconds_count", "mask_seconds_sum", "mask_wait_seconds_count"],
  ]) {
    expect(grown[`tokenrail_${name}`], name).toBeGreaterThan(0)
  }
  for (const name of ["queue_depth", "running", "slots", "kv_tokens", "aborts_total"]) {
    expect([...after.keys()]).toContain(`tokenrail_${name}`)
  }
  expect(after.get("tokenrail_states")).toBeGreaterThan(10)
  const text = [...after.keys()].join("\n")
  expect(text).not.toMatch(/nowhere|mine-|gpt-9|\[a-f\]/)
})

test("a histogram's classes hold all below them, the last one all", async () => {
  const app = createApp(engine)
  const series = await seriesOf(app)
  const classes = [...series].filter(([name]) => name.startsWith("tokenrail_ttft_seconds_bucket"))
  const counts = classes.map(([, count]) => count)
  expect(classes.length).toBe(17)
  expect(classes[0][0]).toBe('tokenrail_ttft_seconds_bucket{le="0.001"}')
  expect(counts).toEqual(counts.toSorted((a, b) => a - b))
  expect(series.get('tokenrail_ttft_seconds_bucket{le="+Inf"}')).toBe(
    series.get("tokenrail_ttft_seconds_count"),
  )
})

test("a key is needed unless the metrics are public", async () => {
  const apiKeys = ["secret"]
  expect((await createApp(engine, { apiKeys }).request("/metrics")).status).toBe(401)
  const headers = { authorization: "Bearer secret" }
  expect((await createApp(engine, { apiKeys }).request("/metrics", { headers })).status).toBe(200)
  const open = createApp(engine, { apiKeys, metricsPublic: true })
  expect((await open.request("/metrics")).status).toBe(200)
  expect((await open.request("/v1/models")).status).toBe(401)
})

test("docs/operation.md lists the metrics, all of them", async () => {
  const text = await (await createApp(engine).request("/metrics")).text()
  const served = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
  const listed = [...readFileSync("docs/operation.md", "utf8").matchAll(/^\| `(tokenrail_\w+)`/gm)]
  expect(listed.map(([, name]) => name).sort()).toEqual(served.sort())
})
