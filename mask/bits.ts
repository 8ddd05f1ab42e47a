/**
 * The bit layout, the one contract between masks and samplers: a row-major `Uint32Array [B, W]`, W
 * = ceil(V / 32), where bit `t & 31` of word `t >>> 5` is 1 if token t is allowed. V is the width
 * of the logits.
 */

/** Returns whether the bit of `token` is set in a row. O(1). */
export function isAllowed(row: Uint32Array, token: number): boolean {
  return ((row[token >>> 5] >>> (token & 31)) & 1) === 1
}

/** Returns the number of set bits. */
export function countAllowed(row: Uint32Array): number {
  let count = 0
  // Adds the bits in groups of two, four, eight and 32 (Warren, "Hacker's Delight", 5-1).
  for (let w = 0; w < row.length; w++) {
    let word = row[w] - ((row[w] >>> 1) & 0x55555555)
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333)
    count += Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
  }
  return count
}

/** Sets the logit of every denied token to -Infinity. `logits` has V values, `row` W words. */
export function applyMask(logits: Float32Array, row: Uint32Array): void {
  const width = logits.length
  // hot: iterates over the rare case, a denied bit of a mostly allowed word or a wholly denied word
  for (let w = 0; w < row.length; w++) {
    let denied = ~row[w]
    if (width - 32 * w < 32) denied &= (1 << (width - 32 * w)) - 1
    if (denied === -1) {
      logits.fill(Number.NEGATIVE_INFINITY, 32 * w, 32 * w + 32)
      continue
    }
    for (; denied !== 0; denied &= denied - 1) {
      logits[32 * w + 31 - Math.clz32(denied & -denied)] = Number.NEGATIVE_INFINITY
    }
  }
}

/**
 * Returns the token of a row with a single bit; the lowest token if there are more, −1 if there is
 * none.
 */
export function onlyToken(row: Uint32Array): number {
  const word = row.findIndex((bits) => bits !== 0)
  return word < 0 ? -1 : 32 * word + 31 - Math.clz32(row[word] & -row[word])
}
