/**
 * The reach of a vocabulary: how much of a count one token can use up. No single token
 * distinguishes two counts of which more than that is left.
 */
import type { CharacterTest, Reach } from "../../grammar/lexeme/expr/clamp.ts"
import type { ExprId } from "../../grammar/lexeme/expr/expr.ts"
import type { Vocabulary } from "../vocabulary.ts"

const Backslash = 0x5c
/**
 * The character that an escape stands for, by the byte after the backslash (RFC 8259 §7); `\u` may
 * stand for any.
 */
const Anything = 256
const decoded = Uint16Array.from({ length: 256 }, (_, byte) => byte)
for (const [letter, byte] of Object.entries({ b: 8, f: 12, n: 10, r: 13, t: 9, u: Anything }))
  decoded[letter.charCodeAt(0)] = byte

/** The reach of `vocabulary`, whose longest token has `bytes` bytes. */
export class VocabularyReach implements Reach {
  readonly bytes: number
  readonly fewIterations = 12
  private readonly vocabulary: Vocabulary
  private readonly known = new Map<ExprId, number>()

  constructor(vocabulary: Vocabulary, bytes: number) {
    this.vocabulary = vocabulary
    this.bytes = bytes
  }

  /**
   * The tokens may occur as they are or in a JSON string with escapes. One pass over the
   * vocabulary, memoized.
   */
  iterations(body: ExprId, first: CharacterTest, last: CharacterTest): number {
    let most = this.known.get(body)
    if (most === undefined) {
      most = this.find(new Characters(first), new Characters(last))
      this.known.set(body, most)
    }
    return most
  }

  private find(begins: Characters, ends: Characters): number {
    const { offsets, values, width } = this.vocabulary
    /** 1 if an iteration may end with the byte. */
    const isPossible = Uint8Array.from({ length: 256 }, (_, byte) =>
      byte < 0x80 ? ends.ascii[byte] : ends.hasLead(byte),
    )
    isPossible[Backslash] = 1
    let most = 0
    // hot
    for (let token = 0; token < width; token++) {
      const [from, to] = [offsets[token], offsets[token + 1]]
      let possible = 1
      let hasEscape = false
      for (let at = from; at < to; at++) {
        possible += isPossible[values[at]]
        if (values[at] === Backslash) hasEscape = true
      }
      if (possible <= most && !hasEscape) continue
      const bytes = values.subarray(from, to)
      const plain = begun(bytes, begins, ends, "text")
      if (plain > most) most = plain
      if (!hasEscape) continue
      most = Math.max(most, begun(bytes, begins, ends, "string"))
      most = Math.max(most, begun(bytes, begins, ends, "escape"))
    }
    // The token before may have begun a character that ends in this token.
    return most + 1
  }
}

/** A set of characters with memoized membership. */
class Characters {
  /** 1 for ASCII members. Shape [128]. */
  readonly ascii: Uint8Array
  private readonly test: CharacterTest
  /** By first byte from 0xc0 on: 1 if no member begins with it. */
  private readonly none: Uint8Array
  private readonly known = new Map<number, number>()

  constructor(test: CharacterTest) {
    this.test = test
    this.ascii = Uint8Array.from({ length: 128 }, (_, code) => (test.has(code) ? 1 : 0))
    this.none = Uint8Array.from({ length: 64 }, (_, i) => (test.hasNone(0xc0 + i) ? 1 : 0))
  }

  /** Returns 1 if some non-ASCII member begins with the byte `first`, else 0. */
  hasLead(first: number): number {
    return first < 0xc0 ? 0 : 1 - this.none[first - 0xc0]
  }

  /** Returns 1 if the non-ASCII character of `length` bytes at `at` is a member, else 0. */
  has(bytes: Uint8Array, at: number, length: number): number {
    if (this.none[bytes[at] - 0xc0] === 1) return 0
    let code = bytes[at] & (0x7f >> length)
    for (let i = 1; i < length; i++) code = (code << 6) | (bytes[at + i] & 0x3f)
    let known = this.known.get(code)
    if (known === undefined) {
      known = this.test.has(code) ? 1 : 0
      this.known.set(code, known)
    }
    return known
  }
}

/**
 * Returns how often an iteration can begin in `bytes`, which are plain text, part of a JSON string,
 * or follow a backslash in one.
 */
function begun(
  bytes: Uint8Array,
  begins: Characters,
  ends: Characters,
  place: "text" | "string" | "escape",
): number {
  const isString = place !== "text"
  let count = 0
  /** Whether an iteration can end before the next character. Unknown at first, so it is assumed. */
  let isEnd = 1
  let isEscaped = place === "escape"
  // hot
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at]
    const length = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    if (isEscaped) {
      isEscaped = false
      const character = decoded[byte]
      // An iteration may begin with this character, and after its digits, which are read as
      // characters of their own.
      count += character >= 0x80 ? 2 : isEnd & begins.ascii[character]
      isEnd = character >= 0x80 ? 1 : ends.ascii[character]
    } else if (byte === Backslash && isString) {
      isEscaped = true
    } else if (byte < 0x80) {
      count += isEnd & begins.ascii[byte]
      isEnd = ends.ascii[byte]
    } else if (length > 1 && at + length <= bytes.length) {
      if (isEnd === 1) count += begins.has(bytes, at, length)
      isEnd = ends.has(bytes, at, length)
    } else {
      // A truncated character.
      count += isEnd
      isEnd = 1
    }
    at += length
  }
  return count
}
