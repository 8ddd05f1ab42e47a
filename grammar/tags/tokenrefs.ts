/**
 * Resolves references to tokens, by name or id, in a vocabulary.
 */
import { type TokenNames, tokenSpelled } from "../ebnf/tokennames.ts"
import { GrammarError } from "../errors.ts"
import { shown } from "./fields.ts"
import type { TokenRef } from "./format.ts"
import type { Piece } from "./literal.ts"

/**
 * Returns the token as a piece of a text. Without a vocabulary a token with a name is its spelling.
 */
export function pieceOf(ref: TokenRef, tokens: TokenNames | null): Piece {
  if (tokens !== null) return { text: nameOf(ref, tokens), token: idOf(ref, tokens) }
  if (typeof ref.token === "string") return { text: ref.token, token: null }
  throw new GrammarError(
    "unsupported",
    ref.path,
    `the token ${ref.token} is not known without a vocabulary. Name it, or compile for a vocabulary`,
  )
}

/** Returns the id of a token. Throws `syntax` if the vocabulary does not have it. */
export function idOf({ token, path }: TokenRef, tokens: TokenNames): number {
  if (typeof token === "number") {
    if (token < tokens.width) return token
    throw new GrammarError(
      "syntax",
      path,
      `there is no token ${token}: the vocabulary has the ids 0 to ${tokens.width - 1}`,
    )
  }
  const id = tokenSpelled(token, tokens)
  if (id >= 0) return id
  throw new GrammarError("syntax", path, `no token is spelled ${shown(token)}`)
}

/** Returns the name of a token; the empty text for an id without a name. */
function nameOf({ token }: TokenRef, tokens: TokenNames): string {
  if (typeof token === "string") return token
  for (const [name, id] of tokens.specials) if (id === token) return name
  return ""
}
