/**
 * A small part of each attack (`main.ts`), so that the programs keep running: what it finds is asserted, times are not.
 *
 * The programs are compiled into a folder of their own, because worker threads need files.
 */
import { execFileSync, spawn } from "node:child_process"
import { readFileSync, rmSync } from "node:fs"
import { afterAll, beforeAll, expect, test } from "vitest"
import { AttackedServer } from "./server.ts"

const folder = "dist/test/small"

beforeAll(() => {
  const compiler = "node_modules/typescript/bin/tsc"
  execFileSync(process.execPath, [compiler, "-p", "tsconfig.bench.json", "--outDir", folder], {
    stdio: "pipe",
  })
}, 60_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const few = [
  ...[
    "keys: __proto__",
    "kwargs: 400 levels",
    "JSON: 500,000 braces",
    "numbers: beyond doubles",
    "invalid UTF-8",
  ],
  ...[
    "regex: nested counts",
    "regex: 100,000 brackets",
    "stop_regex: large counts",
    "content-length: too small",
  ],
  ...["chunks: garbage", "half-closed in the body", "left at every phase"],
  ...["stop: a million", "prompt: 15 MiB of marks", "seed: a text of 15", "keys: 20,000 unknown"],
  ...["schema: in the prompt", "schema: objects nested in oneOf, closed"],
]

interface Report {
  faults: string[]
  figures: Record<string, number>
}

/** Runs a program to its end; its last line is the report. */
async function attack(name: string, args: string[]): Promise<Report> {
  const child = spawn(process.execPath, [`${folder}/test/attack/${name}.js`, "--json", ...args], {
    stdio: "pipe",
  })
  let out = ""
  child.stdout.on("data", (chunk) => {
    out += chunk
  })
  let err = ""
  child.stderr.on("data", (chunk) => {
    err += chunk
  })
  await new Promise((resolve) => child.once("close", resolve))
  const last = out.trim().split("\n").at(-1)!
  expect(last, err).toMatch(/^\{/)
  return JSON.parse(last)
}

test("hostile requests touch no other stream", async () => {
  const { faults, figures } = await attack("kinds", ["--only", few.join("|")])
  expect(faults).toEqual([])
  expect(figures.kinds).toBeGreaterThanOrEqual(few.length)
})

test("nasty schemas are answered or refused", async () => {
  const { faults, figures } = await attack("schemas", ["--count", "6", "--head-ms", "Infinity"])
  expect(faults).toEqual([])
  expect(figures.schemas).toBe(6)
})

test("mutated requests get replies", async () => {
  const { faults, figures } = await attack("mutants", ["--count", "150"])
  expect(faults).toEqual([])
  expect(figures).toEqual({ requests: 150, deaths: 0 })
})

test("streams are whole beside those that are left", async () => {
  const { faults } = await attack("streams", ["--count", "24", "--at-once", "12", "--free-ms", "5000"])
  expect(faults).toEqual([])
})

test.skipIf(process.platform !== "linux")("a server that hangs leaves no process behind", async () => {
  const server = new AttackedServer()
  await server.start()
  const started = [server.pid, ...childrenOf(server.pid)]
  for (const pid of started.slice(1)) process.kill(pid, "SIGSTOP")
  process.kill(server.pid, "SIGSTOP")
  await server.kill("killed: it hangs")
  expect(started.filter(isAlive)).toEqual([])
})

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim()
  return children.split(" ").filter(Boolean).map(Number)
}

/** Not one that has ended and that nobody has asked for its exit code. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"))
  } catch {
    return false
  }
}
