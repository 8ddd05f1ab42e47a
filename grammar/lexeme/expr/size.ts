/**
 * The size of an expression: the count of its distinct nodes, where a set of characters is one.
 * Shared parts count once, as they are stored once.
 *
 * Each expression is walked once. The nodes that a walk has met are marked with the number of that
 * walk, so nothing is cleared between two walks.
 */
import { owned } from "../../tables.ts"
import { at, type ExprId, ExprMemo, Kind, kindOf, length } from "./nodes.ts"

/** Largest exact size: a walk ends after this many nodes. */
export const MaxSize = 4_096

const sizes = owned("sizes", new ExprMemo())
/** By node: the walk that met it last. */
const marks = owned("sizes", new ExprMemo())
let walks = 0
/** Nodes that the walk has met. */
const met = new Int32Array(MaxSize + 1)
let metCount = 0

/**
 * Returns the count of distinct nodes of `expr`; `MaxSize + 1` if there are more than `MaxSize`.
 * Linear in them, once.
 */
export function exprSize(expr: ExprId): number {
  const known = sizes.get(expr)
  if (known >= 0) return known
  walks++
  metCount = 0
  meet(expr)
  // The loop also visits nodes that are added meanwhile.
  for (let i = 0; i < metCount && metCount <= MaxSize; i++) {
    const id = met[i]
    // Which values of a tuple are operands depends on its kind, see `nodes.ts`.
    switch (kindOf(id)) {
      case Kind.Concat:
      case Kind.Or:
      case Kind.And:
      case Kind.Diff:
        for (let j = 1; j < length(id); j++) meet(at(id, j))
        break
      case Kind.Loop:
      case Kind.Look:
      case Kind.Behind:
      case Kind.Scope:
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
