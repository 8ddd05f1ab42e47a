/**
 * Languages that are given by a machine over characters, with as many states as it likes: a leaf of expressions.
 *
 * Some languages are no regular expression of any useful size (a pattern with balanced groups). As a machine with
 * interned states they take part in intersections and complements all the same: the expression of a state is the
 * equation "ε if it accepts, or a character of an edge and then the state behind it", written out on first use.
 */
import { concat, or } from "./build.ts"
import { at, Empty, type ExprId, intern, MachineKind, Nullable } from "./nodes.ts"

/** What leads to `next`: a set of characters, or of bytes where the machine reads inside characters. */
export interface MachineEdge {
  set: ExprId
  next: number
}

/** States are small integers. From every state some text must be accepted; edges of one state must not overlap. */
export interface Machine {
  readonly start: number
  isAccepting(state: number): boolean
  edges(state: number): MachineEdge[]
  /** Another state whose ways on this one has too, beside its own edges; -1 for none. States then share them. */
  base?(state: number): number
}

const machines: Machine[] = []

/** The language of `machine`, which must answer the same forever. */
export function machineExpr(machine: Machine): ExprId {
  machines.push(machine)
  return stateExpr(machines.length - 1, machine.start)
}

function stateExpr(index: number, state: number): ExprId {
  return intern([MachineKind, index, state], machines[index].isAccepting(state) ? Nullable : 0)
}

/** The right side of the equation of a machine's state. */
export function unfoldMachine(id: ExprId): ExprId {
  const index = at(id, 1)
  const machine = machines[index]
  const parts = machine.edges(at(id, 2)).map(({ set, next }) => concat(set, stateExpr(index, next)))
  if (machine.isAccepting(at(id, 2))) parts.push(Empty)
  const base = machine.base?.(at(id, 2)) ?? -1
  if (base >= 0) parts.push(stateExpr(index, base))
  return or(parts)
}
