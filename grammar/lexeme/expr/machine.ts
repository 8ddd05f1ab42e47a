/**
 * Languages that are given by a machine with any number of states: a leaf of expressions.
 *
 * Some languages have no regular expression of a useful size (a pattern with balanced groups). For
 * others the derivatives cost too much (a name of labels with a bound on each and on the whole).
 * Machines with interned states can still be operands of intersections and complements. There are
 * two forms:
 * - over bytes: the machine writes the row of a state, and the derivatives are its states;
 * - over characters: the expression of a state is the equation "ε if it accepts, or a character of
 *   an edge followed by that edge's state", which is expanded on first use.
 */

import { owned } from "../../tables.ts"
import { concat, or } from "./build.ts"
import { derivative, register, rowOf } from "./derivative.ts"
import { at, Empty, type ExprId, intern, Kind, kindOf, length, Never, Nullable } from "./nodes.ts"
import { addRow } from "./rows.ts"
import { pushRange } from "./sets.ts"

/**
 * What is known of the lengths of texts, in characters. A character that has already begun does not
 * count.
 */
export interface TextLengths {
  /** Lower and upper bound of the lengths. `high` is `Unbounded` if no bound is known. */
  readonly low: number
  readonly high: number
  /**
   * There is a text of every length in this range, both ends included. None is known if `from` is
   * above `to`.
   */
  readonly from: number
  readonly to: number
  /**
   * Texts of other lengths are not offered if a length is required: the automaton would be too
   * large.
   */
  readonly givesUp?: boolean
  /**
   * Whether the automaton has infinitely many states. Then callers must not enumerate all of them.
   */
  readonly isEndless?: boolean
}

/** An edge to `next`: a set of characters, or of bytes if the machine reads inside characters. */
export interface MachineEdge {
  set: ExprId
  next: number
}

/**
 * The bytes that may come next, ascending, and the state after each, which is made on demand.
 * `next` returns -1 if there is none.
 */
export interface MachineTail {
  readonly bytes: readonly number[]
  next(byte: number): number
}

/**
 * Any text of at most `room` of these ascending bytes can be continued from a state. After some of
 * them other bytes may continue too, which are bytes of the state's tail if it has one.
 */
export interface FreeBytes {
  readonly bytes: readonly number[]
  readonly room: number
  /** Whether characters beyond ASCII may stand among them, complete or begun. */
  readonly isWide?: boolean
}

/** States are small integers. Every state must accept some text, and its edges must not overlap. */
export interface CharacterMachine {
  readonly start: number
  isAccepting(state: number): boolean
  edges(state: number): MachineEdge[]
  /**
   * Returns another state whose edges this one has too, beside its own, so that states share them;
   * -1 if there is none.
   */
  base?(state: number): number
  /**
   * For a state inside a character, returns its possible next bytes, which replace the edges;
   * otherwise null.
   */
  tail?(state: number): MachineTail | null
  /**
   * Returns the bytes that are accepted without a look at the states after them: ASCII bytes that
   * are neither quote nor backslash. Null if there are none.
   */
  free?(state: number): FreeBytes | null
  lengths?(state: number): TextLengths
}

/** States are integers from 0 to 2³¹ − 1. Every state must accept some text. */
export interface ByteMachine {
  readonly start: number
  isAccepting(state: number): boolean
  /** Returns ascending ranges `lo | hi << 8`, state, …; no other byte is accepted. */
  row(state: number): readonly number[]
  /**
   * If the row of the state is too expensive to make before it is needed, returns what replaces it;
   * otherwise null.
   */
  tail?(state: number): MachineTail | null
  /**
   * For a state with a tail, returns the bytes that are accepted without a look at the states after
   * them; otherwise null.
   */
  free?(state: number): FreeBytes | null
  /**
   * Returns a short text of a state from which a search would take long; null if a search is fine.
   */
  ending?(state: number): readonly number[] | null
  /**
   * Returns a state that no text of at most `maxBytes` bytes, nor what may follow its prefixes, can
   * distinguish from `state`.
   */
  clamp?(state: number, maxBytes: number): number
  lengths?(state: number): TextLengths
  /**
   * Returns whether a state accepts some text of `min` to `max` characters. Without it, that takes
   * the whole automaton. Throws `limit` if it takes too long.
   */
  hasLength?(state: number, min: number, max: number): boolean
}

export type Machine = ByteMachine | CharacterMachine

const known = owned("machines", { machines: [] as Machine[] }, { entryBytes: 1_000 })

/** Returns the language of `machine`, whose answers must never change. */
export function machineExpr(machine: Machine): ExprId {
  known.machines.push(machine)
  return stateExpr(known.machines.length - 1, machine.start)
}

/** Returns the language of another state of the machine of `id`. */
export function machineFrom(id: ExprId, state: number): ExprId {
  return stateExpr(at(id, 1), state)
}

function stateExpr(index: number, state: number): ExprId {
  return intern([Kind.Machine, index, state], known.machines[index].isAccepting(state) ? Nullable : 0)
}

register(Kind.Machine, {
  row(id) {
    const row = machineRow(id)
    return row === null ? rowOf(unfoldMachine(id)) : addRow(row)
  },
  // The base has or needs a row anyway. A row of its own may never be needed.
  step(id, byte) {
    const overlay = machineOverlay(id)
    if (overlay === null) return -1
    return overlay.bytes.includes(byte) ? overlay.next(byte) : derivative(overlay.base, byte)
  },
})

/**
 * Returns the derivatives of a machine's state as ranges with their targets; null if it has an
 * equation instead.
 */
function machineRow(id: ExprId): number[] | null {
  const index = at(id, 1)
  const machine = known.machines[index]
  const row: number[] = []
  const tail = machine.tail?.(at(id, 2)) ?? null
  if (tail !== null) {
    for (const byte of tail.bytes) {
      const next = tail.next(byte)
      if (next >= 0) pushRange(row, byte, byte, stateExpr(index, next))
    }
    return row
  }
  if (!("row" in machine)) return null
  const ranges = machine.row(at(id, 2))
  for (let i = 0; i < ranges.length; i += 2)
    pushRange(row, ranges[i] & 0xff, ranges[i] >>> 8, stateExpr(index, ranges[i + 1]))
  return row
}

/** Returns the right side of the equation of a machine's state that has no row. */
function unfoldMachine(id: ExprId): ExprId {
  const index = at(id, 1)
  const machine = known.machines[index]
  if ("row" in machine) throw new Error("internal: a machine over bytes has no equations")
  const parts = machine.edges(at(id, 2)).map(({ set, next }) => concat(set, stateExpr(index, next)))
  if (machine.isAccepting(at(id, 2))) parts.push(Empty)
  const base = machine.base?.(at(id, 2)) ?? -1
  if (base >= 0) parts.push(stateExpr(index, base))
  return or(parts)
}

/** Another language, from which that of a machine's state differs only after some first bytes. */
interface MachineOverlay {
  /** `Never` if no other byte is accepted. */
  readonly base: ExprId
  /** These bytes, ascending. */
  readonly bytes: readonly number[]
  /** Returns what follows one of them. */
  next(byte: number): ExprId
}

/**
 * Returns how a machine's state differs from its base, or its tail inside a character; null if it
 * has neither.
 */
export function machineOverlay(id: ExprId): MachineOverlay | null {
  if (kindOf(id) !== Kind.Machine) return null
  const [index, state] = [at(id, 1), at(id, 2)]
  const machine = known.machines[index]
  const tail = machine.tail?.(state) ?? null
  if (tail !== null) {
    const next = (byte: number) => {
      const target = tail.next(byte)
      return target < 0 ? Never : stateExpr(index, target)
    }
    return { base: Never, bytes: tail.bytes, next }
  }
  if ("row" in machine) return null
  const base = machine.base?.(state) ?? -1
  if (base < 0) return null
  const ways = new Map<number, ExprId>()
  for (const { set, next } of machine.edges(state)) {
    // A character of several bytes is not a set of bytes.
    if (kindOf(set) !== Kind.Set) return null
    for (let i = 1; i < length(set); i += 2)
      for (let byte = at(set, i) & 0xff; byte <= at(set, i) >>> 8; byte++)
        ways.set(byte, stateExpr(index, next))
  }
  return {
    base: stateExpr(index, base),
    bytes: [...ways.keys()].sort((a, b) => a - b),
    next: (byte) => ways.get(byte) ?? Never,
  }
}

/** Returns the `FreeBytes` of a machine's state, or null. */
export function machineFree(id: ExprId): FreeBytes | null {
  if (kindOf(id) !== Kind.Machine) return null
  return known.machines[at(id, 1)].free?.(at(id, 2)) ?? null
}

/**
 * Returns a short text of a machine's state if the machine knows one without a search; otherwise
 * null.
 */
export function machineEnding(id: ExprId): readonly number[] | null {
  const machine = known.machines[at(id, 1)]
  return "row" in machine ? (machine.ending?.(at(id, 2)) ?? null) : null
}

/** Returns the lengths of what a machine accepts from a state, if it knows them; otherwise null. */
export function machineLengths(id: ExprId): TextLengths | null {
  return known.machines[at(id, 1)].lengths?.(at(id, 2)) ?? null
}

/** Returns whether a machine accepts such a text from a state; null if it does not know. */
export function machineHasLength(id: ExprId, min: number, max: number): boolean | null {
  const machine = known.machines[at(id, 1)]
  return "row" in machine ? (machine.hasLength?.(at(id, 2), min, max) ?? null) : null
}

/**
 * Returns a state of the same machine that no text of at most `bound` bytes can distinguish from
 * `id`.
 */
export function clampedMachine(id: ExprId, bound: number): ExprId {
  const machine = known.machines[at(id, 1)]
  if (!("row" in machine) || machine.clamp === undefined) return id
  return stateExpr(at(id, 1), machine.clamp(at(id, 2), bound))
}
