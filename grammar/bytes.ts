/** Concatenates byte sequences, and reads the path of a search. */

/** Returns all `parts`, one after the other, as a copy. */
export function concatenate(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/**
 * Returns the bytes on the path from `start` to `end`. For each other node of the path, `from` has
 * the node before it and the byte between.
 */
export function pathTo(
  end: number,
  start: number,
  from: ReadonlyMap<number, { before: number; byte: number }>,
): Uint8Array {
  const bytes: number[] = []
  for (let at = end; at !== start; ) {
    const { before, byte } = from.get(at) as { before: number; byte: number }
    bytes.push(byte)
    at = before
  }
  return Uint8Array.from(bytes.reverse())
}
