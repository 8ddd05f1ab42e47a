/**
 * The derivative D of an expression by a byte: what may still follow once it has read that byte.
 *
 *     D(∅) = D(ε) = ∅
 *     D(set)     = the target of the byte: a set is a table of bytes and what must follow each
 *     D(r·s)     = D(r)·s, and if ε ∈ r also D(s)
 *     D(r | s)   = D(r) | D(s)
 *     D(r & s)   = D(r) & D(s)
 *     D(u \ r)   = D(u) \ D(r), where u is all texts: the complement of r
 *     D(r{m,n})  = D(r)·r{m−1,n−1}
 *
 * A state of an automaton is an expression, a step is its derivative, and a state accepts if it
 * contains ε (Brzozowski 1964; Owens, Reppy, Turon 2009). All bytes are read at once, as a *row* of
 * byte ranges with their targets (`rows.ts`), so each equation is applied once per class of bytes.
 * Modules with kinds of their own (`machine.ts`, `look/assertions.ts`) register their equations
 * here. Only these modules make such expressions, so every equation is known before it is needed.
 */
import { and, concat, diff, loop, or } from "./build.ts"
import { at, type ExprId, flags, Inherited, isNullable, Kind, kindOf, members, Unbounded } from "./nodes.ts"
import { addRow, combine, combineFactored, knownRow, makeRow, rangesOf, targetAt } from "./rows.ts"

/** How the expressions of one kind are read. */
export interface DerivativeRule {
  /** Returns the id of the row of `id`, from `rowOf` or a function of `rows.ts`. */
  row(id: ExprId): number
  /** Returns the derivative by one byte if that is cheaper than the row; otherwise -1. */
  step?(id: ExprId, byte: number): ExprId
}

/** Rules by kind. The kinds of the equations above have none. */
const rules: DerivativeRule[] = []

/**
 * Sets how expressions of `kind` are read. The rule of `Kind.Look` reads all expressions with an
 * assertion, of any kind.
 */
export function register(kind: number, rule: DerivativeRule): void {
  rules[kind] = rule
}

/**
 * Returns the derivatives of `id`: ascending ranges `lo | hi << 8` with their targets. Bytes left
 * out lead to ∅.
 */
export function derivativeRow(id: ExprId): Int32Array {
  return rangesOf(rowOf(id))
}

/**
 * Returns the derivative of `id` by `byte`. The first call for an expression costs a constructor
 * call per range.
 */
export function derivative(id: ExprId, byte: number): ExprId {
  const row = knownRow(id)
  if (row >= 0) return targetAt(row, byte)
  const next = rules[kindOf(id)]?.step?.(id, byte) ?? -1
  return next >= 0 ? next : targetAt(rowOf(id), byte)
}

/** Returns the id of the row of `id`. Throws `limit` if that takes too many expressions. */
export function rowOf(id: ExprId): number {
  const row = knownRow(id)
  return row >= 0 ? row : makeRow(id, findRow)
}

function findRow(id: ExprId): number {
  return flags(id) & Inherited ? rules[Kind.Look].row(id) : findPlainRow(id)
}

/** Returns the row of an expression by the equations above, which ignore assertions. */
export function findPlainRow(id: ExprId): number {
  switch (kindOf(id)) {
    case Kind.Never:
    case Kind.Empty:
      return addRow([])
    case Kind.Set:
      return addRow(members(id))
    case Kind.Concat: {
      const [head, tail] = [at(id, 1), at(id, 2)]
      if (!isNullable(head)) return combine([head], ([read]) => concat(read, tail))
      return combineFactored([head, tail], ([read, skipped]) => or([concat(read, tail), skipped]))
    }
    case Kind.Or:
      return combineFactored(members(id), or)
    case Kind.And:
      return combineFactored(members(id), and)
    case Kind.Diff:
      return combineFactored([at(id, 1), at(id, 2)], ([universe, removed]) => diff(universe, removed))
    case Kind.Loop: {
      const body = at(id, 1)
      const rest = loop(body, ...boundsAfterOne(id))
      return combine([body], ([read]) => concat(read, rest))
    }
    default:
      return rules[kindOf(id)].row(id)
  }
}

/** Returns the bounds of a loop after one iteration. */
export function boundsAfterOne(loop: ExprId): readonly [min: number, max: number] {
  const max = at(loop, 3)
  return [Math.max(0, at(loop, 2) - 1), max === Unbounded ? Unbounded : max - 1]
}
