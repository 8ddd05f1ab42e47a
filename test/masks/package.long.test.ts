/**
 * The package `tokenrail-masks` as a user gets it: packed and installed without anything else, in
 * every runtime of JavaScript. Its sizes have bounds, and its masks of 200 schemas are those of
 * this tree.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { gzipSync } from "node:zlib"
import { build as esbuild, transformSync } from "esbuild"
import type { Browser } from "playwright-core"
import { build } from "vite"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { compile } from "../../grammar/index.ts"
import { Matcher, TokenFsm, Vocabulary } from "../../mask/index.ts"
import { launchChromium } from "../support/chromium.ts"
import { command, installPackages, installRuntimes, runtimes } from "../support/runtimes.ts"
import { manySchemas } from "./schemas.ts"
import { walkHashes } from "./walks.ts"

const folder = mkdtempSync(join(tmpdir(), "masks-"))
const built = join(folder, "built")
const installed = join(folder, "node_modules/tokenrail-masks")
const expected = walkHashes({ compile, Matcher, TokenFsm, Vocabulary }, manySchemas())
let unpackedBytes = 0
let packed: string[] = []

/** The hashes of all schemas, by the package alone. */
const program = `
  import { compilerOf, json } from "tokenrail-masks/json"
  import { formats } from "tokenrail-masks/formats"
  import { Matcher, TokenFsm, Vocabulary } from "tokenrail-masks/mask"
  import { metaschemas } from "tokenrail-masks/metaschemas"
  import { regex } from "tokenrail-masks/regex"
  import { walkHashes } from "./walks.js"
  import { schemas } from "./schemas.js"
  const compile = compilerOf({ ...json, ...regex, ...formats, ...metaschemas })
  export const hashes = () => walkHashes({ compile, Matcher, TokenFsm, Vocabulary }, schemas)`

beforeAll(async () => {
  await build({ configFile: "vite.masks.config.ts", build: { outDir: built } })
  const pack = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder]
  const [{ filename, files, unpackedSize }] = JSON.parse(
    execFileSync("npm", pack, { encoding: "utf8", cwd: built }),
  )
  unpackedBytes = unpackedSize
  packed = files.map(({ path }: { path: string }) => path)
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  write("package.json", JSON.stringify({ name: "user", private: true, type: "module" }))
  execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", `./${filename}`], { cwd: folder })
  write("walks.js", transformSync(readFileSync("test/masks/walks.ts", "utf8"), { loader: "ts" }).code)
  write("schemas.js", `export const schemas = ${JSON.stringify(manySchemas())}`)
  write("program.js", program)
  write("print.js", `import { hashes } from "./program.js"\nconsole.log(JSON.stringify(hashes()))`)
  write("page.js", `import { hashes } from "./program.js"\nglobalThis.hashes = hashes`)
  write(
    "worker.js",
    `import { hashes } from "./program.js"\nexport default { fetch: () => Response.json(hashes()) }`,
  )
}, 120_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test("the schemas are many, most compile, and their masks differ", () => {
  expect(expected.length).toBe(200)
  const hashed = expected.filter((hash) => typeof hash === "number")
  expect(hashed.length).toBeGreaterThan(150)
  expect(new Set(hashed).size).toBeGreaterThan(100)
})

describe("the package", () => {
  test("has no dependencies, its licences, and at most 3 MB", () => {
    const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"))
    const { version } = JSON.parse(readFileSync("package.json", "utf8"))
    expect(manifest).toMatchObject({ name: "tokenrail-masks", version, type: "module", license: "MIT" })
    expect(Object.keys(manifest).filter((key) => /dependencies$/i.test(key))).toEqual([])
    expect(readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."))).toEqual([
      "tokenrail-masks",
    ])
    expect(packed).toEqual(expect.arrayContaining(["LICENSE", "NOTICES.md", "README.md", "index.d.ts"]))
    const notices = readFileSync(join(installed, "NOTICES.md"), "utf8")
    for (const name of ["chevrotain", "@eslint-community/regexpp", "lodash-es"])
      expect(notices).toContain(name)
    expect(unpackedBytes).toBeLessThanOrEqual(3_000_000)
  })

  test("no file imports anything outside it", () => {
    for (const path of packed.filter((name) => name.endsWith(".js"))) {
      const text = readFileSync(join(installed, path), "utf8")
      const from = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"([\w@./:-]+)"/g)]
      expect(from.map(([, name]) => name).filter((name) => !name.startsWith("."))).toEqual([])
    }
  })

  test("every entry has types that compile in a strict program, and the names of its declarations", async () => {
    const { exports } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"))
    const paths = Object.keys(exports).filter((path) => !path.endsWith(".json"))
    const specifiers = paths.map((path) => `tokenrail-masks${path.slice(1)}`)
    writeFileSync(
      join(folder, "entries.ts"),
      [
        ...specifiers.map(
          (path, i) => `import * as entry${i} from "${path}"\nexport const names${i}: object = entry${i}`,
        ),
        `import { compilerOf, json, type Compiled } from "tokenrail-masks/json"`,
        `export const compiled: Compiled = compilerOf(json)({ kind: "json", schema: {} })`,
        "// @ts-expect-error: this table has no front end of regular expressions.",
        `compilerOf(json)({ kind: "regex", pattern: "a" })`,
      ].join("\n"),
    )
    const options = ["--target es2022 --module nodenext --strict --noEmit --types", "", "entries.ts"]
    const tsc = [
      join(process.cwd(), "node_modules/typescript/bin/tsc"),
      ...options[0].split(" "),
      "",
      "entries.ts",
    ]
    const { stdout } = spawnSync(process.execPath, tsc, { cwd: folder, encoding: "utf8" })
    expect(stdout).toBe("")
    const require = createRequire(join(folder, "x.js"))
    for (const path of specifiers) {
      const names = Object.keys(await import(pathToFileURL(require.resolve(path)).href))
      expect(names.length, path).toBeGreaterThan(3)
    }
  })

  test("the program of its README prints what stands there", () => {
    const [, code, output] = /```js\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/.exec(
      readFileSync(join(installed, "README.md"), "utf8"),
    )!
    expect(code.trim().split("\n").length).toBeLessThanOrEqual(11)
    writeFileSync(join(folder, "readme.js"), code)
    expect(execFileSync(process.execPath, ["readme.js"], { cwd: folder, encoding: "utf8" })).toBe(output)
  })
})

/** What a page loads at once that imports `entry`, in bytes after gzip. */
const pageOf = (entry: string) => `
  export { compilerOf, ${entry} } from "tokenrail-masks/${entry}"
  export { Matcher, TokenFsm, Vocabulary } from "tokenrail-masks/mask"`

async function bundled(bundler: string, name: string): Promise<string> {
  const entry = join(folder, name)
  if (bundler === "esbuild") {
    const options = {
      bundle: true,
      minify: true,
      write: false,
      format: "esm",
      legalComments: "none",
    } as const
    return (await esbuild({ ...options, entryPoints: [entry] })).outputFiles[0].text
  }
  const output = await build({
    configFile: false,
    logLevel: "silent",
    root: folder,
    build: {
      ...{ write: false, modulePreload: false },
      rolldownOptions: { input: entry, preserveEntrySignatures: "strict" },
    },
  })
  const chunks = [output].flat().flatMap((each) => ("output" in each ? each.output : []))
  const [chunk] = chunks.filter((each) => each.type === "chunk" && each.isEntry)
  return chunk.type === "chunk" ? chunk.code : ""
}

// These bounds are only lowered. esbuild's names of variables take 3 % more after gzip.
const bounds: [bundler: string, bytes: number][] = [
  ["vite", 130_000],
  ["esbuild", 133_600],
]

describe.each(bounds)("bundled by %s", (bundler, bytes) => {
  test(`a page of JSON Schema alone loads at most ${bytes} bytes`, async () => {
    writeFileSync(join(folder, "size.js"), pageOf("json"))
    const code = await bundled(bundler, "size.js")
    expect(code).not.toMatch(/\bfrom\s*"|\bimport\s*\(/)
    expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(bytes)
  })

  test("masks in Chromium are those of this tree", async ({ skip }) => {
    const browser: Browser | string = await launchChromium()
    if (typeof browser === "string") return skip(`Chromium does not start: ${browser}`)
    try {
      const page = await browser.newPage()
      const code = (await bundled(bundler, "page.js")).replaceAll("</script", "<\\/script")
      await page.setContent(`<script type="module">${code}</script>`)
      await page.waitForFunction(() => "hashes" in globalThis, undefined, { timeout: 20_000 })
      const found = await page.evaluate(() => (globalThis as unknown as { hashes(): unknown }).hashes())
      expect(found).toEqual(expected)
    } finally {
      await browser.close()
    }
  })
})

describe("masks are those of this tree in", () => {
  let reason: string | undefined
  beforeAll(() => {
    reason = installRuntimes()
  }, 240_000)

  test.for(runtimes)("$name", (runtime, context) => {
    const run = command(runtime, reason)
    if ("skip" in run) return context.skip(run.skip)
    const { status, stdout, stderr } = run.call(["print.js"], folder)
    expect([status, stderr]).toEqual([0, ""])
    expect(JSON.parse(stdout)).toEqual(expected)
  })

  test("workerd", async (context) => {
    const cwd = join(folder, "workerd")
    mkdirSync(cwd)
    writeFileSync(join(cwd, "package.json"), JSON.stringify({ private: true, type: "module" }))
    const missing = installPackages(cwd, [`miniflare@${miniflareVersion}`])
    if (missing) return context.skip(missing)
    writeFileSync(join(cwd, "worker.js"), await bundled("esbuild", "worker.js"))
    writeFileSync(join(cwd, "run.js"), runWorker)
    const { status, stdout, stderr } = spawnSync(process.execPath, ["run.js"], { cwd, encoding: "utf8" })
    expect([status, stderr]).toEqual([0, ""])
    expect(JSON.parse(stdout)).toEqual(expected)
  })
})

const miniflareVersion = "4.20260426.0"
const runWorker = `
  import { Miniflare } from "miniflare"
  const worker = new Miniflare({ modules: true, scriptPath: "worker.js", compatibilityDate: "2026-01-01" })
  const response = await worker.dispatchFetch("http://localhost/")
  console.log(await response.text())
  await worker.dispose()`
