/** Patterns of schemas, as `parts.ts` hands them to the reader. */
import { foreignNote } from "../../regex/foreign.ts"
import { KnownPatterns } from "../../regex/knownpatterns.ts"
import { parseRegex } from "../../regex/parse.ts"
import { owned } from "../../tables.ts"
import type { PatternReader } from "../parts.ts"
import { guidanceNote, guidanceOf } from "./guidance.ts"

const known = owned("patterns", new KnownPatterns(), { entryBytes: 60, forget: () => known.forget() })

/** The regular expressions of ECMAScript, and those of other dialects where they agree. */
export const schemaPatterns: PatternReader = {
  search: (pattern, path, limits) =>
    known.of(pattern, limits, () => parseRegex(pattern, { mode: "search", path, limits })),
  guidance: guidanceOf,
  guidanceNote,
  note: (patterns, path, limits) =>
    foreignNote(
      patterns.map((pattern) => ({ pattern, path })),
      limits,
    ),
}
