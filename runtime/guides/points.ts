/**
 * The matches of patterns in a text, code point by code point, as another thread found them. It
 * replaces a `RegexWatch` in this thread.
 */
import type { RegexMatch } from "../stops/stopregex.ts"
import type { PatternPoint } from "./walk.ts"

export class PatternPoints {
  /** Matches that end at the last code point read, the longest first. */
  found: readonly RegexMatch[] = []
  /** Number of units at the end of the text that a match could still include. */
  depth = 0
  private waiting: PatternPoint[] = []

  /** Adds the results for the next code points. */
  add(points: readonly PatternPoint[]): void {
    this.waiting.push(...points)
  }

  /** Moves past one code point, whose result `add` has supplied. */
  push(_point: string): void {
    const next = this.waiting.shift()
    if (!next) throw new Error("internal: a code point without a result")
    this.found = next.found
    this.depth = next.depth
  }
}
