/**
 * Weights → the sources of a model directory, from headers alone: the decoder, its vocabulary, and
 * the text files. Every refusal happens here, before anything is written.
 */

import { readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { isObject } from "../../../grammar/options.ts"
import { ModelError } from "../../errors.ts"
import { findEndIds, maxBytesOf } from "../directory.ts"
import { filesIn, type ModelSource } from "../hub/source.ts"
import type { Dtype } from "../weights/blocks.ts"
import { fileTypeOf } from "../weights/filetype.ts"
import { type Gguf, openGguf } from "../weights/gguf.ts"
import { openSafetensors } from "../weights/safetensors.ts"
import type { Weights } from "../weights/weights.ts"
import { type Decoder, decoderOfConfig, decoderOfGguf, planDecoder } from "./decoder.ts"
import { buildVocabulary, checkKind } from "./vocabulary.ts"

export interface Prepared {
  readonly decoder: Decoder
  /** Bytes that the weights will have when they are written. */
  readonly dataBytes: number
  readonly weights: Weights
  /** Files of the model directory besides the graph and config.json, by name. */
  readonly texts: ReadonlyMap<string, string>
  readonly endIds: readonly number[]
  readonly fileType: string
}

/** Files of a model directory that are copied. */
const textFiles =
  /^(generation_config\.json|tokenizer\.json|tokenizer_config\.json|special_tokens_map\.json|chat_template\.(jinja|json)|additional_chat_templates\/[^/]+\.jinja)$/

/**
 * Prepares the weights, which the caller closes. Throws ModelError that names the file and the
 * unsupported part.
 */
export async function prepare(source: ModelSource, dtype: Dtype): Promise<Prepared> {
  return source.kind === "gguf" ? prepareGguf(source.path, dtype) : prepareFolder(source.path, dtype)
}

/**
 * Throws ModelError if the headers show that the weights are refused. The tokens and merges of a
 * vocabulary are not read, since that would take most of the time.
 */
export async function inspect({ kind, path }: ModelSource): Promise<void> {
  const { weights } = kind === "gguf" ? await planGguf(path, "q8") : await planFolder(path, "q8")
  weights.close()
}

async function prepareGguf(path: string, dtype: Dtype): Promise<Prepared> {
  const { decoder, weights, dataBytes } = await planGguf(path, dtype)
  try {
    const { files, endIds, width } = buildVocabulary(weights.metadata)
    if (width > decoder.vocabulary)
      throw new ModelError(
        `tokenizer.ggml.tokens has ${width} tokens, and the model has logits for ${decoder.vocabulary}. Choose another file`,
      )
    const fileType = fileTypeOf(weights, weights.metadata.get("general.file_type"))
    return { decoder, dataBytes, weights, texts: files, endIds, fileType }
  } catch (error) {
    weights.close()
    throw inFile(path, error)
  }
}

/** A plan of the output for the weights. The caller closes the weights. */
interface Plan<W extends Weights> {
  readonly decoder: Decoder
  readonly dataBytes: number
  readonly weights: W
}

async function planGguf(path: string, dtype: Dtype): Promise<Plan<Gguf>> {
  const gguf = await openGguf(path)
  return planOf(path, gguf, dtype, () => {
    const decoder = decoderOfGguf(gguf)
    checkKind(gguf.metadata)
    checkDtype(gguf, dtype)
    return decoder
  })
}

async function planFolder(folder: string, dtype: Dtype): Promise<Plan<Weights>> {
  if (!(await filesIn(folder)).includes("tokenizer.json"))
    throw new ModelError(`${folder} has no tokenizer.json, so its tokens are unknown. Choose another model`)
  const config = await readObject(folder, "config.json")
  const weights = await openSafetensors(folder)
  return planOf(folder, weights, dtype, () => decoderOfConfig(config, weights))
}

function planOf<W extends Weights>(path: string, weights: W, dtype: Dtype, read: () => Decoder): Plan<W> {
  try {
    const decoder = read()
    return { decoder, dataBytes: planDecoder(decoder, weights, dtype).bytes, weights }
  } catch (error) {
    weights.close()
    throw inFile(path, error)
  }
}

/**
 * Throws ModelError for a type of weights that cannot be written. Weights that are quantized in the
 * file are not quantized again.
 */
function checkDtype(weights: Weights, dtype: Dtype): void {
  const matrices = [...weights.tensors.values()].filter(({ shape }) => shape.length > 1)
  const types = [...new Set(matrices.map(({ type }) => type))]
  if (dtype === "q8" || types.some((type) => ["F32", "F16", "BF16"].includes(type))) return
  throw new ModelError(
    `its weights are quantised as ${types.join(", ")}, and stay so: dtype ${dtype} is for float weights. Leave it out, or choose a file of F16 or BF16`,
  )
}

async function prepareFolder(folder: string, dtype: Dtype): Promise<Prepared> {
  const texts = new Map<string, string>()
  for (const file of (await filesIn(folder)).filter((each) => textFiles.test(each)))
    texts.set(file, await readText(join(folder, file)))
  const json = (name: string): Record<string, unknown> =>
    parseObject(join(folder, name), texts.get(name) ?? "{}")
  const plan = await planFolder(folder, dtype)
  try {
    const config = await readObject(folder, "config.json")
    const generation = await readObject(folder, "generation_config.json").catch(() => ({}))
    const configs = [generation, isObject(config.text_config) ? config.text_config : {}, config]
    const endIds = findEndIds(folder, configs, json("tokenizer_config.json"), json("tokenizer.json"))
    return { ...plan, texts, endIds, fileType: fileTypeOf(plan.weights) }
  } catch (error) {
    plan.weights.close()
    throw error
  }
}

async function readObject(folder: string, name: string): Promise<Record<string, unknown>> {
  return parseObject(join(folder, name), await readText(join(folder, name)))
}

/** Reads a file. Throws ModelError if it is missing or larger than such files are. */
async function readText(path: string): Promise<string> {
  try {
    const { size } = await stat(path)
    const most = maxBytesOf(path)
    if (size > most) throw new Error(`${size} bytes, above the limit of ${most}. Is it the right file?`)
    return await readFile(path, "utf8")
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT"
    throw new ModelError(`${path}: ${isMissing ? "is missing" : (cause as Error).message}`, { cause })
  }
}

function parseObject(path: string, text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new ModelError(`${path}: not JSON: ${(cause as Error).message}`, { cause })
  }
  if (isObject(value)) return value
  throw new ModelError(`${path}: must hold a JSON object`)
}

/** Returns the refusal with the file's name in front. */
export function inFile(path: string, error: unknown): unknown {
  if (!(error instanceof ModelError) || error.message.startsWith(path)) return error
  return new ModelError(`${path}: ${error.message}`, { cause: error })
}
