/**
 * Determines the kind of model at a path: a model directory that is opened as it is, or weights
 * that are converted into one first.
 */
import { readdir, realpath, stat } from "node:fs/promises"
import { basename, join, resolve, sep } from "node:path"
import { ModelError } from "../../errors.ts"
import { graphsAmong } from "../directory.ts"
import { chooseGguf, ggufModels, stemOf } from "./label.ts"

/** Weights from which a model directory is built. */
export interface ModelSource {
  readonly kind: "gguf" | "safetensors"
  /** A GGUF file (any part, if it is split), or the folder of the safetensors. */
  readonly path: string
  /** Name of the model in API requests. */
  readonly name: string
}

/** Maximum number of names that are read in a folder and its subfolders. */
const maxFiles = 10_000

/** Files of safetensors that are not part of a split model. */
export const safetensorsFiles = ["model.safetensors", "model.safetensors.index.json"]

/**
 * Returns the weights at `path`; null if it is neither a weight file nor a folder with only
 * weights, and so can only be a model directory. `label` chooses among GGUF files. Throws
 * ModelError if several match.
 */
export async function sourceAt(path: string, label?: string): Promise<ModelSource | null> {
  const found = await stat(path).catch(() => null)
  if (found?.isFile()) {
    if (!/\.(onnx|safetensors|json)$/i.test(path)) return ggufSource(path)
    throw new ModelError(`${path}: a file of a model. Name its folder, ${resolve(path, "..")}`)
  }
  if (!found?.isDirectory()) return null
  const names = await filesIn(path)
  if (label === undefined) {
    if (names.includes("genai_config.json") || graphsAmong(names).length > 0) return null
    if (isSafetensors(names)) return { kind: "safetensors", path, name: basename(resolve(path)) }
  }
  const models = ggufModels(names)
  if (models.length === 0 && label === undefined) return null
  return ggufSource(join(path, chooseGguf(path, models, label).first))
}

export function ggufSource(path: string): ModelSource {
  return { kind: "gguf", path, name: stemOf(resolve(path).replaceAll("\\", "/")) }
}

/** Returns whether a folder with these files is a model as safetensors. */
export function isSafetensors(names: readonly string[]): boolean {
  return safetensorsFiles.some((each) => names.includes(each))
}

/**
 * Returns the files of a folder and its subfolders, with slashes, following links. Ascending.
 * Unreadable files are left out, and so are links to the folder itself or to one inside it, since
 * their files would count twice.
 */
export async function filesIn(folder: string, depth = 2): Promise<string[]> {
  const files: string[] = []
  const real = await realpath(folder).catch(() => folder)
  const isAlias = async (name: string) => {
    const target = await realpath(join(folder, name)).catch(() => "")
    return target !== join(real, name) && `${target}${sep}`.startsWith(`${real}${sep}`)
  }
  for (const name of (await readdir(folder).catch(() => [])).sort()) {
    const found = await stat(join(folder, name)).catch(() => null)
    if (found?.isFile()) files.push(name)
    else if (found?.isDirectory() && depth > 1 && !(await isAlias(name)))
      for (const below of await filesIn(join(folder, name), depth - 1)) files.push(`${name}/${below}`)
    if (files.length >= maxFiles) break
  }
  return files
}

/** Returns the existing folders that cannot be read, each with the reason. */
export async function unreadable(folders: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const folder of folders) {
    const error = await readdir(folder).then(
      () => undefined,
      ({ code }: NodeJS.ErrnoException) => code,
    )
    if (error !== undefined && error !== "ENOENT") found.push(`${folder} cannot be read (${error})`)
  }
  return found
}
