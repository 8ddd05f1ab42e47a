/**
 * Assertions as exact expressions: lookahead, lookbehind, anchors and word boundaries, by
 * intersection and complement.
 *
 * A pattern is built from its end to its start, so what follows an assertion is usually known when
 * the assertion is met: `(?=s)k` is k & sΣ*, `(?!s)k` is k & ¬(sΣ*), and `$k` is ε if k may be
 * empty. Inside a repetition what follows is not known yet. There the assertion becomes a node that
 * the derivative resolves (`lexeme/expr/derivative.ts`). A lookbehind is always a node: it carries
 * the automaton of Σ*s, which reads the same bytes as the text in front of it.
 */
import { Empty, type ExprId, exprs, Never } from "../lexeme/expr/expr.ts"
import type { CodePointRanges } from "./ranges.ts"
import { lineTerminators } from "./unicode.ts"

/**
 * Whether a place of the pattern is at the start of the text: always, never, or depending on the
 * text.
 */
export type AtStart = "always" | "never" | "perhaps"

/** Everything that follows; null inside a repetition. */
export type Rest = ExprId | null

const { and, anyText, behind, codePoints, concat, look, not, or } = exprs

/**
 * Returns the assertion that what follows is in `ahead`, which ends in Σ*; with `negative`, that it
 * is not.
 */
export function lookahead(ahead: ExprId, negative: boolean, rest: Rest): ExprId {
  if (rest === null) return look(ahead, negative)
  return and([rest, negative ? not(ahead) : ahead])
}

/**
 * Returns the assertion that the text so far is in `before`, which starts with Σ*; with `negative`,
 * that it is not.
 */
export function lookbehind(before: ExprId, negative: boolean, rest: Rest): ExprId {
  return concat(behind(before, negative), rest ?? Empty)
}

/** Returns `^`: nothing precedes, or under `m` a line terminator does. */
export function startAnchor(multiline: boolean, atStart: AtStart, rest: Rest): ExprId {
  if (atStart === "always") return rest ?? Empty
  const before: ExprId[] = atStart === "never" ? [] : [Empty]
  if (multiline) before.push(endingIn(lineTerminators))
  return before.length === 0 ? Never : lookbehind(or(before), false, rest)
}

/** Returns `$`: nothing follows, or under `m` a line terminator does. */
export function endAnchor(multiline: boolean, rest: Rest): ExprId {
  const atEnd = rest === null ? exprs.end : exprs.ended(rest)
  if (!multiline) return atEnd
  return or([atEnd, lookahead(startingWith(lineTerminators), false, rest)])
}

/**
 * Returns `\b`, which requires a word character on exactly one side; with `negative` `\B`, on both
 * or neither.
 */
export function wordBoundary(negative: boolean, word: CodePointRanges, atStart: AtStart, rest: Rest): ExprId {
  const ahead = startingWith(word)
  if (atStart === "always") return lookahead(ahead, negative, rest)
  const before = endingIn(word)
  const sides = [true, false].map((wordBefore) =>
    lookbehind(before, !wordBefore, lookahead(ahead, wordBefore !== negative, rest)),
  )
  return or(sides)
}

function startingWith(set: CodePointRanges): ExprId {
  return concat(codePoints(set), anyText)
}

/** Returns the texts whose last character is in the set. */
function endingIn(set: CodePointRanges): ExprId {
  return concat(anyText, codePoints(set))
}
