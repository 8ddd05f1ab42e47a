/**
 * Downloads a model of the hub by its name: resolves the revision, and downloads the missing files
 * that the chosen type of weights needs.
 */
import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { ModelError } from "../../errors.ts"
import { dataFilesOf } from "../ort/datafiles.ts"
import { checkRoom, type Disk, makeFolder, megabytes, unwritten } from "../room.ts"
import { HubCache } from "./cache.ts"
import { choose, dataFiles } from "./choice.ts"
import { download, reasonOf, StatusError } from "./download.ts"
import { type ListedFile, type Listing, listModel } from "./listing.ts"
import { type HubName, type HubSettings, spellName } from "./name.ts"
import { sourceAt } from "./source.ts"

/**
 * Progress of a download or a conversion: the current file and its bytes, and the bytes of all
 * files.
 */
export interface ModelProgress {
  readonly model: string
  readonly file: string
  readonly fileBytes: number
  readonly doneBytes: number
  readonly allBytes: number
}

export interface PullOptions {
  readonly dtype?: string | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: ModelProgress) => void) | undefined
  readonly log?: ((line: string) => void) | undefined
}

/** Maximum size of a graph that is read for the names of its weight files. */
const maxLookBytes = 2 ** 28

/**
 * Returns the directory, or the GGUF file that the name's label chooses. If the hub cannot be
 * reached, a cached copy is used. Throws ModelError if there is no such model, no permission, no
 * graph of this type, or no disk space, or if the connection is lost for good.
 */
export async function pullModel(
  hubName: HubName,
  settings: HubSettings,
  options: PullOptions = {},
): Promise<string> {
  const cache = new HubCache(settings.cache)
  const { name, revision } = hubName
  const known = await cache.commitOf(hubName)
  if (settings.isOffline) {
    if (known !== null) return openedIn(cache.snapshot(name, known), hubName)
    throw new ModelError(
      `${spellName(hubName)} is not in ${settings.cache}, and offline it cannot be downloaded. Run \`tokenrail pull ${spellName(hubName)}\` where the hub can be reached`,
    )
  }
  let listed: Listing
  try {
    listed = await listModel(hubName, settings, options.signal)
  } catch (caught) {
    options.signal?.throwIfAborted()
    const error =
      caught instanceof StatusError ? refusal(hubName, settings.endpoint, caught.status, caught) : caught
    const isAway = !(error instanceof ModelError)
    if (!isAway || known === null) throw isAway ? unreachable(hubName, settings, error as Error) : error
    options.log?.(
      `${spellName(hubName)}: ${settings.endpoint} cannot be reached (${reasonOf(error as Error)}), using the copy of ${known.slice(0, 8)}`,
    )
    return openedIn(cache.snapshot(name, known), hubName)
  }
  const { commit, files, strange } = listed
  if (strange.length > 0)
    options.log?.(
      `${spellName(hubName)}: ${strange.length} files have names that are not safe relative paths, and are left out: ${JSON.stringify(strange[0].slice(0, 200))}`,
    )
  const parts = { hubName, commit, cache }
  const { files: chosen, naming, opens } = choose(hubName, files, options.dtype)
  await bring(chosen, parts, settings, options)
  for (const each of naming) {
    const named = await namesIn(join(cache.snapshot(name, commit), each))
    await bring(dataFiles(files, each, named), parts, settings, options)
  }
  try {
    await cache.setCommit({ name, revision }, commit)
  } catch (error) {
    const disk = diskOf(settings)
    throw await unwritten(`${spellName(hubName)}: what ${revision} is`, disk, 0, error as Error)
  }
  return join(cache.snapshot(name, commit), opens)
}

/**
 * Returns the path that a name opens in a commit on this machine: the folder, or the GGUF file of
 * the label. Throws ModelError if there is none.
 */
async function openedIn(snapshot: string, { label }: HubName): Promise<string> {
  return label === undefined ? snapshot : ((await sourceAt(snapshot, label))?.path ?? snapshot)
}

function diskOf({ cache }: HubSettings): Disk {
  return { folder: cache, way: "set HF_HUB_CACHE to another place" }
}

/**
 * Returns the names of the weight files that a graph or an index contains. A graph that contains
 * its weights itself may be too large to be read here.
 */
async function namesIn(path: string): Promise<string[]> {
  try {
    if ((await stat(path)).size > maxLookBytes || path.endsWith(".safetensors")) return []
    const content = await readFile(path)
    if (!path.endsWith(".json")) return dataFilesOf(content)
    const files = Object.values(JSON.parse(content.toString()).weight_map)
    return [...new Set(files.filter((file) => typeof file === "string"))]
  } catch {
    // The error is reported when the file is opened.
    return []
  }
}

/** Downloads the missing files. */
async function bring(
  files: readonly ListedFile[],
  { hubName, commit, cache }: { hubName: HubName; commit: string; cache: HubCache },
  settings: HubSettings,
  { signal, onProgress, log }: PullOptions,
): Promise<void> {
  const { name } = hubName
  const { endpoint, token } = settings
  const disk = diskOf(settings)
  const missing: ListedFile[] = []
  for (const file of files) if (!(await cache.has(name, commit, file.path))) missing.push(file)
  const allBytes = missing.reduce((sum, { bytes }) => sum + bytes, 0)
  await makeFolder(disk.folder).catch(() => {})
  await checkRoom(spellName(hubName), disk, allBytes)
  if (missing.length > 0) log?.(`bringing ${spellName(hubName)} from ${endpoint}: ${megabytes(allBytes)} MB`)
  let before = 0
  for (const { path: file, bytes: size, digest } of missing) {
    if (digest === null || Number.isNaN(size))
      throw new ModelError(
        `${spellName(hubName)}: the hub does not list the ${digest === null ? "digest" : "size"} of ${file}. Try another HF_ENDPOINT`,
      )
    const url = `${endpoint}/${name}/resolve/${commit}/${file.split("/").map(encodeURIComponent).join("/")}`
    const tell = (bytes: number) =>
      onProgress?.({ model: name, file, fileBytes: size, doneBytes: before + bytes, allBytes })
    const blob = cache.blob(name, digest.hex)
    try {
      // The download of another commit may have stored it.
      if (!(await cache.hasBlob(name, digest.hex, size)))
        await download({ url, bytes: size, digest }, blob, { token, signal, onBytes: tell })
      await cache.link(name, commit, file, digest.hex)
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof StatusError) throw refusal(hubName, endpoint, error.status, error)
      if (error instanceof ModelError) throw error
      throw await unwritten(`${spellName(hubName)}: ${file}`, disk, allBytes - before, error as Error)
    }
    before += size
  }
}

function refusal(hubName: HubName, endpoint: string, status: number, cause: Error): Error {
  const { name, revision } = hubName
  const refuse = (why: string) => new ModelError(`${spellName(hubName)}: ${why}`, { cause })
  switch (status) {
    case 401:
      return refuse(
        `the hub has no such model, or shows it only to some accounts (status 401). Check the name, or set HF_TOKEN to a token of an account that may read it`,
      )
    case 403:
      return refuse(
        `the account has no rights (status 403). Accept its terms at ${endpoint}/${name}, with the account of HF_TOKEN`,
      )
    case 404:
      return refuse(
        `there is no such model or no revision ${revision} (status 404). Check both at ${endpoint}/${name}`,
      )
    default:
      // The hub has failed, so the name may be correct.
      return status === 429 || status >= 500
        ? new Error(`status ${status}`, { cause })
        : refuse(`the hub answers ${status}`)
  }
}

function unreachable(hubName: HubName, { endpoint }: HubSettings, cause: Error): ModelError {
  return new ModelError(
    `${spellName(hubName)}: no such directory, and ${endpoint} cannot be reached (${reasonOf(cause)}). Check the connection, HF_ENDPOINT, or the path`,
    { cause },
  )
}
