/**
 * The parts of patterns that are written in another dialect, and what they were read as, for
 * reports.
 */
import type { Limits } from "../errors.ts"
import type { KeywordNote } from "../report.ts"
import { readPattern } from "./read.ts"

/** A pattern that was read, and its place. */
export interface PlacedPattern {
  readonly path: string
  readonly pattern: string
  readonly flags?: string
}

/**
 * Returns a note on the foreign parts of `patterns`; undefined if there are none. Each pattern must
 * have been read before.
 */
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

/** Returns the notes on foreign parts of `patterns` for an input that is not a schema. */
export function patternNotes(patterns: readonly PlacedPattern[], limits: Limits): KeywordNote[] {
  return patterns.flatMap((each) => {
    const note = foreignNote([each], limits)
    return note === undefined ? [] : [{ path: each.path, keyword: "pattern", status: "exact", note } as const]
  })
}
