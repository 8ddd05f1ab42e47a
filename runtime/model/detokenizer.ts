/**
 * Decodes token bytes into text, one token at a time, without splitting a code point.
 *
 * Text is the decoding of the concatenated bytes of the tokens: exactly the bytes that the grammar
 * saw. At most three bytes are held back, until the code point that they begin is complete or known
 * to be malformed (then the text gets U+FFFD, as in the WHATWG Encoding Standard, section 4.5).
 * Those bytes are the whole state, so forking a detokenizer is cheap.
 */

import type { Vocabulary } from "../../mask/vocabulary.ts"

/** Decodes the tokens of one text piece by piece; no piece ends inside a code point. */
export class Detokenizer {
  private readonly vocabulary: Vocabulary
  private readonly rendersSpecials: boolean
  /** The beginning of an incomplete code point: 0 to 3 bytes. */
  private held = new Uint8Array(0)
  private isFirst: boolean
  /** Number of bytes that are still to be skipped. */
  private skip: number

  /**
   * The first `skip` bytes are skipped. `continues`: whether other text precedes, so that a first
   * space is kept.
   */
  constructor(
    vocabulary: Vocabulary,
    options: { rendersSpecials?: boolean; skip?: number; continues?: boolean } = {},
  ) {
    this.vocabulary = vocabulary
    this.isFirst = !options.continues
    this.skip = options.skip ?? 0
    this.rendersSpecials = options.rendersSpecials ?? false
  }

  /** Returns the text that this token completes; "" if it ends inside a code point. */
  push(token: number): string {
    const name = this.rendersSpecials ? this.vocabulary.name(token) : undefined
    let bytes = name === undefined ? this.vocabulary.bytes(token) : encoder.encode(name)
    if (bytes.length === 0) return ""
    if (this.isFirst && this.vocabulary.dropsFirstSpace && bytes[0] === 0x20) bytes = bytes.subarray(1)
    this.isFirst = false
    if (this.skip === 0) return this.pushBytes(bytes)
    const left = bytes.subarray(this.skip)
    this.skip -= bytes.length - left.length
    return this.pushBytes(left)
  }

  pushBytes(bytes: Uint8Array): string {
    const { text, held } = decodeWhole(this.held, bytes)
    this.held = held
    return text
  }

  /**
   * Number of bytes held back. At the end of an output they are a truncated character, and are
   * dropped.
   */
  get heldCount(): number {
    return this.held.length
  }

  fork(): Detokenizer {
    const copy = new Detokenizer(this.vocabulary, { rendersSpecials: this.rendersSpecials, skip: this.skip })
    copy.held = this.held
    copy.isFirst = this.isFirst
    return copy
  }
}

const encoder = new TextEncoder()
// Without ignoreBOM a U+FEFF at the start of a chunk would be dropped.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/**
 * Decodes the complete code points of `held` followed by `bytes`. Returns the text, and the last 0
 * to 3 bytes if they begin a code point that further bytes could complete.
 */
export function decodeWhole(
  held: Uint8Array,
  bytes: Uint8Array,
): { text: string; held: Uint8Array<ArrayBuffer> } {
  let whole = bytes
  if (held.length > 0) {
    whole = new Uint8Array(held.length + bytes.length)
    whole.set(held)
    whole.set(bytes, held.length)
  }
  const end = whole.length - openCount(whole)
  return { text: end === 0 ? "" : decoder.decode(whole.subarray(0, end)), held: whole.slice(end) }
}

/**
 * Returns how many of the last bytes begin a code point that further bytes could complete: 0 to 3.
 */
function openCount(bytes: Uint8Array): number {
  for (let count = 1; count <= Math.min(3, bytes.length); count++) {
    const lead = bytes[bytes.length - count]
    if (lead < 0x80) return 0
    if (lead < 0xc0) continue
    const length =
      lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0
    if (count >= length) return 0
    if (count === 1) return 1
    // The second byte already decides: further bytes cannot complete surrogates, overlong forms and
    // values above U+10FFFF.
    const second = bytes[bytes.length - count + 1]
    const isBad =
      (lead === 0xe0 && second < 0xa0) ||
      (lead === 0xed && second > 0x9f) ||
      (lead === 0xf0 && second < 0x90) ||
      (lead === 0xf4 && second > 0x8f)
    return isBad ? 0 : count
  }
  return 0
}
