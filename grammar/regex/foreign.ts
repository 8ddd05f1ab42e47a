/** What reports say of patterns: which parts of them are another dialect's, and what they were read as. */
import type { Limits } from "../errors.ts"
import type { KeywordNote } from "../report.ts"
import { readPattern } from "./read.ts"

/** A pattern that was read, and where it stands. */
export interface PlacedPattern {
  readonly path: string
  readonly pattern: string
  readonly flags?: string
}

/** What was read as another dialect's in `patterns`, each of which was read before; undefined: nothing. */
export function foreignNote(patterns: readonly PlacedPattern[], limits: Limits): string | undefined {
  const readings = new Map<string, string>()
  for (const { pattern, flags = "", path } of patterns) {
    for (const [form, reading] of readPattern(pattern, flags, path, limits).foreign)
      readings.set(form, reading)
  }
  if (readings.size === 0) return undefined
  const each = [...readings].map(([form, reading]) => `${form} as ${reading}`)
  return `another dialect's: read ${each.join(", ")}`
}

/** The notes of what is no schema: of the patterns that are another dialect's. */
export function patternNotes(patterns: readonly PlacedPattern[], limits: Limits): KeywordNote[] {
  return patterns.flatMap((each) => {
    const note = foreignNote([each], limits)
    return note === undefined ? [] : [{ path: each.path, keyword: "pattern", status: "exact", note } as const]
  })
}
