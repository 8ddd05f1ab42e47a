/** `tokenrail pull` and `models` as a user runs them. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { progressBar } from "../../../server/cli/pull.ts"
import { HubServer } from "../../support/hubserver.ts"
import { outcome, start } from "../../support/program.ts"

const cache = mkdtempSync(join(tmpdir(), "hub-"))
const hub = new HubServer(
  ["config.json", "tokenizer.json", "tokenizer_config.json", "onnx/model.onnx"].map((path) => ({
    path,
    content: readFileSync(`runtime/embedded/${path}`),
  })),
)
beforeAll(() => hub.start())
afterAll(async () => {
  await hub.close()
  rmSync(cache, { recursive: true })
})
const run = (...args: string[]) => start(args, { HF_ENDPOINT: hub.url, HF_HUB_CACHE: cache })

test("an interrupt ends it with 130, and the next run goes on; the directory is all that it prints", async () => {
  hub.cut = { after: 1_000_000, times: 100 }
  const child = run("pull", "acme/tiny")
  const ended = outcome(child)
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (hub.asked.filter((path) => path.startsWith("onnx/")).length < 2) return
      clearInterval(timer)
      resolve()
    }, 10)
  })
  child.kill("SIGINT")
  expect((await ended).code).toBe(130)
  hub.cut = null
  hub.asked.length = 0
  const { code, out, err } = await outcome(run("pull", "acme/tiny"))
  expect([code, out]).toEqual([0, `${join(cache, "models--acme--tiny/snapshots", "a".repeat(40))}\n`])
  expect(err).toMatch(/^bringing acme\/tiny from http.*MB\n$/)
  expect(hub.asked).toEqual([expect.stringMatching(/^onnx\/model.onnx bytes=[1-9]/)])
  const listed = await outcome(run("models", "--json"))
  expect(JSON.parse(listed.out)).toMatchObject({ name: "acme/tiny", revisions: ["main"], dtypes: ["fp32"] })
})

test.each([
  ["a name that is none", ["pull", "tiny"], 2, "tiny is not a model name: <org>/<name>[@revision]"],
  ["a model that there is not", ["pull", "acme/none"], 4, "acme/none: the hub has no such model"],
  ["offline", ["generate", "x", "--model", "acme/none", "--offline"], 4, "acme/none is not in "],
])("%s: one line", async (_, args, expected, message) => {
  const { code, err } = await outcome(run(...args))
  expect([code, err.split("\n").length]).toEqual([expected, 2])
  expect(err).toContain(`tokenrail: ${message}`)
})

test("the bar of a terminal ends full, and leaves nothing where nobody looks", () => {
  const written: string[] = []
  const io = { isTerminal: true, err: (text: string) => written.push(text) }
  const bar = progressBar(io as never)
  const file = "onnx/model.onnx"
  for (const doneBytes of [0, 500_000, 1_000_000])
    bar.show({ model: "acme/tiny", file, fileBytes: 1_000_000, doneBytes, allBytes: 1_000_000 })
  bar.end()
  expect(written.at(0)).toBe(`\r[${".".repeat(30)}] 0.0 of 1.0 MB  ${file}\x1b[K`)
  expect(written.slice(-2)).toEqual([`\r[${"#".repeat(30)}] 1.0 of 1.0 MB  ${file}\x1b[K`, "\n"])
  const silent = progressBar({ ...io, isTerminal: false, err: () => written.push("never") } as never)
  silent.show({ model: "acme/tiny", file, fileBytes: 1, doneBytes: 1, allBytes: 1 })
  silent.end()
  expect(written).not.toContain("never")
})
