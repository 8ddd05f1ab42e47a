/** Patterns of schemas. */
import type { Limits } from "../../errors.ts"
import type { ExprId } from "../../lexeme/expr/expr.ts"
import { KnownPatterns } from "../../regex/knownpatterns.ts"
import { parseRegex } from "../../regex/parse.ts"

const known = new KnownPatterns()

/** Texts in which `pattern` is found. Throws as `parseRegex` does, with `path`. */
export function patternExpr(pattern: string, path: string, limits: Limits): ExprId {
  return known.of(pattern, limits, () => parseRegex(pattern, { mode: "search", path, limits }))
}
