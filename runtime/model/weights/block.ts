/**
 * A type of blocks, described. A block holds `values` weights in `bytes` bytes, and in every type a
 * weight is
 *
 *   w = scale · quant + minimum
 *
 * with scale and minimum shared by `layout.block` weights, and quant a small integer. A description
 * finds these numbers; blocks.ts makes weights of them, and codes for the kernel. Source of all
 * layouts: gguf-py, quants.py, which the tests hold the descriptions against.
 */

/**
 * How weights of a type are written for MatMulNBits: bits a weight, weights a scale, weights that
 * share one added rest (0: none).
 */
export interface Layout {
  readonly bits: 4 | 8
  readonly block: 16 | 32
  readonly rest: 0 | 16 | 32
}

export interface BlockType {
  readonly layout: Layout
  /**
   * The quant whose code is the kernel's zero, so that codes lie around it: 0 for quants with a
   * sign. Where it is not 0, centre · scale goes into the rest.
   */
  readonly centre: number
  /**
   * Writes the code of each weight, quant − centre + 2^(bits−1), as one byte, four of them in a
   * word, the first in its lowest byte; a scale for each `layout.block` weights; and as many minima
   * if the layout has a rest. Words, because four weights at once take a third of the time that
   * each by itself takes.
   */
  readonly unpack: (source: BlockSource, target: BlockTarget) => void
}

/** Where a block begins. */
export interface BlockSource {
  readonly bytes: DataView
  at: number
}

/**
 * Where the numbers of a block are written: codes from word `to` on, scales and minima from `sub`
 * on.
 */
export interface BlockTarget {
  readonly codes: Int32Array
  to: number
  readonly scales: Float32Array
  readonly minima: Float32Array
  sub: number
}

/** Values of all halves (IEEE binary16) by their 16 bits. */
const halves: Float32Array = allHalves()

function allHalves(): Float32Array {
  const values = new Float32Array(65_536)
  const words = new Uint32Array(values.buffer)
  for (let bits = 0; bits < values.length; bits++) {
    // The same fraction and exponent in the places of a float32, whose exponents count from 112
    // less.
    words[bits] = ((bits & 0x7fff) << 13) | ((bits & 0x8000) << 16)
    if ((bits & 0x7c00) === 0x7c00) words[bits] |= 0x7f800000
    else values[bits] *= 2 ** 112
  }
  return values
}

/** The half at `at`, little endian. */
export function half(bytes: DataView, at: number): number {
  return halves[bytes.getUint16(at, true)]
}

/** The half of these 16 bits. */
export function halfOf(bits: number): number {
  return halves[bits]
}
