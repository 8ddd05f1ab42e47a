/**
 * Reads a model directory in the Hugging Face layout, or in that of onnxruntime-genai's builder:
 * everything that the engine needs to know before it opens the graph.
 *
 * Each wrong directory is refused here, with the name of the file and what to do: a missing file,
 * text that is not JSON, no end-of-sequence id. Properties of the graph (inputs, cache, width) are
 * checked in `ort/signature.ts`. End ids are the union of three files, because each of them alone
 * is often incomplete: Llama 3 has three end ids.
 */

import { readdir, readFile, stat } from "node:fs/promises"
import { basename, dirname, join, resolve } from "node:path"
import { isObject } from "../../grammar/options.ts"
import { ModelError } from "../errors.ts"
import { type GenaiModel, readGenaiConfig } from "./genai.ts"

export interface ModelDirectory {
  readonly path: string
  /** Name of the model in API requests. */
  readonly id: string
  /** Seconds since 1970: when the graph was written. */
  readonly createdAt: number
  readonly graphPath: string
  /** `parameter_count` of a config.json that was built of weights; null if it has none. */
  readonly parameterCount: number | null
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

/** Reads the directory. Throws ModelError naming the file that is missing or wrong. */
export async function readModelDirectory(path: string, dtype = "fp32"): Promise<ModelDirectory> {
  const directory = resolve(path)
  if (!(await kindOf(directory))?.isDirectory()) {
    throw new ModelError(
      `${directory}: not a directory and not a GGUF file. A model is either, or a name: <org>/<name>[:label], ollama:<name>, lmstudio:<name>`,
    )
  }
  const genai = await readGenai(directory)
  const outer = genai?.config ?? (await readJson(directory, "config.json", true))
  const config = isObject(outer.text_config) ? { ...outer, ...outer.text_config } : outer
  const tokenizerJson = await readJson(directory, "tokenizer.json", true)
  const tokenizerConfig = await readJson(directory, "tokenizer_config.json", false)
  const generationConfig = await readJson(directory, "generation_config.json", false)
  const graphPath = genai === null ? await findGraph(directory, dtype) : await genaiGraph(directory, genai)
  const name = typeof config._name_or_path === "string" ? basename(config._name_or_path) : ""
  return {
    path: directory,
    id: name || basename(directory),
    createdAt: Math.floor((await stat(graphPath)).mtimeMs / 1000),
    graphPath,
    parameterCount: Number.isSafeInteger(config.parameter_count) ? Number(config.parameter_count) : null,
    weightBytes: await weightBytesOf(graphPath),
    embeddingPath: await findEmbedding(graphPath, dtype),
    config,
    tokenizerJson,
    tokenizerConfig,
    endIds: findEndIds(directory, [generationConfig, config, outer], tokenizerConfig, tokenizerJson),
    contextLength: contextLengthOf(directory, config),
    chatTemplates: await readChatTemplates(directory, tokenizerConfig),
  }
}

/** Null if there is a `config.json`, or no `genai_config.json`. */
async function readGenai(directory: string): Promise<GenaiModel | null> {
  const name = "genai_config.json"
  const isThere = async (file: string) => (await kindOf(join(directory, file)))?.isFile() ?? false
  if ((await isThere("config.json")) || !(await isThere(name))) return null
  return readGenaiConfig(join(directory, name), await readJson(directory, name, true))
}

async function genaiGraph(directory: string, { graph }: GenaiModel): Promise<string> {
  const path = join(directory, graph)
  if ((await kindOf(path))?.isFile()) return path
  throw new ModelError(`${path} is missing; genai_config.json names it as the graph`)
}

async function weightBytesOf(graphPath: string): Promise<number> {
  const directory = dirname(graphPath)
  const names = (await readdir(directory)).filter((name) => name.startsWith(basename(graphPath)))
  const sizes = await Promise.all(names.map(async (name) => (await kindOf(join(directory, name)))?.size ?? 0))
  return sizes.reduce((sum, size) => sum + size, 0)
}

async function findGraph(directory: string, dtype: string): Promise<string> {
  const candidates = graphFilesOf(dtype)
  for (const candidate of candidates) {
    if ((await kindOf(join(directory, candidate)))?.isFile()) return join(directory, candidate)
  }
  const others = await graphsIn(directory)
  throw new ModelError(
    `${directory}: dtype ${dtype} needs ${candidates[0]} or ${candidates[1]}, and there is ${
      others.length === 0
        ? "no graph, no model.safetensors and no GGUF file. Add one of them"
        : `${others.map(({ file, dtype }) => `${file} (dtype ${dtype})`).join(", ")}. Choose its dtype`
    }`,
  )
}

/**
 * Returns the embedding graph in the folder of `graphPath`: with the same type of weights, or else
 * the first one found.
 */
async function findEmbedding(graphPath: string, dtype: string): Promise<string | undefined> {
  for (const file of embeddingFilesOf(dtype)) {
    const path = join(dirname(graphPath), file)
    if ((await kindOf(path))?.isFile()) return path
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

/** Returns the graphs of a directory with a name of some dtype. */
async function graphsIn(directory: string): Promise<{ file: string; dtype: string }[]> {
  const files = dtypes.flatMap((dtype) => graphFilesOf(dtype))
  const isFile = await Promise.all(files.map(async (file) => (await kindOf(join(directory, file)))?.isFile()))
  return graphsAmong(files.filter((_, i) => isFile[i]))
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

/** Reads a file. Throws ModelError for a file that is too large, and errors of the file system. */
async function readText(path: string): Promise<string> {
  const most = maxBytesOf(basename(path))
  const { size } = await stat(path)
  if (size > most)
    throw new ModelError(`${path}: ${size} bytes, above the limit of ${most}. Is it the right file?`)
  return readFile(path, "utf8")
}

async function readJson(directory: string, name: string, needed: boolean): Promise<JsonObject> {
  const path = join(directory, name)
  let text: string
  try {
    text = await readText(path)
  } catch (cause) {
    if (cause instanceof ModelError) throw cause
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT"
    if (isMissing && !needed) return {}
    const way = isMissing
      ? "is missing; a model directory needs it, unless a GGUF file or model.safetensors lies there"
      : "cannot be read"
    throw new ModelError(`${path}: ${way}`, { cause })
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

function contextLengthOf(directory: string, config: JsonObject): number | undefined {
  const key = contextKeys.find((each) => config[each] !== undefined && config[each] !== null)
  if (key === undefined) return undefined
  const value = config[key]
  if (typeof value === "number" && Number.isInteger(value) && value > 0) return value
  throw new ModelError(
    `${join(directory, "config.json")}: ${key} is ${JSON.stringify(value)}, not an integer > 0`,
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
async function readChatTemplates(directory: string, config: JsonObject): Promise<Map<string, string>> {
  const templates = new Map<string, string>()
  const path = join(directory, "chat_template.jinja")
  if ((await kindOf(path))?.isFile()) templates.set("default", await readText(path))
  const folder = join(directory, templatesFolder)
  const inFolder = (await kindOf(folder))?.isDirectory() ? (await readdir(folder)).sort() : []
  for (const file of inFolder.filter((each) => each.endsWith(".jinja"))) {
    if (templates.size >= maxTemplates)
      throw new ModelError(`${folder}: more than ${maxTemplates} chat templates`)
    templates.set(basename(file, ".jinja"), await readText(join(folder, file)))
  }
  if (templates.size > 0) return templates
  const listed =
    config.chat_template ?? (await readJson(directory, "chat_template.json", false)).chat_template
  if (typeof listed === "string") return new Map([["default", listed]])
  for (const each of Array.isArray(listed) ? listed : []) {
    if (isObject(each) && typeof each.name === "string" && typeof each.template === "string") {
      templates.set(each.name, each.template)
    }
  }
  return templates
}

async function kindOf(path: string) {
  return stat(path).catch(() => undefined)
}
