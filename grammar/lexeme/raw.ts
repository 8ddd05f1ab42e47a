/**
 * Lexemes that are written as they are: regular expressions, choices, punctuation, the words of
 * JSON, numbers.
 */

import type { ClampedKind } from "./clamp.ts"
import type { CompletedKind } from "./completion.ts"
import type { ExprId } from "./expr/expr.ts"
import { rawTexts } from "./expr/shortest.ts"
import { numbers } from "./number/number.ts"
import {
  clampedContent,
  contentOverlay,
  contentRow,
  contentTag,
  exprContent,
  NoContent,
  nextContent,
} from "./string/content.ts"
import { leastContent, shortestContent } from "./string/shortcontent.ts"
import { Dead, lexemes, PlainTag } from "./table.ts"

/** A byte that many texts contain. */
const SmallA = 0x61
/** A space and a full stop. */
const beforeWords = [0x20, 0x2e]
const scratch = new Int32Array(256)

// A state is (content, 1 if it does not report where the text may end).
const RawKind = lexemes.register<CompletedKind & ClampedKind>({
  tag(content, isQuiet) {
    const tag = contentTag(content)
    return isQuiet === 1 && tag === PlainTag ? 0 : tag
  },
  expand(content, isQuiet, _c, row) {
    const overlay = contentOverlay(content)
    if (overlay === null) {
      contentRow(content, scratch)
      const contents = Int32Array.from(scratch)
      for (let byte = 0; byte < 256; byte++) {
        // Runs of bytes with the same class are common; each is looked up once.
        row.targets[byte] =
          byte > 0 && contents[byte] === contents[byte - 1]
            ? row.targets[byte - 1]
            : rawState(contents[byte], isQuiet)
      }
      return
    }
    row.base = rawState(overlay.base, isQuiet)
    row.bytes = [...overlay.bytes]
    for (const byte of overlay.bytes) row.targets[byte] = rawState(nextContent(content, byte), isQuiet)
  },
  least: (content) => leastContent(content, rawTexts),
  shortest: (content, _b, _c, isSearched) => shortestContent(content, rawTexts, isSearched),
  clamp: (content, isQuiet, _c, reach) => rawState(clampedContent(content, reach), isQuiet),
  quiet(content, isQuiet, _c, state) {
    if (isQuiet === 1) return state
    // Looks one word ahead too: a text may end nearly anywhere except at its beginning or before
    // its last word.
    const word = lexemes.next(state, SmallA)
    const mayEnd = isEnd(state) || isEnd(word) || wordMayFollow(state) || wordMayFollow(word)
    return mayEnd ? rawState(content, 1) : state
  },
})

function isEnd(state: number): boolean {
  return lexemes.tags[state] === PlainTag
}

/** Returns whether the text may end in a word after a space or a full stop. */
function wordMayFollow(state: number): boolean {
  if (state === Dead) return false
  for (const byte of beforeWords) {
    const before = lexemes.next(state, byte)
    if (before !== Dead && isEnd(lexemes.next(before, SmallA))) return true
  }
  return false
}

/** Returns the texts of `content`, as they are. */
export function rawLexeme(content: number): number {
  return rawState(content, 0)
}

function rawState(content: number, isQuiet: number): number {
  return content === NoContent ? Dead : lexemes.state(RawKind, content, isQuiet)
}

/** Returns the texts of `expr`, as they are. */
export function exprLexeme(expr: ExprId): number {
  return rawLexeme(exprContent(expr))
}

const NumberKind = lexemes.register<CompletedKind>({
  tag: (state) => (numbers.isAccepting(state) ? 1 : 0),
  expand(state, _b, _c, row) {
    row.bytes = [...numbers.bytes(state)]
    for (const byte of row.bytes) row.targets[byte] = numberLexeme(numbers.next(state, byte))
  },
  // Multiples of 0.123456789 are millions of states apart; number states compute their rest by
  // arithmetic.
  shortest: (state) => ({ bytes: numbers.shortest(state), tag: 1 }),
})

/** Returns the JSON numbers of number state `state` (see `numbers.start`). */
export function numberLexeme(state: number): number {
  return state === 0 ? Dead : lexemes.state(NumberKind, state)
}
