/**
 * The bytes with which a lexeme may continue, as sets. If no token has one of them, the lexeme need
 * not be read.
 *
 * After an operand come some twenty operators, and after each of them an operand again, below
 * thousands of nodes where few of these have any token. One comparison of two sets decides.
 */
import { grown, moreThan } from "../../grammar/intern.ts"
import { byteSet, uniteBytes } from "../../grammar/lexeme/bytesets.ts"
import { Dead, lexemes } from "../../grammar/lexeme/table.ts"
import { owned } from "../../grammar/tables.ts"

/** The set + 1 by lexeme state, for all vocabularies; 0 if not computed yet. */
const known = owned("first bytes", { sets: new Int32Array(1024) }, { forget })

function forget(): void {
  known.sets = new Int32Array(1024)
}

/**
 * Returns a set of `lexeme/bytesets.ts` that includes all bytes that `lexemeState` may read; it may
 * include more. Memoized.
 */
export function firstBytes(lexemeState: number): number {
  if (lexemeState >= known.sets.length) known.sets = grown(known.sets, moreThan(lexemeState))
  if (known.sets[lexemeState] === 0) {
    const set = find(lexemeState)
    known.sets[lexemeState] = set + 1
  }
  return known.sets[lexemeState] - 1
}

function find(lexemeState: number): number {
  const base = lexemes.base(lexemeState)
  if (base < 0) return byteSet(allBytes.filter((byte) => lexemes.next(lexemeState, byte) !== Dead))
  // Where the edges lead is not computed, since that may take long.
  const own = byteSet(
    allBytes.slice(0, lexemes.edgeCount(lexemeState)).map((i) => lexemes.edgeByte(lexemeState, i)),
  )
  return base === Dead ? own : uniteBytes(own, firstBytes(base))
}

const allBytes = Array.from({ length: 256 }, (_, byte) => byte)
