/**
 * Exact decimal numbers that are never expanded: `1e999999999` is one digit and an exponent.
 *
 * A JSON number means sign · digits · 10^exponent. The digits are a BigInt without trailing zeros,
 * so equal values have equal fields; zero is (0, 0n, 0). A comparison looks at the adjusted
 * exponent (the place of the first digit) before it aligns digits. So every operation costs as much
 * as the digits that were written, however large the value is.
 */
import { fixedBounds, GrammarError, limitError } from "../../errors.ts"

export interface Decimal {
  readonly sign: 1 | -1 | 0
  /** Not negative. Not divisible by ten, except for zero. */
  readonly digits: bigint
  readonly exponent: number
}

export const zero: Decimal = { sign: 0, digits: 0n, exponent: 0 }

const numberText = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/

/**
 * Returns the value of an RFC 8259 number. Throws a `limit` error for exponents beyond ±2^50, and a
 * `syntax` error for other texts.
 */
export function parseDecimal(text: string): Decimal {
  const match = numberText.exec(text)
  if (match === null) throw new GrammarError("syntax", "", `${JSON.stringify(text)} is not a JSON number`)
  const fraction = match[3] ?? ""
  const digits = BigInt(match[2] + fraction)
  if (digits === 0n) return zero
  const exponent = Number(match[4] ?? 0)
  if (Math.abs(exponent) > fixedBounds.exponent)
    throw limitError(fixedBounds, "exponent", Math.abs(exponent), "", { text })
  return makeDecimal(match[1] === "-" ? -digits : digits, exponent - fraction.length)
}

/** Returns digits · 10^exponent, normalized. */
export function makeDecimal(digits: bigint, exponent: number): Decimal {
  if (digits === 0n) return zero
  const magnitude = digits < 0n ? -digits : digits
  let stripped = magnitude
  let zeros = 0
  if (magnitude % 10n === 0n) {
    const text = magnitude.toString()
    let end = text.length
    while (text.charCodeAt(end - 1) === 48) end--
    zeros = text.length - end
    stripped = BigInt(text.slice(0, end))
  }
  return { sign: digits < 0n ? -1 : 1, digits: stripped, exponent: exponent + zeros }
}

/**
 * Numbers below `Few` are counted as floats. Powers of ten are cached up to `ManyDigits` digits.
 */
const Few = 10n ** 15n
const ManyDigits = 2_000
/** Cache of 10^n, by n. */
const powers: bigint[] = []

function powerOf(exponent: number): bigint {
  powers[exponent] ??= 10n ** BigInt(exponent)
  return powers[exponent]
}

/**
 * Returns the count of decimal digits of a positive integer. Small integers are counted directly,
 * larger ones are bounded by their bits, because writing them out takes quadratic time.
 */
export function digitCount(digits: bigint): number {
  if (digits < Few) {
    const value = Number(digits)
    let count = 1
    for (let bound = 10; value >= bound; bound *= 10) count++
    return count
  }
  const hex = digits.toString(16)
  const bits = 4 * hex.length - 3 + Math.floor(Math.log2(Number.parseInt(hex[0], 16)))
  // 2^(bits − 1) ≤ digits < 2^bits.
  let count = Math.floor((bits - 1) * Math.log10(2))
  if (count > ManyDigits) return digits.toString().length
  while (digits >= powerOf(count)) count++
  return count
}

/**
 * Returns the exponent of the power of ten just above |value|: 10^(adjusted − 1) ≤ |value| <
 * 10^adjusted. −Infinity for zero.
 */
export function adjusted(value: Decimal): number {
  return value.sign === 0 ? Number.NEGATIVE_INFINITY : digitCount(value.digits) + value.exponent
}

/** Returns a negative number, zero or a positive number as a < b, a = b, a > b. */
export function compare(a: Decimal, b: Decimal): number {
  if (a.sign !== b.sign) return a.sign - b.sign
  if (a.sign === 0) return 0
  const places = adjusted(a) - adjusted(b)
  if (places !== 0) return places * a.sign
  const shift = a.exponent - b.exponent
  const x = shift > 0 ? a.digits * 10n ** BigInt(shift) : a.digits
  const y = shift < 0 ? b.digits * 10n ** BigInt(-shift) : b.digits
  return x === y ? 0 : x < y ? -a.sign : a.sign
}

export function equals(a: Decimal, b: Decimal): boolean {
  return a.sign === b.sign && a.digits === b.digits && a.exponent === b.exponent
}

export function negate(value: Decimal): Decimal {
  return value.sign === 0 ? value : { ...value, sign: value.sign === 1 ? -1 : 1 }
}

/** Returns value · 10^places. */
export function shift(value: Decimal, places: number): Decimal {
  return value.sign === 0 ? value : { ...value, exponent: value.exponent + places }
}

/**
 * Returns the integer value / 10^exponent. `exponent` is at most that of the value. Costs as many
 * digits as lie between the two.
 */
export function scaledTo(value: Decimal, exponent: number): bigint {
  if (value.sign === 0) return 0n
  const magnitude = value.digits * 10n ** BigInt(value.exponent - exponent)
  return value.sign < 0 ? -magnitude : magnitude
}

/** Returns a − b. It aligns the digits, so the exponents must not be astronomically far apart. */
export function subtract(a: Decimal, b: Decimal): Decimal {
  if (b.sign === 0) return a
  if (a.sign === 0) return negate(b)
  const exponent = Math.min(a.exponent, b.exponent)
  return makeDecimal(scaledTo(a, exponent) - scaledTo(b, exponent), exponent)
}

export function isInteger(value: Decimal): boolean {
  return value.exponent >= 0
}

/** Returns the largest integer ≤ value. Expands the integer part. */
export function floor(value: Decimal): bigint {
  if (value.exponent >= 0) return scaledTo(value, 0)
  if (adjusted(value) <= 0) return value.sign < 0 ? -1n : 0n
  const magnitude = value.digits / 10n ** BigInt(-value.exponent)
  return value.sign < 0 ? -magnitude - 1n : magnitude
}

/** Returns the smallest integer ≥ value. Expands the integer part. */
export function ceil(value: Decimal): bigint {
  return -floor(negate(value))
}

/**
 * Returns a readable text that parses back to the value: without an exponent if at most 21 digits
 * precede the point and at most 40 follow it.
 */
export function toText(value: Decimal): string {
  const places = adjusted(value)
  return places > 21 || value.exponent < -40 ? toExponentText(value) : toPlainText(value)
}

/** Writes every place, without an exponent. Costs as many characters as there are places. */
export function toPlainText(value: Decimal): string {
  if (value.sign === 0) return "0"
  const sign = value.sign < 0 ? "-" : ""
  const digits = value.digits.toString()
  if (value.exponent >= 0) return sign + digits + "0".repeat(value.exponent)
  const point = digits.length + value.exponent
  if (point > 0) return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
  return `${sign}0.${"0".repeat(-point)}${digits}`
}

/** Writes one digit before the point, and the exponent: `1.5e400`. */
export function toExponentText(value: Decimal): string {
  if (value.sign === 0) return "0"
  const digits = value.digits.toString()
  const rest = digits.length > 1 ? `.${digits.slice(1)}` : ""
  return `${value.sign < 0 ? "-" : ""}${digits[0]}${rest}e${value.exponent + digits.length - 1}`
}
