/**
 * Writes and reads little-endian bytes. The reader trusts nothing: every length is compared with
 * the bytes that are left before anything is allocated, so that a damaged length causes an error
 * and costs no memory.
 */

const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

/** Returns the little-endian words of bytes that fill their buffer. They may share it. */
function wordsOf(bytes: Uint8Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(bytes.buffer)
  if (isLittleEndian) return words
  const view = new DataView(bytes.buffer)
  return words.map((_, at) => view.getUint32(4 * at, true))
}

/** As `wordsOf`, for any bytes whose number is a multiple of four. Copies them only if it must. */
export function wordsIn(bytes: Uint8Array): Uint32Array {
  if (!isLittleEndian || bytes.byteOffset % 4 !== 0) return wordsOf(new Uint8Array(bytes))
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
}

/** Appends values. */
export class ByteWriter {
  private readonly parts: Uint8Array[] = []
  private length = 0

  bytes(values: Uint8Array): void {
    this.parts.push(values)
    this.length += values.length
  }

  /** Appends the length of `values`, then `values`. */
  block(values: Uint8Array): void {
    this.word(values.length)
    this.bytes(values)
  }

  word(value: number): void {
    this.words([value])
  }

  words(values: ArrayLike<number>): void {
    const part = new Uint8Array(4 * values.length)
    const view = new DataView(part.buffer)
    for (let i = 0; i < values.length; i++) view.setUint32(4 * i, values[i], true)
    this.bytes(part)
  }

  /** Returns all bytes so far. */
  finish(): Uint8Array {
    const all = new Uint8Array(this.length)
    let at = 0
    for (const part of this.parts) {
      all.set(part, at)
      at += part.length
    }
    return all
  }
}

/** Reads values from the front. `fail` makes the error that is thrown if too few bytes are left. */
export class ByteReader {
  private readonly source: Uint8Array
  private readonly view: DataView
  private readonly fail: (message: string) => Error
  private at = 0

  constructor(source: Uint8Array, fail: (message: string) => Error) {
    // A Buffer of Node is a Uint8Array whose `slice` copies nothing.
    this.source = new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    this.view = new DataView(source.buffer, source.byteOffset, source.byteLength)
    this.fail = fail
  }

  get left(): number {
    return this.source.length - this.at
  }

  /** Returns a copy of the next `count` bytes. */
  bytes(count: number): Uint8Array<ArrayBuffer> {
    const start = this.take(count)
    return this.source.slice(start, start + count)
  }

  /** Reads what `ByteWriter.block` wrote. */
  block(): Uint8Array<ArrayBuffer> {
    return this.bytes(this.word())
  }

  word(): number {
    return this.view.getUint32(this.take(4), true)
  }

  words(count: number): Uint32Array<ArrayBuffer> {
    return wordsOf(this.bytes(4 * count))
  }

  private take(count: number): number {
    if (count > this.left) {
      throw this.fail(`${count} bytes are needed at byte ${this.at}, ${this.left} are left`)
    }
    this.at += count
    return this.at - count
  }
}
