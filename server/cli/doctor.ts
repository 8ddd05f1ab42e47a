/**
 * `tokenrail doctor`: checks each part that an answer needs, and says how to fix a part that fails.
 * The last check is an answer: ten tokens under a constraint, from the model that the flags name.
 *
 * The exit code is 0 if all parts pass, else 1. A failed part does not end the check.
 */
import { constants, existsSync, readFileSync } from "node:fs"
import { access, lstat, readdir, stat, statfs } from "node:fs/promises"
import { createRequire } from "node:module"
import { availableParallelism, freemem, totalmem } from "node:os"
import { dirname, join, resolve } from "node:path"
import { getHeapStatistics } from "node:v8"
import type { Command } from "commander"
import { openDevice } from "../../runtime/device.ts"
import { packageFile } from "../../runtime/files.ts"
import { type Engine, IncompleteError } from "../../runtime/index.ts"
import { HubCache } from "../../runtime/model/hub/cache.ts"
import { readHubSettings } from "../../runtime/model/hub/name.ts"
import { installLine, muteTelemetry, requireOrt } from "../../runtime/model/ort/installed.ts"
import { version } from "../version.ts"
import { Exit, type Io } from "./exit.ts"
import { examples } from "./helptext.ts"
import { type ModelFlags, modelFlags, openModel } from "./model.ts"

/** The result for one part. */
interface Finding {
  readonly name: string
  readonly ok: boolean
  readonly says: string
  /** How to fix the part; only if it failed. */
  readonly way?: string
  /** Figures, for programs. */
  readonly facts?: Readonly<Record<string, unknown>>
}

type Flags = ModelFlags & { json?: boolean }

export function doctorCommand(program: Command, io: Io, done: (code: number) => void): void {
  modelFlags(
    program
      .command("doctor")
      .description("check everything that an answer needs, and say what to do if it is missing"),
  )
    .option("--json", "print one JSON object")
    .addHelpText("after", examples("doctor"))
    .action(async (flags: Flags) => done(await run(flags, io)))
}

async function run(flags: Flags, io: Io): Promise<number> {
  const { engines, dependencies, optionalDependencies } = JSON.parse(
    readFileSync(packageFile("package.json"), "utf8"),
  )
  const parts: (() => Finding | Promise<Finding>)[] = [
    () => lookAtRuntime(engines.node, process.versions),
    () => lookAtPackages(dependencies, optionalDependencies),
    lookAtDevice,
    lookAtMemory,
    () => lookAtCache(io.env),
    () => lookAtTelemetry(io.env),
    () => writeTokens(flags, io),
  ]
  const checks: Finding[] = []
  for (const part of parts) {
    const found = await part()
    io.signal.throwIfAborted()
    checks.push(found)
    if (flags.json) continue
    const { name, ok, says, way } = found
    io.out(`${name.padEnd(9)}  ${ok ? "ok  " : "FAIL"}  ${says}${way === undefined ? "" : `. ${way}`}\n`)
  }
  const ok = checks.every((check) => check.ok)
  if (flags.json) io.out(`${JSON.stringify({ ok, version, checks })}\n`)
  return ok ? Exit.Ok : Exit.Rejected
}

/**
 * Checks the runtime by its own name, since Bun and Deno report the version of Node that they
 * implement. `range` is `>=` and a version.
 */
export function lookAtRuntime(
  range: string,
  versions: { readonly node: string; readonly [name: string]: string | undefined },
): Finding {
  const { node } = versions
  const name = ["bun", "deno"].find((each) => versions[each] !== undefined) ?? "node"
  const version = versions[name] ?? node
  const [here, least] = [node, range.replace(">=", "")].map((text) => text.split(".").map(Number))
  const ok = here[0] > least[0] || (here[0] === least[0] && here[1] >= (least[1] ?? 0))
  const cores = availableParallelism()
  return {
    name,
    ok,
    says: `${version}${name === "node" ? "" : ` as node ${node}`}, ${process.platform} ${process.arch}, ${cores} cores`,
    ...(!ok && {
      way: name === "node" ? `Install Node ${range}` : `Install a newer ${name}, or Node ${range}`,
    }),
    facts: { version, node, needs: range, platform: process.platform, arch: process.arch, cores },
  }
}

/** Checks which packages are installed, and their versions. */
function lookAtPackages(
  needed: Readonly<Record<string, string>>,
  optional: Readonly<Record<string, string>>,
): Finding {
  const from = createRequire(packageFile("package.json"))
  const versionOf = (name: string): string | null => {
    const path = from.resolve
      .paths(name)
      ?.map((folder) => join(folder, name, "package.json"))
      .find((each) => existsSync(each))
    return path === undefined ? null : JSON.parse(readFileSync(path, "utf8")).version
  }
  const packages = Object.entries({ ...optional, ...needed }).map(([name, wanted]) => ({
    name,
    wanted,
    version: versionOf(name),
  }))
  const missing = packages.filter(({ name, version }) => version === null && name !== "webgpu")
  const others = packages.filter(({ version, wanted }) => version !== null && version !== wanted)
  const shown = packages.filter(
    ({ name }) => Object.hasOwn(optional, name) || missing.some((each) => each.name === name),
  )
  const words = shown.map(({ name, version }) => `${name} ${version ?? "missing"}`)
  for (const { name, version, wanted } of others) words.push(`${name} ${version} in place of ${wanted}`)
  const isOrt = missing.some(({ name }) => name === "onnxruntime-node")
  const rest = missing.filter(({ name }) => name !== "onnxruntime-node")
  const lines = [
    ...(isOrt ? [installLine()] : []),
    ...(rest.length > 0
      ? [`npm install --ignore-scripts ${rest.map(({ name, wanted }) => `${name}@${wanted}`).join(" ")}`]
      : []),
  ]
  return {
    name: "packages",
    ok: missing.length === 0,
    says: words.join(", "),
    ...(lines.length > 0 && { way: `Run: ${lines.join(" && ")}` }),
    facts: { packages },
  }
}

/** A GPU is optional: without one the CPU is used. */
async function lookAtDevice(): Promise<Finding> {
  const name = "device"
  try {
    const device = await openDevice({ software: false })
    const { info } = device
    device.close()
    return { name, ok: true, says: `gpu, ${info}`, facts: { gpu: info } }
  } catch (error) {
    const { message } = error as Error
    return { name, ok: true, says: `cpu (${message})`, facts: { gpu: null, reason: message } }
  }
}

/** The embedded model and its engine take some 0.2 GB. */
const leastMemory = 0.5e9

function lookAtMemory(): Finding {
  // A container may have less than its machine.
  const limit = process.constrainedMemory?.() || Number.POSITIVE_INFINITY
  const total = Math.min(totalmem(), limit)
  const free = Math.min(freemem(), total)
  const heap = getHeapStatistics().heap_size_limit
  const ok = total >= leastMemory
  return {
    name: "memory",
    ok,
    says: `${gigabytes(total)} GB, ${gigabytes(free)} free, JavaScript heap up to ${gigabytes(heap)}`,
    ...(!ok && { way: `At least ${gigabytes(leastMemory)} GB are needed` }),
    facts: { totalBytes: total, freeBytes: free, heapBytes: heap },
  }
}

async function lookAtCache(env: Io["env"]): Promise<Finding> {
  const { cache } = readHubSettings(env)
  const folder = resolve(cache)
  const [bytes, models] = [await bytesBelow(folder), (await new HubCache(folder).models()).length]
  let ancestor = folder
  while (dirname(ancestor) !== ancestor && !existsSync(ancestor)) ancestor = dirname(ancestor)
  const isFolder = await stat(ancestor).then(
    (found) => found.isDirectory(),
    () => false,
  )
  const reason = isFolder
    ? await access(ancestor, constants.W_OK).then(
        () => null,
        (error: Error) => error.message,
      )
    : `${ancestor} is not a folder`
  const disk = await statfs(ancestor).catch(() => null)
  const free = disk === null ? null : disk.bavail * disk.bsize
  const room = free === null ? "" : `, ${gigabytes(free)} GB free`
  return {
    name: "cache",
    ok: reason === null,
    says: `${folder}: ${models} models, ${gigabytes(bytes)} GB${room}, ${reason === null ? "can be written" : `cannot be written (${reason})`}`,
    ...(reason !== null && { way: "Change its permissions, or set HF_HUB_CACHE to another folder" }),
    facts: { folder, models, bytes, freeBytes: free, isWritable: reason === null },
  }
}

/** Returns the bytes of all files below a folder. Links count as 0. */
async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  let bytes = 0
  for (const entry of entries.filter((each) => each.isFile()))
    bytes += await lstat(join(entry.parentPath ?? entry.path, entry.name)).then(
      ({ size }) => size,
      () => 0,
    )
  return bytes
}

/** Nothing here sends telemetry. onnxruntime would, unless its environment forbids it. */
function lookAtTelemetry(env: Io["env"]): Finding {
  const said = env.ORT_DISABLE_TELEMETRY
  muteTelemetry()
  const isOff = said === undefined || said === "1"
  return {
    name: "telemetry",
    ok: true,
    says: isOff ? "off" : `ORT_DISABLE_TELEMETRY=${said} sets that of onnxruntime`,
    facts: { isOff },
  }
}

/** Alternating digits and letters, longer than ten tokens can be. */
const constraint = "([0-9][a-z]){500}"
const isBegun = /^([0-9][a-z])+[0-9]?$/
const tokenCount = 10

async function writeTokens(flags: Flags, io: Io): Promise<Finding> {
  const name = "answer"
  try {
    requireOrt()
    const start = performance.now()
    const engine = await openModel({ slots: 1, ...flags }, io, { log: () => {} })
    try {
      const opened = performance.now()
      const text = await writtenBy(engine, io)
      const [openMs, ms] = [opened - start, performance.now() - opened].map(Math.round)
      const { id } = engine.model
      const ok = isBegun.test(text)
      return {
        name,
        ok,
        says: `${id} opened in ${openMs} ms, ${tokenCount} tokens within a pattern in ${ms} ms: ${JSON.stringify(text)}`,
        ...(!ok && { way: "This is a fault of this program: please report it" }),
        facts: { model: id, openMs, ms, tokens: tokenCount, text },
      }
    } finally {
      await engine.close()
    }
  } catch (error) {
    return { name, ok: false, says: (error as Error).message, facts: { error: (error as Error).message } }
  }
}

/** Returns the text that the engine writes until its budget ends. */
async function writtenBy(engine: Engine, io: Io): Promise<string> {
  try {
    const options = { regex: constraint, maxTokens: tokenCount, temperature: 0, signal: io.signal }
    return (await engine.generate("1", options)).text
  } catch (error) {
    if (error instanceof IncompleteError && error.finishReason === "length") return error.text
    throw error
  }
}

function gigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(1)
}
