/**
 * Computes the merges of a SentencePiece vocabulary, which has scores instead.
 *
 * SentencePiece joins two neighbours if their joined text is a token: first the one with the
 * highest score, and the leftmost of equal ones. An equivalent list of merges contains each split
 * of each token into two tokens, ordered by the score of the whole token. Only tokens that
 * represent text take part: a control token must not be spelled by pieces.
 *
 * Source: Kudo and Richardson 2018, SentencePiece, section 3.
 */

import type { Metadata } from "../weights/gguf.ts"
import { damaged, fail, listOf, shown } from "./metadata.ts"
import { type Tokens, TokenType } from "./tokens.ts"

/** Maximum UTF-16 units of one token, since the work grows with its square. */
const maxUnits = 256
const bytes = 256

/** Returns the merges, best first. Throws ModelError naming the key and the value. */
export function scoredMerges(metadata: Metadata, tokens: Tokens): (readonly [string, string])[] {
  const { texts, types, ids } = tokens
  const key = "tokenizer.ggml.scores"
  const scores = listOf(metadata, key, "number", texts.length)
  if (scores.length !== texts.length)
    fail(key, `has ${scores.length} values for ${texts.length} tokens. ${damaged}`)
  const wrong = scores.findIndex((score) => !Number.isFinite(score))
  if (wrong >= 0) fail(`${key}[${wrong}]`, `is ${scores[wrong]}, not a finite number. ${damaged}`)
  checkBytes(tokens)

  const isText = (id: number): boolean =>
    types[id] === TokenType.Normal || types[id] === TokenType.UserDefined
  const pieces = new Map([...ids].filter(([, id]) => isText(id)))
  const merges: { left: string; right: string; score: number }[] = []
  for (const [text, id] of pieces) {
    if (text.length > maxUnits) {
      fail(
        `tokenizer.ggml.tokens[${id}]`,
        `has ${text.length} characters, and ${maxUnits} are read. ${damaged}`,
      )
    }
    const single = [...text].find((char) => !pieces.has(char))
    if (single !== undefined && types[id] === TokenType.Normal) {
      fail(
        `tokenizer.ggml.tokens[${id}]`,
        `is ${shown(text)}, and ${shown(single)} is no token, so that no merges make it. Take another model`,
      )
    }
    for (let end = 1; end < text.length; end++) {
      const left = text.slice(0, end)
      if (!pieces.has(left)) continue
      const right = text.slice(end)
      if (pieces.has(right)) merges.push({ left, right, score: scores[id] })
    }
  }
  const [first] = merges
  if (merges.length === 0 || (merges.length > 1 && merges.every(({ score }) => score === first.score))) {
    fail(
      key,
      `does not give the order in which tokens are merged. Convert the model again, from its tokenizer.model`,
    )
  }
  // Merges of equal score are ordered as the converters of transformers order them: by longer left
  // side, then by longer right side.
  return merges
    .sort((a, b) => b.score - a.score || b.left.length - a.left.length || b.right.length - a.right.length)
    .map(({ left, right }) => [left, right])
}

/** Throws ModelError if a byte has no token: text without a token is written by its bytes. */
function checkBytes({ ids, types }: Tokens): void {
  for (let byte = 0; byte < bytes; byte++) {
    const name = `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`
    const id = ids.get(name)
    if (id === undefined || types[id] !== TokenType.Byte) {
      fail(
        "tokenizer.ggml.tokens",
        `has no token ${shown(name)} of type 6 for a byte. Take another file of this model`,
      )
    }
  }
}
