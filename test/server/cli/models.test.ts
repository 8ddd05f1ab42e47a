/** `tokenrail models` and `cache`: what they print. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Command } from "commander"
import { beforeEach, expect, test, vi } from "vitest"
import { BuiltModels } from "../../../runtime/model/build/cache.ts"
import { cacheCommand } from "../../../server/cli/cache.ts"
import { exitCode } from "../../../server/cli/exit.ts"
import { modelsCommand, printable } from "../../../server/cli/models.ts"
import { writeBuildProgram } from "../../support/buildprogram.ts"
import { ioOf } from "../../support/io.ts"
import { writeOllamaModel } from "../../support/modelfolders.ts"

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "home-"))
  vi.stubEnv("HOME", home)
  return () => {
    vi.unstubAllEnvs()
    rmSync(home, { recursive: true })
  }
})

/** The command's code, and what it prints. */
async function run(...args: string[]) {
  const ended = { code: -1, out: "", err: "" }
  const env = { XDG_CACHE_HOME: join(home, "cache"), HF_HUB_CACHE: join(home, "hub") }
  const out = (text: string) => {
    ended.out += text
  }
  const err = (text: string) => {
    ended.err += text
  }
  const io = { ...ioOf({ env }), out, err }
  const done = (code: number) => {
    ended.code = code
  }
  const program = new Command().exitOverride()
  for (const add of [modelsCommand, cacheCommand]) add(program, io, done)
  await program.parseAsync(args, { from: "user" }).catch((error: unknown) => done(exitCode(error, io)))
  return ended
}

test("what lies there, and why it does not open, one line a model", async () => {
  expect((await run("models")).out).toBe("")
  const folder = join(home, ".ollama/models")
  writeOllamaModel(folder, "registry.ollama.ai/library/odd/1b", [
    { type: "model", content: "no GGUF at all" },
  ])
  const lmStudio = join(home, ".lmstudio/models/acme/tiny")
  mkdirSync(lmStudio, { recursive: true })
  writeFileSync(join(lmStudio, "tiny-Q4_0.gguf"), "")
  const { code, out } = await run("models")
  expect(code).toBe(0)
  const [ollama, studio] = out.split("\n")
  expect(ollama).toMatch(/^ollama:odd:1b {2}gguf {2}0\.0 MB {2}\/.*sha256-[0-9a-f]{64} {2}refused: /)
  expect(studio).toMatch(/^lmstudio:acme\/tiny:Q4_0 {2}gguf {2}0\.0 MB .*tiny-Q4_0\.gguf {2}refused: /)
  writeFileSync(join(home, "hub"), "in the way")
  expect((await run("models")).err).toBe(`tokenrail: ${join(home, "hub")} cannot be read (ENOTDIR)\n`)
  const [first] = (await run("models", "--json")).out.split("\n")
  expect(JSON.parse(first)).toEqual({
    ...{ name: "ollama:odd:1b", kind: "gguf", path: expect.any(String), bytes: 14 },
    ...{ opens: false, why: expect.any(String) },
  })
})

test("the cache lists what was converted, and clears it by name or whole", async () => {
  const root = join(home, "cache/tokenrail/models")
  expect(await run("cache")).toEqual({ code: 0, out: "", err: `0 models, 0.0 MB, in ${root}\n` })
  const built = new BuiltModels(root)
  for (const name of ["a", "b", "c"]) {
    writeFileSync(join(home, `${name}.gguf`), name)
    const options = { provider: "cpu" as const, program: writeBuildProgram(home) }
    await built.directoryOf({ kind: "gguf", path: join(home, `${name}.gguf`), name }, options)
  }
  rmSync(join(home, "b.gguf"))
  const { out, err } = await run("cache")
  expect(out.split("\n").map((line) => line.replace(/[0-9a-f]{12}/, "key"))).toEqual([
    `a  gguf q8  0.0 MB  key  ${home}/a.gguf`,
    `b  gguf q8  0.0 MB  key  ${home}/b.gguf, which is gone`,
    `c  gguf q8  0.0 MB  key  ${home}/c.gguf`,
    "",
  ])
  expect(err).toBe(`3 models, 0.0 MB, in ${root}\n`)
  const listed = (await run("cache", "--json")).out.trim().split("\n")
  expect(JSON.parse(listed[1])).toMatchObject({
    name: "b",
    source: join(home, "b.gguf"),
    stale: true,
    dtype: "q8",
  })
  const { code, err: unknown } = await run("cache", "--clear", "d")
  expect([code, unknown]).toEqual([
    2,
    `tokenrail: ${root} has no model d. \`tokenrail cache\` lists its models\n`,
  ])
  expect((await run("cache", "--clear", "b")).err).toBe(`removed: 1 models, 0.0 MB, in ${root}\n`)
  const { key } = JSON.parse(listed[0])
  await run("cache", "--clear", key.slice(0, 12))
  expect((await built.list()).map(({ info }) => info?.name)).toEqual(["c"])
  mkdirSync(join(root, `${key}.1`))
  await run("cache", "--clear")
  expect([await built.list(), existsSync(join(root, `${key}.1`))]).toEqual([[], false])
})

test("what a terminal would obey is not printed", () => {
  expect(printable("a\x1b[2Jb\u202ec\n")).toBe("a?[2Jb?c?")
})
