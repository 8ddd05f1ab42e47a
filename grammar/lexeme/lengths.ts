/**
 * The lengths of an expression's texts in characters, read off its form.
 *
 * Without intersections, complements and assertions lengths add, join and multiply as intervals do. So most questions
 * "is there a text of that length" need no automaton (`counter.ts` builds one for the others).
 */
import { machineLengths, type TextLengths } from "./machine.ts"
import {
  AndKind,
  at,
  ConcatKind,
  DiffKind,
  Empty,
  type ExprId,
  kindOf,
  LoopKind,
  length,
  MachineKind,
  OrKind,
  ScopeKind,
  SetKind,
  Unbounded,
} from "./nodes.ts"

/** Nesting that is followed. */
const MaxDepth = 400

const anything: TextLengths = { low: 0, high: Unbounded, from: 1, to: 0 }
const nothingRead: TextLengths = { low: 0, high: 0, from: 0, to: 0 }
const known = new Map<ExprId, TextLengths>()

/** The lengths of `id`, if it is not empty. */
export function exprLengths(id: ExprId, depth = 0): TextLengths {
  if (id === Empty) return nothingRead
  const before = known.get(id)
  if (before !== undefined) return before
  if (depth > MaxDepth) return anything
  const lengths = compute(id, depth + 1)
  known.set(id, lengths)
  return lengths
}

function compute(id: ExprId, depth: number): TextLengths {
  switch (kindOf(id)) {
    case SetKind: {
      let union = byteLengths(at(id, 1), at(id, 2), depth)
      for (let i = 3; i < length(id); i += 2)
        union = either(union, byteLengths(at(id, i), at(id, i + 1), depth))
      return union
    }
    case ConcatKind: {
      // Words are long chains: from head to tail without a call for each.
      let sum = nothingRead
      let rest = id
      for (; kindOf(rest) === ConcatKind; rest = at(rest, 2)) sum = plus(sum, exprLengths(at(rest, 1), depth))
      return plus(sum, exprLengths(rest, depth))
    }
    case OrKind: {
      let union = exprLengths(at(id, 1), depth)
      for (let i = 2; i < length(id); i++) union = either(union, exprLengths(at(id, i), depth))
      return union
    }
    case AndKind: {
      let { low, high } = anything
      for (let i = 1; i < length(id); i++) {
        const part = exprLengths(at(id, i), depth)
        low = Math.max(low, part.low)
        high = Math.min(high, part.high)
      }
      return { ...anything, low, high }
    }
    case DiffKind: {
      const { low, high } = exprLengths(at(id, 1), depth)
      return { ...anything, low, high }
    }
    case LoopKind:
      return times(exprLengths(at(id, 1), depth), at(id, 2), at(id, 3))
    case ScopeKind:
      return exprLengths(at(id, 1), depth)
    case MachineKind:
      return machineLengths(id) ?? anything
    default:
      // Assertions read nothing; whether they ever hold is not known.
      return { ...anything, high: 0 }
  }
}

/** A byte out of `range`, and then `next`: characters count at their first byte. */
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

/** Of two intervals that do not touch the wider one is kept, else the lower one. */
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
  // j and j + 1 copies touch when j·(to − from) ≥ from − 1: from some j on.
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
