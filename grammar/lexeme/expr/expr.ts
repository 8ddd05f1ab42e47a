/**
 * Regular expressions over bytes, hash-consed in one process-wide table: equal expressions are the
 * same integer in every schema and request. So are the states of their automata, which are
 * expressions too.
 *
 * Read `nodes.ts` (what a node is), `sets.ts` (characters as bytes), `build.ts` (constructors and
 * their laws), `derivative.ts` (reading a byte), `emptiness.ts`, `look/assertions.ts`. This file is
 * their interface to the rest of the grammar floor. Sources: Brzozowski, Derivatives of Regular
 * Expressions (1964); Owens, Reppy, Turon (2009); Varatalu, Veanes, Ernits, RE# (POPL 2025).
 */
import { dropContained } from "./absorb.ts"
import { and, anyText, concat, diff, or, setDropping } from "./build.ts"
import { clamped } from "./clamp.ts"
import { classesOf } from "./classes.ts"
import { derivative, derivativeRow } from "./derivative.ts"
import { isNever } from "./emptiness.ts"
import { literal } from "./literal.ts"
import { behind, end, ended, look, scope } from "./look/assertions.ts"
import { repeat } from "./look/repeat.ts"
import {
  type ByteMachine,
  type CharacterMachine,
  type FreeBytes,
  type MachineEdge,
  type MachineTail,
  machineExpr,
  machineFrom,
  type TextLengths,
} from "./machine.ts"
import { Empty, type ExprId, exprCount, isNullable, Never, Unbounded } from "./nodes.ts"
import { anyChar, byteRange, codePoints } from "./sets.ts"

export type { ByteMachine, CharacterMachine, ExprId, FreeBytes, MachineEdge, MachineTail, TextLengths }
export { Empty, Never }

setDropping(dropContained)

export const exprs = {
  /** One character, and any text. */
  anyChar,
  anyText,
  /**
   * One byte between `lo` and `hi`. Bytes above 0x7f are not characters: use them only under `and`
   * with text.
   */
  byteRange,
  /**
   * One character of `ranges` (lo, hi, lo, hi …: inclusive, ascending, disjoint). Drops surrogates.
   */
  codePoints,
  /** Exactly this text, or these bytes. */
  literal,
  concat,
  /** Any of `ids`; ∅ if there are none. */
  or,
  /** All of `ids`; any text if there are none. */
  and,
  /** All texts that `id` does not accept. Never accepts malformed UTF-8. */
  not(id: ExprId): ExprId {
    return diff(anyText, id)
  },
  /** `min` to `max` times `body`; `max` may be Infinity. Kept as a counter, never unrolled. */
  loop(body: ExprId, min: number, max: number): ExprId {
    return repeat(body, min, max === Number.POSITIVE_INFINITY ? Unbounded : max)
  },
  // For patterns with assertions, see `regex/lookaround.ts`.
  look,
  behind,
  end,
  /** The part of `rest`, which is all that follows, if nothing may follow: ε or ∅. */
  ended,
  scope,
  /** The language of a machine, for languages without a good expression; see `machine.ts`. */
  machine: machineExpr,
  machineFrom,
  /** Whether the empty text is accepted. */
  nullable: isNullable,
  derivative,
  /**
   * All derivatives at once: ascending ranges `lo | hi << 8`, target, …; valid until the next call.
   */
  row: derivativeRow,
  /** Classes of bytes with the same derivative. Not memoized. */
  classes: classesOf,
  /** Exact emptiness. Throws `limit` if the search takes too long. */
  isNever,
  /** The same expression with bounds of loops that no token reaches clamped; see `clamp.ts`. */
  clamped,
  /** Count of the expressions made so far in this process. */
  get count(): number {
    return exprCount()
  },
}
