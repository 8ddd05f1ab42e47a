/**
 * Downloads one file. It continues a partial one, and checks the digest before the file gets its
 * name.
 */
import { createHash } from "node:crypto"
import { createReadStream, createWriteStream } from "node:fs"
import { rename, rm, stat } from "node:fs/promises"
import { dirname } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { ReadableStream } from "node:stream/web"
import { setTimeout as setTimer } from "node:timers"
import { setTimeout } from "node:timers/promises"
import { ModelError } from "../../errors.ts"
import { makeFolder } from "../room.ts"
import { withLock } from "./lock.ts"

export interface Source {
  readonly url: string
  readonly bytes: number
  /** SHA-256 of a large file, or git's object id of a small one. */
  readonly digest: { readonly kind: "sha256" | "git"; readonly hex: string }
}

export interface DownloadOptions {
  readonly token?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Called with the number of downloaded bytes, during the download. */
  readonly onBytes?: ((bytes: number) => void) | undefined
  /** Milliseconds without data after which a connection counts as lost. Default 60,000. */
  readonly stallMs?: number | undefined
}

/** Maximum number of successive retries without new data. */
const maxFruitless = 5
/** Maximum number of all retries: a server may send one byte at a time. */
const maxTries = 1_000
/** Milliseconds before a retry, multiplied by the number of successive retries. */
const pauseMs = 200

/** Maximum milliseconds to wait for a server that asks for a delay. */
const maxRetryMs = 60_000

/** The server is busy, and may say when to retry. */
class BusyError extends Error {
  readonly waitMs: number

  constructor({ status, headers }: Response) {
    super(`status ${status}`)
    const seconds = Number(headers.get("retry-after") ?? "0")
    this.waitMs = Number.isFinite(seconds) ? Math.min(maxRetryMs, Math.max(0, 1000 * seconds)) : 0
  }
}

/** A status that a retry would not change. */
export class StatusError extends Error {
  readonly status: number

  constructor(url: string, status: number) {
    super(`${url} answers ${status}`)
    this.status = status
  }
}

/**
 * Downloads a file. Throws StatusError, ModelError for a file with another digest or size, and
 * errors of the file system.
 */
export async function download(source: Source, path: string, options: DownloadOptions = {}): Promise<void> {
  await makeFolder(dirname(path))
  await withLock(`${path}.lock`, options.signal, async () => {
    // The process that held the lock before may have downloaded it.
    if ((await sizeOf(path)) !== source.bytes) await bringFile(source, path, options)
  })
}

async function bringFile(source: Source, path: string, options: DownloadOptions): Promise<void> {
  const { bytes, url } = source
  const partial = `${path}.incomplete`
  let fruitless = 0
  for (let tries = 1; ; tries++) {
    const before = await sizeOf(partial)
    if (before === bytes) break
    if (before > bytes) await rm(partial)
    try {
      await goOn(source, partial, before > bytes ? 0 : Math.max(0, before), options)
    } catch (error) {
      options.signal?.throwIfAborted()
      if (error instanceof StatusError || isOfDisk(error)) throw error
      fruitless = (await sizeOf(partial)) > before ? 0 : fruitless + 1
      if (fruitless >= maxFruitless || tries >= maxTries) {
        const cause = error as Error
        const times = tries >= maxTries ? `${tries} times` : `${maxFruitless} times in a row`
        throw new ModelError(
          `${url}: the connection was lost ${times} (${reasonOf(cause)}). The downloaded part is kept: start it again`,
          { cause },
        )
      }
      const askedMs = error instanceof BusyError ? error.waitMs : 0
      await setTimeout(Math.max(askedMs, fruitless * pauseMs), undefined, { signal: options.signal })
    }
  }
  if ((await digestOf(partial, source)) !== source.digest.hex) {
    await rm(partial)
    throw new ModelError(
      `${url}: the downloaded file does not have the digest that the hub lists. Start it again`,
    )
  }
  await rename(partial, path)
}

/** Appends the missing bytes. */
async function goOn(
  { url, bytes }: Source,
  partial: string,
  from: number,
  { token, signal, onBytes, stallMs = 60_000 }: DownloadOptions,
): Promise<void> {
  const stall = new AbortController()
  const lost = () => stall.abort(new Error(`no data for ${stallMs / 1000} s`))
  let timer = setTimer(lost, stallMs)
  const headers = {
    // Ranges count the bytes of the unencoded file.
    "accept-encoding": "identity",
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
    ...(from > 0 && { range: `bytes=${from}-` }),
  }
  const ends = signal ? AbortSignal.any([signal, stall.signal]) : stall.signal
  try {
    const response = await fetch(url, { headers, signal: ends })
    // It is unknown whether the rest belongs to the same file, so the download starts again.
    const isRest = response.status === 206
    if (response.status === 416) {
      await rm(partial, { force: true })
      return
    }
    if (!response.ok) {
      await response.body?.cancel()
      if (response.status < 500 && response.status !== 429) throw new StatusError(url, response.status)
      throw new BusyError(response)
    }
    let there = isRest ? from : 0
    const counted = async function* (stream: AsyncIterable<Uint8Array>) {
      for await (const piece of stream) {
        clearTimeout(timer)
        timer = setTimer(lost, stallMs)
        there += piece.length
        if (there > bytes) throw new Error(`more than the ${bytes} bytes that it has`)
        onBytes?.(there)
        yield piece
      }
    }
    const body =
      response.body === null ? Readable.from([]) : Readable.fromWeb(response.body as ReadableStream)
    await pipeline(body, counted, createWriteStream(partial, { flags: isRest ? "a" : "w" }))
    if (there < bytes) throw new Error(`it ended after ${there} of ${bytes} bytes`)
  } catch (error) {
    throw stall.signal.aborted ? (stall.signal.reason as Error) : error
  } finally {
    clearTimeout(timer)
  }
}

async function digestOf(path: string, { digest, bytes }: Source): Promise<string> {
  const hash = createHash(digest.kind === "sha256" ? "sha256" : "sha1")
  if (digest.kind === "git") hash.update(`blob ${bytes}\0`)
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer)
  return hash.digest("hex")
}

/** Returns the size of a file, or −1 if it does not exist. */
async function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => -1,
  )
}

/** Returns whether it is an error of a full or read-only disk. */
function isOfDisk(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return ["ENOSPC", "EDQUOT", "EACCES", "EROFS", "EPERM", "EFBIG", "EIO"].includes(code ?? "")
}

/** Returns the reason of a failed `fetch`. It is in the cause of the error. */
export function reasonOf(error: Error): string {
  const { cause } = error
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message
}
