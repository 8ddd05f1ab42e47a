/**
 * The site of docs/, built in a temporary folder for a path below the root, in Chromium: it loads
 * nothing from elsewhere, searches by itself, and fits narrow screens. A link that leads nowhere
 * fails the build.
 */
import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { extname, join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { sections } from "../docs/.vitepress/sections.ts"
import { launchChromium } from "./support/chromium.ts"

const folder = mkdtempSync(join(tmpdir(), "site-"))
const docs = join(folder, "docs")
cpSync("docs", docs, {
  recursive: true,
  filter: (path) => !/node_modules|\.vitepress\/(?:cache|dist)/.test(path),
})
const run = (args: string[]) =>
  spawnSync("npm", args, { cwd: docs, encoding: "utf8", env: { ...process.env, DOCS_BASE: "/sub/" } })
const install = run(["ci", "--no-audit", "--no-fund"])
const browser = await launchChromium()
const missing = install.status !== 0 ? "npm cannot install it" : typeof browser === "string" ? browser : null

const types: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" }
let server: Server
let url = ""
beforeAll(async () => {
  server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? "/", "http://x").pathname)
    try {
      if (!path.startsWith("/sub/")) throw new Error("outside")
      const body = readFileSync(join(docs, ".vitepress/dist", path.slice(5) || "index.html"))
      response.setHeader("content-type", types[extname(path || ".html")] ?? "text/html")
      if (path.endsWith(".svg")) response.setHeader("content-type", "image/svg+xml")
      response.end(body)
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sub/`
})
afterAll(async () => {
  server.close()
  if (typeof browser !== "string") await browser.close()
  rmSync(folder, { recursive: true })
})

test.skipIf(missing !== null)(
  `the site builds, and works alone below a path${missing ? `: ${missing}` : ""}`,
  async () => {
    if (typeof browser === "string") return
    const built = run(["run", "build"])
    expect(built.status, built.stdout + built.stderr).toBe(0)
    const complaints: string[] = []
    const open = async (width: number, colorScheme: "light" | "dark") => {
      const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme })
      const tab = await context.newPage()
      tab.on("console", (message) => message.type() === "error" && complaints.push(message.text()))
      tab.on(
        "request",
        (request) =>
          /^(?:data|blob):/.test(request.url()) ||
          request.url().startsWith(url) ||
          complaints.push(request.url()),
      )
      tab.on(
        "response",
        (response) => response.status() >= 400 && complaints.push(`${response.status()} ${response.url()}`),
      )
      return tab
    }
    const narrow = await open(360, "light")
    for (const page of Object.values(sections).flatMap((pages) => pages.slice(0, 2))) {
      await narrow.goto(`${url}${page}.html`)
      const { text, width } = await narrow.evaluate(() => ({
        text: document.body.innerText,
        width: document.documentElement.scrollWidth,
      }))
      expect([page, width]).toEqual([page, 360])
      expect(text.length, page).toBeGreaterThan(500)
      expect(text.match(/\{\{ ?(?:site|theme|translate)/), page).toBeNull()
    }
    const wide = await open(1280, "dark")
    await wide.goto(url)
    expect(await wide.evaluate(() => document.documentElement.classList.contains("dark"))).toBe(true)
    await wide.keyboard.press("Control+k")
    await wide.getByRole("searchbox").fill("uniqueItems")
    await wide.locator(".results .result").first().click()
    await wide.waitForURL(/json-schema\.html/)
    expect(complaints).toEqual([])
  },
)
