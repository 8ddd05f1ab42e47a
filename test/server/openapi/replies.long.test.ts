/**
 * Requests and replies as /openapi.json describes them: each example, each event of a stream, and
 * each path with an id.
 */
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"
import { type App, createApp } from "../../../server/app.ts"
import {
  checksOf,
  type DescribedOperation,
  type Document,
  documentOf,
  valuesOf,
} from "../../support/openapi.ts"

let engine: Engine
let app: App
let document: Document
let checks: ReturnType<typeof checksOf>
beforeAll(async () => {
  engine = await open({ device: "cpu", slots: 2 })
  app = createApp(engine, { ollama: true })
  document = await documentOf(app)
  checks = checksOf(document)
})
afterAll(() => engine.close())

const json = { "content-type": "application/json" }

/** Calls a path; the reply must be as it is described. Returns its values. */
async function call(method: string, path: string, id = "", init: RequestInit = {}): Promise<unknown[]> {
  const operation: DescribedOperation = document.paths[path][method.toLowerCase()]
  const response = await app.request(path.replace("{id}", id), { method, ...init })
  const { type, values } = await valuesOf(response)
  expect(values.length).toBeGreaterThan(0)
  for (const value of values) {
    const wrong = checks.reply(operation, response.status, type, value)
    expect([method, path, value, wrong]).toEqual([method, path, value, []])
  }
  return [response.status, type, ...values]
}

test("every example is as described, and gets a reply as described", async () => {
  const types = new Set<string>()
  let count = 0
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const examples = operation.requestBody?.content["application/json"]?.examples ?? {}
      for (const [name, { summary, value }] of Object.entries(examples)) {
        const expected = Number(/\((\d{3})\)$/.exec(summary)?.[1] ?? 200)
        if (expected === 200) expect([path, name, checks.request(operation, value)]).toEqual([path, name, []])
        const body = JSON.stringify(value)
        const [status, type] = await call(method.toUpperCase(), path, "", { headers: json, body })
        expect([path, name, status]).toEqual([path, name, expected])
        types.add(`${path} ${type}`)
        count++
      }
    }
  }
  expect([...types].filter((each) => /event-stream|ndjson/.test(each))).toHaveLength(6)
  expect(count).toBeGreaterThan(30)
})

test("every path without a body replies as described", async () => {
  const paths = Object.keys(document.paths).filter((path) => document.paths[path].get && !/\{id\}/.test(path))
  expect(paths.length).toBeGreaterThan(12)
  for (const path of paths) expect([path, (await call("GET", path))[0]]).toEqual([path, 200])
  expect((await call("GET", "/v1/models/{id}", engine.model.id))[0]).toBe(200)
  const headers = { "anthropic-version": "2023-06-01" }
  expect((await call("GET", "/v1/models/{id}", engine.model.id, { headers }))[0]).toBe(200)
  expect((await call("GET", "/v1/models", "", { headers }))[0]).toBe(200)
})

const post = (fields: object): RequestInit => ({
  headers: json,
  body: JSON.stringify({ model: engine.model.id, ...fields }),
})

test("stored responses", async () => {
  const fields = { input: "hi", max_output_tokens: 4 }
  const [, , { id }] = (await call("POST", "/v1/responses", "", post(fields))) as [0, 0, { id: string }]
  expect((await call("GET", "/v1/responses/{id}", id))[0]).toBe(200)
  expect((await call("GET", "/v1/responses/{id}/input_items", id))[0]).toBe(200)
  expect((await call("POST", "/v1/responses/{id}/cancel", id))[0]).toBe(400)
  expect((await call("DELETE", "/v1/responses/{id}", id))[0]).toBe(200)
  expect((await call("GET", "/v1/responses/{id}", id))[0]).toBe(404)
})

test("files and batches", async () => {
  const line = {
    ...{ custom_id: "a", method: "POST", url: "/v1/completions" },
    body: { model: engine.model.id, prompt: "hi", max_tokens: 2 },
  }
  const upload = async (purpose: string): Promise<string> => {
    const body = new FormData()
    body.set("purpose", purpose)
    body.set("file", new Blob([JSON.stringify(line)]), "in.jsonl")
    return ((await call("POST", "/v1/files", "", { body }))[2] as { id: string }).id
  }
  const input_file_id = await upload("batch")
  const asked = { input_file_id, endpoint: "/v1/completions", completion_window: "24h" }
  const make = { headers: json, body: JSON.stringify({ ...asked, metadata: { of: "test" } }) }
  const [, , { id }] = (await call("POST", "/v1/batches", "", make)) as [0, 0, { id: string }]
  let batch: { status: string; output_file_id: string }
  do {
    await new Promise((resolve) => setTimeout(resolve, 20))
    batch = (await call("GET", "/v1/batches/{id}", id))[2] as typeof batch
  } while (batch.status !== "completed")
  expect((await call("GET", "/v1/files/{id}/content", batch.output_file_id))[0]).toBe(200)
  for (const path of ["/v1/files", "/v1/batches"]) expect((await call("GET", path))[0]).toBe(200)
  expect((await call("POST", "/v1/batches/{id}/cancel", id))[0]).toBe(400)
  const other = await upload("user_data")
  expect((await call("GET", "/v1/files/{id}", other))[0]).toBe(200)
  expect((await call("DELETE", "/v1/files/{id}", other))[0]).toBe(200)
})
