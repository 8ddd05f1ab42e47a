import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"

/**
 * The package as a user gets it: packed, installed into an empty project without its optional dependencies, imported and
 * required. Needs the registry, or npm's cache, for the dependencies; without either these tests are skipped and say so.
 */

const { name, exports, dependencies, optionalDependencies } = JSON.parse(readFileSync("package.json", "utf8"))
const folder = mkdtempSync(join(tmpdir(), "packed-"))
let unreachable: string | undefined

beforeAll(() => {
  const pack = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder]
  const [{ filename }] = JSON.parse(execFileSync("npm", pack, { encoding: "utf8" }))
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "user", private: true, type: "module" }))
  const flags = ["--ignore-scripts", "--omit=optional", "--prefer-offline", "--no-audit", "--no-fund"]
  const { status, stderr } = spawnSync("npm", ["install", ...flags, "--fetch-retries=0", `./${filename}`], {
    cwd: folder,
    encoding: "utf8",
  })
  if (status === 0) return
  const code = /npm (?:error|ERR!) code (\w+)/.exec(stderr)?.[1] ?? ""
  const isNetwork = /^(ENOTFOUND|ECONN\w+|EAI_AGAIN|ETIMEDOUT|ENOTCACHED|ERR_SOCKET_TIMEOUT|E5\d\d)$/
  if (!isNetwork.test(code)) throw new Error(`npm install failed: ${stderr}`)
  unreachable = `the registry cannot be reached (${code}), and npm's cache has not all of ${Object.keys(dependencies)}`
}, 240_000)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Runs an ES module in the project; its output as JSON. */
function run(program: string): unknown {
  const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
    cwd: folder,
    encoding: "utf8",
  })
  expect([status, stderr]).toEqual([0, ""])
  return JSON.parse(stdout)
}

const names = Object.keys(exports).map((path) => name + path.slice(1))

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

  test("the pure floors work", (context) => {
    if (unreachable) context.skip(unreachable)
    const found = run(`
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
      console.log(JSON.stringify([mask[0], token, matcher.accept(token), matcher.isAccepting()]))`)
    expect(found).toEqual([0b0101, 2, true, true])
  })

  test("open() names the package that is missing, and how to get it", (context) => {
    if (unreachable) context.skip(unreachable)
    const found = run(`
      import { open } from "tokenrail"
      const error = await open({ device: "cpu" }).then(() => null, (error) => error)
      console.log(JSON.stringify([error.name, error.message]))`)
    expect(found).toEqual([
      "ModelError",
      expect.stringMatching(/^onnxruntime-node .*ONNXRUNTIME_NODE_INSTALL=skip npm install onnxruntime-node/),
    ])
  })

  test("the program is there: check needs no model, generate says what is missing", (context) => {
    if (unreachable) context.skip(unreachable)
    const program = join(folder, "node_modules/.bin/tokenrail")
    const call = (args: string[], input = "") => spawnSync(program, args, { input, encoding: "utf8" })
    expect(call(["check", "-", "--regex", "a+"], "aaa")).toMatchObject({ status: 0, stdout: "-: ok\n" })
    const refused = call(["generate", "Hi", "--regex", "a+"])
    expect([refused.status, refused.stderr]).toEqual([
      4,
      expect.stringContaining("npm install onnxruntime-node"),
    ])
  })
})
