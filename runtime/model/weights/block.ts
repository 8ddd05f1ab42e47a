/**
 * What a type of blocks is made of. A block holds `values` weights in `bytes` bytes, and every type is
 *
 *   w = scale · quant + minimum        scale and minimum shared by `layout.block` weights, quant a small integer
 *
 * with all quants of a block in row order. A description says how to find the three numbers; blocks.ts makes
 * weights of them, and the codes of the kernel. Source of all layouts: gguf-py, quants.py, which the tests
 * hold these against.
 */

/**
 * How weights of a type are written for MatMulNBits: bits a weight, weights a scale, weights that share one
 * added rest (0: none).
 */
export interface Layout {
  readonly bits: 4 | 8
  readonly block: 16 | 32
  readonly rest: 0 | 16 | 32
}

export interface BlockType {
  readonly layout: Layout
  /**
   * The quant that is written as the kernel's zero, so that codes lie around it: 0 where quants have a sign.
   * Where it is not 0, centre · scale goes into the rest.
   */
  readonly centre: number
  /**
   * Writes the block that begins at `at`: its quants, from index 0, and for each `layout.block` of them a
   * scale, and a minimum if the layout has a rest.
   */
  readonly unpack: (
    bytes: Uint8Array,
    at: number,
    quants: Int8Array,
    scales: Float32Array,
    minima: Float32Array,
  ) => void
}

/** Values of all halves (IEEE binary16) by their 16 bits. */
export const halves: Float32Array = new Float32Array(65_536)
for (let bits = 0; bits < 65_536; bits++) {
  const exponent = (bits >> 10) & 31
  const fraction = bits & 1023
  const size =
    exponent === 31
      ? fraction === 0
        ? Number.POSITIVE_INFINITY
        : Number.NaN
      : exponent === 0
        ? fraction * 2 ** -24
        : (1024 + fraction) * 2 ** (exponent - 25)
  halves[bits] = bits & 0x8000 ? -size : size
}

/** The half at `at`, little endian. */
export function half(bytes: Uint8Array, at: number): number {
  return halves[bytes[at] | (bytes[at + 1] << 8)]
}
