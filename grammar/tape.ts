/**
 * A tape: the bytes of a text with the tokens that wrote them, for readers of the text after its
 * end.
 *
 * A grammar may name a token by its id, and count tokens, so the bytes alone do not say how a text
 * was read. A token that is read by its id and writes nothing is one byte on the tape, which no
 * text contains.
 */
import { TokenBytes, TokenMark, tokenAt } from "./lexeme/token.ts"

export interface Tape {
  /** Bytes of the text; `TokenMark` for a token that is read by its id only. Shape [N]. */
  readonly bytes: Uint8Array
  /** Index of the token that wrote each byte; −1 if it was read as a byte. Ascending. Shape [N]. */
  readonly tokenOf: Int32Array
  /** Ids of the tokens. */
  readonly ids: readonly number[]
  /** Offset of the end of each token. */
  readonly ends: readonly number[]
}

/** A named span of a tape. */
export interface Capture {
  readonly name: string
  readonly start: number
  readonly end: number
  /**
   * Bytes between `start` and `end`, in order, without those that the grammar hides from outer
   * captures.
   */
  readonly bytes: Uint8Array
}

/** Finds the captures of a text. */
export interface CaptureReader {
  /**
   * Returns the captures of a complete text, sorted by start, outer ones before inner ones; null if
   * the text is not complete.
   */
  read(tape: Tape): readonly Capture[] | null
}

/** Writes a tape from left to right. */
export class TapeWriter {
  private readonly bytes: number[] = []
  private readonly tokenOf: number[] = []
  private readonly ids: number[] = []
  private readonly ends: number[] = []

  /** Adds bytes that belong to no token. Four bytes that stand for a token are that token. */
  addBytes(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at++) {
      if (bytes[at] === TokenMark) {
        this.addToken(tokenAt(bytes, at), noBytes)
        at += TokenBytes - 1
      } else {
        this.bytes.push(bytes[at])
        this.tokenOf.push(-1)
      }
    }
  }

  /** Adds a token and the bytes that it writes. */
  addToken(id: number, bytes: Uint8Array): void {
    for (const byte of bytes.length === 0 ? [TokenMark] : bytes) {
      this.bytes.push(byte)
      this.tokenOf.push(this.ids.length)
    }
    this.ids.push(id)
    this.ends.push(this.bytes.length)
  }

  tape(): Tape {
    const { ids, ends } = this
    return { bytes: Uint8Array.from(this.bytes), tokenOf: Int32Array.from(this.tokenOf), ids, ends }
  }
}

/** Returns the tape after its first `count` bytes. A token that is cut stays one token. */
export function tapeBehind({ bytes, tokenOf, ids, ends }: Tape, count: number): Tape {
  return {
    bytes: bytes.subarray(count),
    tokenOf: tokenOf.subarray(count),
    ids,
    ends: ends.map((end) => end - count),
  }
}

const noBytes = new Uint8Array(0)

/** Returns the index of the token that begins at `at`; −1 if none does. */
export function tokenBeginningAt({ tokenOf }: Tape, at: number): number {
  if (at >= tokenOf.length || (at > 0 && tokenOf[at - 1] === tokenOf[at])) return -1
  return tokenOf[at]
}

/** Returns the count of tokens that have a byte from `start` to `end`. */
export function countTokens({ tokenOf }: Tape, start: number, end: number): number {
  let count = 0
  for (let at = start, last = -1; at < end; at++) {
    if (tokenOf[at] >= 0 && tokenOf[at] !== last) count++
    last = tokenOf[at]
  }
  return count
}
