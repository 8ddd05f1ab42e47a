/**
 * Estimates how long a client should wait when the queue is full: until the requests that are here
 * now have been served.
 *
 * The time that a sequence spends in its slot is measured by Little's law, without following single
 * sequences: it is the total time for which slots were taken, divided by the number of sequences
 * that were served. A running sequence counts as half served, which is the average. The weight of a
 * measurement halves after every `memory` sequences, so that the mean follows the load.
 */

/** The counts of the engine. */
export interface Line {
  running: number
  waiting: number
  slots: number
  /** Sequences that have ended since the engine began. */
  finished: number
}

/** Number of sequences after which an older measurement counts half. */
const memory = 64

export class ServiceTime {
  private takenMs: number
  private servedCount = 1
  private last: (Line & { at: number }) | undefined

  /** `guessMs` is the mean until something has been measured; it counts like one sequence. */
  constructor(guessMs = 1_000) {
    this.takenMs = guessMs
  }

  /**
   * Records the state of the queue. The estimate improves with each call, so it should be called at
   * every change. `at` is in milliseconds.
   */
  observe(line: Line, at: number): void {
    const { last } = this
    this.last = { ...line, at }
    if (!last) return
    this.takenMs += ((last.running + line.running) / 2) * (at - last.at)
    this.servedCount += line.finished - last.finished
    while (this.servedCount > 2 * memory) {
      this.takenMs /= 2
      this.servedCount /= 2
    }
  }

  /** Milliseconds that a sequence spends in its slot. */
  get meanMs(): number {
    return this.takenMs / (this.servedCount + (this.last?.running ?? 0) / 2)
  }

  /**
   * Seconds until the last sequence in the queue is served. As many sequences run at a time as
   * there are slots.
   */
  get waitSeconds(): number {
    if (!this.last) return 0
    const { running, waiting, slots } = this.last
    return ((waiting + running / 2) * this.meanMs) / slots / 1000
  }
}
