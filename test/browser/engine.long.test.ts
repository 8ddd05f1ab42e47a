/**
 * `tokenrail/browser` in headless Chromium, from a server of files under a strict policy: the built
 * worker, the embedded model, and clients over `fetch`.
 */
import { readFileSync } from "node:fs"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { compile, type GrammarInput } from "../../grammar/index.ts"
import { Matcher, TokenFsm, Vocabulary } from "../../mask/index.ts"
import { open } from "../../runtime/index.ts"
import { manySchemas } from "../masks/schemas.ts"
import { inputHashes } from "../masks/walks.ts"
import { parseCases } from "../support/cases.ts"
import { launchChromium } from "../support/chromium.ts"
import type { inPage } from "./engine/page.ts"
import { manyAnswers } from "./engine/requests.ts"
import { openSite, type Site } from "./engine/site.ts"

type InPage = typeof inPage

/** A host whose pages are no secure contexts. */
const insecure = "insecure.test"

let browser: Browser | string
let site: Site
let page: Page
const errors: string[] = []

beforeAll(async () => {
  ;[site, browser] = await Promise.all([
    openSite("test/browser/engine/page.ts"),
    launchChromium([`--host-resolver-rules=MAP ${insecure} 127.0.0.1`]),
  ])
  if (typeof browser === "string") return
  page = await browser.newPage()
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") errors.push(message.text())
  })
  page.on("pageerror", (error) => errors.push(error.message))
  await page.goto(site.url)
  await page.waitForFunction(() => "inPage" in globalThis, undefined, { timeout: 20_000 })
}, 60_000)
afterAll(async () => {
  if (typeof browser === "object") await browser.close()
  await site.close()
})

/** Calls a function of the page. */
function inBrowser<Name extends keyof InPage>(
  name: Name,
  ...args: Parameters<InPage[Name]>
): Promise<Awaited<ReturnType<InPage[Name]>>> {
  return page.evaluate(
    ([name, args]) => {
      const { inPage } = globalThis as unknown as { inPage: Record<string, (...args: unknown[]) => unknown> }
      return inPage[name](...args)
    },
    [name, args] as const,
  ) as Promise<Awaited<ReturnType<InPage[Name]>>>
}

const ran = (each: string, work: () => Promise<void>) =>
  test(each, async ({ skip }) => {
    if (typeof browser === "string") return skip(`Chromium does not start: ${browser}`)
    await work()
  })

ran("opens the embedded model in one worker, without an error and without any other request", async () => {
  const { lines, fetched, model } = await inBrowser("open")
  expect(lines).toEqual([expect.stringContaining("onnxruntime-web/wasm, batched")])
  expect(model).toMatchObject({ id: "tokenrail-embedded", contextLength: 2048, width: 8000 })
  expect(fetched).toContain("/runtime/embedded/onnx/model.onnx")
  expect(page.workers().length).toBe(1)
  expect(new Set(site.asked)).toEqual(new Set(["/", "/page.js", "/worker.js", ...fetched]))
  expect(errors).toEqual([])
})

ran("answers as Node does, by seed", async () => {
  const engine = await open({ device: "cpu" })
  try {
    const here = await Promise.all(
      manyAnswers().map(async ({ prompt, options }) => (await engine.generate(prompt, options)).tokens),
    )
    const there = await inBrowser("answers")
    const others = here.flatMap((tokens, at) => (`${tokens}` === `${there[at]}` ? [] : [at]))
    expect(others).toEqual([])
  } finally {
    await engine.close()
  }
})

ran("masks of 200 schemas and of 50 grammars are those of Node", async () => {
  const schemas: GrammarInput[] = manySchemas().map((schema) => ({ kind: "json", schema }))
  const grammars = ["gbnf/corpus", "gbnf/repetition", "gbnf/strings", "lark/corpus", "lark/regex"].flatMap(
    (file) =>
      parseCases(readFileSync(`test/cases/${file}.txt`, "utf8")).map(
        ({ grammar }): GrammarInput => ({ kind: "grammar", text: grammar }),
      ),
  )
  const inputs = [...schemas, ...grammars.slice(0, 50)]
  expect(inputs.length).toBe(250)
  const here = inputHashes({ compile, Matcher, TokenFsm, Vocabulary }, inputs)
  expect(here.filter((hash) => typeof hash === "number").length).toBeGreaterThan(200)
  expect(await inBrowser("hashes", inputs)).toEqual(here)
})

ran("the official client talks to it through fetch", async () => {
  const { id, whole, streamed, pieceCount, refused, upload, metrics } = await inBrowser("client")
  expect(id).toBe("tokenrail-embedded")
  expect(JSON.parse(whole!)).toEqual({ id: expect.any(Number) })
  expect(streamed).toBe(whole)
  expect(pieceCount).toBeGreaterThan(1)
  expect(refused).toMatchObject({ status: 404 })
  expect(upload.status).toBeGreaterThanOrEqual(400)
  expect(upload.text).toContain("Node")
  expect(metrics).toBe(404)
})

ran("streams, runs tools in the page, decides, scores and extracts", async () => {
  const { events, asked, steps, day, answers, ids, scores, found } = await inBrowser("methods")
  expect(events.at(-1)).toBe("finish")
  expect(events).toContain("text")
  expect(events).toContain("close")
  expect([asked, steps]).toEqual([[{ id: 7 }], 2])
  expect([day, answers, scores, found]).toEqual([1, 1, 2, { age: 7 }])
  expect(ids).toBeGreaterThan(0)
})

ran("refuses as Node does, with the same classes, and goes on", async () => {
  const told = await inBrowser("refusals")
  expect(told).toMatchObject({
    aborted: { name: "AbortError", text: expect.stringMatching(/./) },
    stopped: { name: "TimeoutError" },
    before: { name: "AbortError" },
    schema: { name: "GrammarError", kind: "unsatisfiable" },
    option: { name: "OptionError", message: expect.stringContaining("schema") },
    functions: { name: "OptionError", option: "options" },
    compiled: { name: "OptionError", option: "constraint" },
    short: { name: "IncompleteError" },
    long: { name: "RequestError", code: "context_length_exceeded" },
    sampling: { name: "SamplingError", param: "temperature" },
    validator: { name: "ValidationError", issues: [{ message: "never" }] },
    after: "yes",
  })
})

ran("a constraint that takes too long is refused, and the engine goes on", async () => {
  const { refused, text } = await inBrowser("bounded")
  expect(refused).toMatchObject({ name: "GrammarError", kind: "limit" })
  expect(text).toBe("b")
})

ran("a second load needs no network, and a closed engine answers nothing", async () => {
  expect(await inBrowser("close")).toMatchObject({ name: "RequestError", code: "engine_dead" })
  await expect.poll(() => page.workers().length).toBe(0)
  site.isOffline = true
  const { fetched } = await inBrowser("open")
  expect(fetched).toEqual([])
  await inBrowser("close")
  site.isOffline = false
})

/** A merged graph, a sliding window, one of another builder with states, and one of embeddings. */
const exported = ["gpt2_merged", "gemma3_positions", "lfm2_genai", "qwen2_5_vl"]

ran("runs exports of four kinds by URL, and writes what transformers writes", async () => {
  const found: Record<string, unknown> = {}
  const expected: Record<string, unknown> = {}
  for (const name of exported) {
    const path = `test/exports/${name}`
    const { prompts, answers } = JSON.parse(readFileSync(`${path}/expected.json`, "utf8"))
    expected[name] = answers.slice(0, 3).map((tokens: number[]) => tokens.slice(0, 16))
    const { line, tokens } = await inBrowser("greedy", `/${path}`, prompts.slice(0, 3), 16)
    expect(line).toContain("onnxruntime-web/wasm")
    found[name] = tokens
  }
  expect(found).toEqual(expected)
})

ran("without a secure context nothing is kept or checked, and all else works", async () => {
  const secure = page
  page = await (browser as Browser).newPage()
  try {
    await page.goto(site.url.replace("127.0.0.1", insecure))
    await page.waitForFunction(() => "inPage" in globalThis)
    expect((await inBrowser("open")).lines[0]).toContain("the model is not kept")
    expect((await inBrowser("client")).id).toBe("tokenrail-embedded")
    const refused = await inBrowser("refusal", {
      model: "/runtime/embedded",
      checksums: { "config.json": "0".repeat(64) },
    })
    expect(refused).toMatchObject({ message: expect.stringContaining("Serve the page by https") })
  } finally {
    await page.close()
    page = secure
  }
})

ran("a file that was missing is found once it is there, and needs no network then", async () => {
  const path = "/test/exports/gpt2_merged"
  site.hidden.add(`${path}/config.json`).add(`${path}/tokenizer_config.json`)
  const model = new URL(path, site.url).href
  expect(await inBrowser("refusal", { model })).toMatchObject({
    message: expect.stringContaining("config.json: is missing"),
  })
  site.hidden.delete(`${path}/config.json`)
  const { fetched } = await inBrowser("open", { model })
  expect(fetched).toContain(`${path}/config.json`)
  await inBrowser("close")
  site.isOffline = true
  expect((await inBrowser("open", { model })).fetched).toEqual([])
  await inBrowser("close")
  site.isOffline = false
  site.hidden.clear()
  expect((await inBrowser("open", { model })).fetched).toEqual([`${path}/tokenizer_config.json`])
  await inBrowser("close")
})

ran("refuses other bytes, missing files and impossible options", async () => {
  const model = new URL("runtime/embedded", site.url).href
  const sums = { "config.json": "0".repeat(64), "tokenizer.json": "1" }
  expect(await inBrowser("refusal", { model, checksums: sums })).toMatchObject({ name: "ModelError" })
  const wrong = { ...sums, "tokenizer.json": "0".repeat(64) }
  expect(await inBrowser("refusal", { model, checksums: wrong })).toMatchObject({
    message: expect.stringMatching(/config\.json: its SHA-256 is ac9a\w+, not 0000/),
  })
  expect(await inBrowser("refusal", { model: "/nowhere" })).toMatchObject({
    name: "ModelError",
    message: expect.stringContaining("/nowhere/config.json: is missing"),
  })
  expect(await inBrowser("refusal", { wasm: "/nowhere.wasm", cache: null })).toMatchObject({
    message: expect.stringContaining("pass its URL as `wasm`"),
  })
  expect(await inBrowser("ended")).toMatchObject({
    aborted: { name: "AbortError" },
    late: { name: "TimeoutError" },
    lost: { name: "ModelError", message: expect.stringContaining("does not start") },
  })
  expect(await inBrowser("refusal", { slots: 0 })).toMatchObject({ name: "RangeError" })
  expect(await inBrowser("refusal", { modle: "" } as never)).toMatchObject({ name: "OptionError" })
  // No refused opening leaves its worker.
  await expect.poll(() => page.workers().length).toBeLessThanOrEqual(1)
})
