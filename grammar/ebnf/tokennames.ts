/**
 * Tokens by what they are called: a control token by its name, and where none has it the ordinary token that spells it. Some
 * models keep the marks of their tool calls as ordinary tokens that were added to the vocabulary.
 */
import { utf8 } from "../utf8.ts"

/** What a front end may know of a vocabulary. */
export interface TokenNames {
  /** Id of a control token by its spelling, brackets included. */
  readonly specials: ReadonlyMap<string, number>
  /** Ids that end a text: no wildcard holds them. */
  readonly endIds: readonly number[]
  /** Ids are below it. */
  readonly width: number
  /** Identity of the vocabulary, for caches. */
  readonly hash: string
  /** Bytes of an ordinary token; empty for control tokens and for ids that no token has. */
  bytes(id: number): Uint8Array
}

/** The id of the token that is spelled `name`, or -1. The first question about an ordinary one looks at all tokens. */
export function tokenSpelled(name: string, tokens: TokenNames): number {
  return tokens.specials.get(name) ?? ordinaryId(name, tokens)
}

/** Ids of ordinary tokens that were asked for by what they spell; -1: there is none. */
const spelledIds = new WeakMap<TokenNames, Map<string, number>>()

/** The lowest id of an ordinary token that spells `text`, or -1. */
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
