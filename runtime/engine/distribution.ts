/**
 * How a time spreads over its many occurrences: counts in classes with fixed bounds, and the sum.
 *
 * The classes are those of Prometheus, so that what was counted over any interval is a difference
 * of two readings. Keeping them costs the same whatever happened, and an observation is a search
 * among some fifteen bounds.
 */
export class Distribution {
  /**
   * Upper bounds of the classes, ascending, each of them inside; one more class holds what is above
   * the last.
   */
  readonly bounds: readonly number[]
  /** Shape [bounds + 1], by class. */
  readonly counts: Float64Array
  sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    const { bounds } = this
    let at = 0
    while (at < bounds.length && value > bounds[at]) at++
    this.counts[at]++
    this.sum += value
  }
}

/** 1, 2.5 and 5 of every power of ten from `first` to `last`, both of them powers of ten. */
export function decades(first: number, last: number): number[] {
  const bounds: number[] = []
  const end = Math.round(Math.log10(last))
  for (let power = Math.round(Math.log10(first)); power < end; power++) {
    // Written and read again: 2.5 times a power of ten would not be the number that is meant.
    for (const digits of [1, 2.5, 5]) bounds.push(Number(`${digits}e${power}`))
  }
  return [...bounds, Number(`1e${end}`)]
}
