import { once } from "node:events"
import { mkdtempSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { expect, test } from "vitest"
import { outcome, start, tokenrail } from "../../support/program.ts"
import { address, busy, long, post, signalled } from "../../support/served.ts"

test("serves until SIGTERM: the port stays open, running answers finish, new ones are refused, the code is 0", async () => {
  const { child, url, texts } = await busy([], 1)
  const ended = outcome(child)
  await signalled(child, "SIGTERM")
  const health = await fetch(`${url}/health`)
  expect([health.status, await health.json()]).toEqual([503, { status: "draining" }])
  const refused = await post(url, {})
  expect([refused.status, (await refused.json()).error.code]).toEqual([503, "shutting_down"])
  expect(refused.headers.get("retry-after")).toMatch(/^[1-9]\d*$/)
  expect(refused.headers.get("retry-after-ms")).toMatch(/^[1-9]\d*000$/)
  const text = await texts[0]
  expect(text.endsWith("data: [DONE]\n\n")).toBe(true)
  expect(text).toContain('"finish_reason":"stop"')
  expect((await ended).code).toBe(0)
  await expect(fetch(`${url}/health`)).rejects.toThrow()
})

test("what outlives --drain ends with an error that says so, streamed and whole, and the code is 0", async () => {
  const { child, url, texts } = await busy(["--drain", "1"], 8)
  const ended = outcome(child)
  const whole = post(url, long)
  await setTimeout(100)
  child.kill("SIGTERM")
  for (const text of await Promise.all(texts)) {
    expect(text).toMatch(/data: \{"error":\{[^\n]*"code":"shutting_down"[^\n]*\n\ndata: \[DONE\]\n\n$/)
  }
  const response = await whole
  expect([response.status, (await response.json()).error.code]).toEqual([503, "shutting_down"])
  expect(response.headers.get("retry-after")).toMatch(/^[1-9]\d*$/)
  const { code, err } = await ended
  expect([code, err]).toEqual([0, expect.stringContaining("1 s are over")])
})

test("drafts by a flag; wrong ones are 2 or 4 and name the way out", async () => {
  const child = start(["serve", "--port", "0", "--any-model", "--draft", "ngram", "--draft-tokens", "3"])
  const ended = outcome(child)
  const url = await address(child)
  const answer = await (await post(url, { max_tokens: 5, tokenrail: { draft_tokens: 2 } })).json()
  expect(answer.choices[0].finish_reason).toMatch(/length|stop/)
  const more = await post(url, { tokenrail: { draft_tokens: 4 } })
  expect([more.status, (await more.json()).error.message]).toEqual([
    400,
    "draft_tokens: 4 is not an integer from 0 to 3",
  ])
  child.kill("SIGTERM")
  expect((await ended).err).toContain("drafts of 3 tokens by prompt lookup")
  const [orphan, many, nowhere] = [
    await tokenrail(["serve", "--draft-tokens", "3"]),
    await tokenrail(["serve", "--draft", "ngram", "--draft-tokens", "17"]),
    await tokenrail(["serve", "--draft", "no/such/model", "--port", "0"]),
  ]
  expect([orphan.code, orphan.err]).toEqual([2, expect.stringContaining("--draft-tokens needs --draft")])
  expect([many.code, many.err]).toEqual([2, expect.stringContaining("17 is not from 1 to 16")])
  expect([nowhere.code, nowhere.err]).toEqual([4, expect.stringContaining("no/such/model")])
})

test("--cors names the pages that may call, --on-length how an answer ends whose budget does", async () => {
  const pages = ["--cors", "https://app.test", "https://other.test"]
  const child = start(["serve", "--port", "0", "--any-model", ...pages, "--on-length", "close"])
  const ended = outcome(child)
  const url = await address(child)
  const from = async (origin: string) => {
    const { status, headers } = await fetch(`${url}/v1/models`, { headers: { origin } })
    return [status, headers.get("access-control-allow-origin")]
  }
  expect(await from("https://app.test")).toEqual([200, "https://app.test"])
  expect(await from("https://other.test")).toEqual([200, "https://other.test"])
  expect(await from("https://evil.test")).toEqual([403, null])
  const bound = { structured_outputs: { regex: "[ab]{10,400}" }, max_tokens: 24 }
  const [closed] = (await (await post(url, bound)).json()).choices
  expect(closed.finish_reason).toBe("stop")
  expect(closed.message.content).toMatch(/^[ab]{10,400}$/)
  child.kill("SIGTERM")
  expect((await ended).code).toBe(0)
  const wrong = await tokenrail(["serve", "--on-length", "maybe"])
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringMatching(/maybe.*truncate, close/s)])
})

test("--max-compile is the time that a constraint may take; what takes longer is refused, what does not is served", async () => {
  const child = start(["serve", "--port", "0", "--any-model", "--max-compile", "100"])
  const ended = outcome(child)
  const url = await address(child)
  // 2³⁰ combinations, none of which contradicts itself at sight.
  const allOf = Array.from({ length: 30 }, (_, i) => ({
    anyOf: [
      { properties: { [`a${i}`]: { type: "string" } }, required: [`x${i}`, "z"] },
      { properties: { [`b${i}`]: { type: "string" } }, required: [`y${i}`] },
    ],
  }))
  const refused = await post(url, { structured_outputs: { json: { type: "object", allOf } } })
  const { error } = await refused.json()
  expect([refused.status, error.kind]).toEqual([400, "limit"])
  expect(error.message).toContain("compiling takes more than the bound of 100 ms")
  const served = await post(url, { structured_outputs: { json: { const: 7 } } })
  expect((await served.json()).choices[0].message.content).toBe("7")
  child.kill("SIGTERM")
  expect((await ended).code).toBe(0)
})

test("flags, environment and a file bound a key, open the metrics and choose the log; nothing of a request is logged", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "serve-")), "serve.toml")
  writeFileSync(
    file,
    'port = 0\nany-model = true\nrate-requests = 1\nmetrics-public = true\nlog-level = "error"\n',
  )
  const env = { TOKENRAIL_API_KEY: "secret", TOKENRAIL_LOG_LEVEL: "info", TOKENRAIL_RATE_REQUEST: "5" }
  const child = start(["serve", "--config", file, "--rate-requests", "2"], env)
  const ended = outcome(child)
  const url = await address(child)
  const ask = (content: string) =>
    fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer secret" },
      body: JSON.stringify({ model: "any", messages: [{ role: "user", content }], max_tokens: 2 }),
    })
  expect((await ask("a word")).status).toBe(200)
  expect((await ask("a word")).headers.get("x-ratelimit-remaining-requests")).toBe("0")
  const refused = await ask("a word")
  expect([refused.status, (await refused.json()).error.code]).toEqual([429, "rate_limit_exceeded"])
  const metrics = await (await fetch(`${url}/metrics`)).text()
  expect(metrics).toContain('tokenrail_requests_total{endpoint="/v1/chat/completions",status="200"} 2')
  expect((await fetch(`${url}/v1/models`)).status).toBe(401)
  child.kill("SIGTERM")
  const { code, err } = await ended
  expect(code).toBe(0)
  const lines = err
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line))
  const requests = lines.filter(({ msg }) => msg === "request")
  expect(requests.map(({ level, status }) => [level, status])).toEqual([
    ...[
      ["info", 200],
      ["info", 200],
    ],
    ...[
      ["warn", 429],
      ["info", 401],
    ],
  ])
  expect(lines.map(({ msg }) => msg)).toContain(
    "TOKENRAIL_RATE_REQUEST is not a setting of serve and has no effect",
  )
  expect(err).not.toMatch(/word|secret/)
})

test("a log that nobody reads any more does not end the server", async () => {
  const child = start(["serve", "--port", "0", "--any-model"])
  const url = await address(child)
  child.stderr!.destroy()
  for (let i = 0; i < 3; i++) expect((await post(url, { max_tokens: 1 })).status).toBe(200)
  const ended = once(child, "exit")
  child.kill("SIGTERM")
  expect(await ended).toEqual([0, null])
})

test("a port in use is 2 and names the way out", async () => {
  const blocker = createServer().listen(0, "127.0.0.1")
  await new Promise((resolve) => blocker.once("listening", resolve))
  const { port } = blocker.address() as { port: number }
  const { code, err } = await tokenrail(["serve", "--port", String(port)])
  blocker.close()
  expect([code, err]).toEqual([2, expect.stringContaining(`127.0.0.1:${port} is in use`)])
  expect(err).toContain("--port")
})

test.each<[flags: string, env: Record<string, string>, message: RegExp]>([
  ["--host 0.0.0.0 --api-key=", {}, /--api-key is empty/],
  ["--api-key=", {}, /--api-key is empty/],
  ["--host 0.0.0.0", { TOKENRAIL_API_KEY: "" }, /0\.0\.0\.0 is a public address: give --api-key/],
  ["--host 0.0.0.0", { TOKENRAIL_API_KEY: " \t" }, /0\.0\.0\.0 is a public address: give --api-key/],
  ["--host 127.0.0.1.evil.example", {}, /is a public address/],
  ["--port 70000", {}, /--port.*70000.*0 to 65535/],
  ["--port -1", {}, /--port.*-1.*whole number/],
  ["--port abc", {}, /--port.*abc.*whole number/],
  ["--max-connections 0", {}, /--max-connections.*at least 1/],
  ["--rate-tokens 0", {}, /--rate-tokens.*at least 1/],
  ["--log-level loud", {}, /loud.*debug, info, warn, error, silent/s],
  ["--quiet", { TOKENRAIL_PORT: "x" }, /TOKENRAIL_PORT: "x" is not a valid value: must be a whole number/],
  ["--config no/such.toml", {}, /cannot read no\/such\.toml/],
])("%s with %j is 2 before a model is loaded", async (flags, env, message) => {
  const child = start(["serve", "--model", "no/such/model", ...flags.split(" ")], env)
  const { code, err } = await outcome(child)
  expect([code, err]).toEqual([2, expect.stringMatching(message)])
})

test("--insecure says what it turns off", async () => {
  const flags = ["serve", "--host", "0.0.0.0", "--insecure", "--model", "no/such/model"]
  const { code, err } = await tokenrail(flags)
  expect([code, err]).toEqual([
    4,
    expect.stringContaining("no API key is required, so anyone who can reach 0.0.0.0"),
  ])
})

test("a public address needs a key, a model directory a model", async () => {
  const open = await tokenrail(["serve", "--host", "0.0.0.0", "--port", "0"])
  expect([open.code, open.err]).toEqual([2, expect.stringContaining("--api-key")])
  const missing = await tokenrail(["serve", "--model", "no/such/model", "--port", "0"])
  expect([missing.code, missing.err]).toEqual([4, expect.stringContaining("no/such/model")])
})
