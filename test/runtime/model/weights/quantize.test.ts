import { expect, test } from "vitest"
import { quantize } from "../../../../runtime/model/weights/quantize.ts"
import { generator } from "../../../support/onnx.ts"

const eight = { bits: 8, block: 32, rest: 0 } as const
const four = { bits: 4, block: 32, rest: 0 } as const

/** The weights that codes and scales stand for. */
function restored(values: Float32Array, { bits, block }: typeof eight | typeof four): Float64Array {
  const { codes, scales } = quantize(values, { bits, block, rest: 0 })
  return Float64Array.from(values, (_, i) => {
    const code = bits === 8 ? codes[i] : (codes[i >> 1] >> (4 * (i & 1))) & 15
    return (code - 2 ** (bits - 1)) * scales[Math.floor(i / block)]
  })
}

test("errors on normally distributed weights", () => {
  const random = generator(1)
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  for (const size of [1, 1e-30, 1e30]) {
    const values = Float32Array.from({ length: 32 * 2_000 }, () => normal() * size)
    const error = (weights: Float64Array): number => {
      const sum = values.reduce((total, value, i) => total + ((value - weights[i]) / size) ** 2, 0)
      return Math.sqrt(sum / values.reduce((total, value) => total + (value / size) ** 2, 0))
    }
    expect(error(restored(values, eight))).toBeLessThan(6e-3)
    expect(error(restored(values, four))).toBeLessThan(8.2e-2)
  }
})

test("blocks that are exact stay so", () => {
  const integers = Float32Array.from({ length: 64 }, (_, i) => ((i * 5) % 16) - 8)
  expect(Array.from(restored(integers, four))).toEqual(Array.from(integers))
  const bytes = Float32Array.from({ length: 256 }, (_, i) => (i % 32 === 0 ? -127 : (i % 255) - 127))
  expect(Array.from(restored(bytes, eight))).toEqual(Array.from(bytes))
})

test.each([
  ["zeros", 0],
  ["the smallest number", 2 ** -149],
  ["the largest number", 3.4028234663852886e38],
  ["its negative", -3.4028234663852886e38],
])("a block of %s is as near as its scale can be", (_, value) => {
  const values = new Float32Array(32).fill(value)
  for (const layout of [eight, four]) {
    for (const weight of restored(values, layout)) {
      expect(Math.abs(weight - value)).toBeLessThanOrEqual(Math.abs(value) * 1e-6 + 2 ** -149)
    }
  }
})

test("an outlier costs its block, and no other", () => {
  const values = new Float32Array(64).fill(0.01)
  values[3] = -100
  const weights = restored(values, four)
  expect(weights[3]).toBeCloseTo(-100, 2)
  expect(weights[32]).toBeCloseTo(0.01, 6)
})
