import type { ChildProcess } from "node:child_process"
import { createServer } from "node:net"
import { expect, test } from "vitest"
import { outcome, start, tokenrail } from "./program.ts"

/** The address that a starting server prints. */
function address(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ""
    child.stdout!.on("data", (chunk) => {
      text += chunk
      const found = /http:\/\/\S+/.exec(text)
      if (found) resolve(found[0])
    })
    child.on("close", () => reject(new Error("it ended before it listened")))
  })
}

const post = (url: string, fields: object) =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "any", messages: [{ role: "user", content: "hi" }], ...fields }),
  })

test("serves until SIGTERM: running answers finish, new ones are refused, the exit code is 0", async () => {
  const child = start(["serve", "--port", "0", "--any-model"])
  const ended = outcome(child)
  const url = await address(child)
  expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: "ok" })
  const running = await post(url, { structured_outputs: { regex: "[a-z]{300}" }, stream: true })
  const reader = running.body!.getReader()
  await reader.read()
  child.kill("SIGTERM")
  let text = ""
  for (let part = await reader.read(); !part.done; part = await reader.read())
    text += new TextDecoder().decode(part.value)
  expect(text.endsWith("data: [DONE]\n\n")).toBe(true)
  expect(text).toContain('"finish_reason":"stop"')
  expect((await ended).code).toBe(0)
  await expect(fetch(`${url}/health`)).rejects.toThrow()
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

test("a public address needs a key, a model directory a model", async () => {
  const open = await tokenrail(["serve", "--host", "0.0.0.0", "--port", "0"])
  expect([open.code, open.err]).toEqual([2, expect.stringContaining("--api-key")])
  const missing = await tokenrail(["serve", "--model", "no/such/model", "--port", "0"])
  expect([missing.code, missing.err]).toEqual([4, expect.stringContaining("no/such/model")])
})
