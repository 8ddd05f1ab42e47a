/**
 * The bytes read since a frame was pushed that needs them (a key, an item among unique ones):
 * interned byte by byte, so that equal texts are the same integer. Several frames may wait, one
 * above the other; the text of each begins with a mark, here `|`. An array of unique items, whose
 * object needs its keys:
 *
 *     read     text
 *     [        |          the array waits for an item
 *     {        |{|        the object waits for a key
 *     "k"      |{|"k"
 *              |{"k"      the key has ended: the object got `"k"`, the array still waits
 *     :1       |{"k":1
 */
import { TupleTable } from "./intern.ts"

/** The text if no frame needs one. */
export const NoText = 0
/** Marks in a text where a frame was pushed that needs what follows. */
const Mark = 256

export class Texts {
  /** [text before, byte or Mark]; id 0 is the empty text. */
  private readonly table = new TupleTable()
  private readonly key = new Int32Array(2)

  constructor() {
    this.table.intern([-1, -1])
  }

  get bytes(): number {
    return this.table.bytes
  }

  /** Returns `text` with a byte appended. */
  withByte(text: number, byte: number): number {
    this.key[0] = text
    this.key[1] = byte
    return this.table.intern(this.key, 2)
  }

  withBytes(text: number, bytes: Uint8Array): number {
    let at = text
    for (const byte of bytes) at = this.withByte(at, byte)
    return at
  }

  /** Returns `text` with `count` marks appended, for new frames that need what follows. */
  withMarks(text: number, count: number): number {
    let at = text
    for (let i = 0; i < count; i++) at = this.withByte(at, Mark)
    return at
  }

  /** Returns the bytes since the last mark, and the text before that mark. */
  split(text: number): { segment: Uint8Array; outer: number } {
    const bytes: number[] = []
    let at = text
    while (this.table.at(at, 1) !== Mark) {
      bytes.push(this.table.at(at, 1))
      at = this.table.at(at, 0)
    }
    return { segment: Uint8Array.from(bytes.reverse()), outer: this.table.at(at, 0) }
  }
}
