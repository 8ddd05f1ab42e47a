/**
 * Rows of lexeme states with many outgoing bytes: one target for each class of bytes that have the
 * same target.
 *
 * A state within a string has a dozen targets for its 256 bytes, and thousands of states split the
 * bytes in the same way. So the split is stored once, as the class of each byte, and a row is its
 * split and a target per class. A row takes 60 bytes instead of 1,024, so the rows of hundreds of
 * schemas stay in a processor's cache.
 */
import { grown, moreThan } from "../intern.ts"

const Bytes = 256

export class WideRows {
  /** Row after row, from index 1: offset of its split in `classes`, then a target per class. */
  values = new Int32Array(1024)
  /** Classes of the bytes, split by split, numbered by first byte. Shape [splits · 256]. */
  classes = new Uint8Array(8 * Bytes)
  /** Count of the classes of each split. */
  private readonly counts: number[] = []
  /** Hash of a split → the splits that have it. */
  private readonly splits = new Map<number, number[]>()
  private end = 1
  /** The row that is being added: its targets by class, and the class of each byte. */
  private readonly targets = new Int32Array(Bytes)
  private readonly split = new Uint8Array(Bytes)

  get bytes(): number {
    return 4 * this.values.length + this.classes.length
  }

  /** Adds the row with these targets and returns its start in `values`. Shape of `row`: [256]. */
  add(row: Int32Array): number {
    const count = this.divide(row)
    const split = this.internSplit(count)
    const start = this.end
    if (start + count >= this.values.length) this.values = grown(this.values, moreThan(start + count))
    this.values[start] = split * Bytes
    for (let i = 0; i < count; i++) this.values[start + 1 + i] = this.targets[i]
    this.end = start + 1 + count
    return start
  }

  /** Returns the target of row `start` by `byte`. */
  at(start: number, byte: number): number {
    const { values } = this
    return values[start + 1 + this.classes[values[start] + byte]]
  }

  /** Returns the targets of row `start`, one per class. */
  targetsOf(start: number): Int32Array {
    return this.values.subarray(start + 1, start + 1 + this.counts[this.values[start] / Bytes])
  }

  /** Writes the split of `row` and the targets of its classes. Returns the count of classes. */
  private divide(row: Int32Array): number {
    const { targets, split } = this
    let count = 0
    let current = 0
    for (let byte = 0; byte < Bytes; byte++) {
      const target = row[byte]
      if (count === 0 || targets[current] !== target) {
        current = 0
        while (current < count && targets[current] !== target) current++
        if (current === count) targets[count++] = target
      }
      split[byte] = current
    }
    return count
  }

  private internSplit(count: number): number {
    const { split, classes } = this
    let hash = count
    for (let byte = 0; byte < Bytes; byte++) hash = (Math.imul(hash, 31) + split[byte]) | 0
    let same = this.splits.get(hash)
    if (same === undefined) {
      same = []
      this.splits.set(hash, same)
    }
    for (const known of same) {
      const start = known * Bytes
      let byte = 0
      while (byte < Bytes && classes[start + byte] === split[byte]) byte++
      if (byte === Bytes) return known
    }
    const made = this.counts.length
    if ((made + 1) * Bytes > classes.length) {
      const room = new Uint8Array(2 * classes.length)
      room.set(classes)
      this.classes = room
    }
    this.classes.set(split, made * Bytes)
    this.counts.push(count)
    same.push(made)
    return made
  }
}
