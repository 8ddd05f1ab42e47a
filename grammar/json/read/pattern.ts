/** Patterns of schemas. */
import type { Limits } from "../../errors.ts"
import type { ExprId } from "../../lexeme/expr/expr.ts"
import { foreignNote } from "../../regex/foreign.ts"
import { KnownPatterns } from "../../regex/knownpatterns.ts"
import { parseRegex } from "../../regex/parse.ts"
import { owned } from "../../tables.ts"

const known = owned("patterns", new KnownPatterns(), { entryBytes: 60 })

/**
 * Returns a note if some of these patterns, read before, use syntax of another dialect; else
 * undefined.
 */
export function dialectNote(patterns: readonly string[], path: string, limits: Limits): string | undefined {
  return foreignNote(
    patterns.map((pattern) => ({ pattern, path })),
    limits,
  )
}

/** Returns the texts in which `pattern` is found. Throws like `parseRegex`, with `path`. */
export function patternExpr(pattern: string, path: string, limits: Limits): ExprId {
  return known.of(pattern, limits, () => parseRegex(pattern, { mode: "search", path, limits }))
}
