/**
 * The kind of model at a path: a model directory that is opened as it is, or weights that are
 * converted into one first.
 */
import { readdir, realpath, stat } from "node:fs/promises"
import { basename, join, resolve, sep } from "node:path"
import { ModelError } from "../../errors.ts"
import { graphsAmong } from "../directory.ts"
import { chooseGguf, ggufModels, stemOf } from "./label.ts"

/** Weights from which a model directory is built. */
export interface ModelSource {
  readonly kind: "gguf" | "safetensors"
  /** A GGUF file, any part of a split one, or the folder of the safetensors. */
  readonly path: string
  /** Name of the model on the wire. */
  readonly name: string
}

/** Maximum names of a folder and of the folders in it that are read. */
const maxFiles = 10_000

/** The files of safetensors that are not parts of others. */
export const safetensorsFiles = ["model.safetensors", "model.safetensors.index.json"]

/**
 * The weights at `path`; null: it is not a file or a folder of weights alone, so it is a model
 * directory or nothing. `label` chooses among GGUF files. Throws ModelError where they are several.
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

/** Whether a folder of these files holds a model as safetensors. */
export function isSafetensors(names: readonly string[]): boolean {
  return safetensorsFiles.some((each) => names.includes(each))
}

/**
 * Files of a folder and of the folders in it, with slashes, behind their links. Ascending;
 * unreadable files are left out, and so are links to the folder itself or to one in it, whose files
 * would count twice.
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

/** The existing folders that cannot be read, each with the reason. */
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
