/** How tags begin and end, as pieces of text, and what the ends of a tag keep out of what comes last in it. */
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
 * Texts that text before `ends` does not hold. A token needs nothing, since text holds no control token; without a vocabulary
 * it is what it spells.
 */
export function endTexts(ends: readonly Mark[], tokens: TokenNames | null): string[] {
  const texts: string[] = []
  for (const end of ends) {
    if (end.kind === "text") texts.push(end.text)
    else if (tokens === null) texts.push(pieceOf(end, tokens).text)
  }
  return texts
}

/** Tokens that any tokens before `ends` leave out. Throws `unsupported` for an end that does not begin with a control token. */
export function endTokens(ends: readonly Mark[], tokens: TokenNames, path: string): number[] {
  return ends.map((end) => {
    const [first] = markPieces(end, tokens)
    if (first.token === null) throw textEnd(end, path)
    return first.token
  })
}

/** Refuses ends that are strings, where no vocabulary tells which of them are control tokens. */
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
