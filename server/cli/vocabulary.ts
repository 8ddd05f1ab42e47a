/**
 * The vocabulary in a tokenizer's directory, without a model: `--vocab <dir>`.
 *
 * The width of the logits is not known without a graph. It is taken from config.json where there is one, else the
 * highest id decides.
 */
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import { parseVocabulary, type Vocabulary } from "../../runtime/index.ts"
import { Tokenizer } from "../../runtime/tokenizer.ts"
import { UsageError } from "./exit.ts"

type Json = Record<string, unknown>

/** Reads tokenizer.json and the configuration files beside it. Throws `UsageError` naming the file. */
export async function readVocabulary(directory: string): Promise<Vocabulary> {
  return (await readFiles(directory)).vocabulary
}

/** The same with its tokenizer. Throws `ModelError` when that is of an unknown kind. */
export async function readTokenizer(directory: string): Promise<Tokenizer> {
  const { vocabulary, tokenizerJson, tokenizerConfig } = await readFiles(directory)
  return new Tokenizer(
    { path: directory, tokenizerJson, tokenizerConfig, chatTemplates: new Map() },
    vocabulary,
  )
}

async function readFiles(
  directory: string,
): Promise<{ vocabulary: Vocabulary; tokenizerJson: Json; tokenizerConfig: Json }> {
  const tokenizer = (await readJsonFile(directory, "tokenizer.json", true))!
  const tokenizerConfig = await readJsonFile(directory, "tokenizer_config.json", false)
  const config = await readJsonFile(directory, "config.json", false)
  const generation = await readJsonFile(directory, "generation_config.json", false)
  const added = (tokenizer.added_tokens ?? []) as { id: number; content: string }[]
  const named = tokenizerConfig?.eos_token as string | { content: string } | undefined
  const endText = typeof named === "string" ? named : named?.content
  const endIds = new Set([
    ...[generation?.eos_token_id, config?.eos_token_id].flat().filter((id) => typeof id === "number"),
    ...added.filter(({ content }) => content === endText).map(({ id }) => id),
  ])
  if (endIds.size === 0) {
    throw new UsageError(`${directory}: no end-of-sequence token. Name eos_token in tokenizer_config.json`)
  }
  const width = typeof config?.vocab_size === "number" ? config.vocab_size : undefined
  const vocabulary = parseVocabulary(tokenizer, tokenizerConfig ?? {}, { width, endIds: [...endIds] })
  return { vocabulary, tokenizerJson: tokenizer, tokenizerConfig: tokenizerConfig ?? {} }
}

async function readJsonFile(directory: string, name: string, needed: boolean): Promise<Json | null> {
  const path = join(directory, name)
  let text: string
  try {
    text = await readFile(path, "utf8")
  } catch (error) {
    if (!needed && (error as NodeJS.ErrnoException).code === "ENOENT") return null
    throw new UsageError(
      `cannot read ${path}: ${(error as Error).message}. --vocab takes a directory with tokenizer.json`,
    )
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${path} is not JSON: ${(error as Error).message}`)
  }
}
