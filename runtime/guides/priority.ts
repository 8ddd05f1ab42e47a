/**
 * The priority of threads with long work: work of seconds yields to work of microseconds that
 * running answers wait for.
 *
 * On Linux each thread has a priority of its own. On other systems this module does nothing. A
 * priority is never raised again, since that would need rights that a server should not have.
 */
import { readFileSync, readlinkSync } from "node:fs"
import { constants, getPriority, setPriority } from "node:os"

/**
 * Niceness above the process's: of a contended core, the thread gets a tenth (sched(7), nice
 * values).
 */
const patience = 10

/** The system's number of the calling thread; 0 where threads have none. */
export function systemThread(): number {
  try {
    return Number(readlinkSync("/proc/thread-self").split("/").at(-1))
  } catch {
    return 0
  }
}

/** Lowers the priority of this thread: it runs when others do not. */
export function makePatient(thread: number): void {
  if (thread === 0) return
  try {
    setPriority(thread, Math.min(constants.priority.PRIORITY_LOW, getPriority(process.pid) + patience))
  } catch {
    // The thread has ended, or the system refuses: then it keeps its priority.
  }
}

/**
 * Milliseconds for which a thread of this process was ready to run but had no core; 0 if the system
 * does not report it.
 */
export function waitedMs(thread: number): number {
  if (thread === 0) return 0
  try {
    // Nanoseconds on a core, nanoseconds in line for one, turns (proc(5)).
    return Number(readFileSync(`/proc/self/task/${thread}/schedstat`, "utf8").split(" ")[1]) / 1e6 || 0
  } catch {
    return 0
  }
}

/**
 * How much longer work may take than its bound because its thread had no core: at most as long
 * again. A thread that yields to running answers might otherwise take a minute.
 */
export function excused(waited: number, bound: number): number {
  return Math.min(waited, bound)
}
