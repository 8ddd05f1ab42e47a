/**
 * A model by its name on the hub → its directory on this machine: asks what the revision is today, and brings the files that the
 * chosen type of weights needs and that are not there yet.
 */
import { stat, statfs } from "node:fs/promises"
import type { ListFileEntry } from "@huggingface/hub"
import { ModelError } from "../../errors.ts"
import { embeddingFilesOf, graphFilesOf, graphsAmong, templatesFolder } from "../directory.ts"
import { HubCache } from "./cache.ts"
import { download, reasonOf, StatusError } from "./download.ts"
import { type HubName, type HubSettings, readHubName, readHubSettings } from "./name.ts"

/** How far a download is: bytes of `file` and of all files of the model that are brought. */
export interface DownloadProgress {
  readonly model: string
  readonly file: string
  readonly fileBytes: number
  readonly doneBytes: number
  readonly allBytes: number
}

export interface PullOptions {
  readonly dtype?: string | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined
  readonly log?: ((line: string) => void) | undefined
}

/** So long the hub may take to say what a model has. */
const answerMs = 30_000
/** What a model directory is read from beside its graph. */
const neededFiles = ["tokenizer.json"]
const usualFiles = [
  "config.json",
  "genai_config.json",
  "generation_config.json",
  "tokenizer_config.json",
  "special_tokens_map.json",
  "chat_template.jinja",
  "chat_template.json",
]

/**
 * The directory. Where the hub cannot be reached, the copy that is there counts. Throws ModelError: no such model, no rights, no
 * graph of this type, a full disk, a connection that is lost for good.
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
    if (known !== null) return cache.snapshot(name, known)
    throw new ModelError(
      `${spell(hubName)} is not in ${settings.cache}, and offline nothing is brought. Run \`tokenrail pull ${spell(hubName)}\` where the hub can be reached`,
    )
  }
  let listed: { commit: string; files: ListFileEntry[] }
  try {
    listed = await list(hubName, settings, options.signal)
  } catch (error) {
    options.signal?.throwIfAborted()
    const isAway = !(error instanceof ModelError)
    if (!isAway || known === null) throw isAway ? unreachable(hubName, settings, error as Error) : error
    options.log?.(
      `${spell(hubName)}: ${settings.endpoint} cannot be reached (${reasonOf(error as Error)}), using the copy of ${known.slice(0, 8)}`,
    )
    return cache.snapshot(name, known)
  }
  const { commit, files } = listed
  const chosen = choose(hubName, files, options.dtype)
  const missing: ListFileEntry[] = []
  for (const file of chosen) if (!(await cache.has(name, commit, file.path))) missing.push(file)
  await bring({ hubName, commit, missing, cache }, settings, options)
  try {
    await cache.setCommit({ name, revision }, commit)
  } catch (error) {
    throw await unwritten(`${spell(hubName)}: what ${revision} is`, settings.cache, 0, error as Error)
  }
  return cache.snapshot(name, commit)
}

/** A model that was found: `id` is its name on the hub, undefined for a directory. */
export interface LocatedModel {
  readonly path: string
  readonly id: string | undefined
}

/** What `model` names: a directory, else a model of the hub. Throws as `pullModel`. */
export async function locateModel(
  model: string,
  { offline = false, ...options }: PullOptions & { offline?: boolean | undefined } = {},
): Promise<LocatedModel> {
  const isDirectory = (await stat(model).catch(() => null)) !== null
  const hubName = isDirectory ? null : readHubName(model)
  if (hubName === null) return { path: model, id: undefined }
  const settings = readHubSettings(process.env)
  const path = await pullModel(hubName, { ...settings, isOffline: offline || settings.isOffline }, options)
  return { path, id: hubName.name }
}

/** What the hub says of a revision. Throws ModelError for what it refuses, other errors where it cannot be reached. */
async function list(
  hubName: HubName,
  { endpoint, token }: HubSettings,
  signal: AbortSignal | undefined,
): Promise<{ commit: string; files: ListFileEntry[] }> {
  const { HubApiError, listFiles, modelInfo } = await import("@huggingface/hub")
  const { name, revision } = hubName
  const access = {
    hubUrl: endpoint,
    ...(token !== undefined && { accessToken: token }),
    fetch: (input: RequestInfo | URL, init?: RequestInit) =>
      fetch(input, {
        ...init,
        signal: AbortSignal.any([AbortSignal.timeout(answerMs), ...(signal ? [signal] : [])]),
      }),
  }
  try {
    const { sha } = await modelInfo({ name, revision, additionalFields: ["sha"], ...access })
    const commit = String(sha)
    if (!/^[0-9a-f]{40}$/.test(commit)) throw new Error(`${endpoint} names no commit of ${spell(hubName)}`)
    const files: ListFileEntry[] = []
    for await (const file of listFiles({ repo: name, revision: commit, recursive: true, ...access }))
      if (file.type === "file") files.push(file)
    return { commit, files }
  } catch (error) {
    if (error instanceof HubApiError) throw refusal(hubName, endpoint, error.statusCode, error)
    throw error
  }
}

function choose(hubName: HubName, files: readonly ListFileEntry[], dtype = "fp32"): ListFileEntry[] {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const names = files.map(({ path }) => path)
  const graph = graphFilesOf(dtype).find((path) => byPath.has(path))
  if (graph === undefined) {
    const graphs = graphsAmong(names).map(({ file, dtype }) => `${file} (dtype ${dtype})`)
    const others = names.filter((path) => path.endsWith(".onnx"))
    const there =
      graphs.length > 0
        ? `there is ${graphs.join(", ")}. Choose its dtype`
        : others.length > 0
          ? `there is ${others.slice(0, 8).join(", ")}, which is no decoder with a cache by its name. Choose another model`
          : "there is no ONNX graph. Choose an export, such as those of onnx-community"
    throw new ModelError(`${spell(hubName)}: dtype ${dtype} needs ${graphFilesOf(dtype)[0]}, and ${there}`)
  }
  for (const file of neededFiles) {
    if (!byPath.has(file))
      throw new ModelError(
        `${spell(hubName)} has no ${file}, so nothing tells its tokens. Choose another model`,
      )
  }
  if (!byPath.has("config.json") && !byPath.has("genai_config.json"))
    throw new ModelError(`${spell(hubName)} has no config.json. Choose another model`)
  const folder = graph.slice(0, graph.lastIndexOf("/") + 1)
  const embedding = embeddingFilesOf(dtype).find((file) => byPath.has(folder + file))
  const graphs = embedding === undefined ? [graph] : [graph, folder + embedding]
  // External data: of one file or of several that are numbered.
  const data = names.filter((path) =>
    graphs.some((each) => path.startsWith(each) && /^[._]data(_\d+)?$/.test(path.slice(each.length))),
  )
  const templates = names.filter((path) => path.startsWith(`${templatesFolder}/`) && path.endsWith(".jinja"))
  return [...neededFiles, ...usualFiles, ...templates, ...graphs, ...data].flatMap(
    (path) => byPath.get(path) ?? [],
  )
}

async function bring(
  parts: { hubName: HubName; commit: string; missing: readonly ListFileEntry[]; cache: HubCache },
  { endpoint, token, cache: root }: HubSettings,
  { signal, onProgress, log }: PullOptions,
): Promise<void> {
  const { hubName, commit, missing, cache } = parts
  const { name } = hubName
  const allBytes = missing.reduce((sum, { size }) => sum + size, 0)
  if (missing.length > 0) log?.(`bringing ${spell(hubName)} from ${endpoint}: ${megabytes(allBytes)} MB`)
  let before = 0
  for (const { path: file, size, oid, lfs } of missing) {
    const digest = { kind: lfs ? ("sha256" as const) : ("git" as const), hex: lfs?.oid ?? oid ?? "" }
    if (!/^[0-9a-f]{40,64}$/.test(digest.hex))
      throw new ModelError(`${spell(hubName)}: the hub tells no digest of ${file}. Try another HF_ENDPOINT`)
    const url = `${endpoint}/${name}/resolve/${commit}/${file.split("/").map(encodeURIComponent).join("/")}`
    const tell = (bytes: number) =>
      onProgress?.({ model: name, file, fileBytes: size, doneBytes: before + bytes, allBytes })
    const blob = cache.blob(name, digest.hex)
    try {
      // Another commit may have brought it.
      if (!(await cache.hasBlob(name, digest.hex, size)))
        await download({ url, bytes: size, digest }, blob, { token, signal, onBytes: tell })
      await cache.link(name, commit, file, digest.hex)
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof StatusError) throw refusal(hubName, endpoint, error.status, error)
      if (error instanceof ModelError) throw error
      throw await unwritten(`${spell(hubName)}: ${file}`, root, allBytes - before, error as Error)
    }
    before += size
  }
}

/** What the file system refused, and how much room there is. */
async function unwritten(what: string, root: string, bytes: number, cause: Error): Promise<ModelError> {
  const free = await statfs(root).then(
    ({ bavail, bsize }) =>
      ` ${root} has ${megabytes(bavail * bsize)} MB left, ${megabytes(bytes)} are to come.`,
    () => "",
  )
  const isFull = ["ENOSPC", "EDQUOT"].includes((cause as NodeJS.ErrnoException).code ?? "")
  const way = isFull ? "Make room" : "See to it"
  return new ModelError(
    `${what} cannot be written: ${cause.message}.${free} ${way}, or set HF_HUB_CACHE to another place`,
    { cause },
  )
}

function refusal(hubName: HubName, endpoint: string, status: number, cause: Error): Error {
  const { name, revision } = hubName
  const refuse = (why: string) => new ModelError(`${spell(hubName)}: ${why}`, { cause })
  switch (status) {
    case 401:
      return refuse(
        `the hub knows no such model, or shows it to some only (status 401). Check the name, or set HF_TOKEN to a token of an account that may read it`,
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
      // The hub is in trouble, and not the name.
      return status === 429 || status >= 500
        ? new Error(`status ${status}`, { cause })
        : refuse(`the hub answers ${status}`)
  }
}

function unreachable(hubName: HubName, { endpoint }: HubSettings, cause: Error): ModelError {
  return new ModelError(
    `${spell(hubName)}: no such directory, and ${endpoint} cannot be reached (${reasonOf(cause)}). Check the connection, HF_ENDPOINT, or the path`,
    { cause },
  )
}

function spell({ name, revision }: HubName): string {
  return revision === "main" ? name : `${name}@${revision}`
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)
}
