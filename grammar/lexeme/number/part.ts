/**
 * One alternative of a number lexeme: what the rest of a text may be, for one cell or one list of values.
 *
 * A lexeme state is a set of parts (`number.ts`). A part is immutable, its key names its language, and it exists only
 * while some text is left that leads to acceptance: `next` answers null otherwise, so no state is ever a dead end.
 */

/** Symbols 0–9 are the digits. */
export const Minus = 10
export const Plus = 11
export const Point = 12
export const Exponent = 13

export interface Part {
  /** Parts with equal keys accept the same rests. */
  readonly key: string
  readonly accepting: boolean
  /** After a digit, sign or point, or an `e` that `exponents` does not speak for; null: nothing can follow. */
  next(symbol: number): Part | null
  /** The exponents that would complete the number here, as `e` comes next. Empty: no exponent may follow. */
  exponents(): readonly Span[]
  /** A shortest completion of fewer than `limit` bytes, null when there is none; empty where the text may end. */
  shortest(limit: number): string | null
}

/** Integers from lo to hi, both included; infinite ends allowed. */
export interface Span {
  readonly lo: number
  readonly hi: number
}

export const noSpans: readonly Span[] = []

/** A shortest text of fewer than `limit` bytes among parts after one byte each. */
export function shortestOf(
  choices: readonly (readonly [byte: string, part: Part | null])[],
  limit: number,
): string | null {
  const live = choices.filter(([, part]) => part !== null)
  // One way only, as behind the first digits of narrow bounds: deepening at each of them would multiply.
  if (live.length === 1) {
    const [[byte, part]] = live
    const rest = part?.shortest(limit - byte.length) ?? null
    return rest === null ? null : byte + rest
  }
  // Deepening: a long search in one choice must not come before a short completion in the next.
  for (let bound = Math.min(4, limit); ; bound = Math.min(bound * 2, limit)) {
    let best: string | null = null
    for (const [byte, part] of live) {
      const rest: string | null = part?.shortest((best === null ? bound : best.length) - byte.length) ?? null
      if (rest !== null) best = byte + rest
    }
    if (best !== null || bound === limit) return best
  }
}

/** As `shortestOf`, over the digits. Zero comes last: behind it stand the longest texts. */
export function shortestDigits(part: Part, limit: number): string | null {
  const digits = [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]
  return shortestOf(
    digits.map((digit) => [`${digit}`, part.next(digit)]),
    limit,
  )
}
