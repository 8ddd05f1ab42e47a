import fc from "fast-check"
import { expect, test } from "vitest"
import {
  complement,
  includes,
  intersect,
  makeRanges,
  subtract,
  unite,
} from "../../../grammar/regex/ranges.ts"

const range = fc.tuple(fc.nat(40), fc.nat(6)).map(([lo, length]) => [lo, lo + length])
const set = fc.array(range, { maxLength: 5 }).map((pairs) => makeRanges(pairs.flat()))

function members(ranges: readonly number[]): number[] {
  return Array.from({ length: 60 }, (_, point) => point).filter((point) =>
    ranges.some((lo, i) => i % 2 === 0 && lo <= point && point <= ranges[i + 1]),
  )
}

test("operations are those of sets, and equal sets are equal arrays", () => {
  fc.assert(
    fc.property(set, set, (a, b) => {
      const [inA, inB] = [members(a), members(b)]
      expect(members(unite(a, b))).toEqual([...new Set([...inA, ...inB])].sort((x, y) => x - y))
      expect(members(intersect(a, b))).toEqual(inA.filter((point) => inB.includes(point)))
      expect(members(subtract(a, b))).toEqual(inA.filter((point) => !inB.includes(point)))
      expect(complement(complement(a))).toEqual(a)
      expect(unite(subtract(a, b), intersect(a, b))).toEqual(a)
      for (let point = 0; point < 60; point++) expect(includes(a, point)).toBe(inA.includes(point))
    }),
    { seed: 4, numRuns: 500 },
  )
})
