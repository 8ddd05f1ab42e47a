/**
 * The description of a type of blocks. A block has `values` weights in `bytes` bytes, and in every
 * type a weight is
 *
 *   w = scale · quant + minimum
 *
 * where `layout.block` weights share scale and minimum, and quant is a small integer. A description
 * extracts these numbers; blocks.ts computes weights from them, and codes for the kernel. Source of
 * all layouts: gguf-py, quants.py; the tests compare the descriptions with it.
 */

/**
 * How weights of a type are written for MatMulNBits: bits per weight, weights per scale, and
 * weights that share one added rest (0: none).
 */
export interface Layout {
  readonly bits: 4 | 8
  readonly block: 16 | 32
  readonly rest: 0 | 16 | 32
}

export interface BlockType {
  readonly layout: Layout
  /**
   * The quant that the kernel's zero code represents, so that codes lie around it: 0 for signed
   * quants. If it is not 0, centre · scale is added to the rest.
   */
  readonly centre: number
  /**
   * Writes the code of each weight, quant − centre + 2^(bits−1), as one byte, four of them per
   * word, the first in its lowest byte; a scale for each `layout.block` weights; and as many minima
   * if the layout has a rest. It works on words, because four weights at once take a third of the
   * time of four single ones.
   */
  readonly unpack: (source: BlockSource, target: BlockTarget) => void
}

/** Where to read a block: it begins at `at`. */
export interface BlockSource {
  readonly bytes: DataView
  at: number
}

/**
 * Where to write the numbers of a block: codes from word `to` on, scales and minima from `sub` on.
 */
export interface BlockTarget {
  readonly codes: Int32Array
  to: number
  readonly scales: Float32Array
  readonly minima: Float32Array
  sub: number
}

/** The values of all halves (IEEE binary16), indexed by their 16 bits. */
const halves: Float32Array = allHalves()

function allHalves(): Float32Array {
  const values = new Float32Array(65_536)
  const words = new Uint32Array(values.buffer)
  for (let bits = 0; bits < values.length; bits++) {
    // Fraction and exponent are moved to their bits in a float32. The exponent bias of a float32 is
    // larger by 112.
    words[bits] = ((bits & 0x7fff) << 13) | ((bits & 0x8000) << 16)
    if ((bits & 0x7c00) === 0x7c00) words[bits] |= 0x7f800000
    else values[bits] *= 2 ** 112
  }
  return values
}

/** Returns the half at `at`, little endian. */
export function half(bytes: DataView, at: number): number {
  return halves[bytes.getUint16(at, true)]
}

/** Returns the half with these 16 bits. */
export function halfOf(bits: number): number {
  return halves[bits]
}
