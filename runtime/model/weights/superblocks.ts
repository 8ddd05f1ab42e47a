/**
 * The K types: 256 weights in sub-blocks of 16 or 32. The scales of the sub-blocks are small
 * integers, and the block has a scale for them. Q2_K, Q4_K and Q5_K also have minima, which are
 * subtracted, and a second scale for them.
 *
 * The comment of each type lists the parts of a block in the order of their bytes.
 */

import { type BlockType, half } from "./block.ts"

/**
 * 16 bytes: scale in the low nibble, minimum in the high one | 64 bytes of 2 bits | scale f16 |
 * scale of minima f16.
 */
const q2k: BlockType = {
  layout: { bits: 4, block: 16, rest: 16 },
  centre: 2,
  unpack({ bytes, at }, { codes, to, scales, minima, sub: sub0 }) {
    const scale = half(bytes, at + 80)
    const minimum = -half(bytes, at + 82)
    for (let sub = 0; sub < 16; sub++) {
      const both = bytes.getUint8(at + sub)
      scales[sub0 + sub] = scale * (both & 15)
      minima[sub0 + sub] = minimum * (both >> 4)
    }
    twoBits(bytes, at + 16, codes, to, 0x06060606)
  },
}

/**
 * Reads 64 bytes of 2 bits: 32 bytes hold 128 weights, the lowest bits the first 32 of them. `zero`
 * is added to each code.
 */
export function twoBits(bytes: DataView, at: number, codes: Int32Array, to: number, zero: number): void {
  // hot
  for (let i = 0; i < 16; i++) {
    const word = bytes.getInt32(at + 4 * i, true)
    const first = to + i + 24 * (i >> 3)
    codes[first] = (word & 0x03030303) + zero
    codes[first + 8] = ((word >>> 2) & 0x03030303) + zero
    codes[first + 16] = ((word >>> 4) & 0x03030303) + zero
    codes[first + 24] = ((word >>> 6) & 0x03030303) + zero
  }
}

/**
 * 32 bytes of third bits, bit k of byte i for weight 32k + i: if it is 0, 4 is subtracted | 64
 * bytes of 2 bits | 12 bytes with 16 scales of 6 bits | scale f16.
 */
const q3k: BlockType = {
  layout: { bits: 4, block: 16, rest: 0 },
  centre: 0,
  unpack({ bytes, at }, { codes, to, scales, sub: sub0 }) {
    const scale = half(bytes, at + 108)
    for (let sub = 0; sub < 16; sub++) {
      // Low 4 bits: nibbles of bytes 0–7. High 2 bits: pairs of bits of bytes 8–11.
      const low = (bytes.getUint8(at + 96 + (sub & 7)) >> ((sub & 8) >> 1)) & 15
      const high = (bytes.getUint8(at + 104 + (sub & 3)) >> (2 * (sub >> 2))) & 3
      scales[sub0 + sub] = scale * ((low | (high << 4)) - 32)
    }
    twoBits(bytes, at + 32, codes, to, 0x04040404)
    addBits(bytes, at, codes, to, 2)
  },
}

/**
 * Adds 32 bytes of one bit per weight: bit k of byte i is shifted left by `shift` and added to the
 * code of weight 32k + i.
 */
function addBits(bytes: DataView, at: number, codes: Int32Array, to: number, shift: number): void {
  // hot
  for (let i = 0; i < 8; i++) {
    const word = bytes.getInt32(at + 4 * i, true)
    for (let k = 0; k < 8; k++) codes[to + 8 * k + i] += ((word >>> k) & 0x01010101) << shift
  }
}

/** scale f16 | scale of minima f16 | 12 bytes of scales and minima | 128 bytes of nibbles. */
const q4k: BlockType = {
  layout: { bits: 4, block: 32, rest: 32 },
  centre: 8,
  unpack({ bytes, at }, { codes, to, scales, minima, sub: sub0 }) {
    scalesAndMinima(bytes, at, scales, minima, sub0)
    nibbles(bytes, at + 16, codes, to, 0)
  },
}

/** As Q4_K, with 32 bytes of fifth bits before the nibbles: bit k of byte i for weight 32k + i. */
const q5k: BlockType = {
  layout: { bits: 8, block: 32, rest: 32 },
  centre: 16,
  unpack({ bytes, at }, { codes, to, scales, minima, sub: sub0 }) {
    scalesAndMinima(bytes, at, scales, minima, sub0)
    nibbles(bytes, at + 48, codes, to, 0x70707070)
    addBits(bytes, at + 16, codes, to, 4)
  },
}

/**
 * Reads 8 scales and 8 minima of 6 bits. Bytes 0–3 and 4–7 contain four of each; their upper 2 bits
 * continue the nibbles of bytes 8–11.
 */
function scalesAndMinima(
  bytes: DataView,
  at: number,
  scales: Float32Array,
  minima: Float32Array,
  sub0: number,
): void {
  const scale = half(bytes, at)
  const minimum = -half(bytes, at + 2)
  for (let sub = sub0; sub < sub0 + 4; sub++) {
    const one = bytes.getUint8(at + 4 + sub - sub0)
    const other = bytes.getUint8(at + 8 + sub - sub0)
    const both = bytes.getUint8(at + 12 + sub - sub0)
    scales[sub] = scale * (one & 63)
    minima[sub] = minimum * (other & 63)
    scales[sub + 4] = scale * ((both & 15) | ((one >> 6) << 4))
    minima[sub + 4] = minimum * ((both >> 4) | ((other >> 6) << 4))
  }
}

/**
 * Reads 128 bytes of nibbles: 32 bytes hold 64 weights, low nibbles the first of them. `zero` is
 * added to each code.
 */
function nibbles(bytes: DataView, at: number, codes: Int32Array, to: number, zero: number): void {
  // hot
  for (let i = 0; i < 32; i++) {
    const word = bytes.getInt32(at + 4 * i, true)
    const first = to + i + 8 * (i >> 3)
    codes[first] = (word & 0x0f0f0f0f) + zero
    codes[first + 8] = ((word >>> 4) & 0x0f0f0f0f) + zero
  }
}

/**
 * 128 bytes of nibbles: 64 hold 128 weights, low nibbles the first 64 | 64 bytes of 2 upper bits,
 * as in Q2_K
 * | 16 signed scales | scale f16.
 */
const q6k: BlockType = {
  layout: { bits: 8, block: 16, rest: 0 },
  centre: 0,
  unpack({ bytes, at }, { codes, to, scales, sub: sub0 }) {
    const scale = half(bytes, at + 208)
    for (let sub = 0; sub < 16; sub++) scales[sub0 + sub] = scale * bytes.getInt8(at + 192 + sub)
    // hot
    for (let i = 0; i < 16; i++) {
      const part = i >> 3
      const one = bytes.getInt32(at + 4 * i + 32 * part, true)
      const other = bytes.getInt32(at + 4 * i + 32 * part + 32, true)
      const high = bytes.getInt32(at + 128 + 4 * i, true)
      const first = to + i + 24 * part
      codes[first] = ((one & 0x0f0f0f0f) | ((high << 4) & 0x30303030)) + 0x60606060
      codes[first + 8] = ((other & 0x0f0f0f0f) | ((high << 2) & 0x30303030)) + 0x60606060
      codes[first + 16] = (((one >>> 4) & 0x0f0f0f0f) | (high & 0x30303030)) + 0x60606060
      codes[first + 24] = (((other >>> 4) & 0x0f0f0f0f) | ((high >>> 2) & 0x30303030)) + 0x60606060
    }
  },
}

export const superblockTypes: Readonly<Record<string, BlockType>> = {
  Q2_K: q2k,
  Q3_K: q3k,
  Q4_K: q4k,
  Q5_K: q5k,
  Q6_K: q6k,
}
