/**
 * Detects an output that only repeats itself: its last tokens are the same pattern of `min` to
 * `max` tokens, `count` times.
 *
 * For each length p it is enough to know how many of the last tokens equal the token p before them:
 * if there are count · p − p of these, the pattern occurs `count` times. O(max − min) a token.
 */

import { RequestError } from "../errors.ts"

export interface RepetitionOptions {
  /** Minimum (default 1) and maximum number of tokens of the pattern. */
  min?: number | null
  max: number
  /** How often the pattern must occur in a row, at least 2. */
  count: number
}

/** Maximum tokens of a pattern. */
export const maxPattern = 1024

/** Returns the options with their defaults. Throws RequestError for an empty range. */
export function checkRepetition(options: RepetitionOptions): Required<RepetitionOptions> & { min: number } {
  const { max, count } = options
  const min = options.min ?? 1
  const refuse = (what: string): never => {
    throw new RequestError("invalid_value", `repetition_detection${what}`, "repetition_detection")
  }
  for (const [name, value, least, most] of [
    ["max", max, 1, maxPattern],
    ["min", min, 1, max],
    ["count", count, 2, 1_000_000],
  ] as const) {
    if (!Number.isInteger(value) || value < least || value > most) {
      refuse(`.${name}: ${value} is not an integer from ${least} to ${most}`)
    }
  }
  return { min, max, count }
}

export class Repetition {
  private readonly min: number
  private readonly max: number
  private readonly count: number
  private readonly tokens: number[] = []
  /**
   * At index p − min: how many of the last tokens equal the token p before them. Shape [max − min +
   * 1].
   */
  private readonly runs: Int32Array

  constructor({ min, max, count }: { min: number; max: number; count: number }) {
    this.min = min
    this.max = max
    this.count = count
    this.runs = new Int32Array(max - min + 1)
  }

  /** Adds a token. Returns whether the pattern now occurs often enough. */
  push(token: number): boolean {
    const { tokens, runs, min, max, count } = this
    let found = false
    for (let p = min; p <= max && p <= tokens.length; p++) {
      const run = tokens[tokens.length - p] === token ? runs[p - min] + 1 : 0
      runs[p - min] = run
      if (run >= (count - 1) * p) found = true
    }
    tokens.push(token)
    return found
  }
}
