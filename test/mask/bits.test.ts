/** The bit layout against a loop over tokens, for widths that are no multiple of 32. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { applyMask, countAllowed, isAllowed, wordCount } from "../../mask/index.ts"

test("W words hold V bits", () => {
  const pairs = [0, 1, 31, 32, 33, 64, 65, 128_256].map((width) => [width, wordCount(width)])
  expect(pairs).toEqual([
    [0, 0],
    [1, 1],
    [31, 1],
    [32, 1],
    [33, 2],
    [64, 2],
    [65, 3],
    [128_256, 4_008],
  ])
})

test("rows by definition: set, count, apply", () => {
  const bits = fc.oneof(
    fc.array(fc.boolean(), { minLength: 1, maxLength: 140 }),
    fc.integer({ min: 1, max: 140 }).map((width) => Array<boolean>(width).fill(true)),
    fc.integer({ min: 1, max: 140 }).map((width) => Array<boolean>(width).fill(false)),
  )
  fc.assert(
    fc.property(bits, (allowed) => {
      const width = allowed.length
      const row = new Uint32Array(wordCount(width))
      for (const [token, bit] of allowed.entries()) if (bit) row[token >>> 5] |= 1 << (token & 31)
      expect(allowed.map((_, token) => isAllowed(row, token))).toEqual(allowed)
      expect(countAllowed(row)).toBe(allowed.filter((bit) => bit).length)
      // A view into a larger array: what lies past the width must stay.
      const all = Float32Array.from({ length: width + 40 }, (_, token) => token)
      applyMask(all.subarray(0, width), row)
      expect(Array.from(all)).toEqual(
        Array.from(all, (_, token) => (token < width && !allowed[token] ? Number.NEGATIVE_INFINITY : token)),
      )
    }),
    { seed: 3, numRuns: 500 },
  )
})
