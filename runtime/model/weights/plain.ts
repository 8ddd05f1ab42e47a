/**
 * Blocks of 32 with one scale: the types that GGUF had first, and two that look their values up in a table.
 */

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

/** scale f16 | 32 signed bytes. */
const q8_0: BlockType = {
  layout: { bits: 8, block: 32, rest: 0 },
  centre: 0,
  unpack(bytes, at, quants, scales) {
    scales[0] = half(bytes, at)
    for (let i = 0; i < 32; i++) quants[i] = bytes[at + 2 + i]
  },
}

export const plainTypes: Readonly<Record<string, BlockType>> = { Q4_0: q4_0, Q8_0: q8_0 }
