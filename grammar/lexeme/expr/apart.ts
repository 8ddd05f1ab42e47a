/**
 * Makes intersections of many factors small before they are searched: drops factors that another
 * one implies, and replaces counted loops by bounds on the length of the whole text.
 *
 * Together with other patterns, `^z9.{100}z9$` makes an automaton with as many copies of theirs as
 * it counts characters. But what surrounds the loop has a fixed length, so `^z9.{100}z9$` is
 * `^z9.*z9$` with a bound on the length of the whole. The rest of the intersection is then closed
 * once, and `counter.ts` counts beside it.
 */

import { isSmallNever } from "./emptiness.ts"
import { exprs } from "./expr.ts"
import { exprLengths } from "./lengths.ts"
import { at, type ExprId, flags, Inherited, Kind, kindOf, members, Unbounded } from "./nodes.ts"
import { rawTexts } from "./shortest.ts"

/**
 * Loops of fewer characters make few copies. The upper bound alone (`(?=.{1,253}$)`) is not worth
 * it: texts rarely come near it, and what remains of the intersection may be large.
 */
const LeastCount = 16

/** Intersections of fewer factors are small. With more, comparing each pair costs too much. */
const LeastFactors = 3
const MostFactors = 64

/** Largest sample text that is tried before a search, in bytes. */
const MostSampled = 256

export interface Apart {
  readonly expr: ExprId
  readonly min: number
  readonly max: number
}

/**
 * Returns an expression and length bounds that are together equivalent to `id`; null if they would
 * not be simpler.
 */
export function lengthApart(id: ExprId): Apart | null {
  if (kindOf(id) !== Kind.And || (flags(id) & Inherited) !== 0) return null
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

/** Returns `parts` without those that contain all texts of another one. */
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

/** Returns a shortest text of `part`; null if it is long or needs a search. */
function sampleOf(part: ExprId): Uint8Array | null {
  if (exprs.nullable(part)) return new Uint8Array()
  return rawTexts.isExact(part) && rawTexts.least(part) <= MostSampled ? rawTexts.textOf(part) : null
}

/**
 * Returns false if `other` has the text `sample` and `part` does not, or if `other` may have longer
 * texts: a search for a counterexample takes long if it must use up counts first.
 */
function mayImply(other: ExprId, sample: Uint8Array | null, part: ExprId): boolean {
  if (exprLengths(other).high > exprLengths(part).high) return false
  if (sample === null) return true
  let rest = part
  for (const byte of sample) rest = exprs.derivative(rest, byte)
  return exprs.nullable(rest)
}

/**
 * Returns a part with its loop unbounded, and the length bounds that this loop implied for the
 * whole; null if it is not a chain of fixed length around one loop of characters.
 */
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

/** Returns the parts of a concatenation. Repetitions of one character form one link. */
function chainOf(id: ExprId): Link[] {
  const links: Link[] = []
  for (let rest = id; ; rest = at(rest, 2)) {
    const head = kindOf(rest) === Kind.Concat ? at(rest, 1) : rest
    const link =
      kindOf(head) === Kind.Loop
        ? { part: at(head, 1), min: at(head, 2), max: at(head, 3) }
        : { part: head, min: 1, max: 1 }
    const last = links.at(-1)
    if (last !== undefined && last.part === link.part && kindOf(link.part) === Kind.Set) {
      last.min += link.min
      last.max = link.max === Unbounded || last.max === Unbounded ? Unbounded : last.max + link.max
    } else links.push(link)
    if (head === rest) return links
  }
}
