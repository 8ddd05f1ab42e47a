import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
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
    expect(await faultsOf("entries.ts", { lib, types, skipLibCheck: false })).toBe("")
  },
  120_000,
)

test("types of values, events and arguments follow from the schemas of every library", async () => {
  const packages = ["@valibot", "ai", "arktype", "typebox", "valibot", "zod", "zod3"]
  for (const name of packages)
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name), "junction")
  const source = readFileSync(join(root, "test/inference.ts"), "utf8")
  const imported = source.replace('"../runtime/index.ts"', '"tokenrail"')
  const options = { lib: ["es2022", "dom"], types: ["node"], skipLibCheck: true }
  writeFileSync(join(folder, "inference.ts"), imported)
  expect(await faultsOf("inference.ts", options)).toBe("")
  // The check can fail: a type that differs is an error.
  writeFileSync(join(folder, "inference.ts"), imported.replace("is<string>()", "is<number>()"))
  expect(await faultsOf("inference.ts", options)).toContain("inference.ts")
}, 120_000)

/** What the compiler says about a file of the folder. */
async function faultsOf(file: string, options: object): Promise<string> {
  const compilerOptions = {
    ...{ target: "es2022", module: "nodenext", strict: true, exactOptionalPropertyTypes: true, noEmit: true },
    ...options,
  }
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [file] }))
  return run(process.execPath, [tsc, "-p", folder]).then(
    () => "",
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
  )
}
