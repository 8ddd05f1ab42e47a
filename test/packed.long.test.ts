import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { command, installPackages, installRuntimes, runtimes } from "./support/runtimes.ts"

/**
 * The package as a user gets it: packed, installed into an empty project without its optional dependencies, imported and
 * required, by this Node and by other runtimes. Needs the registry, or npm's cache, for the dependencies and for the
 * runtimes; without either these tests are skipped and say so.
 */

const { name, exports, dependencies, optionalDependencies } = JSON.parse(readFileSync("package.json", "utf8"))
const folder = mkdtempSync(join(tmpdir(), "packed-"))
let unreachable: string | undefined
let packed: string[]

beforeAll(() => {
  const pack = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder]
  const [{ filename, files }] = JSON.parse(execFileSync("npm", pack, { encoding: "utf8" }))
  packed = files.map(({ path }: { path: string }) => path)
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }))
  const reason = installPackages(folder, ["--omit=optional", `./${filename}`])
  if (reason) unreachable = `${reason}, and npm's cache has not all of ${Object.keys(dependencies)}`
}, 240_000)
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** Runs an ES module in the project; its output as JSON. */
function run(program: string): unknown {
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: folder,
    encoding: "utf8",
  })
  expect([status, stderr]).toEqual([0, ""])
  return JSON.parse(stdout)
}

/** A program over the three floors that need nothing of Node, and what it prints as JSON. */
const floors = `
  import { compile } from "tokenrail/grammar"
  import { Matcher, TokenFsm, Vocabulary } from "tokenrail/mask"
  import { createCpuSampler, greedyParams, TokenCounts } from "tokenrail/sampler"
  const words = ["a", "b", "ab"].map((word) => new TextEncoder().encode(word))
  const vocabulary = Vocabulary.fromBytes([...words, null], { endIds: [3] })
  const { grammar } = compile({ kind: "regex", pattern: "ab+" })
  const matcher = new Matcher(new TokenFsm(grammar, vocabulary))
  const mask = new Uint32Array(1)
  matcher.fillMask(mask)
  const row = { logitsRow: 0, params: greedyParams(4), mask, tokens: new TokenCounts([]), position: 0, choice: 0 }
  const [{ token }] = await createCpuSampler().sample(Float32Array.of(0, 9, 5, 9), 4, [row])
  console.log(JSON.stringify([mask[0], token, matcher.accept(token), matcher.isAccepting()]))`
const floorsOutput = [0b0101, 2, true, true]

const names = Object.keys(exports).map((path) => name + path.slice(1))

test("the package holds what was built, the shipped model and its own pages alone", () => {
  const top = new Set(packed.map((path) => path.replace(/\/.*/, "/")))
  expect([...top].sort()).toEqual([
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "dist/",
    "package.json",
    "runtime/",
  ])
  expect(
    packed.filter((path) => /^runtime\/(?!embedded\/(?!train)|warm\/samples\.jsonl$)|^dist\/test/.test(path)),
  ).toEqual([])
})

describe("an installed package", () => {
  test("has what it needs, and nothing that is optional", (context) => {
    if (unreachable) context.skip(unreachable)
    const isThere = (dependency: string) => existsSync(join(folder, "node_modules", dependency))
    expect(Object.keys(dependencies).filter((dependency) => !isThere(dependency))).toEqual([])
    expect(Object.keys(optionalDependencies).filter(isThere)).toEqual([])
  })

  test.for(names)("import and require of %s give the same names", (path, context) => {
    if (unreachable) context.skip(unreachable)
    const json = path.endsWith(".json")
    const found = run(`
      import { createRequire } from "node:module"
      const imported = await import(${JSON.stringify(path)}${json ? ', { with: { type: "json" } }' : ""})
      const required = createRequire(process.cwd() + "/x.js")(${JSON.stringify(path)})
      const names = (module) => Object.keys(module).filter((key) => key !== "__esModule").sort()
      console.log(JSON.stringify([names(${json ? "imported.default" : "imported"}), names(required)]))`)
    const [imported, required] = found as string[][]
    expect(imported.length).toBeGreaterThan(1)
    expect(required).toEqual(imported)
  })

  test("open() names the package that is missing, and how to get it", (context) => {
    if (unreachable) context.skip(unreachable)
    const found = run(`
      import { open } from "tokenrail"
      const error = await open({ device: "cpu" }).then(() => null, (error) => error)
      console.log(JSON.stringify([error.name, error.message]))`)
    expect(found).toEqual([
      "ModelError",
      expect.stringMatching(
        /^onnxruntime-node is missing: .*npm install --ignore-scripts onnxruntime-node@1\.30\.0 .*ONNXRUNTIME_NODE_INSTALL=skip npm install onnxruntime-node/,
      ),
    ])
  })

  test("the program is there: check needs no model, generate says what is missing", (context) => {
    if (unreachable) context.skip(unreachable)
    const program = join(folder, "node_modules/.bin/tokenrail")
    const call = (args: string[], input = "") => spawnSync(program, args, { input, encoding: "utf8" })
    expect(call(["check", "-", "--regex", "a+"], "aaa")).toMatchObject({ status: 0, stdout: "-: ok\n" })
    for (const args of [
      ["generate", "Hi", "--regex", "a+"],
      ["serve", "--port", "0"],
    ]) {
      const refused = call(args)
      expect([refused.status, refused.stderr]).toEqual([
        4,
        expect.stringContaining("npm install --ignore-scripts onnxruntime-node@"),
      ])
    }
    const doctor = call(["doctor"])
    expect(doctor.status).toBe(1)
    expect(doctor.stdout).toMatch(
      /^packages +FAIL +onnxruntime-node missing, webgpu missing\. Run: npm install --ignore-scripts onnxruntime-node@/m,
    )
    expect(doctor.stdout).toMatch(/^answer +FAIL +onnxruntime-node is missing/m)
  })
})

describe("installed where only the registry answers, with install scripts on", () => {
  const tarball = () => `./${readdirSync(folder).find((name) => name.endsWith(".tgz"))}`
  /** Scripts that fetch from elsewhere fail, on every machine. */
  const env = {
    ...process.env,
    npm_config_ignore_scripts: "false",
    npm_config_prefer_offline: "true",
    npm_config_audit: "false",
    npm_config_fund: "false",
    GLOBAL_AGENT_HTTPS_PROXY: "http://127.0.0.1:9",
    GLOBAL_AGENT_HTTP_PROXY: "http://127.0.0.1:9",
  }
  const inFolder = (cwd: string, command: string) =>
    spawnSync("sh", ["-c", command], { cwd, env, encoding: "utf8" })
  const fresh = (): string => {
    const path = mkdtempSync(join(folder, "user-"))
    writeFileSync(join(path, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }))
    writeFileSync(join(path, tarball()), readFileSync(join(folder, tarball())))
    return path
  }
  const isWell = (cwd: string) => {
    const { status, stdout, stderr } = inFolder(cwd, "node_modules/.bin/tokenrail doctor --json")
    expect([status, stderr], stdout).toEqual([0, ""])
    expect(JSON.parse(stdout).ok).toBe(true)
  }

  test("the README's line brings all that an answer takes", (context) => {
    if (unreachable) context.skip(unreachable)
    const line = /`(npm install [^`]*tokenrail)`/.exec(readFileSync("README.md", "utf8"))?.[1]
    expect(line).toBeDefined()
    const cwd = fresh()
    const { status, stderr } = inFolder(cwd, line!.replace(/tokenrail$/, tarball()))
    expect([status, stderr]).toEqual([0, expect.any(String)])
    isWell(cwd)
  })

  test("a plain install leaves onnxruntime-node out, and the line that the error names mends it", (context) => {
    if (unreachable) context.skip(unreachable)
    if (process.platform !== "linux" || process.arch !== "x64")
      context.skip("its script fetches on linux-x64 only")
    const cwd = fresh()
    expect(inFolder(cwd, `npm install ${tarball()}`).status).toBe(0)
    expect(existsSync(join(cwd, "node_modules/onnxruntime-node"))).toBe(false)
    const { status, stderr } = inFolder(cwd, "node_modules/.bin/tokenrail generate Hi --regex a+")
    expect(status).toBe(4)
    const line = /(npm install --ignore-scripts onnxruntime-node@[\d.]+)/.exec(stderr)?.[1]
    expect(line, stderr).toBeDefined()
    expect(inFolder(cwd, line!).status).toBe(0)
    isWell(cwd)
  })
})

describe("the pure floors work in", () => {
  /** Why the runtimes are not there. */
  let reason: string | undefined

  beforeAll(() => {
    if (unreachable) return
    writeFileSync(join(folder, "floors.mjs"), floors)
    reason = installRuntimes()
  }, 240_000)

  test.for(runtimes)("$name", (runtime, context) => {
    if (unreachable) context.skip(unreachable)
    const run = command(runtime, reason)
    if ("skip" in run) return context.skip(run.skip)
    const { status, stdout, stderr } = run.call(["floors.mjs"], folder)
    expect([status, stderr]).toEqual([0, ""])
    expect(JSON.parse(stdout)).toEqual(floorsOutput)
  })
})
