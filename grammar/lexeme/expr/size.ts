/**
 * How large an expression is: its distinct nodes, sets of characters as one. What shares its parts is as large as it is kept.
 *
 * Each expression is walked once. What a walk has met is marked by the number of the walk, so nothing is cleared between two.
 */
import {
  AndKind,
  at,
  BehindKind,
  ConcatKind,
  DiffKind,
  type ExprId,
  ExprMemo,
  kindOf,
  LookKind,
  LoopKind,
  length,
  OrKind,
  ScopeKind,
} from "./nodes.ts"

/** Sizes are told up to here: a walk ends behind so many nodes. */
export const MaxSize = 4_096

const sizes = new ExprMemo()
/** By node: the walk that met it last. */
const marks = new ExprMemo()
let walks = 0
/** What the walk has met. */
const met = new Int32Array(MaxSize + 1)
let metCount = 0

/** Distinct nodes of `expr`; `MaxSize + 1` where there are more than `MaxSize`. Linear in them, once. */
export function exprSize(expr: ExprId): number {
  const known = sizes.get(expr)
  if (known >= 0) return known
  walks++
  metCount = 0
  meet(expr)
  // What is met meanwhile is visited too.
  for (let i = 0; i < metCount && metCount <= MaxSize; i++) {
    const id = met[i]
    // Which values of a tuple are operands depends on its kind, see `nodes.ts`.
    switch (kindOf(id)) {
      case ConcatKind:
      case OrKind:
      case AndKind:
      case DiffKind:
        for (let j = 1; j < length(id); j++) meet(at(id, j))
        break
      case LoopKind:
      case LookKind:
      case BehindKind:
      case ScopeKind:
        meet(at(id, 1))
    }
  }
  sizes.set(expr, metCount)
  return metCount
}

function meet(id: ExprId): void {
  if (metCount > MaxSize || marks.get(id) === walks) return
  marks.set(id, walks)
  met[metCount++] = id
}
