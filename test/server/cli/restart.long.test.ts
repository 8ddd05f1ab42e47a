/** The program on one core, and a server: it starts itself again, and nobody notices. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { setTimeout } from "node:timers/promises"
import { expect, onTestFinished, test } from "vitest"
import { betterStart } from "../../../server/cli/restart.ts"

const plain = { cores: 2, platform: "linux", execArgv: [], args: ["generate"], env: {} }

test.each([
  ["a command", plain, null],
  ["on one core", { ...plain, cores: 1 }, ["--single-threaded"]],
  ["on one core, started again", { ...plain, cores: 1, execArgv: ["--single-threaded"] }, null],
  ["a server", { ...plain, args: ["serve"] }, []],
  ["a server elsewhere", { ...plain, args: ["serve"], platform: "darwin" }, null],
  ["a server, started again", { ...plain, args: ["serve"], env: { MALLOC_ARENA_MAX: "2" } }, null],
  ["a server that is looked into", { ...plain, args: ["serve"], execArgv: ["--inspect=0"] }, null],
])("%s", (_name, start, flags) => {
  expect(betterStart(start)?.flags ?? null).toEqual(flags)
})

test("what the environment says of malloc stays", () => {
  const env = { MALLOC_TRIM_THRESHOLD_: "1" }
  expect(betterStart({ ...plain, cores: 1, env })).toEqual({ flags: ["--single-threaded"], env: {} })
})

const canPin = spawnSync("taskset", ["-c", "0", "true"]).status === 0

test.skipIf(!canPin)("output, errors and exit codes are those of the program", () => {
  const pinned = (...args: string[]) =>
    spawnSync("taskset", ["-c", "0", process.execPath, "dist/server/main.js", ...args], { encoding: "utf8" })
  const version = pinned("--version")
  expect([version.status, version.stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+/)])
  const wrong = pinned("nonsense")
  expect(wrong.status).toBe(2)
  expect(wrong.stderr).toContain("nonsense")
})

test.skipIf(!canPin)(
  "what ends the first process at once ends the second at once",
  { timeout: 60_000 },
  async () => {
    const { outer, status } = await answering()
    const children = spawnSync("ps", ["-o", "pid=", "--ppid", String(outer.pid)], { encoding: "utf8" }).stdout
    const inner = Number(children.trim().split("\n")[0])
    expect(inner).toBeGreaterThan(0)
    outer.kill("SIGKILL")
    expect(await status).toBe("cut off")
    await expect.poll(() => spawnSync("ps", ["-p", String(inner)]).status, { timeout: 20_000 }).toBe(1)
  },
)

test.skipIf(!canPin).each([
  ["SIGTERM", 1, 0],
  ["SIGTERM", 2, 143],
  ["SIGINT", 2, 130],
] as const)("%s, %i times, ends with %i there too", { timeout: 60_000 }, async (signal, count, code) => {
  const { outer, status } = await answering()
  const ended = once(outer, "exit")
  for (let i = 0; i < count; i++) {
    outer.kill(signal)
    await setTimeout(200)
  }
  expect(await ended).toEqual([code, null])
  expect(await status).toBe(code === 0 ? 200 : "cut off")
})

/** A server on one core, and the status of an answer of 300 tokens that runs there. */
async function answering(): Promise<{ outer: ChildProcess; status: Promise<number | string> }> {
  const args = ["-c", "0", process.execPath, "dist/server/main.js", "serve", "--port", "0", "--any-model"]
  const outer = spawn("taskset", args, { stdio: ["ignore", "pipe", "pipe"] })
  onTestFinished(() => void outer.kill("SIGKILL"))
  const [line] = await once(outer.stdout, "data")
  const [url] = /http:\S+/.exec(String(line))!
  const answer = fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      model: "any",
      messages: [{ role: "user", content: "hi" }],
      structured_outputs: { regex: "[a-z]{300}" },
    }),
  })
  const status = answer.then(
    (response) => response.status,
    () => "cut off",
  )
  const running = async () => (await (await fetch(`${url}/load`)).json()).running
  await expect.poll(running, { timeout: 20_000 }).toBe(1)
  return { outer, status }
}
