/** Which of a model's files a type of weights needs: its graph with its weights, the tokenizer, the configuration, the templates. */
import { ModelError } from "../../errors.ts"
import {
  embeddingFilesOf,
  graphFilesOf,
  graphsAmong,
  maxBytesOf,
  maxTemplates,
  templatesFolder,
} from "../directory.ts"
import type { ListedFile } from "./listing.ts"
import { type HubName, spellName } from "./name.ts"

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

export interface Choice {
  readonly files: readonly ListedFile[]
  /** Those of them that are graphs: they may name further files. */
  readonly graphs: readonly string[]
}

/** Throws ModelError: no graph of this type, no tokenizer, a file that no model directory is read from. */
export function choose(hubName: HubName, files: readonly ListedFile[], dtype = "fp32"): Choice {
  const byPath = new Map(files.map((file) => [file.path, file]))
  const names = files.map(({ path }) => path)
  const graph = graphFilesOf(dtype).find((path) => byPath.has(path))
  if (graph === undefined) throw noGraph(hubName, names, dtype)
  for (const file of neededFiles) {
    if (!byPath.has(file))
      throw new ModelError(
        `${spellName(hubName)} has no ${file}, so nothing tells its tokens. Choose another model`,
      )
  }
  if (!byPath.has("config.json") && !byPath.has("genai_config.json"))
    throw new ModelError(`${spellName(hubName)} has no config.json. Choose another model`)
  const folder = folderOf(graph)
  const embedding = embeddingFilesOf(dtype).find((file) => byPath.has(folder + file))
  const graphs = embedding === undefined ? [graph] : [graph, folder + embedding]
  // External data: of one file or of several that are numbered.
  const data = names.filter((path) =>
    graphs.some((each) => path.startsWith(each) && /^[._]data(_\d+)?$/.test(path.slice(each.length))),
  )
  const templates = names.filter((path) => path.startsWith(`${templatesFolder}/`) && path.endsWith(".jinja"))
  if (templates.length > maxTemplates)
    throw new ModelError(
      `${spellName(hubName)} has ${templates.length} chat templates, and ${maxTemplates} are the most that are read. Choose another model`,
    )
  const chosen = [...neededFiles, ...usualFiles, ...templates, ...graphs, ...data].flatMap(
    (path) => byPath.get(path) ?? [],
  )
  for (const { path, bytes } of chosen) {
    const most = maxBytesOf(path)
    if (bytes > most)
      throw new ModelError(
        `${spellName(hubName)}: ${path} has ${bytes} bytes, and ${most} are the most that are read. Choose another model`,
      )
  }
  return { files: chosen, graphs }
}

/** The files that a graph names as those of its weights, where they have other names than usual. */
export function dataFiles(
  files: readonly ListedFile[],
  graph: string,
  names: readonly string[],
): ListedFile[] {
  const wanted = new Set(names.map((name) => folderOf(graph) + name))
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
        : "there is no ONNX graph. Choose an export, such as those of onnx-community"
  return new ModelError(`${spellName(hubName)}: dtype ${dtype} needs ${graphFilesOf(dtype)[0]}, and ${there}`)
}
