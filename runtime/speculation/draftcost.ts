/**
 * The measured cost of steps with and without drafts, which decides whether drafts pay. Rows whose
 * drafts differ in length are runs of their own, and drafts are made, drawn and repeated; only the
 * clock measures all of it. It changes only the speed: if tokens depend on drafts, it is not used.
 */

/** Steps without drafts are measured again after so many with them. */
const staleSteps = 64
/** A step that took longer than this many usual ones was delayed by something else. */
const maxRatio = 8

export class StepCosts {
  /** By number of rows: milliseconds of a step without drafts, and when one was last seen. */
  private readonly plain = new Map<number, { ms: number; step: number }>()

  /**
   * Whether the cost of a step with this many rows and without drafts is unknown. `step`: number of
   * steps so far.
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
