/**
 * SentencePiece's normalizer: a table from texts to their normal forms, stored in the file as
 * `precompiled_charsmap`.
 *
 * The table consists of a length in bytes, a trie of that length in two interleaved arrays (Aoe
 * 1989, as in darts-clone), and the normalized texts, each ended by a zero. A unit holds the byte
 * that leads to it (bits 0 to 7), whether a key ends there (8), and the offset of its children (10
 * to 30, times 256 if bit 9 is set); the unit of an end holds the offset of its text. Python's
 * `tokenizers` looks up clusters of less than six bytes as a whole and others by code point, and
 * takes the shortest key that is a prefix.
 */

/** Returns the normalizer of a table in base64. Throws RangeError if the table is truncated. */
export function charsmapNormalizer(base64: string): (text: string) => string {
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  const view = new DataView(bytes.buffer)
  const trieBytes = bytes.length < 4 ? 0 : view.getUint32(0, true)
  if (bytes.length < 8 || 4 + trieBytes > bytes.length) {
    throw new RangeError(`precompiled_charsmap: ${bytes.length} bytes hold no trie of ${trieBytes}`)
  }
  const units = Uint32Array.from({ length: trieBytes >>> 2 }, (_, at) => view.getUint32(4 + 4 * at, true))
  const texts = bytes.subarray(4 + trieBytes)

  const offset = (unit: number): number => (unit >>> 10) << ((unit & 0x200) >>> 6)
  /**
   * Returns the normal form of the shortest key that is a prefix of `part`; undefined if there is
   * none.
   */
  const lookUp = (part: string): string | undefined => {
    let at = offset(units[0])
    for (const byte of encoder.encode(part)) {
      if (byte === 0) return undefined
      at ^= byte
      const unit = units[at]
      if (unit === undefined || (unit & 0x800000ff) >>> 0 !== byte) return undefined
      at ^= offset(unit)
      if ((unit & 0x100) !== 0) {
        const start = units[at] & 0x7fffffff
        return decoder.decode(texts.subarray(start, texts.indexOf(0, start)))
      }
    }
    return undefined
  }
  return (text) => {
    let made = ""
    for (const { segment } of clusters.segment(text)) {
      const whole = encoder.encode(segment).length < 6 ? lookUp(segment) : undefined
      made += whole ?? Array.from(segment, (char) => lookUp(char) ?? char).join("")
    }
    return made
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
const clusters = new Intl.Segmenter("en", { granularity: "grapheme" })
