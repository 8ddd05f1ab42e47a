/**
 * An upper bound on the length of the ASCII form of a label, from two counts and a range, so that a
 * machine over labels need not remember the characters. RFC 3492 (Punycode).
 *
 * With b ASCII characters and w others, all from `low..high`, Punycode writes w numbers, the
 * *deltas*. The first is at most (high − 128)(b + 1) + b; the others add up to at most (high −
 * low)(b + w) + b, since they count the steps of a loop over code points and positions from the
 * lowest character to the highest. The cost of a delta depends on a bias, which depends on the
 * delta before:
 * - with any bias it takes at most 1, 2, 3 … digits below 1, 36, 1,261, 28,886, 288,886, 2,888,886
 *   …;
 * - after a delta below 607 the bias is at most 33, and then two digits suffice below 286.
 *
 * So w − 1 deltas of sum D take at most j(w − 1) + D / p digits, for each j > 2 with p the least
 * delta that may take more than j digits; and at most 2(w − 1) + D / 286, where a delta from 607 on
 * is charged for the one that follows as well.
 */
const FirstWide = 0x80

/**
 * Ranges of code points of one writing system each: first the narrow ones, which do not overlap,
 * then wider ones that contain several of them. Index: zone.
 */
const zones = makeZones()

function makeZones(): (readonly [low: number, high: number])[] {
  const starts = [
    0x80, 0x100, 0x180, 0x250, 0x300, 0x370, 0x400, 0x480, 0x530, 0x590, 0x600, 0x700, 0x780, 0x800, 0x8a0,
  ]
  for (let start = 0x900; start < 0x1100; start += 0x80) starts.push(start)
  starts.push(
    0x1100,
    0x1400,
    0x1680,
    0x1780,
    0x1800,
    0x18b0,
    0x1a00,
    0x1b00,
    0x1c00,
    0x1d00,
    0x1e00,
    0x1f00,
    0x2000,
  )
  starts.push(0x3000, 0x3100, 0x3400, 0x4e00, 0xa000, 0xa4d0, 0xac00, 0xe000)
  for (let start = 0x10000; start < 0x20000; start += 0x1000) starts.push(start)
  starts.push(0x20000, 0x30000, 0x110000)
  const narrow = starts.slice(0, -1).map((start, i): [number, number] => [start, starts[i + 1] - 1])
  return [
    ...narrow,
    [0x80, 0x17f],
    [0x80, 0x3ff],
    [0x590, 0x8ff],
    [0x300, 0x52f],
    [0x80, 0x8ff],
    [0x80, 0x1fff],
    [0x80, 0x30ff],
    [0x3000, 0x9fff],
    [0x80, 0xffff],
    [0x10000, 0x1ffff],
    [0x80, 0x10ffff],
  ]
}

/** The zone before any character beyond ASCII. */
export const NoZone = -1

/**
 * The first code points of zones, ascending. A zone contains everything or nothing up to the next.
 */
export const zoneStarts: readonly number[] = [...new Set(zones.map(([low]) => low))].sort((a, b) => a - b)

/** Returns the narrow zone of a character beyond ASCII. */
export function zoneOf(point: number): number {
  return zones.findIndex(([low, high]) => low <= point && point <= high)
}

/** Returns the smallest zone that contains both. */
export function joinZones(a: number, b: number): number {
  if (a === b || b === NoZone) return a
  if (a === NoZone) return b
  const [low, high] = [Math.min(zones[a][0], zones[b][0]), Math.max(zones[a][1], zones[b][1])]
  return zones.findIndex((zone) => zone[0] <= low && high <= zone[1])
}

/**
 * The least delta that may take more digits than the first number, from 2 on. The first entry
 * applies after small deltas only.
 */
const dearer: readonly (readonly [digits: number, delta: number])[] = [
  [2, 286],
  [3, 1_261],
  [4, 28_886],
  [5, 288_886],
  [6, 2_888_886],
]

/**
 * Returns an upper bound on the octets of the label as an A-label, or its length if it is entirely
 * ASCII.
 */
export function asciiLengthBound(basic: number, wide: number, zone: number): number {
  if (wide === 0) return basic
  const [low, high] = zones[zone]
  const first = (high - FirstWide) * (basic + 1) + basic
  const rest = wide - 1
  const sum = (high - low) * (basic + wide) + basic
  let least = Number.POSITIVE_INFINITY
  for (const [digits, delta] of dearer) {
    least = Math.min(least, digits * rest + Math.floor(sum / delta))
  }
  // After a large first delta the second one is not cheap.
  if (first > 150_000) least++
  return 4 + (basic === 0 ? 0 : basic + 1) + firstDigits(first) + (rest === 0 ? 0 : least)
}

/**
 * Returns the digits of the first delta. The bias is 72, so the thresholds are 1, 1 and then always
 * 26.
 */
function firstDigits(delta: number): number {
  let digits = 1
  let left = delta
  for (let threshold = 1; left >= threshold; threshold = digits < 3 ? 1 : 26) {
    left = Math.floor((left - threshold) / (36 - threshold))
    digits++
  }
  return digits
}
