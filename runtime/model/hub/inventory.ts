/**
 * Finds all models on this machine that have a name here: the cached ones of the hub, and those in
 * the folders of Ollama, LM Studio and llama.cpp.
 */
import { stat } from "node:fs/promises"
import { join } from "node:path"
import { ModelError } from "../../errors.ts"
import { graphsAmong } from "../directory.ts"
import { type CachedModel, HubCache } from "./cache.ts"
import { type GgufModel, ggufModels, labelOf } from "./label.ts"
import { listLmStudio } from "./lmstudio.ts"
import { listOllama, manifestPaths } from "./ollama.ts"
import type { Places } from "./places.ts"
import { filesIn, ggufSource, isSafetensors, type ModelSource, unreadable } from "./source.ts"

export interface FoundModel {
  /** The name that `open({ model })` and `--model` accept. */
  readonly name: string
  readonly kind: "onnx" | "gguf" | "safetensors"
  /** A directory, or the first part of a GGUF file. */
  readonly path: string
  readonly bytes: number
  /** Types of weights of an ONNX model. */
  readonly dtypes?: readonly string[]
  /** For a cached model of the hub: the commit, and the branches and tags that pointed to it. */
  readonly commit?: string
  readonly revisions?: readonly string[]
  /** Why it cannot be opened; undefined if it can. */
  readonly refusal: string | undefined
}

/** Throws ModelError if weights are refused. Reads only headers. */
export type Inspect = (source: ModelSource) => Promise<void>

/**
 * Returns every model, folder by folder. Unreadable models are left out; for a model that cannot be
 * opened, `refusal` says why.
 */
export async function findModels(places: Places, inspect: Inspect): Promise<FoundModel[]> {
  const found: FoundModel[] = []
  for (const model of await new HubCache(places.hub).models()) found.push(...(await ofHub(model, inspect)))
  for (const { name, path, bytes, refusal } of await listOllama(places.ollama)) {
    const model = { name: `ollama:${name}`, kind: "gguf" as const, path, bytes }
    found.push({ ...model, refusal: refusal ?? (await whyNot(ggufSource(path), inspect)) })
  }
  for (const { name, path } of await listLmStudio(places.lmStudio))
    found.push(...(await ofFolder(`lmstudio:${name}`, path, await filesIn(path), inspect)))
  for (const model of ggufModels(await filesIn(places.llamaCpp, 1)))
    found.push(await ofGguf(join(places.llamaCpp, model.first), places.llamaCpp, model, inspect))
  return found
}

/** Returns the folders of models that this user cannot read, each with the reason. */
export function closedFolders({ hub, ollama, lmStudio, llamaCpp }: Places): Promise<string[]> {
  return unreadable([hub, ...ollama.flatMap(manifestPaths), ...lmStudio, llamaCpp])
}

async function ofHub(model: CachedModel, inspect: Inspect): Promise<FoundModel[]> {
  const { name, commit, revisions, path, files, bytes } = model
  const [revision = commit] = revisions
  const spelt = revisions.includes("main") ? name : `${name}@${revision}`
  const dtypes = [...new Set(graphsAmong(files).map(({ dtype }) => dtype))]
  const own = { commit, revisions }
  if (dtypes.length === 0)
    return (await ofFolder(spelt, path, files, inspect)).map((each) => ({ ...each, ...own }))
  const refusal = files.includes("tokenizer.json") ? undefined : "it has no tokenizer.json"
  return [{ name: spelt, kind: "onnx", path, bytes, dtypes, ...own, refusal }]
}

/** Returns the safetensors model of a folder, and each of its GGUF models. */
async function ofFolder(
  name: string,
  path: string,
  files: readonly string[],
  inspect: Inspect,
): Promise<FoundModel[]> {
  const found: FoundModel[] = []
  if (isSafetensors(files)) {
    const source: ModelSource = { kind: "safetensors", path, name }
    const weights = files.filter((file) => file.endsWith(".safetensors"))
    const bytes = await bytesOf(path, weights)
    found.push({ name, kind: "safetensors", path, bytes, refusal: await whyNot(source, inspect) })
  }
  const models = ggufModels(files)
  for (const model of models)
    found.push(await ofGguf(`${name}:${labelOf(model, models)}`, path, model, inspect))
  return found
}

async function ofGguf(
  name: string,
  folder: string,
  { first, parts, partCount }: GgufModel,
  inspect: Inspect,
): Promise<FoundModel> {
  const path = join(folder, first)
  const isWhole = parts.length === partCount
  const refusal = isWhole
    ? await whyNot(ggufSource(path), inspect)
    : `${parts.length} of ${partCount} parts exist`
  return { name, kind: "gguf", path, bytes: await bytesOf(folder, parts), refusal }
}

async function whyNot(source: ModelSource, inspect: Inspect): Promise<string | undefined> {
  try {
    await inspect(source)
    return undefined
  } catch (error) {
    if (!(error instanceof ModelError) && (error as NodeJS.ErrnoException).code === undefined) throw error
    const { message } = error as Error
    return message.startsWith(`${source.path}: `) ? message.slice(source.path.length + 2) : message
  }
}

async function bytesOf(folder: string, files: readonly string[]): Promise<number> {
  let bytes = 0
  for (const file of files)
    bytes += await stat(join(folder, file)).then(
      ({ size }) => size,
      () => 0,
    )
  return bytes
}
