/**
 * Caches model directories that are built from GGUF and safetensors: each is built once, in a
 * thread, and stored under a key of its sources. A directory is complete or absent: it is written
 * under another name, and renamed when its bytes are on the disk. One process builds at a time; the
 * next one removes the leftovers of a killed one.
 *
 * `<key>` is a model directory with `built.json`; `<key>.<pid>` is one that is being written;
 * `<key>.lock` names the process that writes it.
 */
import { createHash } from "node:crypto"
import { createReadStream } from "node:fs"
import { lstat, open, readdir, readFile, realpath, rename, rm, stat } from "node:fs/promises"
import { basename, dirname, join, relative, sep } from "node:path"
import { pipeline } from "node:stream/promises"
import { Worker } from "node:worker_threads"
import { ModelError } from "../../errors.ts"
import { packageFile } from "../../files.ts"
import { partsOf } from "../hub/label.ts"
import { ifUnlocked, withLock } from "../hub/lock.ts"
import type { ModelProgress } from "../hub/pull.ts"
import { filesIn, type ModelSource } from "../hub/source.ts"
import { type Disk, makeFolder, unwritten } from "../room.ts"
import type { Dtype } from "../weights/blocks.ts"
import { checkBuiltDtype } from "./dtype.ts"
import { attentionTypes, type Provider } from "./providers.ts"

/** Increased when the output changes: directories of other versions are built again. */
const writerVersion = 1

export interface BuildOptions {
  readonly dtype?: string | undefined
  readonly provider: Provider
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: ModelProgress) => void) | undefined
  readonly log?: ((line: string) => void) | undefined
  /** Program of the thread. Default: the package's own. @internal */
  readonly program?: string | URL | undefined
}

/** Input of the thread. */
export interface BuildTask {
  readonly source: ModelSource
  readonly dtype: Dtype
  readonly provider: Provider
  /** The disk that will hold the final path of `folder`. */
  readonly disk: Disk
  /** The thread creates it once every check has passed. */
  readonly folder: string
}

/** The messages of the thread. */
export type BuildAnswer =
  | { readonly kind: "progress"; readonly doneBytes: number; readonly allBytes: number }
  | { readonly kind: "done" }
  | {
      readonly kind: "failed"
      readonly message: string
      readonly code?: string | undefined
      readonly isRefusal: boolean
    }

/** The contents of `built.json`. */
export interface BuiltInfo {
  readonly name: string
  readonly kind: ModelSource["kind"]
  /** The file or the folder of the weights. */
  readonly source: string
  readonly dtype: Dtype
  readonly version: number
  /** Size in bytes of each file except `built.json`, by its path in the directory. */
  readonly files: Readonly<Record<string, number>>
}

const infoFile = "built.json"
const keyPattern = /^[0-9a-f]{40}$/
const restPattern = /^([0-9a-f]{40})\.(\d+|lock)$/
/** Maximum megabytes of the heap of the thread that builds. */
const maxHeapMb = 2_048

export class BuiltModels {
  /** The folder of all built directories. */
  readonly root: string
  /** Directories built by this object that have not been opened yet. */
  private readonly fresh = new Set<string>()

  constructor(root: string) {
    this.root = root
  }

  /**
   * Returns the model directory of `source`, which is built if it is missing. Throws ModelError for
   * refused weights, a full disk or a folder that cannot be written, and the signal's reason.
   */
  async directoryOf(source: ModelSource, options: BuildOptions): Promise<string> {
    const { signal, log } = options
    const dtype = checkBuiltDtype(source.path, options.dtype)
    const key = await keyOf(source, dtype, options.provider)
    const path = join(this.root, key)
    if (await isWhole(path)) return path
    try {
      await makeFolder(this.root)
      const build = async (): Promise<void> => {
        // The process that held the lock before may have built it.
        if (await isWhole(path)) return
        await this.sweep(key)
        const { kind, name } = source
        await this.build(
          path,
          source,
          { name, kind, source: source.path, dtype, version: writerVersion },
          options,
        )
        this.fresh.add(path)
      }
      const onWait = () => log?.(`another process converts ${source.path}: waiting for it`)
      await withLock(`${path}.lock`, signal, build, onWait)
    } catch (error) {
      signal?.throwIfAborted()
      if (!isOfDisk(error)) throw error
      throw await unwritten(`${source.path}: its converted copy`, diskOf(this.root), 0, error as Error)
    }
    return path
  }

  /**
   * Returns the error to throw if the directory at `path`, built from `source`, does not open
   * because of `error`. A ModelError then names the weights. If the directory was just built it is
   * removed, unless only memory was missing.
   */
  async refusalOf(error: unknown, source: ModelSource, path: string): Promise<unknown> {
    if (!(error instanceof ModelError)) return error
    if (!/alloc|memory/i.test(error.message) && this.fresh.delete(path))
      await this.remove({ key: basename(path), path }).catch(() => {})
    const reason = error.message.replaceAll(path + sep, "").replaceAll(`${path}: `, "")
    return new ModelError(`${source.path}: its converted copy does not open: ${reason}`, { cause: error })
  }

  private async build(
    path: string,
    source: ModelSource,
    info: Omit<BuiltInfo, "files">,
    options: BuildOptions,
  ): Promise<void> {
    const folder = `${path}.${process.pid}`
    let left = 0
    const started = performance.now()
    // The weights of a GGUF file keep their types, so no type is logged.
    const types = source.kind === "gguf" ? "" : ` (${info.dtype})`
    options.log?.(`converting ${source.path}${types}, once`)
    try {
      const { dtype } = info
      const { provider } = options
      const onProgress = (progress: ModelProgress) => {
        left = progress.allBytes - progress.doneBytes
        options.onProgress?.(progress)
      }
      await runThread(
        { source, dtype, provider, disk: diskOf(this.root), folder },
        { ...options, onProgress },
      )
      if ((await keyOf(source, dtype, provider)) !== basename(path))
        throw new ModelError(`${source.path} changed while it was converted. Open it again`)
      await writeInfo(folder, { ...info, files: await sizesIn(folder) })
      await syncFiles(folder)
      await rm(path, { recursive: true, force: true })
      await rename(folder, path)
      await sync(this.root)
      options.log?.(`converted in ${((performance.now() - started) / 1000).toFixed(1)} s, kept in ${path}`)
    } catch (error) {
      options.signal?.throwIfAborted()
      if (!isOfDisk(error)) throw error
      throw await unwritten(`${source.path}: its converted copy`, diskOf(this.root), left, error as Error)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  /** Removes the leftovers of interrupted conversions. The caller holds the lock of `ownKey`. */
  async sweep(ownKey?: string): Promise<void> {
    const names = await readdir(this.root).catch(() => [])
    const keys = new Set(names.map((name) => restPattern.exec(name)?.[1]).filter((key) => key !== undefined))
    for (const key of keys) {
      const remove = async () => {
        for (const name of names)
          if (name.startsWith(`${key}.`) && !name.endsWith(".lock"))
            await rm(join(this.root, name), { recursive: true, force: true })
      }
      // If files of other models cannot be removed, this conversion continues.
      await (key === ownKey ? remove() : ifUnlocked(join(this.root, `${key}.lock`), remove).catch(() => {}))
    }
  }

  /** Returns all directories, including damaged ones, the newest last. */
  async list(): Promise<BuiltModel[]> {
    const found: BuiltModel[] = []
    for (const key of await readdir(this.root).catch(() => [])) {
      const path = join(this.root, key)
      if (!keyPattern.test(key)) continue
      const info = await readInfo(path)
      const { mtimeMs } = await lstat(path)
      const isStale = info === null || (await stat(info.source).catch(() => null)) === null
      found.push({ key, path, info, bytes: await bytesIn(path), builtAt: mtimeMs, isStale })
    }
    return found.sort((a, b) => a.builtAt - b.builtAt)
  }

  /** Removes a directory. On Windows, open files stay. Throws ModelError. */
  async remove({ key, path }: Pick<BuiltModel, "key" | "path">): Promise<void> {
    // It is renamed first, in one step, so that no partial directory is opened.
    const rest = join(this.root, `${key}.${process.pid}`)
    try {
      await rm(rest, { recursive: true, force: true })
      await rename(path, rest)
      await rm(rest, { recursive: true })
    } catch (cause) {
      const { message } = cause as Error
      throw new ModelError(`${path} cannot be removed: ${message}. Close the programs that use it`, { cause })
    }
  }
}

/** A directory that was built. */
export interface BuiltModel {
  readonly key: string
  readonly path: string
  /** Null if `built.json` is damaged. */
  readonly info: BuiltInfo | null
  readonly bytes: number
  /** Milliseconds since 1970. */
  readonly builtAt: number
  /** Whether the weights that it was built from no longer exist. */
  readonly isStale: boolean
}

/** Returns whether it is an error of the file system. */
function isOfDisk(error: unknown): boolean {
  return /^E[A-Z]+$/.test((error as NodeJS.ErrnoException).code ?? "")
}

function diskOf(folder: string): Disk {
  return { folder, way: "set XDG_CACHE_HOME to another place" }
}

/**
 * Returns a key for the content of the files. A blob is identified by its name, which is its
 * digest; any other file by its size, its time and its first MiB, which contains the header. Throws
 * ModelError for a file that cannot be read.
 */
async function keyOf(source: ModelSource, dtype: Dtype, provider: Provider): Promise<string> {
  // This is the only property of the provider that changes the graph.
  const attention = attentionTypes[provider]
  const hash = createHash("sha256").update(`${source.kind} ${dtype} ${attention} ${writerVersion}\n`)
  for (const path of await filesOf(source)) {
    try {
      // A GGUF file is the same model under any name.
      hash.update(`${source.kind === "gguf" ? "" : relative(source.path, path)} ${await describe(path)}\n`)
    } catch (cause) {
      const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT"
      const why = isMissing ? "is missing. Add it" : `cannot be read: ${(cause as Error).message}`
      throw new ModelError(`${path} ${why}`, { cause })
    }
  }
  return hash.digest("hex").slice(0, 40)
}

async function describe(path: string): Promise<string> {
  const real = await realpath(path)
  // Opening a pipe would block, so only regular files are opened.
  if (!(await stat(real)).isFile()) throw new Error("it is not a file")
  const file = await open(real, "r")
  try {
    const { size, mtimeMs } = await file.stat()
    const digest = digestNamed(real)
    if (digest !== null) return `${size} ${digest}`
    const first = Buffer.alloc(Math.min(size, 2 ** 20))
    await file.read(first, 0, first.length, 0)
    return `${size} ${mtimeMs} ${createHash("sha256").update(first).digest("hex")}`
  } finally {
    await file.close()
  }
}

/**
 * Returns the SHA-256 of the content that a blob of Ollama or of the hub has as its name; null if
 * the file is not a blob.
 */
function digestNamed(realPath: string): string | null {
  if (basename(dirname(realPath)) !== "blobs") return null
  return /^(?:sha256-)?([0-9a-f]{64})$/.exec(basename(realPath))?.[1] ?? null
}

/**
 * Throws ModelError for a blob if its content does not match its name, which is part of the key of
 * the built directory.
 */
export async function checkDigests(source: ModelSource): Promise<void> {
  for (const path of await filesOf(source)) {
    const real = await realpath(path)
    const digest = digestNamed(real)
    if (digest === null) continue
    const hash = createHash("sha256")
    await pipeline(createReadStream(real, { highWaterMark: 2 ** 20 }), hash)
    if (hash.digest("hex") !== digest)
      throw new ModelError(`${path}: its content does not match the digest in its name. Download it again`)
  }
}

/** Returns the files that a model is built from. */
async function filesOf({ kind, path }: ModelSource): Promise<string[]> {
  if (kind === "gguf") return partsOf(path)
  const names = await filesIn(path)
  return names.filter((name) => /\.(safetensors|json|jinja)$/.test(name)).map((name) => join(path, name))
}

/**
 * Runs the thread until it ends. Rejects with ModelError, the signal's reason, or an error with the
 * file system's code.
 */
async function runThread(task: BuildTask, { signal, onProgress, program }: BuildOptions): Promise<void> {
  signal?.throwIfAborted()
  const worker = new Worker(program ?? packageFile("dist/runtime/model/build/worker.js"), {
    workerData: task,
    // Flags of this process are not passed on, since a thread refuses some of them.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
  })
  const { name, path } = task.source
  let abort: (() => void) | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      abort = () => reject(signal!.reason)
      signal?.addEventListener("abort", abort)
      worker.on("message", (answer: BuildAnswer) => {
        if (answer.kind === "done") resolve()
        else if (answer.kind === "failed") {
          const { message, code, isRefusal } = answer
          reject(isRefusal ? new ModelError(message) : Object.assign(new Error(message), { code }))
        } else {
          const { doneBytes, allBytes } = answer
          onProgress?.({ model: name, file: path, fileBytes: allBytes, doneBytes, allBytes })
        }
      })
      worker.on("error", (error: NodeJS.ErrnoException) =>
        reject(
          error.code === "ERR_WORKER_OUT_OF_MEMORY"
            ? new ModelError(`${path}: converting it takes more than ${maxHeapMb} MB. Choose another model`)
            : error,
        ),
      )
      worker.on("exit", (code) => reject(new Error(`the thread that converts ended with code ${code}`)))
    })
  } finally {
    if (abort) signal?.removeEventListener("abort", abort)
    // The thread may write until it has ended.
    await worker.terminate()
  }
}

async function writeInfo(folder: string, info: BuiltInfo): Promise<void> {
  const file = await open(join(folder, infoFile), "wx")
  await file.writeFile(`${JSON.stringify(info, null, 2)}\n`).finally(() => file.close())
}

async function readInfo(path: string): Promise<BuiltInfo | null> {
  try {
    const { name, kind, source, dtype, version, files } = JSON.parse(
      await readFile(join(path, infoFile), "utf8"),
    )
    const isText = [name, kind, source, dtype].every((each) => typeof each === "string")
    const isWritten = isText && typeof files === "object" && files !== null
    return isWritten ? { name, kind, source, dtype, version, files } : null
  } catch {
    return null
  }
}

/**
 * Returns whether a directory is complete. It was complete when it was renamed, but a file may have
 * been truncated or removed since. An incomplete directory is built again.
 */
async function isWhole(path: string): Promise<boolean> {
  const info = await readInfo(path)
  if (info === null) return false
  const sizes = await sizesIn(path)
  return Object.entries(info.files).every(([file, bytes]) => sizes[file] === bytes)
}

/** Returns the bytes of all files of a folder. */
async function bytesIn(folder: string): Promise<number> {
  return Object.values(await sizesIn(folder)).reduce((sum, bytes) => sum + bytes, 0)
}

/** Returns the bytes of each file of a folder, by its path in the folder. */
async function sizesIn(folder: string): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {}
  for (const file of await filesIn(folder)) {
    const found = await stat(join(folder, file)).catch(() => null)
    if (found !== null) sizes[file] = found.size
  }
  return sizes
}

async function syncFiles(folder: string): Promise<void> {
  for (const file of await filesIn(folder)) await sync(join(folder, file))
  await sync(folder)
}

/** Waits until a file or folder is on the disk. Windows cannot open a folder for that. */
async function sync(path: string): Promise<void> {
  const isFolder = (await stat(path)).isDirectory()
  if (isFolder && process.platform === "win32") return
  // Windows flushes only files that are open for writing.
  const file = await open(path, isFolder ? "r" : "r+")
  await file.sync().finally(() => file.close())
}
