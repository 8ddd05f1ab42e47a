/**
 * What may still follow once an expression has read a byte (Brzozowski 1964; Owens, Reppy, Turon 2009).
 *
 * The derivatives of one expression by all bytes are computed at once, as a row of byte ranges: sets are rows already,
 * and the other operators sweep over the rows of their operands. So a class of bytes costs one constructor call and
 * nothing is looked up byte by byte. Rows are memoised and interned; evaluation keeps its own stack, since patterns
 * nest deeper than calls may.
 *
 * Assertions. `look(s)·k` reads a byte of k and of s together: D(k) & D(s), or without s when negative. `behind(a)`
 * carries the state of its automaton after the text so far: at the head it is ε or ∅ by whether that accepts; behind a
 * head it must read what the head reads, so each expression has a second row, its *shift*: the same expression after
 * a byte was read in front of it. Only expressions that look back change by a shift.
 */
import { checkTime } from "../../deadline.ts"
import { fixedBounds, limitError } from "../../errors.ts"
import { TupleTable } from "../../intern.ts"
import { behind, look, scope } from "./assertions.ts"
import { and, anyText, concat, diff, loop, or } from "./build.ts"
import { machineOverlay, machineRow, unfoldMachine } from "./machine.ts"
import {
  AndKind,
  Asserts,
  at,
  BehindKind,
  ConcatKind,
  DiffKind,
  Empty,
  EmptyKind,
  EndKind,
  type ExprId,
  ExprMemo,
  exprWords,
  flags,
  isNullable,
  kindOf,
  LookKind,
  LooksBack,
  LoopKind,
  length,
  MachineKind,
  Never,
  NeverKind,
  OrKind,
  ScopeKind,
  SetKind,
  Unbounded,
} from "./nodes.ts"
import { pushRange } from "./sets.ts"

/** Rows by id: `lo | hi << 8, target, …` as in `sets.ts`. */
let rows = new TupleTable()
const emptyRow = rows.intern([])
let derivatives = new ExprMemo()
let shifts = new ExprMemo()

/** Bytes of all rows made so far: what `forgetDerivatives` gives back. */
export function derivativeBytes(): number {
  return rows.bytes + derivatives.bytes + shifts.bytes
}

/** Forgets all rows; they are made again when they are asked for, from the same expressions. */
export function forgetDerivatives(): void {
  const [table, first, second] = [new TupleTable(), new ExprMemo(), new ExprMemo()]
  table.intern([])
  rows = table
  derivatives = first
  shifts = second
}

// A task is an expression and which of its two rows is wanted.
const Shift = 1

/** The derivatives of `id`: ascending ranges `lo | hi << 8` with their targets; bytes left out lead to ∅. */
export function derivativeRow(id: ExprId): Int32Array {
  return rows.view(rowOf(id))
}

/** What may follow once `id` has read `byte`. The first call for an expression costs a constructor call per range. */
export function derivative(id: ExprId, byte: number): ExprId {
  if (kindOf(id) === MachineKind && derivatives.get(id) < 0) {
    // Its base has a row or needs one in any case; a row of its own may never be asked for.
    const overlay = machineOverlay(id)
    if (overlay !== null)
      return overlay.bytes.includes(byte) ? overlay.next(byte) : derivative(overlay.base, byte)
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

function rowOf(id: ExprId): number {
  const known = derivatives.get(id)
  if (known >= 0) return known
  if (kindOf(id) === MachineKind) return rowOfMachine(id)
  return evaluate(2 * id)
}

function rowOfMachine(id: ExprId): number {
  const row = machineRow(id)
  const made = row === null ? rowOf(unfoldMachine(id)) : rows.intern(row)
  derivatives.set(id, made)
  return made
}

function memoised(task: number): number {
  return (task & Shift ? shifts : derivatives).get(task >>> 1)
}

/**
 * Computes the row of a task and of all that it needs, without recursion. Throws `limit` where that makes too many
 * expressions: long chains of optional parts are quadratic.
 */
function evaluate(task: number): number {
  const bound = exprWords() + fixedBounds.derivativeWords
  const stack = [task]
  const needs: number[] = []
  for (;;) {
    checkTime()
    const top = stack[stack.length - 1]
    if (memoised(top) >= 0 && stack.length > 1) {
      // Pushed by two that need it.
      stack.pop()
      continue
    }
    needs.length = 0
    if (top & Shift) shiftNeeds(top >>> 1, needs)
    else derivativeNeeds(top >>> 1, needs)
    const before = stack.length
    for (const need of needs) if (memoised(need) < 0) stack.push(need)
    if (stack.length > before) continue
    const operands = needs.map(memoised)
    const row = top & Shift ? shiftOf(top >>> 1, operands) : derivativeOf(top >>> 1, operands)
    const memo = top & Shift ? shifts : derivatives
    memo.set(top >>> 1, row)
    stack.pop()
    if (stack.length === 0) return row
    if (exprWords() > bound) {
      throw limitError(fixedBounds, "derivativeWords", exprWords() - bound + fixedBounds.derivativeWords)
    }
  }
}

function looksBack(id: ExprId): boolean {
  return (flags(id) & LooksBack) !== 0
}

/** An iterated assertion: the loop is unfolded once in front of its tail, because the assertion sees the tail. */
function unfold(id: ExprId, tail: ExprId): ExprId {
  const [body, min, max] = [at(id, 1), at(id, 2), at(id, 3)]
  const left = max === Unbounded ? Unbounded : max - 1
  return concat(body, concat(loop(body, Math.max(0, min - 1), left), tail))
}

/** The rows that the derivative of `id` is made of, in the order in which `derivativeOf` reads them. */
function derivativeNeeds(id: ExprId, needs: number[]): void {
  switch (kindOf(id)) {
    case ConcatKind: {
      const [head, tail] = [at(id, 1), at(id, 2)]
      if (flags(head) & Asserts) {
        if (kindOf(head) === LookKind) needs.push(2 * tail, 2 * at(head, 1), 2 * anyText)
        else if (kindOf(head) === LoopKind) {
          needs.push(2 * unfold(head, tail))
          if (at(head, 2) === 0) needs.push(2 * tail)
        }
        return
      }
      needs.push(2 * head)
      if (looksBack(tail)) needs.push(2 * tail + Shift)
      if (isNullable(head)) needs.push(2 * tail)
      return
    }
    case OrKind:
    case AndKind:
      for (let i = 1; i < length(id); i++) needs.push(2 * at(id, i))
      return
    case DiffKind:
      needs.push(2 * at(id, 1), 2 * at(id, 2))
      return
    case LoopKind:
      if (flags(id) & Asserts) needs.push(2 * unfold(id, Empty))
      else {
        needs.push(2 * at(id, 1))
        if (looksBack(id)) needs.push(2 * at(id, 1) + Shift)
      }
      return
    case ScopeKind:
      needs.push(2 * at(id, 1))
      return
    case MachineKind:
      // Its row is made when it is asked for: what it needs has no machine above it.
      rowOfMachine(id)
  }
}

function derivativeOf(id: ExprId, operands: readonly number[]): number {
  switch (kindOf(id)) {
    case SetKind: {
      const row: number[] = []
      for (let i = 1; i < length(id); i++) row.push(at(id, i))
      return rows.intern(row)
    }
    case ConcatKind: {
      const [head, tail] = [at(id, 1), at(id, 2)]
      if (flags(head) & Asserts) return headAssertion(head, operands)
      const nullable = isNullable(head)
      if (looksBack(tail)) {
        return sweep(operands, (t) => (nullable ? or([concat(t[0], t[1]), t[2]]) : concat(t[0], t[1])))
      }
      if (nullable) return sweepBehind(operands, (t) => or([concat(t[0], tail), t[1]]))
      return follow(operands[0], tail)
    }
    case OrKind:
      return sweepBehind(operands, or)
    case AndKind:
      return sweepBehind(operands, and)
    case DiffKind:
      return sweepBehind(operands, (t) => diff(t[0], t[1]))
    case LoopKind: {
      if (flags(id) & Asserts) return operands[0]
      const [body, min, max] = [at(id, 1), at(id, 2), at(id, 3)]
      const left = max === Unbounded ? Unbounded : max - 1
      const least = Math.max(0, min - 1)
      if (looksBack(id)) {
        return sweep(operands, (t) => concat(t[0], loop(t[1], least, left)))
      }
      return follow(operands[0], loop(body, least, left))
    }
    case ScopeKind:
      return sweep(operands, (t) => scope(t[0]))
    case MachineKind:
      return derivatives.get(id)
    case NeverKind:
    case EmptyKind:
    case LookKind:
    case BehindKind:
    case EndKind:
      return emptyRow
    default:
      throw new Error(`internal: expression ${id} has no kind`)
  }
}

function headAssertion(head: ExprId, operands: readonly number[]): number {
  switch (kindOf(head)) {
    case LookKind:
      if (at(head, 2) === 0) return sweep(operands, and)
      return sweep(operands, ([rest, seen, universe]) =>
        rest === Never ? Never : and([rest, diff(universe, seen)]),
      )
    case LoopKind:
      return operands.length === 1 ? operands[0] : sweep(operands, or)
    default:
      return emptyRow
  }
}

function shiftNeeds(id: ExprId, needs: number[]): void {
  if (!looksBack(id)) return
  switch (kindOf(id)) {
    case BehindKind:
      needs.push(2 * at(id, 1))
      return
    case LookKind:
    case LoopKind:
      needs.push(2 * at(id, 1) + Shift)
      return
    case DiffKind:
      // The universe moves on with the text, and so does what it is taken from.
      needs.push(2 * at(id, 2) + Shift)
      return
    default:
      for (let i = 1; i < length(id); i++) needs.push(2 * at(id, i) + Shift)
  }
}

/** The row of `id` after a byte in front of it; it covers every byte. */
function shiftOf(id: ExprId, operands: readonly number[]): number {
  if (!looksBack(id)) return rows.intern(id === Never ? [] : [0xff00, id])
  switch (kindOf(id)) {
    case BehindKind:
      return sweep(operands, (t) => behind(t[0], at(id, 2) === 1), true)
    case LookKind:
      return sweep(operands, (t) => look(t[0], at(id, 2) === 1), true)
    case LoopKind:
      return sweep(operands, (t) => loop(t[0], at(id, 2), at(id, 3)), true)
    case DiffKind:
      return sweep(operands, (t) => diff(at(id, 1), t[0]), true)
    case ConcatKind:
      return sweep(operands, (t) => concat(t[0], t[1]), true)
    case OrKind:
      return sweep(operands, or, true)
    case AndKind:
      return sweep(operands, and, true)
    default:
      throw new Error(`internal: expression ${id} does not look back`)
  }
}

/** The row of D(head)·tail. */
function follow(head: number, tail: ExprId): number {
  const row: number[] = []
  for (let i = rows.offsets[head]; i < rows.offsets[head + 1]; i += 2) {
    const range = rows.values[i]
    pushRange(row, range & 0xff, range >>> 8, concat(rows.values[i + 1], tail))
  }
  return rows.intern(row)
}

/** Combines rows range by range. `combine` gets one target a row; it is called for all-∅ ranges only if `everywhere`. */
function sweep(
  operands: readonly number[],
  combine: (targets: readonly ExprId[]) => ExprId,
  everywhere = false,
): number {
  const count = operands.length
  const cursors: number[] = []
  const ends: number[] = []
  for (const row of operands) {
    cursors.push(rows.offsets[row])
    ends.push(rows.offsets[row + 1])
  }
  const { values } = rows
  const row: number[] = []
  const targets: ExprId[] = new Array(count).fill(Never)
  for (let byte = 0; byte < 256; ) {
    let hi = 255
    let isLive = everywhere
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
    if (isLive) pushRange(row, byte, hi, combine(targets))
    byte = hi + 1
  }
  return rows.intern(row)
}

/** The least byte that goes on with a character. */
const FirstTail = 0x80

/**
 * As `sweep`, for operators that leave a common beginning alone: h·r ∘ h·s = h·(r ∘ s) where no text of h begins another one. After
 * the first byte of a character all targets have the rest of it in front, mostly, and the same behind it as after characters of one
 * byte: so the ten ranges of first bytes take one call of `combine`.
 */
function sweepBehind(operands: readonly number[], combine: (targets: readonly ExprId[]) => ExprId): number {
  // What was combined last, and to what: mostly what follows the last characters of one byte follows all others.
  let last: readonly ExprId[] = []
  let made: ExprId = Never
  const combineOnce = (targets: readonly ExprId[]): ExprId => {
    if (last.length === 0 || targets.some((target, i) => target !== last[i])) {
      made = combine(targets)
      last = targets.slice()
    }
    return made
  }
  return sweep(operands, (targets) => {
    const head = commonTail(targets)
    if (head < 0) return combineOnce(targets)
    return concat(head, combineOnce(targets.map((target) => (target === Never ? Never : behindTail(target)))))
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

/** What is left of an expression that begins with the rest of a character, behind it. */
function behindTail(id: ExprId): ExprId {
  return kindOf(id) === ConcatKind ? at(id, 2) : Empty
}
