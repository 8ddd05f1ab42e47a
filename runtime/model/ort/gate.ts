/**
 * Lets a process exit while its model runs.
 *
 * At exit, Node terminates the worker threads. A thread that then returns from onnxruntime cannot
 * create its results: the addon throws an uncaught error, and the process aborts (134) instead of
 * exiting with its code. So a thread marks when it is inside native code, and before an exit
 * `closeGates` waits until all threads are outside and keeps them there. The marks are in shared
 * memory, because the thread that is about to exit cannot wait for messages.
 */

/** Index of a cell that is 1 while the thread is inside native code. */
const Inside = 0
/** Index of a cell that is 1 if the thread may no longer enter native code. */
const Closed = 1

const gates = new Set<Gate>()

export class Gate {
  /** Cells shared by both threads: `Inside`, `Closed`. Shape [2]. */
  readonly cells: Int32Array

  constructor(cells: Int32Array) {
    this.cells = cells
  }

  /**
   * Returns the gate of a thread that is about to start. Its state is "inside", since the thread
   * first loads native code.
   */
  static open(): Gate {
    const gate = new Gate(new Int32Array(new SharedArrayBuffer(8)))
    gate.cells[Inside] = 1
    gates.add(gate)
    return gate
  }

  /** Forgets the gate. Called when the thread has ended. */
  forget(): void {
    gates.delete(this)
  }

  /**
   * Called in the thread before native code. If the gate is closed, the thread blocks here until it
   * is terminated.
   */
  enter(): void {
    Atomics.store(this.cells, Inside, 1)
    if (Atomics.load(this.cells, Closed) === 0) return
    this.leave()
    Atomics.wait(this.cells, Closed, 1)
  }

  /** Called in the thread after native code. */
  leave(): void {
    Atomics.store(this.cells, Inside, 0)
    Atomics.notify(this.cells, Inside)
  }

  /**
   * Blocks until the thread is outside, where it then stays. Returns false if that takes longer
   * than `maxMs`.
   */
  close(maxMs: number): boolean {
    Atomics.store(this.cells, Closed, 1)
    return Atomics.wait(this.cells, Inside, 1, maxMs) !== "timed-out"
  }
}

/**
 * Closes the gates of all threads, so that the threads can be terminated. Returns false if one
 * takes longer than `maxMs`.
 */
export function closeGates(maxMs: number): boolean {
  const endsAt = performance.now() + maxMs
  return [...gates].map((gate) => gate.close(Math.max(0, endsAt - performance.now()))).every(Boolean)
}
