import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"
import { createApp } from "../../../server/app.ts"
import type { RequestLogger } from "../../../server/http/requestlog.ts"

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

test("the log has a line for each request, without a word of what it said", async () => {
  const lines: [level: string, fields: Record<string, unknown>][] = []
  const keep = (level: string) => (fields: object, message: string) => {
    expect(message).toBe("request")
    lines.push([level, { ...fields }])
  }
  const logger: RequestLogger = {
    ...{ debug: keep("debug"), info: keep("info"), warn: keep("warn"), error: keep("error") },
  }
  const app = createApp(engine, { logger, apiKeys: ["secret"], rates: { requests: 4 } })
  const headers = { "content-type": "application/json", authorization: "Bearer secret" }
  const post = (fields: object, id: string) =>
    app.request("/v1/chat/completions", { ...chat(fields), headers: { ...headers, "x-request-id": id } })
  const said = { messages: [{ role: "user", content: "a word of mine" }], user: "me" }
  await (await post({ ...said, structured_outputs: { choice: ["word"] } }, "a")).json()
  await (
    await post({ ...said, stream: true, max_tokens: 2, structured_outputs: { regex: "[a-z]{90}" } }, "b")
  ).text()
  await post({ ...said, structured_outputs: { json: { type: "integer", minimum: 5, maximum: 3 } } }, "c")
  await post({ ...said, word: 1, temperature: "word" }, "d")
  await post(said, "e")
  await app.request("/health")
  await expect.poll(() => lines.length).toBe(6)
  const endpoint = { method: "POST", endpoint: "/v1/chat/completions" }
  expect(lines.map(([level, { ms, ...fields }]) => [level, fields])).toEqual([
    [
      "info",
      {
        ...{ request_id: "a", ...endpoint, status: 200, finish: "stop" },
        ...{ prompt_tokens: expect.any(Number), cached_tokens: expect.any(Number) },
        completion_tokens: expect.any(Number),
      },
    ],
    [
      "info",
      expect.objectContaining({ request_id: "b", status: 200, completion_tokens: 2, finish: "length" }),
    ],
    [
      "info",
      { request_id: "c", ...endpoint, status: 400, refusal: "invalid_json_schema", kind: "unsatisfiable" },
    ],
    ["info", { request_id: "d", ...endpoint, status: 400, refusal: "invalid_value" }],
    ["warn", { request_id: "e", ...endpoint, status: 429, refusal: "rate_limit_exceeded" }],
    ["debug", expect.objectContaining({ method: "GET", endpoint: "/health", status: 200 })],
  ])
  expect(JSON.stringify(lines)).not.toMatch(/word|mine|secret/)
})
