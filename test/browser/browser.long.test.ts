/**
 * grammar/ and mask/ in a browser: bundled without any `node:` module, run in headless Chromium, compared there with
 * brute force bit by bit, and with the masks of this process by hash.
 */
import { resolve } from "node:path"
import type { Browser } from "playwright-core"
import { build } from "vite"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { launchChromium } from "../support/chromium.ts"
import { runRows } from "./page.ts"
import { browserRows } from "./rows.ts"

type Results = ReturnType<typeof runRows>

/** The scripts of a bundle of `entry`, as one text, and what they import from elsewhere. */
async function bundle(entry: string): Promise<{ code: string; imports: string[] }> {
  const output = await build({
    configFile: false,
    logLevel: "silent",
    build: {
      write: false,
      minify: false,
      lib: { entry: resolve(entry), formats: ["es"], fileName: "bundle" },
      rolldownOptions: { external: /^node:/ },
    },
  })
  const [{ output: chunks }] = output as unknown as {
    output: { type: string; fileName: string; code: string; imports: string[]; dynamicImports: string[] }[]
  }[]
  expect(new Set(chunks.map((chunk) => chunk.type))).toEqual(new Set(["chunk"]))
  // Parts that are loaded when a schema needs them are files of their own.
  const own = chunks.map(({ fileName }) => fileName)
  const imports = chunks.flatMap((chunk) => [...chunk.imports, ...chunk.dynamicImports])
  return {
    code: chunks.map(({ code }) => code).join("\n"),
    imports: imports.filter((name) => !own.includes(name)),
  }
}

describe.each(["grammar/index.ts", "mask/index.ts", "test/browser/page.ts"])("%s", (entry) => {
  test("bundles for a browser: no module of Node, no import left", async () => {
    const { code, imports } = await bundle(entry)
    expect(imports).toEqual([])
    // A method of that name is no module of Node: lodash, which chevrotain uses, asks for one, and for `Buffer.allocUnsafe`, only where they are.
    expect(code).not.toMatch(
      /\bfrom\s*"node:|(?<![\w.])require\s*\(|\bprocess\.\w|\bBuffer\.(?!allocUnsafe\b)\w/,
    )
    expect(code.length).toBeGreaterThan(10_000)
  })
})

describe("in the page", () => {
  let browser: Browser | string = "not started"
  let results: Results = []
  const errors: string[] = []

  beforeAll(async () => {
    browser = await launchChromium()
    if (typeof browser === "string") return
    const { code } = await bundle("test/browser/page.ts")
    const page = await browser.newPage()
    page.on("pageerror", (error) => errors.push(error.message))
    await page.setContent(`<script type="module">${code.replaceAll("</script", "<\\/script")}</script>`)
    await page.waitForFunction(() => "runRows" in globalThis, undefined, { timeout: 20_000 })
    results = await page.evaluate(() => (globalThis as unknown as { runRows(): Results }).runRows())
  })

  afterAll(async () => {
    if (typeof browser !== "string") await browser.close()
  })

  test("every bit of every mask is what brute force says", ({ skip }) => {
    if (typeof browser === "string") return skip(`Chromium does not start: ${browser}`)
    expect(errors).toEqual([])
    expect(results.length).toBe(browserRows().length)
    expect(results.filter((row) => row.disagreements.length > 0)).toEqual([])
    for (const row of results) expect([row.name, row.prefixCount > 1]).toEqual([row.name, true])
  })

  test("masks equal those of Node", ({ skip }) => {
    if (typeof browser === "string") return skip(`Chromium does not start: ${browser}`)
    const here = runRows()
    expect(results).toEqual(here)
    expect(new Set(here.map((row) => row.hash)).size).toBeGreaterThan(here.length / 2)
  })
})
