/**
 * The digits of a number, a point and the exponent: one half of a cell as a finite automaton.
 *
 * A significand S with f digits after the point and an exponent E mean S·10^(E−f). For a fixed S,
 * each condition on the value is a threshold on E: a bound compares its digits with those of S and
 * asks for E above or below some integer; a modulus odd·2^twos·5^fives asks for E ≥ T once odd
 * divides S. So at `e` a part turns into an interval of exponents, and without exponents the text
 * may end if 0 lies in that interval. Further digits before the point act on S as an exponent does,
 * so both forms keep the same conditions of a half.
 *
 * A part forgets as much of S as possible. It keeps the threshold and the digits not yet compared
 * of each bound, and the residue and the threshold of each modulus. With nothing to remember the
 * parts are the six states of a JSON number. Without exponents more is forgotten, since E is 0 in
 * the end: thresholds below 0, and all of S but its residue modulo the least integer that all
 * moduli divide. A prefix strictly inside its bounds is "any k digits", the same part in every
 * schema. The part still holds one S as a witness. The witness decides whether anything can follow,
 * with the same result for every S of an equal key.
 */

import { owned } from "../../tables.ts"
import { ownText } from "../../utf8.ts"
import type { Half } from "./cell.ts"
import { decimalKey, makeHalf } from "./cell.ts"
import {
  adjusted,
  ceil,
  compare,
  type Decimal,
  digitCount,
  floor,
  isInteger,
  makeDecimal,
  scaledTo,
  shift,
  subtract,
  zero,
} from "./decimal.ts"
import {
  divides,
  firstMember,
  hasMember,
  type Interval,
  intersect,
  isIntegral,
  isMember,
  lcm,
  type Modulus,
  powerOfTen,
  shiftModulus,
  snap,
  valuation,
} from "./modulus.ts"
import { noSpans, type Part, Point, type Span, shortestDigits } from "./part.ts"

type Phase = "zero" | "integer" | "point" | "fraction"

const unit = makeDecimal(1n, 0)
const one = powerOfTen(0)

/** Returns the part that accepts the texts of a non-empty half, with exponents. */
export function scientificPart(half: Half): Part {
  return new Start(half, null)
}

/**
 * Returns a part for the texts of a half without exponents, or null if there are none. `digits`
 * (may be Infinity) bounds the digits before the point, `places` those after it; 0 places forbid
 * the point. `places` must be 0 if `digits` is Infinity. Both become part of the half: the first as
 * an upper end, the second as the grid 10^-places.
 */
export function fixedPart(
  { range, multiple, excluded, text }: Half,
  digits: number,
  places: number,
): Part | null {
  const grid = powerOfTen(-places)
  const step = multiple === null ? grid : lcm(multiple, grid)
  const others = excluded.map((modulus) => lcm(modulus, step))
  if (others.includes(step)) return null
  let bounded = range
  const limit = digits === Number.POSITIVE_INFINITY ? null : makeDecimal(1n, digits)
  if (limit !== null && (range.hi === null || compare(range.hi, limit) >= 0))
    bounded = { ...range, hi: limit, hiOpen: true }
  if (bounded.hi !== null && compare(range.lo, bounded.hi) > 0) return null
  const snapped = snap(bounded, step.value.exponent)
  const half = makeHalf(places === 0 ? integerEnds(snapped) : snapped, step, others, text)
  return half && new Start(half, places)
}

/**
 * Returns closed integer ends that hold the same integers, so that `x > 5` and `x ≥ 6` become one
 * part.
 */
function integerEnds({ lo, loOpen, hi, hiOpen }: Interval): Interval {
  let low = ceil(lo)
  if (loOpen && isInteger(lo)) low += 1n
  if (hi === null) return { lo: makeDecimal(low, 0), loOpen: false, hi, hiOpen }
  // 10^digits stays an open end: it means "any `digits` digits" and has one digit itself.
  if (hiOpen && hi.digits === 1n) return { lo: makeDecimal(low, 0), loOpen: false, hi, hiOpen }
  let high = floor(hi)
  if (hiOpen && isInteger(hi)) high -= 1n
  return { lo: makeDecimal(low, 0), loOpen: false, hi: makeDecimal(high, 0), hiOpen: false }
}

class Start implements Part {
  readonly key: string
  readonly accepting = false
  readonly half: Half
  /** Largest count of digits after the point; null allows any count, and an exponent. */
  readonly maxPlaces: number | null

  constructor(half: Half, maxPlaces: number | null) {
    this.half = half
    this.maxPlaces = maxPlaces
    this.key = `${maxPlaces ?? "S"}^${half.key}`
  }

  next(symbol: number): Part | null {
    if (symbol > 9) return null
    return makePart(this, symbol === 0 ? "zero" : "integer", BigInt(symbol), 0)
  }

  exponents(): readonly Span[] {
    return noSpans
  }

  shortest(limit: number): string | null {
    return shortestDigits(this, limit)
  }
}

/**
 * Returns the part after a significand with `places` digits after the point, or null if no text
 * follows.
 */
function makePart(start: Start, phase: Phase, significand: bigint, places: number): Part | null {
  if (start.maxPlaces !== null && (phase === "point" ? 1 : places) > start.maxPlaces) return null
  const part = new Significand(start, phase, ...shorten(start.half, significand, places))
  return part.isAlive() ? part : null
}

/**
 * Bounds depend on no more digits than they have themselves, so all further digits become one digit
 * that says whether they were zeros. Moduli depend on every digit. The places may become negative;
 * the magnitude of the number stays the same.
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
  readonly start: Start
  readonly half: Half
  readonly phase: Phase
  readonly significand: bigint
  /** Count of digits after the point, minus the digits that `shorten` has dropped. */
  readonly places: number

  constructor(start: Start, phase: Phase, significand: bigint, places: number) {
    const { half, maxPlaces } = start
    this.start = start
    this.half = half
    this.phase = phase
    this.significand = significand
    this.places = places
    const notDigits = half.text === "notDigits"
    const ends = phase === "fraction" || (phase !== "point" && !notDigits)
    this.accepting = ends && this.thresholds().some(({ lo, hi }) => lo <= 0 && 0 <= hi)
    const digitsOnly = notDigits && (phase === "zero" || phase === "integer") ? "!" : ""
    const memory = maxPlaces === null ? this.memory() : this.fixedMemory(maxPlaces - places)
    this.key = ownText(`${maxPlaces === null ? "S" : "F"}${phase}${digitsOnly}|${memory}`)
  }

  next(symbol: number): Part | null {
    const { start, phase, significand, places } = this
    if (symbol === Point) {
      return phase === "zero" || phase === "integer" ? makePart(start, "point", significand, places) : null
    }
    if (symbol > 9 || phase === "zero") return null
    const digits = significand * 10n + BigInt(symbol)
    return phase === "integer"
      ? makePart(start, phase, digits, places)
      : makePart(start, "fraction", digits, places + 1)
  }

  exponents(): readonly Span[] {
    return this.phase === "point" || this.start.maxPlaces !== null ? noSpans : this.thresholds()
  }

  /** Returns the exponents E with significand·10^(E − places) in the half. */
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
    // Both are infinite if there is only a modulus and no exponent meets it.
    return low <= high && low !== Number.POSITIVE_INFINITY ? [{ lo: low, hi: high }] : noSpans
  }

  shortest(limit: number): string | null {
    if (this.accepting) return limit > 0 ? "" : null
    for (let length = 1; length < limit; length++) {
      // Without an exponent only a point may stand beside the digits.
      const least = this.start.maxPlaces === null ? 0 : length - 1
      for (let digits = least; digits <= length; digits++) {
        const text = this.completion(digits, length - digits)
        if (text !== null) return text
      }
    }
    return null
  }

  /**
   * Returns a completion with `digits` digits and `others` other characters: a point, an exponent.
   */
  private completion(digits: number, others: number): string | null {
    const { half, phase, significand, places } = this
    const { maxPlaces } = this.start
    // How many of the digits stand behind the point, and whether the point is still to be written.
    const layouts: { behind: number; point: 0 | 1 }[] = []
    if (phase === "fraction" || (phase === "point" && digits > 0)) layouts.push({ behind: digits, point: 0 })
    else if (phase === "zero" && digits > 0) layouts.push({ behind: digits, point: 1 })
    else if (phase === "zero") layouts.push({ behind: 0, point: 0 })
    else if (phase === "integer") {
      layouts.push({ behind: 0, point: 0 })
      // A point amid the digits pays only if it avoids the exponent. Then the bounds give its
      // approximate position.
      const { lo, hi } = half.range
      const size = digits + digitCount(significand) - places
      const fewest = others > 1 ? digits : hi === null ? 1 : Math.max(1, size - adjusted(hi))
      const most = others > 1 ? digits : Math.min(digits, size - adjusted(lo))
      for (let behind = most; behind >= Math.max(1, fewest); behind--) layouts.push({ behind, point: 1 })
    }
    for (const { behind, point } of layouts) {
      if (maxPlaces !== null && places + behind > maxPlaces) continue
      const left = others - point
      const hasPoint = point === 1 || phase === "fraction" || phase === "point"
      if (left === 0 && (hasPoint || half.text !== "notDigits")) {
        const text = this.spell(digits, behind, point, 0, "")
        if (text !== null) return text
      }
      if (maxPlaces !== null) continue
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
   * Returns the exponents with this sign and `width` digits that are worth trying for `digits`
   * further digits, `behind` of them after the point. All exponents far above the powers of the
   * moduli are alike, and so are all far below; only the ends of the range distinguish them. So it
   * returns those near the moduli and those at both ends.
   */
  private candidates(digits: number, behind: number, sign: 1 | -1, width: number): number[] {
    const { half, significand, places } = this
    const { range, multiple, excluded } = half
    const least = width === 1 ? 0 : 10 ** (width - 1)
    const most = Math.min(10 ** width - 1, 2 ** 52)
    const from = sign === 1 ? least : -most
    const to = sign === 1 ? most : -least
    // Count of digits that the number has before the point with exponent 0, at most and at least.
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
    const rest = this.firstRest(digits, exponent - this.places - behind)
    if (rest === null) return null
    const text = digits === 0 ? "" : rest.toString().padStart(digits, "0")
    return text.slice(0, digits - behind) + (point === 1 ? "." : "") + text.slice(digits - behind) + suffix
  }

  /**
   * Returns the least `digits` further digits that make a value of the half, or null. The last
   * digit stands for 10^`power`.
   */
  private firstRest(digits: number, power: number): bigint | null {
    const { half, significand } = this
    const grid = powerOfTen(power)
    const step = half.multiple === null ? grid : lcm(half.multiple, grid)
    const ends = [significand, significand + 1n].map((value) => makeDecimal(value, power + digits))
    const slice = intersect(half.range, ends[0], ends[1])
    if (slice === null || firstMember(slice, step, [], false) === null) return null
    const others = half.excluded.map((modulus) => lcm(modulus, step))
    if (others.includes(step)) return null
    const value = firstMember(slice, step, others, false)
    return value === null ? null : scaledTo(value, power) - significand * 10n ** BigInt(digits)
  }

  /** Returns a text of everything on which the possible continuations depend. */
  private memory(): string {
    const { half, significand, places } = this
    const { range, multiple, excluded } = half
    const free = multiple === null && excluded.length === 0
    if (significand === 0n) {
      if (free && range.lo.sign === 0 && range.hi === null) return range.loOpen ? "+" : ""
      return `${half.key}|${places}`
    }
    let memory = ""
    if (range.lo.sign > 0) memory += `>${thresholdText(this.threshold(range.lo, !range.loOpen))}`
    if (range.hi !== null) memory += `<${thresholdText(this.threshold(range.hi, range.hiOpen))}`
    for (const modulus of multiple === null ? excluded : [multiple, ...excluded]) {
      memory += `|${modulus === multiple ? "" : "!"}${modulusMemory(significand, places, modulus)}`
    }
    return memory
  }

  /**
   * Like `memory`, if no exponent follows and at most `left` more digits stand behind the point.
   */
  private fixedMemory(left: number): string {
    const { half, phase, significand, places } = this
    const { lo, loOpen, hi, hiOpen } = half.range
    if (phase === "integer") {
      let memory = `${left}|${residueText(significand, half.multiple ?? one, half.excluded)}`
      const low = lo.sign > 0 ? this.threshold(lo, !loOpen) : null
      if (low !== null && low.level >= (low.rest === null ? 1 : 0)) memory += `>${thresholdText(low)}`
      return hi === null ? memory : `${memory}<${thresholdText(this.threshold(hi, hiOpen))}`
    }
    const multiple = shiftModulus(half.multiple ?? one, places)
    // At most zeros may follow, so the origin of the number no longer matters.
    if (isIntegral(multiple)) return `${left}|`
    const excluded = new Set<Modulus>()
    for (const modulus of half.excluded) {
      const shifted = shiftModulus(modulus, places)
      // Zeros keep a multiple of an integer modulus only if the digits so far are one.
      if (!isIntegral(shifted)) excluded.add(shifted)
      else if (divides(shifted, significand, 0)) excluded.add(lcm(one, multiple))
    }
    return `${left}|${residueText(significand, multiple, [...excluded])}${restText(half.range, significand, places)}`
  }

  /** Compares the significand with `bound`. `meets` counts equal digits as larger ones. */
  private threshold(bound: Decimal, meets: boolean): Threshold {
    return thresholdOf(this.significand.toString(), digitCount(this.significand) - this.places, bound, meets)
  }

  /** Returns whether some digits, and an exponent if one may follow, lead into the half. */
  isAlive(): boolean {
    const { half, phase, significand, places } = this
    const { range, multiple, excluded } = half
    const { maxPlaces } = this.start
    // Powers of ten that the last digit of the significand may stand for. Each further digit before
    // the point raises it by one.
    const isPlaced = maxPlaces !== null && phase !== "integer"
    const lowest = maxPlaces === null ? Number.NEGATIVE_INFINITY : -places
    if (!isPlaced) {
      // All digits are zeros so far, and digits and exponents may follow: the text can still become
      // every value of the half.
      if (significand === 0n || range.hi === null) return true
      if (range.hi.sign === 0) return false
    }
    const least = multiple === null ? range.lo : larger(range.lo, multiple.value)
    const highest = isPlaced || range.hi === null ? lowest : adjusted(range.hi) - digitCount(significand)
    // Goes down from the largest power. Powers far inside succeed at once, so few are tried.
    for (let power = highest; power >= lowest; power--) {
      const above = makeDecimal(significand + 1n, power)
      if (!isPlaced && least.sign > 0 && compare(above, least) <= 0) return false
      const slice = intersect(range, makeDecimal(significand, power), above)
      if (slice !== null && hasMember(slice, multiple, excluded)) return true
    }
    return false
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
 * A bound as seen from a prefix: the exponent at which both have the same size, and the digits of
 * the bound that are not compared yet. `rest` is null if these decide nothing: then a lower bound
 * requires at least `level`, and an upper one requires less.
 */
interface Threshold {
  readonly level: number
  readonly rest: string | null
}

function thresholdText({ level, rest }: Threshold): string {
  return rest === null ? `${level}` : `${level}:${rest}`
}

/**
 * `meets` counts equal digits as larger ones, as an included lower or an excluded upper bound does.
 */
function thresholdOf(digits: string, size: number, bound: Decimal, meets: boolean): Threshold {
  const level = adjusted(bound) - size
  const text = bound.digits.toString()
  const shared = Math.min(digits.length, text.length)
  const a = digits.slice(0, shared)
  const b = text.slice(0, shared)
  if (a < b) return { level: level + 1, rest: null }
  if (a > b) return { level, rest: null }
  if (digits.length < text.length) return { level, rest: `${text.slice(shared)}${meets ? "=" : ""}` }
  return { level, rest: /[1-9]/.test(digits.slice(shared)) || meets ? null : "" }
}

/**
 * Returns the bounds on the fraction in [0, 1) that may follow the digits, in units of the last
 * digit.
 */
function restText({ lo, loOpen, hi, hiOpen }: Interval, significand: bigint, places: number): string {
  const start = makeDecimal(significand, 0)
  const low = subtract(shift(lo, places), start)
  const high = hi && subtract(shift(hi, places), start)
  const isLow = low.sign > 0 || (low.sign === 0 && loOpen)
  const isHigh = high !== null && compare(high, unit) < 0
  return `${isLow ? `>${decimalKey(low)}${loOpen ? "" : "="}` : ""}${isHigh ? `<${decimalKey(high)}${hiOpen ? "" : "="}` : ""}`
}

/** Returns the moduli, and the residue modulo the least integer that all of them divide. */
function residueText(significand: bigint, multiple: Modulus, excluded: readonly Modulus[]): string {
  const key = `${multiple.key}/${excluded.map((modulus) => modulus.key).join()}`
  let period = known.periods.get(key)
  if (period === undefined) {
    const { digits, exponent } = [multiple, ...excluded].reduce(lcm, one).value
    period = digits * 10n ** BigInt(exponent)
    known.periods.set(key, period)
  }
  return `${key}/${significand % period}`
}

const known = owned("moduli", { periods: new Map<string, bigint>() }, { entryBytes: 100 })

/** Returns the least E for which value·10^E is a multiple; Infinity if there is none. */
function firstExponent(modulus: Modulus, value: Decimal): number {
  if (value.digits % modulus.odd !== 0n) return Number.POSITIVE_INFINITY
  const twos = modulus.twos - valuation(value.digits, 2n)
  const fives = modulus.fives - valuation(value.digits, 5n)
  return Math.max(twos, fives) - value.exponent
}

/**
 * Returns the residue and the powers of a significand s0·10^zeros (and the zeros and places: more
 * digits undo the zeros). With p the prime that the modulus has more often, c times more, a further
 * digit other than 0 makes S the new s0, and min(v_p(s0), c) follows from S modulo p^c.
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
