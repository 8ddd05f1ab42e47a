/**
 * Random numbers as a function of where they are used: (seed, position, choice, stream, token).
 *
 * One Philox4x32-10 block (Salmon et al., SC 2011) for each row gives a key; a 12-operation integer
 * hash of token and key gives the 32 bits of each token. The generator has no state. So forced
 * tokens, speculation, preemption and batching cannot shift the noise: the same arguments always
 * give the same bits. All words are unsigned; the GPU computes the same bits.
 */

/** The purposes of random bits. */
export const Stream = { draw: 0, acceptance: 1, residual: 2, xtc: 3, draft: 4 } as const

/** A constant in all row keys, which separates them from those of other libraries. */
const Tag = 0x544f4b52

/** Four 32-bit words. */
export type RowKey = readonly [number, number, number, number]

export function philox4x32(counter: RowKey, key: readonly [number, number]): RowKey {
  let [c0, c1, c2, c3] = counter
  let [k0, k1] = key
  for (let round = 0; round < 10; round++) {
    const low0 = Math.imul(0xd2511f53, c0)
    const high0 = highProduct(0xd2511f53, c0)
    const low1 = Math.imul(0xcd9e8d57, c2)
    const high1 = highProduct(0xcd9e8d57, c2)
    c0 = high1 ^ c1 ^ k0
    c1 = low1
    c2 = high0 ^ c3 ^ k1
    c3 = low0
    k0 = (k0 + 0x9e3779b9) | 0
    k1 = (k1 + 0xbb67ae85) | 0
  }
  return [c0 >>> 0, c1 >>> 0, c2 >>> 0, c3 >>> 0]
}

/**
 * Returns the upper 32 bits of the product of two unsigned words, computed from 16-bit halves so
 * that every term is exact in float64.
 */
function highProduct(a: number, b: number): number {
  const aHigh = a >>> 16
  const aLow = a & 0xffff
  const bHigh = b >>> 16
  const bLow = b & 0xffff
  const middle = aHigh * bLow + Math.floor((aLow * bLow) / 65536)
  const carry = aLow * bHigh + (middle % 65536)
  return (aHigh * bHigh + Math.floor(middle / 65536) + Math.floor(carry / 65536)) | 0
}

/**
 * Returns the key of one row. `position` is the number of tokens of prompt and output before the
 * drawn one; `choice` is the index among the answers.
 */
export function rowKey(seed: bigint, position: number, stream: number, choice: number): RowKey {
  const low = Number(BigInt.asUintN(32, seed))
  const high = Number(BigInt.asUintN(32, seed >> 32n))
  return philox4x32([position, stream, choice, Tag], [low, high])
}

/** Returns the 32 random bits of a token. */
export function tokenBits(token: number, key: RowKey): number {
  let x = Math.imul(token, 0x9e3779b9) ^ key[0]
  x ^= x >>> 16
  x = Math.imul(x, 0x7feb352d)
  x ^= x >>> 15
  x = (x + key[1]) | 0
  x = Math.imul(x, 0x846ca68b)
  x ^= x >>> 16
  return (x ^ key[2]) >>> 0
}

/**
 * Returns standard Gumbel noise from −3.13 to 22.87. log1p keeps the upper tail, which
 * −log(−log(u)) would cut at 16.
 */
export function gumbel(bits: number): number {
  return -Math.log(-Math.log1p(-(bits + 0.5) * 2 ** -32))
}

/** Returns 53 uniform bits as a number in [0, 1). */
export function uniform(key: RowKey): number {
  return ((key[0] >>> 5) * 2 ** 26 + (key[1] >>> 6)) * 2 ** -53
}
