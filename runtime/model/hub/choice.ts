/**
 * Chooses which of a model's files are downloaded: a graph of the requested type of weights with
 * all files of a model directory; without a graph, the safetensors instead; or one GGUF file, which
 * contains everything.
 */
import { ModelError } from "../../errors.ts"
import { checkBuiltDtype } from "../build/dtype.ts"
import {
  embeddingFilesOf,
  graphFilesOf,
  graphsAmong,
  maxBytesOf,
  maxTemplates,
  templatesFolder,
} from "../directory.ts"
import { chooseGguf, ggufModels } from "./label.ts"
import type { ListedFile } from "./listing.ts"
import { type HubName, spellName } from "./name.ts"
import { isSafetensors, safetensorsFiles } from "./source.ts"

/** The files that a model directory needs besides its graph. */
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

export interface Choice {
  readonly files: readonly ListedFile[]
  /** Those of the files that may name further files: graphs, and the index of safetensors. */
  readonly naming: readonly string[]
  /** The path to open below the folder of the commit: the folder itself (""), or a GGUF file. */
  readonly opens: string
}

/**
 * Chooses the files. Throws ModelError if there is no graph of this type, no tokenizer, several
 * GGUF files, or a file that is too large for a model directory.
 */
export function choose(hubName: HubName, files: readonly ListedFile[], dtype?: string): Choice {
  const names = files.map(({ path }) => path)
  const isGraph = hubName.label === undefined && graphsAmong(names).length > 0
  const isBuilt = hubName.label === undefined && !isGraph && isSafetensors(names)
  if (isGraph) return chooseDirectory(hubName, files, graphsOf(hubName, names, dtype ?? "fp32"))
  if (isBuilt) {
    checkBuiltDtype(spellName(hubName), dtype)
    const weights = safetensorsFiles.filter((file) => names.includes(file)).slice(0, 1)
    return chooseDirectory(hubName, files, weights)
  }
  const models = ggufModels(names)
  if (models.length === 0 && hubName.label === undefined) throw noGraph(hubName, names, dtype ?? "fp32")
  checkBuiltDtype(spellName(hubName), dtype)
  const { parts, first } = chooseGguf(spellName({ ...hubName, label: undefined }), models, hubName.label)
  return { files: files.filter(({ path }) => parts.includes(path)), naming: [], opens: first }
}

/**
 * Returns the files of a model directory: the weights in `naming`, the files that those name, and
 * the text files.
 */
function chooseDirectory(hubName: HubName, files: readonly ListedFile[], naming: readonly string[]): Choice {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const names = files.map(({ path }) => path)
  for (const file of neededFiles) {
    if (!byPath.has(file))
      throw new ModelError(
        `${spellName(hubName)} has no ${file}, so its tokens are unknown. Choose another model`,
      )
  }
  if (!byPath.has("config.json") && !byPath.has("genai_config.json"))
    throw new ModelError(`${spellName(hubName)} has no config.json. Choose another model`)
  // External data is one file, or several numbered ones.
  const data = names.filter((path) =>
    naming.some((each) => path.startsWith(each) && /^[._]data(_\d+)?$/.test(path.slice(each.length))),
  )
  const templates = names.filter((path) => path.startsWith(`${templatesFolder}/`) && path.endsWith(".jinja"))
  if (templates.length > maxTemplates)
    throw new ModelError(
      `${spellName(hubName)} has ${templates.length} chat templates, above the limit of ${maxTemplates}. Choose another model`,
    )
  const chosen = [...neededFiles, ...usualFiles, ...templates, ...naming, ...data].flatMap(
    (path) => byPath.get(path) ?? [],
  )
  for (const { path, bytes } of chosen) {
    const most = maxBytesOf(path)
    if (bytes > most)
      throw new ModelError(
        `${spellName(hubName)}: ${path} has ${bytes} bytes, above the limit of ${most}. Choose another model`,
      )
  }
  return { files: chosen, naming, opens: "" }
}

/** Returns the graph of a type of weights, and that of its embeddings if there is one. */
function graphsOf(hubName: HubName, names: readonly string[], dtype: string): string[] {
  const graph = graphFilesOf(dtype).find((path) => names.includes(path))
  if (graph === undefined) throw noGraph(hubName, names, dtype)
  const embedding = embeddingFilesOf(dtype).find((file) => names.includes(folderOf(graph) + file))
  return embedding === undefined ? [graph] : [graph, folderOf(graph) + embedding]
}

/** Returns the files that a graph or an index names as those of its weights. */
export function dataFiles(
  files: readonly ListedFile[],
  naming: string,
  names: readonly string[],
): ListedFile[] {
  const wanted = new Set(names.map((name) => folderOf(naming) + name))
  return files.filter(({ path }) => wanted.has(path))
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1)
}

function noGraph(hubName: HubName, names: readonly string[], dtype: string): ModelError {
  const graphs = graphsAmong(names).map(({ file, dtype }) => `${file} (dtype ${dtype})`)
  const others = names.filter((path) => path.endsWith(".onnx"))
  const there =
    graphs.length > 0
      ? `there is ${graphs.join(", ")}. Choose its dtype`
      : others.length > 0
        ? `there is ${others.slice(0, 8).join(", ")}, which is no decoder with a cache by its name. Choose another model`
        : "there is no ONNX graph, no GGUF file and no model.safetensors. Choose another model"
  return new ModelError(`${spellName(hubName)}: dtype ${dtype} needs ${graphFilesOf(dtype)[0]}, and ${there}`)
}
