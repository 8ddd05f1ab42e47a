/**
 * Finitely many numbers: each in one spelling, or each in every spelling of RFC 8259.
 *
 * Both are tries over sorted lists: a part is a range of the list and a depth, so an enumeration of
 * thousands costs no more than its sorted texts. The key of a range of few texts is made of their
 * suffixes, so that all enumerations share their tails.
 *
 * In every spelling, values δ·10^e are sorted by their digits δ, read as 0.δ. The significand
 * written so far, without leading zeros, must be a prefix of δ followed by zeros. The values for
 * which it is are a range of the list, and the exponent makes up for the position of the point.
 */

import { owned } from "../../tables.ts"
import type { Decimal } from "./decimal.ts"
import { noSpans, type Part, Point, type Span } from "./part.ts"

// The keys of ranges up to this size hold their content.
const FewTexts = 4

// Character codes, by symbol.
const codes = "0123456789-+.e"

const lists = owned("number lists", { ids: new Map<string, number>() }, { entryBytes: 500 })

function listIdOf(content: string): number {
  const id = lists.ids.get(content) ?? lists.ids.size
  lists.ids.set(content, id)
  return id
}

/** The texts of a sorted list that share their first `depth` characters. */
class TextRange {
  readonly texts: readonly string[]
  readonly start: number
  readonly end: number
  readonly depth: number

  constructor(texts: readonly string[], start: number, end: number, depth: number) {
    this.texts = texts
    this.start = start
    this.end = end
    this.depth = depth
  }

  /**
   * Returns the texts whose next character is `code`. Behind its end each text continues with
   * `padding`.
   */
  after(code: number, padding: number): TextRange {
    const from = this.firstAtLeast(code, padding)
    return new TextRange(this.texts, from, this.firstAtLeast(code + 1, padding), this.depth + 1)
  }

  get isEmpty(): boolean {
    return this.start === this.end
  }

  /** Returns a key for the suffixes of the texts, each followed by its `suffix`. */
  name(listId: number, suffix: (index: number) => string | number = () => ""): string {
    const { texts, start, end, depth } = this
    if (end - start > FewTexts) return `#${listId}:${start}:${end}:${depth}`
    let name = ""
    for (let i = start; i < end; i++) name += `${texts[i].slice(depth)}${suffix(i)},`
    return name
  }

  private firstAtLeast(code: number, padding: number): number {
    const { texts, depth } = this
    let low = this.start
    let high = this.end
    while (low < high) {
      const middle = (low + high) >>> 1
      const text = texts[middle]
      if ((depth < text.length ? text.charCodeAt(depth) : padding) >= code) high = middle
      else low = middle + 1
    }
    return low
  }
}

/**
 * Returns a part for `texts`, which are JSON numbers, or null if there are none. `E` is read as
 * `e`. Sorts: n log n comparisons.
 */
export function textsPart(texts: readonly string[]): Part | null {
  const sorted = [...new Set(texts.map((text) => text.replace("E", "e")))].sort((a, b) => (a < b ? -1 : 1))
  if (sorted.length === 0) return null
  const listId = sorted.length <= FewTexts ? 0 : listIdOf(sorted.join())
  return new Texts(new TextRange(sorted, 0, sorted.length, 0), listId)
}

class Texts implements Part {
  readonly key: string
  readonly accepting: boolean
  readonly range: TextRange
  readonly listId: number

  constructor(range: TextRange, listId: number) {
    this.range = range
    this.listId = listId
    this.accepting = range.texts[range.start].length === range.depth
    this.key = `T${range.name(listId)}`
  }

  next(symbol: number): Part | null {
    const rest = this.range.after(codes.charCodeAt(symbol), 0)
    return rest.isEmpty ? null : new Texts(rest, this.listId)
  }

  exponents(): readonly Span[] {
    return noSpans
  }

  shortest(limit: number): string | null {
    const { texts, start, end, depth } = this.range
    let best = texts[start]
    for (let i = start; i < end; i++) if (texts[i].length < best.length) best = texts[i]
    return best.length - depth < limit ? best.slice(depth) : null
  }
}

interface Listing {
  readonly id: number
  /** Exponent of each value. The text at the same index has its digits without trailing zeros. */
  readonly exponents: readonly number[]
  /** Whether zero is a value too. It is written with any number of zeros and any exponent. */
  readonly hasZero: boolean
  /** Whether texts of digits only are excluded. */
  readonly notDigits: boolean
}

type Phase = "start" | "zero" | "integer" | "point" | "fraction"

const Zero = 48
const anyExponent: readonly Span[] = [{ lo: Number.NEGATIVE_INFINITY, hi: Number.POSITIVE_INFINITY }]

/**
 * Returns a part for the magnitudes of `values`, or null if there are none. Sorts: n log n
 * comparisons.
 */
export function listedPart(values: readonly Decimal[], notDigits: boolean): Part | null {
  if (values.length === 0) return null
  const entries = values
    .filter(({ sign }) => sign !== 0)
    .map(({ digits, exponent }) => ({ digits: digits.toString(), exponent }))
    .sort((a, b) => (a.digits === b.digits ? a.exponent - b.exponent : a.digits < b.digits ? -1 : 1))
  const hasZero = entries.length < values.length
  const content = entries.map(({ digits, exponent }) => `${digits}e${exponent}`).join()
  const listing: Listing = {
    id: listIdOf(`${content} ${hasZero} ${notDigits}`),
    exponents: entries.map(({ exponent }) => exponent),
    hasZero,
    notDigits,
  }
  const texts = entries.map(({ digits }) => digits)
  return new Listed(listing, "start", new TextRange(texts, 0, texts.length, 0), 0)
}

class Listed implements Part {
  readonly key: string
  readonly accepting: boolean
  readonly listing: Listing
  readonly phase: Phase
  /**
   * Its depth is the count of significand digits without leading zeros; 0 if all digits are zeros
   * so far.
   */
  readonly range: TextRange
  /** Count of digits after the point. */
  readonly places: number

  constructor(listing: Listing, phase: Phase, range: TextRange, places: number) {
    this.listing = listing
    this.phase = phase
    this.range = range
    this.places = places
    const { id, hasZero, notDigits } = listing
    const digitsOnly = phase === "zero" || phase === "integer"
    const ends = phase === "fraction" || (digitsOnly && !notDigits)
    this.accepting = ends && this.spans().some(({ lo, hi }) => lo <= 0 && 0 <= hi)
    const zeros = range.depth > 0 ? "" : hasZero ? "0:" : ":"
    const isMany = range.end - range.start > FewTexts
    const rest = range.name(id, (index) => `@${this.missing(index)}`)
    this.key = `L${phase}${zeros}${notDigits ? "!" : ""}${rest}${isMany ? `:${places}` : ""}`
  }

  next(symbol: number): Part | null {
    const { listing, phase, range } = this
    if (symbol === Point) {
      return phase === "zero" || phase === "integer" ? new Listed(listing, "point", range, 0) : null
    }
    if (symbol > 9 || phase === "zero") return null
    const isFraction = phase === "point" || phase === "fraction"
    const places = isFraction ? this.places + 1 : 0
    if (range.depth === 0 && symbol === 0) {
      return new Listed(listing, isFraction ? "fraction" : "zero", range, places)
    }
    const rest = range.after(Zero + symbol, Zero)
    return rest.isEmpty ? null : new Listed(listing, isFraction ? "fraction" : "integer", rest, places)
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
    const { listing, phase } = this
    const { texts, start, end, depth } = this.range
    if (depth === 0 && listing.hasZero)
      offer(phase === "zero" ? "e0" : phase === "start" && listing.notDigits ? "0e0" : "0")
    for (let i = start; i < end; i++) {
      for (const text of this.completions(texts[i].slice(depth), this.missing(i))) offer(text)
    }
    return best
  }

  /** Returns texts that complete a value with the further digits `rest` and then `exponent`. */
  private completions(rest: string, exponent: number): string[] {
    const { phase, listing } = this
    if (this.range.depth === 0 && phase !== "start") {
      // All digits are zeros so far. The others stand behind the point, after more zeros or before
      // an exponent.
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
    // At the start a digit must stand before the point.
    if (exponent < 0 && integers >= (phase === "start" ? 1 : 0)) {
      texts.push(`${rest.slice(0, integers)}.${rest.slice(integers)}`)
    }
    if (phase === "start" && integers <= 0 && integers > -400) texts.push(`0.${"0".repeat(-integers)}${rest}`)
    return texts
  }

  /**
   * Returns the exponent of value i if its digits are completed and no others are added after the
   * point.
   */
  private missing(i: number): number {
    const { texts, depth } = this.range
    return this.listing.exponents[i] + this.places + Math.min(0, texts[i].length - depth)
  }

  /** Returns the exponents with which the significand as it stands is a value. */
  private spans(): readonly Span[] {
    const { texts, start, end, depth } = this.range
    if (depth === 0) return this.listing.hasZero && this.phase !== "start" ? anyExponent : noSpans
    const spans: Span[] = []
    // Values whose digits are all written stand first in the range.
    for (let i = start; i < end && texts[i].length <= depth; i++) {
      const exponent = this.missing(i)
      spans.push({ lo: exponent, hi: exponent })
    }
    return spans
  }
}

function exponentText(exponent: number): string {
  return exponent === 0 ? "" : `e${exponent}`
}
