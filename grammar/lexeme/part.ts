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
  /** After a digit, sign or point; null: nothing can follow. */
  next(symbol: number): Part | null
  /** The exponents that would complete the number here, as `e` comes next. Empty: no exponent may follow. */
  exponents(): readonly Span[]
  /** A shortest text that completes the number; empty where it may end. */
  shortest(): string
}

/** The shortest text over the digits 0–9 that may come next; `part` must be one that reads a digit. */
export function shortestDigits(part: Part): string {
  let best: string | null = null
  for (let digit = 0; digit <= 9; digit++) {
    const rest = part.next(digit)?.shortest()
    if (rest !== undefined && (best === null || rest.length + 1 < best.length)) best = digit + rest
  }
  return best as string
}

/** Integers from lo to hi, both included; infinite ends allowed. */
export interface Span {
  readonly lo: number
  readonly hi: number
}

export const noSpans: readonly Span[] = []
