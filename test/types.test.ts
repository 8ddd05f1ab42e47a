import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"

// The types of every entry compile in a strict program that checks its libraries, whatever types of a platform it has.
const root = join(import.meta.dirname, "..")
const run = promisify(execFile)
const entries = ["", "/grammar", "/mask", "/sampler", "/runtime", "/adapters", "/server"]
const tsc = join(root, "node_modules/typescript/bin/tsc")
let folder = ""

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tokenrail-types-"))
  mkdirSync(join(folder, "node_modules/@types"), { recursive: true })
  symlinkSync(root, join(folder, "node_modules/tokenrail"), "junction")
  symlinkSync(join(root, "node_modules/@types/node"), join(folder, "node_modules/@types/node"), "junction")
  const lines = entries.map((entry, i) => `export type * as entry${i} from "tokenrail${entry}"`)
  const served = [
    `import type { Engine } from "tokenrail"`,
    `import { createApp, createFetch } from "tokenrail/server"`,
    `export const serve = (engine: Engine) => createFetch(createApp(engine))("http://api.test/health")`,
  ]
  writeFileSync(join(folder, "entries.ts"), [...served, ...lines, ""].join("\n"))
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each<[name: string, lib: string[], types: string[]]>([
  ["no platform", ["es2022"], []],
  ["the DOM", ["es2022", "dom", "dom.iterable"], []],
  ["web workers", ["es2022", "webworker"], []],
  ["Node", ["es2022"], ["node"]],
])(
  "types compile without skipLibCheck, with the types of %s",
  async (_, lib, types) => {
    const compilerOptions = {
      ...{ target: "es2022", module: "nodenext", lib, types },
      ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true },
    }
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["entries.ts"] }))
    const faults = await run(process.execPath, [tsc, "-p", folder]).then(
      () => "",
      (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
    )
    expect(faults).toBe("")
  },
  120_000,
)
