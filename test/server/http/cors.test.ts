import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"
import { createApp } from "../../../server/app.ts"

let engine: Engine
beforeAll(async () => {
  engine = await open({ device: "cpu", slots: 1 })
})
afterAll(() => engine.close())

const ask = (origin: string | null, cors: string[] = [], init: RequestInit = {}) =>
  createApp(engine, { cors, apiKeys: ["k"] }).request("http://api.test/v1/models", {
    ...init,
    headers: { authorization: "Bearer k", host: "api.test", ...(origin && { origin }), ...init.headers },
  })

test.each<[origin: string, cors: string[], allowed: string | null]>([
  ["http://localhost:3000", [], "http://localhost:3000"],
  ["http://127.0.0.1", [], "http://127.0.0.1"],
  ["http://[::1]:8", [], "http://[::1]:8"],
  ["http://api.test", [], "http://api.test"],
  ["https://app.test", ["https://app.test"], "https://app.test"],
  ["https://app.test", ["*"], "*"],
  ["null", ["*"], "*"],
  ["https://app.test", [], null],
  ["https://app.test:444", ["https://app.test"], null],
  ["http://localhost.app.test", [], null],
  ["null", [], null],
])("origin %s with --cors %j is %s", async (origin, cors, allowed) => {
  const response = await ask(origin, cors)
  expect(response.headers.get("access-control-allow-origin")).toBe(allowed)
  expect(response.headers.get("access-control-allow-credentials")).toBeNull()
  if (allowed === null) {
    expect(response.status).toBe(403)
    const { error } = await response.json()
    expect(error.code).toBe("forbidden")
    expect(error.message).toContain("--cors")
    return
  }
  expect(response.status).toBe(200)
  expect(response.headers.get("access-control-expose-headers")).toContain("retry-after-ms")
  expect(response.headers.get("vary")).toContain("origin")
})

test("without an origin nothing is said", async () => {
  const response = await ask(null)
  expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([200, null])
})

test("a question before a request needs no key; the headers that it names are allowed", async () => {
  const asked = {
    method: "OPTIONS",
    headers: {
      authorization: "",
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,x-stainless-os",
    },
  }
  const response = await ask("http://localhost:1", [], asked)
  expect(response.status).toBe(204)
  expect(response.headers.get("access-control-allow-headers")).toBe("authorization,x-stainless-os")
  expect(response.headers.get("access-control-allow-methods")).toContain("POST")
  expect((await ask("https://app.test", [], asked)).status).toBe(403)
})

test("an error reaches the page too", async () => {
  const response = await ask("http://localhost", [], { headers: { authorization: "Bearer wrong" } })
  expect([response.status, response.headers.get("access-control-allow-origin")]).toEqual([
    401,
    "http://localhost",
  ])
})
