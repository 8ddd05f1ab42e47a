/**
 * A store in a directory, for one process at a time.
 *
 * `files/<id>.json` describes a file and `files/<id>` holds its content; `batches/<id>.json` is a
 * batch. A JSON file is written under another name and renamed, so that it is always whole. The
 * content of a file is complete before its description appears. The outcomes of a running batch are
 * the contents of two files without descriptions, whose ids follow from the batch's id: a batch
 * that is finished twice has the same files. After `lost` has fired nothing is written.
 */
import { createReadStream } from "node:fs"
import { mkdir, open, readdir, readFile, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { OutcomeLog } from "./outcomelog.ts"
import {
  type BatchStore,
  type FileFields,
  newId,
  noTokens,
  nowSeconds,
  type Outcomes,
  refuseLost,
  type StoredBatch,
  type StoredFile,
  sumOf,
} from "./store.ts"
import { usageOf } from "./usage.ts"

export class DirectoryStore implements BatchStore {
  readonly lost: AbortSignal
  private readonly directory: string
  private readonly files = new Map<string, StoredFile>()
  private readonly batches = new Map<string, StoredBatch>()

  private constructor(directory: string, lost: AbortSignal) {
    this.directory = directory
    this.lost = lost
  }

  /**
   * Opens or creates the directory, to write in it until `lost` fires. Rejects with the system's
   * error.
   */
  static async open(
    directory: string,
    lost: AbortSignal = new AbortController().signal,
  ): Promise<DirectoryStore> {
    const store = new DirectoryStore(directory, lost)
    await mkdir(join(directory, "files"), { recursive: true, mode: 0o700 })
    await mkdir(join(directory, "batches"), { recursive: true, mode: 0o700 })
    for (const file of await readAll<StoredFile>(join(directory, "files"))) store.files.set(file.id, file)
    for (const batch of await readAll<StoredBatch>(join(directory, "batches"))) {
      store.batches.set(batch.id, batch)
    }
    await store.removeStrays()
    return store
  }

  async putFile(content: AsyncIterable<Uint8Array>, fields: () => Promise<FileFields>): Promise<StoredFile> {
    refuseLost(this)
    const id = newId("file-")
    const path = this.contentPath(id)
    try {
      const handle = await open(path, "wx")
      let bytes = 0
      try {
        for await (const chunk of content) {
          await handle.appendFile(chunk)
          bytes += chunk.length
        }
        await handle.datasync()
      } finally {
        await handle.close()
      }
      return await this.describe({ id, bytes, created_at: nowSeconds(), ...(await fields()) })
    } catch (error) {
      await rm(path, { force: true })
      throw error
    }
  }

  async getFile(id: string): Promise<StoredFile | undefined> {
    return this.files.get(id)
  }

  async listFiles(): Promise<readonly StoredFile[]> {
    return [...this.files.values()]
  }

  readFile(id: string): AsyncIterable<Uint8Array> {
    return createReadStream(this.contentPath(id))
  }

  async deleteFile(id: string): Promise<void> {
    refuseLost(this)
    if (!this.files.has(id)) return
    await rm(`${this.contentPath(id)}.json`, { force: true })
    this.files.delete(id)
    await rm(this.contentPath(id), { force: true })
  }

  async putBatch(batch: StoredBatch): Promise<void> {
    refuseLost(this)
    await writeWhole(join(this.directory, "batches", `${batch.id}.json`), batch)
    this.batches.set(batch.id, batch)
  }

  async getBatch(id: string): Promise<StoredBatch | undefined> {
    return this.batches.get(id)
  }

  async listBatches(): Promise<readonly StoredBatch[]> {
    return [...this.batches.values()]
  }

  async openOutcomes({ id, owner, output_expires_seconds }: StoredBatch): Promise<Outcomes> {
    refuseLost(this)
    const done = new Set<string>()
    const ids = outcomeIds(id)
    let usage = noTokens
    const found = (customId: string, text: string): void => {
      done.add(customId)
      usage = sumOf(usage, usageOf(text) ?? noTokens)
    }
    const logs = [
      await OutcomeLog.open(this.contentPath(ids[0]), found),
      await OutcomeLog.open(this.contentPath(ids[1]), found),
    ]
    const [output, errors] = logs
    const finished = async (log: OutcomeLog, fileId: string, kind: string): Promise<string | null> => {
      refuseLost(this)
      if (log.count === 0) {
        await rm(this.contentPath(fileId), { force: true })
        return null
      }
      const filename = `${id}_${kind}.jsonl`
      const fields = { owner, filename, purpose: "batch_output" }
      const expiry = output_expires_seconds && { expires_after_seconds: output_expires_seconds }
      await this.describe({ id: fileId, bytes: log.size, created_at: nowSeconds(), ...fields, ...expiry })
      return fileId
    }
    return {
      get counts() {
        return { completed: output.count, failed: errors.count }
      },
      get usage() {
        return usage
      },
      claim: (customId) => !done.has(customId),
      append: async (outcomes) => {
        for (const [log, isFailed] of [
          [output, false],
          [errors, true],
        ] as const) {
          const own = new Map<string, string>()
          for (const each of outcomes) {
            if (each.isFailed !== isFailed || done.has(each.customId) || own.has(each.customId)) continue
            own.set(each.customId, each.text)
          }
          refuseLost(this)
          await log.append([...own.values()])
          for (const [customId, text] of own) found(customId, text)
        }
      },
      finish: async () => ({
        outputFileId: await finished(output, ids[0], "output"),
        errorFileId: await finished(errors, ids[1], "error"),
      }),
      close: async () => {
        for (const log of logs) await log.close()
      },
    }
  }

  private async describe(file: StoredFile): Promise<StoredFile> {
    refuseLost(this)
    await writeWhole(`${this.contentPath(file.id)}.json`, file)
    this.files.set(file.id, file)
    return file
  }

  private contentPath(id: string): string {
    return join(this.directory, "files", id)
  }

  /** Removes what an ended process left half done: uploads, and files under another name. */
  private async removeStrays(): Promise<void> {
    const open = [...this.batches.keys()].flatMap(outcomeIds)
    const known = new Set([...this.files.keys(), ...open])
    for (const name of await readdir(join(this.directory, "files"))) {
      if (ownName.test(name) && !known.has(name.replace(/\.json$/, "")))
        await rm(this.contentPath(name), { force: true })
    }
  }
}

/** Returns the ids of the output and the error file of a batch. */
function outcomeIds(batchId: string): [string, string] {
  const own = batchId.replace("batch_", "")
  return [`file-${own}-output`, `file-${own}-errors`]
}

/** The names of the files that a store writes; all other files stay as they are. */
const ownName = /^(?:file-|batch_)[0-9a-f]{24}(?:-output|-errors)?(?:\.json(?:\.new)?)?$/

/** Reads the store's JSON files of a folder, in the order of their names. */
async function readAll<T>(folder: string): Promise<T[]> {
  const names = (await readdir(folder)).filter((name) => ownName.test(name) && name.endsWith(".json")).sort()
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(folder, name), "utf8"))))
}

/** Writes a JSON file so that it is whole at any moment. */
async function writeWhole(path: string, value: unknown): Promise<void> {
  const temporary = `${path}.new`
  const handle = await open(temporary, "w")
  try {
    await handle.writeFile(JSON.stringify(value))
    await handle.datasync()
  } finally {
    await handle.close()
  }
  await rename(temporary, path)
}
