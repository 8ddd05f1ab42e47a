/**
 * The beginnings and ends of tags as pieces of text, and what the last part of a tag must not
 * contain because of the tag's ends.
 */
import type { TokenNames } from "../ebnf/tokennames.ts"
import { GrammarError } from "../errors.ts"
import { shown } from "./fields.ts"
import type { Mark } from "./format.ts"
import { type Piece, piecesOf } from "./literal.ts"
import { pieceOf } from "./tokenrefs.ts"

export function markPieces(mark: Mark, tokens: TokenNames | null): readonly Piece[] {
  return mark.kind === "text" ? piecesOf(mark.text, tokens) : [pieceOf(mark, tokens)]
}

/**
 * Returns the texts that text before `ends` must not contain. Tokens are left out, since text
 * contains no control token. Without a vocabulary a token is its spelling.
 */
export function endTexts(ends: readonly Mark[], tokens: TokenNames | null): string[] {
  const texts: string[] = []
  for (const end of ends) {
    if (end.kind === "text") texts.push(end.text)
    else if (tokens === null) texts.push(pieceOf(end, tokens).text)
  }
  return texts
}

/**
 * Returns the tokens that a run of any tokens before `ends` excludes. Throws `unsupported` if an
 * end does not begin with a control token.
 */
export function endTokens(ends: readonly Mark[], tokens: TokenNames, path: string): number[] {
  return ends.map((end) => {
    const [first] = markPieces(end, tokens)
    if (first.token === null) throw textEnd(end, path)
    return first.token
  })
}

/**
 * Refuses ends that are strings: without a vocabulary, it is unknown which of them are control
 * tokens.
 */
export function checkTokenEnds(ends: readonly Mark[], path: string): void {
  for (const end of ends) if (end.kind === "text") throw textEnd(end, path)
}

function textEnd(end: Mark, path: string): GrammarError {
  const text = end.kind === "text" ? shown(end.text) : shown(end.token)
  return new GrammarError(
    "unsupported",
    path,
    `any tokens up to the text ${text}, which tokens may spell in many ways. End the tag with a token, or use text`,
  )
}
