/**
 * The store of hash-consed regular expressions over bytes: equal expressions are the same integer.
 *
 * An expression is a tuple `[kind, …]` in one interning table. Its facts (nullable, has an
 * assertion …) are computed once, when it is made, and kept in a byte of flags. Nothing here
 * simplifies: `build.ts` holds the laws and makes the expressions. A set of code points is kept as
 * its minimal UTF-8 automaton: a `Set` node is a sorted list of byte ranges, each with the
 * expression that must follow, which is again a `Set` or ε. So a derivative is a look-up.
 */
import { grown, TupleTable } from "../../intern.ts"
import { owned } from "../../tables.ts"

/** Dense id of an expression; 0 = ∅, 1 = ε. */
export type ExprId = number
/** ∅: no text at all. */
export const Never = 0
/** ε: the empty text only. */
export const Empty = 1
/** Upper bound of a loop without one. */
export const Unbounded = 0x7fffffff
/**
 * The largest count of a loop. No text is that long, so a larger lower bound becomes this one, and
 * a larger upper bound becomes `Unbounded`.
 */
export const MaxCount = Unbounded - 1
/** Bounds on the making of expressions, above which a pattern is refused; see `fixedBounds`. */
export const exprBounds = { derivativeWords: 4 << 20, lookaroundTerms: 4_096 } as const

/** Kinds of expressions, with the layout of their tuples. */
export const Kind = {
  /** [0] */
  Never: 0,
  /** [1] */
  Empty: 1,
  /** [2, lo | hi << 8, next, …] byte ranges, inclusive, ascending, maximal; `next`: Empty, Set */
  Set: 2,
  /** [3, head, tail] */
  Concat: 3,
  /** [4, …ids] ascending, at least two */
  Or: 4,
  /** [5, …ids] ascending, at least two */
  And: 5,
  /** [6, universe, id] texts of `universe` that are not in `id` */
  Diff: 6,
  /** [7, body, min, max] */
  Loop: 7,
  /** [8, id, negative] the rest of the text is (not) in `id` */
  Look: 8,
  /** [9, id, negative] `id` is left of a lookbehind after the text read and does (not) end here */
  Behind: 9,
  /** [10] nothing follows */
  End: 10,
  /** [11, id] assertions in `id` see only the text of `id` */
  Scope: 11,
  /** [12, machine, state] the language of a machine from a state; see `machine.ts` */
  Machine: 12,
  /** [13, id] any byte, then `id` as it stands after that byte; only in `look/assertions.ts` */
  Shift: 13,
} as const

// Flags of an expression.
/** ε is in the language; an assertion holds if the text starts and ends here. */
export const Nullable = 1
/** The expression may be empty although it is not ∅. Only a search can tell. */
export const Searched = 2
/** Has an assertion about the text that follows: its derivative depends on all that follows. */
export const Asserts = 4
/** Has an assertion about the text before: reading a byte in front of it changes it. */
export const LooksBack = 8
/** All texts that can stand here: Σ*, or the rest of a character and Σ*. */
export const Universe = 16
/** Flags that an operator takes over from its operands. */
export const Inherited = Asserts | LooksBack

const table = owned("expressions", new TupleTable())
const facts = owned("expressions", { flags: new Uint8Array(1024) })

table.intern([Kind.Never])
table.intern([Kind.Empty])
facts.flags[Empty] = Nullable

/** Returns the id of `tuple`. `flags` are its facts, used only if it is new. */
export function intern(tuple: readonly number[], flags: number): ExprId {
  const before = table.count
  // Makes room first. If an allocation failed later, the expression would stay without its flags.
  if (before >= facts.flags.length) {
    const more = new Uint8Array(2 * facts.flags.length)
    more.set(facts.flags)
    facts.flags = more
  }
  const id = table.intern(tuple)
  if (id === before) facts.flags[id] = flags
  return id
}

export function kindOf(id: ExprId): number {
  return table.values[table.offsets[id]]
}

/** Returns value `index` of the tuple; value 0 is the kind. */
export function at(id: ExprId, index: number): number {
  return table.values[table.offsets[id] + index]
}

/** Returns the count of values in the tuple, its kind included. */
export function length(id: ExprId): number {
  return table.offsets[id + 1] - table.offsets[id]
}

/** Returns the operands of an `or` or `and` node. */
export function members(id: ExprId): ExprId[] {
  const ids: ExprId[] = []
  for (let i = 1; i < length(id); i++) ids.push(at(id, i))
  return ids
}

export function flags(id: ExprId): number {
  return facts.flags[id]
}

export function isNullable(id: ExprId): boolean {
  return (facts.flags[id] & Nullable) !== 0
}

/** Returns whether ε is in the language whatever surrounds it. */
export function isSurelyNullable(id: ExprId): boolean {
  return (facts.flags[id] & (Nullable | Asserts | LooksBack)) === Nullable
}

/** Returns the count of expressions made so far in this process. */
export function exprCount(): number {
  return table.count
}

/** Returns how many integers all expressions of this process take. */
export function exprWords(): number {
  return table.offsets[table.count]
}

/** A memo from expressions to non-negative integers, -1 = unknown. Only grows. */
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
