/** Pearson's chi-square against a law, at a level where an honest sampler never fails: p < 1e-9. */

/** Critical values by degrees of freedom, Wilson and Hilferty 1931; 7: 59.2, 63: 155.9, 255: 414.9. */
export function criticalChiSquare(df: number): number {
  const z = 5.998
  const share = 2 / (9 * df)
  return df * (1 - share + z * Math.sqrt(share)) ** 3
}

export interface ChiSquare {
  readonly statistic: number
  readonly df: number
  /** Above 1 is rejected. */
  readonly ratio: number
}

/** Bins are merged, in order, to an expectation of 5; a draw that the law excludes is infinite. */
export function chiSquare(counts: ArrayLike<number>, law: ArrayLike<number>, n: number): ChiSquare {
  let statistic = 0
  let df = -1
  let seen = 0
  let expected = 0
  for (let bin = 0; bin < law.length; bin++) {
    if (law[bin] === 0 && counts[bin] > 0) return { statistic: Infinity, df: 1, ratio: Infinity }
    seen += counts[bin]
    expected += law[bin] * n
    if (expected < 5 && bin < law.length - 1) continue
    if (expected > 0) statistic += (seen - expected) ** 2 / expected
    df++
    seen = 0
    expected = 0
  }
  return { statistic, df, ratio: statistic / criticalChiSquare(Math.max(1, df)) }
}

export function normalise(weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  return weights.map((weight) => weight / total)
}
