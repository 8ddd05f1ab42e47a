/**
 * Exact decimal arithmetic on the text of JSON numbers: value = digits × 10^exponent, both BigInt.
 *
 * Nothing is ever expanded: magnitudes are compared by their leading position first, and divisibility of 1e999999999
 * is decided by a modular power, so that no number costs more than its text.
 */
export interface Exact {
  /** With its sign; no trailing zero unless it is 0. */
  readonly digits: bigint
  readonly exponent: bigint
}

export function exact(text: string): Exact {
  const [, sign, whole, fraction = "", power = "0"] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(
    text,
  ) as RegExpExecArray
  const significant = (whole + fraction).replace(/0+$/, "")
  const dropped = whole.length + fraction.length - significant.length
  const digits = BigInt(significant === "" ? "0" : significant)
  if (digits === 0n) return { digits: 0n, exponent: 0n }
  const exponent = BigInt(power.replace("+", "")) - BigInt(fraction.length) + BigInt(dropped)
  return { digits: sign === "-" ? -digits : digits, exponent }
}

const magnitudeOf = (n: Exact) => BigInt(`${n.digits < 0n ? -n.digits : n.digits}`.length) + n.exponent
const signOf = (n: Exact) => (n.digits === 0n ? 0 : n.digits > 0n ? 1 : -1)

/** Negative, zero or positive as `a` is below, equal to or above `b`. */
export function compare(a: Exact, b: Exact): number {
  const sign = signOf(a)
  if (sign !== signOf(b)) return sign - signOf(b)
  if (sign === 0) return 0
  const left = magnitudeOf(a)
  const right = magnitudeOf(b)
  if (left !== right) return left > right ? sign : -sign
  // Equal leading positions: the exponents differ by no more than the digits do.
  const low = a.exponent < b.exponent ? a.exponent : b.exponent
  const difference = a.digits * 10n ** (a.exponent - low) - b.digits * 10n ** (b.exponent - low)
  return difference === 0n ? 0 : difference > 0n ? 1 : -1
}

export function isIntegral(n: Exact): boolean {
  return n.digits === 0n || n.exponent >= 0n
}

/** Whether n / divisor is an integer. `divisor` is above 0. */
export function isMultiple(n: Exact, divisor: Exact): boolean {
  if (n.digits === 0n) return true
  const shift = n.exponent - divisor.exponent
  if (shift >= 0n) return (n.digits * powerModulo(10n, shift, divisor.digits)) % divisor.digits === 0n
  // digits / (divisor × 10^-shift) is a proper fraction as soon as the power alone has more digits.
  if (-shift > BigInt(`${n.digits}`.length)) return false
  return n.digits % (divisor.digits * 10n ** -shift) === 0n
}

function powerModulo(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n % modulus
  let square = base % modulus
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus
    square = (square * square) % modulus
  }
  return result
}

/** Equal values have equal keys. */
export function exactKey(n: Exact): string {
  return `${n.digits}e${n.exponent}`
}
