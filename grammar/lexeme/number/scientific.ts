/**
 * Numbers with exponents: one half of a cell over digits, a point and `e`.
 *
 * A significand S with f digits after the point and an exponent E mean S·10^(E−f). Each condition on the value is, for a
 * fixed S, a threshold on E: a bound compares the digits of S with its own and asks for E above or below some integer;
 * a modulus odd·2^twos·5^fives asks for E ≥ T once odd divides S. So at `e` a part turns into an interval of exponents.
 *
 * Before that, S is forgotten as far as possible: of each bound the threshold and the digits not yet compared remain, of
 * each modulus the residue and the threshold. With nothing to remember the parts are the six states of a JSON number.
 * S itself stays on the part as a witness: it decides whether anything can follow, the same for all S with equal key.
 */
import { ownText } from "../../utf8.ts"
import type { Half } from "./cell.ts"
import { adjusted, compare, type Decimal, digitCount, makeDecimal, zero } from "./decimal.ts"
import { firstRest, hasMember, intersect, isMember, type Modulus, valuation } from "./modulus.ts"
import { noSpans, type Part, Point, type Span, shortestDigits } from "./part.ts"

type Phase = "zero" | "integer" | "point" | "fraction"

/** What `-`, or nothing, leaves of a half that is not empty. */
export function scientificPart(half: Half): Part {
  return new Start(half)
}

class Start implements Part {
  readonly key: string
  readonly accepting = false
  readonly half: Half

  constructor(half: Half) {
    this.half = half
    this.key = `S^${this.half.key}`
  }

  next(symbol: number): Part | null {
    if (symbol > 9) return null
    return makePart(this.half, symbol === 0 ? "zero" : "integer", BigInt(symbol), 0)
  }

  exponents(): readonly Span[] {
    return noSpans
  }

  shortest(limit: number): string | null {
    return shortestDigits(this, limit)
  }
}

function makePart(half: Half, phase: Phase, significand: bigint, places: number): Part | null {
  const part = new Significand(half, phase, ...shorten(half, significand, places))
  return part.isAlive() ? part : null
}

/**
 * Bounds look at no more digits than they have: of those behind, one remains that says whether all were zeros. Moduli
 * look at every digit. The places may become negative, the size of the number stays.
 */
function shorten(half: Half, significand: bigint, places: number): [significand: bigint, places: number] {
  const { range, multiple, excluded } = half
  if (multiple !== null || excluded.length > 0) return [significand, places]
  const digits = significand.toString()
  const kept = Math.max(digitCount(range.lo.digits), range.hi === null ? 0 : digitCount(range.hi.digits))
  if (digits.length <= kept + 1) return [significand, places]
  const sticky = /[1-9]/.test(digits.slice(kept)) ? 1n : 0n
  return [BigInt(digits.slice(0, kept)) * 10n + sticky, places - (digits.length - kept - 1)]
}

class Significand implements Part {
  readonly key: string
  readonly accepting: boolean
  readonly half: Half
  readonly phase: Phase
  readonly significand: bigint
  /** Digits after the point, less the digits that `shorten` has dropped. */
  readonly places: number

  constructor(half: Half, phase: Phase, significand: bigint, places: number) {
    this.half = half
    this.phase = phase
    this.significand = significand
    this.places = places
    const notDigits = half.text === "notDigits"
    const ends = phase === "fraction" || (phase !== "point" && !notDigits)
    this.accepting = ends && this.thresholds().some(({ lo, hi }) => lo <= 0 && 0 <= hi)
    const digitsOnly = notDigits && (phase === "zero" || phase === "integer") ? "!" : ""
    this.key = ownText(`S${phase}${digitsOnly}|${this.memory()}`)
  }

  next(symbol: number): Part | null {
    const { half, phase, significand, places } = this
    if (symbol === Point) {
      return phase === "zero" || phase === "integer" ? makePart(half, "point", significand, places) : null
    }
    if (symbol > 9 || phase === "zero") return null
    const digits = significand * 10n + BigInt(symbol)
    return phase === "integer"
      ? makePart(half, phase, digits, places)
      : makePart(half, "fraction", digits, places + 1)
  }

  exponents(): readonly Span[] {
    return this.phase === "point" ? noSpans : this.thresholds()
  }

  /** The exponents E with significand·10^(E − places) in the half. */
  private thresholds(): readonly Span[] {
    const { half, significand, places } = this
    const { lo, loOpen, hi, hiOpen } = half.range
    if (significand === 0n) {
      const holdsZero = lo.sign === 0 && !loOpen && isMember(zero, half.multiple, half.excluded)
      return holdsZero ? [{ lo: Number.NEGATIVE_INFINITY, hi: Number.POSITIVE_INFINITY }] : noSpans
    }
    const value = makeDecimal(significand, -places)
    const size = adjusted(value)
    let low = Number.NEGATIVE_INFINITY
    let high = Number.POSITIVE_INFINITY
    if (lo.sign > 0) {
      const order = compareDigits(value, lo)
      low = adjusted(lo) - size + (order < 0 || (order === 0 && loOpen) ? 1 : 0)
    }
    if (hi !== null) {
      const order = hi.sign === 0 ? 1 : compareDigits(value, hi)
      high = adjusted(hi) - size - (order > 0 || (order === 0 && hiOpen) ? 1 : 0)
    }
    if (half.multiple !== null) low = Math.max(low, firstExponent(half.multiple, value))
    for (const modulus of half.excluded) high = Math.min(high, firstExponent(modulus, value) - 1)
    // Both are infinite when nothing but a modulus asks, and no exponent meets it.
    return low <= high && low !== Number.POSITIVE_INFINITY ? [{ lo: low, hi: high }] : noSpans
  }

  shortest(limit: number): string | null {
    if (this.accepting) return limit > 0 ? "" : null
    for (let length = 1; length < limit; length++) {
      for (let digits = 0; digits <= length; digits++) {
        const text = this.completion(digits, length - digits)
        if (text !== null) return text
      }
    }
    return null
  }

  /** A completion of so many digits and so many other characters: a point, an exponent. */
  private completion(digits: number, others: number): string | null {
    const { phase } = this
    // How many of the digits stand behind the point, and whether the point is still to be written.
    const layouts: { behind: number; point: 0 | 1 }[] = []
    if (phase === "fraction" || (phase === "point" && digits > 0)) layouts.push({ behind: digits, point: 0 })
    else if (phase === "zero" && digits > 0) layouts.push({ behind: digits, point: 1 })
    else if (phase === "zero") layouts.push({ behind: 0, point: 0 })
    else if (phase === "integer") {
      layouts.push({ behind: 0, point: 0 })
      // A point amid the digits pays only where it makes the exponent unnecessary.
      const first = others === 1 ? 1 : Math.max(1, digits)
      for (let behind = first; behind <= digits; behind++) layouts.push({ behind, point: 1 })
    }
    for (const { behind, point } of layouts) {
      const left = others - point
      if (
        left === 0 &&
        (point === 1 || phase === "fraction" || phase === "point" || this.half.text === "any")
      ) {
        const text = this.spell(digits, behind, point, 0, "")
        if (text !== null) return text
      }
      // `e` and k digits, or `e-` and k digits.
      for (const sign of ["", "-"]) {
        const width = left - 1 - sign.length
        if (width < 1 || width > 16) continue
        for (const exponent of this.candidates(digits, behind, sign === "" ? 1 : -1, width)) {
          const text = this.spell(digits, behind, point, exponent, `e${sign}${Math.abs(exponent)}`)
          if (text !== null) return text
        }
      }
    }
    return null
  }

  /**
   * Exponents of that sign and so many digits that are worth trying for `digits` further digits, `behind` of them after
   * the point. Far above the powers of the moduli all exponents are alike, and so far below; what distinguishes them
   * there is an end of the range. So: those near the moduli, and those at both ends.
   */
  private candidates(digits: number, behind: number, sign: 1 | -1, width: number): number[] {
    const { half, significand, places } = this
    const { range, multiple, excluded } = half
    const least = width === 1 ? 0 : 10 ** (width - 1)
    const most = Math.min(10 ** width - 1, 2 ** 52)
    const from = sign === 1 ? least : -most
    const to = sign === 1 ? most : -least
    // How many digits the number has before the point with exponent 0, at most and at least.
    const length = significand === 0n ? 0 : digitCount(significand)
    const size = length + digits - places - behind
    const smallest = significand === 0n ? 1 - places - behind : size
    const floor = multiple === null ? range.lo : larger(range.lo, multiple.value)
    const low = floor.sign > 0 ? Math.max(from, adjusted(floor) - size) : from
    const high = range.hi === null ? to : Math.min(to, adjusted(range.hi) - smallest)
    const exponents: number[] = []
    const push = (first: number, last: number) => {
      for (let at = Math.max(first, low); at <= Math.min(last, high); at++) exponents.push(at)
    }
    const powers = (multiple === null ? excluded : [multiple, ...excluded]).flatMap(({ twos, fives }) => [
      twos,
      fives,
    ])
    if (powers.length > 0) {
      // A significand of n digits has at most 4n twos or fives.
      const reach = 4 * (length + digits) + 2
      const scale = places + behind
      push(Math.min(...powers) + scale - reach, Math.max(...powers) + scale + 1)
    }
    push(low, low + 2)
    push(high - 2, high)
    return exponents
  }

  private spell(
    digits: number,
    behind: number,
    point: 0 | 1,
    exponent: number,
    suffix: string,
  ): string | null {
    const { half, significand, places } = this
    const power = exponent - places - behind
    const rest = firstRest(half.range, half.multiple, half.excluded, significand, digits, power)
    if (rest === null) return null
    const text = digits === 0 ? "" : rest.toString().padStart(digits, "0")
    return text.slice(0, digits - behind) + (point === 1 ? "." : "") + text.slice(digits - behind) + suffix
  }

  /** What the future depends on, as text. */
  private memory(): string {
    const { half, significand, places } = this
    const { range, multiple, excluded } = half
    const free = multiple === null && excluded.length === 0
    if (significand === 0n) {
      if (free && range.lo.sign === 0 && range.hi === null) return range.loOpen ? "+" : ""
      return `${half.key}|${places}`
    }
    const size = digitCount(significand) - places
    const digits = significand.toString()
    let memory = ""
    if (range.lo.sign > 0) memory += `>${boundMemory(digits, size, range.lo, !range.loOpen)}`
    if (range.hi !== null) memory += `<${boundMemory(digits, size, range.hi, range.hiOpen)}`
    for (const modulus of multiple === null ? excluded : [multiple, ...excluded]) {
      memory += `|${modulus === multiple ? "" : "!"}${modulusMemory(significand, places, modulus)}`
    }
    return memory
  }

  /** Whether some digits and some exponent lead into the half. */
  isAlive(): boolean {
    const { half, significand } = this
    const { range, multiple, excluded } = half
    // Zeros so far, and digits and exponents to come: every value of the half can still be written.
    if (significand === 0n || range.hi === null) return true
    if (range.hi.sign === 0) return false
    const least = multiple === null ? range.lo : larger(range.lo, multiple.value)
    // From the largest power down; powers far inside succeed at once, so few are tried.
    for (let power = adjusted(range.hi) - digitCount(significand); ; power--) {
      const above = makeDecimal(significand + 1n, power)
      if (least.sign > 0 && compare(above, least) <= 0) return false
      const slice = intersect(range, makeDecimal(significand, power), above)
      if (slice !== null && hasMember(slice, multiple, excluded)) return true
    }
  }
}

function larger(a: Decimal, b: Decimal): Decimal {
  return compare(a, b) < 0 ? b : a
}

/** Compares two positive decimals as if both were 0.ddd. */
function compareDigits(a: Decimal, b: Decimal): number {
  const x = a.digits.toString()
  const y = b.digits.toString()
  return x === y ? 0 : x < y ? -1 : 1
}

/**
 * A bound seen from a prefix: the exponent at which both have the same size, and the digits of the bound still to be
 * compared. `meets`: equal digits are on the side of larger ones (lower bounds included, upper bounds excluded).
 */
function boundMemory(digits: string, size: number, bound: Decimal, meets: boolean): string {
  const level = adjusted(bound) - size
  const text = bound.digits.toString()
  const shared = Math.min(digits.length, text.length)
  const a = digits.slice(0, shared)
  const b = text.slice(0, shared)
  if (a < b) return `${level + 1}`
  if (a > b) return `${level}`
  if (digits.length < text.length) return `${level}:${text.slice(shared)}${meets ? "=" : ""}`
  if (/[1-9]/.test(digits.slice(shared)) || meets) return `${level}`
  return `${level}:`
}

/** The least E for which value·10^E is a multiple; Infinity when none is. */
function firstExponent(modulus: Modulus, value: Decimal): number {
  if (value.digits % modulus.odd !== 0n) return Number.POSITIVE_INFINITY
  const twos = modulus.twos - valuation(value.digits, 2n)
  const fives = modulus.fives - valuation(value.digits, 5n)
  return Math.max(twos, fives) - value.exponent
}

/**
 * The residue and the powers of a significand s0·10^zeros (how many zeros and places: more digits undo the zeros). With p the prime that the modulus has more often, c times
 * more, a further digit other than 0 makes S the new s0, and min(v_p(s0), c) follows from S modulo p^c.
 */
function modulusMemory(significand: bigint, places: number, modulus: Modulus): string {
  const { odd, twos, fives, key } = modulus
  const surplus = Math.abs(twos - fives)
  const prime = twos > fives ? 2n : 5n
  const residue = significand % (odd * prime ** BigInt(surplus))
  const { digits, exponent } = makeDecimal(significand, -places)
  const power = surplus === 0 ? 0 : Math.min(surplus, valuation(digits, prime))
  return `${key}:${residue},${power},${exponent},${places}`
}
