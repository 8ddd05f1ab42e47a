import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"
import { type AppOptions, createApp } from "../../../server/app.ts"
import { Exchange } from "../../../server/http/exchange.ts"

let engine: Engine
beforeAll(async () => {
  engine = await open({ device: "cpu", slots: 1, maxWaiting: 1 })
})
afterAll(() => engine.close())

const letters = (count: number, fields: object = {}) => ({
  structured_outputs: { regex: `[a-f]{${count}}` },
  ...fields,
})

/** Posts to one application, as the holder of a key. */
function client(options: AppOptions) {
  const app = createApp(engine, options)
  return async (fields: object, key = "") =>
    app.request("/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: engine.model.id,
        messages: [{ role: "user", content: "hi" }],
        ...fields,
      }),
    })
}

const exchangeOf = (signal?: AbortSignal) =>
  new Exchange(
    new Request("http://x/v1/chat/completions", { method: "POST", ...(signal && { signal }) }),
    "/x",
  )

test("each key has its own bound of requests, and every reply says what is left of it", async () => {
  const post = client({ apiKeys: ["a", "b"], rates: { requests: 2 } })
  const first = await post(letters(2), "a")
  expect(first.status).toBe(200)
  expect(first.headers.get("x-ratelimit-limit-requests")).toBe("2")
  expect(first.headers.get("x-ratelimit-remaining-requests")).toBe("1")
  expect(first.headers.get("x-ratelimit-reset-requests")).toMatch(/^\d\d?s$/)
  expect(first.headers.get("x-ratelimit-limit-tokens")).toBeNull()
  // What is refused for its own fault counts.
  const wrong = await post({ structured_outputs: { regex: "(" } }, "a")
  expect([wrong.status, wrong.headers.get("x-ratelimit-remaining-requests")]).toEqual([400, "0"])
  const refused = await post(letters(2), "a")
  expect([refused.status, (await refused.json()).error]).toEqual([
    429,
    expect.objectContaining({ code: "rate_limit_exceeded", type: "rate_limit_error" }),
  ])
  const [seconds, milliseconds] = ["retry-after", "retry-after-ms"].map((name) =>
    Number(refused.headers.get(name)),
  )
  expect(milliseconds).toBeGreaterThan(0)
  expect(seconds).toBe(Math.ceil(milliseconds / 1000))
  expect(refused.headers.get("x-ratelimit-remaining-requests")).toBe("0")
  expect((await post(letters(2), "b")).status).toBe(200)
  expect((await post(letters(2), "c")).status).toBe(401)
})

test("tokens of prompts and answers count; an answer that passes the bound is whole, the next one waits", async () => {
  const post = client({ rates: { tokens: 20 } })
  const reply = await post(letters(200))
  const { choices, usage } = await reply.json()
  expect(choices[0].message.content).toMatch(/^[a-f]{200}$/)
  expect(usage.total_tokens).toBeGreaterThan(40)
  expect(reply.headers.get("x-ratelimit-remaining-tokens")).toBe("0")
  const refused = await post(letters(1), "another")
  expect([refused.status, (await refused.json()).error.code]).toEqual([429, "rate_limit_exceeded"])
  // Until what it took too much has flown in again, and one more.
  const waitMs = ((usage.total_tokens - 20 + 1) * 60_000) / 20
  expect(Number(refused.headers.get("retry-after-ms"))).toBeLessThanOrEqual(Math.ceil(waitMs))
})

test("tokens of an answer that still streams count already", async () => {
  const post = client({ rates: { tokens: 60 } })
  const stream = await post(letters(400, { stream: true }))
  const reader = stream.body!.getReader()
  let received = 0
  while (received < 80) {
    const { value } = await reader.read()
    received += (new TextDecoder().decode(value).match(/"content":"[a-f]+"/g) ?? []).length
  }
  expect((await post(letters(1))).status).toBe(429)
  await reader.cancel()
})

test("what the server has no room for does not count", async () => {
  const post = client({ rates: { requests: 3 } })
  const replies = await Promise.all(Array.from({ length: 3 }, () => post(letters(40))))
  const full = replies.filter(({ status }) => status === 429)
  expect(full.length).toBe(1)
  expect((await full[0].json()).error.code).toBe("queue_full")
  expect((await post(letters(1))).status).toBe(200)
  const last = await post(letters(1))
  expect([last.status, (await last.json()).error.code]).toEqual([429, "rate_limit_exceeded"])
})

test("requests that generate nothing are not bounded", async () => {
  const app = createApp(engine, { rates: { requests: 1 } })
  for (let i = 0; i < 5; i++) expect((await app.request("/v1/models")).status).toBe(200)
})

test("an exchange ends when what it began has ended", async () => {
  const exchange = exchangeOf()
  const generation = await engine.start("?", { regex: "[a-f]{30}" })
  exchange.follow(generation)
  let isOver = false
  const ended = exchange.ended(200).finally(() => {
    isOver = true
  })
  await new Promise((resolve) => setTimeout(resolve, 1))
  expect(isOver).toBe(false)
  const { completionTokens, promptTokens, cachedTokens } = (await generation.result).usage
  expect(await ended).toMatchObject({
    ...{ status: 200, endpoint: "/x", method: "POST", finish: ["stop"], refusal: null, isAborted: false },
    tokens: { completionTokens, promptTokens, cachedTokens },
  })
})

test("an answer that ends in calls is said to end so", async () => {
  const exchange = exchangeOf()
  const parameters = { type: "object", properties: { a: { enum: [1] } }, required: ["a"] }
  const tools = [{ type: "function", function: { name: "f", parameters } }]
  exchange.follow(await engine.start("?", { tools, toolChoice: "required" }))
  expect((await exchange.ended(200)).finish).toEqual(["tool_calls"])
})

test("a client that has gone is no failure of the server", async () => {
  const controller = new AbortController()
  const exchange = exchangeOf(controller.signal)
  const generation = await engine.start("?", { regex: "[a-f]{300}", signal: controller.signal })
  exchange.follow(generation)
  controller.abort()
  exchange.noted({ message: "", type: "server_error", param: null, code: "shutting_down" }, null)
  expect(await exchange.ended(503)).toMatchObject({
    ...{ status: 499, finish: ["abort"], refusal: null, isAborted: true },
  })
})

test("a stream that is cut behind its status has a refusal", async () => {
  const lost = await open({ device: "cpu", slots: 1 })
  const exchange = exchangeOf()
  exchange.follow(await lost.start("?", { regex: "[a-f]{300}" }))
  const ended = exchange.ended(200)
  await lost.close()
  expect(await ended).toMatchObject({ status: 200, finish: ["abort"], refusal: { code: "shutting_down" } })
})

test("of a failure its name and place are kept, not its message", async () => {
  const exchange = exchangeOf()
  const error = new TypeError("a word of the caller's")
  exchange.noted({ message: "", type: "server_error", param: null, code: "server_error" }, error)
  const { refusal } = await exchange.ended(500)
  expect(refusal?.fault).toMatch(/^TypeError at .*exchange\.test\.ts:\d+/)
  expect(refusal?.fault).not.toContain("word")
})
