/**
 * How much longer work takes than it should, because other programs want the same cores.
 *
 * Bounds in time are meant for a thread that runs. Where twice as many threads want to run as there
 * are cores, and more, a bound is stretched by as much: a busy machine is no fault of a
 * constraint's.
 */
import { availableParallelism, loadavg } from "node:os"

/** The load is looked at so often. */
const maxAgeMs = 100
/** Threads a core that are thought of as usual. */
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
