/**
 * The bytes with which a lexeme may go on, as sets: where no token has one of them, the lexeme need not be read.
 *
 * Behind an operand stand some twenty operators and behind each of those an operand again, below thousands of nodes that most
 * of them have no token for. One comparison of two sets tells.
 */
import { grown, moreThan } from "../../grammar/intern.ts"
import { byteSet, uniteBytes } from "../../grammar/lexeme/bytesets.ts"
import { Dead, lexemes } from "../../grammar/lexeme/table.ts"

/** The set + 1 by lexeme state, for all vocabularies; 0 = not known yet. */
let known = new Int32Array(1024)

/** A set of `lexeme/bytesets.ts` with all bytes that lead on from `lexemeState`, memoised. It may have more than those. */
export function firstBytes(lexemeState: number): number {
  if (lexemeState >= known.length) known = grown(known, moreThan(lexemeState))
  if (known[lexemeState] === 0) {
    const set = find(lexemeState)
    known[lexemeState] = set + 1
  }
  return known[lexemeState] - 1
}

function find(lexemeState: number): number {
  const base = lexemes.base(lexemeState)
  if (base < 0) return byteSet(allBytes.filter((byte) => lexemes.next(lexemeState, byte) !== Dead))
  // Where the edges lead is not asked: that may take long.
  const own = byteSet(
    allBytes.slice(0, lexemes.edgeCount(lexemeState)).map((i) => lexemes.edgeByte(lexemeState, i)),
  )
  return base === Dead ? own : uniteBytes(own, firstBytes(base))
}

const allBytes = Array.from({ length: 256 }, (_, byte) => byte)
