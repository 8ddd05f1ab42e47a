/** Equal local masks are one object, and only those. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { entry, type FastLocal } from "../../../mask/fast/entry.ts"
import { EqualLocals } from "../../../mask/fast/equals.ts"

const rows = [null, new Uint32Array(2), new Uint32Array(2)]
const ids = fc.array(fc.nat(2), { maxLength: 2 })
const parts = fc.record({
  row: fc.nat(rows.length - 1),
  common: ids,
  removed: ids,
  ids: fc.array(ids, { maxLength: 2 }),
  exits: ids,
})
type Parts = typeof parts extends fc.Arbitrary<infer P> ? P : never

function localOf({ row, common, removed, ids, exits }: Parts): FastLocal {
  const lists = ids.map((list) => Int32Array.from(list))
  const recipe = {
    row: rows[row],
    common: Int32Array.from(common),
    removed: Int32Array.from(removed),
    ids: lists,
  }
  return entry(recipe, Int32Array.from(exits), 100)
}

test("one stands for all with the same row, lists and exits, under a serial of its own", () => {
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 60 }), (all) => {
      const equals = new EqualLocals()
      const known = new Map<string, FastLocal>()
      for (const each of all) {
        const key = JSON.stringify(each)
        const one = equals.one(localOf(each))
        expect(one).toEqual({ ...localOf(each), serial: one.serial })
        if (known.has(key)) expect(one).toBe(known.get(key))
        known.set(key, one)
      }
      const serials = [...known.values()].map(({ serial }) => serial)
      expect(new Set(serials).size).toBe(known.size)
      expect(serials.includes(0)).toBe(false)
    }),
    { numRuns: 200, seed: 3201 },
  )
})

test("lists that differ far behind, where their hashes do not, are told apart", () => {
  const equals = new EqualLocals()
  const long = (last: number): FastLocal =>
    localOf({ row: 0, common: [], removed: [], ids: [[...Array(100).keys(), last]], exits: [] })
  const [first, second] = [equals.one(long(7)), equals.one(long(8))]
  expect(second).not.toBe(first)
  expect([equals.one(long(7)), equals.one(long(8))]).toEqual([first, second])
  expect(equals.one(long(7))).toBe(first)
})

test("what is forgotten has another serial when it comes again", () => {
  const equals = new EqualLocals()
  const make = () => localOf({ row: 1, common: [1], removed: [], ids: [], exits: [] })
  const before = equals.one(make())
  equals.clear()
  const after = equals.one(make())
  expect(after).not.toBe(before)
  expect(after.serial).not.toBe(before.serial)
})
