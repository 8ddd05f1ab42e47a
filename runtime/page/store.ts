/**
 * Files of a web server, kept in the browser's Cache storage.
 *
 * A kept file is used as it is, without a request, so a second load needs no network. A missing
 * file is asked for again each time, since a server may answer for one that it is about to have;
 * that it was missing when a model was opened counts only where the server cannot be reached. If
 * the SHA-256 of a file is given, a kept copy of other bytes is fetched again, and fetched bytes of
 * another sum are refused. Pages that are not secure contexts (plain http, but for this machine)
 * have neither Cache storage nor SHA-256.
 */

import { ModelError } from "../errors.ts"

/** A file to read. */
export interface StoredFile {
  readonly url: string
  /** SHA-256 in hexadecimal digits; undefined: the bytes are not checked. */
  readonly sha256: string | undefined
}

/** How much of a file has been fetched. */
export interface FileProgress {
  readonly url: string
  readonly doneBytes: number
  /** 0 if the server does not say. */
  readonly fileBytes: number
}

export interface StoreOptions {
  /** Name of the Cache; null: nothing is kept. */
  readonly cache: string | null
  /** Called while a file is fetched. */
  readonly onDownload: (progress: FileProgress) => void
  readonly log: (line: string) => void
}

/** Header of a kept file with its SHA-256. */
const sumHeader = "x-sha256"

export class FileStore {
  private readonly options: StoreOptions
  private opened: Promise<Cache | null> | undefined
  /** Files that the Cache does not have, by URL. They live as long as this object. */
  private readonly held = new Map<string, Response>()
  /** URLs of files that are not there. */
  private readonly missing = new Set<string>()

  constructor(options: StoreOptions) {
    this.options = options
  }

  /** Returns a file with its bytes; undefined if there is none. Rejects with ModelError. */
  async get(file: StoredFile): Promise<Response | undefined> {
    const cache = file.url.startsWith("data:") ? null : await this.cache()
    if (this.missing.has(file.url)) return undefined
    const kept = this.held.get(file.url)?.clone() ?? (await cache?.match(file.url))
    const isOwn = file.sha256 === undefined || kept?.headers.get(sumHeader) === file.sha256
    if (kept?.ok && isOwn) return kept
    const response = await this.fetch(file.url).catch((error: unknown) => {
      if (kept?.status === 404) return kept
      throw error
    })
    if (isMissing(response)) {
      this.missing.add(file.url)
      return undefined
    }
    if (!response.ok)
      throw new ModelError(`${file.url}: the server answered ${response.status} ${response.statusText}`)
    const bytes = await this.bytesOf(response, file.url)
    if (file.sha256 !== undefined) await check(bytes, file, file.sha256)
    const headers = {
      "content-type": response.headers.get("content-type") ?? "application/octet-stream",
      "content-length": `${bytes.length}`,
      "last-modified": response.headers.get("last-modified") ?? "",
      ...(file.sha256 !== undefined && { [sumHeader]: file.sha256 }),
    }
    const read = new Response(bytes, { headers })
    await this.keep(cache, file.url, read.clone())
    return read
  }

  /** Keeps which files are missing, for loads without a network. Called once a model is open. */
  async keepMissing(): Promise<void> {
    const cache = await this.cache()
    if (cache === null) return
    for (const url of this.missing) await this.keep(cache, url, new Response(null, { status: 404 }))
  }

  private cache(): Promise<Cache | null> {
    this.opened ??= this.openCache()
    return this.opened
  }

  private async openCache(): Promise<Cache | null> {
    const { cache, log } = this.options
    if (cache === null) return null
    if (typeof caches === "undefined") {
      log("the model is not kept: only pages of https and of this machine have a Cache storage")
      return null
    }
    try {
      return await caches.open(cache)
    } catch (error) {
      log(`the model is not kept: ${(error as Error).message}`)
      return null
    }
  }

  /** Keeps a reply. A full storage costs the next load a download, and nothing else. */
  private async keep(cache: Cache | null, url: string, response: Response): Promise<void> {
    if (cache !== null) {
      try {
        await cache.put(url, response.clone())
        return
      } catch (error) {
        this.options.log(`${url} is not kept: ${(error as Error).message}`)
      }
    }
    this.held.set(url, response)
  }

  private async fetch(url: string): Promise<Response> {
    const inside = /^data:([^,]*?)(;base64)?,(.*)$/s.exec(url)
    if (inside) return insideUrl(inside)
    try {
      return await fetch(url)
    } catch (cause) {
      throw failure(url, cause)
    }
  }

  private async bytesOf(response: Response, url: string): Promise<Uint8Array<ArrayBuffer>> {
    const encoded = response.headers.get("content-encoding") !== null
    const fileBytes = encoded ? 0 : Number(response.headers.get("content-length")) || 0
    const pieces: Uint8Array[] = []
    let doneBytes = 0
    const reader = response.body?.getReader()
    try {
      for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
        pieces.push(read.value)
        doneBytes += read.value.length
        this.options.onDownload({ url, doneBytes, fileBytes })
      }
    } catch (cause) {
      throw failure(url, cause)
    }
    if (fileBytes > 0 && doneBytes !== fileBytes)
      throw new ModelError(`${url}: ${doneBytes} bytes of ${fileBytes} arrived. Load it again`)
    const bytes = new Uint8Array(doneBytes)
    let at = 0
    for (const piece of pieces) {
      bytes.set(piece, at)
      at += piece.length
    }
    return bytes
  }
}

function failure(url: string, cause: unknown): ModelError {
  const { message } = cause as Error
  return new ModelError(
    `${url}: it cannot be fetched (${message}). Is the server reached, and does it allow this page by CORS?`,
    { cause },
  )
}

/** Bundlers write small files into URLs, which a policy of the page may forbid to fetch. */
function insideUrl([, type, base64, data]: RegExpExecArray): Response {
  const headers = { "content-type": type }
  if (!base64) return new Response(decodeURIComponent(data), { headers })
  return new Response(
    Uint8Array.from(atob(decodeURIComponent(data)), (byte) => byte.charCodeAt(0)),
    { headers },
  )
}

/** Servers of single-page applications answer a path without a file with their page. */
function isMissing(response: Response): boolean {
  const { status, headers } = response
  return status === 404 || status === 410 || (headers.get("content-type") ?? "").startsWith("text/html")
}

/** Throws ModelError unless the bytes have this sum. */
async function check(bytes: Uint8Array<ArrayBuffer>, { url }: StoredFile, sha256: string): Promise<void> {
  const { subtle } = crypto
  if (subtle === undefined)
    throw new ModelError(
      `${url}: its checksum cannot be computed here, since the page is no secure context. Serve the page by https`,
    )
  const sum = new Uint8Array(await subtle.digest("SHA-256", bytes))
  const found = Array.from(sum, (byte) => byte.toString(16).padStart(2, "0")).join("")
  if (found !== sha256)
    throw new ModelError(
      `${url}: its SHA-256 is ${found}, not ${sha256}. The file has changed, or is not complete`,
    )
}
