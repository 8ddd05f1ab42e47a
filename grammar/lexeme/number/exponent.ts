/**
 * The exponent of a number, from behind `e` to the end, as a set of integers.
 *
 * The set is a list of spans; the sign turns them into spans of magnitudes. Digits extend a prefix
 * until every further digit is allowed; from there on the prefix is forgotten. Leading zeros are
 * allowed, as in RFC 8259.
 */
import { Exponent, Minus, noSpans, type Part, Plus, Point, type Span, shortestOf } from "./part.ts"

/** Returns a part for the exponents in `spans`, which reads what follows the `e`. */
export function exponentPart(spans: readonly Span[]): Part | null {
  return spans.length === 0 ? null : new ExponentStart(mergeSpans(spans))
}

function mergeSpans(spans: readonly Span[]): Span[] {
  const sorted = [...spans].sort((a, b) => (a.lo === b.lo ? 0 : a.lo < b.lo ? -1 : 1))
  const merged: Span[] = []
  for (const span of sorted) {
    const last = merged.at(-1)
    if (last !== undefined && span.lo <= last.hi + 1) {
      merged[merged.length - 1] = { lo: last.lo, hi: Math.max(last.hi, span.hi) }
    } else merged.push(span)
  }
  return merged
}

const spanText = (spans: readonly Span[]) => spans.map(({ lo, hi }) => `${lo}..${hi}`).join()

class ExponentStart implements Part {
  readonly key: string
  readonly accepting = false
  readonly spans: readonly Span[]

  constructor(spans: readonly Span[]) {
    this.spans = spans
    this.key = `E^${spanText(spans)}`
  }

  next(symbol: number): Part | null {
    if (symbol === Point || symbol === Exponent) return null
    const negative = symbol === Minus
    const sizes: Span[] = []
    for (const { lo, hi } of this.spans) {
      const low = negative ? -hi : lo
      const high = negative ? -lo : hi
      // `+ 0` turns −0, which a span may start with, into 0.
      if (high >= 0) sizes.push({ lo: Math.max(0, low) + 0, hi: high + 0 })
    }
    if (sizes.length === 0) return null
    const signed = new ExponentDigits(mergeSpans(sizes), 0, false)
    return symbol > 9 ? signed : signed.next(symbol)
  }

  exponents(): readonly Span[] {
    return noSpans
  }

  shortest(limit: number): string | null {
    return shortestOf(
      [
        ["", this.next(Plus)],
        ["-", this.next(Minus)],
      ],
      limit,
    )
  }
}

class ExponentDigits implements Part {
  readonly key: string
  readonly accepting: boolean
  readonly spans: readonly Span[]
  readonly prefix: number
  readonly started: boolean

  /** `prefix` is at most the largest finite end of a span. */
  constructor(spans: readonly Span[], prefix: number, started: boolean) {
    this.spans = spans
    this.prefix = prefix
    this.started = started
    this.accepting = started && spans.some(({ lo, hi }) => lo <= prefix && prefix <= hi)
    this.key = `E${started ? "" : "?"}${spanText(spans)}|${prefix}`
  }

  next(symbol: number): Part | null {
    if (symbol > 9) return null
    const prefix = this.prefix * 10 + symbol
    // Drops spans wholly below the prefix. Further digits only make the prefix larger, or keep 0.
    const spans = this.spans.filter(({ hi }) => hi >= prefix)
    if (spans.length === 1 && spans[0].lo <= prefix && spans[0].hi === Number.POSITIVE_INFINITY)
      return anyExponent
    const reachable = spans.filter(({ lo, hi }) => prefix === 0 || meets(prefix, lo, hi))
    return reachable.length === 0 ? null : new ExponentDigits(reachable, prefix, true)
  }

  exponents(): readonly Span[] {
    return noSpans
  }

  shortest(limit: number): string | null {
    if (this.accepting) return limit > 0 ? "" : null
    for (let width = 1, size = 10; width < limit; width++, size *= 10) {
      const least = this.prefix * size
      for (const { lo, hi } of this.spans) {
        const value = Math.max(lo, least)
        if (value <= hi && value < least + size) return (value - least).toString().padStart(width, "0")
      }
    }
    return null
  }
}

/** Accepts any further digits, so neither the prefix nor the spans matter. */
const anyExponent: Part = new ExponentDigits([{ lo: 0, hi: Number.POSITIVE_INFINITY }], 0, true)

/** Returns whether `prefix` followed by some digits lies in [lo, hi]. */
function meets(prefix: number, lo: number, hi: number): boolean {
  let least = prefix
  let most = prefix
  while (least <= hi) {
    if (most >= lo) return true
    least *= 10
    most = most * 10 + 9
  }
  return false
}
