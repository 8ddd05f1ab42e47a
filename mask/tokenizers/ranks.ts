/**
 * Vocabularies from rank files: tokens as base64 of their bytes, by the rank at which they were
 * merged.
 *
 * *tiktoken* is a text of lines `<base64> <rank>`, where the id is the rank; special tokens are
 * defined elsewhere. *tekken* is JSON with a table of special tokens, which have the first ids: an
 * id is the rank + the number of special tokens, and ids from the vocabulary's size on are dropped.
 * The bytes are exact, so no spelling has to be undone. Gaps between ids are holes.
 */

import { checkOptions } from "../../grammar/options.ts"
import { Vocabulary } from "../vocabulary.ts"
import { type AddedToken, member } from "./tokenizerjson.ts"

/** Larger than any vocabulary; bounds the memory that a damaged rank can cost. */
const MaxIds = 1 << 22

/**
 * Returns the vocabulary of the text of a `.tiktoken` file (also `tokenizer.model` of models in
 * that format). Throws RangeError naming the line.
 */
export function parseTiktoken(
  text: string,
  options: { width?: number; endIds: readonly number[]; added?: readonly AddedToken[] },
): Vocabulary {
  checkOptions(options, { width: "number", endIds: "list", added: "list" })
  const table = new IdTable()
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue
    const where = `line ${index + 1}`
    const [, base64, rank] = /^(\S+) (\d+)\r?$/.exec(line) ?? []
    if (base64 === undefined) {
      throw new RangeError(`${where}: ${shown(line)} is not base64, a space and a rank`)
    }
    table.set(Number(rank), decode(base64, where), where)
  }
  const specials = new Map<string, number>()
  for (const { id, content, special } of options.added ?? []) {
    const where = `added token ${JSON.stringify(content)}`
    table.set(id, special ? new Uint8Array(0) : new TextEncoder().encode(content), where)
    if (special) specials.set(content, id)
  }
  const { width = table.tokens.length, endIds } = options
  return Vocabulary.fromBytes(table.tokens, { width, endIds, specials })
}

/**
 * Returns the vocabulary of a parsed `tekken.json`. The end is `</s>` unless `endIds` say
 * otherwise. Throws RangeError naming the field.
 */
export function parseTekken(
  json: unknown,
  options: { width?: number; endIds?: readonly number[] } = {},
): Vocabulary {
  checkOptions(options, { width: "number", endIds: "list" })
  const config = member(json, "config")
  const size = wholeNumber(member(config, "default_vocab_size"), "config.default_vocab_size")
  const specialCount = wholeNumber(
    member(config, "default_num_special_tokens"),
    "config.default_num_special_tokens",
  )
  if (specialCount > size) {
    throw new RangeError(`config: ${specialCount} special tokens exceed the vocabulary size of ${size}`)
  }
  const table = new IdTable()
  for (const [index, entry] of listOf(member(json, "vocab"), "vocab").entries()) {
    const where = `vocab[${index}]`
    const id = wholeNumber(member(entry, "rank"), `${where}.rank`) + specialCount
    const base64 = member(entry, "token_bytes")
    if (typeof base64 !== "string") throw new RangeError(`${where}.token_bytes is not a string`)
    // A file may hold more ranks than the model has columns.
    if (id < size) table.set(id, decode(base64, `${where}.token_bytes`), where)
  }
  const specials = readSpecials(json, specialCount)
  const end = specials.get("</s>")
  const endIds = options.endIds ?? (end === undefined ? [] : [end])
  return Vocabulary.fromBytes(table.tokens, { width: options.width ?? size, endIds, specials })
}

/**
 * Returns the ids of special tokens by name; an id below `count` that the file does not name is
 * `<SPECIAL_id>`.
 */
function readSpecials(json: unknown, count: number): Map<string, number> {
  const listed = member(json, "special_tokens")
  const names: (string | undefined)[] =
    listed === undefined || listed === null ? firstSpecials.slice(0, count) : []
  for (const [index, entry] of names.length > 0 ? [] : listOf(listed, "special_tokens").entries()) {
    const where = `special_tokens[${index}]`
    const id = wholeNumber(member(entry, "rank"), `${where}.rank`)
    const name = member(entry, "token_str")
    if (id >= count)
      throw new RangeError(
        `${where}.rank: ${id} is not below the ${count} special tokens of the configuration`,
      )
    if (typeof name !== "string") throw new RangeError(`${where}.token_str is not a string`)
    if (names[id] !== undefined || names.includes(name))
      throw new RangeError(`${where}: the rank or the name occurs twice`)
    names[id] = name
  }
  return new Map(Array.from({ length: count }, (_, id) => [names[id] ?? `<SPECIAL_${id}>`, id]))
}

// Files up to version 7 omit the table and mean this one (mistralai/mistral-common, tekken.py).
const firstSpecials =
  "<unk> <s> </s> [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] [/TOOL_RESULTS] [TOOL_CALLS] [IMG] <pad> [IMG_BREAK] [IMG_END] [PREFIX] [MIDDLE] [SUFFIX] [SYSTEM_PROMPT] [/SYSTEM_PROMPT] [TOOL_CONTENT]".split(
    " ",
  )

/** Bytes by id. An id can be set only once. */
class IdTable {
  readonly tokens: (Uint8Array | null)[] = []

  set(id: number, bytes: Uint8Array, where: string): void {
    if (!Number.isInteger(id) || id < 0 || id >= MaxIds) {
      throw new RangeError(`${where}: id ${id} is not an integer from 0 to ${MaxIds - 1}`)
    }
    while (this.tokens.length < id) this.tokens.push(null)
    if (this.tokens[id]) throw new RangeError(`${where}: id ${id} occurs twice`)
    this.tokens[id] = bytes
  }
}

function decode(base64: string, where: string): Uint8Array {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(base64)) {
    throw new RangeError(`${where}: ${shown(base64)} is not base64`)
  }
  const text = atob(base64)
  return Uint8Array.from({ length: text.length }, (_, i) => text.charCodeAt(i))
}

function wholeNumber(value: unknown, where: string): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value < MaxIds) return value
  throw new RangeError(`${where}: ${JSON.stringify(value)} is not an integer from 0 to ${MaxIds - 1}`)
}

function listOf(value: unknown, where: string): unknown[] {
  if (Array.isArray(value)) return value
  throw new RangeError(`${where} is missing: tekken.json must hold it as a list`)
}

function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}
