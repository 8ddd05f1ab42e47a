/**
 * The store of hash-consed regular expressions over bytes: equal expressions are the same integer.
 *
 * An expression is a tuple `[kind, …]` in one interning table; its facts (nullable, has an assertion …) are computed
 * once, when it is made, and kept in a byte of flags. Nothing here simplifies: `build.ts` holds the laws and is the
 * only caller of `intern`. A set of code points is kept as its minimal UTF-8 automaton: a `Set` node is a sorted list
 * of byte ranges, each with the expression that must follow, which is again a `Set` or ε. So a derivative is a look-up.
 */
import { grown, TupleTable } from "../../intern.ts"

/** Dense id of an expression; 0 = ∅, 1 = ε. */
export type ExprId = number
/** ∅: no text at all. */
export const Never = 0
/** ε: the empty text only. */
export const Empty = 1
/** Upper bound of a loop without one. */
export const Unbounded = 0x7fffffff
/** The largest count of a loop. No text is as long, so larger ones are taken for it, or as an upper bound for none. */
export const MaxCount = Unbounded - 1

// Kinds, with the layout of their tuples.
/** [0] */
export const NeverKind = 0
/** [1] */
export const EmptyKind = 1
/** [2, lo | hi << 8, next, …] inclusive byte ranges, ascending, maximal; `next` is Empty or a Set */
export const SetKind = 2
/** [3, head, tail] */
export const ConcatKind = 3
/** [4, …ids] ascending, at least two */
export const OrKind = 4
/** [5, …ids] ascending, at least two */
export const AndKind = 5
/** [6, universe, id] texts of `universe` that are not in `id` */
export const DiffKind = 6
/** [7, body, min, max] */
export const LoopKind = 7
/** [8, id, negative] the rest of the text is (not) in `id` */
export const LookKind = 8
/** [9, id, negative] `id` is what remains of a lookbehind after the text so far; it does (not) end here */
export const BehindKind = 9
/** [10] nothing follows */
export const EndKind = 10
/** [11, id] assertions in `id` see only the text of `id` */
export const ScopeKind = 11
/** [12, machine, state] what a machine accepts from a state; see `machine.ts` */
export const MachineKind = 12
/** [13, id] any byte, and then `id` as it stands behind that byte; only the rules of `look/assertions.ts` meet it */
export const ShiftKind = 13

// Flags of an expression.
/** ε is in the language; of an assertion: it holds if the text starts and ends here. */
export const Nullable = 1
/** May be empty although it is not ∅: emptiness needs a search. */
export const Searched = 2
/** Holds an assertion about the text that follows: its derivative depends on all that follows. */
export const Asserts = 4
/** Holds an assertion about the text before: reading a byte in front of it changes it. */
export const LooksBack = 8
/** All texts that can stand here: Σ*, or the rest of a character and Σ*. */
export const Universe = 16
/** What an operator takes over from its operands. */
export const Inherited = Asserts | LooksBack

const table = new TupleTable()
let flagsOf: Uint8Array = new Uint8Array(1024)

table.intern([NeverKind])
table.intern([EmptyKind])
flagsOf[Empty] = Nullable

/** The id of `tuple`; `flags` are its facts and are used only when it is new. */
export function intern(tuple: readonly number[], flags: number): ExprId {
  const before = table.count
  // Room comes first: an expression without its facts would be found later.
  if (before >= flagsOf.length) {
    const more = new Uint8Array(2 * flagsOf.length)
    more.set(flagsOf)
    flagsOf = more
  }
  const id = table.intern(tuple)
  if (id === before) flagsOf[id] = flags
  return id
}

export function kindOf(id: ExprId): number {
  return table.values[table.offsets[id]]
}

/** Value `index` of the tuple; 0 is the kind. */
export function at(id: ExprId, index: number): number {
  return table.values[table.offsets[id] + index]
}

/** Values in the tuple, its kind included. */
export function length(id: ExprId): number {
  return table.offsets[id + 1] - table.offsets[id]
}

/** Operands of an `or` or `and` node. */
export function members(id: ExprId): ExprId[] {
  const ids: ExprId[] = []
  for (let i = 1; i < length(id); i++) ids.push(at(id, i))
  return ids
}

export function flags(id: ExprId): number {
  return flagsOf[id]
}

export function isNullable(id: ExprId): boolean {
  return (flagsOf[id] & Nullable) !== 0
}

/** ε is in the language whatever stands around it. */
export function isSurelyNullable(id: ExprId): boolean {
  return (flagsOf[id] & (Nullable | Asserts | LooksBack)) === Nullable
}

/** Expressions made so far in this process. */
export function exprCount(): number {
  return table.count
}

/** Integers that all expressions of this process take. */
export function exprWords(): number {
  return table.offsets[table.count]
}

/** Bytes of all expressions, their facts included. */
export function exprBytes(): number {
  return table.bytes + flagsOf.length
}

/** A memo from expressions to non-negative integers, -1 where nothing is known. Only grows. */
export class ExprMemo {
  private values: Int32Array = new Int32Array(1024)

  get bytes(): number {
    return 4 * this.values.length
  }

  get(id: ExprId): number {
    return id < this.values.length ? this.values[id] - 1 : -1
  }

  set(id: ExprId, value: number): void {
    if (id >= this.values.length) this.values = grown(this.values, Math.max(2 * this.values.length, id + 1))
    this.values[id] = value + 1
  }
}
