/**
 * Lets a process exit in the middle of its model's work.
 *
 * At exit, Node terminates the worker threads. A thread that then returns from onnxruntime cannot
 * create its results: the addon throws an uncaught error, and the process aborts (134) instead of
 * ending with its code. So a thread marks when it is inside native code, and before an exit
 * `closeGates` waits until all threads are outside and keeps them there. The marks are in shared
 * memory, because the thread that is about to exit cannot wait for messages.
 */

/** Cell: 1 while the thread is inside native code. */
const Inside = 0
/** Cell: 1 when the thread must not go inside any more. */
const Closed = 1

const gates = new Set<Gate>()

export class Gate {
  /** Shape [2], shared by both threads: `Inside`, `Closed`. */
  readonly cells: Int32Array

  constructor(cells: Int32Array) {
    this.cells = cells
  }

  /**
   * The gate of a thread that is about to start. It starts inside, since the thread first loads
   * native code.
   */
  static open(): Gate {
    const gate = new Gate(new Int32Array(new SharedArrayBuffer(8)))
    gate.cells[Inside] = 1
    gates.add(gate)
    return gate
  }

  /** Call it when the thread has ended. */
  forget(): void {
    gates.delete(this)
  }

  /**
   * In the thread, ahead of native code. Behind a closed gate the thread stays here until it is
   * terminated.
   */
  enter(): void {
    Atomics.store(this.cells, Inside, 1)
    if (Atomics.load(this.cells, Closed) === 0) return
    this.leave()
    Atomics.wait(this.cells, Closed, 1)
  }

  /** In the thread, behind native code. */
  leave(): void {
    Atomics.store(this.cells, Inside, 0)
    Atomics.notify(this.cells, Inside)
  }

  /**
   * Blocks until the thread is outside, where it stays; false when that takes longer than `maxMs`.
   */
  close(maxMs: number): boolean {
    Atomics.store(this.cells, Closed, 1)
    return Atomics.wait(this.cells, Inside, 1, maxMs) !== "timed-out"
  }
}

/**
 * Closes the gates of all threads, which can be terminated then; false when one takes longer than
 * `maxMs`.
 */
export function closeGates(maxMs: number): boolean {
  const endsAt = performance.now() + maxMs
  return [...gates].map((gate) => gate.close(Math.max(0, endsAt - performance.now()))).every(Boolean)
}
