/** `tokenrail doctor` as a user runs it: what is here, what is not, and nothing left behind. */
import { spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { lookAtRuntime } from "../../../server/cli/doctor.ts"
import { outcome, shell, start } from "../../support/program.ts"

const root = mkdtempSync(join(tmpdir(), "doctor-"))
afterAll(() => {
  chmodSync(root, 0o755)
  rmSync(root, { recursive: true })
})
let home: string
let temporary: string
beforeAll(() => {
  home = join(root, "home")
  temporary = join(root, "tmp")
  for (const folder of [home, temporary]) mkdirSync(folder)
})

/** In a home of its own, without what this process says of telemetry. */
const environment = (): Record<string, string> => {
  const { ORT_DISABLE_TELEMETRY: _, HF_HOME: __, XDG_CACHE_HOME: ___, ...rest } = process.env
  return { ...(rest as Record<string, string>), HOME: home, TMPDIR: temporary, HF_HUB_CACHE: "" }
}

async function doctor(args: string[] = [], env: Record<string, string> = {}) {
  const child = start(["doctor", "--json", ...args], { ORT_DISABLE_TELEMETRY: "1", ...env })
  const { code, out, err } = await outcome(child)
  const { ok, checks } = JSON.parse(out)
  expect([err, code]).toEqual(["", ok ? 0 : 1])
  const found = Object.fromEntries(
    (checks as { name: string }[]).map(({ name, ...rest }) => [name, rest]),
  ) as unknown as Record<string, { ok: boolean; says: string; way?: string; facts: Record<string, unknown> }>
  return { code, found }
}

test("all is well here: a line a part, and ten tokens", async () => {
  const { code, out, err } = await outcome(start(["doctor"], { HF_HUB_CACHE: join(root, "cache") }))
  expect([code, err]).toEqual([0, ""])
  const parts = ["node", "packages", "device", "memory", "cache", "telemetry", "answer"]
  const lines = out.trimEnd().split("\n")
  expect(lines.map((line) => line.split(/ +/).slice(0, 2))).toEqual(parts.map((part) => [part, "ok"]))
  expect(lines[1]).toMatch(/onnxruntime-node 1\.30\.0/)
  expect(lines[4]).toMatch(/cache: 0 models, 0\.0 GB, .* can be written$/)
  expect(lines[5]).toMatch(/ off$/)
  expect(lines[6]).toMatch(
    /tokenrail-embedded opened in \d+ ms, 10 tokens within a pattern in \d+ ms: "([0-9][a-z])+[0-9]?"$/,
  )
})

test.each([
  [{ node: "22.6.0", bun: "1.2.0" }, "bun", /^1\.2\.0 as node 22\.6\.0, /, true],
  [{ node: "18.0.0", deno: "2.0.0" }, "deno", /^2\.0\.0 as node 18\.0\.0, /, false],
  [{ node: "20.1.0" }, "node", /^20\.1\.0, /, true],
])("what runs it has its own name: %j", (versions, name, says, ok) => {
  expect(lookAtRuntime(">=20", versions)).toMatchObject({ name, says: expect.stringMatching(says), ok })
})

test("the size of the cache is that of its files, each once", async () => {
  const cache = join(root, "cache")
  const model = join(cache, "models--acme--tiny")
  for (const folder of ["blobs", "snapshots/a", "snapshots/b"])
    mkdirSync(join(model, folder), { recursive: true })
  writeFileSync(join(model, "blobs/x"), new Uint8Array(5_000))
  spawnSync("ln", ["-s", "../../blobs/x", join(model, "snapshots/a/x")])
  spawnSync("ln", ["-s", "../../blobs/x", join(model, "snapshots/b/x")])
  const { found } = await doctor([], { HF_HUB_CACHE: cache })
  expect(found.cache.facts).toMatchObject({ folder: cache, models: 2, bytes: 5_000, isWritable: true })
})

test("what is wrong is told with a way out, and ends with 1", async () => {
  const file = join(root, "file")
  writeFileSync(file, "")
  const { code, found } = await doctor(["--model", join(root, "nowhere")], {
    HF_HUB_CACHE: join(file, "hub"),
  })
  expect(code).toBe(1)
  expect(found.node.ok).toBe(true)
  expect(found.cache).toMatchObject({ ok: false, way: expect.stringContaining("HF_HUB_CACHE") })
  expect(found.cache.says).toContain("is not a folder")
  expect(found.answer).toMatchObject({ ok: false, says: expect.stringContaining("not a directory") })
})

test.skipIf(process.getuid?.() === 0)("a cache that cannot be written", async () => {
  const cache = join(root, "closed")
  mkdirSync(cache, { mode: 0o500 })
  const { found } = await doctor([], { HF_HUB_CACHE: cache })
  expect(found.cache.says).toMatch(/cannot be written \(EACCES/)
})

test("nothing is written outside of the cache, whatever onnxruntime would like to", async () => {
  const program = join(process.cwd(), "dist/server/main.js")
  const run = spawnSync(process.execPath, [program, "doctor"], { env: environment(), encoding: "utf8" })
  expect([run.status, run.stderr]).toEqual([0, ""])
  expect(
    [home, temporary].flatMap((folder) => readdirSync(folder, { recursive: true, encoding: "utf8" })),
  ).toEqual([])
})

test("no connection is made but to this machine", async (context) => {
  if (spawnSync("strace", ["-V"]).status !== 0) context.skip("there is no strace")
  const trace = join(root, "trace")
  const program = join(process.cwd(), "dist/server/main.js")
  const args = ["-f", "-e", "trace=connect,sendto", "-o", trace, process.execPath, program, "doctor"]
  const run = spawnSync("strace", args, { env: environment(), encoding: "utf8" })
  if (/ptrace|Operation not permitted/.test(run.stderr)) context.skip("processes may not be traced")
  expect([run.status, run.stderr]).toEqual([0, ""])
  expect(
    readFileSync(trace, "utf8")
      .split("\n")
      .filter((line) => /AF_INET/.test(line)),
  ).toEqual([])
})

test("what the environment says of the telemetry stands", async () => {
  const { found } = await doctor([], { ORT_DISABLE_TELEMETRY: "1", HF_HUB_CACHE: join(root, "cache") })
  expect(found.telemetry.facts).toEqual({ isOff: true })
})

test("a model that is opened in a thread: who calls is told what only the process can do", async () => {
  const file = join(root, "thread.mjs")
  const index = join(process.cwd(), "dist/runtime/index.js")
  writeFileSync(
    file,
    `import { Worker, isMainThread } from "node:worker_threads"
    if (isMainThread) new Worker(new URL(import.meta.url))
    else {
      const { open } = await import(${JSON.stringify(index)})
      const engine = await open({ device: "cpu", isolation: "none", log: (line) => console.log(line) })
      await engine.close()
    }`,
  )
  const { code, out, err } = await shell(`env -u ORT_DISABLE_TELEMETRY node ${file}`, {
    HOME: home,
    TMPDIR: temporary,
  })
  expect(code, err).toBe(0)
  expect(out).toMatch(/set ORT_DISABLE_TELEMETRY=1 for the process/)
})
