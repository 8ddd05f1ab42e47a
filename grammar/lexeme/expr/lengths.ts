/**
 * The lengths of an expression's texts in characters, as far as its form tells.
 *
 * Without intersections, complements and assertions, lengths add, join and multiply as intervals
 * do. So most questions "is there a text of that length" need no automaton; `counter.ts` builds one
 * for the others.
 */

import { owned } from "../../tables.ts"
import { machineLengths, type TextLengths } from "./machine.ts"
import { at, Empty, type ExprId, isNullable, Kind, kindOf, length, Unbounded } from "./nodes.ts"

/** Largest nesting that is followed. */
const MaxDepth = 400

const anything: TextLengths = { low: 0, high: Unbounded, from: 1, to: 0 }
const nothingRead: TextLengths = { low: 0, high: 0, from: 0, to: 0 }
const known = owned("text lengths", { lengths: new Map<ExprId, TextLengths>() }, { entryBytes: 56 })

/** Returns the lengths of `id`, if it is not empty. */
export function exprLengths(id: ExprId, depth = 0): TextLengths {
  if (id === Empty) return nothingRead
  const before = known.lengths.get(id)
  if (before !== undefined) return before
  if (depth > MaxDepth) return anything
  const lengths = compute(id, depth + 1)
  known.lengths.set(id, lengths)
  return lengths
}

function compute(id: ExprId, depth: number): TextLengths {
  switch (kindOf(id)) {
    case Kind.Set: {
      let union = byteLengths(at(id, 1), at(id, 2), depth)
      for (let i = 3; i < length(id); i += 2)
        union = either(union, byteLengths(at(id, i), at(id, i + 1), depth))
      return union
    }
    case Kind.Concat: {
      const { links, last } = chainOf(id, known.lengths)
      let sum = exprLengths(last, depth)
      for (let i = links.length - 1; i >= 0; i--) {
        sum = plus(exprLengths(at(links[i], 1), depth), sum)
        if (i % Milestone === 0) known.lengths.set(links[i], sum)
      }
      return sum
    }
    case Kind.Or: {
      let union = exprLengths(at(id, 1), depth)
      for (let i = 2; i < length(id); i++) union = either(union, exprLengths(at(id, i), depth))
      return union
    }
    case Kind.And: {
      let { low, high } = anything
      for (let i = 1; i < length(id); i++) {
        const part = exprLengths(at(id, i), depth)
        low = Math.max(low, part.low)
        high = Math.min(high, part.high)
      }
      return { ...anything, low, high }
    }
    case Kind.Diff:
      return leftOf(id, depth)
    case Kind.Loop:
      return times(exprLengths(at(id, 1), depth), at(id, 2), at(id, 3))
    case Kind.Scope:
      return exprLengths(at(id, 1), depth)
    case Kind.Machine:
      return machineLengths(id) ?? anything
    default:
      // Assertions read nothing. Whether they ever hold is not known.
      return { ...anything, high: 0 }
  }
}

/**
 * Returns the lengths of a difference of all texts and an expression. It has texts of each length
 * at which the expression has none, or too few. Inside a character there are at least 16 ways to
 * end it, so only the empty text can be the one text of its length.
 */
function leftOf(id: ExprId, depth: number): TextLengths {
  const { low, high } = exprLengths(at(id, 1), depth)
  const removed = at(id, 2)
  const taken = Math.min(lengthOfMore(mostTexts(removed, depth)), exprLengths(removed, depth).high + 1)
  if (taken >= Unbounded || high < Unbounded) return { ...anything, low, high }
  return { low, high, from: taken === 1 && isNullable(id) ? 0 : taken, to: Unbounded }
}

/** Count of all characters: U+0000 to U+10FFFF without the surrogates. */
const Characters = 0x110000 - 0x800

/**
 * Returns a length, at least 1, such that there are more than `count` texts of it and of each
 * greater length.
 */
function lengthOfMore(count: number): number {
  return count < Characters ? 1 : 2 + Math.floor(Math.log(count) / Math.log(Characters))
}

const most = owned("text counts", { counts: new Map<ExprId, number>() })

/** Returns an upper bound on the count of texts of `id`; Infinity if its form does not tell. */
function mostTexts(id: ExprId, depth: number): number {
  const before = most.counts.get(id)
  if (before !== undefined) return before
  if (depth > MaxDepth) return Number.POSITIVE_INFINITY
  const count = countTexts(id, depth + 1)
  most.counts.set(id, count)
  return count
}

function countTexts(id: ExprId, depth: number): number {
  switch (kindOf(id)) {
    case Kind.Never:
      return 0
    case Kind.Empty:
      return 1
    case Kind.Set: {
      let sum = 0
      for (let i = 1; i < length(id); i += 2)
        sum += ((at(id, i) >>> 8) - (at(id, i) & 0xff) + 1) * mostTexts(at(id, i + 1), depth)
      return sum
    }
    case Kind.Concat: {
      const { links, last } = chainOf(id, most.counts)
      let product = mostTexts(last, depth)
      for (let i = links.length - 1; i >= 0; i--) {
        product *= mostTexts(at(links[i], 1), depth)
        if (i % Milestone === 0) most.counts.set(links[i], product)
      }
      return product
    }
    case Kind.Or: {
      let sum = 0
      for (let i = 1; i < length(id); i++) sum += mostTexts(at(id, i), depth)
      return sum
    }
    case Kind.Loop: {
      const [body, max] = [mostTexts(at(id, 1), depth), at(id, 3)]
      if (max === Unbounded) return Number.POSITIVE_INFINITY
      return (max + 1) * Math.max(1, body ** max)
    }
    default:
      return Number.POSITIVE_INFINITY
  }
}

/**
 * One in this many links of a long chain is memoized: a caller that reads the chain asks again
 * after each byte.
 */
const Milestone = 64

/**
 * Returns the links of a concatenation up to a known one. Words are long chains, so this does not
 * recurse.
 */
function chainOf(id: ExprId, known: ReadonlyMap<ExprId, unknown>): { links: ExprId[]; last: ExprId } {
  const links: ExprId[] = []
  let last = id
  for (; kindOf(last) === Kind.Concat && !known.has(last); last = at(last, 2)) links.push(last)
  return { links, last }
}

/**
 * Returns the lengths of a byte of `range` followed by `next`. A character counts at its first
 * byte.
 */
function byteLengths(range: number, next: ExprId, depth: number): TextLengths {
  const [lo, hi] = [range & 0xff, range >>> 8]
  const rest = exprLengths(next, depth)
  if (lo >= 0x80 && hi < 0xc0) return rest
  if (hi < 0x80 || lo >= 0xc0) return plus(rest, oneRead)
  return { ...anything, low: rest.low, high: add(rest.high, 1) }
}

const oneRead: TextLengths = { low: 1, high: 1, from: 1, to: 1 }

function plus(a: TextLengths, b: TextLengths): TextLengths {
  const isKnown = a.from <= a.to && b.from <= b.to
  return {
    low: add(a.low, b.low),
    high: add(a.high, b.high),
    from: isKnown ? add(a.from, b.from) : 1,
    to: isKnown ? add(a.to, b.to) : 0,
  }
}

/** Of two intervals that do not touch, keeps the wider one, or else the lower one. */
function either(a: TextLengths, b: TextLengths): TextLengths {
  const low = Math.min(a.low, b.low)
  const high = Math.max(a.high, b.high)
  if (a.from > a.to) return { low, high, from: b.from, to: b.to }
  if (b.from > b.to) return { low, high, from: a.from, to: a.to }
  if (a.from <= add(b.to, 1) && b.from <= add(a.to, 1))
    return { low, high, from: Math.min(a.from, b.from), to: Math.max(a.to, b.to) }
  const wider = a.to - a.from - (b.to - b.from)
  const { from, to } = wider > 0 || (wider === 0 && a.from < b.from) ? a : b
  return { low, high, from, to }
}

function times({ low, high, from, to }: TextLengths, min: number, max: number): TextLengths {
  const bounds = { low: multiply(low, min), high: multiply(high, max) }
  if (from > to) return { ...bounds, from: min === 0 ? 0 : 1, to: 0 }
  // j and j + 1 copies touch if j·(to − from) ≥ from − 1: from some j on.
  const apart = Math.max(0, from - 1)
  const first = apart === 0 ? 1 : to === from ? Number.POSITIVE_INFINITY : Math.ceil(apart / (to - from))
  const least = Math.max(min, first)
  const dense =
    least <= max
      ? { from: multiply(from, least), to: multiply(to, max) }
      : { from: multiply(from, Math.max(min, 1)), to: multiply(to, Math.max(min, 1)) }
  return { ...bounds, ...(min === 0 && dense.from <= 1 ? { ...dense, from: 0 } : dense) }
}

function add(a: number, b: number): number {
  return Math.min(a + b, Unbounded)
}

function multiply(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : Math.min(a * b, Unbounded)
}
