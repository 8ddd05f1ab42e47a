/**
 * Reads the tokens of a GGUF file: texts, types, and the ids of the tokens that begin and end a
 * text.
 */

import type { Metadata } from "../weights/gguf.ts"
import { damaged, fail, idOf, listOf, shown, textOf } from "./metadata.ts"

/** Token types by SentencePiece's numbers. */
export const TokenType = { Normal: 1, Unknown: 2, Control: 3, UserDefined: 4, Unused: 5, Byte: 6 } as const

export interface Tokens {
  /** Texts by token id. */
  readonly texts: readonly string[]
  /** Types by token id. Tokens that only pad the vocabulary are Unused, regardless of the file. */
  readonly types: readonly number[]
  /** Ids of all tokens except unused ones, by their texts. */
  readonly ids: ReadonlyMap<string, number>
  readonly bos: number | undefined
  readonly eos: number | undefined
  readonly unknown: number | undefined
  /** Tokens that end an answer. */
  readonly ends: ReadonlySet<number>
}

const maxTokens = 2 ** 20
/** Converters write such tokens if the model has more columns than the tokenizer has tokens. */
const padding = /^\[PAD\d+\]$/

/**
 * Texts of tokens that end an answer. Of several such tokens, many files name only one by its id.
 */
const endTexts: readonly string[] = [
  ...["<|im_end|>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|return|>", "<|call|>"],
  ...["<|end|>", "<end_of_turn>", "<end_of_utterance>", "<eos>", "<EOT>", "[EOT]", "[EOS]"],
  "<｜end▁of▁sentence｜>",
]
/**
 * If there is `<|return|>`, an answer has several messages, and `<|end|>` only ends one of them.
 */
const messageEnd = { text: "<|end|>", unless: "<|return|>" }

/** Reads the tokens. Throws ModelError naming the key and the wrong value. */
export function readTokens(metadata: Metadata): Tokens {
  const texts = listOf(metadata, "tokenizer.ggml.tokens", "string", maxTokens)
  const given = listOf(metadata, "tokenizer.ggml.token_type", "number", maxTokens)
  if (given.length !== texts.length) {
    fail("tokenizer.ggml.token_type", `has ${given.length} values for ${texts.length} tokens. ${damaged}`)
  }
  // The ids that SentencePiece's trainer gives these three, used if the file does not say
  // otherwise.
  const usual = textOf(metadata, "tokenizer.ggml.model") === "llama" ? { unknown: 0, bos: 1, eos: 2 } : {}
  const idNamed = (name: "unknown" | "bos" | "eos" | "eot" | "eom", type: number): number | undefined => {
    const id = idOf(metadata, `tokenizer.ggml.${name}_token_id`, texts.length)
    const absent = (usual as Record<string, number>)[name]
    return id ?? (given[absent] === type ? absent : undefined)
  }
  const unknown = idNamed("unknown", TokenType.Unknown)
  const types = given.map((type, id) => {
    if (!Number.isInteger(type) || type < TokenType.Normal || type > TokenType.Byte) {
      fail(`tokenizer.ggml.token_type[${id}]`, `is ${shown(type)}, and types are 1 to 6. ${damaged}`)
    }
    const isPadding = type !== TokenType.Normal && padding.test(texts[id])
    const isUnknown = type === TokenType.Unknown && id !== unknown
    return isPadding || isUnknown || texts[id] === "" ? TokenType.Unused : type
  })
  const ids = new Map<string, number>()
  for (const [id, text] of texts.entries()) {
    if (types[id] === TokenType.Unused) continue
    if (ids.has(text))
      fail(`tokenizer.ggml.tokens[${id}]`, `is ${shown(text)}, as is token ${ids.get(text)}. ${damaged}`)
    ids.set(text, id)
  }
  const bos = idNamed("bos", TokenType.Control)
  const eos = idNamed("eos", TokenType.Control)
  const named = [eos, idNamed("eot", TokenType.Control), idNamed("eom", TokenType.Control)]
  const ends = new Set(named.filter((id) => id !== undefined))
  for (const text of endTexts) {
    const id = ids.get(text)
    if (id === undefined || (text === messageEnd.text && ids.has(messageEnd.unless))) continue
    if (types[id] === TokenType.Control || types[id] === TokenType.UserDefined) ends.add(id)
  }
  if (ends.size === 0)
    fail("tokenizer.ggml.eos_token_id", "is missing, so that no answer could end. Convert the model again")
  const unused = [bos, ...ends].find((id) => id !== undefined && types[id] === TokenType.Unused)
  if (unused !== undefined) {
    fail(
      `tokenizer.ggml.tokens[${unused}]`,
      `is ${shown(texts[unused])}, which cannot begin or end a text. ${damaged}`,
    )
  }
  return { texts, types, ids, bos, eos, unknown, ends }
}
