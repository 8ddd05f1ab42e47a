/**
 * Gives the event loop a turn in the middle of long work, so that other requests are not delayed.
 */

/** Maximum milliseconds without a turn for the event loop, besides one piece of work. */
const turnMs = 8

/** Measures the time since the last turn of the event loop. */
export class Turns {
  private since = performance.now()

  /** Called after each piece of work: waits for a turn if the last one is too long ago. */
  async give(): Promise<void> {
    if (performance.now() - this.since < turnMs) return
    await new Promise((resolve) => setImmediate(resolve))
    this.since = performance.now()
  }
}
