/** Membership of whole texts, and the list of the texts of a finite language. */

import { owned } from "../../tables.ts"
import { utf8 } from "../../utf8.ts"
import { type ExprId, exprs } from "./expr.ts"

/** A language with longer texts counts as infinite. */
const MaxBytes = 1_000

/** Expression → count of its texts, saturating. */
const texts = owned("finite languages", { counts: new Map<ExprId, number>() })
const Many = 2 ** 31
/**
 * After this many new expressions, a test whether the short texts are too many already pays off.
 */
const ManyMade = 2_000
/** Largest size of those short texts, in bytes. */
const ShortText = 48

/**
 * Returns how many texts `expr` has. `Many` stands for `Many` or more, for infinitely many, and for
 * more than `maxCount` short texts. Linear in its states and ranges.
 */
function countTexts(expr: ExprId, maxCount: number): number {
  const open = new Set<ExprId>()
  const before = exprs.count
  let isShortKnown = false
  let hasManyShort = false
  const count = (state: ExprId): number => {
    const known = texts.counts.get(state)
    if (known !== undefined) return known
    if (!isShortKnown && exprs.count - before > ManyMade) {
      isShortKnown = true
      hasManyShort = hasMoreShort(expr, maxCount)
    }
    if (hasManyShort) return Many
    // A live state that can reach itself makes the language infinite.
    if (open.has(state) || open.size > MaxBytes) return Many
    open.add(state)
    let total = exprs.nullable(state) ? 1 : 0
    const ranges = Array.from(exprs.row(state))
    for (let i = 0; i < ranges.length && total < Many; i += 2) {
      if (exprs.isNever(ranges[i + 1])) continue
      const width = (ranges[i] >>> 8) - (ranges[i] & 0xff) + 1
      total = Math.min(Many, total + width * count(ranges[i + 1]))
    }
    open.delete(state)
    // A count that was cut short is not valid for this state.
    if (!hasManyShort) texts.counts.set(state, total)
    return total
  }
  return exprs.isNever(expr) ? 0 : count(expr)
}

/**
 * Returns whether more than `maxCount` texts of `expr` have at most `ShortText` bytes. It counts
 * them by length, without backtracking.
 */
function hasMoreShort(expr: ExprId, maxCount: number): boolean {
  let ways = new Map<ExprId, number>([[expr, 1]])
  let total = 0
  for (let length = 0; length <= ShortText && ways.size > 0; length++) {
    const longer = new Map<ExprId, number>()
    for (const [state, texts] of ways) {
      if (exprs.nullable(state)) total += texts
      if (total > maxCount) return true
      const ranges = Array.from(exprs.row(state))
      for (let i = 0; i < ranges.length; i += 2) {
        const width = (ranges[i] >>> 8) - (ranges[i] & 0xff) + 1
        longer.set(ranges[i + 1], (longer.get(ranges[i + 1]) ?? 0) + width * texts)
      }
    }
    ways = longer
  }
  return false
}

/**
 * Returns the texts of `expr` in byte order, or null if there are infinitely many or more than
 * `maxCount`.
 */
export function finiteTexts(expr: ExprId, maxCount: number): string[] | null {
  if (countTexts(expr, maxCount) > maxCount) return null
  const texts: Uint8Array[] = []
  const path: number[] = []
  const visit = (state: ExprId): void => {
    if (exprs.nullable(state)) texts.push(Uint8Array.from(path))
    const ranges = Array.from(exprs.row(state))
    for (let i = 0; i < ranges.length; i += 2) {
      if (exprs.isNever(ranges[i + 1])) continue
      for (let byte = ranges[i] & 0xff; byte <= ranges[i] >>> 8; byte++) {
        path.push(byte)
        visit(ranges[i + 1])
        path.pop()
      }
    }
  }
  if (!exprs.isNever(expr)) visit(expr)
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  return texts.map((bytes) => decoder.decode(bytes))
}

/** Returns whether `expr` accepts `text`. No language contains lone surrogates. */
export function matchesText(expr: ExprId, text: string): boolean {
  if (!text.isWellFormed()) return false
  let rest = expr
  for (const byte of utf8(text)) rest = exprs.derivative(rest, byte)
  return exprs.nullable(rest)
}
