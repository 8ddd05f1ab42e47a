/**
 * Blocks of 32 weights with one scale, and some also with one minimum: GGUF's first types.
 *
 * The comment of each type lists the parts of a block in the order of their bytes.
 */

import { type BlockType, half } from "./block.ts"

/** scale f16 | 16 bytes: low nibbles are weights 0–15, high ones 16–31. */
const q4_0: BlockType = {
  layout: { bits: 4, block: 32, rest: 0 },
  centre: 0,
  unpack({ bytes, at }, { codes, to, scales, sub }) {
    scales[sub] = half(bytes, at)
    nibbles(bytes, at + 2, codes, to)
  },
}

/** scale f16 | minimum f16 | nibbles as in Q4_0. */
const q4_1: BlockType = {
  layout: { bits: 4, block: 32, rest: 32 },
  centre: 8,
  unpack({ bytes, at }, { codes, to, scales, minima, sub }) {
    scales[sub] = half(bytes, at)
    minima[sub] = half(bytes, at + 2)
    nibbles(bytes, at + 4, codes, to)
  },
}

function nibbles(bytes: DataView, at: number, codes: Int32Array, to: number): void {
  // hot
  for (let i = 0; i < 4; i++) {
    const word = bytes.getInt32(at + 4 * i, true)
    codes[to + i] = word & 0x0f0f0f0f
    codes[to + 4 + i] = (word >>> 4) & 0x0f0f0f0f
  }
}

/** scale f16 | fifth bits of all weights, u32 | nibbles as in Q4_0. */
const q5_0: BlockType = {
  layout: { bits: 8, block: 32, rest: 0 },
  centre: 0,
  unpack({ bytes, at }, { codes, to, scales, sub }) {
    scales[sub] = half(bytes, at)
    fiveBits(bytes, at + 2, codes, to)
  },
}

/** scale f16 | minimum f16 | fifth bits | nibbles. */
const q5_1: BlockType = {
  layout: { bits: 8, block: 32, rest: 32 },
  centre: 16,
  unpack({ bytes, at }, { codes, to, scales, minima, sub }) {
    scales[sub] = half(bytes, at)
    minima[sub] = half(bytes, at + 2)
    fiveBits(bytes, at + 4, codes, to)
  },
}

/** Writes the codes of 32 fifth bits and 32 nibbles, with the offset 16. */
function fiveBits(bytes: DataView, at: number, codes: Int32Array, to: number): void {
  const high = bytes.getInt32(at, true)
  // hot
  for (let i = 0; i < 4; i++) {
    const word = bytes.getInt32(at + 4 + 4 * i, true)
    codes[to + i] = ((word & 0x0f0f0f0f) | spread(high >>> (4 * i))) + 0x70707070
    codes[to + 4 + i] = (((word >>> 4) & 0x0f0f0f0f) | spread(high >>> (16 + 4 * i))) + 0x70707070
  }
}

/** Returns the lowest four bits, each as bit 4 of a byte. */
function spread(bits: number): number {
  // In the product, bit k is also at 8k, and no sum carries into these bits.
  return (((bits & 15) * 0x00204081) & 0x01010101) << 4
}

/** scale f16 | 32 signed bytes. */
const q8_0: BlockType = {
  layout: { bits: 8, block: 32, rest: 0 },
  centre: 0,
  unpack({ bytes, at }, { codes, to, scales, sub }) {
    scales[sub] = half(bytes, at)
    // hot
    for (let i = 0; i < 8; i++) codes[to + i] = bytes.getInt32(at + 2 + 4 * i, true) ^ 0x80808080
  },
}

export const plainTypes: Readonly<Record<string, BlockType>> = {
  Q4_0: q4_0,
  Q4_1: q4_1,
  Q5_0: q5_0,
  Q5_1: q5_1,
  Q8_0: q8_0,
}
