/**
 * The IQ1, IQ2 and IQ3 types: 256 weights in groups of 8. The absolute values of a group are one
 * row of a grid (IQ3: two rows of 4), and the signs are separate bits. All values of the grids are
 * small integers, so 8 bits represent them exactly.
 *
 * The comment of each type lists the parts of a block in the order of their bytes.
 */

import { type BlockType, half, halfOf } from "./block.ts"
import { iq1Grid, iq2sGrid, iq2xsGrid, iq2xxsGrid, iq3sGrid, iq3xxsGrid } from "./gridtables.ts"

/**
 * Returns the rows of a grid, one byte per weight, four of them per word: two words per row, or one
 * for rows of 4.
 */
function gridOf(base64: string, bits: 2 | 4, values: readonly number[]): () => Int32Array {
  let grid: Int32Array | undefined
  return () => {
    if (grid !== undefined) return grid
    const packed = Buffer.from(base64, "base64")
    const each = 8 / bits
    const sizes = Uint8Array.from({ length: packed.length * each }, (_, i) => {
      return values[(packed[Math.floor(i / each)] >> (bits * (i % each))) & (2 ** bits - 1)]
    })
    grid = new Int32Array(sizes.buffer)
    return grid
  }
}

const iq2Values = [8, 25, 43]
const iq2xxsRows = gridOf(iq2xxsGrid, 2, iq2Values)
const iq2xsRows = gridOf(iq2xsGrid, 2, iq2Values)
const iq2sRows = gridOf(iq2sGrid, 2, iq2Values)
const iq3xxsRows = gridOf(iq3xxsGrid, 4, [4, 12, 20, 28, 36, 44, 52, 62])
const iq3sRows = gridOf(iq3sGrid, 4, [1, 3, 5, 7, 9, 11, 13, 15])
/** The weights are −1, 0 and 1; the rows contain them plus 1. */
const iq1Rows = gridOf(iq1Grid, 2, [0, 1, 2])

/**
 * Returns the codes of four weights with these absolute values, each 1 to 127; bit i of `signs`
 * makes weight i negative.
 */
function signed(sizes: number, signs: number): number {
  const ones = ((signs & 15) * 0x00204081) & 0x01010101
  // −x is ~x + 1 in each byte, without a carry since x is not 0. Codes have the offset 128.
  return ((sizes ^ Math.imul(ones, 255)) + ones) ^ 0x80808080
}

/** Returns eight sign bits from seven: the number of negative weights is even. */
function evenSigns(bits: number): number {
  const half = bits ^ (bits >> 4)
  const quarter = half ^ (half >> 2)
  return bits | (((quarter ^ (quarter >> 1)) & 1) << 7)
}

/** scale f16 | for 32 weights each: 4 rows, u8 | u32 of 4 times 7 signs and a scale of 4 bits. */
const iq2xxs: BlockType = {
  layout: { bits: 8, block: 32, rest: 0 },
  centre: 0,
  unpack({ bytes, at }, { codes, to, scales, sub: sub0 }) {
    const rows = iq2xxsRows()
    const scale = half(bytes, at)
    for (let sub = 0; sub < 8; sub++) {
      const from = at + 2 + 8 * sub
      const word = bytes.getInt32(from + 4, true)
      scales[sub0 + sub] = scale * (0.5 + (word >>> 28)) * 0.25
      for (let group = 0; group < 4; group++) {
        const row = 2 * bytes.getUint8(from + group)
        const signs = evenSigns((word >>> (7 * group)) & 127)
        const first = to + 8 * sub + 2 * group
        codes[first] = signed(rows[row], signs)
        codes[first + 1] = signed(rows[row + 1], signs >> 4)
      }
    }
  },
}

/** scale f16 | 32 u16: row of 9 bits, 7 signs | 8 bytes: a scale of 4 bits for 16 weights each. */
const iq2xs: BlockType = {
  layout: { bits: 8, block: 16, rest: 0 },
  centre: 0,
  unpack({ bytes, at }, { codes, to, scales, sub: sub0 }) {
    const rows = iq2xsRows()
    quarters(bytes, at, at + 66, scales, sub0)
    for (let group = 0; group < 32; group++) {
      const both = bytes.getUint16(at + 2 + 2 * group, true)
      const row = 2 * (both & 511)
      const signs = evenSigns(both >> 9)
      codes[to + 2 * group] = signed(rows[row], signs)
      codes[to + 2 * group + 1] = signed(rows[row + 1], signs >> 4)
    }
  },
}

/**
 * scale f16 | low 8 bits of 32 rows | 32 bytes of signs | high 2 bits of the rows | scales as in
 * IQ2_XS.
 */
const iq2s: BlockType = {
  layout: { bits: 8, block: 16, rest: 0 },
  centre: 0,
  unpack({ bytes, at }, { codes, to, scales, sub: sub0 }) {
    const rows = iq2sRows()
    quarters(bytes, at, at + 74, scales, sub0)
    for (let group = 0; group < 32; group++) {
      const high = (bytes.getUint8(at + 66 + (group >> 2)) >> (2 * (group & 3))) & 3
      const row = 2 * (bytes.getUint8(at + 2 + group) | (high << 8))
      const signs = bytes.getUint8(at + 34 + group)
      codes[to + 2 * group] = signed(rows[row], signs)
      codes[to + 2 * group + 1] = signed(rows[row + 1], signs >> 4)
    }
  },
}

/** Returns 16 scales of 4 bits, in quarters of the block's scale. */
function quarters(bytes: DataView, at: number, from: number, scales: Float32Array, sub0: number): void {
  const scale = half(bytes, at)
  for (let sub = 0; sub < 16; sub++) {
    scales[sub0 + sub] = scale * (0.5 + ((bytes.getUint8(from + (sub >> 1)) >> (4 * (sub & 1))) & 15)) * 0.25
  }
}

/** scale f16 | 64 rows, u8 | for 32 weights each: u32 as in IQ2_XXS. */
const iq3xxs: BlockType = {
  layout: { bits: 8, block: 32, rest: 0 },
  centre: 0,
  unpack({ bytes, at }, { codes, to, scales, sub: sub0 }) {
    const rows = iq3xxsRows()
    const scale = half(bytes, at)
    for (let sub = 0; sub < 8; sub++) {
      const word = bytes.getInt32(at + 66 + 4 * sub, true)
      scales[sub0 + sub] = scale * (0.5 + (word >>> 28)) * 0.5
      for (let group = 0; group < 4; group++) {
        const signs = evenSigns((word >>> (7 * group)) & 127)
        const first = 8 * sub + 2 * group
        codes[to + first] = signed(rows[bytes.getUint8(at + 2 + first)], signs)
        codes[to + first + 1] = signed(rows[bytes.getUint8(at + 3 + first)], signs >> 4)
      }
    }
  },
}

/**
 * scale f16 | low 8 bits of 64 rows | their ninth bits | 32 bytes of signs | 4 bytes: a scale of 4
 * bits for 32 weights each.
 */
const iq3s: BlockType = {
  layout: { bits: 8, block: 32, rest: 0 },
  centre: 0,
  unpack({ bytes, at }, { codes, to, scales, sub: sub0 }) {
    const rows = iq3sRows()
    const scale = half(bytes, at)
    for (let sub = 0; sub < 8; sub++) {
      scales[sub0 + sub] = scale * (1 + 2 * ((bytes.getUint8(at + 106 + (sub >> 1)) >> (4 * (sub & 1))) & 15))
    }
    for (let i = 0; i < 64; i++) {
      const high = (bytes.getUint8(at + 66 + (i >> 3)) >> (i & 7)) & 1
      const row = bytes.getUint8(at + 2 + i) | (high << 8)
      codes[to + i] = signed(rows[row], bytes.getUint8(at + 74 + (i >> 1)) >> (4 * (i & 1)))
    }
  },
}

/**
 * Returns eight times a row of −1, 0 and 1, plus 1 or minus 1, which is a shift by an eighth of the
 * scale.
 */
function shifted(rows: Int32Array, row: number, isNegative: boolean, codes: Int32Array, to: number): void {
  const zero = isNegative ? 0x77777777 : 0x79797979
  codes[to] = (rows[2 * row] << 3) + zero
  codes[to + 1] = (rows[2 * row + 1] << 3) + zero
}

/**
 * scale f16 | low 8 bits of 32 rows | u16 for 32 weights each: 4 times the high 3 bits, a scale of
 * 3 bits, the shift's sign.
 */
const iq1s: BlockType = {
  layout: { bits: 8, block: 32, rest: 0 },
  centre: 0,
  unpack({ bytes, at }, { codes, to, scales, sub: sub0 }) {
    const rows = iq1Rows()
    const scale = half(bytes, at) / 8
    for (let sub = 0; sub < 8; sub++) {
      const word = bytes.getUint16(at + 34 + 2 * sub, true)
      scales[sub0 + sub] = scale * (2 * ((word >> 12) & 7) + 1)
      for (let group = 0; group < 4; group++) {
        const row = bytes.getUint8(at + 2 + 4 * sub + group) | (((word >> (3 * group)) & 7) << 8)
        shifted(rows, row, word >= 0x8000, codes, to + 8 * sub + 2 * group)
      }
    }
  },
}

/**
 * Low 8 bits of 32 rows | for each row 4 bits: its high 3 bits, the shift's sign | 4 u16: 4 scales
 * of 3 bits for 16 weights each, and 4 bits of the scale of the block, f16, the lowest first.
 */
const iq1m: BlockType = {
  layout: { bits: 8, block: 16, rest: 0 },
  centre: 0,
  unpack({ bytes, at }, { codes, to, scales, sub: sub0 }) {
    const rows = iq1Rows()
    let bits = 0
    for (let i = 0; i < 4; i++) bits |= (bytes.getUint16(at + 48 + 2 * i, true) >> 12) << (4 * i)
    const scale = halfOf(bits) / 8
    for (let sub = 0; sub < 16; sub++) {
      const word = bytes.getUint16(at + 48 + 2 * (sub >> 2), true)
      scales[sub0 + sub] = scale * (2 * ((word >> (3 * (sub & 3))) & 7) + 1)
    }
    for (let group = 0; group < 32; group++) {
      const high = bytes.getUint8(at + 32 + (group >> 1)) >> (4 * (group & 1))
      shifted(rows, bytes.getUint8(at + group) | ((high & 7) << 8), (high & 8) !== 0, codes, to + 2 * group)
    }
  },
}

export const gridTypes: Readonly<Record<string, BlockType>> = {
  IQ1_S: iq1s,
  IQ1_M: iq1m,
  IQ2_XXS: iq2xxs,
  IQ2_XS: iq2xs,
  IQ2_S: iq2s,
  IQ3_XXS: iq3xxs,
  IQ3_S: iq3s,
}
