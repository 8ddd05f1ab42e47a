/**
 * The priority of threads that may take long: work of seconds gives way to work of microseconds
 * that running answers wait for.
 *
 * Linux gives each thread a priority of its own. Elsewhere there is none, and nothing happens. A
 * thread is never raised again: that would need rights that a server should not have.
 */
import { readFileSync, readlinkSync } from "node:fs"
import { constants, getPriority, setPriority } from "node:os"

/**
 * So much below the process: of a core that both ask for, a thread gets a tenth (sched(7), nice
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

/** From now on this thread runs when others do not want to. */
export function makePatient(thread: number): void {
  if (thread === 0) return
  try {
    setPriority(thread, Math.min(constants.priority.PRIORITY_LOW, getPriority(process.pid) + patience))
  } catch {
    // The thread has ended, or the system does not allow it: then it takes its share like all
    // others.
  }
}

/**
 * Milliseconds that a thread of this process was ready to run and had no core; 0 where the system
 * does not tell.
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
 * again. A thread that gives way to running answers might otherwise take a minute.
 */
export function excused(waited: number, bound: number): number {
  return Math.min(waited, bound)
}
