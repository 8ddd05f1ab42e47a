/**
 * What steps cost by the clock, with drafts and without: what decides whether drafts pay. Rows
 * whose drafts differ in length are runs of their own, and drafts are made, drawn and repeated;
 * only the clock sees all of it. It can change the speed only: where tokens depend on drafts it is
 * not asked.
 */

/** Steps without drafts are measured again after so many with them. */
const staleSteps = 64
/** A step that took longer than so many was held up by something else. */
const maxRatio = 8

export class StepCosts {
  /** By number of rows: milliseconds of a step without drafts, and when one was last seen. */
  private readonly plain = new Map<number, { ms: number; step: number }>()

  /**
   * Whether nobody knows what a step of so many rows costs without drafts. `step`: how many there
   * have been.
   */
  isStale(rows: number, step: number): boolean {
    const known = this.plain.get(rows)
    return known === undefined || step - known.step > staleSteps
  }

  /** A step without drafts. */
  observe(rows: number, ms: number, step: number): void {
    const known = this.plain.get(rows)
    const usual = known ? Math.min(ms, 2 * known.ms) : ms
    this.plain.set(rows, { ms: known ? known.ms + 0.3 * (usual - known.ms) : usual, step })
  }

  /**
   * Tokens that the rows of a step with drafts could have had in the time beyond a step without;
   * undefined: unknown.
   */
  extraTokens(rows: number, ms: number): number | undefined {
    const known = this.plain.get(rows)
    return known && rows * (Math.min(maxRatio, ms / known.ms) - 1)
  }
}
