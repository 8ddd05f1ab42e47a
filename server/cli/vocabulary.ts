/**
 * The vocabulary in a tokenizer's directory, without a model: `--vocab <dir>`. It is read from
 * `tokenizer.json`, `tekken.json` or a file of tiktoken ranks, in this order.
 *
 * The width of the logits is not known without a graph. It is taken from config.json if that
 * exists, else from the highest id.
 */
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import {
  ModelError,
  parseTekken,
  parseTiktoken,
  parseVocabulary,
  type Vocabulary,
} from "../../runtime/index.ts"
import { findEndIds } from "../../runtime/model/directory.ts"
import { Tokenizer } from "../../runtime/model/tokenizer.ts"
import { UsageError } from "./exit.ts"

type Json = Record<string, unknown>

/** Settings that are not part of the token list. */
interface Settings {
  tokenizerConfig: Json
  /** Files that may name end ids. */
  configs: readonly Json[]
  width: number | undefined
}

/**
 * Reads the tokenizer's file and its configuration files. Throws `UsageError` that names the file.
 */
export async function readVocabulary(directory: string): Promise<Vocabulary> {
  const settings = await readSettings(directory)
  const json = await readJsonFile(directory, "tokenizer.json")
  return json === null ? readRanks(directory, settings) : vocabularyOf(directory, json, settings)
}

/**
 * Reads the vocabulary with its tokenizer. Throws `ModelError` if the kind of the tokenizer is
 * unknown.
 */
export async function readTokenizer(directory: string): Promise<Tokenizer> {
  const settings = await readSettings(directory)
  const tokenizerJson = await readJsonFile(directory, "tokenizer.json")
  if (tokenizerJson === null) {
    await readRanks(directory, settings)
    throw new UsageError(
      `${directory}: ranks alone do not say how a text is split. Reading texts token by token needs tokenizer.json`,
    )
  }
  const { tokenizerConfig } = settings
  return new Tokenizer(
    { path: directory, tokenizerJson, tokenizerConfig, chatTemplates: new Map() },
    vocabularyOf(directory, tokenizerJson, settings),
  )
}

async function readSettings(directory: string): Promise<Settings> {
  const tokenizerConfig = (await readJsonFile(directory, "tokenizer_config.json")) ?? {}
  const outer = (await readJsonFile(directory, "config.json")) ?? {}
  const config = { ...outer, ...(outer.text_config as Json | undefined) }
  const generation = (await readJsonFile(directory, "generation_config.json")) ?? {}
  const width = typeof config.vocab_size === "number" ? config.vocab_size : undefined
  return { tokenizerConfig, configs: [generation, config, outer], width }
}

function vocabularyOf(directory: string, json: Json, settings: Settings): Vocabulary {
  const { tokenizerConfig, configs, width } = settings
  const endIds = reading(directory, () => findEndIds(directory, configs, tokenizerConfig, json))
  return reading(join(directory, "tokenizer.json"), () =>
    parseVocabulary(json, tokenizerConfig, { width, endIds }),
  )
}

/**
 * Reads a file of ranks. tekken.json names its own end token; the special tokens of tiktoken's
 * ranks are in tokenizer_config.json.
 */
async function readRanks(directory: string, settings: Settings): Promise<Vocabulary> {
  const { tokenizerConfig, configs, width } = settings
  const names = await readdir(directory).catch(() => [] as string[])
  const tekken = one(
    directory,
    names.filter((name) => /^tekken.*\.json$/.test(name)),
  )
  if (tekken !== undefined) {
    const json = await readJsonFile(directory, tekken)
    const isNamed = configs.some(({ eos_token_id }) => eos_token_id !== undefined)
    return reading(join(directory, tekken), () => {
      const endIds = isNamed ? findEndIds(directory, configs, {}, {}) : undefined
      return parseTekken(json, { width, endIds })
    })
  }
  const ranks = one(
    directory,
    names.filter((name) => /\.tiktoken$|^(tokenizer|tiktoken)\.model$/.test(name)),
  )
  if (ranks === undefined) {
    throw new UsageError(
      `cannot read ${join(directory, "tokenizer.json")}, and neither tekken.json nor a .tiktoken file exists. --vocab takes a tokenizer's directory`,
    )
  }
  const listed = Object.entries((tokenizerConfig.added_tokens_decoder ?? {}) as Record<string, Json>)
  const added = listed.map(([id, { content, special }]) => ({
    ...{ id: Number(id), content: String(content), special: special === true },
  }))
  const endIds = reading(directory, () => findEndIds(directory, configs, tokenizerConfig, {}))
  const text = await readText(join(directory, ranks))
  return reading(join(directory, ranks), () => parseTiktoken(text, { width, endIds, added }))
}

function one(directory: string, names: readonly string[]): string | undefined {
  if (names.length > 1) throw new UsageError(`${directory}: ${names.join(" and ")} both exist. Keep one`)
  return names[0]
}

/**
 * Runs `read`. Converts its errors to `UsageError`, since the caller has to fix errors in a
 * tokenizer's files.
 */
function reading<T>(path: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof ModelError) throw new UsageError(error.message)
    if (error instanceof RangeError) throw new UsageError(`${path}: ${error.message}`)
    throw error
  }
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8")
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${(error as Error).message}`)
  }
}

/** Returns null if the file does not exist. */
async function readJsonFile(directory: string, name: string): Promise<Json | null> {
  const path = join(directory, name)
  let text: string
  try {
    text = await readFile(path, "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null
    throw new UsageError(`cannot read ${path}: ${(error as Error).message}`)
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${path} is not JSON: ${(error as Error).message}`)
  }
}
