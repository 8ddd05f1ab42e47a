/**
 * Lexemes of tokens: exactly one token of a set of ids, whatever it spells.
 *
 * The pushdown reads bytes, so a token that a grammar names by id gets bytes that no text can
 * contain: 0xff, which never occurs in UTF-8, and three bytes of the id, the highest first. Control
 * tokens thus need no support in stacks, states and completions. `mask/` turns the four bytes into
 * the token's bit and back.
 */
import { lowerBound, TupleTable } from "../intern.ts"
import { owned } from "../tables.ts"
import type { CompletedKind } from "./completion.ts"
import { Dead, lexemes } from "./table.ts"

/** First byte of a token; no text contains it. */
export const TokenMark = 0xff
/** Count of the bytes of a token: the mark and its id. */
export const TokenBytes = 4
/** All ids are below this. */
const MaxId = 1 << 24

/** Ascending ids of each set. */
const sets = owned("token sets", new TupleTable())

const TokenKind = lexemes.register<CompletedKind>({
  // [set, count of bytes read, value of the id's bytes read]
  tag: (_set, read) => (read === TokenBytes ? 1 : 0),
  expand(set, read, value, row) {
    row.bytes = []
    if (read === TokenBytes) return
    if (read === 0) {
      row.bytes.push(TokenMark)
      row.targets[TokenMark] = lexemes.state(TokenKind, set, 1, 0)
      return
    }
    const shift = 8 * (TokenBytes - 1 - read)
    const ids = sets.view(set)
    for (let i = lowerBound(ids, value << (shift + 8)); i < ids.length; i++) {
      const prefix = ids[i] >>> shift
      if (prefix >>> 8 !== value) break
      const byte = prefix & 0xff
      if (row.bytes[row.bytes.length - 1] === byte) continue
      row.bytes.push(byte)
    }
    for (const byte of row.bytes)
      row.targets[byte] = lexemes.state(TokenKind, set, read + 1, (value << 8) | byte)
  },
  least: (_set, read) => TokenBytes - read,
})

/** Returns one token of `ids` (below 2^24); `Dead` if there are none. */
export function tokenLexeme(ids: readonly number[]): number {
  const sorted = [...new Set(ids)].sort((a, b) => a - b)
  if (sorted.length === 0) return Dead
  if (sorted[0] < 0 || sorted[sorted.length - 1] >= MaxId) throw new RangeError("a token's id is below 2^24")
  return lexemes.state(TokenKind, sets.intern(sorted), 0, 0)
}

/**
 * Returns the ids of a lexeme state at the beginning of one token; null for any other state. Valid
 * until the next set is made.
 */
export function tokenIds(lexemeState: number): Int32Array | null {
  const parts = lexemes.describe(TokenKind, lexemeState)
  return parts !== null && parts[2] === 0 ? sets.view(parts[1]) : null
}

/** Returns the bytes by which the pushdown reads token `id`. */
export function tokenBytes(id: number): Uint8Array {
  return Uint8Array.of(TokenMark, id >>> 16, (id >>> 8) & 0xff, id & 0xff)
}

/** Returns the id whose bytes begin at `bytes[at]`. */
export function tokenAt(bytes: Uint8Array, at: number): number {
  return (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3]
}
