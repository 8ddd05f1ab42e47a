/**
 * Lowers the priority of threads with long work: work that takes seconds yields to work that takes
 * microseconds and that running answers wait for.
 *
 * On Linux each thread has its own priority. On other systems this module does nothing. A priority
 * is never raised again, since that would need rights that a server should not have.
 */
import { readFileSync, readlinkSync } from "node:fs"
import { constants, getPriority, setPriority } from "node:os"

/**
 * Niceness above the process's: the thread gets a tenth of a contended core (sched(7), nice
 * values).
 */
const patience = 10

/** Returns the system's number of the calling thread; 0 if threads have none. */
export function systemThread(): number {
  try {
    return Number(readlinkSync("/proc/thread-self").split("/").at(-1))
  } catch {
    return 0
  }
}

/** Lowers the priority of a thread, so that it yields to others. */
export function makePatient(thread: number): void {
  if (thread === 0) return
  try {
    setPriority(thread, Math.min(constants.priority.PRIORITY_LOW, getPriority(process.pid) + patience))
  } catch {
    // The thread has ended, or the system refuses. Then the priority stays as it is.
  }
}

/**
 * Returns the milliseconds for which a thread of this process was ready to run but had no core; 0
 * if the system does not report them.
 */
export function waitedMs(thread: number): number {
  if (thread === 0) return 0
  try {
    // The fields are nanoseconds on a core, nanoseconds waiting for one, and time slices (proc(5)).
    return Number(readFileSync(`/proc/self/task/${thread}/schedstat`, "utf8").split(" ")[1]) / 1e6 || 0
  } catch {
    return 0
  }
}

/**
 * Returns the time that work may take above its limit because its thread had no core, at most the
 * limit itself. Without that maximum, a thread that yields to running answers could take a minute.
 */
export function excused(waited: number, bound: number): number {
  return Math.min(waited, bound)
}
