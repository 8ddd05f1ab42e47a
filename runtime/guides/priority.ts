/**
 * The priority of threads that may take long: work of seconds gives way to work of microseconds that running answers wait for.
 *
 * Linux gives each thread a priority of its own. Elsewhere there is none, and nothing happens. A thread is never raised again:
 * that would need rights that a server should not have.
 */
import { readlinkSync } from "node:fs"
import { setPriority } from "node:os"

/** Weight 110, where that of an ordinary thread is 1,024 (sched(7)): a tenth of a core that is asked for by both. */
const patient = 10

/** The system's number of the calling thread; 0 where threads have none. */
export function systemThread(): number {
  try {
    return Number(readlinkSync("/proc/thread-self").split("/").at(-1))
  } catch {
    return 0
  }
}

/** From now on this thread runs when others do not want to. */
export function makePatient(thread: number): void {
  if (thread === 0) return
  try {
    setPriority(thread, patient)
  } catch {
    // The thread has ended, or the system does not allow it: then it takes its share like all others.
  }
}
