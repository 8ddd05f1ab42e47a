/**
 * The playground in headless Chromium, with a server that runs the embedded model: what a visitor
 * does, story by story, and axe-core's judgement in both themes and on a small screen. With
 * PLAYGROUND_SHOTS=folder each story leaves a picture there.
 */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { createRequire } from "node:module"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import type { Browser, Page, Route } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type Engine, open } from "../../runtime/index.ts"
import { createApp, type RunningServer, serve } from "../../server/index.ts"
import { gallery } from "../../server/playground/gallery.ts"
import { type Kind, type Setup, toFragment } from "../../server/playground/setup.ts"
import { launchChromium } from "../support/chromium.ts"

let engine: Engine
let server: RunningServer
let locked: RunningServer
let browser: Browser | string
let page: Page
/** What the page complained about, and the hosts that it asked. */
let complaints: string[] = []
const hosts = new Set<string>()
/** The hosts of the servers of this test. */
const known = new Set<string>()

beforeAll(async () => {
  engine = await open({ device: "cpu" })
  server = await serve(createApp(engine), { port: 0 })
  locked = await serve(createApp(engine, { apiKeys: ["secret-key"] }), { port: 0 })
  for (const { url } of [server, locked]) known.add(new URL(url).host)
  browser = await launchChromium()
})
afterAll(async () => {
  if (browser && typeof browser !== "string") await browser.close()
  await Promise.all([server.close(), locked.close()])
  await engine.close()
})

const shots = process.env.PLAYGROUND_SHOTS

interface Window {
  url?: string
  width?: number
  scheme?: "light" | "dark"
}

/** Opens the page in a new window with a setup, and waits for its report. */
async function visit(
  setup: Partial<Setup> | null,
  { url = server.url, width = 1280, scheme = "light" }: Window = {},
) {
  if (typeof browser === "string") throw new Error("internal: no browser")
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    ...{ colorScheme: scheme, locale: "en-US" },
  })
  page = await context.newPage()
  complaints = []
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text())
  })
  page.on("pageerror", (error) => complaints.push(error.message))
  page.on("request", (request) => hosts.add(new URL(request.url()).host))
  const hash = setup === null ? "" : toFragment({ ...gallery[0].setup, ...setup })
  await page.goto(`${url}/${hash}`)
  await page.waitForFunction(() =>
    /compiles|anything|syntax|unsatisfiable/.test(document.querySelector(".report")?.textContent ?? ""),
  )
  return context
}

async function run(): Promise<string> {
  await page.getByRole("button", { name: "Run", exact: true }).click()
  return ended()
}

/** Waits for the end of a run, and returns the line about it. */
async function ended(): Promise<string> {
  const summary = page.locator(".summary")
  // The page draws a run in the next frame; until then the line is that of the run before.
  await page.evaluate(
    () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))),
  )
  await page.waitForFunction(() =>
    /finished|failed|Stopped/.test(document.querySelector(".summary")?.textContent ?? ""),
  )
  return (await summary.textContent())!
}

const chips = (): Promise<string[]> => page.locator(".chip").allTextContents()
const kindsOfChips = (): Promise<string[]> =>
  page.locator(".chip").evaluateAll((all) => all.map(({ className }) => className.replace("chip ", "")))

/** The text of an answer, from the view of its value. */
async function answerText(): Promise<string> {
  await page.locator("#view-tab-value").click()
  return (await page.locator("pre.answer").textContent())!
}

/** The text that is underlined in the editor of the constraint. */
async function underlined(): Promise<string> {
  await page.locator(".constraint .cm-lintRange-error").first().waitFor()
  return (await page.locator(".constraint .cm-lintRange-error").allTextContents()).join("")
}

interface AxeResult {
  violations: { id: string; help: string; nodes: { html: string; failureSummary?: string }[] }[]
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

/** What axe-core finds wrong, one line each. */
async function violations(): Promise<string[]> {
  // The policy of the page does not hold for what a debugger evaluates.
  await page.evaluate(axeSource)
  const found = (await page.evaluate("axe.run({ resultTypes: ['violations'] })")) as AxeResult
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes[0].html} ${nodes[0].failureSummary ?? ""}`)
}

const small = { maxTokens: 120 }
function options(part: Partial<Setup["options"]>): Setup["options"] {
  return { ...gallery[0].setup.options, ...small, ...part }
}

const wrong: [kind: Kind, text: string, place: string, marked: string, why: RegExp][] = [
  ["json", '{\n  "type": "objct"\n}', "/type", '"type": "objct"', /must be one of/i],
  ["json", '{"type": ', "line 1, column 10", " ", /end of the text/],
  [
    "json",
    '{"properties": {"a": {"minimum": 5, "maximum": 3, "type": "integer"}}, "type": "object", "required": ["a"]}',
    "/required",
    '"required": ["a"]',
    /contradicts/,
  ],
  ["regex", "ab[c", "offset 4", "c", /Unterminated/],
  ["gbnf", 'root ::= "a" nmu\n', "line 1, column 14", "nmu", /not defined/],
  ["lark", "start: A\nA: /a/\nB: C\n", "line 3, column 4", "C", /not defined/],
  [
    "tag",
    '{"type": "sequence", "elements": [{"type": "nope"}]}',
    "/elements/0/type",
    '"type": "nope"',
    /no format is of the type/i,
  ],
  [
    "tools",
    '[{"type": "function", "function": {"name": "f", "parameters": {"type": "objct"}}}]',
    "/0/function/parameters/type",
    '"type": "objct"',
    /must be one of/i,
  ],
  ["choice", "", "", "", /at least one option/],
]

/**
 * Chromium logs the styles that its editing of marked-up text would add to a line, which the policy
 * forbids. CodeMirror draws such a line anew.
 */
const ofEditing = /^Applying inline style violates/

/** A test that needs a browser; afterwards nothing may have been complained about. */
function story(name: string, tell: () => Promise<unknown>): void {
  test(name, async ({ skip }) => {
    if (typeof browser === "string") return skip(`Chromium does not start: ${browser}`)
    try {
      await tell()
      expect(complaints.filter((text) => !ofEditing.test(text))).toEqual([])
    } finally {
      if (shots !== undefined) {
        const file = `${name.replace(/[^\w]+/g, "-").slice(0, 60)}.png`
        await page.screenshot({ path: join(shots, file), fullPage: true })
      }
      await page.context().close()
    }
  })
}

describe("a visitor", () => {
  story("sees a constraint, its report and a text that is read against it", async () => {
    await visit(null)
    expect(await page.locator(".report").textContent()).toMatch(/29 enforced, 0 without effect/)
    expect(await page.locator(".verdict .badge").textContent()).toBe("a beginning: not yet a whole text")
    expect(await page.locator(".brand").textContent()).toContain("tokenrail-embedded")
  })

  story("runs it: every token is a chip, and the chips spell the answer", async () => {
    await visit({ options: options({}) })
    expect(await run()).toMatch(/\d+ tokens · \d+ forced .* finished: stop \(complete\) · seed 1/)
    const kinds = await kindsOfChips()
    expect(new Set(kinds)).toEqual(new Set(["sampled", "forced"]))
    const spelled = (await chips()).join("").replaceAll("·", " ")
    const text = await answerText()
    expect(spelled.startsWith(text)).toBe(true)
    const value = JSON.parse(text)
    const shown = await page.locator(".value .node .name").allTextContents()
    expect(shown.slice(0, 3)).toEqual(["answer", "shop", "date"])
    expect(await page.locator(".node.open").count()).toBe(0)
    expect(await page.locator(".value .node").nth(1).textContent()).toContain(JSON.stringify(value.shop))
  })

  story("moves between tokens with the keyboard, and reads what the mask did", async () => {
    await visit({ options: options({ maxTokens: 20 }) })
    await run()
    await page.locator(".chip").first().focus()
    for (const key of ["End", "ArrowLeft", "Home", "ArrowRight"]) await page.keyboard.press(key)
    expect(await page.locator(".chip:focus").getAttribute("aria-label")).toMatch(/^Token 2: /)
    const details = await page.locator(".details").innerText()
    for (const name of ["Token 2", "Allowed tokens", "Probability removed", "Entropy", "Mask"])
      expect(details).toContain(name)
    expect(details).toMatch(/Likeliest allowed[\s\S]+%[\s\S]+Likeliest forbidden[\s\S]+%/)
  })

  for (const [kind, text, place, marked, why] of wrong) {
    story(`is shown the place of a wrong ${kind}: ${why.source}`, async () => {
      await visit({ kind, text, check: "" })
      const report = page.locator(".refusal")
      expect(await report.textContent()).toMatch(why)
      if (place !== "") expect(await report.locator("button").textContent()).toBe(place)
      if (marked === "") return
      expect(await underlined()).toBe(marked)
      await report.locator("button").click()
      const selected = await page.evaluate(
        () => document.activeElement?.shadowRoot?.activeElement?.className ?? "",
      )
      expect(selected).toContain("cm-content")
      expect(await page.getByRole("button", { name: "Run", exact: true }).isDisabled()).toBe(true)
    })
  }

  story("types a text, whose allowed part is green and the rest red", async () => {
    await visit({ kind: "regex", text: "20[0-9]{2}-(0[1-9]|1[0-2])", check: "" })
    await page.locator(".check .cm-content").fill("2026-13")
    await page.locator(".check .cm-dead").waitFor()
    expect(await page.locator(".check .cm-ok").textContent()).toBe("2026-1")
    expect(await page.locator(".check .cm-dead").textContent()).toBe("3")
    expect(await page.locator(".verdict").textContent()).toMatch(
      /rejected at line 1, column 7.*"0", "1" or "2"/,
    )
    await page.locator(".check .cm-content").fill("2026-12")
    await page.getByText("accepted", { exact: true }).waitFor()
    expect(await page.locator(".check .cm-dead").count()).toBe(0)
  })

  story("picks tokens by hand, goes back, and lets the model finish", async () => {
    await visit({ kind: "choice", text: "positive\nneutral\nnegative", check: "", options: options({}) })
    await page.locator("#view-tab-step").click()
    await page.getByRole("button", { name: "Begin", exact: true }).click()
    const picks = page.locator("ul.picker button")
    await picks.first().waitFor()
    const first = await picks.allTextContents()
    const shares = first.map((text) => Number(/([\d.]+) %$/.exec(text)![1]))
    expect(shares).toEqual([...shares].sort((a, b) => b - a))
    await page.locator("#filter").fill("n")
    await picks.last().click()
    await page.getByRole("button", { name: "Back" }).and(page.locator(":enabled")).click()
    await page.waitForFunction(() => document.querySelector(".step pre")?.textContent === " ")
    await page.locator("#filter").fill("n")
    const chosen = (await picks.last().locator("code").textContent())!
    await picks.last().click()
    await page.waitForFunction(
      (text) => document.querySelector(".step pre")?.textContent?.startsWith(text),
      chosen,
    )
    await page.getByRole("button", { name: "Let the model finish" }).click()
    expect(await ended()).toContain("finished: stop")
    expect((await kindsOfChips())[0]).toBe("given")
    expect(["neutral", "negative"]).toContain(await answerText())
  })

  story("sees charts of a run, with their numbers in words", async () => {
    await visit({ options: options({}) })
    await run()
    await page.locator("#view-tab-charts").click()
    await page.locator(".plot canvas").nth(2).waitFor()
    const labels = await page
      .locator(".plot")
      .evaluateAll((all) => all.map((each) => each.getAttribute("aria-label")))
    expect(labels).toEqual([
      expect.stringMatching(/^Tokens per second: median \d/),
      expect.stringMatching(/^Time of the mask: median \d/),
      expect.stringMatching(/^Share of forced tokens: median \d/),
    ])
  })

  story("reads the request as code, and the events of the stream", async () => {
    await visit({ kind: "gbnf", text: 'root ::= "it\'s " ("wet" | "dry")', check: "", options: options({}) })
    await run()
    await page.locator("#view-tab-events").click()
    expect(await page.locator("section.source").textContent()).toMatch(
      /chat\.completion\.chunk[\s\S]*data: \[DONE\]$/,
    )
    await page.locator("#view-tab-code").click()
    for (const [id, words] of [
      ["openaijs", /new OpenAI\([\s\S]+structured_outputs/],
      ["openaipy", /client\.chat\.completions\.create\([\s\S]+extra_body=/],
      ["aisdk", /createOpenAICompatible\([\s\S]+providerOptions: \{ tokenrail/],
      ["library", /engine\.generate\([\s\S]+grammar: /],
      ["curl", /^curl -s http:\/\/127\.0\.0\.1:\d+\/v1\/chat/],
    ] as const) {
      await page.locator(`#code-tab-${id}`).click()
      expect(await page.locator("section.source").textContent()).toMatch(words)
    }
  })

  story("finds the setup in the address, after a reload and for another visitor", async () => {
    await visit(null)
    await page.locator("#kind-tab-regex").click()
    await page.locator(".constraint .cm-content").fill("[a-c]{3}")
    await page.locator("#option-temperature").fill("0.3")
    await page.locator("#option-temperature").blur()
    await page.waitForTimeout(500)
    const { hash } = new URL(page.url())
    await page.reload()
    await page.getByText("compiles").waitFor()
    expect(await page.locator(".constraint .cm-content").textContent()).toBe("[a-c]{3}")
    expect(await page.locator("#option-temperature").inputValue()).toBe("0.3")
    await page.goto("about:blank")
    await page.goto(`${server.url}/${hash}`)
    await page.getByText("compiles").waitFor()
    expect(await page.locator("[aria-selected=true]").allTextContents()).toContain("Regex")
    for (const broken of ["#s=%%%", "#s=AAAA", "#s=eyJrIjoianNvbiJ9", "#nothing"]) {
      await page.goto(`about:blank`)
      await page.goto(`${server.url}/${broken}`)
      await page.getByText("compiles").waitFor()
    }
  })

  story("enters a key, which stays out of the address", async () => {
    await visit(null, { url: locked.url })
    await page.locator("#key").fill("ключ")
    await page.getByRole("button", { name: "Use this key" }).click()
    await page.getByText("of ASCII alone").waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    await page.locator("#key").fill("wrong")
    await page.getByRole("button", { name: "Use this key" }).click()
    await page.locator("#key").fill("secret-key")
    await page.getByRole("button", { name: "Use this key" }).click()
    await page.getByText("tokenrail-embedded").waitFor()
    await page.reload()
    await page.getByText("tokenrail-embedded").waitFor()
    expect(page.url()).not.toContain("secret")
    expect(atob(new URL(page.url()).hash.slice(3).replaceAll("-", "+").replaceAll("_", "/"))).not.toContain(
      "secret",
    )
    // Chromium logs each reply of status 401.
    complaints = complaints.filter((text) => !text.includes("401"))
  })

  story("asks questions about a text", async () => {
    await visit(null)
    await page.locator("#room-tab-decide").click()
    await page.getByRole("button", { name: "Decide" }).click()
    await page.locator(".answer-table").nth(2).waitFor()
    const shares = await page.locator(".answer-table").first().locator(".number").allTextContents()
    expect(shares.length).toBe(3)
    await page.locator(".cm-content").fill('[{"type": "choice", "instructions": "x", "choices": []}]')
    await page.getByRole("button", { name: "Decide" }).click()
    await page.locator(".banner.bad").waitFor()
    expect(await page.locator(".banner.bad").textContent()).toMatch(/questions\[0\]\.choices/)
    // Chromium logs a reply of status 400.
    complaints = complaints.filter((text) => !text.includes("status of 400"))
  })

  story("sees a call of a tool, with its arguments as a tree", async () => {
    const tools = gallery.find(({ setup }) => setup.kind === "tools")!.setup
    await visit({ ...tools, options: options({ toolChoice: "required" }) })
    expect(await run()).toContain("finished: tool_calls")
    await page.locator("#view-tab-value").click()
    expect(await page.locator(".call h3").first().textContent()).toMatch(/Call of (get_weather|add_meeting)/)
    expect(await page.locator(".call .node .name").allTextContents()).toContain("arguments")
  })

  story("continues a conversation", async () => {
    await visit({ kind: "choice", text: "yes\nno", check: "", options: options({}) })
    await run()
    await page.getByRole("button", { name: "Continue the conversation" }).click()
    expect(await page.getByLabel("Role of message 2").inputValue()).toBe("assistant")
    expect(["yes", "no"]).toContain(await page.getByLabel("Message 2", { exact: true }).inputValue())
    await page.getByLabel("Message 3", { exact: true }).fill("Are you sure?")
    await page.keyboard.press("Control+Enter")
    expect(await ended()).toContain("finished: stop")
  })

  story("stops a long answer", async () => {
    await visit({ kind: "regex", text: "[a-z ]{1500}", check: "", options: options({ maxTokens: 1400 }) })
    await page.getByRole("button", { name: "Run", exact: true }).click()
    await page.locator(".chip").nth(3).waitFor()
    await page.getByRole("button", { name: "Stop" }).click()
    expect(await ended()).toMatch(/^Stopped after \d+ tokens/)
    await expect.poll(() => engine.load().running, { timeout: 5_000 }).toBe(0)
  })

  story("sees which tokens were written to close in time", async () => {
    const closing = gallery.find(({ setup }) => setup.options.onLength === "close")!.setup
    await visit({ ...closing, options: { ...closing.options, maxTokens: 10 } })
    expect(await run()).toContain("finished: stop")
    expect(await kindsOfChips()).toContain("closing")
    expect(JSON.parse(await answerText()).length).toBeGreaterThanOrEqual(3)
  })

  story("uses the keyboard alone: tabs by arrows, out of the editor by Tab", async () => {
    await visit(null)
    await page.locator("#kind-tab-json").focus()
    await page.keyboard.press("ArrowRight")
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("kind-tab-regex")
    await page.keyboard.press("End")
    expect(await page.locator("#kind-tab-none").getAttribute("aria-selected")).toBe("true")
    await page.keyboard.press("Home")
    await page.locator(".constraint .cm-content").focus()
    await page.keyboard.press("Tab")
    expect(await page.evaluate(() => document.activeElement?.shadowRoot === null)).toBe(true)
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement!).outlineStyle)
    expect(outline).toBe("solid")
  })

  story("goes on typing while the worker fails", async () => {
    await visit({ kind: "regex", text: "a", check: "" })
    const late = (route: Route): Promise<void> =>
      new Promise((resolve) => setTimeout(resolve, 700)).then(() => route.abort())
    await page.route("**/judge.js", late, { times: 1 })
    await page.reload()
    await page.locator(".constraint .cm-content").fill("b+")
    await page.waitForTimeout(300)
    await page.locator(".constraint .cm-content").fill("xyz")
    await page.locator(".report .sample").getByText("xyz").waitFor()
    complaints = complaints.filter((text) => !text.includes("ERR_FAILED"))
  })

  story("is told what is wrong with a seed", async () => {
    await visit({ kind: "regex", text: "a", check: "" })
    for (const seed of ["9007199254740993", "1e3", "x"]) {
      await page.locator("#seed").fill(seed)
      await page.locator("#seed-problem").waitFor()
      expect(await page.getByRole("button", { name: "Run", exact: true }).isDisabled()).toBe(true)
    }
    await page.locator("#seed").fill("-7")
    expect(await run()).toContain("seed -7")
  })

  story("is told when the server has gone", async () => {
    await visit({ kind: "choice", text: "yes\nno", check: "", options: options({}) })
    await page.context().setOffline(true)
    await page.getByRole("button", { name: "Run", exact: true }).click()
    expect(await ended()).toBe("The request failed.")
    expect(await page.locator(".output .banner.bad").textContent()).toMatch(/fetch/i)
    complaints = complaints.filter((text) => !text.includes("ERR_INTERNET_DISCONNECTED"))
  })
})

/** Switches the engine in the page on, and waits for it. */
async function turnOn(): Promise<void> {
  await page.locator("#in-page").check()
  await page.getByText("tokenrail-embedded, in this page").waitFor({ timeout: 60_000 })
}

describe("the engine in the page", () => {
  story("answers as the server does, and without it", async () => {
    await visit({ options: options({}) })
    await run()
    const told = await answerText()
    await turnOn()
    await page.context().setOffline(true)
    await run()
    expect(await answerText()).toBe(told)
    await page.locator("#view-tab-step").click()
    await page.getByRole("button", { name: "Begin", exact: true }).click()
    await page.locator("ul.picker button").first().waitFor()
    await page.locator("#room-tab-decide").click()
    await page.getByRole("button", { name: "Decide" }).click()
    await page.locator(".answer-table").nth(2).waitFor()
    await page.context().setOffline(false)
    await page.locator("#in-page").uncheck()
    await page.getByText("tokenrail-embedded", { exact: true }).waitFor()
  })

  story("makes the page a static site, below any path", async () => {
    execFileSync("npm", ["run", "copy:site"], { stdio: "ignore" })
    const site = await serveFolder("dist/site", "/some/where/")
    try {
      await visit({ options: options({}) }, { url: `${site.url}/some/where` })
      await page.getByText("No server answers here").waitFor()
      await page.getByRole("button", { name: "Run in this page" }).click()
      await page.getByText("tokenrail-embedded, in this page").waitFor({ timeout: 60_000 })
      expect(await run()).toContain("finished: stop (complete)")
      expect(JSON.parse(await answerText())).toHaveProperty("shop")
      await page.reload()
      await page.getByText("No server answers here").waitFor()
      // What is not there is logged by Chromium.
      complaints = complaints.filter((text) => !text.includes("404"))
    } finally {
      site.close()
    }
  })
})

const mediaTypes: Record<string, string> = {
  ...{ html: "text/html", js: "text/javascript", css: "text/css", json: "application/json" },
  wasm: "application/wasm",
}

/** A server that sends the files of a folder below `path`, and nothing else. */
async function serveFolder(folder: string, path: string): Promise<{ url: string; close: () => void }> {
  const files = createServer(({ url = "" }, response) => {
    const { pathname } = new URL(url, "http://localhost")
    const name = pathname.slice(path.length) || "index.html"
    const isThere = pathname.startsWith(path) && existsSync(join(folder, name))
    if (!isThere) return response.writeHead(404).end("none")
    const type = mediaTypes[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream"
    return response.writeHead(200, { "content-type": type }).end(readFileSync(join(folder, name)))
  })
  await new Promise<void>((resolve) => files.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(files.address() as AddressInfo).port}`
  known.add(new URL(url).host)
  return {
    url,
    close: () => files.close(),
  }
}

describe("every example", () => {
  test.each(gallery.map(({ name, setup }) => [name, setup] as const))(
    "%s compiles, and the server accepts it",
    async (_, setup) => {
      if (typeof browser === "string") return
      await visit(setup)
      expect(await page.locator(".refusal").count()).toBe(0)
      await page.locator("#view-tab-code").click()
      const code = (await page.locator("section.source").textContent())!
      const body = JSON.parse(
        code.slice(code.indexOf("-d '") + 4, code.lastIndexOf("'")).replaceAll("'\\''", "'"),
      )
      const sent = { ...body, max_tokens: body.tokenrail?.on_length ? body.max_tokens : 60 }
      const reply = await fetch(`${server.url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ ...sent, tokenrail: { ...sent.tokenrail, on_length: "truncate" } }),
      })
      expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining("choices")])
      await page.context().close()
    },
  )
})

describe.each<Window>([{ scheme: "light" }, { scheme: "dark" }, { scheme: "light", width: 360 }])(
  "axe-core, %j",
  (window) => {
    story(`finds nothing ${window.scheme} ${window.width ?? 1280}`, async () => {
      await visit({ options: options({ maxTokens: 30 }) }, window)
      await run()
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(window.width ?? 1280)
      expect(await violations()).toEqual([])
      for (const view of ["value", "step", "charts", "code", "events"]) {
        await page.locator(`#view-tab-${view}`).click()
        expect([view, await violations()]).toEqual([view, []])
      }
      await page.locator("#room-tab-decide").click()
      await page.getByRole("button", { name: "Decide" }).click()
      await page.locator(".answer-table").nth(2).waitFor()
      expect(await violations()).toEqual([])
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(window.width ?? 1280)
      await page.locator("#room-tab-write").click()
      await page.locator("#kind-tab-gbnf").click()
      await page.locator(".constraint .cm-content").fill("root ::= (")
      await page.locator(".refusal").waitFor()
      expect(await violations()).toEqual([])
    })
  },
)

test("nothing was asked of another host", ({ skip }) => {
  if (typeof browser === "string") return skip(`Chromium does not start: ${browser}`)
  expect(hosts.size).toBeGreaterThan(0)
  expect([...hosts].filter((host) => !known.has(host))).toEqual([])
})
