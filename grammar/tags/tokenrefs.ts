/** Tokens by name or id: what a structural tag says, in a vocabulary. */
import type { TokenNames } from "../ebnf/rules.ts"
import { GrammarError } from "../errors.ts"
import { utf8 } from "../utf8.ts"
import { shown } from "./fields.ts"
import type { TokenRef } from "./format.ts"
import type { Piece } from "./literal.ts"

/** The token as a piece of a text. Without a vocabulary one with a name is what it spells. */
export function pieceOf(ref: TokenRef, tokens: TokenNames | null): Piece {
  if (tokens !== null) return { text: nameOf(ref, tokens), token: idOf(ref, tokens) }
  if (typeof ref.token === "string") return { text: ref.token, token: null }
  throw new GrammarError(
    "unsupported",
    ref.path,
    `the token ${ref.token} is not known without a vocabulary. Name it, or compile for a vocabulary`,
  )
}

/** Throws `syntax` for a token that the vocabulary does not have. */
export function idOf({ token, path }: TokenRef, tokens: TokenNames): number {
  if (typeof token === "number") {
    if (token < tokens.width) return token
    throw new GrammarError(
      "syntax",
      path,
      `there is no token ${token}: the vocabulary has the ids 0 to ${tokens.width - 1}`,
    )
  }
  const id = tokens.specials.get(token) ?? spelledId(token, tokens)
  if (id >= 0) return id
  throw new GrammarError("syntax", path, `no token is spelled ${shown(token)}`)
}

/** Its name; the empty text for the id of a token that has none. */
function nameOf({ token }: TokenRef, tokens: TokenNames): string {
  if (typeof token === "string") return token
  for (const [name, id] of tokens.specials) if (id === token) return name
  return ""
}

/** Ids of ordinary tokens that were asked for by what they spell; -1: there is none. */
const spelledIds = new WeakMap<TokenNames, Map<string, number>>()

/** The lowest id of an ordinary token that spells `text`, or -1. The first question about a text looks at all tokens. */
function spelledId(text: string, tokens: TokenNames): number {
  let ids = spelledIds.get(tokens)
  if (ids === undefined) {
    ids = new Map()
    spelledIds.set(tokens, ids)
  }
  let id = ids.get(text)
  if (id === undefined) {
    const wanted = utf8(text)
    id = -1
    for (let other = 0; other < tokens.width && id < 0; other++) {
      const bytes = tokens.bytes(other)
      if (bytes.length === wanted.length && bytes.every((byte, i) => byte === wanted[i])) id = other
    }
    ids.set(text, id)
  }
  return id
}
