/** Types whose weights are −1, 0 or 1 times the scale of 256. */

import { type BlockType, half } from "./block.ts"

/**
 * Five weights a byte, as digits of a fraction in base 3: byte / 256 · 3^(n+1), whole part modulo 3, is digit
 * n. Digit n of 32 bytes are weights 32n to 32n + 31; then come 16 bytes with 80 weights in the same way, 4
 * bytes with four digits each, and the scale f16.
 */
const tq1_0: BlockType = {
  layout: { bits: 4, block: 32, rest: 0 },
  centre: 0,
  unpack(bytes, at, quants, scales) {
    scales.fill(half(bytes, at + 52))
    digits(bytes, at, 32, 5, quants, 0)
    digits(bytes, at + 32, 16, 5, quants, 160)
    digits(bytes, at + 48, 4, 4, quants, 240)
  },
}

function digits(
  bytes: Uint8Array,
  at: number,
  byteCount: number,
  digitCount: number,
  quants: Int8Array,
  to: number,
): void {
  for (let i = 0; i < byteCount; i++) {
    let fraction = bytes[at + i]
    for (let n = 0; n < digitCount; n++) {
      fraction *= 3
      quants[to + byteCount * n + i] = (fraction >> 8) - 1
      fraction &= 255
    }
  }
}

/** 64 bytes of 2 bits, as in Q2_K | scale f16. */
const tq2_0: BlockType = {
  layout: { bits: 4, block: 32, rest: 0 },
  centre: 0,
  unpack(bytes, at, quants, scales) {
    scales.fill(half(bytes, at + 64))
    for (let part = 0; part < 2; part++) {
      for (let i = 0; i < 32; i++) {
        const byte = bytes[at + 32 * part + i]
        const to = 128 * part + i
        quants[to] = (byte & 3) - 1
        quants[to + 32] = ((byte >> 2) & 3) - 1
        quants[to + 64] = ((byte >> 4) & 3) - 1
        quants[to + 96] = (byte >> 6) - 1
      }
    }
  },
}

export const ternaryTypes: Readonly<Record<string, BlockType>> = { TQ1_0: tq1_0, TQ2_0: tq2_0 }
