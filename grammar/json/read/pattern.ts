/**
 * Patterns of schemas, kept by source: the same few are written again and again, and reading one takes 50 µs and more. The
 * limits that refuse patterns are part of the key.
 */
import type { Limits } from "../../errors.ts"
import type { ExprId } from "../../lexeme/expr/expr.ts"
import { parseRegex } from "../../regex/parse.ts"
import { ownText } from "../../utf8.ts"

/** UTF-16 units of patterns that are kept. */
const MaxUnits = 1 << 20

/** By the limits and the pattern. */
const known = new Map<string, ExprId>()
let units = 0

/** Texts in which `pattern` is found. Throws as `parseRegex` does, with `path`. */
export function patternExpr(pattern: string, path: string, limits: Limits): ExprId {
  const key = `${limits.maxRepeat} ${limits.lookarounds} ${pattern}`
  const before = known.get(key)
  if (before !== undefined && pattern.length <= limits.regexBytes) return before
  const expr = parseRegex(pattern, { mode: "search", path, limits })
  if (units + pattern.length > MaxUnits) {
    known.clear()
    units = 0
  }
  known.set(ownText(key), expr)
  units += pattern.length
  return expr
}
