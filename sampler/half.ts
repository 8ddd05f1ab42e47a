/**
 * Half precision: models may write float16 or bfloat16 logits. Both are widened exactly, also
 * subnormals, infinities and NaNs. A sampler that computed in half precision would lose the tail.
 */

/** The 16-bit formats in which models write logits. */
export type HalfFormat = "float16" | "bfloat16"

/** Returns the same numbers as float32. `words` are the bits of each. */
export function widenHalf(words: Uint16Array, format: HalfFormat): Float32Array {
  const bits = new Uint32Array(words.length)
  const floats = new Float32Array(bits.buffer)
  for (let at = 0; at < words.length; at++) {
    const half = words[at]
    if (format === "bfloat16") {
      bits[at] = half << 16
      continue
    }
    const sign = (half & 0x8000) << 16
    const exponent = (half >>> 10) & 31
    const fraction = half & 1023
    if (exponent === 31) bits[at] = sign | 0x7f800000 | (fraction << 13)
    else if (exponent > 0) bits[at] = sign | ((exponent + 112) << 23) | (fraction << 13)
    else {
      floats[at] = fraction * 2 ** -24
      bits[at] |= sign
    }
  }
  return floats
}
