/**
 * Sets of code points as minimal UTF-8 automata, and the sweep that combines byte ranges.
 *
 * Blocks of 64^d code points share their first bytes, so a set is built block by block from above.
 * Hash-consing makes equal blocks one node, and thus the automaton minimal. Surrogates are dropped,
 * since no text has them. A *row* is a list `lo | hi << 8, target, …`: ascending byte ranges with
 * their targets. Neighbours with equal targets are joined, and ∅ is left out. Set nodes and
 * derivatives are both rows.
 */
import { owned } from "../../tables.ts"
import { at, Empty, type ExprId, intern, Kind, kindOf, length, Never } from "./nodes.ts"

/** Appends `[lo, hi] → target` to a row. Joins it to an equal neighbour. */
export function pushRange(row: number[], lo: number, hi: number, target: number): void {
  if (target === Never) return
  const last = row.length - 2
  if (last >= 0 && row[last + 1] === target && row[last] >>> 8 === lo - 1) {
    row[last] = (row[last] & 0xff) | (hi << 8)
  } else {
    row.push(lo | (hi << 8), target)
  }
}

function makeSet(row: readonly number[]): ExprId {
  return row.length === 0 ? Never : intern([Kind.Set, ...row], 0)
}

/**
 * Returns one byte between `lo` and `hi`, both included. Above 0x7f it is not a character: use it
 * inside `and` only.
 */
export function byteRange(lo: number, hi: number): ExprId {
  return makeSet([lo | (hi << 8), Empty])
}

const known = owned("bytes", { singles: [] as ExprId[] })

export function oneByte(byte: number): ExprId {
  known.singles[byte] ??= byteRange(byte, byte)
  return known.singles[byte]
}

/** First and last code point, lead byte mask, count of continuation bytes; by UTF-8 length. */
const forms = [
  { first: 0, last: 0x7f, lead: 0, more: 0 },
  { first: 0x80, last: 0x7ff, lead: 0xc0, more: 1 },
  { first: 0x800, last: 0xffff, lead: 0xe0, more: 2 },
  { first: 0x10000, last: 0x10ffff, lead: 0xf0, more: 3 },
]

/** Returns one character of `ranges` (lo, hi, lo, hi …: inclusive, ascending, disjoint). */
export function codePoints(ranges: readonly number[]): ExprId {
  const scalar = withoutSurrogates(ranges)
  const row: number[] = []
  for (const { first, last, lead, more } of forms) {
    const size = 64 ** more
    let i = firstEndingAt(scalar, first)
    while (i < scalar.length && scalar[i] <= last) {
      const from = Math.max(scalar[i], first)
      const block = Math.floor(from / size)
      // A range that covers whole blocks makes one entry for all of them.
      const end = Math.min(scalar[i + 1], last)
      const whole = from % size === 0 ? Math.floor((end + 1) / size) - block : 0
      const byte = lead | block
      if (whole > 0) {
        pushRange(row, byte, byte + whole - 1, fullTail(more))
        i = firstEndingAt(scalar, (block + whole) * size, i)
        if (i < scalar.length && scalar[i] < (block + whole) * size) scalar[i] = (block + whole) * size
      } else {
        pushRange(row, byte, byte, tailOf(scalar, i, block * size, more))
        i = firstEndingAt(scalar, (block + 1) * size, i)
        if (i < scalar.length && scalar[i] < (block + 1) * size) scalar[i] = (block + 1) * size
      }
    }
  }
  return makeSet(row)
}

/** Returns any `more` continuation bytes. */
function fullTail(more: number): ExprId {
  let tail: ExprId = Empty
  for (let i = 0; i < more; i++) tail = makeSet([0x80 | (0xbf << 8), tail])
  return tail
}

/**
 * Returns the `more` bytes after a lead byte whose block starts at `base`: the members of the
 * ranges from index `from` on.
 */
function tailOf(ranges: readonly number[], from: number, base: number, more: number): ExprId {
  const size = 64 ** (more - 1)
  const end = base + 64 * size
  const row: number[] = []
  let at = base
  for (let i = from; i < ranges.length && ranges[i] < end && at < end; ) {
    const lo = Math.max(ranges[i], at)
    const hi = Math.min(ranges[i + 1], end - 1)
    const block = Math.floor((lo - base) / size)
    const whole = (lo - base) % size === 0 ? Math.floor((hi + 1 - base) / size) - block : 0
    if (whole > 0) {
      pushRange(row, 0x80 | block, 0x80 | (block + whole - 1), fullTail(more - 1))
      at = base + (block + whole) * size
    } else {
      pushRange(row, 0x80 | block, 0x80 | block, tailOf(ranges, i, base + block * size, more - 1))
      at = base + (block + 1) * size
    }
    while (i < ranges.length && ranges[i + 1] < at) i += 2
  }
  return makeSet(row)
}

/** Returns the index of the first range that ends at `point` or later. */
function firstEndingAt(ranges: readonly number[], point: number, from = 0): number {
  let i = from
  while (i < ranges.length && ranges[i + 1] < point) i += 2
  return i
}

function withoutSurrogates(ranges: readonly number[]): number[] {
  const kept: number[] = []
  for (let i = 0; i < ranges.length; i += 2) {
    const [lo, hi] = [ranges[i], ranges[i + 1]]
    if (lo < 0xd800) kept.push(lo, Math.min(hi, 0xd7ff))
    if (hi > 0xdfff) kept.push(Math.max(lo, 0xe000), hi)
  }
  return kept
}

/** Returns the union of two sets; -1 if they are not aligned (raw bytes against characters). */
export function uniteSets(a: ExprId, b: ExprId): ExprId {
  if (a === b || b === Never) return a
  return a === Never ? b : combineSets(a, b, uniteSets)
}

/** Returns the intersection of two sets; -1 if they are not aligned. */
export function intersectSets(a: ExprId, b: ExprId): ExprId {
  if (a === b) return a
  return a === Never || b === Never ? Never : combineSets(a, b, intersectSets)
}

function combineSets(a: ExprId, b: ExprId, combine: (a: ExprId, b: ExprId) => ExprId): ExprId {
  if (kindOf(a) !== Kind.Set || kindOf(b) !== Kind.Set) return -1
  const row: number[] = []
  let [i, j, byte] = [1, 1, 0]
  const [endA, endB] = [length(a), length(b)]
  while (i < endA || j < endB) {
    const rangeA = i < endA ? at(a, i) : 256
    const rangeB = j < endB ? at(b, j) : 256
    const [loA, loB] = i < endA ? [rangeA & 0xff, j < endB ? rangeB & 0xff : 256] : [256, rangeB & 0xff]
    byte = Math.max(byte, Math.min(loA, loB))
    const hi = Math.min(loA <= byte ? rangeA >>> 8 : loA - 1, loB <= byte ? rangeB >>> 8 : loB - 1)
    const target = combine(loA <= byte ? at(a, i + 1) : Never, loB <= byte ? at(b, j + 1) : Never)
    if (target < 0) return -1
    pushRange(row, byte, hi, target)
    byte = hi + 1
    if (loA < byte && rangeA >>> 8 < byte) i += 2
    if (loB < byte && rangeB >>> 8 < byte) j += 2
  }
  return makeSet(row)
}

/** Every character. */
export const anyChar: ExprId = codePoints([0, 0x10ffff])
/** One, two and three arbitrary continuation bytes. */
export const anyTails: readonly ExprId[] = [fullTail(1), fullTail(2), fullTail(3)]
