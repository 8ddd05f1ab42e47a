/**
 * Rows: all derivatives of an expression at once, as ascending byte ranges `lo | hi << 8` with
 * their targets.
 *
 * A rule (`derivative.ts`) makes the row of an expression by combining other rows range by range,
 * so a class of bytes costs one constructor call. Rows are interned, and memoized by expression. A
 * rule that needs a missing row is run again once that row exists. This takes no recursion, because
 * patterns may nest deeper than calls.
 */
import { checkTime } from "../../deadline.ts"
import { TupleTable } from "../../intern.ts"
import { limitError } from "../../refusal.ts"
import { owned } from "../../tables.ts"
import { concat } from "./build.ts"
import { at, Empty, type ExprId, ExprMemo, exprBounds, exprWords, Kind, kindOf, Never } from "./nodes.ts"
import { pushRange } from "./sets.ts"

const memo = owned(
  "derivatives",
  {
    /** Rows by id. Bytes that are left out lead to ∅. */
    rows: new TupleTable(),
    /** Id of the row of each expression. */
    ids: new ExprMemo(),
  },
  { forget: forgetDerivatives },
)

/** Forgets all rows. They are made again on demand, from the same expressions. */
function forgetDerivatives(): void {
  const [table, ids] = [new TupleTable(), new ExprMemo()]
  memo.rows = table
  memo.ids = ids
}

/** Returns the id of the row of `id`, or -1 if it has not been made. */
export function knownRow(id: ExprId): number {
  return memo.ids.get(id)
}

/** Returns the ranges and targets of a row. Valid until the next row is made. */
export function rangesOf(row: number): Int32Array {
  return memo.rows.view(row)
}

/** Returns the target of `byte` in a row. */
export function targetAt(row: number, byte: number): ExprId {
  const { values } = memo.rows
  const end = memo.rows.offsets[row + 1]
  for (let i = memo.rows.offsets[row]; i < end; i += 2) {
    const range = values[i]
    if (byte <= range >>> 8) return byte >= (range & 0xff) ? values[i + 1] : Never
  }
  return Never
}

/** Returns the id of a row that is given as its ranges and targets. */
export function addRow(row: readonly number[]): number {
  return memo.rows.intern(row)
}

/** Stands for a row that needs others, which come first; then the rule is run again. */
const Waiting = -1
/** Expressions whose rows are needed. Each waits for those after it. */
const wanted: ExprId[] = []

/**
 * Returns the id of the row of `id`. `rule` makes that row and all that it needs. Throws `limit` if
 * they take too many expressions: long chains of optional parts are quadratic.
 */
export function makeRow(id: ExprId, rule: (id: ExprId) => number): number {
  const bound = exprWords() + exprBounds.derivativeWords
  const start = wanted.length
  wanted.push(id)
  try {
    for (;;) {
      checkTime()
      const last = wanted[wanted.length - 1]
      // The row exists already if two expressions waited for it.
      const earlier = memo.ids.get(last)
      const row = earlier < 0 ? rule(last) : earlier
      if (row === Waiting) continue
      memo.ids.set(last, row)
      wanted.pop()
      if (wanted.length === start) return row
      if (exprWords() > bound) {
        throw limitError(exprBounds, "derivativeWords", exprWords() - bound + exprBounds.derivativeWords)
      }
    }
  } finally {
    wanted.length = start
  }
}

/**
 * Returns the row whose target by each byte is `by` of the targets of `ids`, or ∅ if all of those
 * are ∅. Returns `Waiting` if one of their rows is missing.
 */
export function combine(ids: readonly ExprId[], by: (targets: readonly ExprId[]) => ExprId): number {
  const before = wanted.length
  for (const id of ids) if (memo.ids.get(id) < 0) wanted.push(id)
  if (wanted.length > before) return Waiting
  const { offsets, values } = memo.rows
  const cursors: number[] = []
  const ends: number[] = []
  for (const id of ids) {
    const row = memo.ids.get(id)
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
  return memo.rows.intern(row)
}

/** The least byte that continues a character. */
const FirstTail = 0x80

/**
 * Like `combine`, for operators that keep a common beginning: h·r ∘ h·s = h·(r ∘ s) if no text of h
 * is a prefix of another. After the first byte of a character nearly all targets begin with the
 * rest of that character and then continue as after characters of one byte. So the ten ranges of
 * first bytes take one call of `by`.
 */
export function combineFactored(ids: readonly ExprId[], by: (targets: readonly ExprId[]) => ExprId): number {
  // The last operands and their result: what follows the last one-byte characters nearly always
  // follows all others.
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

/** Returns the rest of a character with which all `targets` other than ∅ begin, or -1. */
function commonTail(targets: readonly ExprId[]): ExprId {
  let head = -1
  for (const target of targets) {
    if (target === Never) continue
    const first = kindOf(target) === Kind.Concat ? at(target, 1) : target
    if (head < 0) {
      if (kindOf(first) !== Kind.Set || (at(first, 1) & 0xff) < FirstTail) return -1
      head = first
    } else if (first !== head) return -1
  }
  return head
}

/** Returns what follows the rest of a character with which `id` begins. */
function afterTail(id: ExprId): ExprId {
  return kindOf(id) === Kind.Concat ? at(id, 2) : Empty
}
