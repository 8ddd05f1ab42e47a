/**
 * `GET /` and the files of the playground: who gets the page, what its policy allows, and how large
 * it is. test/browser/playground.long.test.ts opens it.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { gzipSync } from "node:zlib"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../runtime/index.ts"
import { createApp, createFetch } from "../../server/index.ts"

let engine: Engine
beforeAll(async () => {
  engine = await open({ device: "cpu", isolation: "none" })
})
afterAll(() => engine.close())

const folder = "dist/server/playground"
const isBuilt = existsSync(`${folder}/index.html`)
const html = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

function get(path: string, headers: Record<string, string>, options: object = {}): Promise<Response> {
  return createFetch(createApp(engine, options))(`http://localhost${path}`, { headers })
}

test("a browser gets the page, and every other client the words that it knows", async ({ skip }) => {
  for (const accept of ["*/*", "application/json"]) {
    const plain = await get("/", { accept })
    expect([await plain.json(), plain.headers.get("vary")]).toEqual([{ status: "ok" }, "accept"])
  }
  expect(await (await get("/", { accept: "*/*" }, { ollama: true })).text()).toBe("Ollama is running")
  if (!isBuilt) return skip("the page is not built: npm run build")
  for (const options of [{}, { ollama: true }, { apiKeys: ["k"] }]) {
    const page = await get("/", { accept: html }, options)
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"])
    expect(await page.text()).toContain("<title>Tokenrail playground</title>")
  }
})

test("the files need no key, come from this server alone, and are asked for once", async ({ skip }) => {
  if (!isBuilt) return skip("the page is not built: npm run build")
  const page = readFileSync(`${folder}/index.html`, "utf8")
  const names = [...page.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, name]) => name)
  expect(names.length).toBeGreaterThan(1)
  for (const name of names) {
    const first = await get(`/${name}`, { "accept-encoding": "gzip" }, { apiKeys: ["k"] })
    expect([name, first.status, first.headers.get("content-encoding")]).toEqual([name, 200, "gzip"])
    const policy = first.headers.get("content-security-policy")
    expect(policy).toMatch(/^default-src 'self'; img-src 'self' data:;/)
    const again = await get(`/${name}`, { "if-none-match": first.headers.get("etag")! })
    expect([again.status, await again.text()]).toEqual([304, ""])
    const plain = await get(`/${name}`, {})
    expect(Buffer.from(await plain.arrayBuffer()).equals(readFileSync(`${folder}/${name}`))).toBe(true)
  }
  const worker = await get("/playground/engine/worker.js", {}, { apiKeys: ["k"] })
  expect([worker.status, worker.headers.get("content-security-policy")]).toEqual([
    200,
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'",
  ])
  const model = await get("/playground/engine/config.json", {})
  expect(Buffer.from(await model.arrayBuffer()).equals(readFileSync("runtime/embedded/config.json"))).toBe(
    true,
  )
  for (const name of ["engine/", "engine/x.js", "engine/../index.js", "engine/constructor"]) {
    expect([name, (await get(`/playground/${name}`, {})).status]).toEqual([
      name,
      name.includes("..") ? 200 : 404,
    ])
  }
  const others = ["index.html", "..%2findex.html", "LICENSES.md", "nothing.js", ".js", "constructor"]
  for (const name of others)
    expect([name, (await get(`/playground/${name}`, {})).status]).toEqual([name, 404])
})

test("the page takes at most 200 kB after gzip, and names no other host", ({ skip }) => {
  if (!isBuilt) return skip("the page is not built: npm run build")
  const own = readdirSync(`${folder}/playground`).filter((name) => /\.(?:js|css)$/.test(name))
  const page = own
    .filter((name) => name !== "judge.js")
    .map((name) => readFileSync(`${folder}/playground/${name}`))
  const total = page.reduce((sum, bytes) => sum + gzipSync(bytes, { level: 9 }).length, 0)
  expect(total).toBeGreaterThan(20_000)
  expect(total).toBeLessThan(200_000)
  const code = own.map((name) => readFileSync(`${folder}/playground/${name}`, "utf8")).join("")
  for (const name of ["worker.js", "tokenizer.json", "onnx/model.onnx", "ort-wasm-simd-threaded.wasm"]) {
    expect(code).toContain(`playground/engine/${name}`)
  }
  expect(readFileSync(`${folder}/index.html`, "utf8")).not.toMatch(/(?:src|href)="https?:/)
  expect(readFileSync(`${folder}/playground/LICENSES.md`, "utf8")).toMatch(/preact[\s\S]*MIT/i)
})
