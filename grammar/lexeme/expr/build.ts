/**
 * Constructors of expressions. They simplify while building, so no rewriting pass can be forgotten.
 *
 * The laws stand beside the code that applies them. They keep the set of derivatives finite and
 * small (Brzozowski 1964: `or` modulo associativity, commutativity and idempotence is enough; the
 * other laws merge more states). Texts are well-formed UTF-8: every operand is a subset of Σ*, or
 * of what is left of Σ* inside a character, so Σ* absorbs in `or` and is neutral in `and`. A search
 * whose match is certain is thus Σ* itself. The assertions `look` and `end` depend on all that
 * follows, so concatenations keep them at the head of what follows (they are re-associated and
 * distributed over `or`); see `look/assertions.ts`.
 */
import { limitError } from "../../refusal.ts"
import {
  Asserts,
  at,
  Empty,
  type ExprId,
  exprBounds,
  flags,
  Inherited,
  intern,
  isNullable,
  isSurelyNullable,
  Kind,
  kindOf,
  length,
  MaxCount,
  members,
  Never,
  Nullable,
  Searched,
  Unbounded,
  Universe,
} from "./nodes.ts"
import { anyChar, anyTails, intersectSets, uniteSets } from "./sets.ts"

/** Every text: any characters, any number. */
export const anyText: ExprId = intern([Kind.Loop, anyChar, 0, Unbounded], Nullable | Universe)

/**
 * Laws: ∅·t = h·∅ = ∅; ε·t = t; h·ε = h; h·Σ* = Σ* if ε ∈ h; X{m,n}·Σ* = X{m}·Σ*; X{a,b}·X{c,d} =
 * X{a+c,b+d}; X·X{c,d} = X{c+1,d+1}; X?·X{c,d} = X{c,d+1}. Not re-associated in general: a
 * derivative would rebuild a long body on every byte.
 */
export function concat(head: ExprId, tail: ExprId): ExprId {
  if (head === Never || tail === Never) return Never
  if (head === Empty) return tail
  if (tail === Empty) return head
  const facts = flags(head)
  if (facts & Asserts) {
    switch (kindOf(head)) {
      case Kind.Concat:
        return concat(at(head, 1), concat(at(head, 2), tail))
      case Kind.Or:
        return or(members(head).map((id) => concat(id, tail)))
      case Kind.And:
      case Kind.Diff:
        throw new Error("internal: an assertion inside an intersection has no continuation")
    }
  } else if (tail === anyText) {
    if (isSurelyNullable(head)) return anyText
    if (kindOf(head) === Kind.Loop && at(head, 2) < at(head, 3)) {
      return concat(loop(at(head, 1), at(head, 2), at(head, 2)), tail)
    }
  }
  const next = kindOf(tail) === Kind.Concat ? at(tail, 1) : tail
  const optional = (facts & Inherited) === 0 ? optionalBody(head) : -1
  if (optional >= 0 && (next === head || (kindOf(next) === Kind.Loop && at(next, 1) === optional))) {
    const [min, max] = next === head ? [0, 1] : [at(next, 2), at(next, 3)]
    return concat(loop(optional, min, addBounds(max, 1)), next === tail ? Empty : at(tail, 2))
  }
  if (kindOf(next) === Kind.Loop && (facts & Inherited) === 0) {
    const rest = next === tail ? Empty : at(tail, 2)
    if (head === at(next, 1)) {
      return concat(loop(head, at(next, 2) + 1, addBounds(at(next, 3), 1)), rest)
    }
    if (kindOf(head) === Kind.Loop && at(head, 1) === at(next, 1)) {
      return concat(loop(at(head, 1), at(head, 2) + at(next, 2), addBounds(at(head, 3), at(next, 3))), rest)
    }
  }
  const others = flags(tail)
  let made = (facts & others & Nullable) | ((facts | others) & (Inherited | Searched))
  if (tail === anyText && anyTails.includes(head)) made |= Universe
  pair[1] = head
  pair[2] = tail
  return intern(pair, made)
}

/** Scratch tuple for look-ups: most concatenations exist already. */
const pair = [Kind.Concat, Never, Never]

/** Returns X of X?; -1 for other expressions. */
function optionalBody(id: ExprId): ExprId {
  return kindOf(id) === Kind.Or && length(id) === 3 && at(id, 1) === Empty ? at(id, 2) : -1
}

function addBounds(a: number, b: number): number {
  return Math.min(a + b, Unbounded)
}

function multiplyBounds(a: number, b: number): number {
  return a === 0 || b === 0 ? 0 : Math.min(a * b, Unbounded)
}

/** Sorts ascending and removes duplicates, in place. Insertion sort, since operands are few. */
function sortIds(ids: ExprId[]): ExprId[] {
  if (ids.length > 32) ids.sort((a, b) => a - b)
  else {
    for (let i = 1; i < ids.length; i++) {
      const id = ids[i]
      let j = i - 1
      for (; j >= 0 && ids[j] > id; j--) ids[j + 1] = ids[j]
      ids[j + 1] = id
    }
  }
  let count = 0
  for (let i = 0; i < ids.length; i++) if (i === 0 || ids[i] !== ids[i - 1]) ids[count++] = ids[i]
  ids.length = count
  return ids
}

/**
 * Laws: ∅ | r = r; Σ* | r = Σ*; r | r = r; sets unite, also before equal tails; ε | r = r if ε ∈ r;
 * X{a,b}·t | X{c,d}·t = X{min,max}·t if the intervals touch; ε | X{1,n} = X{0,n}; r | (r & s) = r;
 * r | ¬r = Σ*; h·r | r = h·r if ε ∈ h. Drops operands that a wider one with the same first loop
 * contains, see `absorb.ts`.
 */
export function or(ids: readonly ExprId[]): ExprId {
  const parts: ExprId[] = []
  for (const id of ids) {
    if (id === Never) continue
    if (flags(id) & Universe) return id
    if (kindOf(id) === Kind.Or) for (let i = 1; i < length(id); i++) parts.push(at(id, i))
    else parts.push(id)
  }
  if (parts.length === 0) return Never
  if (parts.length === 1) return parts[0]
  sortIds(parts)
  if (parts.length === 1) return parts[0]
  const merged = mergeParts(parts)
  if (merged !== null) return or(merged)
  let made = Searched
  for (const id of parts) {
    made |= flags(id) & (Inherited | Nullable)
    if ((flags(id) & Searched) === 0) made &= ~Searched
  }
  return intern([Kind.Or, ...parts], made)
}

/**
 * Replaces operands of a choice that another one contains by ∅, and returns whether there were any.
 * Some are conjunctions if `hasAnd`, some have an optional head if `hasOpen`.
 */
export type Dropping = (parts: ExprId[], hasAnd: boolean, hasOpen: boolean) => boolean

let dropContained: Dropping = () => false

/** Sets how choices lose contained operands. Without it the same languages have more states. */
export function setDropping(drop: Dropping): void {
  dropContained = drop
}

/** Returns the operands with one law applied wherever possible, or null if none applies. */
function mergeParts(parts: ExprId[]): ExprId[] | null {
  let hasAnd = false
  let hasOpen = false
  let changed = false
  let set = -1
  // Heads (sets) and loops by their tails.
  let heads: Map<number, number> | null = null
  let [firstIndex, firstKey] = [-1, 0]
  for (let i = 0; i < parts.length; i++) {
    const id = parts[i]
    const kind = kindOf(id)
    if (kind === Kind.Set) {
      if (set >= 0) {
        const union = uniteSets(parts[set], id)
        if (union >= 0) {
          parts[set] = union
          parts[i] = Never
          changed = true
        }
      } else set = i
    } else if (kind === Kind.And) hasAnd = true
    else if (kind === Kind.Diff) {
      if (parts.includes(at(id, 2))) return [at(id, 1)]
    } else if (id === Empty) {
      if (parts.some((other) => other !== Empty && isSurelyNullable(other))) {
        parts[i] = Never
        changed = true
      }
    } else if (kind === Kind.Concat || kind === Kind.Loop) {
      const head = kind === Kind.Loop ? id : at(id, 1)
      const tail = kind === Kind.Loop ? Empty : at(id, 2)
      const headKind = kindOf(head)
      hasOpen ||= kind === Kind.Concat && isNullable(head)
      if (headKind !== Kind.Set && headKind !== Kind.Loop) continue
      if (headKind === Kind.Loop && at(head, 2) === 1 && parts.includes(tail)) {
        parts[parts.indexOf(tail)] = Never
        parts[i] = concat(loop(at(head, 1), 0, at(head, 3)), tail)
        changed = true
        continue
      }
      // Loops are keyed by body and tail, sets by tail only.
      const key = headKind === Kind.Set ? tail : -1 - at(head, 1) - tail * 0x100000000
      // The map is made for the second one, since most operands have no other.
      if (firstIndex < 0) {
        firstIndex = i
        firstKey = key
        continue
      }
      heads ??= new Map([[firstKey, firstIndex]])
      const earlier = heads.get(key)
      if (earlier === undefined) {
        heads.set(key, i)
        continue
      }
      const joined = joinHeads(parts[earlier], id)
      if (joined >= 0) {
        parts[earlier] = joined
        parts[i] = Never
        changed = true
      }
    }
  }
  if (changed) return parts
  return dropContained(parts, hasAnd, hasOpen) ? parts : null
}

/**
 * Returns one expression for operands with the same tail whose heads are sets, or loops of one
 * body; -1 if there is none.
 */
function joinHeads(a: ExprId, b: ExprId): ExprId {
  const [headA, tail] = kindOf(a) === Kind.Loop ? [a, Empty] : [at(a, 1), at(a, 2)]
  const headB = kindOf(b) === Kind.Loop ? b : at(b, 1)
  if (kindOf(headA) !== kindOf(headB)) return -1
  if (kindOf(headA) === Kind.Set) {
    const union = uniteSets(headA, headB)
    return union < 0 ? -1 : concat(union, tail)
  }
  const [minA, maxA, minB, maxB] = [at(headA, 2), at(headA, 3), at(headB, 2), at(headB, 3)]
  if (at(headA, 1) !== at(headB, 1) || minB > addBounds(maxA, 1) || minA > addBounds(maxB, 1)) return -1
  return concat(loop(at(headA, 1), Math.min(minA, minB), Math.max(maxA, maxB)), tail)
}

/**
 * Laws: ∅ & r = ∅; Σ* & r = r; r & r = r; sets intersect; ε & r = ε or ∅; ¬a & ¬b = ¬(a | b); r &
 * ¬(r | s) = ∅; r & (r | s) = r; C{a,b} & C{c,d} = C{max,min} for characters C. With an assertion
 * inside it is distributed over `or`: a repeated assertion keeps adding conjuncts, and only a
 * disjunctive form keeps them finite.
 */
export function and(ids: readonly ExprId[]): ExprId {
  let universe = -1
  const parts: ExprId[] = []
  for (const id of ids) {
    if (id === Never) return Never
    if (flags(id) & Universe) universe = id
    else if (kindOf(id) === Kind.And) for (let i = 1; i < length(id); i++) parts.push(at(id, i))
    else parts.push(id)
  }
  if (parts.length === 0) {
    if (universe < 0) return anyText
    return universe
  }
  sortIds(parts)
  if (parts.length === 1) return parts[0]
  if (parts[0] === Empty && parts.every((id) => (flags(id) & Inherited) === 0)) {
    return parts.every(isNullable) ? Empty : Never
  }
  const merged = meetParts(parts)
  if (merged !== null) return and(merged)
  let made = Nullable | Searched
  for (const id of parts) {
    made |= flags(id) & Inherited
    if (!isNullable(id)) made &= ~Nullable
  }
  if (made & Asserts) {
    const choice = parts.find((id) => kindOf(id) === Kind.Or)
    if (choice !== undefined) return distribute(parts, choice)
  }
  return intern([Kind.And, ...parts], made)
}

/** Returns the operands with the laws applied, or null if none applies. */
function meetParts(parts: ExprId[]): ExprId[] | null {
  let [set, negative, characters] = [-1, -1, -1]
  let changed = false
  for (let i = 0; i < parts.length; i++) {
    const id = parts[i]
    switch (kindOf(id)) {
      case Kind.Set: {
        const meet = set < 0 ? -1 : intersectSets(parts[set], id)
        if (set < 0) set = i
        if (meet >= 0) {
          parts[set] = meet
          parts[i] = anyText
          changed = true
        }
        break
      }
      case Kind.Diff:
        if (negative < 0) negative = i
        else if (at(parts[negative], 1) === at(id, 1)) return joinNegatives(parts, at(id, 1))
        break
      case Kind.Loop: {
        const body = at(id, 1)
        if (kindOf(body) !== Kind.Set) break
        if (characters >= 0 && at(parts[characters], 1) === body) {
          const [a, b] = [parts[characters], id]
          parts[characters] = loop(body, Math.max(at(a, 2), at(b, 2)), Math.min(at(a, 3), at(b, 3)))
          parts.splice(i, 1)
          return parts
        }
        characters = i
        break
      }
      case Kind.Or:
        if (members(id).some((member) => parts.includes(member))) {
          parts.splice(i, 1)
          return parts
        }
    }
  }
  if (negative >= 0) {
    const removed = at(parts[negative], 2)
    if (parts.includes(removed)) return [Never]
    if (kindOf(removed) === Kind.Or && members(removed).some((id) => parts.includes(id))) return [Never]
  }
  return changed ? parts.filter((id) => id !== anyText) : null
}

/** Joins the differences from `universe` to one, all at once, since there may be thousands. */
function joinNegatives(parts: readonly ExprId[], universe: ExprId): ExprId[] {
  const isNegative = (id: ExprId) => kindOf(id) === Kind.Diff && at(id, 1) === universe
  const removed = parts.filter(isNegative).map((id) => at(id, 2))
  return [diff(universe, or(removed)), ...parts.filter((id) => !isNegative(id))]
}

function distribute(parts: readonly ExprId[], choice: ExprId): ExprId {
  const rest = parts.filter((id) => id !== choice)
  const terms = members(choice).map((member) => and([member, ...rest]))
  const result = or(terms)
  if (length(result) > exprBounds.lookaroundTerms)
    throw limitError(exprBounds, "lookaroundTerms", length(result))
  return result
}

/**
 * Returns the texts of `universe` (Σ*, or what is left of it) that are not in `id`. Laws: U \ ∅ =
 * U; U \ U = ∅; U \ (U \ r) = r; U \ (r | (U \ s)) = s & (U \ r), which reveals the operands of an
 * intersection; the complement of at most n characters is at least n + 1, and conversely.
 */
export function diff(universe: ExprId, id: ExprId): ExprId {
  if (id === Never) return universe
  if (id === universe || flags(id) & Universe) return Never
  if (kindOf(id) === Kind.Diff && at(id, 1) === universe) return at(id, 2)
  if (universe === anyText && kindOf(id) === Kind.Loop && at(id, 1) === anyChar) {
    const [min, max] = [at(id, 2), at(id, 3)]
    if (min === 0) return loop(anyChar, max + 1, Unbounded)
    if (max === Unbounded) return loop(anyChar, 0, min - 1)
  }
  if (kindOf(id) === Kind.Or && (flags(id) & Inherited) === 0) {
    const isNegative = (part: ExprId) => kindOf(part) === Kind.Diff && at(part, 1) === universe
    const parts = members(id)
    if (parts.some(isNegative)) {
      const kept = parts.filter(isNegative).map((part) => at(part, 2))
      return and([...kept, diff(universe, or(parts.filter((part) => !isNegative(part))))])
    }
  }
  const made = (flags(id) & Inherited) | Searched | (isNullable(universe) && !isNullable(id) ? Nullable : 0)
  return intern([Kind.Diff, universe, id], made)
}

/**
 * Returns `min` to `max` (or Unbounded) times `body`, which must read something if it holds
 * assertions. An iteration that consumes nothing is dropped: ε ∈ X ⇒ X{m,n} = X{0,n}. Laws: ∅{0,n}
 * = ε; X{1,1} = X; X{0,1} = ε | X; (ε | X){m,n} = X{0,n}; nested bounds multiply if their sums
 * leave no gap.
 */
export function loop(body: ExprId, min: number, max: number): ExprId {
  // No text reaches such counts: a loop keeps 31 bits of each.
  if (max >= Unbounded && (max > Unbounded || min > MaxCount))
    return loop(body, Math.min(min, MaxCount), Unbounded)
  if (min > max) return Never
  if (max === 0 || body === Empty) return Empty
  if (body === Never) return min === 0 ? Empty : Never
  if (flags(body) & Inherited) return assertingLoop(body, min, max)
  if (body === anyText) return anyText
  const least = isNullable(body) ? 0 : min
  if (least === 1 && max === 1) return body
  if (kindOf(body) === Kind.Or && at(body, 1) === Empty) return loop(or(members(body).slice(1)), 0, max)
  if (max === 1) return or([Empty, body])
  if (kindOf(body) === Kind.Loop) {
    const [a, b] = [at(body, 2), at(body, 3)]
    // Sums of j numbers in [a, b] fill [a·j, b·j]. The next interval must touch it, which is
    // hardest for the least j.
    if (min === max || a * (min + 1) <= addBounds(multiplyBounds(b, min), 1)) {
      return loop(at(body, 1), a * min, multiplyBounds(b, max))
    }
  }
  return makeLoop(body, least, max)
}

function makeLoop(body: ExprId, min: number, max: number): ExprId {
  const facts = flags(body) & Inherited
  if (min === 1 && max === 1) return body
  if (body === anyChar && min === 0 && max === Unbounded) return anyText
  return intern([Kind.Loop, body, min, max], facts | (min === 0 ? Nullable : flags(body) & Searched))
}

/** Repeats a body with assertions. It reads something (`look/repeat.ts`): no ε law applies. */
function assertingLoop(body: ExprId, min: number, max: number): ExprId {
  if (max === 0) return Empty
  if (min === 1 && max === 1) return body
  return max === 1 ? or([Empty, body]) : makeLoop(body, min, max)
}
