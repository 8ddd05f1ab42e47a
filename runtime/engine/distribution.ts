/**
 * Distribution of a duration over its many measurements: counts in buckets with fixed bounds, and
 * the sum.
 *
 * The buckets are those of Prometheus histograms, so the counts of any interval are the difference
 * of two readings. The memory is constant, and an observation is a search among some fifteen
 * bounds.
 */
export class Distribution {
  /**
   * Upper bounds of the buckets, ascending and inclusive; one more bucket holds the values above
   * the last bound.
   */
  readonly bounds: readonly number[]
  /** Counts by bucket. Shape [bounds + 1]. */
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

/** Returns 1, 2.5 and 5 times each power of ten from `first` to `last`, both powers of ten. */
export function decades(first: number, last: number): number[] {
  const bounds: number[] = []
  const end = Math.round(Math.log10(last))
  for (let power = Math.round(Math.log10(first)); power < end; power++) {
    // Parsed from text, because multiplying 2.5 by a power of ten can round to another number.
    for (const digits of [1, 2.5, 5]) bounds.push(Number(`${digits}e${power}`))
  }
  return [...bounds, Number(`1e${end}`)]
}
