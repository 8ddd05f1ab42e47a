/** Weights stored as floats → codes and scales: 8 bits, or 4 bits with a searched scale. */

import type { Layout } from "./block.ts"

/** Codes and scales of finite values, in blocks of `layout.block`; no rests. */
export function quantize(
  values: Float32Array,
  layout: Layout,
): { codes: Uint8Array; scales: Float32Array; rests: Float32Array } {
  const { bits, block } = layout
  const codes = new Uint8Array((values.length * bits) / 8)
  const scales = new Float32Array(values.length / block)
  const zero = 2 ** (bits - 1)
  // hot
  for (let at = 0, sub = 0; at < values.length; at += block, sub++) {
    let largest = 0
    for (let i = at; i < at + block; i++) if (Math.abs(values[i]) > Math.abs(largest)) largest = values[i]
    const scale = Math.fround(bits === 8 ? Math.abs(largest) / 127 : -largest / zero)
    scales[sub] = scale
    const inverse = scale === 0 ? 0 : 1 / scale
    for (let i = at; i < at + block; i++) {
      const code = Math.min(Math.floor(values[i] * inverse + zero + 0.5), 2 * zero - 1)
      if (bits === 8) codes[i] = code
      else codes[i >> 1] |= code << (4 * (i & 1))
    }
  }
  return { codes, scales, rests: new Float32Array(0) }
}
