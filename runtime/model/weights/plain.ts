/** Blocks of 32 weights with one scale, and some with one minimum: the types that GGUF had first. */

import { type BlockType, half } from "./block.ts"

/** scale f16 | 16 bytes: low nibbles are weights 0–15, high ones 16–31. */
const q4_0: BlockType = {
  layout: { bits: 4, block: 32, rest: 0 },
  centre: 0,
  unpack(bytes, at, quants, scales) {
    scales[0] = half(bytes, at)
    for (let i = 0; i < 16; i++) {
      const byte = bytes[at + 2 + i]
      quants[i] = (byte & 15) - 8
      quants[16 + i] = (byte >> 4) - 8
    }
  },
}

/** scale f16 | minimum f16 | nibbles as in Q4_0. */
const q4_1: BlockType = {
  layout: { bits: 4, block: 32, rest: 32 },
  centre: 8,
  unpack(bytes, at, quants, scales, minima) {
    scales[0] = half(bytes, at)
    minima[0] = half(bytes, at + 2)
    for (let i = 0; i < 16; i++) {
      const byte = bytes[at + 4 + i]
      quants[i] = byte & 15
      quants[16 + i] = byte >> 4
    }
  },
}

/** scale f16 | fifth bits of all weights, u32 | nibbles as in Q4_0. */
const q5_0: BlockType = {
  layout: { bits: 8, block: 32, rest: 0 },
  centre: 0,
  unpack(bytes, at, quants, scales) {
    scales[0] = half(bytes, at)
    fiveBits(bytes, at + 2, quants, 16)
  },
}

/** scale f16 | minimum f16 | fifth bits | nibbles. */
const q5_1: BlockType = {
  layout: { bits: 8, block: 32, rest: 32 },
  centre: 16,
  unpack(bytes, at, quants, scales, minima) {
    scales[0] = half(bytes, at)
    minima[0] = half(bytes, at + 2)
    fiveBits(bytes, at + 4, quants, 0)
  },
}

/** 32 fifth bits and 32 nibbles, less `zero`. */
function fiveBits(bytes: Uint8Array, at: number, quants: Int8Array, zero: number): void {
  const high = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)
  for (let i = 0; i < 16; i++) {
    const byte = bytes[at + 4 + i]
    quants[i] = ((byte & 15) | (((high >>> i) & 1) << 4)) - zero
    quants[16 + i] = ((byte >> 4) | (((high >>> (16 + i)) & 1) << 4)) - zero
  }
}

/** scale f16 | 32 signed bytes. */
const q8_0: BlockType = {
  layout: { bits: 8, block: 32, rest: 0 },
  centre: 0,
  unpack(bytes, at, quants, scales) {
    scales[0] = half(bytes, at)
    for (let i = 0; i < 32; i++) quants[i] = bytes[at + 2 + i]
  },
}

export const plainTypes: Readonly<Record<string, BlockType>> = {
  Q4_0: q4_0,
  Q4_1: q4_1,
  Q5_0: q5_0,
  Q5_1: q5_1,
  Q8_0: q8_0,
}
