/**
 * Tokens by name: a control token, or, if none has the name, the ordinary token that spells it.
 * Some models keep the marks of their tool calls as ordinary tokens that were added to the
 * vocabulary.
 */
import { utf8 } from "../utf8.ts"

/** The part of a vocabulary that a front end needs. */
export interface TokenNames {
  /** Token id by the spelling of the control token, brackets included. */
  readonly specials: ReadonlyMap<string, number>
  /** Ids of the tokens that end a text. No wildcard matches them. */
  readonly endIds: readonly number[]
  /** All ids are below it. */
  readonly width: number
  /** Identity of the vocabulary, for caches. */
  readonly hash: string
  /** Returns the bytes of an ordinary token; empty for control tokens and for unused ids. */
  bytes(id: number): Uint8Array
}

/**
 * Returns the id of the token that is spelled `name`, or -1. The first lookup of an ordinary token
 * searches all tokens.
 */
export function tokenSpelled(name: string, tokens: TokenNames): number {
  return tokens.specials.get(name) ?? ordinaryId(name, tokens)
}

/** Memoized ids of ordinary tokens by spelling; -1 if there is none. */
const spelledIds = new WeakMap<TokenNames, Map<string, number>>()

/** Returns the lowest id of an ordinary token that spells `text`, or -1. */
function ordinaryId(text: string, tokens: TokenNames): number {
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
