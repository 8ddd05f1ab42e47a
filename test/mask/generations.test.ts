/** A cache in two generations: what is in use stays, and nothing exceeds the bound. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { Generations } from "../../mask/generations.ts"

test("what is asked for again and again is never made twice", () => {
  const cache = new Generations<{ bytes: number }>(100)
  const hot = { bytes: 10 }
  cache.set(0, 0, hot, hot.bytes)
  for (let i = 1; i < 200; i++) {
    cache.set(i, i, { bytes: 10 }, 10)
    expect(cache.get(0, 0)).toBe(hot)
  }
  expect(cache.get(1, 1)).toBeUndefined()
  cache.clear()
  expect([cache.bytes, cache.get(0, 0)]).toEqual([0, undefined])
})

test("a value is the last one that was set, or forgotten; bytes stay within the bound and one value", () => {
  const step = fc.record({ key: fc.nat(12), bytes: fc.integer({ min: 1, max: 30 }) })
  const run = (steps: { key: number; bytes: number }[]) => {
    const cache = new Generations<{ key: number; bytes: number }>(100)
    for (const [i, value] of steps.entries()) {
      const known = cache.get(value.key, -value.key)
      if (known !== undefined) expect(known.key).toBe(value.key)
      else cache.set(value.key, -value.key, value, value.bytes)
      expect(cache.bytes).toBeLessThanOrEqual(130)
      if (i > 0 && known === undefined && value.bytes < 20)
        expect(cache.get(value.key, -value.key)).toBe(value)
    }
  }
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), run), { numRuns: 300, seed: 7 })
})
