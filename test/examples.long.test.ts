/**
 * The examples as a user runs them: the programs of Node as processes of their own, the page as Vite bundles it, in Chromium.
 * They import `tokenrail` by its own name, so they run on what has been built.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import type { Browser, Page } from "playwright-core"
import { build, preview } from "vite"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { launchChromium } from "./support/chromium.ts"
import { shell } from "./support/program.ts"

/** Of each program: what it prints. What a model writes is claimed as a form, what the masks do to the letter. */
const programs: Record<string, (lines: string[]) => void> = {
  "library.js": ([generated, forced, streamed, ...rest]) => {
    const { city, celsius, sky } = JSON.parse(generated.replace(/^generate: /, ""))
    expect(city).toMatch(/^[A-Z][a-z]{2,11}$/)
    expect(Number.isInteger(celsius) && celsius >= -40 && celsius <= 50).toBe(true)
    expect(["clear", "cloudy", "rain", "snow"]).toContain(sky)
    expect(forced).toMatch(/^forced without a choice: \d+ of \d+ tokens$/)
    expect(streamed).toMatch(/^stream: ([01]\d|2[0-3]):[0-5]\d \(stop\)$/)
    expect(rest).toEqual([])
  },
  "matcher.js": (lines) =>
    expect(lines).toEqual([
      '{ "colour":"blue", "size":12 }',
      "  allowed of 107 tokens: 2 2 1 2 1 1 1 1 1 2 1 2 6 1 1 1 2 1 2 1 2 2 12 10 2 1",
      '{ "colour": "blue","size":25 }',
      "  allowed of 107 tokens: 2 2 1 2 1 1 1 1 1 2 1 2 1 6 1 1 1 2 1 2 2 2 12 10 2 1",
      '{ "colour": "blue","size":71 }',
      "  allowed of 107 tokens: 2 2 1 2 2 2 1 6 2 1 2 2 2 1 12 10 2 1",
    ]),
  "aisdk.js": ([object, tool, ...rest]) => {
    const { name, age } = JSON.parse(object.replace(/^object: /, ""))
    expect(name).toMatch(/^[A-Z][a-z]{2,9}$/)
    expect(Number.isInteger(age) && age >= 18 && age <= 99).toBe(true)
    expect(tool).toMatch(/^tool: 4 degrees in (Oslo|Rome)$/)
    expect(rest).toEqual([])
  },
  "promptapi.js": ([prompt, stream, ...rest]) => {
    const { rating } = JSON.parse(prompt.replace(/^prompt: /, ""))
    expect(Number.isInteger(rating) && rating >= 0 && rating <= 5).toBe(true)
    expect(stream).toMatch(/^stream: (19|20)\d\d \(true\)$/)
    expect(rest).toEqual([])
  },
  "server.js": ([reply, closed, ...rest]) => {
    const [, content] = /^200 (\{.*\}) stop$/.exec(reply) ?? []
    const { answer, confidence } = JSON.parse(content)
    expect(["yes", "no", "it depends"]).toContain(answer)
    expect(Number.isInteger(confidence) && confidence >= 0 && confidence <= 10).toBe(true)
    expect([closed, ...rest]).toEqual(["closed"])
  },
}

/** Programs whose packages are no dependencies: the tests that install the packages run them. */
const elsewhere: Record<string, string> = {
  "llamacpp.js": "test/runtime/adapters/llamacpp.long.test.ts",
  "transformers.js": "test/runtime/adapters/transformers.long.test.ts",
  "onnxruntime.js": "test/runtime/adapters/transformers.long.test.ts",
}

const pages = ["browser", "browser-engine"]

/** What the examples print that mount the server and ask it once. */
const answered = (lines: string[]) => expect(lines).toEqual([expect.stringMatching(/^200 (yes|no)$/)])
for (const name of ["express.js", "fastify.js", "hono.js", "next.js"]) programs[name] = answered

test("every example is run, and is in the list of examples", () => {
  const there = readdirSync("examples").filter((name) => name !== "README.md")
  expect(there.sort()).toEqual([...Object.keys(programs), ...Object.keys(elsewhere), ...pages].sort())
  for (const [name, file] of Object.entries(elsewhere))
    expect(readFileSync(file, "utf8")).toContain(`"examples/${name}"`)
  const list = readFileSync("examples/README.md", "utf8")
  for (const name of there) expect(list).toContain(`](${name}${pages.includes(name) ? "/main.js" : ""})`)
  for (const name of [...Object.keys(programs), ...Object.keys(elsewhere)]) {
    const source = readFileSync(`examples/${name}`, "utf8")
    for (const text of [list, source]) expect(text).toContain(`node examples/${name}`)
  }
})

test.each(Object.entries(programs))("%s", async (name, check) => {
  const { code, out, err } = await shell(`node examples/${name}`)
  expect([code, err]).toEqual([0, ""])
  check(out.trimEnd().split("\n"))
})

describe("browser/", () => {
  let code = ""
  let browser: Browser | string = "not started"
  let page: Page
  const errors: string[] = []

  beforeAll(async () => {
    code = await bundle("examples/browser")
    browser = await launchChromium()
    if (typeof browser === "string") return
    page = await browser.newPage()
    page.on("pageerror", (error) => errors.push(error.message))
    const html = readFileSync("examples/browser/index.html", "utf8")
    const inline = `<script type="module">${code.replaceAll("</script", "<\\/script")}</script>`
    await page.setContent(html.replace(/<script .*<\/script>/, () => inline))
  })

  afterAll(async () => {
    if (typeof browser !== "string") await browser.close()
  })

  const texts = () => page.locator("dd").allTextContents()

  test("is one script that needs nothing of Node", () => {
    // A method of that name is no module of Node, see test/browser/browser.test.ts.
    expect(
      code.match(
        /"node:\w+|(?<![\w.])require\s*\(|\bprocess\.\w|\bBuffer\.(?!allocUnsafe\b)\w|__vite-browser-external/g,
      ),
    ).toBe(null)
    const specifiers = [
      ...readFileSync("examples/browser/main.js", "utf8").matchAll(/^import .* from "(.*)"$/gm),
    ]
    expect(specifiers.map(([, specifier]) => specifier)).toEqual(["tokenrail/grammar", "tokenrail/mask"])
  })

  test("shows what may come next for the text that is typed", async ({ skip }) => {
    if (typeof browser === "string") return skip(`Chromium does not start: ${browser}`)
    expect(await page.inputValue("#prefix")).toBe('{"answer": "')
    const [state, characters, , rest] = await texts()
    expect([state, characters]).toEqual(["incomplete", "i n y"])
    const { answer } = JSON.parse(`{"answer": "${rest}`)
    expect(["yes", "no", "it depends"]).toContain(answer)

    await page.fill("#prefix", '{"answer": "no", "confidence": 10')
    expect((await texts()).slice(0, 2)).toEqual(["incomplete", "␣ }"])
    await page.fill("#prefix", '{"answer": "no", "confidence": 10}')
    expect((await texts()).slice(0, 2)).toEqual(["complete", ""])
    await page.fill("#prefix", '{"answer": "maybe"')
    expect((await texts()).slice(0, 2)).toEqual([
      'no text of the schema goes on like this after "{\\"answer\\": \\""',
      "i n y",
    ])
    expect(errors).toEqual([])
  })

  test("takes another schema, and shows why one is refused", async ({ skip }) => {
    if (typeof browser === "string") return skip(`Chromium does not start: ${browser}`)
    await page.fill("#prefix", "1")
    await page.fill("#schema", '{"type": "integer", "minimum": 10, "maximum": 13}')
    expect((await texts()).slice(0, 2)).toEqual(["incomplete", "0 1 2 3"])
    await page.fill("#schema", '{"type": "integer", "minimum": 5, "maximum": 3}')
    expect((await texts())[0]).toMatch(
      /^the schema is refused: .*minimum 5 at \/minimum contradicts maximum 3/,
    )
    expect(errors).toEqual([])
  })
})

test("browser-engine/ writes what the schema accepts, as vite builds and serves it", async ({ skip }) => {
  const browser = await launchChromium()
  if (typeof browser === "string") return skip(`Chromium does not start: ${browser}`)
  const outDir = mkdtempSync(join(tmpdir(), "page-"))
  const common = { root: resolve("examples/browser-engine"), configFile: false, logLevel: "silent" } as const
  await build({ ...common, build: { outDir, emptyOutDir: true } })
  const server = await preview({ ...common, build: { outDir }, preview: { port: 0, host: "127.0.0.1" } })
  try {
    const page = await browser.newPage()
    const errors: string[] = []
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()))
    page.on("pageerror", (error) => errors.push(error.message))
    await page.goto(server.resolvedUrls!.local[0])
    await page.waitForSelector("#start:enabled", { timeout: 60_000 })
    expect(await page.textContent("#state")).toBe("tokenrail-embedded is ready.")
    await page.click("#start")
    await page.waitForFunction(() => /ended/.test(document.querySelector("#state")!.textContent ?? ""))
    const { name, age } = JSON.parse((await page.textContent("#answer"))!)
    expect(name).toMatch(/^[A-Z][a-z]{2,9}$/)
    expect(Number.isInteger(age) && age >= 18 && age <= 99).toBe(true)
    await page.fill("#schema", '{"minimum": 5, "maximum": 3, "type": "integer"}')
    await page.click("#start")
    await page.waitForFunction(() => /minimum 5/.test(document.querySelector("#state")!.textContent ?? ""))
    expect(errors).toEqual([])
  } finally {
    await Promise.all([browser.close(), server.close()])
    rmSync(outDir, { recursive: true, force: true })
  }
})

/** The script of a page, as `vite build` bundles it. */
async function bundle(root: string): Promise<string> {
  const output = await build({
    root: resolve(root),
    configFile: false,
    logLevel: "silent",
    build: { write: false, minify: false },
  })
  const { output: files } = output as { output: { type: string; code: string; imports: string[] }[] }
  const scripts = files.filter(({ type }) => type === "chunk")
  expect(scripts.map(({ imports }) => imports)).toEqual([[]])
  return scripts[0].code
}
