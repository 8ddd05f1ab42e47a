/**
 * One alternative of a number lexeme: what may follow in a text, for one cell or one list of
 * values.
 *
 * A lexeme state is a set of parts (`number.ts`). A part is immutable, its key names its language,
 * and it always has a text that leads to acceptance: `next` returns null otherwise, so no state is
 * a dead end.
 */

/** Symbols 0–9 are the digits. */
export const Minus = 10
export const Plus = 11
export const Point = 12
export const Exponent = 13

export interface Part {
  /** Parts with equal keys accept the same suffixes. */
  readonly key: string
  readonly accepting: boolean
  /**
   * Returns the part after a digit, sign or point, or after an `e` that `exponents` does not cover;
   * null if nothing can follow.
   */
  next(symbol: number): Part | null
  /**
   * Returns the exponents that complete the number if `e` comes next; empty if no exponent may
   * follow.
   */
  exponents(): readonly Span[]
  /**
   * Returns a shortest completion of fewer than `limit` bytes, or null; empty if the text may end.
   */
  shortest(limit: number): string | null
}

/** Integers from lo to hi, both included. The ends may be infinite. */
export interface Span {
  readonly lo: number
  readonly hi: number
}

export const noSpans: readonly Span[] = []

/** Returns a shortest text of fewer than `limit` bytes among parts that each follow one byte. */
export function shortestOf(
  choices: readonly (readonly [byte: string, part: Part | null])[],
  limit: number,
): string | null {
  const live = choices.filter(([, part]) => part !== null)
  // Does not deepen iteratively if there is only one choice, as within the first digits of narrow
  // bounds: nested at every digit, the deepening would multiply.
  if (live.length === 1) {
    const [[byte, part]] = live
    const rest = part?.shortest(limit - byte.length) ?? null
    return rest === null ? null : byte + rest
  }
  // Deepens iteratively, so that a short completion of one choice does not wait for a long search
  // in another.
  for (let bound = Math.min(4, limit); ; bound = Math.min(bound * 2, limit)) {
    let best: string | null = null
    for (const [byte, part] of live) {
      const rest: string | null = part?.shortest((best === null ? bound : best.length) - byte.length) ?? null
      if (rest !== null) best = byte + rest
    }
    if (best !== null || bound === limit) return best
  }
}

/** Like `shortestOf`, over the digits. Zero comes last, since the longest texts start with it. */
export function shortestDigits(part: Part, limit: number): string | null {
  const digits = [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]
  return shortestOf(
    digits.map((digit) => [`${digit}`, part.next(digit)]),
    limit,
  )
}
