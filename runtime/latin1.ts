/**
 * Bytes as a text with one character for each byte, for maps and automata that take texts. Two
 * byte sequences are equal if their texts are.
 */

/** Largest number of arguments of one call. */
const pieceLength = 8_192

/** Returns the text: character `i` has the code of byte `i`. */
export function latin1(bytes: Uint8Array): string {
  let text = ""
  for (let at = 0; at < bytes.length; at += pieceLength)
    text += String.fromCharCode(...bytes.subarray(at, at + pieceLength))
  return text
}

const encoder = new TextEncoder()

/** Returns the text of the UTF-8 bytes of `text`. */
export function latin1OfText(text: string): string {
  return latin1(encoder.encode(text))
}
