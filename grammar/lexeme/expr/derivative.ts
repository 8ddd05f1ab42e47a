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
 * A state of an automaton is an expression, a step is its derivative, and a state accepts where ε is in it (Brzozowski 1964;
 * Owens, Reppy, Turon 2009). All bytes are read at once, as a *row* of byte ranges with their targets, so each equation is
 * applied once per class of bytes and nothing is looked up byte by byte. Rows are memoised and interned. Kinds of
 * expressions that have a module of their own (`machine.ts`, `look/assertions.ts`) register their equations here; only that
 * module makes such an expression, so none can be met before its equation is known.
 */
import { checkTime } from "../../deadline.ts"
import { fixedBounds, limitError } from "../../errors.ts"
import { TupleTable } from "../../intern.ts"
import { and, concat, diff, loop, or } from "./build.ts"
import {
  AndKind,
  at,
  ConcatKind,
  DiffKind,
  Empty,
  EmptyKind,
  type ExprId,
  ExprMemo,
  exprWords,
  flags,
  Inherited,
  isNullable,
  kindOf,
  LookKind,
  LoopKind,
  members,
  Never,
  NeverKind,
  OrKind,
  SetKind,
  Unbounded,
} from "./nodes.ts"
import { pushRange } from "./sets.ts"

/** Rows by id: `lo | hi << 8, target, …` as in `sets.ts`. */
let rows = new TupleTable()
const emptyRow = rows.intern([])
let derivatives = new ExprMemo()

/** Bytes of all rows made so far: what `forgetDerivatives` gives back. */
export function derivativeBytes(): number {
  return rows.bytes + derivatives.bytes
}

/** Forgets all rows; they are made again when they are asked for, from the same expressions. */
export function forgetDerivatives(): void {
  const [table, memo] = [new TupleTable(), new ExprMemo()]
  table.intern([])
  rows = table
  derivatives = memo
}

/** How the expressions of one kind are read. */
export interface DerivativeRule {
  /** The id of the row of `id`: what `combine`, `rowOf` or `addRow` returned. */
  row(id: ExprId): number
  /** The derivative by one byte where the row had better not be made; -1 where it may be. */
  step?(id: ExprId, byte: number): ExprId
}

/** By kind; the kinds of the equations above have none. */
const rules: DerivativeRule[] = []

/** Says how expressions of `kind` are read. The rule of `LookKind` reads all that hold an assertion, of whatever kind they are. */
export function register(kind: number, rule: DerivativeRule): void {
  rules[kind] = rule
}

/** The derivatives of `id`: ascending ranges `lo | hi << 8` with their targets; bytes left out lead to ∅. */
export function derivativeRow(id: ExprId): Int32Array {
  return rows.view(rowOf(id))
}

/** What may follow once `id` has read `byte`. The first call for an expression costs a constructor call per range. */
export function derivative(id: ExprId, byte: number): ExprId {
  if (derivatives.get(id) < 0) {
    const next = rules[kindOf(id)]?.step?.(id, byte) ?? -1
    if (next >= 0) return next
  }
  const row = rowOf(id)
  const { values } = rows
  const end = rows.offsets[row + 1]
  for (let i = rows.offsets[row]; i < end; i += 2) {
    const range = values[i]
    if (byte <= range >>> 8) return byte >= (range & 0xff) ? values[i + 1] : Never
  }
  return Never
}

/** The id of a row that is given as its ranges and targets. */
export function addRow(row: readonly number[]): number {
  return rows.intern(row)
}

/** In place of a row: those that it is made of come first, and the rule is run again. */
const Waiting = -1
/** Expressions whose rows are wanted; each waits for those behind it. */
const wanted: ExprId[] = []

/**
 * The id of the row of `id`. Keeps a stack of its own, since patterns nest deeper than calls may. Throws `limit` where that
 * makes too many expressions: long chains of optional parts are quadratic.
 */
export function rowOf(id: ExprId): number {
  const known = derivatives.get(id)
  if (known >= 0) return known
  const bound = exprWords() + fixedBounds.derivativeWords
  const start = wanted.length
  wanted.push(id)
  try {
    for (;;) {
      checkTime()
      const last = wanted[wanted.length - 1]
      // It is known already where two waited for it.
      const earlier = derivatives.get(last)
      const row = earlier < 0 ? findRow(last) : earlier
      if (row === Waiting) continue
      derivatives.set(last, row)
      wanted.pop()
      if (wanted.length === start) return row
      if (exprWords() > bound) {
        throw limitError(fixedBounds, "derivativeWords", exprWords() - bound + fixedBounds.derivativeWords)
      }
    }
  } finally {
    wanted.length = start
  }
}

function findRow(id: ExprId): number {
  return flags(id) & Inherited ? rules[LookKind].row(id) : findPlainRow(id)
}

/** The row of an expression whose operands are read without regard to assertions: the equations above. */
export function findPlainRow(id: ExprId): number {
  switch (kindOf(id)) {
    case NeverKind:
    case EmptyKind:
      return emptyRow
    case SetKind:
      return rows.intern(members(id))
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

/**
 * The row whose target by each byte is `by` of the targets of `ids`; where all of these are ∅ it is ∅. Returns `Waiting` where
 * one of their rows is still to be made.
 */
export function combine(ids: readonly ExprId[], by: (targets: readonly ExprId[]) => ExprId): number {
  const before = wanted.length
  for (const id of ids) if (derivatives.get(id) < 0) wanted.push(id)
  if (wanted.length > before) return Waiting
  const { offsets, values } = rows
  const cursors: number[] = []
  const ends: number[] = []
  for (const id of ids) {
    const row = derivatives.get(id)
    cursors.push(offsets[row])
    ends.push(offsets[row + 1])
  }
  const count = ids.length
  const row: number[] = []
  const targets: ExprId[] = new Array(count).fill(Never)
  for (let byte = 0; byte < 256; ) {
    let hi = 255
    let isLive = false
    for (let i = 0; i < count; i++) {
      let cursor = cursors[i]
      if (cursor < ends[i] && values[cursor] >>> 8 < byte) cursors[i] = cursor += 2
      targets[i] = Never
      if (cursor >= ends[i]) continue
      const range = values[cursor]
      if ((range & 0xff) > byte) {
        hi = Math.min(hi, (range & 0xff) - 1)
      } else {
        hi = Math.min(hi, range >>> 8)
        targets[i] = values[cursor + 1]
        isLive = true
      }
    }
    if (isLive) pushRange(row, byte, hi, by(targets))
    byte = hi + 1
  }
  return rows.intern(row)
}

/** The least byte that goes on with a character. */
const FirstTail = 0x80

/**
 * As `combine`, for operators that leave a common beginning alone: h·r ∘ h·s = h·(r ∘ s) where no text of h begins another
 * one. After the first byte of a character nearly all targets begin with the rest of it, and go on as after characters of
 * one byte: so the ten ranges of first bytes take one call of `by`.
 */
function combineFactored(ids: readonly ExprId[], by: (targets: readonly ExprId[]) => ExprId): number {
  // What was combined last, and to what: what follows the last characters of one byte nearly always follows all others.
  let last: readonly ExprId[] = []
  let made: ExprId = Never
  const combineOnce = (targets: readonly ExprId[]): ExprId => {
    if (last.length === 0 || targets.some((target, i) => target !== last[i])) {
      made = by(targets)
      last = targets.slice()
    }
    return made
  }
  return combine(ids, (targets) => {
    const head = commonTail(targets)
    if (head < 0) return combineOnce(targets)
    return concat(head, combineOnce(targets.map((target) => (target === Never ? Never : afterTail(target)))))
  })
}

/** The rest of a character with which all of `targets` begin that are not ∅; -1 where they do not. */
function commonTail(targets: readonly ExprId[]): ExprId {
  let head = -1
  for (const target of targets) {
    if (target === Never) continue
    const first = kindOf(target) === ConcatKind ? at(target, 1) : target
    if (head < 0) {
      if (kindOf(first) !== SetKind || (at(first, 1) & 0xff) < FirstTail) return -1
      head = first
    } else if (first !== head) return -1
  }
  return head
}

/** What follows the rest of a character with which `id` begins. */
function afterTail(id: ExprId): ExprId {
  return kindOf(id) === ConcatKind ? at(id, 2) : Empty
}
