import { readFileSync } from "node:fs"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../runtime/index.ts"
import { type AppOptions, createApp } from "../../server/app.ts"
import { killModel } from "../support/killmodel.ts"

let engine: Engine
beforeAll(async () => {
  engine = await open({ device: "cpu", slots: 1, maxWaiting: 1 })
})
afterAll(() => engine.close())

const request = (path: string, init?: RequestInit, options?: AppOptions) =>
  createApp(engine, options).request(path, init)
const chat = (fields: object, headers: Record<string, string> = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify({ model: engine.model.id, messages: [{ role: "user", content: "hi" }], ...fields }),
})

test("health, ping, version and load", async () => {
  expect(await (await request("/health")).json()).toEqual({ status: "ok" })
  expect((await request("/ping")).status).toBe(200)
  const { version } = JSON.parse(readFileSync("package.json", "utf8"))
  expect(await (await request("/version")).json()).toEqual({ version })
  const kv = { used: 0, size: engine.model.contextLength }
  expect(await (await request("/load")).json()).toEqual({ running: 0, waiting: 0, slots: 1, kv })
})

test("what there is to know of the tokenizer", async () => {
  const info = await (await request("/tokenizer_info")).json()
  const { tokenCount, width, endIds } = engine.model
  expect(info).toMatchObject({ vocab_size: tokenCount, width, eos: [...endIds] })
  expect(Object.values(info.special_tokens)).toContain(endIds[0])
  expect(info.chat_template).toContain("messages")
  expect(info).toMatchObject({
    ...{ eos_token: "<|im_end|>", pad_token: "<|endoftext|>" },
    ...{ bos_token: null, unk_token: null, sep_token: null, cls_token: null, mask_token: null },
  })
})

test("an engine whose model is lost loads it again: health says so, and requests wait; lost twice it is dead", async () => {
  const lost = await open({ device: "cpu", slots: 1 })
  const app = createApp(lost)
  const health = async () => {
    const response = await app.request("/health")
    return [response.status, await response.json()]
  }
  await killModel(lost)
  expect(await health()).toEqual([503, { status: "loading" }])
  const waited = await app.request("/v1/chat/completions", chat({ max_tokens: 2 }))
  expect(waited.status).toBe(200)
  expect(await health()).toEqual([200, { status: "ok" }])
  await killModel(lost)
  expect(await health()).toEqual([503, { status: "dead" }])
  const response = await app.request("/v1/chat/completions", chat({}))
  expect([response.status, (await response.json()).error.code]).toEqual([503, "engine_dead"])
  expect(response.headers.get("retry-after")).toMatch(/^[1-9]/)
  await lost.close()
})

test("models: the loaded one and its aliases; another name is 404", async () => {
  const options = { aliases: ["gpt-4o", "a/b"] }
  const { object, data } = await (await request("/v1/models", {}, options)).json()
  expect([object, data.map(({ id }: { id: string }) => id)]).toEqual([
    "list",
    [engine.model.id, "gpt-4o", "a/b"],
  ])
  const model = await (await request("/v1/models/a/b", {}, options)).json()
  expect(model).toMatchObject({
    id: "a/b",
    object: "model",
    root: engine.model.id,
    max_model_len: engine.model.contextLength,
  })
  const missing = await request("/v1/models/gpt-9")
  expect([missing.status, (await missing.json()).error.code]).toEqual([404, "model_not_found"])
  const any = await request(
    "/v1/chat/completions",
    chat({ model: "gpt-9", structured_outputs: { choice: ["a"] } }),
    { anyModel: true },
  )
  expect(any.status).toBe(200)
})

test.each([
  ["GET", "/v1/chat/completions", 405, "method_not_allowed"],
  ["DELETE", "/v1/models", 405, "method_not_allowed"],
  ["POST", "/v1/embeddings", 404, "unknown_url"],
  ["GET", "/nowhere", 404, "unknown_url"],
  ["POST", "/v1/responses/compact", 404, "unknown_url"],
  ["GET", "/v1/responses/compact/cancel", 404, "unknown_url"],
  ["POST", "/v1/responses/resp_1", 405, "method_not_allowed"],
  ["POST", "/v1/models/tokenrail-embedded", 405, "method_not_allowed"],
  ["POST", "/v1/models/other", 404, "unknown_url"],
])("%s %s is %i in JSON", async (method, path, status, code) => {
  const response = await request(path, { method })
  expect(response.headers.get("content-type")).toMatch(/^application\/json/)
  expect([response.status, (await response.json()).error.code]).toEqual([status, code])
  if (status === 405) expect(response.headers.get("allow")).toMatch(/^(GET|POST|GET, DELETE)$/)
})

test("who asks for a socket is told to go on without one", async () => {
  const response = await request("/v1/responses", {
    headers: { connection: "upgrade", upgrade: "websocket" },
  })
  expect([response.status, (await response.json()).error.code]).toEqual([426, "upgrade_required"])
  expect(response.headers.get("allow")).toBe("POST")
})

test.each(["/", "/health", "/v1/models"])("HEAD %s is 200 without a body", async (path) => {
  const response = await request(path, { method: "HEAD" })
  expect([response.status, await response.text()]).toEqual([200, ""])
})

test("the root needs no key", async () => {
  expect((await request("/", { method: "HEAD" }, { apiKeys: ["k"] })).status).toBe(200)
})

test("a client of Anthropic's reads models and errors in its form", async () => {
  const options = { aliases: ["a/b", "c"] }
  const ask = async (path: string) => {
    const response = await request(path, { headers: { "anthropic-version": "2023-06-01" } }, options)
    return { status: response.status, body: await response.json() }
  }
  const { id } = engine.model
  const model = (name: string) => ({
    type: "model",
    id: name,
    display_name: name,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
    max_input_tokens: engine.model.contextLength,
    max_tokens: engine.model.contextLength,
    capabilities: null,
  })
  const page = (names: string[], has_more: boolean) => ({
    data: names.map(model),
    has_more,
    first_id: names[0] ?? null,
    last_id: names.at(-1) ?? null,
  })
  expect((await ask("/v1/models")).body).toEqual(page([id, "a/b", "c"], false))
  expect((await ask("/v1/models?limit=2")).body).toEqual(page([id, "a/b"], true))
  expect((await ask("/v1/models?limit=2&after_id=a%2Fb")).body).toEqual(page(["c"], false))
  expect((await ask("/v1/models?limit=1&before_id=c")).body).toEqual(page(["a/b"], true))
  expect((await ask("/v1/models?after_id=c")).body).toEqual(page([], false))
  expect((await ask("/v1/models/a/b")).body).toEqual(model("a/b"))
  for (const [path, status, type] of [
    ["/v1/models/other", 404, "not_found_error"],
    ["/v1/models?limit=0", 400, "invalid_request_error"],
    ["/v1/models?after_id=other", 400, "invalid_request_error"],
    ["/v1/nowhere", 404, "not_found_error"],
  ] as const) {
    const { status: told, body } = await ask(path)
    expect([told, body.type, body.error.type]).toEqual([status, "error", type])
  }
})

test.each([
  ["broken JSON", '{"model": ', 400, "invalid_json", "application/json"],
  ["another content type", "{}", 400, "invalid_json", "text/plain"],
  ["a large body", `{"x": "${"x".repeat(2000)}"}`, 413, "request_too_large", "application/json"],
  ["a deep body", "[".repeat(600), 400, "invalid_json", "application/json"],
])("%s is refused", async (_, body, status, code, type) => {
  const init = { method: "POST", body, headers: { "content-type": type } }
  const response = await request("/v1/chat/completions", init, { bodyLimits: { maxBytes: 1000 } })
  expect([response.status, (await response.json()).error.code]).toEqual([status, code])
})

test("every reply has an id: the caller's when it is usable", async () => {
  expect((await request("/health")).headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{32}$/)
  const own = await request("/nowhere", { headers: { "x-request-id": "mine-7" } })
  expect(own.headers.get("x-request-id")).toBe("mine-7")
  const long = await request("/health", { headers: { "x-request-id": "x".repeat(129) } })
  expect(long.headers.get("x-request-id")).toMatch(/^req_/)
  expect(own.headers.get("openai-processing-ms")).toMatch(/^\d+$/)
})

test("a key is demanded of all but health checks", async () => {
  const options = { apiKeys: ["secret", "other"] }
  const without = await request("/v1/models", {}, options)
  expect([without.status, (await without.json()).error.code]).toEqual([401, "invalid_api_key"])
  expect(without.headers.get("www-authenticate")).toBe("Bearer")
  const get = (key: string) => request("/v1/models", { headers: { authorization: `Bearer ${key}` } }, options)
  expect((await get("wrong")).status).toBe(401)
  expect((await get("secre")).status).toBe(401)
  expect((await get("other")).status).toBe(200)
  expect((await request("/health", {}, options)).status).toBe(200)
})

test("an empty key among those demanded is an error, not a way in", () => {
  for (const apiKeys of [[""], ["secret", " "]])
    expect(() => createApp(engine, { apiKeys })).toThrow(RangeError)
})

test("while draining new work is turned away, with a time", async () => {
  const options: AppOptions = { status: () => "draining" }
  const response = await request("/v1/chat/completions", chat({}), options)
  expect([response.status, (await response.json()).error.code]).toEqual([503, "shutting_down"])
  const health = await request("/health", {}, options)
  expect([health.status, await health.json()]).toEqual([503, { status: "draining" }])
  for (const { headers } of [response, health]) {
    expect([headers.get("retry-after"), headers.get("retry-after-ms")]).toEqual(["1", "1000"])
  }
})

test("a full line is 429 with both retry headers, and the accepted requests finish", async () => {
  const app = createApp(engine)
  const long = chat({ structured_outputs: { regex: "[a-z]{200}" } })
  const responses = await Promise.all(
    Array.from({ length: 4 }, () => app.request("/v1/chat/completions", long)),
  )
  const refused = responses.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThanOrEqual(1)
  expect(responses.filter(({ status }) => status === 200).length).toBe(4 - refused.length)
  for (const response of refused) {
    expect(response.headers.get("retry-after")).toMatch(/^[1-9]\d*$/)
    expect(response.headers.get("retry-after-ms")).toMatch(/^\d+000$/)
    expect((await response.json()).error).toMatchObject({ code: "queue_full", type: "rate_limit_error" })
  }
})

test("what a request says comes back short, wherever it is repeated", async () => {
  const long = "x".repeat(12_000)
  const responses = [
    await request(`/${long}`),
    await request(`/v1/models/${long}`),
    await request("/v1/chat/completions", { method: "POST", headers: { "content-type": long }, body: "{}" }),
    await request("/v1/chat/completions", chat({ response_format: { type: long } })),
    await request("/v1/chat/completions", chat({ [`guided_${long}`]: 1 })),
    await request("/v1/chat/completions", chat({ structured_outputs: { [long]: 1 } })),
    await request("/v1/chat/completions", chat({ guided_json: { [long]: 1, type: long } })),
    await request("/v1/chat/completions", chat({ tokenrail: { [long]: 1, whitespace: long } })),
  ]
  for (const response of responses) {
    expect([400, 404]).toContain(response.status)
    expect((await response.text()).length).toBeLessThan(5_000)
    expect([...response.headers].join("").length).toBeLessThan(4_000)
  }
})

test("a key that holds half a surrogate pair is refused, and no failure of the server", async () => {
  const body = JSON.stringify({
    model: engine.model.id,
    messages: [{ role: "user", content: "hi" }],
    "x\ud800": 1,
  })
  expect(body).toContain("\\ud800")
  const response = await request("/v1/chat/completions", { ...chat({}), body })
  const { error } = await response.json()
  expect([response.status, error.code, error.param]).toEqual([400, "invalid_value", 'the key "x\\ud800"'])
})

test("schemas may hold half a pair: they are compiled or refused, and no failure of the server", async () => {
  for (const schema of [
    { const: "\ud800" },
    { type: "object", properties: { "a\ud800": { type: "string" } }, required: ["a\ud800"] },
    { type: "string", pattern: "\ud800" },
    { type: "string", pattern: "[\ud800-\udfff]" },
    { "x\ud800": 1 },
  ]) {
    const response = await request(
      "/v1/chat/completions",
      chat({ max_tokens: 2, response_format: { type: "json_schema", json_schema: { name: "x", schema } } }),
    )
    expect([200, 400], await response.text()).toContain(response.status)
  }
})

test("unknown keys are named in a header of bounded length; a thousand of them are the most", async () => {
  const keys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`favourite_${i}`, 1]))
  const fields = { max_tokens: 1, structured_outputs: { choice: ["a"] } }
  const response = await request("/v1/chat/completions", chat({ ...fields, ...keys(1_000) }))
  expect(response.status).toBe(200)
  expect(response.headers.get("x-tokenrail-ignored")).toMatch(/^favourite_0, .*favourite_19, and 980 more$/)
  const refused = await request("/v1/chat/completions", chat({ ...fields, ...keys(20_000) }))
  expect([refused.status, (await refused.json()).error.message]).toEqual([
    400,
    "the body: 1001 unknown keys are more than the bound of 1000. Leave out what is unknown",
  ])
})

test("a reply of more than a million rows of log-probabilities is refused unless it is a stream", async () => {
  const fields = { n: 128, max_tokens: 400, logprobs: true, top_logprobs: 20 }
  const refused = await request("/v1/chat/completions", chat(fields))
  const { error } = await refused.json()
  expect([refused.status, error.param]).toEqual([400, "logprobs"])
  expect(error.message).toMatch(
    /^logprobs: 1075200 rows .* are more than the bound of 1000000\. Set stream: true, or lower max_completion_tokens/,
  )
  // As a stream it goes on to the next bound: the line of this engine is shorter.
  const stream = await request("/v1/chat/completions", chat({ ...fields, stream: true }))
  expect([stream.status, (await stream.json()).error.param]).toEqual([400, "n"])
})

test("while megabytes of JSON are read, health is answered", async () => {
  const app = createApp(engine)
  const body = JSON.stringify({
    ...{ model: engine.model.id, messages: [{ role: "user", content: "hi" }], max_tokens: 1 },
    metadata: Array(500_000).fill("a"),
  })
  let isDone = false
  const init = { method: "POST", headers: { "content-type": "application/json" }, body }
  const reply = Promise.resolve(app.request("/v1/chat/completions", init)).finally(() => {
    isDone = true
  })
  let answered = 0
  while (!isDone) {
    await new Promise((resolve) => setTimeout(resolve, 1))
    await app.request("/health")
    answered++
  }
  expect((await reply).status).toBe(200)
  // Read on the same thread, the body would let one answer pass before it and one behind it.
  expect(answered).toBeGreaterThan(3)
})

test("bodies that are read at once have a bound of bytes together: 429 with a time to wait", async () => {
  const app = createApp(engine, { bodyLimits: { maxBytes: 1_000, maxHeldBytes: 1_000 } })
  let release = () => {}
  const slow = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(" ".repeat(900)))
      release = () => controller.close()
    },
  })
  const init = { method: "POST", headers: { "content-type": "application/json" } }
  const first = app.request("/v1/chat/completions", { ...init, body: slow, ...{ duplex: "half" } })
  await new Promise((resolve) => setTimeout(resolve, 10))
  const second = await app.request("/v1/chat/completions", { ...init, body: " ".repeat(200) })
  expect([second.status, (await second.json()).error.code]).toEqual([429, "queue_full"])
  expect(second.headers.get("retry-after")).toMatch(/^[1-9]/)
  release()
  expect((await first).status).toBe(400)
  expect((await app.request("/v1/chat/completions", { ...init, body: " ".repeat(900) })).status).toBe(400)
})
