/** A cache in two generations: what is in use stays, and nothing exceeds the bound. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { Generations, type Kept, placeBytes } from "../../../mask/fast/generations.ts"

/** A value that counts `bytes` with its place. */
const kept = (bytes: number): Kept => ({ bytes: bytes - placeBytes, generation: 0 })

test("what is asked for again and again is never made twice", () => {
  const cache = new Generations<Kept>(1000)
  const hot = kept(100)
  cache.set(0, 0, hot)
  for (let i = 1; i < 200; i++) {
    cache.set(i, i, kept(100))
    expect(cache.get(0, 0)).toBe(hot)
  }
  expect(cache.get(1, 1)).toBeUndefined()
  cache.clear()
  expect([cache.bytes, cache.get(0, 0)]).toEqual([0, undefined])
})

test("a value is the last one that was set, or forgotten; bytes stay within the bound and one value", () => {
  const step = fc.record({ key: fc.nat(12), size: fc.integer({ min: 1, max: 30 }) })
  const run = (steps: { key: number; size: number }[]) => {
    const cache = new Generations<Kept & { key: number }>(100 * placeBytes)
    for (const [i, { key, size }] of steps.entries()) {
      const value = { key, ...kept(size * placeBytes) }
      const known = cache.get(value.key, -value.key)
      if (known !== undefined) expect(known.key).toBe(value.key)
      else cache.set(value.key, -value.key, value)
      expect(cache.bytes).toBeLessThanOrEqual(130 * placeBytes)
      if (i > 0 && known === undefined && size < 20) expect(cache.get(value.key, -value.key)).toBe(value)
    }
  }
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), run), { numRuns: 300, seed: 7 })
})

test("a value under several pairs counts once in each generation that holds it, whichever pair it is asked for by", () => {
  const cache = new Generations<Kept>(20 * placeBytes)
  const shared = { bytes: 4 * placeBytes, generation: 0 }
  for (let i = 0; i < 3; i++) cache.set(0, i, shared)
  expect(cache.bytes).toBe(7 * placeBytes)
  // It stays by its second pair alone: what is forgotten is the place, not what is still held.
  for (let i = 0; i < 100; i++) {
    cache.set(1, i, kept(placeBytes))
    expect(cache.get(0, 1)).toBe(shared)
    expect(cache.bytes).toBeGreaterThanOrEqual(5 * placeBytes)
  }
  expect(cache.get(0, 0)).toBeUndefined()
})

test("a generation that goes is told, whether something was set or asked for again", () => {
  const cache = new Generations<Kept>(20 * placeBytes)
  const turnsBy = (act: () => void) => {
    const before = cache.generation
    act()
    return cache.generation !== before
  }
  const fill = (from: number, count: number) => {
    for (let i = 0; i < count; i++) cache.set(from, i, kept(placeBytes))
  }
  fill(0, 10)
  expect(turnsBy(() => cache.set(0, 10, kept(placeBytes)))).toBe(true)
  expect(turnsBy(() => fill(1, 10))).toBe(false)
  // From the old generation it comes into the young one, which is full.
  expect(turnsBy(() => cache.get(0, 3))).toBe(true)
  expect(turnsBy(() => cache.get(0, 3))).toBe(false)
  expect(turnsBy(() => cache.clear())).toBe(true)
})
