import { expect, test } from "vitest"
import { type Rope, ropeFrequencies, ropeTable, yarnMagnitude } from "../../../../runtime/model/build/rope.ts"

test("llama3: fast pairs stay, slow ones are divided, and between lies a ramp over wavelengths", () => {
  const [base, dims, factor, low, high, original] = [500_000, 128, 8, 1, 4, 8_192]
  const plain = ropeFrequencies(dims, base, { kind: "none" })
  const expected = plain.map((angle) => {
    const wavelength = (2 * Math.PI) / angle
    if (wavelength < original / high) return angle
    if (wavelength > original / low) return angle / factor
    const smooth = (original / wavelength - low) / (high - low)
    return ((1 - smooth) * angle) / factor + smooth * angle
  })
  const angles = ropeFrequencies(dims, base, { kind: "llama3", factor, low, high, original })
  for (const [pair, angle] of angles.entries()) expect(angle).toBeCloseTo(expected[pair], 14)
  expect([angles[0], plain[63] / angles[63]]).toEqual([1, 8])
  expect(
    angles.filter((angle, pair) => angle !== plain[pair] && angle !== plain[pair] / factor),
  ).toHaveLength(6)
})

test("yarn: the ends of its ramp are those that Qwen's 32,768 positions have", () => {
  const stretch = { kind: "yarn", factor: 4, original: 32_768, fast: 32, slow: 1, isTruncated: true } as const
  const plain = ropeFrequencies(128, 1_000_000, { kind: "none" })
  const slowed = ropeFrequencies(128, 1_000_000, stretch).map((angle, pair) => plain[pair] / angle)
  expect([slowed[23], slowed[40]]).toEqual([1, 4])
  expect(slowed[24]).toBeGreaterThan(1)
  expect(slowed[39]).toBeLessThan(4)
  expect([yarnMagnitude(4), yarnMagnitude(1)]).toEqual([0.1 * Math.log(4) + 1, 1])
})

test("a table has its positions in order, in any number of pieces", () => {
  const rope: Rope = { frequencies: [1, 0.01], magnitude: 2, isInterleaved: false }
  const values = [...ropeTable(rope, "cos", 5_000)].flatMap((piece) => [...piece])
  expect(values).toHaveLength(10_000)
  for (const position of [0, 1, 4_095, 4_096, 4_999]) {
    expect(values[2 * position]).toBe(Math.fround(2 * Math.cos(position)))
    expect(values[2 * position + 1]).toBe(Math.fround(2 * Math.cos(position * 0.01)))
  }
})
