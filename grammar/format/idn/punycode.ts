/**
 * Punycode (RFC 3492) read digit by digit, as values: what a beginning says stays as it is while
 * others go on from it.
 */

const Base = 36
const InitialPoint = 0x80
const InitialBias = 72

/** What has been read so far. */
export interface Decoding {
  /** The code points so far. */
  readonly points: readonly number[]
  /** How many of them were written as they are. */
  readonly basic: number
  /** Where the next code point is looked for: from this one on, and at this place. */
  readonly point: number
  readonly place: number
  readonly bias: number
  /**
   * Of the number that is being read: its digits so far, how many there are, and what the next one
   * counts.
   */
  readonly delta: number
  readonly digits: number
  readonly weight: number
}

/** After the basic code points and their delimiter. */
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

/** How many digits, from 0 on, end the number that is being read. */
export function lastDigits({ digits, bias }: Decoding): number {
  return threshold(digits, bias)
}

/**
 * After one more digit (0 to 35); null where the code point could only be above `maxPoint`. O(code
 * points).
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
 * The digits (0 to 35) of a label that has no character beyond ASCII but `letter`. RFC 3492,
 * section 6.3.
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

/** RFC 3492, section 6.1. */
function adapt(delta: number, count: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? 700 : 2))
  rest += Math.floor(rest / count)
  let k = 0
  for (; rest > 455; k += Base) rest = Math.floor(rest / 35)
  return k + Math.floor((36 * rest) / (rest + 38))
}
