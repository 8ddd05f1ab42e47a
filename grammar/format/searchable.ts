/** Formats with a part that is easier to intersect. */
import type { ExprId } from "../lexeme/expr/expr.ts"
import { owned } from "../tables.ts"

/** The formats made so far that have such a part, and the parts made so far. */
const memo = owned("formats", {
  makers: new Map<ExprId, () => ExprId>(),
  narrowed: new Map<ExprId, ExprId>(),
})

/** Registers `make`, which returns the searchable part of `expr`. */
export function setSearchable(expr: ExprId, make: () => ExprId): void {
  memo.makers.set(expr, make)
}

/**
 * Returns the searchable part of a format, which can be intersected: host names without A-labels,
 * and every other expression unchanged. It is narrower than the format, so it must not be negated.
 */
export function searchable(expr: ExprId): ExprId {
  const make = memo.makers.get(expr)
  if (make === undefined) return expr
  const known = memo.narrowed.get(expr) ?? make()
  memo.narrowed.set(expr, known)
  return known
}
