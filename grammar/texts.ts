/**
 * What was read since some frame was pushed that needs to know it (a key, an item among unique
 * ones): interned byte by byte, so that equal texts are the same integer. Several frames may wait,
 * one above the other: what each needs begins with a mark, here `|`. An array of unique items, in
 * which an object needs its keys:
 *
 *     read     text
 *     [        |          the array waits for an item
 *     {        |{|        the object waits for a key
 *     "k"      |{|"k"
 *              |{"k"      the key has ended: the object was given `"k"`, the array goes on
 *     :1       |{"k":1
 */
import { TupleTable } from "./intern.ts"

/** Text that nobody asks for. */
export const NoText = 0
/** In a text: a frame that needs what follows was pushed here. */
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

  /** `text` and a byte more. */
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

  /** `text` under `count` frames more that need what follows. */
  withMarks(text: number, count: number): number {
    let at = text
    for (let i = 0; i < count; i++) at = this.withByte(at, Mark)
    return at
  }

  /** The bytes since the last mark, and the text before that mark. */
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
