/**
 * What may still follow once an expression has read a byte: its derivative D by that byte.
 *
 *     D(∅) = D(ε) = ∅
 *     D(set)     = what the set says: a set of characters is a table of bytes and what must follow each
 *     D(r·s)     = D(r)·s, and where ε ∈ r also D(s)
 *     D(r | s)   = D(r) | D(s)
 *     D(r & s)   = D(r) & D(s)
 *     D(u \ r)   = D(u) \ D(r), where u is all texts: the complement of r
 *     D(r{m,n})  = D(r)·r{m−1,n−1}
 *
 * A state of an automaton is an expression, a step is its derivative, and a state accepts where ε
 * is in it (Brzozowski 1964; Owens, Reppy, Turon 2009). All bytes are read at once, as a *row* of
 * byte ranges with their targets (`rows.ts`), so each equation is applied once per class of bytes.
 * Kinds of expressions that have a module of their own (`machine.ts`, `look/assertions.ts`)
 * register their equations here; only that module makes such an expression, so none can be met
 * before its equation is known.
 */
import { and, concat, diff, loop, or } from "./build.ts"
import {
  AndKind,
  at,
  ConcatKind,
  DiffKind,
  EmptyKind,
  type ExprId,
  flags,
  Inherited,
  isNullable,
  kindOf,
  LookKind,
  LoopKind,
  members,
  NeverKind,
  OrKind,
  SetKind,
  Unbounded,
} from "./nodes.ts"
import { addRow, combine, combineFactored, knownRow, makeRow, rangesOf, targetAt } from "./rows.ts"

/** How the expressions of one kind are read. */
export interface DerivativeRule {
  /** The id of the row of `id`: what `rowOf` or a function of `rows.ts` returned. */
  row(id: ExprId): number
  /** The derivative by one byte where the row had better not be made; -1 where it may be. */
  step?(id: ExprId, byte: number): ExprId
}

/** By kind; the kinds of the equations above have none. */
const rules: DerivativeRule[] = []

/**
 * Says how expressions of `kind` are read. The rule of `LookKind` reads all that hold an assertion,
 * of whatever kind they are.
 */
export function register(kind: number, rule: DerivativeRule): void {
  rules[kind] = rule
}

/**
 * The derivatives of `id`: ascending ranges `lo | hi << 8` with their targets; bytes left out lead
 * to ∅.
 */
export function derivativeRow(id: ExprId): Int32Array {
  return rangesOf(rowOf(id))
}

/**
 * What may follow once `id` has read `byte`. The first call for an expression costs a constructor
 * call per range.
 */
export function derivative(id: ExprId, byte: number): ExprId {
  const row = knownRow(id)
  if (row >= 0) return targetAt(row, byte)
  const next = rules[kindOf(id)]?.step?.(id, byte) ?? -1
  return next >= 0 ? next : targetAt(rowOf(id), byte)
}

/**
 * The id of the row of `id`. Throws `limit` where it, and what it needs, make too many expressions.
 */
export function rowOf(id: ExprId): number {
  const row = knownRow(id)
  return row >= 0 ? row : makeRow(id, findRow)
}

function findRow(id: ExprId): number {
  return flags(id) & Inherited ? rules[LookKind].row(id) : findPlainRow(id)
}

/**
 * The row of an expression whose operands are read without regard to assertions: the equations
 * above.
 */
export function findPlainRow(id: ExprId): number {
  switch (kindOf(id)) {
    case NeverKind:
    case EmptyKind:
      return addRow([])
    case SetKind:
      return addRow(members(id))
    case ConcatKind: {
      const [head, tail] = [at(id, 1), at(id, 2)]
      if (!isNullable(head)) return combine([head], ([read]) => concat(read, tail))
      return combineFactored([head, tail], ([read, skipped]) => or([concat(read, tail), skipped]))
    }
    case OrKind:
      return combineFactored(members(id), or)
    case AndKind:
      return combineFactored(members(id), and)
    case DiffKind:
      return combineFactored([at(id, 1), at(id, 2)], ([universe, removed]) => diff(universe, removed))
    case LoopKind: {
      const body = at(id, 1)
      const rest = loop(body, ...boundsAfterOne(id))
      return combine([body], ([read]) => concat(read, rest))
    }
    default:
      return rules[kindOf(id)].row(id)
  }
}

/** The bounds of a loop after one iteration. */
export function boundsAfterOne(loop: ExprId): readonly [min: number, max: number] {
  const max = at(loop, 3)
  return [Math.max(0, at(loop, 2) - 1), max === Unbounded ? Unbounded : max - 1]
}
