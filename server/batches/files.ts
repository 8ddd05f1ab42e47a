/** The routes of files: `/v1/files`, as OpenAI's API has them. */
import { invalid, missing, Refusal, unsupported } from "../errors.ts"
import { oldestFirst, pageOf, pageQuery } from "../http/pages.ts"
import { quote } from "../http/quote.ts"
import { isFields } from "../openai/request/wire.ts"
import {
  type BatchStore,
  expirySeconds,
  isExpired,
  isOpenBatch,
  maxFileBytes,
  type StoredFile,
} from "./store.ts"
import { readUpload } from "./upload.ts"

const purposes = ["assistants", "batch", "fine-tune", "vision", "user_data", "evals"]

/** Stores the file of an upload, and deletes expired ones. Rejects with `Refusal`. */
export async function createFile(
  store: BatchStore,
  request: Request,
  owner: string,
  log?: (message: string) => void,
): Promise<Response> {
  const { filename, content, fields } = await readUpload(request, maxFileBytes)
  const file = await store.putFile(content, async () => {
    const {
      purpose,
      "expires_after[anchor]": anchor,
      "expires_after[seconds]": seconds,
      ...rest
    } = await fields
    if (purpose === undefined) throw missing("purpose")
    if (!purposes.includes(purpose)) {
      throw invalid("purpose", `is ${quote(purpose)}, it must be ${purposes.join(" or ")}`)
    }
    const [unknown] = Object.keys(rest)
    if (unknown !== undefined) throw unsupported(unknown, "is not offered for files", "Leave it out")
    if (anchor === undefined && seconds === undefined) return { owner, filename, purpose }
    // A form has texts only.
    const number = /^\d+$/.test(seconds ?? "") ? Number(seconds) : seconds
    const expires_after_seconds = readExpiry({ anchor, seconds: number }, "expires_after")
    return { owner, filename, purpose, expires_after_seconds }
  })
  await removeExpired(store, log)
  return Response.json(described(file))
}

/**
 * Returns the seconds of OpenAI's `{anchor: "created_at", seconds}`; undefined if `value` is null.
 * Throws `Refusal`.
 */
export function readExpiry(value: unknown, field: string): number | undefined {
  if (value === undefined || value === null) return undefined
  if (!isFields(value))
    throw invalid(field, "must be an object", 'Send {"anchor": "created_at", "seconds": …}')
  const { anchor, seconds, ...rest } = value
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw invalid(field, `: unknown key ${quote(unknown)}`)
  if (anchor !== "created_at")
    throw invalid(`${field}.anchor`, `is ${quote(anchor)}, it must be "created_at"`)
  const { least, most } = expirySeconds
  if (typeof seconds !== "number" || !Number.isInteger(seconds) || seconds < least || seconds > most) {
    throw invalid(`${field}.seconds`, `: ${quote(seconds)} is not a whole number from ${least} to ${most}`)
  }
  return seconds
}

/**
 * Deletes expired files, but for the inputs of batches that have not ended. Never rejects: `log`
 * gets the error of a file that could not be deleted, which is tried again at the next call.
 */
export async function removeExpired(store: BatchStore, log?: (message: string) => void): Promise<void> {
  try {
    const expired = (await store.listFiles()).filter(isExpired)
    if (expired.length === 0) return
    const open = (await store.listBatches()).filter(isOpenBatch)
    const read = new Set(open.map((batch) => batch.input_file_id))
    for (const { id } of expired) {
      if (read.has(id)) continue
      const told = ({ message }: Error) => log?.(`file ${id} has expired and is not deleted: ${message}`)
      await store.deleteFile(id).catch(told)
    }
  } catch (error) {
    log?.(`expired files are not deleted: ${(error as Error).message}`)
  }
}

/** Replies with a page of the owner's files, the latest first unless the query says otherwise. */
export async function listFiles(store: BatchStore, request: Request, owner: string): Promise<Response> {
  const query = pageQuery(request, { limit: 10_000, most: 10_000 })
  const purpose = new URL(request.url).searchParams.get("purpose")
  const own = (await store.listFiles()).filter(
    (file) => file.owner === owner && !isExpired(file) && (purpose === null || file.purpose === purpose),
  )
  return pageOf(oldestFirst(own), query, described)
}

export async function getFile(store: BatchStore, id: string, owner: string): Promise<Response> {
  return Response.json(described(await findFile(store, id, owner)))
}

export async function getContent(store: BatchStore, id: string, owner: string): Promise<Response> {
  const { bytes, filename } = await findFile(store, id, owner)
  const name = encodeURIComponent(filename).replaceAll("'", "%27")
  return new Response(
    streamOf(() => store.readFile(id)),
    {
      headers: {
        "content-type": "application/octet-stream",
        "content-length": String(bytes),
        "content-disposition": `attachment; filename*=UTF-8''${name}`,
      },
    },
  )
}

/** Deletes a file. Rejects with `Refusal` while a batch reads it. */
export async function deleteFile(store: BatchStore, id: string, owner: string): Promise<Response> {
  await findFile(store, id, owner)
  const reader = (await store.listBatches()).find((batch) => batch.input_file_id === id && isOpenBatch(batch))
  if (reader) {
    throw invalid("file_id", `is the input of ${reader.id}, which is ${reader.status}`, "Cancel it first")
  }
  await store.deleteFile(id)
  return Response.json({ id, object: "file", deleted: true })
}

/** Returns a file of the owner. Rejects with `Refusal` (404). */
export async function findFile(
  store: BatchStore,
  id: string,
  owner: string,
  param = "file_id",
): Promise<StoredFile> {
  const file = await store.getFile(id)
  if (file?.owner === owner && !isExpired(file)) return file
  throw new Refusal("not_found", `there is no file ${quote(id)}`, { param })
}

/** A file as it is on the wire. */
interface WireFile {
  id: string
  object: "file"
  [field: string]: unknown
}

function described({ owner: _, id, expires_after_seconds: seconds, ...file }: StoredFile): WireFile {
  const expiry = seconds !== undefined && { expires_at: file.created_at + seconds }
  return { id, object: "file", ...file, ...expiry, status: "processed" }
}

/** Returns a stream that opens the content when it is first read: the reply to HEAD never is. */
function streamOf(open: () => AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  let pieces: AsyncIterator<Uint8Array> | undefined
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      pieces ??= open()[Symbol.asyncIterator]()
      const { value, done } = await pieces.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await pieces?.return?.()
    },
  }
  return new ReadableStream(source, { highWaterMark: 0 })
}
