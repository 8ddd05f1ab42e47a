/** The program on one core: it starts itself again, and nobody notices. */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { expect, test } from "vitest"
import { isBetterRestarted } from "../../server/onecore.ts"

test("one core and helper threads: start again, once", () => {
  expect(isBetterRestarted(1, [])).toBe(true)
  expect(isBetterRestarted(1, ["--single-threaded"])).toBe(false)
  expect(isBetterRestarted(2, [])).toBe(false)
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
  "a signal ends both processes",
  async () => {
    const args = ["-c", "0", process.execPath, "dist/server/main.js", "serve", "--port", "0"]
    const outer = spawn("taskset", args, { stdio: ["ignore", "pipe", "pipe"] })
    await once(outer.stderr, "data")
    const children = spawnSync("ps", ["-o", "pid=", "--ppid", String(outer.pid)], { encoding: "utf8" }).stdout
    const inner = Number(children.trim().split("\n")[0])
    expect(inner).toBeGreaterThan(0)
    outer.kill("SIGKILL")
    await once(outer, "exit")
    const isAlive = () => spawnSync("ps", ["-p", String(inner)]).status === 0
    for (let i = 0; i < 100 && isAlive(); i++) await new Promise((resolve) => setTimeout(resolve, 100))
    expect(isAlive()).toBe(false)
  },
  60_000,
)
