/**
 * Reads the hub's data about a model: the commit of a revision, and the commit's files, page by
 * page.
 *
 * Neither the hub nor the author of a model is trusted. The token is sent to no other origin: only
 * the query of a next page's address is used, and `fetch` drops the token when it is redirected.
 * Answers are limited in bytes and time, the list in pages and files. A file is ignored unless its
 * name is a relative path below the model's folder on every system.
 */
import { ModelError } from "../../errors.ts"
import { StatusError } from "./download.ts"
import { type HubName, type HubSettings, spellName } from "./name.ts"

/** A file as the hub lists it. */
export interface ListedFile {
  readonly path: string
  /** NaN if the hub does not list it. */
  readonly bytes: number
  /** SHA-256 of a large file, or git's object id of a small one; null if the hub lists neither. */
  readonly digest: { readonly kind: "sha256" | "git"; readonly hex: string } | null
}

export interface Listing {
  readonly commit: string
  readonly files: readonly ListedFile[]
  /** File names that are not safe relative paths. */
  readonly strange: readonly string[]
}

/** Maximum milliseconds for one answer, and for all of them. */
const answerMs = 30_000
const listMs = 120_000
/** The hub's own pages have 1,000 files of about 300 bytes each. */
const maxAnswerBytes = 16 * 2 ** 20
const maxPages = 200
const maxFiles = 100_000

/**
 * Lists the files. Throws StatusError, ModelError for an answer beyond its limits, and other errors
 * if the hub cannot be reached.
 */
export async function listModel(
  hubName: HubName,
  settings: HubSettings,
  signal: AbortSignal | undefined,
): Promise<Listing> {
  const { name, revision } = hubName
  const all = AbortSignal.timeout(listMs)
  const ends = signal ? AbortSignal.any([all, signal]) : all
  const ask = (url: string) => askHub(url, hubName, settings, ends)
  const api = `${settings.endpoint}/api/models/${name}`
  const info = (await ask(`${api}/revision/${encodeURIComponent(revision)}?expand=sha`)).value
  const commit = String((info as { sha?: unknown } | null)?.sha)
  if (!/^[0-9a-f]{40}$/.test(commit))
    throw new Error(`${settings.endpoint} names no commit of ${spellName(hubName)}`)
  const entries: unknown[] = []
  const asked = new Set<string>()
  for (let query: string | undefined = "?recursive=true&expand=false"; query !== undefined; ) {
    if (asked.has(query) || asked.size >= maxPages)
      throw new ModelError(
        `${spellName(hubName)}: the hub's list of files has ${asked.has(query) ? "the same page again" : `more than ${maxPages} pages`}. Try another HF_ENDPOINT`,
      )
    asked.add(query)
    const { value, next }: Answer = await ask(`${api}/tree/${commit}${query}`)
    if (!Array.isArray(value)) throw new Error(`${settings.endpoint} names no files of ${spellName(hubName)}`)
    for (const entry of value) entries.push(entry)
    if (entries.length > maxFiles)
      throw new ModelError(`${spellName(hubName)}: more than ${maxFiles} files. Choose another model`)
    query = next
  }
  const files = entries.flatMap((entry) => readEntry(entry) ?? [])
  return {
    commit,
    files: files.filter(({ path }) => isPlainPath(path)),
    strange: files.map(({ path }) => path).filter((path) => !isPlainPath(path)),
  }
}

interface Answer {
  readonly value: unknown
  /** The query of the next page. */
  readonly next: string | undefined
}

async function askHub(
  url: string,
  hubName: HubName,
  { token }: HubSettings,
  ends: AbortSignal,
): Promise<Answer> {
  const signal = AbortSignal.any([AbortSignal.timeout(answerMs), ends])
  const headers = new Headers(token === undefined ? {} : { authorization: `Bearer ${token}` })
  const response = await fetch(url, { headers, signal })
  if (!response.ok) {
    await response.body?.cancel()
    throw new StatusError(url, response.status)
  }
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body ?? []) {
    bytes += piece.length
    // Leaving the loop closes the connection.
    if (bytes > maxAnswerBytes)
      throw new ModelError(
        `${spellName(hubName)}: the hub's answer has more than ${maxAnswerBytes / 2 ** 20} MB. Try another HF_ENDPOINT`,
      )
    pieces.push(piece)
  }
  const value: unknown = JSON.parse(Buffer.concat(pieces).toString())
  return { value, next: nextQuery(response.headers.get("link"), url) }
}

/** Returns the query of the page that a `link` header names as the next one. */
function nextQuery(link: string | null, url: string): string | undefined {
  const links = [...(link ?? "").matchAll(/<([^<>]*)>([^<]*)/g)]
  const next = links.find(([, , parameters]) => /;\s*rel="?next\b/i.test(parameters))
  return next === undefined ? undefined : new URL(next[1], url).search
}

function readEntry(entry: unknown): ListedFile | null {
  const { type, path, size, oid, lfs } = (entry ?? {}) as Record<string, unknown>
  if (type !== "file" || typeof path !== "string") return null
  const large = (lfs ?? undefined) as { oid?: unknown } | undefined
  const hex = String(large ? large.oid : oid)
  const isDigest = (large ? /^[0-9a-f]{64}$/ : /^[0-9a-f]{40}$/).test(hex)
  const isSize = Number.isSafeInteger(size) && (size as number) >= 0
  return {
    path,
    bytes: isSize ? (size as number) : Number.NaN,
    digest: isDigest ? { kind: large ? "sha256" : "git", hex } : null,
  }
}

/** Names that are devices on Windows, with any extension. */
const device = /^(con|prn|aux|nul|com\d|lpt\d|com[¹²³]|lpt[¹²³]|conin\$|conout\$)(\.|$)/i

/** Returns whether a name with slashes is a file below a folder on every system, and printable. */
function isPlainPath(path: string): boolean {
  const parts = path.split("/")
  return (
    path.length <= 1_000 &&
    !/[\p{Cc}\p{Cf}\p{Cs}\\:*?"<>|]/u.test(path) &&
    parts.every((part) => part !== "" && !/[. ]$/.test(part) && !device.test(part)) &&
    parts.every((part) => Buffer.byteLength(part) <= 200)
  )
}
