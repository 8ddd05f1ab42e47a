/**
 * Finds a model of Ollama on this machine: its manifest names layers by their digests, and one of
 * them is a GGUF file among the blobs. Ollama's own template is written for Go and is not used: the
 * GGUF file has the model's.
 *
 * The manifests are in `manifests/<host>/<namespace>/<model>/<tag>`; newer servers write
 * `manifests-v2`, call their own host `ollama.com`, and may list a manifest for each of several
 * runners.
 */

import { readdir, readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { isObject } from "../../../grammar/options.ts"
import { ModelError } from "../../errors.ts"
import { unreadable } from "./source.ts"

export interface OllamaName {
  readonly host: string
  readonly namespace: string
  readonly model: string
  readonly tag: string
}

/** A model in a folder of Ollama: its GGUF file, or why there is none. */
export interface OllamaModel {
  readonly name: string
  /** The path of the GGUF file, or of the manifest. */
  readonly path: string
  readonly bytes: number
  readonly refusal: string | undefined
}

const ownHosts = ["registry.ollama.ai", "ollama.com"]
const ownNamespace = "library"
const manifestFolders = ["manifests-v2", "manifest-v2", "manifests"]

const word = "[A-Za-z0-9_][A-Za-z0-9._-]{0,199}"
const hostPattern = new RegExp(`^${word}(?::\\d{1,5})?$`)
const wordPattern = new RegExp(`^${word}$`)

/** Maximum bytes of a manifest: one with many thousand layers has some MB. */
const maxManifestBytes = 2 ** 24
/** Maximum names of a folder that are read. */
const maxNames = 10_000

/** Reads `[host/][namespace/]model[:tag]`. Throws ModelError for any other text. */
export function readOllamaName(text: string): OllamaName {
  const parts = text.split("/")
  const [model, tag = "latest", ...rest] = parts.pop()!.split(":")
  const [namespace = ownNamespace, host = ownHosts[0], ...others] = parts.reverse()
  const isName = hostPattern.test(host) && [namespace, model, tag].every((each) => wordPattern.test(each))
  if (!isName || rest.length > 0 || others.length > 0)
    throw new ModelError(
      `ollama:${text} is not the name of a model of Ollama: ollama:[namespace/]model[:tag], as \`ollama list\` writes it`,
    )
  return { host, namespace, model, tag }
}

/** Returns the name as `ollama list` writes it. */
export function spellOllamaName({ host, namespace, model, tag }: OllamaName): string {
  const isOwn = ownHosts.includes(host)
  const place = isOwn ? (namespace === ownNamespace ? [] : [namespace]) : [host, namespace]
  return [...place, `${model}:${tag}`].join("/")
}

/**
 * Returns the GGUF file of a model, in the first of `folders` that has it. Throws ModelError that
 * says why there is none.
 */
export async function locateOllama(name: OllamaName, folders: readonly string[]): Promise<string> {
  const hosts = ownHosts.includes(name.host) ? ownHosts : [name.host]
  for (const folder of folders) {
    for (const manifests of manifestPaths(folder)) {
      for (const host of hosts) {
        const path = join(manifests, host, name.namespace, name.model, name.tag)
        if (await isFile(path)) return (await readModel(spellOllamaName(name), folder, path)).path
      }
    }
  }
  const spelt = spellOllamaName(name)
  const known = (await listOllama(folders)).map((model) => `ollama:${model.name}`)
  const there = known.length === 0 ? "no model is there" : `there is ${known.slice(0, 24).join(", ")}`
  const closed = (await unreadable(folders.flatMap(manifestPaths))).map((each) => `, and ${each}`)
  throw new ModelError(
    `ollama:${spelt} is not in ${folders.join(" or ")}: ${there}${closed.join("")}. Run \`ollama pull ${spelt}\`, or set OLLAMA_MODELS`,
  )
}

/** Returns all models of the folders, by name. */
export async function listOllama(folders: readonly string[]): Promise<OllamaModel[]> {
  const models = new Map<string, OllamaModel>()
  for (const folder of folders) {
    for (const manifests of manifestPaths(folder)) {
      for (const [host, namespace, model, tag] of await wordsBelow(manifests, 4)) {
        const name = spellOllamaName({ host, namespace, model, tag })
        if (models.has(name)) continue
        const path = join(manifests, host, namespace, model, tag)
        models.set(
          name,
          await readModel(name, folder, path).catch((error: Error) => ({
            ...{ name, path, bytes: 0 },
            refusal: error.message.replace(/^ollama:\S+: /, ""),
          })),
        )
      }
    }
  }
  return [...models.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Returns the paths where a folder of Ollama may have manifests. */
export function manifestPaths(folder: string): string[] {
  return manifestFolders.map((each) => join(folder, each))
}

/** Returns the model that the manifest at `path` names. Throws ModelError. */
async function readModel(name: string, folder: string, path: string): Promise<OllamaModel> {
  const refuse = (why: string) => new ModelError(`ollama:${name}: ${why}`)
  const manifest = await resolveRunner(await readManifest(path, refuse), folder, refuse)
  const layers = Array.isArray(manifest.layers) ? manifest.layers.filter(isObject) : []
  const ofType = (type: string) =>
    layers.filter(({ mediaType }) => mediaType === `application/vnd.ollama.image.${type}`)
  if (ofType("tensor").length > 0)
    throw refuse(
      "its weights lie in a layer for each tensor, which only Ollama's own engine reads. Choose a tag that is a GGUF file",
    )
  if (ofType("adapter").length > 0)
    throw refuse("it is an adapter on another model. Merge them into one GGUF file, or choose its base")
  const models = ofType("model")
  if (models.length !== 1)
    throw refuse(
      models.length === 0
        ? "it has no weights on this machine: it runs in a cloud service. Choose another tag"
        : `${models.length} layers are GGUF files, and one is read. Choose another tag`,
    )
  const [{ digest, size }] = models
  const file = blobPath(folder, digest)
  if (file === null)
    throw refuse(`${JSON.stringify(digest)?.slice(0, 100)} is not a SHA-256 digest. Pull the model again`)
  const bytes = await stat(file).then(
    (found) => (found.isFile() ? found.size : -1),
    () => -1,
  )
  if (bytes < 0) throw refuse(`${file} is missing or cannot be read. Run \`ollama pull ${name}\``)
  if (typeof size === "number" && bytes !== size)
    throw refuse(`${file} has ${bytes} of ${size} bytes. Run \`ollama pull ${name}\``)
  return { name, path: file, bytes, refusal: undefined }
}

/** Returns the manifest itself, or, if it is a list, the one with GGUF weights. */
async function resolveRunner(
  manifest: JsonObject,
  folder: string,
  refuse: (why: string) => ModelError,
): Promise<JsonObject> {
  if (!Array.isArray(manifest.manifests)) return manifest
  const children = manifest.manifests.filter(isObject)
  const rank = ({ format, runner }: JsonObject) =>
    format === "gguf" ? 0 : runner === "ollama" ? 1 : runner === "llamacpp" ? 2 : 3
  const [child] = [...children].sort((a, b) => rank(a) - rank(b))
  if (child === undefined || rank(child) === 3)
    throw refuse("no manifest of its list is for a GGUF file. Choose another tag")
  if (Array.isArray(child.layers)) return child
  const path = blobPath(folder, child.digest)
  if (path === null)
    throw refuse(
      `${JSON.stringify(child.digest)?.slice(0, 100)} is not a SHA-256 digest. Pull the model again`,
    )
  return readManifest(path, refuse)
}

async function readManifest(path: string, refuse: (why: string) => ModelError): Promise<JsonObject> {
  try {
    const { size } = await stat(path)
    if (size > maxManifestBytes) throw new Error(`${size} bytes, and ${maxManifestBytes} are the most`)
    const value: unknown = JSON.parse(await readFile(path, "utf8"))
    if (isObject(value)) return value
    throw new Error("it is not a JSON object")
  } catch (error) {
    throw refuse(`its manifest ${path} cannot be read: ${(error as Error).message}. Pull the model again`)
  }
}

/** Returns the path of a blob; null if the text is not a digest, and therefore not a file name. */
function blobPath(folder: string, digest: unknown): string | null {
  const found = typeof digest === "string" ? /^sha256[:-]([0-9a-f]{64})$/i.exec(digest) : null
  return found === null ? null : join(folder, "blobs", `sha256-${found[1].toLowerCase()}`)
}

/**
 * Returns the names of files `depth` folders below, split into parts. Names with parts that cannot
 * occur in a model's name are left out.
 */
async function wordsBelow(folder: string, depth: number): Promise<string[][]> {
  const entries = await readdir(folder).catch(() => [])
  const words = entries.filter((each) => (depth === 4 ? hostPattern : wordPattern).test(each)).sort()
  if (depth > 1) {
    const below: string[][] = []
    for (const each of words) {
      for (const rest of await wordsBelow(join(folder, each), depth - 1)) below.push([each, ...rest])
      if (below.length >= maxNames) break
    }
    return below
  }
  const found: string[][] = []
  for (const each of words.slice(0, maxNames)) if (await isFile(join(folder, each))) found.push([each])
  return found
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() ?? false
}

type JsonObject = Record<string, unknown>
