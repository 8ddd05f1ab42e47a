/**
 * Finitely many numbers in every spelling of RFC 8259.
 *
 * Values δ·10^e are sorted by their digits δ, read as 0.δ. The significand written so far, without leading zeros, must
 * be a prefix of δ followed by zeros; the values for which it is are a range of the list, and the exponent makes up for
 * the place of the point. So a part is a range, a depth and the digits after the point, and an enumeration of thousands
 * costs its sorted digits. Ranges of few values are named by what is left of them.
 */
import type { Decimal } from "./decimal.ts"
import { noSpans, type Part, Point, type Span } from "./part.ts"

// Ranges up to this size are named by their content.
const FewValues = 4

interface Listing {
  readonly id: number
  /** Digits of each value without trailing zeros, ascending as 0.δ. */
  readonly digits: readonly string[]
  readonly exponents: readonly number[]
  /** Zero is a value too: it is any number of zeros and any exponent. */
  readonly hasZero: boolean
  /** Texts of digits alone do not count. */
  readonly notDigits: boolean
}

type Phase = "start" | "zero" | "integer" | "point" | "fraction"

const listingIds = new Map<string, number>()
const anyExponent: readonly Span[] = [{ lo: Number.NEGATIVE_INFINITY, hi: Number.POSITIVE_INFINITY }]

/** The magnitudes of `values`, or null when there are none. Sorts: n log n comparisons. */
export function listedPart(values: readonly Decimal[], notDigits: boolean): Part | null {
  if (values.length === 0) return null
  const entries = values
    .filter(({ sign }) => sign !== 0)
    .map(({ digits, exponent }) => ({ digits: digits.toString(), exponent }))
    .sort((a, b) => (a.digits === b.digits ? a.exponent - b.exponent : a.digits < b.digits ? -1 : 1))
  const hasZero = entries.length < values.length
  const content = `${entries.map(({ digits, exponent }) => `${digits}e${exponent}`).join()} ${hasZero} ${notDigits}`
  let id = listingIds.get(content)
  if (id === undefined) {
    id = listingIds.size
    listingIds.set(content, id)
  }
  const listing: Listing = {
    id,
    digits: entries.map(({ digits }) => digits),
    exponents: entries.map(({ exponent }) => exponent),
    hasZero,
    notDigits,
  }
  return new Listed(listing, "start", 0, entries.length, 0, 0)
}

class Listed implements Part {
  readonly key: string
  readonly accepting: boolean
  readonly listing: Listing
  readonly phase: Phase
  readonly start: number
  readonly end: number
  /** Digits of the significand without leading zeros; 0: only zeros so far. */
  readonly depth: number
  /** Digits after the point. */
  readonly places: number

  constructor(listing: Listing, phase: Phase, start: number, end: number, depth: number, places: number) {
    this.listing = listing
    this.phase = phase
    this.start = start
    this.end = end
    this.depth = depth
    this.places = places
    const digitsOnly = phase === "zero" || phase === "integer"
    const ends = phase === "fraction" || (digitsOnly && !listing.notDigits)
    this.accepting = ends && this.spans().some(({ lo, hi }) => lo <= 0 && 0 <= hi)
    this.key = `L${phase}${depth === 0 && listing.hasZero ? "0" : ""}${listing.notDigits ? "!" : ""}${this.content()}`
  }

  next(symbol: number): Part | null {
    const { listing, phase, start, end, depth, places } = this
    if (symbol === Point) {
      if (phase !== "zero" && phase !== "integer") return null
      return new Listed(listing, "point", start, end, depth, 0)
    }
    if (symbol > 9 || phase === "zero") return null
    const fraction = phase === "point" || phase === "fraction"
    if (depth === 0 && symbol === 0) {
      return new Listed(listing, fraction ? "fraction" : "zero", start, end, 0, fraction ? places + 1 : 0)
    }
    const from = this.firstAtLeast(symbol)
    const to = this.firstAtLeast(symbol + 1)
    if (from === to) return null
    return new Listed(
      listing,
      fraction ? "fraction" : "integer",
      from,
      to,
      depth + 1,
      fraction ? places + 1 : 0,
    )
  }

  exponents(): readonly Span[] {
    return this.phase === "point" || this.phase === "start" ? noSpans : this.spans()
  }

  shortest(limit: number): string | null {
    if (this.accepting) return limit > 0 ? "" : null
    let best: string | null = null
    const offer = (text: string) => {
      if (text.length < (best === null ? limit : best.length)) best = text
    }
    const { listing, phase, depth } = this
    if (depth === 0 && listing.hasZero)
      offer(phase === "zero" ? "e0" : phase === "start" && listing.notDigits ? "0e0" : "0")
    for (let i = this.start; i < this.end; i++) {
      for (const text of this.completions(listing.digits[i].slice(depth), this.missing(i))) offer(text)
    }
    return best
  }

  /** Spellings of a value whose further digits are `rest`, to be followed by that exponent. */
  private completions(rest: string, exponent: number): string[] {
    const { phase, depth, listing } = this
    if (depth === 0 && phase !== "start") {
      // Zeros so far: the digits stand behind the point, after more zeros or before an exponent.
      const point = phase === "zero" ? "." : ""
      const behind = exponent + rest.length
      const texts = [`${point}${rest}${exponentText(behind)}`]
      if (behind < 0 && behind > -400) texts.push(`${point}${"0".repeat(-behind)}${rest}`)
      return texts
    }
    if (phase === "point" || phase === "fraction") {
      const digits = rest === "" && phase === "point" ? "0" : rest
      return [`${digits}${exponentText(exponent + rest.length)}`]
    }
    const texts = [`${rest}${exponent === 0 && listing.notDigits ? ".0" : exponentText(exponent)}`]
    if (exponent > 0 && exponent < 400)
      texts.push(`${rest}${"0".repeat(exponent)}${listing.notDigits ? "e0" : ""}`)
    const integers = rest.length + exponent
    // A start needs a digit before the point.
    if (exponent < 0 && integers >= (phase === "start" ? 1 : 0)) {
      texts.push(`${rest.slice(0, integers)}.${rest.slice(integers)}`)
    }
    if (phase === "start" && integers <= 0 && integers > -400) texts.push(`0.${"0".repeat(-integers)}${rest}`)
    return texts
  }

  /** The exponent that value i needs once its digits are complete and nothing more stands behind the point. */
  private missing(i: number): number {
    const { digits, exponents } = this.listing
    return exponents[i] + this.places + Math.min(0, digits[i].length - this.depth)
  }

  /** The exponents that make the significand a value as it stands. */
  private spans(): readonly Span[] {
    const { listing, depth, start, end } = this
    if (depth === 0) return listing.hasZero && this.phase !== "start" ? anyExponent : noSpans
    const spans: Span[] = []
    // Values whose digits are all written stand first in the range.
    for (let i = start; i < end && listing.digits[i].length <= depth; i++) {
      const exponent = this.missing(i)
      spans.push({ lo: exponent, hi: exponent })
    }
    return spans
  }

  private content(): string {
    const { listing, start, end, depth, places } = this
    if (end - start > FewValues) return `#${listing.id}:${start}:${end}:${depth}:${places}`
    let content = depth === 0 ? ":" : ""
    for (let i = start; i < end; i++) content += `${listing.digits[i].slice(depth)}@${this.missing(i)},`
    return content
  }

  /** First value of the range whose digit at the depth is at least this one; behind the last digit are zeros. */
  private firstAtLeast(digit: number): number {
    const { digits } = this.listing
    let low = this.start
    let high = this.end
    while (low < high) {
      const middle = (low + high) >>> 1
      const text = digits[middle]
      if ((this.depth < text.length ? text.charCodeAt(this.depth) - 48 : 0) >= digit) high = middle
      else low = middle + 1
    }
    return low
  }
}

function exponentText(exponent: number): string {
  return exponent === 0 ? "" : `e${exponent}`
}
