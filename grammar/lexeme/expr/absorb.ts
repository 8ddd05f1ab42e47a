/**
 * Drops operands of a choice that another one contains, as far as their forms tell.
 *
 * Each function takes the operands of one `or`, ascending and without duplicates, replaces some by
 * ∅ in place, and returns whether it did. That makes fewer and smaller states. Keeping an operand
 * is never wrong.
 */
import { at, type ExprId, isSurelyNullable, Kind, kindOf, length, Never, Unbounded } from "./nodes.ts"
import { uniteSets } from "./sets.ts"

/** Drops operands that another one contains. As `Dropping` of `build.ts`. */
export function dropContained(parts: ExprId[], hasAnd: boolean, hasOpen: boolean): boolean {
  const dominated = dropDominated(parts)
  const tails = hasOpen && dropTails(parts)
  return (hasAnd && absorb(parts)) || dominated || tails
}

/** Count of links of chains of optional heads that are followed for one choice. */
const MaxLinks = 2_000

/**
 * Drops operands that follow an optional head of another: `a?b?c` contains `b?c` and `c`. So a long
 * run of optional parts keeps one operand for each byte, not one for each part.
 */
function dropTails(parts: ExprId[]): boolean {
  let dropped = false
  const places = new Map(parts.map((id, i) => [id, i]))
  const drop = (id: ExprId) => {
    const place = places.get(id)
    if (place === undefined) return
    parts[place] = Never
    dropped = true
  }
  const walked = new Set<ExprId>()
  for (let i = 0; i < parts.length; i++) {
    let link = parts[i]
    while (kindOf(link) === Kind.Concat && !walked.has(link) && walked.size < MaxLinks) {
      walked.add(link)
      if (!isSurelyNullable(at(link, 1))) break
      link = at(link, 2)
      if (kindOf(link) === Kind.Or) for (let j = 1; j < length(link); j++) drop(at(link, j))
      else drop(link)
    }
  }
  return dropped
}

/** Count of operands beginning with a loop that are compared with each other, and how deep. */
const MaxCompared = 128
const MaxCompareDepth = 8

/**
 * Drops operands that another one with the same first loop contains: `X{0,3}·s·Y{0,5}` in
 * `X{0,9}·s·Y{0,7}`. If counted loops can be entered at several places, only the widest remain.
 */
function dropDominated(parts: ExprId[]): boolean {
  const counted: number[] = []
  for (let i = 0; i < parts.length; i++) if (loopInFront(parts[i]) >= 0) counted.push(i)
  if (counted.length < 2 || counted.length > MaxCompared) return false
  let dropped = false
  for (const i of counted) {
    for (const j of counted) {
      if (i === j || parts[i] === Never || parts[j] === Never) continue
      if (loopInFront(parts[i]) !== loopInFront(parts[j])) continue
      if (!isWithin(parts[i], parts[j], MaxCompareDepth)) continue
      parts[i] = Never
      dropped = true
    }
  }
  return dropped
}

/** Returns the body of the bounded loop with which `id` begins, or -1. */
function loopInFront(id: ExprId): ExprId {
  let front = id
  while (kindOf(front) === Kind.Concat) front = at(front, 1)
  return front !== id && kindOf(front) === Kind.Loop && at(front, 3) !== Unbounded ? at(front, 1) : -1
}

/** Returns whether `b` contains `a`, as far as their forms tell. */
function isWithin(a: ExprId, b: ExprId, depth: number): boolean {
  if (a === b) return true
  if (depth === 0) return false
  if (kindOf(a) === Kind.Concat && kindOf(b) === Kind.Concat)
    return isWithin(at(a, 1), at(b, 1), depth - 1) && isWithin(at(a, 2), at(b, 2), depth - 1)
  if (kindOf(a) === Kind.Loop && kindOf(b) === Kind.Loop)
    return at(a, 1) === at(b, 1) && at(b, 2) <= at(a, 2) && at(a, 3) <= at(b, 3)
  return kindOf(a) === Kind.Set && kindOf(b) === Kind.Set && uniteSets(b, a) === b
}

/** Drops conjunctions that another operand contains. */
function absorb(parts: ExprId[]): boolean {
  let dropped = false
  const others = new Set(parts)
  /** A bit for each factor of a conjunction, which rules out most pairs at once. */
  const factors = parts.map((id) => (kindOf(id) === Kind.And ? factorBits(id) : -1))
  for (let i = 0; i < parts.length; i++) {
    const id = parts[i]
    if (kindOf(id) !== Kind.And) continue
    let isContained = false
    for (let j = 1; j < length(id) && !isContained; j++) isContained = others.has(at(id, j))
    for (let j = 0; j < parts.length && !isContained; j++)
      isContained =
        (factors[j] & ~factors[i]) === 0 && kindOf(parts[j]) === Kind.And && hasFewer(parts[j], id)
    if (!isContained) continue
    parts[i] = Never
    others.delete(id)
    dropped = true
  }
  return dropped
}

function factorBits(id: ExprId): number {
  let bits = 0
  for (let i = 1; i < length(id); i++) bits |= 1 << (at(id, i) & 31)
  return bits
}

/** Returns whether the factors of `a` are some but not all of the factors of `b`; both ascend. */
function hasFewer(a: ExprId, b: ExprId): boolean {
  if (length(a) >= length(b)) return false
  let j = 1
  for (let i = 1; i < length(a); i++) {
    while (j < length(b) && at(b, j) < at(a, i)) j++
    if (j === length(b) || at(b, j) !== at(a, i)) return false
  }
  return true
}
