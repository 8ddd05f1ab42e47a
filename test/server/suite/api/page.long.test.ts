/**
 * The page of the suite for servers in a real browser: narrow and wide, light and dark, filtered by
 * verdict.
 */
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { verdicts } from "../../../../server/suite/api/case.ts"
import { page } from "../../../../server/suite/api/page.ts"
import type { ApiResult } from "../../../../server/suite/api/run.ts"
import { launchChromium } from "../../../support/chromium.ts"

const browser = await launchChromium()

const name = `the page fits, filters and loads nothing${typeof browser === "string" ? `: ${browser}` : ""}`
test.skipIf(typeof browser === "string")(name, async () => {
  if (typeof browser === "string") return
  const results: ApiResult[] = Array.from({ length: 30 }, (_, i) => ({
    ...{
      id: `area ${i % 3}/${"case".repeat(20)} ${i}`,
      area: `area ${i % 3}`,
      verdict: verdicts[i % verdicts.length],
    },
    ...{ why: "w".repeat(200), truncated: false, samples: 2, ms: 5, status: 200 },
    ...{ request: `{"a":"${"x".repeat(500)}"}`, answer: "<img src=http://127.0.0.1:1/x>" },
  }))
  const path = join(mkdtempSync(join(tmpdir(), "page-")), "run.html")
  writeFileSync(path, page(results, { url: "http://localhost:8080/v1", model: "m", at: new Date(0) }))
  const backgrounds = new Set<string>()
  for (const [width, colorScheme] of [
    [360, "light"],
    [1200, "dark"],
  ] as const) {
    const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme })
    const tab = await context.newPage()
    const complaints: string[] = []
    tab.on("console", (message) => complaints.push(message.text()))
    tab.on("request", (request) => request.url().startsWith("file:") || complaints.push(request.url()))
    await tab.goto(`file://${path}`)
    const cases = tab.locator(".case:visible")
    expect(await cases.count()).toBe(results.length)
    await tab.getByLabel("ignored (5)").check()
    expect(await cases.count()).toBe(5)
    await cases.first().locator("summary").click()
    expect(await cases.first().locator("pre").last().innerText()).toContain("<img src")
    expect(await tab.evaluate("document.documentElement.scrollWidth")).toBe(width)
    backgrounds.add(await tab.evaluate("getComputedStyle(document.body).backgroundColor"))
    expect(complaints).toEqual([])
    await context.close()
  }
  expect(backgrounds.size).toBe(2)
  await browser.close()
})
