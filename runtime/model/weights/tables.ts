/**
 * Types of 4 bits whose codes are looked up in a table of 16 signed bytes, so that 8 bits hold them exactly.
 */

import { type BlockType, half } from "./block.ts"

const iq4Values = Int8Array.of(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)

/** Twice the values of a 4-bit float (E2M1), so that all are integers. */
const e2m1Values = Int8Array.of(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12)

/** Looks up 16 bytes of nibbles: low ones are weights 0–15, high ones 16–31. */
function lookUp(table: Int8Array, bytes: Uint8Array, at: number, quants: Int8Array, to: number): void {
  for (let i = 0; i < 16; i++) {
    const byte = bytes[at + i]
    quants[to + i] = table[byte & 15]
    quants[to + 16 + i] = table[byte >> 4]
  }
}

/** scale f16 | nibbles. */
const iq4nl: BlockType = {
  layout: { bits: 8, block: 32, rest: 0 },
  centre: 0,
  unpack(bytes, at, quants, scales) {
    scales[0] = half(bytes, at)
    lookUp(iq4Values, bytes, at + 2, quants, 0)
  },
}

/** scale f16 | upper 2 bits of 8 scales | lower 4 bits of them | 8 times 16 bytes of nibbles. */
const iq4xs: BlockType = {
  layout: { bits: 8, block: 32, rest: 0 },
  centre: 0,
  unpack(bytes, at, quants, scales) {
    const scale = half(bytes, at)
    for (let sub = 0; sub < 8; sub++) {
      const high = (bytes[at + 2 + (sub >> 2)] >> (2 * (sub & 3))) & 3
      const low = (bytes[at + 4 + (sub >> 1)] >> (4 * (sub & 1))) & 15
      scales[sub] = scale * ((low | (high << 4)) - 32)
      lookUp(iq4Values, bytes, at + 8 + 16 * sub, quants, 32 * sub)
    }
  },
}

/** exponent, one byte | nibbles. The table is doubled, so the scale is 2^(exponent − 127) / 2. */
const mxfp4: BlockType = {
  layout: { bits: 8, block: 32, rest: 0 },
  centre: 0,
  unpack(bytes, at, quants, scales) {
    // Weights of larger exponents are no float32, and 255 stands for not a number.
    scales[0] = bytes[at] > 252 ? Number.NaN : 2 ** (bytes[at] - 128)
    lookUp(e2m1Values, bytes, at + 1, quants, 0)
  },
}

export const tableTypes: Readonly<Record<string, BlockType>> = { IQ4_NL: iq4nl, IQ4_XS: iq4xs, MXFP4: mxfp4 }
