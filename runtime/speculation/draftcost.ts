/**
 * Measures the cost of steps with and without drafts, which decides whether drafts pay. Rows with
 * drafts of different lengths need separate runs, and drafts are made, drawn and repeated; only the
 * clock measures all of that. It affects only the speed: if tokens depend on drafts, it is not
 * used.
 */

/** Number of steps with drafts after which steps without them are measured again. */
const staleSteps = 64
/** A step that took longer than this many average ones was delayed by other work. */
const maxRatio = 8

export class StepCosts {
  /**
   * By number of rows: milliseconds of a step without drafts, and the number of the step in which
   * they were last measured.
   */
  private readonly plain = new Map<number, { ms: number; step: number }>()

  /**
   * Returns whether the cost of a step with this many rows and without drafts is unknown. `step`:
   * number of steps so far.
   */
  isStale(rows: number, step: number): boolean {
    const known = this.plain.get(rows)
    return known === undefined || step - known.step > staleSteps
  }

  /** Records a step without drafts. */
  observe(rows: number, ms: number, step: number): void {
    const known = this.plain.get(rows)
    const usual = known ? Math.min(ms, 2 * known.ms) : ms
    this.plain.set(rows, { ms: known ? known.ms + 0.3 * (usual - known.ms) : usual, step })
  }

  /**
   * Returns how many tokens the rows could have written in the additional time of a step with
   * drafts; undefined if that is unknown.
   */
  extraTokens(rows: number, ms: number): number | undefined {
    const known = this.plain.get(rows)
    return known && rows * (Math.min(maxRatio, ms / known.ms) - 1)
  }
}
