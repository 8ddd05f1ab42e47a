/**
 * Files and batches of one application: opens the store, runs its batches, and acts for the routes.
 */
import { createHash } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Refusal } from "../errors.ts"
import { type BatchContext, cancelBatch, createBatch, getBatch, listBatches } from "./batches.ts"
import { DirectoryStore } from "./directory.ts"
import { DirectoryInUseError, lockDirectory } from "./directorylock.ts"
import { createFile, deleteFile, getContent, getFile, listFiles, removeExpired } from "./files.ts"
import type { BatchActions } from "./routes.ts"
import { BatchRunner, type RunnerOptions } from "./runner.ts"
import { type BatchStore, refuseLost } from "./store.ts"

export interface ServiceOptions
  extends Pick<RunnerOptions, "answer" | "width" | "log" | "isOver">,
    Pick<BatchContext, "bodyLimits" | "held" | "model"> {
  /** The store, or its directory. Default: a directory of this process. */
  store: BatchStore | string | undefined
  apiKeys: readonly string[]
}

/** Opens the store and continues its batches. Rejects with the system's error. */
export async function openBatches(options: ServiceOptions): Promise<BatchActions> {
  const { apiKeys, bodyLimits, held, model } = options
  const store = await openStore(options.store)
  await removeExpired(store, options.log)
  const owners = apiKeys.map(ownerOf)
  const keyOf = (owner: string): string | null | undefined =>
    apiKeys.length === 0 ? null : apiKeys[owners.indexOf(owner)]
  const runner = new BatchRunner({ ...options, store, keyOf })
  const stop = (): void => {
    runner.stop()
    options.log?.("batches: another server has taken the data directory, so they stop here")
  }
  store.lost?.addEventListener("abort", stop, { once: true })
  if (store.lost?.aborted) stop()
  await runner.wake()
  const of = (key: number): string => owners[key] ?? ""
  /** Returns the store, unless another process has taken it: what is known of it here is old. */
  const own = (): BatchStore => {
    refuseLost(store)
    return store
  }
  const context = (): BatchContext => ({ store: own(), runner, bodyLimits, held, model })
  return {
    createFile: async (request, { key }) => createFile(own(), request, of(key), options.log),
    listFiles: async (request, { key }) => listFiles(own(), request, of(key)),
    getFile: async (_, { id, key }) => getFile(own(), id, of(key)),
    getContent: async (_, { id, key }) => getContent(own(), id, of(key)),
    deleteFile: async (_, { id, key }) => deleteFile(own(), id, of(key)),
    createBatch: async (request, { key }) => createBatch(context(), request, of(key)),
    listBatches: async (request, { key }) => listBatches(context(), request, of(key)),
    getBatch: async (_, { id, key }) => getBatch(context(), id, of(key)),
    cancelBatch: async (_, { id, key }) => cancelBatch(context(), id, of(key)),
  }
}

/** Rejects with `Refusal` if another process has the directory. */
async function openStore(store: BatchStore | string | undefined): Promise<BatchStore> {
  if (typeof store === "object") return store
  if (store === undefined) return DirectoryStore.open(temporaryDirectory())
  await mkdir(store, { recursive: true, mode: 0o700 })
  const control = new AbortController()
  try {
    await lockDirectory(store, { lost: () => control.abort() })
  } catch (error) {
    if (!(error instanceof DirectoryInUseError)) throw error
    throw new Refusal("overloaded", "another server uses the data directory", {
      hint: "End it, or give each server a directory of its own",
    })
  }
  return DirectoryStore.open(store, control.signal)
}

/** The directories of this process that are removed at its end. */
const temporary: string[] = []

function temporaryDirectory(): string {
  if (temporary.length === 0) {
    process.once("exit", () => {
      for (const path of temporary) rmSync(path, { recursive: true, force: true })
    })
  }
  const path = mkdtempSync(join(tmpdir(), "tokenrail-data-"))
  temporary.push(path)
  return path
}

/** Returns the owner that an API key stands for. The key itself is not stored. */
function ownerOf(key: string): string {
  return createHash("sha256").update(key).digest("hex")
}
