/** Hash-consing: equal content, equal id; ids are dense, contents survive growth. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { grown, PairMap, QuadTable, TupleTable } from "../../grammar/intern.ts"

const tuples = fc.array(fc.array(fc.integer({ min: -3, max: 3 }), { maxLength: 5 }), { maxLength: 400 })

test("ids are equal exactly for equal tuples, and dense in order of arrival", () => {
  fc.assert(
    fc.property(tuples, (list) => {
      const table = new TupleTable()
      const ids = new Map<string, number>()
      for (const tuple of list) {
        const key = JSON.stringify(tuple)
        const expected = ids.get(key) ?? ids.size
        expect(table.intern(tuple)).toBe(expected)
        ids.set(key, expected)
      }
      expect(table.count).toBe(ids.size)
      for (const [key, id] of ids) {
        expect(JSON.stringify(Array.from(table.view(id)))).toBe(key)
        expect(table.length(id)).toBe(JSON.parse(key).length)
      }
    }),
    { seed: 1, numRuns: 200 },
  )
})

test("growth keeps every tuple: long ones, and ten thousand of them", () => {
  const table = new TupleTable()
  const long = Array.from({ length: 5_000 }, (_, i) => i)
  const tupleOf = (i: number) => [i, i % 7, -i].slice(0, 1 + (i % 3))
  expect(table.intern(long)).toBe(0)
  for (let i = 0; i < 10_000; i++) expect(table.intern(tupleOf(i))).toBe(i + 1)
  for (let i = 0; i < 10_000; i++) expect(table.intern(tupleOf(i))).toBe(i + 1)
  expect(Array.from(table.view(0))).toEqual(long)
  expect(table.at(0, 4_999)).toBe(4_999)
  expect(table.bytes).toBeGreaterThan(4 * (5_000 + 10_000))
})

test("large tables, which grow by less, keep every tuple", () => {
  const table = new TupleTable()
  for (let i = 0; i < 200_000; i++) table.intern([i, i + 1, 7])
  for (let i = 0; i < 200_000; i += 997)
    expect([...table.view(table.intern([i, i + 1, 7]))]).toEqual([i, i + 1, 7])
  expect(table.count).toBe(200_000)
})

test("a length shortens the tuple; a length is part of the identity", () => {
  const table = new TupleTable()
  expect(table.intern([1, 2, 3], 2)).toBe(table.intern([1, 2]))
  expect(table.intern([0])).not.toBe(table.intern([0, 0]))
  expect(table.intern([])).not.toBe(table.intern([0]))
})

test("a table of fours gives the ids that a table of any tuples gives", () => {
  const value = fc.integer({ min: -2, max: 3 })
  fc.assert(
    fc.property(fc.array(fc.tuple(value, value, value, value), { maxLength: 700 }), (list) => {
      const [quads, tuples] = [new QuadTable(), new TupleTable()]
      for (const quad of list) expect(quads.intern(...quad)).toBe(tuples.intern(quad))
      expect(quads.count).toBe(tuples.count)
      for (let id = 0; id < quads.count; id++) {
        expect([...quads.view(id)]).toEqual([...tuples.view(id)])
        expect(quads.at(id, 3)).toBe(tuples.at(id, 3))
      }
    }),
    { seed: 2, numRuns: 100 },
  )
  const large = new QuadTable()
  for (let i = 0; i < 100_000; i++) expect(large.intern(i, 1, -i, 2)).toBe(i)
  for (let i = 0; i < 100_000; i += 991) expect(large.intern(i, 1, -i, 2)).toBe(i)
})

test("PairMap is a Map of pairs", () => {
  const small = fc.integer({ min: 0, max: 40 })
  fc.assert(
    fc.property(fc.array(fc.tuple(small, small, fc.nat()), { maxLength: 900 }), (entries) => {
      const pairs = new PairMap()
      const model = new Map<string, number>()
      for (const [a, b, value] of entries) {
        pairs.set(a, b, value)
        model.set(`${a} ${b}`, value)
      }
      expect(pairs.size).toBe(model.size)
      for (let a = 0; a <= 41; a++)
        for (let b = 0; b <= 41; b++) expect(pairs.get(a, b)).toBe(model.get(`${a} ${b}`) ?? -1)
      pairs.clear()
      expect([pairs.size, pairs.get(0, 0)]).toEqual([0, -1])
    }),
    { seed: 2, numRuns: 60 },
  )
})

test("grown copies and leaves room", () => {
  const array = Int32Array.of(1, -2)
  const copy = grown(array, 4)
  expect(Array.from(copy)).toEqual([1, -2, 0, 0])
  copy[0] = 9
  expect(array[0]).toBe(1)
})
