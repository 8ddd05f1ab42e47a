/**
 * Assertions as nodes: lookaheads inside repetitions, lookbehinds, ends, and repetitions of bodies that hold them.
 *
 * `look` and `end` speak about all that follows, `behind` about all before; `derivative.ts` says how they read. A
 * repetition drops iterations that read nothing, as ECMAScript does, so its body is split into the part that reads
 * and the conditions under which it may stand idle.
 */
import { fixedBounds, limitError } from "../../errors.ts"
import { and, anyText, concat, loop, or } from "./build.ts"
import {
  Asserts,
  at,
  BehindKind,
  ConcatKind,
  Empty,
  EmptyKind,
  EndKind,
  type ExprId,
  flags,
  Inherited,
  intern,
  isNullable,
  isSurelyNullable,
  kindOf,
  LookKind,
  LooksBack,
  LoopKind,
  members,
  Never,
  NeverKind,
  Nullable,
  OrKind,
  ScopeKind,
  Searched,
  SetKind,
  Unbounded,
  Universe,
} from "./nodes.ts"
import { anyChar } from "./sets.ts"

/**
 * A body with assertions N | E, where N consumes and E holds or not without consuming. Fewer than `min` iterations of N
 * are enough if E holds at some place between them.
 */
export function repeat(body: ExprId, min: number, max: number): ExprId {
  if ((flags(body) & Inherited) === 0 || min > max || max === 0) return loop(body, min, max)
  const consuming = consumingPart(body)
  const idle = idlePart(body)
  if (consuming === Never) return min === 0 ? Empty : idle
  const certain = isSurelyNullable(idle)
  if (min === 0 || certain) return loop(consuming, 0, max)
  if (idle === Never) return loop(consuming, min, max)
  if (min > fixedBounds.unrolled) throw limitError(fixedBounds, "unrolled", min)
  const options = [loop(consuming, min, max)]
  for (let before = 0; before < min; before++) {
    options.push(concat(loop(consuming, before, before), concat(idle, loop(consuming, 0, min - 1 - before))))
  }
  return or(options)
}

/** The texts of `id` that read at least one byte. */
function consumingPart(id: ExprId): ExprId {
  switch (kindOf(id)) {
    case NeverKind:
    case EmptyKind:
    case LookKind:
    case BehindKind:
    case EndKind:
      return Never
    case ConcatKind: {
      const [head, tail] = [at(id, 1), at(id, 2)]
      return or([concat(consumingPart(head), tail), concat(idlePart(head), consumingPart(tail))])
    }
    case OrKind:
      return or(members(id).map(consumingPart))
    case LoopKind:
      // Bodies with assertions already consume; others may hold ε, which the first iteration must not take.
      if (flags(at(id, 1)) & Inherited) return loop(at(id, 1), Math.max(1, at(id, 2)), at(id, 3))
      if (at(id, 2) > 0) return id
      return concat(
        consumingPart(at(id, 1)),
        loop(at(id, 1), 0, at(id, 3) === Unbounded ? Unbounded : at(id, 3) - 1),
      )
    case SetKind:
      return id
    default:
      return isNullable(id) ? and([id, concat(anyChar, anyText)]) : id
  }
}

/** What must hold for `id` to match without reading a byte. */
function idlePart(id: ExprId): ExprId {
  switch (kindOf(id)) {
    case LookKind:
    case BehindKind:
    case EndKind:
      return id
    case ConcatKind:
      return concat(idlePart(at(id, 1)), idlePart(at(id, 2)))
    case OrKind:
      return or(members(id).map(idlePart))
    default:
      return isNullable(id) ? Empty : Never
  }
}

/** Here the rest of the text is (`negative`: is not) in `id`. Stands only inside repetitions: elsewhere it is an `and`. */
export function look(id: ExprId, negative: boolean): ExprId {
  if (id === Never) return negative ? Empty : Never
  if (flags(id) & Universe) return negative ? Never : Empty
  const made = Asserts | Searched | (flags(id) & LooksBack) | (isNullable(id) !== negative ? Nullable : 0)
  return intern([LookKind, id, negative ? 1 : 0], made)
}

/** Here the text so far is (`negative`: is not) in the language whose remainder after that text is `id`. */
export function behind(id: ExprId, negative: boolean): ExprId {
  if (id === Never) return negative ? Empty : Never
  if (flags(id) & Universe) return negative ? Never : Empty
  return intern(
    [BehindKind, id, negative ? 1 : 0],
    LooksBack | Searched | (isNullable(id) !== negative ? Nullable : 0),
  )
}

/** Nothing follows. */
export const end: ExprId = intern([EndKind], Asserts | Searched | Nullable)

/** `end` in front of `rest`, which is all that follows: ε if that may be empty, where this does not depend on the text before. */
export function ended(rest: ExprId): ExprId {
  if (flags(rest) & Inherited) return intern([ConcatKind, end, rest], endedFlags(rest))
  return isNullable(rest) ? Empty : Never
}

function endedFlags(rest: ExprId): number {
  return Asserts | Searched | (flags(rest) & (LooksBack | Nullable))
}

/** Seals a whole pattern: its assertions see no text but its own. */
export function scope(id: ExprId): ExprId {
  return flags(id) & Inherited ? intern([ScopeKind, id], flags(id) & (Nullable | Searched)) : id
}
