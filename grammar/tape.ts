/**
 * A tape: what a text was read from, for those who read it again. Its bytes, and which tokens wrote them.
 *
 * A grammar may mean a token by its id, and count tokens, so bytes alone do not say how a text was read. A token that is read
 * by its id and writes nothing stands on the tape as one byte that no text holds.
 */
import { TokenBytes, TokenMark, tokenAt } from "./lexeme/token.ts"

export interface Tape {
  /** `TokenMark` for a token that is read by its id alone. Shape [N]. */
  readonly bytes: Uint8Array
  /** Index of the token that a byte is part of; −1: it was read as a byte. Ascending. Shape [N]. */
  readonly tokenOf: Int32Array
  /** Ids of the tokens. */
  readonly ids: readonly number[]
  /** The byte behind each token. */
  readonly ends: readonly number[]
}

/** A span of a tape that the grammar names. */
export interface Capture {
  readonly name: string
  readonly start: number
  readonly end: number
  /** Bytes between `start` and `end` without those that the grammar hides from captures around them, in their order. */
  readonly bytes: Uint8Array
}

/** What can say what is captured of a text. */
export interface CaptureReader {
  /** The captures of a complete text, by their start, outer ones before inner ones; null: the text is not complete. */
  read(tape: Tape): readonly Capture[] | null
}

/** Writes a tape from left to right. */
export class TapeWriter {
  private readonly bytes: number[] = []
  private readonly tokenOf: number[] = []
  private readonly ids: number[] = []
  private readonly ends: number[] = []

  /** Bytes that belong to no token; four that stand for a token are that token. */
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

  /** A token and what it writes. */
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

/** The tape behind its first `count` bytes; a token that is cut is one still. */
export function tapeBehind({ bytes, tokenOf, ids, ends }: Tape, count: number): Tape {
  return {
    bytes: bytes.subarray(count),
    tokenOf: tokenOf.subarray(count),
    ids,
    ends: ends.map((end) => end - count),
  }
}

const noBytes = new Uint8Array(0)

/** The index of the token that begins at `at`; −1 for none. */
export function tokenBeginningAt({ tokenOf }: Tape, at: number): number {
  if (at >= tokenOf.length || (at > 0 && tokenOf[at - 1] === tokenOf[at])) return -1
  return tokenOf[at]
}

/** How many tokens have a byte from `start` to `end`. */
export function countTokens({ tokenOf }: Tape, start: number, end: number): number {
  let count = 0
  for (let at = start, last = -1; at < end; at++) {
    if (tokenOf[at] >= 0 && tokenOf[at] !== last) count++
    last = tokenOf[at]
  }
  return count
}
