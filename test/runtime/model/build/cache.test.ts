/** Model directories that are built once: keys, locks, killed and doubled conversions, full disks, aborts. */
import { spawn } from "node:child_process"
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs"
import { hostname, tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { beforeEach, expect, test } from "vitest"
import { ModelError } from "../../../../runtime/index.ts"
import { type BuildOptions, BuiltModels } from "../../../../runtime/model/build/cache.ts"
import type { ModelProgress } from "../../../../runtime/model/hub/pull.ts"
import type { ModelSource } from "../../../../runtime/model/hub/source.ts"
import { type BuildProgram, writeBuildProgram } from "../../../support/buildprogram.ts"
import { withSmallDisk } from "../../../support/smalldisk.ts"

let folder: string
let root: string
let built: BuiltModels
let source: ModelSource
let lines: string[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "built-"))
  root = join(folder, "cache/models")
  built = new BuiltModels(root)
  writeFileSync(join(folder, "x.gguf"), "GGUF")
  source = { kind: "gguf", path: join(folder, "x.gguf"), name: "x" }
  lines = []
  return () => rmSync(folder, { recursive: true })
})

const build = (program: BuildProgram = {}, options: Partial<BuildOptions> = {}, of = source) =>
  built.directoryOf(of, {
    ...{ provider: "cpu", log: (line) => lines.push(line), program: writeBuildProgram(folder, program) },
    ...options,
  })
const refusal = async (...args: Parameters<typeof build>) => {
  const error = await build(...args).then(String, (thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ModelError)
  expect((error as Error).message).not.toContain("\n")
  return (error as Error).message
}
/** How often a conversion was begun. */
const runs = () => readFileSync(join(folder, "log.txt"), "utf8").trim().split("\n").length
const there = () => readdirSync(root)

test("it is built once, and says how far it is", async () => {
  const seen: ModelProgress[] = []
  const path = await build({}, { onProgress: (progress) => seen.push(progress) })
  expect(there()).toEqual([path.slice(root.length + 1)])
  expect(readdirSync(path).sort()).toEqual(
    ["built.json", "config.json", "model.onnx", "model.onnx.data", "tokenizer.json"].sort(),
  )
  expect(seen.map(({ doneBytes }) => doneBytes)).toEqual([1000, 2000, 3000, 4000])
  expect(seen[0]).toEqual({ model: "x", file: source.path, fileBytes: 4000, doneBytes: 1000, allBytes: 4000 })
  expect(lines[0]).toBe(`converting ${source.path}, once`)
  expect(await build()).toBe(path)
  expect([runs(), lines.length]).toEqual([1, 2])
  const [model] = await built.list()
  expect(model).toMatchObject({
    path,
    bytes: expect.any(Number),
    isStale: false,
    info: { name: "x", kind: "gguf", source: source.path, dtype: "q8" },
  })
})

test("the key is of the file's content, the type of weights and the graph, and not of its name", async () => {
  const paths = [await build(), await build({}, { dtype: "q8" })]
  renameSync(source.path, join(folder, "y.gguf"))
  const renamed = { ...source, path: join(folder, "y.gguf") }
  paths.push(await build({}, {}, renamed))
  expect([new Set(paths).size, runs()]).toEqual([1, 1])
  paths.push(await build({}, { dtype: "q4" }, renamed), await build({}, { provider: "cuda" }, renamed))
  expect(await build({}, { provider: "web" }, renamed)).toBe(paths[0])
  utimesSync(renamed.path, 1, 1)
  paths.push(await build({}, {}, renamed))
  writeFileSync(renamed.path, "GGUF and more")
  paths.push(await build({}, {}, renamed))
  expect([new Set(paths).size, runs()]).toEqual([5, 5])
  expect(await refusal({}, { dtype: "fp16" })).toMatch(
    /dtype fp16 exists only for ONNX graphs, .* q8, q4, fp32/,
  )
})

test("a blob is known by its digest, whenever it was copied and through links", async () => {
  mkdirSync(join(folder, "blobs"))
  for (const name of [`sha256-${"a".repeat(64)}`, "a".repeat(64)]) {
    const path = join(folder, "blobs", name)
    writeFileSync(path, "GGUF")
    utimesSync(path, 5, 5)
    symlinkSync(path, join(folder, `${name.length}.gguf`))
  }
  const at = (path: string) => build({}, {}, { ...source, path: join(folder, path) })
  const paths = [await at(`blobs/sha256-${"a".repeat(64)}`), await at("71.gguf"), await at("64.gguf")]
  utimesSync(join(folder, "blobs", "a".repeat(64)), 9, 9)
  paths.push(await at("64.gguf"))
  expect([new Set(paths).size, runs()]).toEqual([1, 1])
})

test("all parts of a split file count, and all files of safetensors", async () => {
  const parts = ["m-00001-of-00002.gguf", "m-00002-of-00002.gguf"].map((name) => join(folder, name))
  writeFileSync(parts[0], "first")
  const of = { ...source, path: parts[0] }
  expect(await refusal({}, {}, of)).toBe(`${parts[1]} is missing. Add it`)
  writeFileSync(parts[1], "second")
  const path = await build({}, {}, of)
  expect(await build({}, {}, { ...source, path: parts[1] })).toBe(path)
  writeFileSync(parts[1], "changed")
  expect(await build({}, {}, of)).not.toBe(path)
  mkdirSync(join(folder, "st"))
  for (const name of ["config.json", "model.safetensors"]) writeFileSync(join(folder, "st", name), name)
  const tensors: ModelSource = { kind: "safetensors", path: join(folder, "st"), name: "st" }
  const fails = () => build({ ends: "refuses" }, {}, tensors).catch(() => {})
  await fails()
  const begun = runs()
  writeFileSync(join(folder, "st/README.md"), "changed")
  await fails()
  expect(runs()).toBe(begun + 1)
})

test("what fails leaves nothing, and says why in a line", async () => {
  expect(await refusal({ ends: "refuses" })).toBe("x.gguf: refused by name")
  expect(await refusal({ ends: "fails" })).toMatch(
    /^.*x\.gguf: its converted copy cannot be written: EIO: .* See to it, or set XDG_CACHE_HOME to another place$/,
  )
  await expect(build({ ends: "throws" })).rejects.toThrow("not a function")
  await expect(build({ ends: "exits" })).rejects.toThrow("the thread that converts ended with code 7")
  expect(there()).toEqual([])
  const path = await build()
  expect(there().map((name) => join(root, name))).toEqual([path])
})

test("what was built just now and does not open is not kept; an older one is", async () => {
  const path = await build()
  const error = new ModelError(`${path}/model.onnx: Node (x) has a negative epsilon`)
  const message = `${source.path}: its converted copy does not open: model.onnx: Node (x) has a negative epsilon`
  expect(await new BuiltModels(root).refusalOf(error, source, path)).toEqual(new ModelError(message))
  expect(there().length).toBe(1)
  const other = new Error("not a function")
  expect(await built.refusalOf(other, source, path)).toBe(other)
  await built.refusalOf(new ModelError("Failed to allocate memory for requested buffer"), source, path)
  expect(there().length).toBe(1)
  expect(await built.refusalOf(error, source, path)).toEqual(new ModelError(message))
  expect(there()).toEqual([])
})

test("a file that is exchanged while it is converted is not kept as what it was", async () => {
  const exchange = () => writeFileSync(source.path, "GGUG")
  expect(await refusal({}, { onProgress: exchange })).toMatch(
    /x\.gguf changed while it was converted\. Open it again$/,
  )
  expect(there()).toEqual([])
})

test.skipIf(process.platform !== "linux")("a disk that is full is one line", async () => {
  expect(await refusal({ ends: "full disk" })).toMatch(
    /x\.gguf: its converted copy cannot be written: ENOSPC: .* MB left, .* are to come\. Make room, or set XDG_CACHE_HOME/,
  )
  expect(there()).toEqual([])
})

test("a small disk that fills up is one line, and is empty afterwards (needs the right to mount)", async (context) => {
  const disk = join(folder, "disk")
  const isMounted = await withSmallDisk(disk, 2 ** 20, async () => {
    built = new BuiltModels(join(disk, "models"))
    expect(await refusal({ ends: "fills" })).toMatch(
      /ENOSPC: .* has 0\.0 MB left, .*Make room, or set XDG_CACHE_HOME/,
    )
    expect(readdirSync(join(disk, "models"))).toEqual([])
    await build()
  })
  if (!isMounted) context.skip("no right to mount a tmpfs")
})

test("a place where nothing can be written is one line", async () => {
  writeFileSync(join(folder, "cache"), "in the way")
  expect(await refusal()).toMatch(
    /x\.gguf: its converted copy cannot be written: ENOTDIR|EEXIST.*XDG_CACHE_HOME/,
  )
  expect(await refusal({}, {}, { ...source, path: join(folder, "none.gguf") })).toBe(
    `${join(folder, "none.gguf")} is missing. Add it`,
  )
  mkdirSync(join(folder, "folder.gguf"))
  expect(await refusal({}, {}, { ...source, path: join(folder, "folder.gguf") })).toContain(
    "it is not a file",
  )
})

test.skipIf(process.platform !== "linux")("a place where no folder can be made is one line", async () => {
  // Node's own recursive mkdir never returns there.
  built = new BuiltModels("/proc/1/tokenrail/models")
  expect(await refusal()).toMatch(
    /x\.gguf: its converted copy cannot be written: E[A-Z]+: .*\/proc\/1\/tokenrail'\. See to it, or set XDG_CACHE_HOME/,
  )
})

test("a lock that is not a file is named in the error; the lock of another model does not matter", async () => {
  const path = await build()
  rmSync(path, { recursive: true })
  mkdirSync(`${path}.lock`)
  const message = `${path}.lock is not a file, and a lock file is needed there. Remove it`
  expect(await refusal()).toBe(message)
  utimesSync(`${path}.lock`, 1, 1)
  expect(await refusal()).toBe(message)
  writeFileSync(source.path, "another one")
  await build()
})

test("a signal ends it, and the thread with it", async () => {
  const controller = new AbortController()
  const reason = new Error("enough")
  const onProgress = ({ doneBytes }: ModelProgress) => {
    if (doneBytes === 2000) controller.abort(reason)
  }
  const options = { signal: controller.signal, onProgress }
  await expect(build({ pieces: 1000, pauseMs: 5 }, options)).rejects.toBe(reason)
  expect(there()).toEqual([])
  await expect(build({}, options)).rejects.toBe(reason)
  await build()
})

test("an event loop is free meanwhile", async () => {
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  await build({ pieces: 20, pauseMs: 10 })
  clearInterval(timer)
  expect(turns).toBeGreaterThan(20)
})

test("two in one process build once", async () => {
  const paths = await Promise.all([build({ pauseMs: 20 }), build({ pauseMs: 20 }), build({ pauseMs: 20 })])
  expect([new Set(paths).size, runs(), there().length]).toEqual([1, 1, 1])
})

/** A process of its own that builds; what it prints is the directory, or the refusal. */
function startProcess(program: string) {
  const cache = pathToFileURL(resolve("dist/runtime/model/build/cache.js")).href
  const text = `import { BuiltModels } from ${JSON.stringify(cache)}
const options = { provider: "cpu", program: ${JSON.stringify(program)} }
console.log(await new BuiltModels(${JSON.stringify(root)}).directoryOf(${JSON.stringify(source)}, options))`
  const child = spawn(process.execPath, ["--input-type=module", "--eval", text], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  let out = ""
  child.stdout.on("data", (chunk) => {
    out += chunk
  })
  const ended = new Promise<string>((done) => child.on("close", () => done(out.trim())))
  return { child, ended }
}

test("two processes build once", async () => {
  const program = writeBuildProgram(folder, { pauseMs: 200 })
  const [first, second] = [startProcess(program), startProcess(program)]
  const paths = await Promise.all([first.ended, second.ended])
  expect(existsSync(join(paths[0], "built.json"))).toBe(true)
  expect([new Set(paths).size, runs()]).toEqual([1, 1])
  expect(there().map((name) => join(root, name))).toEqual([paths[0]])
})

test("what a killed process leaves does not open, and is removed by the next one", async () => {
  const { child, ended } = startProcess(writeBuildProgram(folder, { pieces: 1000, pauseMs: 10 }))
  const begun = () =>
    existsSync(root) && there().some((name) => existsSync(join(root, name, "model.onnx.data")))
  while (!begun()) await new Promise((done) => setTimeout(done, 10))
  child.kill("SIGKILL")
  await ended
  const kinds = there().map((name) => name.replace(/^[0-9a-f]{40}/, "key").replace(/\d+$/, "pid"))
  expect(kinds.sort()).toEqual(["key.lock", "key.pid"])
  expect(await built.list()).toEqual([])
  // Another model's conversion takes it away as well as its own.
  cpSync(root, join(folder, "copy"), { recursive: true })
  const other = { ...source, path: join(folder, "other.gguf") }
  writeFileSync(other.path, "another one")
  const paths = [await build({}, {}, other)]
  expect(there().map((name) => join(root, name))).toEqual(paths)
  cpSync(join(folder, "copy"), root, { recursive: true })
  paths.push(await build())
  expect(
    there()
      .map((name) => join(root, name))
      .sort(),
  ).toEqual(paths.sort())
})

test("what another process is writing is left alone, also while others begin and end", async () => {
  const { ended } = startProcess(writeBuildProgram(folder, { pieces: 20, pauseMs: 50 }))
  while (!existsSync(root) || there().length < 2) await new Promise((done) => setTimeout(done, 10))
  const other = { ...source, path: join(folder, "other.gguf") }
  writeFileSync(other.path, "another one")
  await build({}, {}, other)
  await built.sweep()
  expect(existsSync(join(await ended, "model.onnx"))).toBe(true)
  expect(there().length).toBe(2)
})

test("a lock of this process's number that nobody holds is nobody's", async () => {
  const path = await build()
  rmSync(path, { recursive: true })
  writeFileSync(`${path}.lock`, `${hostname()} ${process.pid}`)
  mkdirSync(`${path}.${process.pid}`)
  expect(await build()).toBe(path)
  expect(there().length).toBe(1)
})

test("a directory that was damaged by hand is listed, so that it can be removed, and is built again", async () => {
  const path = await build()
  const damages: (() => void)[] = [
    () => rmSync(join(path, "model.onnx")),
    () => truncateSync(join(path, "model.onnx.data"), 10),
    () => writeFileSync(join(path, "tokenizer.json"), ""),
    () => writeFileSync(join(path, "built.json"), "{"),
  ]
  const sizes = () => readdirSync(path).map((file) => [file, statSync(join(path, file)).size])
  const whole = sizes()
  for (const [count, damage] of damages.entries()) {
    damage()
    expect((await built.list()).map((model) => model.path)).toEqual([path])
    expect(await build()).toBe(path)
    expect([runs(), sizes()]).toEqual([count + 2, whole])
  }
})

test("it lists and removes what was built", async () => {
  const paths = [await build(), await build({}, { dtype: "q4" })]
  mkdirSync(join(root, "something else"))
  symlinkSync("nowhere", join(root, "f".repeat(40)))
  const link = (await built.list()).find(({ key }) => /^f+$/.test(key))!
  expect([link.info, link.bytes]).toEqual([null, 0])
  await built.remove(link)
  writeFileSync(join(paths[1], "built.json"), "{")
  const models = await built.list()
  expect(models.map(({ path, info, isStale }) => [path, info?.dtype, isStale])).toEqual([
    [paths[0], "q8", false],
    [paths[1], undefined, true],
  ])
  expect(models[0].bytes).toBeGreaterThan(4000)
  await built.remove(models[0])
  rmSync(source.path)
  expect((await built.list()).map(({ path }) => path)).toEqual([paths[1]])
  expect(there().sort()).toEqual([paths[1].slice(root.length + 1), "something else"].sort())
})
