/**
 * What bounds leave of a number whose first digits are written.
 *
 * After the integer digits m, j more digits and a fraction make m·10^j + r with r in [0, 10^j). For each j the bounds
 * allow every r, none, or an interval; it is an interval for two j at most. Pieces say so without m: a prefix strictly
 * inside its bounds leaves the one piece "any k digits".
 */
import { adjusted, compare, type Decimal, makeDecimal, negate, shift, subtract, zero } from "./decimal.ts"
import type { Interval } from "./modulus.ts"

/** Rests of `from` to `to` (may be Infinity) more integer digits; `range` null: every value. Else from = to. */
export interface Piece {
  readonly from: number
  readonly to: number
  readonly range: Interval | null
}

const unit: Decimal = makeDecimal(1n, 0)

// Stands for an empty interval; null stands for all of [0, 10^j).
const outside = "outside"

/** What the first digit leaves: for each number j of further integer digits the part of [digit·10^j, (digit+1)·10^j). */
export function firstPieces(range: Interval, digit: number): Piece[] {
  const { lo, hi } = range
  const pieces: Piece[] = []
  const push = (j: number) => {
    pushPiece(pieces, clip(behind(range, makeDecimal(BigInt(digit), j)), j), j)
  }
  if (digit === 0) {
    push(0)
    return pieces
  }
  const low = Math.max(0, adjusted(lo) - 1)
  const high = hi === null ? Number.POSITIVE_INFINITY : adjusted(hi) - 1
  if (low > high) return pieces
  push(low)
  if (high > low) {
    const last = high === Number.POSITIVE_INFINITY ? high : high - 1
    if (last > low) pieces.push({ from: low + 1, to: last, range: null })
    if (hi !== null) push(high)
  }
  return pieces
}

/** What one more digit leaves of the pieces. */
export function nextPieces(pieces: readonly Piece[], digit: number): Piece[] {
  const next: Piece[] = []
  for (const { from, to, range } of pieces) {
    if (to === 0) continue
    if (range === null) next.push({ from: Math.max(0, from - 1), to: to - 1, range })
    else pushPiece(next, clip(behind(range, makeDecimal(BigInt(digit), to - 1)), to - 1), to - 1)
  }
  return next
}

/** What a digit of the fraction leaves of [0, 1), in units of that digit; undefined: nothing. */
export function nextFraction(range: Interval | null, digit: number): Interval | null | undefined {
  if (range === null) return null
  const tenfold = { ...range, lo: shift(range.lo, 1), hi: range.hi && shift(range.hi, 1) }
  const clipped = clip(behind(tenfold, makeDecimal(BigInt(digit), 0)), 0)
  return clipped === outside ? undefined : clipped
}

/** The same pieces, neighbours that allow everything as one. */
export function mergePieces(pieces: readonly Piece[]): Piece[] {
  const merged: Piece[] = []
  for (const piece of pieces) {
    const last = merged.at(-1)
    if (last !== undefined && last.range === null && piece.range === null && last.to + 1 === piece.from) {
      merged[merged.length - 1] = { from: last.from, to: piece.to, range: null }
    } else merged.push(piece)
  }
  return merged
}

/** The values residue·10^j + r of the rests r: their residues are those of the numbers themselves. */
export function offset(range: Interval | null, residue: bigint, j: number): Interval {
  const lo = makeDecimal(residue, j)
  if (range === null) return { lo, loOpen: false, hi: makeDecimal(residue + 1n, j), hiOpen: true }
  if (residue === 0n) return range
  const hi = range.hi as Decimal
  return { lo: add(range.lo, lo), loOpen: range.loOpen, hi: add(hi, lo), hiOpen: range.hiOpen }
}

function add(a: Decimal, b: Decimal): Decimal {
  return subtract(a, negate(b))
}

function behind(range: Interval, start: Decimal): Interval {
  return { ...range, lo: subtract(range.lo, start), hi: range.hi && subtract(range.hi, start) }
}

function clip(range: Interval, j: number): Interval | null | typeof outside {
  let { lo, loOpen, hi, hiOpen } = range
  const width = j === 0 ? unit : shift(unit, j)
  if (hi !== null && (hi.sign < 0 || (hi.sign === 0 && hiOpen))) return outside
  if (compare(lo, width) >= 0) return outside
  if (lo.sign < 0) {
    lo = zero
    loOpen = false
  }
  if (hi === null || compare(hi, width) >= 0) {
    hi = width
    hiOpen = true
  }
  const order = compare(lo, hi)
  if (order > 0 || (order === 0 && (loOpen || hiOpen))) return outside
  return lo.sign === 0 && !loOpen && hiOpen && compare(hi, width) === 0 ? null : { lo, loOpen, hi, hiOpen }
}

function pushPiece(pieces: Piece[], range: Interval | null | typeof outside, j: number): void {
  if (range !== outside) pieces.push({ from: j, to: j, range })
}
