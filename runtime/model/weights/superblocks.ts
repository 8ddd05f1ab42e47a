/**
 * The K types: 256 weights in sub-blocks of 16 or 32. The block has a scale for the scales of its sub-blocks,
 * which are small integers, and Q2_K, Q4_K and Q5_K another one for their minima, which are subtracted.
 */

import { type BlockType, half } from "./block.ts"

/**
 * 16 bytes: scale in the low nibble, minimum in the high one | 64 bytes of 2 bits | scale f16 | scale of
 * minima f16.
 */
const q2k: BlockType = {
  layout: { bits: 4, block: 16, rest: 16 },
  centre: 2,
  unpack(bytes, at, quants, scales, minima) {
    const scale = half(bytes, at + 80)
    const minimum = -half(bytes, at + 82)
    for (let sub = 0; sub < 16; sub++) {
      scales[sub] = scale * (bytes[at + sub] & 15)
      minima[sub] = minimum * (bytes[at + sub] >> 4)
    }
    twoBits(bytes, at + 16, quants)
  },
}

/** 64 bytes of 2 bits: 32 bytes hold 128 weights, the lowest bits the first 32 of them. */
function twoBits(bytes: Uint8Array, at: number, quants: Int8Array): void {
  for (let part = 0; part < 2; part++) {
    for (let i = 0; i < 32; i++) {
      const byte = bytes[at + 32 * part + i]
      const to = 128 * part + i
      quants[to] = byte & 3
      quants[to + 32] = (byte >> 2) & 3
      quants[to + 64] = (byte >> 4) & 3
      quants[to + 96] = byte >> 6
    }
  }
}

/**
 * 32 bytes of third bits, bit k of byte i for weight 32k + i: where it is 0, 4 is subtracted | 64 bytes of 2
 * bits | 12 bytes with 16 scales of 6 bits | scale f16.
 */
const q3k: BlockType = {
  layout: { bits: 4, block: 16, rest: 0 },
  centre: 0,
  unpack(bytes, at, quants, scales) {
    const scale = half(bytes, at + 108)
    for (let sub = 0; sub < 16; sub++) {
      // Low 4 bits: nibbles of bytes 0–7. High 2 bits: pairs of bits of bytes 8–11.
      const low = (bytes[at + 96 + (sub & 7)] >> (sub & 8 ? 4 : 0)) & 15
      const high = (bytes[at + 104 + (sub & 3)] >> (2 * (sub >> 2))) & 3
      scales[sub] = scale * ((low | (high << 4)) - 32)
    }
    twoBits(bytes, at + 32, quants)
    for (let i = 0; i < 32; i++) {
      const high = ~bytes[at + i]
      for (let k = 0; k < 8; k++) quants[32 * k + i] -= ((high >> k) & 1) << 2
    }
  },
}

/**
 * scale f16 | scale of minima f16 | 12 bytes of scales and minima | 128 bytes: 32 hold 64 weights, low
 * nibbles the first.
 */
const q4k: BlockType = {
  layout: { bits: 4, block: 32, rest: 32 },
  centre: 8,
  unpack(bytes, at, quants, scales, minima) {
    scalesAndMinima(bytes, at, scales, minima)
    nibbles(bytes, at + 16, quants)
  },
}

/** As Q4_K, with 32 bytes of fifth bits before the nibbles: bit k of byte i for weight 32k + i. */
const q5k: BlockType = {
  layout: { bits: 8, block: 32, rest: 32 },
  centre: 16,
  unpack(bytes, at, quants, scales, minima) {
    scalesAndMinima(bytes, at, scales, minima)
    nibbles(bytes, at + 48, quants)
    for (let i = 0; i < 32; i++) {
      const high = bytes[at + 16 + i]
      for (let k = 0; k < 8; k++) quants[32 * k + i] |= ((high >> k) & 1) << 4
    }
  },
}

/**
 * 8 scales and 8 minima of 6 bits: four each in bytes 0–3 and 4–7, whose upper 2 bits go on the nibbles of
 * bytes 8–11.
 */
function scalesAndMinima(bytes: Uint8Array, at: number, scales: Float32Array, minima: Float32Array): void {
  const scale = half(bytes, at)
  const minimum = -half(bytes, at + 2)
  for (let sub = 0; sub < 4; sub++) {
    const one = bytes[at + 4 + sub]
    const other = bytes[at + 8 + sub]
    const both = bytes[at + 12 + sub]
    scales[sub] = scale * (one & 63)
    minima[sub] = minimum * (other & 63)
    scales[sub + 4] = scale * ((both & 15) | ((one >> 6) << 4))
    minima[sub + 4] = minimum * ((both >> 4) | ((other >> 6) << 4))
  }
}

function nibbles(bytes: Uint8Array, at: number, quants: Int8Array): void {
  for (let part = 0; part < 4; part++) {
    for (let i = 0; i < 32; i++) {
      const byte = bytes[at + 32 * part + i]
      quants[64 * part + i] = byte & 15
      quants[64 * part + 32 + i] = byte >> 4
    }
  }
}

/**
 * 128 bytes of nibbles: 64 hold 128 weights, low nibbles the first 64 | 64 bytes of 2 upper bits, as in Q2_K
 * | 16 signed scales | scale f16.
 */
const q6k: BlockType = {
  layout: { bits: 8, block: 16, rest: 0 },
  centre: 0,
  unpack(bytes, at, quants, scales) {
    const scale = half(bytes, at + 208)
    for (let sub = 0; sub < 16; sub++) scales[sub] = scale * ((bytes[at + 192 + sub] << 24) >> 24)
    for (let part = 0; part < 2; part++) {
      for (let i = 0; i < 32; i++) {
        const one = bytes[at + 64 * part + i]
        const other = bytes[at + 64 * part + 32 + i]
        const high = bytes[at + 128 + 32 * part + i]
        const to = 128 * part + i
        quants[to] = ((one & 15) | ((high & 3) << 4)) - 32
        quants[to + 32] = ((other & 15) | (((high >> 2) & 3) << 4)) - 32
        quants[to + 64] = ((one >> 4) | (((high >> 4) & 3) << 4)) - 32
        quants[to + 96] = ((other >> 4) | ((high >> 6) << 4)) - 32
      }
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
