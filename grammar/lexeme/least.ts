/**
 * A lower bound on the length of an expression's texts, read off its form: the guide of every search for a shortest
 * text. Exact without intersections and complements; there it is only never too high, which is all that A* needs
 * (Hart, Nilsson, Raphael 1968).
 */
import { machineLengths } from "./machine.ts"
import {
  AndKind,
  at,
  ConcatKind,
  type ExprId,
  ExprMemo,
  kindOf,
  LoopKind,
  length,
  MachineKind,
  Never,
  OrKind,
  ScopeKind,
  SetKind,
} from "./nodes.ts"

const known = new ExprMemo()
const MaxBytes = 0x3fffffff

/** At most as many bytes as any text of `id` has. */
export function leastBytes(id: ExprId): number {
  if (id === Never) return MaxBytes
  // A long literal is a long chain: its tails first, from the last one, so that calls do not nest by it.
  if (kindOf(id) === ConcatKind && known.get(id) < 0 && known.get(at(id, 2)) < 0) {
    const chain: ExprId[] = []
    for (let tail = at(id, 2); kindOf(tail) === ConcatKind && known.get(tail) < 0; tail = at(tail, 2))
      chain.push(tail)
    for (let i = chain.length - 1; i >= 0; i--) known.set(chain[i], Math.min(compute(chain[i]), MaxBytes))
  }
  const memo = known.get(id)
  if (memo >= 0) return memo
  const least = Math.min(compute(id), MaxBytes)
  known.set(id, least)
  return least
}

function compute(id: ExprId): number {
  switch (kindOf(id)) {
    case SetKind: {
      let least = MaxBytes
      for (let i = 2; i < length(id); i += 2) least = Math.min(least, leastBytes(at(id, i)))
      return least + 1
    }
    case ConcatKind:
      return leastBytes(at(id, 1)) + leastBytes(at(id, 2))
    case OrKind: {
      let least = MaxBytes
      for (let i = 1; i < length(id); i++) least = Math.min(least, leastBytes(at(id, i)))
      return least
    }
    case AndKind: {
      let least = 0
      for (let i = 1; i < length(id); i++) least = Math.max(least, leastBytes(at(id, i)))
      return least
    }
    case LoopKind:
      return leastBytes(at(id, 1)) * at(id, 2)
    case ScopeKind:
      return leastBytes(at(id, 1))
    case MachineKind:
      return machineLengths(id)?.low ?? 0
    default:
      return 0
  }
}
