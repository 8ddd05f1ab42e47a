/** Types with weights of −1, 0 or 1 times a scale for 256 weights. */

import { type BlockSource, type BlockTarget, type BlockType, half } from "./block.ts"
import { twoBits } from "./superblocks.ts"

/**
 * Five weights per byte, as digits of a fraction in base 3: the whole part of byte / 256 · 3^(n+1),
 * modulo 3, is digit n. Digit n of 32 bytes gives weights 32n to 32n + 31; then come 16 bytes with
 * 80 weights in the same way, 4 bytes with four digits each, and the scale f16.
 */
const tq1_0: BlockType = {
  layout: { bits: 4, block: 32, rest: 0 },
  centre: 0,
  unpack({ bytes, at }, { codes, to, scales, sub }) {
    scales.fill(half(bytes, at + 52), sub, sub + 8)
    digits({ bytes, at }, { codes, to }, 8, 5)
    digits({ bytes, at: at + 32 }, { codes, to: to + 40 }, 4, 5)
    digits({ bytes, at: at + 48 }, { codes, to: to + 60 }, 1, 4)
  },
}

/** Writes digits. Counts are in words, which hold four bytes or codes. */
function digits(
  { bytes, at }: BlockSource,
  { codes, to }: Pick<BlockTarget, "codes" | "to">,
  wordCount: number,
  digitCount: number,
): void {
  // hot
  for (let i = 0; i < wordCount; i++) {
    const word = bytes.getInt32(at + 4 * i, true)
    // Even and odd bytes are separated, so that each has room for the carry of its digit.
    let even = word & 0x00ff00ff
    let odd = (word >>> 8) & 0x00ff00ff
    for (let n = 0; n < digitCount; n++) {
      even *= 3
      odd *= 3
      codes[to + wordCount * n + i] = (((even >>> 8) & 0x00030003) | (odd & 0x03000300)) + 0x07070707
      even &= 0x00ff00ff
      odd &= 0x00ff00ff
    }
  }
}

/** 64 bytes of 2 bits, as in Q2_K | scale f16. */
const tq2_0: BlockType = {
  layout: { bits: 4, block: 32, rest: 0 },
  centre: 0,
  unpack({ bytes, at }, { codes, to, scales, sub }) {
    scales.fill(half(bytes, at + 64), sub, sub + 8)
    twoBits(bytes, at, codes, to, 0x07070707)
  },
}

export const ternaryTypes: Readonly<Record<string, BlockType>> = { TQ1_0: tq1_0, TQ2_0: tq2_0 }
