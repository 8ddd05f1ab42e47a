/**
 * Gives the event loop a turn in the middle of long work, so that other requests are not delayed.
 */

/** Maximum milliseconds without a turn for the event loop, besides one piece of work. */
const turnMs = 8

/** Resolves after other work that waits on the event loop. Pages have no `setImmediate`. */
export function turn(): Promise<void> {
  if (typeof setImmediate === "function") return new Promise((resolve) => setImmediate(resolve))
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(null)
  })
}

/** Measures the time since the last turn of the event loop. */
export class Turns {
  private since = performance.now()

  /** Called after each piece of work: waits for a turn if the last one is too long ago. */
  async give(): Promise<void> {
    if (performance.now() - this.since < turnMs) return
    await turn()
    this.since = performance.now()
  }
}
