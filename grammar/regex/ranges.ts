/**
 * Sets of code points as ascending, disjoint, inclusive ranges in one flat array: lo, hi, lo, hi …
 * Neighbouring ranges are joined, so equal sets are equal arrays.
 */
export type CodePointRanges = readonly number[]

/** Returns the set of the ranges, which may overlap and have any order. */
export function makeRanges(pairs: readonly number[]): number[] {
  const order: number[] = []
  for (let i = 0; i < pairs.length; i += 2) order.push(i)
  order.sort((a, b) => pairs[a] - pairs[b])
  const made: number[] = []
  for (const i of order) {
    const last = made.length - 1
    if (last > 0 && pairs[i] <= made[last] + 1) made[last] = Math.max(made[last], pairs[i + 1])
    else made.push(pairs[i], pairs[i + 1])
  }
  return made
}

export function unite(...sets: readonly CodePointRanges[]): number[] {
  return makeRanges(sets.flat())
}

export function complement(set: CodePointRanges): number[] {
  const made: number[] = []
  let next = 0
  for (let i = 0; i < set.length; i += 2) {
    if (set[i] > next) made.push(next, set[i] - 1)
    next = set[i + 1] + 1
  }
  if (next <= 0x10ffff) made.push(next, 0x10ffff)
  return made
}

export function intersect(a: CodePointRanges, b: CodePointRanges): number[] {
  const made: number[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const lo = Math.max(a[i], b[j])
    const hi = Math.min(a[i + 1], b[j + 1])
    if (lo <= hi) made.push(lo, hi)
    if (a[i + 1] < b[j + 1]) i += 2
    else j += 2
  }
  return made
}

export function subtract(a: CodePointRanges, b: CodePointRanges): number[] {
  return intersect(a, complement(b))
}

/** Returns whether `point` is in the set, by binary search. */
export function includes(set: CodePointRanges, point: number): boolean {
  let low = 0
  let high = set.length / 2
  while (low < high) {
    const middle = (low + high) >>> 1
    if (set[2 * middle + 1] < point) low = middle + 1
    else high = middle
  }
  return low < set.length / 2 && set[2 * low] <= point
}
