/**
 * Intersections of many factors made small before they are searched: factors that another one implies are dropped, and
 * lengths that some ask for are taken apart.
 *
 * `^z9.{100}z9$` beside other patterns makes an automaton of as many copies of theirs as it counts characters. All of its
 * texts that have some length are those of `^z9.*z9$` that have it: what stands around the loop has a length of its own, so
 * the count of the loop is a bound on the length of the whole. The rest of the intersection is then closed once, and
 * `counter.ts` counts beside it.
 */

import { isSmallNever } from "./emptiness.ts"
import { exprs } from "./expr.ts"
import { exprLengths } from "./lengths.ts"
import {
  AndKind,
  at,
  ConcatKind,
  type ExprId,
  flags,
  Inherited,
  kindOf,
  LoopKind,
  members,
  SetKind,
  Unbounded,
} from "./nodes.ts"
import { rawTexts } from "./shortest.ts"

/**
 * Loops of fewer characters make few copies. A bound from above alone (`(?=.{1,253}$)`) is seldom near, and what is left of the whole
 * may be large.
 */
const LeastCount = 16

/** Intersections of fewer factors are small, those of more are not worth looking at each pair. */
const LeastFactors = 3
const MostFactors = 64

/** Bytes of a text that is tried before a search. */
const MostSampled = 256

export interface Apart {
  readonly expr: ExprId
  readonly min: number
  readonly max: number
}

/** An expression and bounds on its texts' length that together are `id`; null: nothing is gained by taking it apart. */
export function lengthApart(id: ExprId): Apart | null {
  if (kindOf(id) !== AndKind || (flags(id) & Inherited) !== 0) return null
  let [min, max] = [0, Unbounded]
  const parts: ExprId[] = []
  for (const part of members(id)) {
    const apart = loopApart(part)
    parts.push(apart?.expr ?? part)
    if (apart === null) continue
    min = Math.max(min, apart.min)
    max = Math.min(max, apart.max)
  }
  const needed = withoutImplied(parts)
  const isSame = min === 0 && max === Unbounded && needed.length === parts.length
  return isSame ? null : { expr: exprs.and(needed), min, max }
}

/** `parts` without those of which every text of another one is a text. */
function withoutImplied(parts: readonly ExprId[]): readonly ExprId[] {
  if (parts.length < LeastFactors || parts.length > MostFactors) return parts
  const samples = new Map(parts.map((part) => [part, sampleOf(part)]))
  const needed = [...parts]
  for (const part of parts) {
    const negation = exprs.not(part)
    const isImplied = needed.some(
      (other) =>
        other !== part &&
        mayImply(other, samples.get(other) ?? null, part) &&
        isSmallNever(exprs.and([other, negation])),
    )
    if (isImplied) needed.splice(needed.indexOf(part), 1)
  }
  return needed
}

/** A shortest text of `part`; null where it is long, or has to be searched. */
function sampleOf(part: ExprId): Uint8Array | null {
  if (exprs.nullable(part)) return new Uint8Array()
  return rawTexts.isExact(part) && rawTexts.least(part) <= MostSampled ? rawTexts.textOf(part) : null
}

/**
 * False where `sample`, a text of `other`, is none of `part`, or `other` seems to have longer texts: a search that looks for one
 * where counts have to be used up first is long.
 */
function mayImply(other: ExprId, sample: Uint8Array | null, part: ExprId): boolean {
  if (exprLengths(other).high > exprLengths(part).high) return false
  if (sample === null) return true
  let rest = part
  for (const byte of sample) rest = exprs.derivative(rest, byte)
  return exprs.nullable(rest)
}

/** A part with its loop unbounded, and the bounds that it was for the whole; null: it is no chain around one loop of characters. */
function loopApart(id: ExprId): Apart | null {
  const links = chainOf(id)
  let loopAt = -1
  let around = 0
  for (const [i, { part, min, max }] of links.entries()) {
    if (min >= LeastCount) {
      const { low, high } = exprLengths(part)
      if (low !== 1 || high !== 1 || loopAt >= 0) return null
      loopAt = i
      continue
    }
    const { low, high } = exprLengths(exprs.loop(part, min, max))
    if (low !== high) return null
    around += low
  }
  if (loopAt < 0) return null
  const { min, max } = links[loopAt]
  const made = links.map(({ part, min, max }, i) =>
    i === loopAt ? exprs.loop(part, 0, Unbounded) : exprs.loop(part, min, max),
  )
  return {
    expr: made.reduceRight((tail, head) => exprs.concat(head, tail)),
    min: around + min,
    max: max === Unbounded ? Unbounded : around + max,
  }
}

/** `min` to `max` times `part`. */
interface Link {
  readonly part: ExprId
  min: number
  max: number
}

/** The parts of a concatenation; the same character several times in a row is one. */
function chainOf(id: ExprId): Link[] {
  const links: Link[] = []
  for (let rest = id; ; rest = at(rest, 2)) {
    const head = kindOf(rest) === ConcatKind ? at(rest, 1) : rest
    const link =
      kindOf(head) === LoopKind
        ? { part: at(head, 1), min: at(head, 2), max: at(head, 3) }
        : { part: head, min: 1, max: 1 }
    const last = links.at(-1)
    if (last !== undefined && last.part === link.part && kindOf(link.part) === SetKind) {
      last.min += link.min
      last.max = link.max === Unbounded || last.max === Unbounded ? Unbounded : last.max + link.max
    } else links.push(link)
    if (head === rest) return links
  }
}
