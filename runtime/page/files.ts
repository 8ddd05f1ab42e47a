/** The files of a model on a web server, for `model/directory.ts`. */

import { ModelError } from "../errors.ts"
import { checkSize, type FoundFile, type ModelFiles } from "../model/directory.ts"
import type { FileStore, StoredFile } from "./store.ts"

/** Where the files of a model are. */
export interface WebModel {
  /** URL of the model's folder; or the URL of each file, by its path in the folder. */
  readonly model: string | Readonly<Record<string, string>>
  /** SHA-256 of each file by its path, in hexadecimal digits. All other files count as missing. */
  readonly checksums?: Readonly<Record<string, string>> | undefined
}

export class WebFiles implements ModelFiles {
  readonly path: string
  private readonly place: WebModel
  private readonly store: FileStore

  /** Throws ModelError for a checksum that is none. */
  constructor(place: WebModel, store: FileStore) {
    this.place = place
    this.store = store
    this.path = typeof place.model === "string" ? withoutSlash(place.model) : "the model"
    for (const [file, sum] of Object.entries(place.checksums ?? {}))
      if (!/^[0-9a-f]{64}$/i.test(sum))
        throw new ModelError(`checksums: ${JSON.stringify(sum)} of ${file} is not a SHA-256 of 64 digits`)
  }

  pathOf(file: string): string {
    return `${this.path}/${file}`
  }

  async find(file: string): Promise<FoundFile | undefined> {
    const stored = this.stored(file)
    if (stored === undefined) return undefined
    const headers = (await this.store.get(stored))?.headers
    return headers && { bytes: Number(headers.get("content-length")), writtenAt: writtenAt(headers) }
  }

  async read(file: string): Promise<string | undefined> {
    const bytes = await this.bytes(file)
    if (bytes === undefined) return undefined
    checkSize(this.pathOf(file), bytes.length)
    return new TextDecoder().decode(bytes)
  }

  /** Servers do not list folders. */
  async list(): Promise<readonly string[]> {
    return []
  }

  /** Returns the bytes of a file; undefined if there is no such file. */
  async bytes(file: string): Promise<Uint8Array | undefined> {
    const stored = this.stored(file)
    const response = stored && (await this.store.get(stored))
    return response && new Uint8Array(await response.arrayBuffer())
  }

  /** Returns the bytes of a file by its whole path. Rejects with ModelError if there is none. */
  async bytesAt(path: string): Promise<Uint8Array> {
    const bytes = await this.bytes(path.slice(this.path.length + 1))
    if (bytes === undefined) throw new ModelError(`${path} is missing`)
    return bytes
  }

  private stored(file: string): StoredFile | undefined {
    const { model, checksums } = this.place
    if (checksums && !Object.hasOwn(checksums, file)) return undefined
    const sha256 = checksums?.[file].toLowerCase()
    if (typeof model === "string") return { url: this.pathOf(file), sha256 }
    return Object.hasOwn(model, file) ? { url: model[file], sha256 } : undefined
  }
}

function withoutSlash(url: string): string {
  return url.endsWith("/") ? url.slice(0, -1) : url
}

/** Milliseconds since 1970; 0 if the server does not say. */
function writtenAt(headers: Headers): number {
  return Date.parse(headers.get("last-modified") ?? "") || 0
}
