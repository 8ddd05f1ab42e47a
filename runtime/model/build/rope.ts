/**
 * Rotary positions: the angles by which a model rotates its queries and keys, as tables of cosines
 * and sines [positions, n / 2].
 *
 * For n rotated numbers, pair i rotates by base^(−2i/n) per position. Models that were extended to
 * longer texts slow some pairs down: *linear* slows all of them equally; *llama3* and *longrope*
 * slow each by a separate factor; *yarn* (Peng et al. 2023) slows only the slow pairs, with a ramp
 * between, and scales the tables so that attention stays as sharp.
 */

/** How the pairs of a head are rotated. */
export interface Rope {
  /** Angle of each pair per position. */
  readonly frequencies: readonly number[]
  /** Factor by which both tables are multiplied. */
  readonly magnitude: number
  /** Whether pairs are neighbours (2i, 2i + 1) instead of (i, i + n / 2). */
  readonly isInterleaved: boolean
}

export type Stretch =
  | { readonly kind: "none" }
  | { readonly kind: "linear"; readonly factor: number }
  | { readonly kind: "factors"; readonly factors: ArrayLike<number> }
  | {
      readonly kind: "llama3"
      readonly factor: number
      readonly low: number
      readonly high: number
      readonly original: number
    }
  | {
      readonly kind: "yarn"
      readonly factor: number
      readonly original: number
      readonly fast: number
      readonly slow: number
      /** Whether the ends of the ramp are rounded to whole pairs. */
      readonly isTruncated: boolean
    }

/** Returns the angles per position of `dims` rotated numbers. */
export function ropeFrequencies(dims: number, base: number, stretch: Stretch): number[] {
  const plain = Array.from({ length: dims / 2 }, (_, pair) => base ** ((-2 * pair) / dims))
  switch (stretch.kind) {
    case "none":
      return plain
    case "linear":
      return plain.map((angle) => angle / stretch.factor)
    case "factors":
      return plain.map((angle, pair) => angle / stretch.factors[pair])
    case "llama3":
      return plain.map((angle) => llama3(angle, stretch))
    case "yarn":
      return yarn(plain, dims, base, stretch)
    default:
      return stretch satisfies never
  }
}

/**
 * Pairs that rotate often within the original context keep their angle, those that hardly rotate
 * are slowed down, with a ramp between.
 */
function llama3(angle: number, { factor, low, high, original }: Stretch & { kind: "llama3" }): number {
  const turns = (original * angle) / (2 * Math.PI)
  const kept = Math.min(1, Math.max(0, (turns - low) / (high - low)))
  return kept * angle + ((1 - kept) * angle) / factor
}

function yarn(plain: number[], dims: number, base: number, stretch: Stretch & { kind: "yarn" }): number[] {
  const { factor, original, fast, slow, isTruncated } = stretch
  // Returns the index of the pair that makes this number of turns within the original context.
  const pairOf = (turns: number): number =>
    (dims * Math.log(original / (turns * 2 * Math.PI))) / (2 * Math.log(base))
  const [from, to] = [pairOf(fast), pairOf(slow)]
  const low = Math.max(0, isTruncated ? Math.floor(from) : from)
  const high = Math.min(dims - 1, isTruncated ? Math.ceil(to) : to)
  return plain.map((angle, pair) => {
    const slowed = Math.min(1, Math.max(0, (pair - low) / Math.max(0.001, high - low)))
    return slowed * (angle / factor) + (1 - slowed) * angle
  })
}

/** Returns the factor by which yarn multiplies cosines and sines. */
export function yarnMagnitude(factor: number, weight = 1): number {
  return factor <= 1 ? 1 : 0.1 * weight * Math.log(factor) + 1
}

/** Number of positions of a table that are computed at once. */
const step = 4_096

/** Yields cosines or sines of `count` positions, position after position. */
export function* ropeTable(
  { frequencies, magnitude }: Rope,
  part: "cos" | "sin",
  count: number,
): Iterable<Float32Array> {
  const { length } = frequencies
  for (let first = 0; first < count; first += step) {
    const values = new Float32Array(Math.min(step, count - first) * length)
    for (let at = 0; at < values.length; at++) {
      const angle = (first + Math.floor(at / length)) * frequencies[at % length]
      values[at] = magnitude * Math[part](angle)
    }
    yield values
  }
}
