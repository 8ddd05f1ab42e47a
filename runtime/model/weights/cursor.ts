/**
 * A cursor over the header of a GGUF file: it reads numbers and texts one after the other, through
 * a window of the file. It never reads or allocates more bytes than the file has left or than a
 * header may have.
 */

import { ModelError } from "../../errors.ts"
import { damaged, type WeightsFile } from "./storage.ts"

/**
 * Limits of a header. The largest vocabularies (262,144 tokens, 514,906 merges) take 20 MB and 1.5
 * million elements.
 */
const maxHeaderBytes = 128 * 2 ** 20
const maxElements = 4 * 2 ** 20

/** Bytes that are read from the file at once. */
const windowBytes = 2 ** 18

// `ignoreBOM`, because a token may begin with U+FEFF, which is part of the text here.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

export class Cursor {
  readonly file: WeightsFile
  readonly size: number
  #window = new Uint8Array(0)
  #view = new DataView(this.#window.buffer)
  /** Offset of the window in the file, and of the cursor in the window. */
  #start = 0
  #at = 0
  #elements = 0

  constructor(file: WeightsFile) {
    this.file = file
    this.size = file.size
  }

  /** Offset of the next byte in the file. */
  get position(): number {
    return this.#start + this.#at
  }

  /** Throws a ModelError that names the file. */
  fail(problem: string): never {
    throw new ModelError(`${this.file.path}: ${problem}`)
  }

  u8(): number {
    const at = this.#take(1)
    return this.#view.getUint8(at)
  }

  u32(): number {
    const at = this.#take(4)
    return this.#view.getUint32(at, true)
  }

  scalar<T>(bytes: number, read: (view: DataView, at: number) => T): T {
    const at = this.#take(bytes)
    return read(this.#view, at)
  }

  /** Returns a 64-bit number. Throws ModelError if it is above `bound`. */
  count(what: string, bound: number): number {
    const at = this.#take(8)
    const value = this.#view.getUint32(at, true) + this.#view.getUint32(at + 4, true) * 2 ** 32
    if (value > bound) this.fail(`${what} is ${value}, above ${bound}. ${damaged}`)
    return value
  }

  /** Returns the length of an array with elements of at least `bytes` each. */
  elements(what: string, bytes: number): number {
    const count = this.count(`the length of ${what}`, Math.floor((this.size - this.position) / bytes))
    this.#elements += count
    if (this.#elements > maxElements) {
      this.fail(
        `the arrays of the metadata have ${this.#elements} elements up to ${what}, above ${maxElements}. ${damaged}`,
      )
    }
    return count
  }

  /** Returns a text of at most `bound` bytes. Throws ModelError if it is not UTF-8. */
  text(what: string, bound: number): string {
    const length = this.count(`the length of ${what}`, bound)
    const at = this.#take(length)
    try {
      return decoder.decode(this.#window.subarray(at, at + length))
    } catch {
      this.fail(`${what} is not UTF-8. ${damaged}`)
    }
  }

  latin1(length: number): string {
    const at = this.#take(length)
    return String.fromCharCode(...this.#window.subarray(at, at + length))
  }

  /**
   * Moves past `length` bytes and returns their offset in the window, which then contains them all.
   */
  #take(length: number): number {
    if (this.#at + length > this.#window.length) this.#fill(length)
    const at = this.#at
    this.#at += length
    return at
  }

  #fill(length: number): void {
    const { position } = this
    if (position + length > this.size)
      this.fail(`the header goes on past the end of the file (${this.size} bytes). ${damaged}`)
    if (position + length > maxHeaderBytes)
      this.fail(`the header has more than ${maxHeaderBytes} bytes. ${damaged}`)
    this.#window = new Uint8Array(Math.min(Math.max(length, windowBytes), this.size - position))
    this.#view = new DataView(this.#window.buffer)
    this.file.read(this.#window, position)
    this.#start = position
    this.#at = 0
  }
}
