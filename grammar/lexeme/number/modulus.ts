/**
 * Multiples of a decimal, without expanding any number.
 *
 * A modulus is written odd · 2^twos · 5^fives, where `odd` is coprime to ten and the exponents are
 * signed. Then n · 10^e is a multiple iff odd | n, v2(n) + e ≥ twos and v5(n) + e ≥ fives: three
 * valuations, however large e is. The least common multiple has the lcm of the odd parts and the
 * larger of each exponent.
 *
 * An interval holds a value that is a multiple of M and of none of N1 … Nt iff one of the first 2^t
 * multiples of M in it does: t residue classes that cover 2^t consecutive integers cover all of
 * them (Crittenden, Vanden Eynden 1970), and the class of 1 is never covered as long as no Ni
 * divides M.
 */

import { owned } from "../../tables.ts"
import { adjusted, compare, type Decimal, makeDecimal, scaledTo, subtract, zero } from "./decimal.ts"

export interface Modulus {
  /** Positive and coprime to ten. */
  readonly odd: bigint
  readonly twos: number
  readonly fives: number
  /** Equal moduli have equal keys. */
  readonly key: string
  /** odd · 2^twos · 5^fives. */
  readonly value: Decimal
}

/** Ends of a set of values that are not negative. `hi` is null if there is no upper end. */
export interface Interval {
  readonly lo: Decimal
  readonly loOpen: boolean
  readonly hi: Decimal | null
  readonly hiOpen: boolean
}

const known = owned("moduli", { moduli: new Map<string, Modulus>() }, { entryBytes: 300 })

function makeModulus(odd: bigint, twos: number, fives: number): Modulus {
  const key = `${odd.toString(16)}*${twos}*${fives}`
  let modulus = known.moduli.get(key)
  if (modulus === undefined) {
    const exponent = Math.min(twos, fives)
    const digits = odd * 2n ** BigInt(twos - exponent) * 5n ** BigInt(fives - exponent)
    modulus = { odd, twos, fives, key, value: makeDecimal(digits, exponent) }
    known.moduli.set(key, modulus)
  }
  return modulus
}

/** Returns how often `prime` divides the positive `n`. */
export function valuation(n: bigint, prime: bigint): number {
  let count = 0
  for (let rest = n; rest % prime === 0n; rest /= prime) count++
  return count
}

/** Returns the modulus of a positive decimal. */
export function modulusOf(value: Decimal): Modulus {
  const twos = valuation(value.digits, 2n)
  const fives = valuation(value.digits, 5n)
  const odd = value.digits / (2n ** BigInt(twos) * 5n ** BigInt(fives))
  return makeModulus(odd, twos + value.exponent, fives + value.exponent)
}

/** Returns 10^exponent. Its multiples are the numbers with −exponent decimal places. */
export function powerOfTen(exponent: number): Modulus {
  return makeModulus(1n, exponent, exponent)
}

/** Returns M · 10^places. */
export function shiftModulus(modulus: Modulus, places: number): Modulus {
  return makeModulus(modulus.odd, modulus.twos + places, modulus.fives + places)
}

export function lcm(a: Modulus, b: Modulus): Modulus {
  if (a === b) return a
  const common = a.odd === 1n || b.odd === 1n ? 1n : gcd(a.odd, b.odd)
  const [twos, fives] = [Math.max(a.twos, b.twos), Math.max(a.fives, b.fives)]
  // Mostly, one of them is a multiple of the other.
  if (common === b.odd && twos === a.twos && fives === a.fives) return a
  if (common === a.odd && twos === b.twos && fives === b.fives) return b
  return makeModulus((a.odd / common) * b.odd, twos, fives)
}

function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b]
  while (y !== 0n) [x, y] = [y, x % y]
  return x
}

export function isIntegral(modulus: Modulus): boolean {
  return modulus.twos >= 0 && modulus.fives >= 0
}

/** Returns whether digits · 10^exponent is a multiple of the modulus. */
export function divides(modulus: Modulus, digits: bigint, exponent: number): boolean {
  if (digits === 0n) return true
  const { odd, twos, fives } = modulus
  return digits % odd === 0n && holds(digits, 2n, twos - exponent) && holds(digits, 5n, fives - exponent)
}

/** Returns whether `prime`^count divides `n`, which is not zero. */
function holds(n: bigint, prime: bigint, count: number): boolean {
  if (count <= 0) return true
  let rest = n
  for (let left = count; left > 0; left--) {
    if (rest % prime !== 0n) return false
    rest /= prime
  }
  return true
}

export function isMultipleOf(value: Decimal, modulus: Modulus): boolean {
  return divides(modulus, value.digits, value.exponent)
}

/**
 * Returns whether `value` is a multiple of `multiple` (null: any value) and of none of `excluded`.
 */
export function isMember(value: Decimal, multiple: Modulus | null, excluded: readonly Modulus[]): boolean {
  if (multiple !== null && !isMultipleOf(value, multiple)) return false
  return !excluded.some((modulus) => isMultipleOf(value, modulus))
}

/**
 * Returns whether the interval has a member in the sense of `isMember`. No modulus in `excluded`
 * divides `multiple`. Costs the digits of the ends and of the moduli.
 */
export function hasMember(range: Interval, multiple: Modulus | null, excluded: readonly Modulus[]): boolean {
  const { lo, hi } = range
  if (hi === null) return true
  const order = compare(lo, hi)
  if (order >= 0) return order === 0 && !range.loOpen && !range.hiOpen && isMember(lo, multiple, excluded)
  if (multiple === null) return true
  return firstMember(range, multiple, excluded, true) !== null
}

/**
 * Returns the smallest member of an interval with lo < hi, or null. With `anyWill` it may return
 * any decimal if the interval is long enough to certainly hold a member.
 */
export function firstMember(
  range: Interval,
  multiple: Modulus,
  excluded: readonly Modulus[],
  anyWill: boolean,
): Decimal | null {
  const step = multiple.value
  const tries = 2 ** excluded.length
  const { lo, loOpen, hi, hiOpen } = snap(range, step.exponent)
  if (hi !== null && compare(step, hi) > 0) {
    // Zero is the only multiple that is small enough.
    return lo.sign === 0 && !loOpen && excluded.length === 0 ? zero : null
  }
  if (anyWill && hi !== null && isLonger(lo, hi, step, tries + 1)) return lo
  const exponent = step.exponent
  const unit = step.digits
  const low = scaledTo(lo, exponent)
  let at = ((low + unit - 1n) / unit) * unit
  if (loOpen && at === low) at += unit
  const high = hi === null ? null : scaledTo(hi, exponent)
  for (let left = tries; left > 0; left--, at += unit) {
    if (high !== null && (at > high || (at === high && hiOpen))) return null
    if (!excluded.some((modulus) => divides(modulus, at, exponent))) return makeDecimal(at, exponent)
  }
  return null
}

/** Returns whether `hi` − `lo` is at least `count` steps. */
function isLonger(lo: Decimal, hi: Decimal, step: Decimal, count: number): boolean {
  const enough = makeDecimal(step.digits * BigInt(count), step.exponent)
  // A far larger `hi` shows in its places, so the subtraction never aligns distant exponents.
  if (adjusted(lo) < adjusted(hi) - 1 && adjusted(enough) < adjusted(hi) - 1) return true
  return compare(subtract(hi, lo), enough) >= 0
}

/**
 * Returns true if the interval is long enough to certainly hold `count` members. False proves
 * nothing.
 */
export function hasManyMembers(
  range: Interval,
  multiple: Modulus,
  excluded: readonly Modulus[],
  count: number,
): boolean {
  const { lo, hi } = snap(range, multiple.value.exponent)
  if (hi === null) return true
  if (compare(multiple.value, hi) > 0) return false
  return isLonger(lo, hi, multiple.value, (count + 1) * 2 ** excluded.length + 1)
}

/** Returns the part of the range in [lo, hi), or null if it is empty. */
export function intersect(range: Interval, lo: Decimal, hi: Decimal): Interval | null {
  const low = compare(range.lo, lo) >= 0
  const high = range.hi !== null && compare(range.hi, hi) < 0
  const result = {
    lo: low ? range.lo : lo,
    loOpen: low && range.loOpen,
    hi: high ? range.hi : hi,
    hiOpen: high ? range.hiOpen : true,
  }
  return compare(result.lo, result.hi as Decimal) > 0 ? null : result
}

/** Moves both ends inwards to multiples of 10^exponent; the interval holds the same multiples. */
export function snap(range: Interval, exponent: number): Interval {
  let { lo, loOpen, hi, hiOpen } = range
  if (lo.sign > 0 && lo.exponent < exponent) {
    lo = makeDecimal(truncate(lo, exponent) + 1n, exponent)
    loOpen = false
  }
  if (hi !== null && hi.sign > 0 && hi.exponent < exponent) {
    hi = makeDecimal(truncate(hi, exponent), exponent)
    hiOpen = false
  }
  return { lo, loOpen, hi, hiOpen }
}

/** Returns floor(value / 10^exponent) for a positive value with a smaller exponent of its own. */
function truncate(value: Decimal, exponent: number): bigint {
  return adjusted(value) <= exponent ? 0n : value.digits / 10n ** BigInt(exponent - value.exponent)
}
