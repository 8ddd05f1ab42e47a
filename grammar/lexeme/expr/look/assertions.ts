/**
 * Assertions as expressions: lookaheads inside repetitions, lookbehinds, and ends; and the
 * derivatives of expressions that contain them.
 *
 * `look` and `end` are about all that follows, so they stand at the head of what follows:
 * D(look(s)·k) = D(s) & D(k), and without D(s) if the assertion is negative. `behind(a)` is about
 * all before: `a` is what remains of the lookbehind's automaton after the text so far. At the head
 * of what follows it is ε or ∅, by whether ε ∈ a. After a head it has to read what the head reads.
 * So D(h·k) = D(h)·k′, where k′ is k with the same byte read in front of it: the *shift* of k. The
 * shift is a derivative too, that of any byte followed by k, and is computed as one. It changes
 * only what looks back.
 */
import { and, anyText, concat, diff, loop, or } from "../build.ts"
import { boundsAfterOne, findPlainRow, register } from "../derivative.ts"
import {
  Asserts,
  at,
  Empty,
  type ExprId,
  flags,
  Inherited,
  intern,
  isNullable,
  Kind,
  kindOf,
  LooksBack,
  members,
  Never,
  Nullable,
  Searched,
  Universe,
} from "../nodes.ts"
import { addRow, combine } from "../rows.ts"
import { byteRange } from "../sets.ts"

/**
 * Returns an assertion that the rest of the text is (`negative`: is not) in `id`. Used only inside
 * repetitions; elsewhere it is an `and`.
 */
export function look(id: ExprId, negative: boolean): ExprId {
  if (id === Never) return negative ? Empty : Never
  if (flags(id) & Universe) return negative ? Never : Empty
  const made = Asserts | Searched | (flags(id) & LooksBack) | (isNullable(id) !== negative ? Nullable : 0)
  return intern([Kind.Look, id, negative ? 1 : 0], made)
}

/**
 * Returns an assertion that the text so far is (`negative`: is not) in the language whose remainder
 * after that text is `id`.
 */
export function behind(id: ExprId, negative: boolean): ExprId {
  if (id === Never) return negative ? Empty : Never
  if (flags(id) & Universe) return negative ? Never : Empty
  return intern(
    [Kind.Behind, id, negative ? 1 : 0],
    LooksBack | Searched | (isNullable(id) !== negative ? Nullable : 0),
  )
}

/** Asserts that nothing follows. */
export const end: ExprId = intern([Kind.End], Asserts | Searched | Nullable)

/**
 * Returns `end` in front of `rest`, which is all that follows: ε if `rest` may be empty, otherwise
 * ∅, unless that depends on the text before.
 */
export function ended(rest: ExprId): ExprId {
  if (flags(rest) & Inherited) return intern([Kind.Concat, end, rest], endedFlags(rest))
  return isNullable(rest) ? Empty : Never
}

function endedFlags(rest: ExprId): number {
  return Asserts | Searched | (flags(rest) & (LooksBack | Nullable))
}

/** Seals a whole pattern: its assertions see only its own text. */
export function scope(id: ExprId): ExprId {
  return flags(id) & Inherited ? intern([Kind.Scope, id], flags(id) & (Nullable | Searched)) : id
}

register(Kind.Look, { row: rowOfAsserting })
register(Kind.Scope, { row: (id) => combine([at(id, 1)], ([inner]) => scope(inner)) })
register(Kind.Shift, { row: (id) => rowOfShift(at(id, 1)) })

/** Returns the row of an expression that contains an assertion. */
function rowOfAsserting(id: ExprId): number {
  switch (kindOf(id)) {
    case Kind.Look:
    case Kind.Behind:
    case Kind.End:
      return addRow([])
    case Kind.Concat: {
      const [head, tail] = [at(id, 1), at(id, 2)]
      if (flags(head) & Asserts) return rowBehindAssertion(head, tail)
      if (!looksBack(tail)) return findPlainRow(id)
      if (!isNullable(head)) return combine([head, shift(tail)], ([read, rest]) => concat(read, rest))
      return combine([head, shift(tail), tail], ([read, rest, skipped]) => or([concat(read, rest), skipped]))
    }
    case Kind.Loop: {
      if (flags(id) & Asserts) return combine([unfold(id, Empty)], ([only]) => only)
      const [min, max] = boundsAfterOne(id)
      return combine([at(id, 1), shift(at(id, 1))], ([read, body]) => concat(read, loop(body, min, max)))
    }
    default:
      return findPlainRow(id)
  }
}

/** Returns the row of an assertion, or of a repetition with one in it, and all that follows. */
function rowBehindAssertion(head: ExprId, tail: ExprId): number {
  switch (kindOf(head)) {
    case Kind.Look:
      return combine([tail, at(head, 1), anyText], ([rest, seen, all]) => {
        if (at(head, 2) === 0) return and([rest, seen, all])
        return rest === Never ? Never : and([rest, diff(all, seen)])
      })
    case Kind.Loop: {
      const unfolded = unfold(head, tail)
      return combine(at(head, 2) === 0 ? [unfolded, tail] : [unfolded], or)
    }
    default:
      return addRow([])
  }
}

/**
 * Unfolds a repeated assertion once in front of the loop's tail, because the assertion sees the
 * tail.
 */
function unfold(id: ExprId, tail: ExprId): ExprId {
  return concat(at(id, 1), concat(loop(at(id, 1), ...boundsAfterOne(id)), tail))
}

function looksBack(id: ExprId): boolean {
  return (flags(id) & LooksBack) !== 0
}

/** Returns any byte followed by `id` as it stands after that byte. */
function shift(id: ExprId): ExprId {
  return intern([Kind.Shift, id], 0)
}

/** An operand of `combine` that has a target for every byte, whatever the other operands have. */
const anyByte = byteRange(0, 0xff)

/** Returns the row of `id` after a byte in front of it. It covers every byte. */
function rowOfShift(id: ExprId): number {
  if (!looksBack(id)) return addRow(id === Never ? [] : [0xff00, id])
  switch (kindOf(id)) {
    case Kind.Behind:
      return combine([at(id, 1), anyByte], ([left]) => behind(left, at(id, 2) === 1))
    case Kind.Look:
      return combine([shift(at(id, 1)), anyByte], ([seen]) => look(seen, at(id, 2) === 1))
    case Kind.Loop:
      return combine([shift(at(id, 1)), anyByte], ([body]) => loop(body, at(id, 2), at(id, 3)))
    case Kind.Diff:
      // The left side is all texts and does not look back.
      return combine([shift(at(id, 2)), anyByte], ([removed]) => diff(at(id, 1), removed))
    case Kind.Concat:
      return combine([shift(at(id, 1)), shift(at(id, 2)), anyByte], ([head, tail]) => concat(head, tail))
    case Kind.Or:
      return combine([...members(id).map(shift), anyByte], (targets) => or(targets.slice(0, -1)))
    case Kind.And:
      return combine([...members(id).map(shift), anyByte], (targets) => and(targets.slice(0, -1)))
    default:
      throw new Error(`internal: expression ${id} does not look back`)
  }
}
