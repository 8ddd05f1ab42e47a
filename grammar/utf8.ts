/**
 * UTF-8 and copies of texts that are mostly short and ASCII, such as names and values of schemas.
 */

const encoder = new TextEncoder()
/**
 * Up to this many characters a loop (0.2 µs) costs less than the call into the host (0.3 to 0.5;
 * Node 20, one core).
 */
const ShortText = 32
/** V8 copies shorter pieces by itself (`SlicedString::kMinLength`, `ConsString::kMinLength`). */
const LeastPiece = 13

/** Returns the UTF-8 bytes of `text`, which is well-formed, as a copy. */
export function utf8(text: string): Uint8Array {
  const { length } = text
  if (length > ShortText) return encoder.encode(text)
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0x80) return encoder.encode(text)
    bytes[i] = unit
  }
  return bytes
}

/**
 * Returns a copy of `text` that keeps nothing else in memory. V8 keeps a whole text for a piece of
 * it, and all parts of a concatenation. For values that outlive the text that they were read from.
 */
export function ownText(text: string): string {
  // Lone surrogates are written as escapes and come back.
  return text.length < LeastPiece ? text : JSON.parse(JSON.stringify(text))
}
