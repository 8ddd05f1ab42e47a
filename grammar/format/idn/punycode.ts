/**
 * Punycode (RFC 3492) read digit by digit, as immutable values: several continuations can start
 * from the same prefix.
 */

const Base = 36
const InitialPoint = 0x80
const InitialBias = 72

/** The state of decoding after some digits. */
export interface Decoding {
  /** The code points so far. */
  readonly points: readonly number[]
  /** Number of code points that were written literally. */
  readonly basic: number
  /** The next code point is at least `point`, and `place` is the least index for it. */
  readonly point: number
  readonly place: number
  readonly bias: number
  /**
   * The number that is being read: its value so far, the count of its digits, and the weight of the
   * next digit.
   */
  readonly delta: number
  readonly digits: number
  readonly weight: number
}

/** Returns the decoding after the basic code points and their delimiter. */
export function decodingFrom(basic: readonly number[]): Decoding {
  return {
    points: basic,
    basic: basic.length,
    point: InitialPoint,
    place: 0,
    bias: InitialBias,
    delta: 0,
    digits: 0,
    weight: 1,
  }
}

/** Returns the number of digits, from 0 on, that end the number being read. */
export function lastDigits({ digits, bias }: Decoding): number {
  return threshold(digits, bias)
}

/**
 * Returns the decoding after one more digit (0 to 35), or null if the code point could only be
 * above `maxPoint`. O(code points).
 */
export function decoded(decoding: Decoding, digit: number, maxPoint: number): Decoding | null {
  const { points, basic, place, digits, weight } = decoding
  const delta = decoding.delta + digit * weight
  const count = points.length + 1
  const point = decoding.point + Math.floor((place + delta) / count)
  if (point > maxPoint) return null
  const limit = lastDigits(decoding)
  if (digit >= limit) return { ...decoding, delta, digits: digits + 1, weight: weight * (Base - limit) }
  const at = (place + delta) % count
  return {
    points: [...points.slice(0, at), point, ...points.slice(at)],
    basic,
    point,
    place: at + 1,
    bias: adapt(delta, count, points.length === basic),
    delta: 0,
    digits: 0,
    weight: 1,
  }
}

/**
 * Returns the digits (0 to 35) of a label that has no character beyond ASCII except `letter`. RFC
 * 3492, section 6.3.
 */
export function digitsOf(points: readonly number[], letter: number): number[] {
  const written: number[] = []
  const basic = points.filter((point) => point < letter).length
  let [done, bias, delta] = [basic, InitialBias, (letter - InitialPoint) * (basic + 1)]
  for (const point of points) {
    if (point < letter) {
      delta++
      continue
    }
    let rest = delta
    for (let digits = 0; ; digits++) {
      const limit = threshold(digits, bias)
      if (rest < limit) break
      written.push(limit + ((rest - limit) % (Base - limit)))
      rest = Math.floor((rest - limit) / (Base - limit))
    }
    written.push(rest)
    bias = adapt(delta, done + 1, done === basic)
    delta = 0
    done++
  }
  return written
}

function threshold(digits: number, bias: number): number {
  return Math.min(Math.max(Base * (digits + 1) - bias, 1), 26)
}

/** Returns the next bias. RFC 3492, section 6.1. */
function adapt(delta: number, count: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? 700 : 2))
  rest += Math.floor(rest / count)
  let k = 0
  for (; rest > 455; k += Base) rest = Math.floor(rest / 35)
  return k + Math.floor((36 * rest) / (rest + 38))
}
