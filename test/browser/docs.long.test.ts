/** The page at /docs in headless Chromium, as a server with a key sends it. */
import type { Browser } from "playwright-core"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type Engine, open } from "../../runtime/index.ts"
import { createApp, type RunningServer, serve } from "../../server/index.ts"
import { launchChromium } from "../support/chromium.ts"

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

test("a browser shows it without an error and without a request to another host", async ({ skip }) => {
  const browser: Browser | string = await launchChromium()
  if (typeof browser === "string") return skip(`Chromium does not start: ${browser}`)
  try {
    const page = await browser.newPage()
    const errors: string[] = []
    const requests: string[] = []
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") errors.push(message.text())
    })
    page.on("pageerror", (error) => errors.push(error.message))
    page.on("request", (request) => requests.push(request.url()))
    await page.goto(`${server.url}/docs`)
    await page.waitForSelector(".opblock", { timeout: 30_000 })
    expect(await page.locator(".opblock").count()).toBeGreaterThan(30)
    await page.locator("#operations-Chat-chat .opblock-summary").click()
    await page.waitForSelector("#operations-Chat-chat .examples-select", { timeout: 10_000 })
    expect(await page.locator("#operations-Chat-chat").innerText()).toContain("JSON that a schema accepts")
    expect(errors).toEqual([])
    expect(requests.filter((url) => !url.startsWith(server.url) && !url.startsWith("data:"))).toEqual([])
    expect(requests).toContain(`${server.url}/openapi.json`)
  } finally {
    await browser.close()
  }
})
