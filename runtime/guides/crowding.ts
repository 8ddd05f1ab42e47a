/**
 * How much longer work takes because other programs use the same cores.
 *
 * Bounds in time are meant for a thread that runs. If twice as many threads as cores want to run,
 * or more, a bound is stretched by that factor: a constraint is not to blame for a busy machine.
 */
import { availableParallelism, loadavg } from "node:os"

/** Milliseconds between two readings of the load. */
const maxAgeMs = 100
/** Threads per core that count as usual. */
const usual = 2
const maxFactor = 5

export class Crowding {
  private known = 1
  private seenAt = Number.NEGATIVE_INFINITY

  /** 1 or more. 1 where the system has no load average. */
  get factor(): number {
    const now = performance.now()
    if (now - this.seenAt > maxAgeMs) {
      this.seenAt = now
      this.known = Math.min(maxFactor, Math.max(1, loadavg()[0] / (usual * availableParallelism())))
    }
    return this.known
  }
}
