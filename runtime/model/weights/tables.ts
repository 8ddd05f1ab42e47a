/**
 * Types of 4 bits with codes that are looked up in a table of 16 signed bytes, so 8 bits represent
 * them exactly.
 *
 * The comment of each type lists the parts of a block in the order of their bytes.
 */

import { type BlockType, half } from "./block.ts"

const iq4Codes = codesOf([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113])

/** Twice the values of a 4-bit float (E2M1), so that all of them are integers. */
const e2m1Codes = codesOf([0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12])

function codesOf(quants: readonly number[]): Uint8Array {
  return Uint8Array.from(quants, (quant) => quant + 128)
}

/**
 * The scales of all exponents. With exponents above 252 weights would exceed float32, and 255 means
 * not a number.
 */
const e8m0Scales = Float32Array.from({ length: 256 }, (_, exponent) => {
  return exponent > 252 ? Number.NaN : 2 ** (exponent - 128)
})

/** Looks up 16 bytes of nibbles: low ones are weights 0–15, high ones 16–31. */
function lookUp(table: Uint8Array, bytes: DataView, at: number, codes: Int32Array, to: number): void {
  // hot
  for (let i = 0; i < 4; i++) {
    const word = bytes.getInt32(at + 4 * i, true)
    codes[to + i] = lookedUp(table, word)
    codes[to + 4 + i] = lookedUp(table, word >>> 4)
  }
}

/** Looks up the low nibbles of the four bytes of a word. */
function lookedUp(table: Uint8Array, word: number): number {
  return (
    table[word & 15] |
    (table[(word >>> 8) & 15] << 8) |
    (table[(word >>> 16) & 15] << 16) |
    (table[(word >>> 24) & 15] << 24)
  )
}

/** scale f16 | nibbles. */
const iq4nl: BlockType = {
  layout: { bits: 8, block: 32, rest: 0 },
  centre: 0,
  unpack({ bytes, at }, { codes, to, scales, sub: sub0 }) {
    scales[sub0] = half(bytes, at)
    lookUp(iq4Codes, bytes, at + 2, codes, to)
  },
}

/** scale f16 | upper 2 bits of 8 scales | lower 4 bits of them | 8 times 16 bytes of nibbles. */
const iq4xs: BlockType = {
  layout: { bits: 8, block: 32, rest: 0 },
  centre: 0,
  unpack({ bytes, at }, { codes, to, scales, sub: sub0 }) {
    const scale = half(bytes, at)
    for (let sub = 0; sub < 8; sub++) {
      const high = (bytes.getUint8(at + 2 + (sub >> 2)) >> (2 * (sub & 3))) & 3
      const low = (bytes.getUint8(at + 4 + (sub >> 1)) >> (4 * (sub & 1))) & 15
      scales[sub0 + sub] = scale * ((low | (high << 4)) - 32)
      lookUp(iq4Codes, bytes, at + 8 + 16 * sub, codes, to + 8 * sub)
    }
  },
}

/** exponent, one byte | nibbles. The table is doubled, so the scale is 2^(exponent − 127) / 2. */
const mxfp4: BlockType = {
  layout: { bits: 8, block: 32, rest: 0 },
  centre: 0,
  unpack({ bytes, at }, { codes, to, scales, sub: sub0 }) {
    scales[sub0] = e8m0Scales[bytes.getUint8(at)]
    lookUp(e2m1Codes, bytes, at + 1, codes, to)
  },
}

export const tableTypes: Readonly<Record<string, BlockType>> = { IQ4_NL: iq4nl, IQ4_XS: iq4xs, MXFP4: mxfp4 }
