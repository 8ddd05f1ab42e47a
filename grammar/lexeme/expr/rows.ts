/**
 * Rows: where all bytes lead at once from an expression, as ascending byte ranges `lo | hi << 8`
 * with their targets.
 *
 * A rule (`derivative.ts`) makes the row of an expression by combining those of others, range by
 * range, so a class of bytes costs one constructor call. Rows are memoised by expression and
 * interned. A rule that asks for a row which is not there yet is run again once it is: that takes
 * no recursion, since patterns nest deeper than calls may.
 */
import { checkTime } from "../../deadline.ts"
import { fixedBounds, limitError } from "../../errors.ts"
import { TupleTable } from "../../intern.ts"
import { concat } from "./build.ts"
import { at, ConcatKind, Empty, type ExprId, ExprMemo, exprWords, kindOf, Never, SetKind } from "./nodes.ts"
import { pushRange } from "./sets.ts"

/** Rows by id; bytes that are left out lead to ∅. */
let rows = new TupleTable()
/** By expression: the id of its row. */
let rowIds = new ExprMemo()

/** Bytes of all rows made so far: what `forgetDerivatives` gives back. */
export function derivativeBytes(): number {
  return rows.bytes + rowIds.bytes
}

/** Forgets all rows; they are made again when they are asked for, from the same expressions. */
export function forgetDerivatives(): void {
  const [table, memo] = [new TupleTable(), new ExprMemo()]
  rows = table
  rowIds = memo
}

/** The id of the row of `id`; -1: it has not been made. */
export function knownRow(id: ExprId): number {
  return rowIds.get(id)
}

/** The ranges and targets of a row. Valid until the next one is made. */
export function rangesOf(row: number): Int32Array {
  return rows.view(row)
}

/** Where `byte` leads in a row. */
export function targetAt(row: number, byte: number): ExprId {
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
 * The id of the row of `id`, and of all that it needs, which `rule` makes. Throws `limit` where
 * that makes too many expressions: long chains of optional parts are quadratic.
 */
export function makeRow(id: ExprId, rule: (id: ExprId) => number): number {
  const bound = exprWords() + fixedBounds.derivativeWords
  const start = wanted.length
  wanted.push(id)
  try {
    for (;;) {
      checkTime()
      const last = wanted[wanted.length - 1]
      // It is known already where two waited for it.
      const earlier = rowIds.get(last)
      const row = earlier < 0 ? rule(last) : earlier
      if (row === Waiting) continue
      rowIds.set(last, row)
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

/**
 * The row whose target by each byte is `by` of the targets of `ids`; where all of these are ∅ it is
 * ∅. Returns `Waiting` where one of their rows is still to be made.
 */
export function combine(ids: readonly ExprId[], by: (targets: readonly ExprId[]) => ExprId): number {
  const before = wanted.length
  for (const id of ids) if (rowIds.get(id) < 0) wanted.push(id)
  if (wanted.length > before) return Waiting
  const { offsets, values } = rows
  const cursors: number[] = []
  const ends: number[] = []
  for (const id of ids) {
    const row = rowIds.get(id)
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
 * As `combine`, for operators that leave a common beginning alone: h·r ∘ h·s = h·(r ∘ s) where no
 * text of h begins another one. After the first byte of a character nearly all targets begin with
 * the rest of it, and go on as after characters of one byte: so the ten ranges of first bytes take
 * one call of `by`.
 */
export function combineFactored(ids: readonly ExprId[], by: (targets: readonly ExprId[]) => ExprId): number {
  // What was combined last, and to what: what follows the last characters of one byte nearly always
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

/**
 * The rest of a character with which all of `targets` begin that are not ∅; -1 where they do not.
 */
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
