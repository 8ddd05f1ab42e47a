/**
 * Reads a model directory in the Hugging Face layout, or in that of onnxruntime-genai's builder:
 * everything that the engine needs to know before it opens the graph.
 *
 * Each wrong directory is refused here, with the name of the file and what to do: a missing file,
 * text that is not JSON, no end-of-sequence id. Properties of the graph (inputs, cache, width) are
 * checked in `ort/signature.ts`. End ids are the union of three files, because each of them alone
 * is often incomplete: Llama 3 has three end ids.
 */

import { isObject } from "../../grammar/options.ts"
import { ModelError } from "../errors.ts"
import { type GenaiModel, readGenaiConfig } from "./genai.ts"
import { fileTypeOfGraph } from "./weights/filetype.ts"

/**
 * The files of one model, by their paths below its folder, with `/`: files of a disk (`folder.ts`),
 * or of a web server.
 */
export interface ModelFiles {
  /** The folder, as messages name it. */
  readonly path: string
  /** Returns the whole path of a file, as messages name it. */
  pathOf(file: string): string
  /** Undefined if there is no such file. */
  find(file: string): Promise<FoundFile | undefined>
  /** Undefined if there is no such file. Rejects if it cannot be read. */
  read(file: string): Promise<string | undefined>
  /** Returns the names of the files in a folder below; "" is the model's own. */
  list(folder: string): Promise<readonly string[]>
}

export interface FoundFile {
  readonly bytes: number
  /** Milliseconds since 1970. */
  readonly writtenAt: number
}

export interface ModelDirectory {
  readonly path: string
  /** Name of the model in API requests. */
  readonly id: string
  /** Seconds since 1970: when the graph was written. */
  readonly createdAt: number
  readonly graphPath: string
  /** `parameter_count` of a config.json that was built of weights; null if it has none. */
  readonly parameterCount: number | null
  /** `file_type` of such a config.json, or the type in the graph's name; "unknown" without both. */
  readonly fileType: string
  /** Bytes of the graph and of the files with its weights, whose names begin with its name. */
  readonly weightBytes: number
  /**
   * The graph that computes token embeddings, if a model with vision has a separate one; otherwise
   * undefined.
   */
  readonly embeddingPath: string | undefined
  /** `config.json`, or its `text_config` if the model has one. */
  readonly config: Readonly<Record<string, unknown>>
  readonly tokenizerJson: Readonly<Record<string, unknown>>
  readonly tokenizerConfig: Readonly<Record<string, unknown>>
  /** Ascending, never empty. */
  readonly endIds: readonly number[]
  /** Number of positions of the model; undefined if config.json does not say. */
  readonly contextLength: number | undefined
  readonly chatTemplates: ReadonlyMap<string, string>
}

/** Suffix of a graph's file name, by the type of its weights. */
const graphSuffix: Readonly<Record<string, string>> = {
  fp32: "",
  fp16: "_fp16",
  int8: "_int8",
  uint8: "_uint8",
  q8: "_quantized",
  q4: "_q4",
  q4f16: "_q4f16",
  bnb4: "_bnb4",
}

/** Types of weights by which a graph may be requested. */
export const dtypes: readonly string[] = Object.keys(graphSuffix)

/**
 * File names of a decoder, newer exports first. In older exports one file merges a graph without a
 * cache and one with it.
 */
const graphNames = ["model", "decoder_model_merged"]
const graphFolders = ["onnx/", ""]

/** Reads a model's files. Throws ModelError naming the file that is missing or wrong. */
export async function readModelFiles(files: ModelFiles, dtype = "fp32"): Promise<ModelDirectory> {
  const genai = await readGenai(files)
  const outer = genai?.config ?? (await readJson(files, "config.json", true))
  const config = isObject(outer.text_config) ? { ...outer, ...outer.text_config } : outer
  const tokenizerJson = await readJson(files, "tokenizer.json", true)
  const tokenizerConfig = await readJson(files, "tokenizer_config.json", false)
  const generationConfig = await readJson(files, "generation_config.json", false)
  const graph = genai === null ? await findGraph(files, dtype) : await genaiGraph(files, genai)
  const embedding = await findEmbedding(files, graph.file, dtype)
  const name = typeof config._name_or_path === "string" ? nameOf(config._name_or_path) : ""
  return {
    path: files.path,
    id: name || nameOf(files.path),
    createdAt: Math.floor(graph.writtenAt / 1000),
    graphPath: files.pathOf(graph.file),
    fileType: typeof config.file_type === "string" ? config.file_type : fileTypeOfGraph(graph.file),
    parameterCount: Number.isSafeInteger(config.parameter_count) ? Number(config.parameter_count) : null,
    weightBytes: await weightBytesOf(files, graph),
    embeddingPath: embedding && files.pathOf(embedding),
    config,
    tokenizerJson,
    tokenizerConfig,
    endIds: findEndIds(files.path, [generationConfig, config, outer], tokenizerConfig, tokenizerJson),
    contextLength: contextLengthOf(files, config),
    chatTemplates: await readChatTemplates(files, tokenizerConfig),
  }
}

/** Returns the last name of a path, with slashes of any system; "" if there is none. */
function nameOf(path: string): string {
  return path.split(/[\\/]/).findLast((name) => name !== "") ?? ""
}

/** Returns the folder of a file, with a slash at its end; "" for the model's own. */
function folderOf(file: string): string {
  return file.slice(0, file.lastIndexOf("/") + 1)
}

/** Null if there is a `config.json`, or no `genai_config.json`. */
async function readGenai(files: ModelFiles): Promise<GenaiModel | null> {
  const name = "genai_config.json"
  if ((await files.find("config.json")) || !(await files.find(name))) return null
  return readGenaiConfig(files.pathOf(name), await readJson(files, name, true))
}

interface FoundGraph extends FoundFile {
  readonly file: string
}

async function genaiGraph(files: ModelFiles, { graph }: GenaiModel): Promise<FoundGraph> {
  const found = await files.find(graph)
  if (found) return { file: graph, ...found }
  throw new ModelError(`${files.pathOf(graph)} is missing; genai_config.json names it as the graph`)
}

async function weightBytesOf(files: ModelFiles, { file, bytes }: FoundGraph): Promise<number> {
  const folder = folderOf(file)
  const names = (await files.list(folder)).map((name) => `${folder}${name}`)
  const others = names.filter((each) => each.startsWith(file) && each !== file)
  const sizes = await Promise.all(others.map(async (each) => (await files.find(each))?.bytes ?? 0))
  return sizes.reduce((sum, size) => sum + size, bytes)
}

async function findGraph(files: ModelFiles, dtype: string): Promise<FoundGraph> {
  const candidates = graphFilesOf(dtype)
  for (const file of candidates) {
    const found = await files.find(file)
    if (found) return { file, ...found }
  }
  const others = await graphsIn(files)
  throw new ModelError(
    `${files.path}: dtype ${dtype} needs ${candidates[0]} or ${candidates[1]}, and there is ${
      others.length === 0
        ? "no graph, no model.safetensors and no GGUF file. Add one of them"
        : `${others.map(({ file, dtype }) => `${file} (dtype ${dtype})`).join(", ")}. Choose its dtype`
    }`,
  )
}

/**
 * Returns the embedding graph in the folder of `graph`: with the same type of weights, or else the
 * first one found.
 */
async function findEmbedding(files: ModelFiles, graph: string, dtype: string): Promise<string | undefined> {
  for (const name of embeddingFilesOf(dtype)) {
    const file = `${folderOf(graph)}${name}`
    if (await files.find(file)) return file
  }
  return undefined
}

/**
 * Returns the possible file names of the embedding graph for a type of weights, the likeliest
 * first.
 */
export function embeddingFilesOf(dtype: string): string[] {
  return [dtype, ...dtypes.filter((other) => other !== dtype)].map(
    (each) => `embed_tokens${graphSuffix[each] ?? ""}.onnx`,
  )
}

/** Returns the graphs of a model with a name of some dtype. */
async function graphsIn(files: ModelFiles): Promise<{ file: string; dtype: string }[]> {
  const names = dtypes.flatMap((dtype) => graphFilesOf(dtype))
  const found = await Promise.all(names.map((file) => files.find(file)))
  return graphsAmong(names.filter((_, i) => found[i]))
}

/** Returns those of `files` that are graphs of a known type of weights, with that type. */
export function graphsAmong(files: readonly string[]): { file: string; dtype: string }[] {
  return dtypes.flatMap((dtype) =>
    graphFilesOf(dtype)
      .filter((file) => files.includes(file))
      .map((file) => ({ file, dtype })),
  )
}

/**
 * Returns the possible paths of the graph of a type of weights in a model directory, the usual one
 * first. Throws ModelError for another type.
 */
export function graphFilesOf(dtype: string): string[] {
  if (!Object.hasOwn(graphSuffix, dtype))
    throw new ModelError(`dtype ${JSON.stringify(dtype)}: not one of ${dtypes.join(", ")}`)
  return graphNames.flatMap((name) =>
    graphFolders.map((folder) => `${folder}${name}${graphSuffix[dtype]}.onnx`),
  )
}

type JsonObject = Record<string, unknown>

/** Maximum number of chat templates of one model. */
export const maxTemplates = 64

/** Maximum bytes of a file of a model directory: several times the largest known. */
export function maxBytesOf(file: string): number {
  if (file === "tokenizer.json") return 2 ** 27
  if (file.endsWith(".jinja")) return 2 ** 20
  return file.endsWith(".json") ? 2 ** 24 : Number.POSITIVE_INFINITY
}

/** Throws ModelError for a file of a model that is larger than any known. */
export function checkSize(path: string, bytes: number): void {
  const most = maxBytesOf(nameOf(path))
  if (bytes > most)
    throw new ModelError(`${path}: ${bytes} bytes, above the limit of ${most}. Is it the right file?`)
}

async function readJson(files: ModelFiles, name: string, needed: boolean): Promise<JsonObject> {
  const path = files.pathOf(name)
  let text: string | undefined
  try {
    text = await files.read(name)
  } catch (cause) {
    if (cause instanceof ModelError) throw cause
    throw new ModelError(`${path}: cannot be read`, { cause })
  }
  if (text === undefined) {
    if (!needed) return {}
    const way = "a model directory needs it, unless a GGUF file or model.safetensors lies there"
    throw new ModelError(`${path}: is missing; ${way}`)
  }
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch (cause) {
    throw new ModelError(`${path}: not JSON: ${(cause as Error).message}`, { cause })
  }
  throw new ModelError(`${path}: must hold a JSON object`)
}

/** Keys by which architectures name the number of their positions, the most common first. */
const contextKeys = ["max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "max_sequence_length"]

function contextLengthOf(files: ModelFiles, config: JsonObject): number | undefined {
  const key = contextKeys.find((each) => config[each] !== undefined && config[each] !== null)
  if (key === undefined) return undefined
  const value = config[key]
  if (typeof value === "number" && Number.isInteger(value) && value > 0) return value
  throw new ModelError(
    `${files.pathOf("config.json")}: ${key} is ${JSON.stringify(value)}, not an integer > 0`,
  )
}

/**
 * Returns every id that ends an output: those that `configs` list, and the id of the token in
 * tokenizer_config.json. Ascending. Throws ModelError if there is none.
 */
export function findEndIds(
  directory: string,
  configs: readonly JsonObject[],
  tokenizerConfig: JsonObject,
  tokenizerJson: JsonObject,
): readonly number[] {
  const ids = new Set<number>()
  for (const config of configs) {
    for (const id of [config.eos_token_id ?? []].flat()) {
      if (!Number.isInteger(id))
        throw new ModelError(`${directory}: eos_token_id holds ${JSON.stringify(id)}`)
      ids.add(id as number)
    }
  }
  const name = tokenText(tokenizerConfig.eos_token)
  const named = name === undefined ? undefined : idOfToken(tokenizerJson, tokenizerConfig, name)
  if (named !== undefined) ids.add(named)
  if (ids.size === 0) {
    throw new ModelError(
      `${directory}: no end-of-sequence id. Set eos_token_id in generation_config.json or config.json, or eos_token in tokenizer_config.json`,
    )
  }
  return [...ids].sort((a, b) => a - b)
}

/**
 * Returns the text of a special token, which is given as its text or as an object with `content`.
 */
export function tokenText(token: unknown): string | undefined {
  const text = isObject(token) ? token.content : token
  return typeof text === "string" ? text : undefined
}

function idOfToken(tokenizerJson: JsonObject, tokenizerConfig: JsonObject, text: string): number | undefined {
  for (const token of (tokenizerJson.added_tokens ?? []) as JsonObject[]) {
    if (token.content === text) return Number(token.id)
  }
  for (const [id, token] of Object.entries((tokenizerConfig.added_tokens_decoder ?? {}) as JsonObject)) {
    if (tokenText(token) === text) return Number(id)
  }
  const vocab = isObject(tokenizerJson.model) ? tokenizerJson.model.vocab : undefined
  if (Array.isArray(vocab)) {
    const id = vocab.findIndex((entry) => entry[0] === text)
    return id < 0 ? undefined : id
  }
  return isObject(vocab) && Object.hasOwn(vocab, text) ? Number(vocab[text]) : undefined
}

/** The folder where transformers stores additional templates, each in a file of its name. */
export const templatesFolder = "additional_chat_templates"

/**
 * Returns the templates. Files have precedence: `chat_template.jinja` and those of the folder.
 * Otherwise a string (`default`) or a list of named templates in the tokenizer's configuration,
 * otherwise `chat_template.json`, which models with vision have.
 */
async function readChatTemplates(files: ModelFiles, config: JsonObject): Promise<Map<string, string>> {
  const templates = new Map<string, string>()
  const file = "chat_template.jinja"
  const own = (await files.find(file)) && (await files.read(file))
  if (own !== undefined) templates.set("default", own)
  const names = (await files.list(templatesFolder)).filter((each) => each.endsWith(".jinja"))
  for (const name of [...names].sort()) {
    if (templates.size >= maxTemplates)
      throw new ModelError(`${files.pathOf(templatesFolder)}: more than ${maxTemplates} chat templates`)
    const text = await files.read(`${templatesFolder}/${name}`)
    if (text !== undefined) templates.set(name.slice(0, -".jinja".length), text)
  }
  if (templates.size > 0) return templates
  const listed = config.chat_template ?? (await readJson(files, "chat_template.json", false)).chat_template
  if (typeof listed === "string") return new Map([["default", listed]])
  for (const each of Array.isArray(listed) ? listed : []) {
    if (isObject(each) && typeof each.name === "string" && typeof each.template === "string") {
      templates.set(each.name, each.template)
    }
  }
  return templates
}
