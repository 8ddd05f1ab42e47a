/**
 * Estimates how much longer work takes because other programs use the same cores.
 *
 * Time limits assume that a thread gets a core. If at least twice as many threads as cores want to
 * run, a limit is multiplied by this factor: a constraint is not to blame for a busy machine.
 */
import { availableParallelism, loadavg } from "node:os"

/** Milliseconds between two readings of the load. */
const maxAgeMs = 100
/** Runnable threads per core that count as normal. */
const usual = 2
const maxFactor = 5

export class Crowding {
  private known = 1
  private seenAt = Number.NEGATIVE_INFINITY

  /** The factor, at least 1. It is 1 if the system has no load average. */
  get factor(): number {
    const now = performance.now()
    if (now - this.seenAt > maxAgeMs) {
      this.seenAt = now
      this.known = Math.min(maxFactor, Math.max(1, loadavg()[0] / (usual * availableParallelism())))
    }
    return this.known
  }
}
