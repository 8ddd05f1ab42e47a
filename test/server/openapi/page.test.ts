/**
 * The page at /docs: its files, and the policy that a browser gets. test/browser/docs.long.test.ts
 * opens it.
 */
import { existsSync } from "node:fs"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"
import { createApp, type RunningServer, serve } from "../../../server/index.ts"
import { docsFile } from "../../../server/openapi/page.ts"

let engine: Engine
let server: RunningServer
beforeAll(async () => {
  engine = await open({ device: "cpu" })
  server = await serve(createApp(engine, { apiKeys: ["k"] }), { port: 0 })
})
afterAll(async () => {
  await server.close()
  await engine.close()
})

test("the page and its files need no key, and load nothing from elsewhere", async () => {
  for (const path of ["/docs", "/docs/page.js", "/docs/swagger-ui-bundle.js", "/docs/swagger-ui.css"]) {
    const response = await fetch(server.url + path)
    expect([path, response.status]).toEqual([path, 200])
    expect(response.headers.get("content-security-policy")).toMatch(
      /^default-src 'self'; img-src 'self' data:;/,
    )
    expect((await response.text()).length).toBeGreaterThan(50)
  }
  const besides = [
    "page.jsfoo",
    "page-js",
    "a/swagger-ui.css",
    "a%2fswagger-ui.css",
    "xswagger-ui-bundle.jsy",
  ]
  const others = [...besides, "package.json", "../package.json", "..%2fapp.js", "LICENSE"]
  for (const path of others.map((name) => `/docs/${name}`)) {
    const response = await fetch(server.url + path, { headers: { authorization: "Bearer k" } })
    expect([path, response.status]).toEqual([path, 404])
  }
  expect((await fetch(`${server.url}/docs/LICENSE`)).status).toBe(401)
  await expect(docsFile("../page/swagger-ui.css")).rejects.toThrow("is not a file of the page")
  await expect(docsFile("constructor")).rejects.toThrow("is not a file of the page")
  const wrong = await fetch(`${server.url}/docs/page.js`, { method: "POST" })
  expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET"])
  expect(existsSync("dist/server/openapi/page/LICENSE")).toBe(true)
})
