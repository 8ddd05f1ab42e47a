import { expect, test } from "vitest"
import { ModelError } from "../../../../runtime/errors.ts"
import { floats, layoutOf, type Packed, pack } from "../../../../runtime/model/weights/blocks.ts"

/** The weights that the kernel sees: (code − 2^(bits−1)) · scale + rest in float32. */
function unpacked(packed: Packed, bits: 4 | 8, block: number): Float32Array {
  const count = (packed.codes.length * 8) / bits
  const out = new Float32Array(count)
  for (let i = 0; i < count; i++) {
    const code = bits === 8 ? packed.codes[i] : (packed.codes[i >> 1] >> (4 * (i & 1))) & 15
    const sub = Math.floor(i / block)
    const product = Math.fround((code - 2 ** (bits - 1)) * packed.scales[sub])
    out[i] = packed.rests.length === 0 ? product : product + packed.rests[sub]
  }
  return out
}

test("codes are the values", () => {
  const bytes = Uint8Array.from({ length: 18 * 4 }, (_, i) => (i % 18 === 1 ? 0x3c : (i * 37) & 255))
  const layout = layoutOf("Q4_0", "q8")!
  expect(layout).toEqual({ bits: 4, block: 32, rest: 0 })
  expect(unpacked(pack("Q4_0", "q8", bytes, 64), layout.bits, layout.block)).toEqual(floats("Q4_0", bytes))
})

test("what is not read is refused by name", () => {
  expect(() => layoutOf("IQ2_XXS", "q8")).toThrow("type IQ2_XXS are not read")
  expect(() => layoutOf("toString", "q8")).toThrow(ModelError)
  expect(() => pack("F16", "fp32", new Uint8Array(64), 32)).toThrow("float32")
  expect(() => pack("F16", "q8", new Uint8Array(60), 30)).toThrow("rows of 30 weights")
  expect(() => pack("Q4_0", "q8", new Uint8Array(17), 32)).toThrow("whole rows")
  expect(() => floats("Q4_0", new Uint8Array(17))).toThrow("whole blocks")
  expect(() => floats("F16", Uint8Array.of(0, 0x7c))).toThrow("block 0 of weights of type F16 is infinite")
})
