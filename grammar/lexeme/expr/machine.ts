/**
 * Languages that are given by a machine, with as many states as it likes: a leaf of expressions.
 *
 * Some languages are no regular expression of any useful size (a pattern with balanced groups), others have one whose
 * derivatives are dear (a name of labels with a bound on each and on the whole). As a machine with interned states they
 * take part in intersections and complements all the same. Two forms:
 * - over bytes: the machine writes the row of a state, and the derivatives are its states;
 * - over characters: the expression of a state is the equation "ε if it accepts, or a character of an edge and then the
 *   state behind it", written out on first use.
 */
import { concat, or } from "./build.ts"
import { derivative, register, rowOf } from "./derivative.ts"
import {
  at,
  Empty,
  type ExprId,
  intern,
  kindOf,
  length,
  MachineKind,
  Never,
  Nullable,
  SetKind,
} from "./nodes.ts"
import { addRow } from "./rows.ts"
import { pushRange } from "./sets.ts"

/** What is known of the lengths of texts, in characters; one that has begun does not count. */
export interface TextLengths {
  /** No text has fewer characters, and none has more. `Unbounded`: no bound is known. */
  readonly low: number
  readonly high: number
  /** There is a text of every length in between, both included; where `from` is above `to` none is known. */
  readonly from: number
  readonly to: number
  /** Texts of other lengths are given up where a length is asked for: the automaton that would tell is too large. */
  readonly givesUp?: boolean
  /** The automaton has states without end: nobody asks for all of them to spare work. */
  readonly isEndless?: boolean
}

/** What leads to `next`: a set of characters, or of bytes where the machine reads inside characters. */
export interface MachineEdge {
  set: ExprId
  next: number
}

/** The bytes, ascending, that may come next, and the state after each, which is made when it is asked for; -1 where there is none. */
export interface MachineTail {
  readonly bytes: readonly number[]
  next(byte: number): number
}

/**
 * Any text of at most `room` of these bytes, ascending, goes on from a state. What else goes on after some of them does so by
 * one of the bytes of its tail, where it has one.
 */
export interface FreeBytes {
  readonly bytes: readonly number[]
  readonly room: number
  /** Whether characters beyond ASCII may stand among them, whole or begun. */
  readonly isWide?: boolean
}

/** States are small integers. From every state some text must be accepted; edges of one state must not overlap. */
export interface CharacterMachine {
  readonly start: number
  isAccepting(state: number): boolean
  edges(state: number): MachineEdge[]
  /** Another state whose ways on this one has too, beside its own edges; -1 for none. States then share them. */
  base?(state: number): number
  /** For a state inside a character: what its next byte may be, instead of edges. Else null. */
  tail?(state: number): MachineTail | null
  /** What needs no look at the states behind it: bytes of ASCII that are no quote and no backslash. Else null. */
  free?(state: number): FreeBytes | null
  lengths?(state: number): TextLengths
}

/** States are integers from 0 to 2³¹ − 1. From every state some text must be accepted. */
export interface ByteMachine {
  readonly start: number
  isAccepting(state: number): boolean
  /** Where bytes lead: ascending ranges `lo | hi << 8`, state, …; every other byte leads nowhere. */
  row(state: number): readonly number[]
  /** For a state with a row too dear to make before it is asked for, instead of that. Else null. */
  tail?(state: number): MachineTail | null
  /** For a state with a tail: what needs no look at the states behind it. Else null. */
  free?(state: number): FreeBytes | null
  /** A short text of a state from which a search would take long; null where it may be searched for. */
  ending?(state: number): readonly number[] | null
  /** A state that no text of at most `maxBytes` bytes, nor what may follow its prefixes, can tell from `state`. */
  clamp?(state: number, maxBytes: number): number
  lengths?(state: number): TextLengths
}

export type Machine = ByteMachine | CharacterMachine

const machines: Machine[] = []

/** The language of `machine`, which must answer the same forever. */
export function machineExpr(machine: Machine): ExprId {
  machines.push(machine)
  return stateExpr(machines.length - 1, machine.start)
}

/** The language of the same machine as that of `id`, from another of its states. */
export function machineFrom(id: ExprId, state: number): ExprId {
  return stateExpr(at(id, 1), state)
}

function stateExpr(index: number, state: number): ExprId {
  return intern([MachineKind, index, state], machines[index].isAccepting(state) ? Nullable : 0)
}

register(MachineKind, {
  row(id) {
    const row = machineRow(id)
    return row === null ? rowOf(unfoldMachine(id)) : addRow(row)
  },
  // Its base has a row or needs one in any case; a row of its own may never be asked for.
  step(id, byte) {
    const overlay = machineOverlay(id)
    if (overlay === null) return -1
    return overlay.bytes.includes(byte) ? overlay.next(byte) : derivative(overlay.base, byte)
  },
})

/** The derivatives of a machine's state, as ranges with their targets; null where it has an equation instead. */
function machineRow(id: ExprId): number[] | null {
  const index = at(id, 1)
  const machine = machines[index]
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

/** The right side of the equation of a machine's state that has no row. */
function unfoldMachine(id: ExprId): ExprId {
  const index = at(id, 1)
  const machine = machines[index]
  if ("row" in machine) throw new Error("internal: a machine over bytes has no equations")
  const parts = machine.edges(at(id, 2)).map(({ set, next }) => concat(set, stateExpr(index, next)))
  if (machine.isAccepting(at(id, 2))) parts.push(Empty)
  const base = machine.base?.(at(id, 2)) ?? -1
  if (base >= 0) parts.push(stateExpr(index, base))
  return or(parts)
}

/** Another language from which that of a machine's state differs after some first bytes alone. */
interface MachineOverlay {
  /** `Never` where every other byte leads nowhere. */
  readonly base: ExprId
  /** These bytes, ascending. */
  readonly bytes: readonly number[]
  /** What follows one of them. */
  next(byte: number): ExprId
}

/** How a machine's state differs from its base, or what it has inside a character; null where that is not told. */
export function machineOverlay(id: ExprId): MachineOverlay | null {
  if (kindOf(id) !== MachineKind) return null
  const [index, state] = [at(id, 1), at(id, 2)]
  const machine = machines[index]
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
    // A character of several bytes is none.
    if (kindOf(set) !== SetKind) return null
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

/** What goes on from a machine's state whatever follows, where it knows; else null. */
export function machineFree(id: ExprId): FreeBytes | null {
  if (kindOf(id) !== MachineKind) return null
  return machines[at(id, 1)].free?.(at(id, 2)) ?? null
}

/** A short text of a machine's state that knows one without a search, else null. */
export function machineEnding(id: ExprId): readonly number[] | null {
  const machine = machines[at(id, 1)]
  return "row" in machine ? (machine.ending?.(at(id, 2)) ?? null) : null
}

/** Lengths of what a machine accepts from a state, where it knows them. */
export function machineLengths(id: ExprId): TextLengths | null {
  return machines[at(id, 1)].lengths?.(at(id, 2)) ?? null
}

/** A state of the same machine that no text of at most `bound` bytes can tell from `id`. */
export function clampedMachine(id: ExprId, bound: number): ExprId {
  const machine = machines[at(id, 1)]
  if (!("row" in machine) || machine.clamp === undefined) return id
  return stateExpr(at(id, 1), machine.clamp(at(id, 2), bound))
}
