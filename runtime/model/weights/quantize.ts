/**
 * Quantizes weights stored as floats into codes and scales for MatMulNBits.
 *
 * 8 bits: the largest weight of a block gets code ±127; the relative error is 5.3e-3 (RMS, normally
 * distributed weights). 4 bits: 8.1e-2, against 8.4e-2 if the largest weight always gets −8.
 * Several steps around that one are tried. A step fixes the codes q of the weights x; the best
 * scale for them is Σxq / Σq² (least squares), which leaves an error of Σx² − (Σxq)² / Σq². The
 * step with the least error wins. Thirty steps would gain only 0.1 % more than these seven.
 */

import type { Layout } from "./block.ts"

/**
 * Codes of the largest weight of a block before rounding, to be tried. Above 8 that weight is
 * clipped, which makes the others more exact.
 */
const steps = [7, 7.333, 7.667, 8, 8.333, 8.667, 9]

/** Returns codes and scales of finite weights in whole blocks. */
export function quantize(
  values: Float32Array,
  { bits, block }: Layout,
): { readonly codes: Uint8Array; readonly scales: Float32Array } {
  const codes = new Uint8Array((values.length * bits) / 8)
  const scales = new Float32Array(values.length / block)
  const weights = new Float64Array(block)
  for (let sub = 0; sub < scales.length; sub++) {
    let largest = 0
    // hot
    for (let i = 0; i < block; i++) {
      const weight = values[sub * block + i]
      weights[i] = weight
      if (Math.abs(weight) > Math.abs(largest)) largest = weight
    }
    scales[sub] =
      bits === 8 ? eightBits(weights, largest, codes, sub) : fourBits(weights, largest, codes, sub)
  }
  return { codes, scales }
}

/**
 * Writes the codes of block `sub` and returns its scale; `largest` is the weight with the largest
 * absolute value.
 */
function eightBits(weights: Float64Array, largest: number, codes: Uint8Array, sub: number): number {
  const inverse = largest === 0 ? 0 : 127 / Math.abs(largest)
  // hot
  for (let i = 0; i < weights.length; i++) codes[sub * weights.length + i] = weights[i] * inverse + 128.5
  return Math.abs(largest) / 127
}

function fourBits(weights: Float64Array, largest: number, codes: Uint8Array, sub: number): number {
  let inverse = 0
  let scale = 0
  let most = 0
  if (largest !== 0) {
    for (const step of steps) {
      const tried = -step / largest
      let mixed = 0
      let squares = 0
      // hot
      for (let i = 0; i < weights.length; i++) {
        const quant = fourBitCode(weights[i] * tried) - 8
        mixed += weights[i] * quant
        squares += quant * quant
      }
      if ((mixed * mixed) / squares > most) {
        most = (mixed * mixed) / squares
        scale = mixed / squares
        inverse = tried
      }
    }
  }
  // hot
  for (let i = 0; i < weights.length; i += 2) {
    const pair = fourBitCode(weights[i] * inverse) | (fourBitCode(weights[i + 1] * inverse) << 4)
    codes[(sub * weights.length + i) >> 1] = pair
  }
  return scale
}

/** Returns the code of a weight that is given in units of the scale and at least −9. */
function fourBitCode(units: number): number {
  const code = (units + 8.5) | 0
  return code > 15 ? 15 : code
}
