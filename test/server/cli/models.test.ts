/** `tokenrail models` and `cache` as a user runs them. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeEach, expect, test } from "vitest"
import { BuiltModels } from "../../../runtime/model/build/cache.ts"
import { printable } from "../../../server/cli/models.ts"
import { writeBuildProgram } from "../../support/buildprogram.ts"
import { writeOllamaModel } from "../../support/modelfolders.ts"
import { outcome, start } from "../../support/program.ts"

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "home-"))
  return () => rmSync(home, { recursive: true })
})
const run = (...args: string[]) =>
  outcome(start(args, { HOME: home, XDG_CACHE_HOME: join(home, "cache"), HF_HUB_CACHE: join(home, "hub") }))

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
  expect(ollama).toMatch(/^ollama:odd:1b {2}gguf {2}0\.0 MB {2}\/.*sha256-[0-9a-f]{64} {2}cannot be opened: /)
  expect(studio).toMatch(
    /^lmstudio:acme\/tiny:Q4_0 {2}gguf {2}0\.0 MB .*tiny-Q4_0\.gguf {2}cannot be opened: /,
  )
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
    `a  gguf q8 cpu  0.0 MB  key  ${home}/a.gguf`,
    `b  gguf q8 cpu  0.0 MB  key  ${home}/b.gguf, which is gone`,
    `c  gguf q8 cpu  0.0 MB  key  ${home}/c.gguf`,
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
    `tokenrail: nothing of d is in ${root}. \`tokenrail cache\` lists what is there\n`,
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
