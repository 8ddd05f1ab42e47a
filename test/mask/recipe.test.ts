/** Recipes against sets of tokens. */
import fc from "fast-check"
import { expect, test } from "vitest"
import {
  emptyRecipe,
  idsRecipe,
  joined,
  listedCount,
  type Recipe,
  unite,
  without,
  writeRecipe,
} from "../../mask/recipe.ts"

const width = 100
const ids = fc.uniqueArray(fc.nat(width - 1), { maxLength: 20 }).map((list) => Int32Array.from(list))
/** A few rows, so that parts share some. */
const rows = fc.array(ids.map(rowOf), { minLength: 1, maxLength: 3 })
const parts = rows.chain((shared) =>
  fc.array(
    fc.record<Recipe>({
      row: fc.option(fc.constantFrom(...shared), { nil: null }),
      common: ids,
      removed: ids,
      ids: fc.array(ids, { maxLength: 2 }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
)

function rowOf(tokens: Iterable<number>): Uint32Array {
  const row = new Uint32Array(Math.ceil(width / 32))
  for (const token of tokens) row[token >>> 5] |= 1 << (token & 31)
  return row
}

/** Set, clear, set: the definition. */
function tokensOf({ row, common, removed, ids: lists }: Recipe): Set<number> {
  const tokens = new Set<number>()
  for (let token = 0; row !== null && token < width; token++)
    if ((row[token >>> 5] >>> (token & 31)) & 1) tokens.add(token)
  for (const token of common) tokens.add(token)
  for (const token of removed) tokens.delete(token)
  for (const list of lists) for (const token of list) tokens.add(token)
  return tokens
}

function written(recipe: Recipe): Uint32Array {
  const row = rowOf([1, 50, 99])
  writeRecipe(recipe, row)
  return row
}

/** Without a row nothing is cleared: so says the contract. */
const sound = (part: Recipe): Recipe => (part.row === null ? { ...part, removed: new Int32Array(0) } : part)

test("a recipe is written over whatever the row holds", () => {
  fc.assert(
    fc.property(parts, ([part]) => {
      expect(written(part)).toEqual(rowOf(tokensOf(part)))
    }),
    { seed: 1, numRuns: 500 },
  )
  expect(written(emptyRecipe)).toEqual(rowOf([]))
  expect(written(idsRecipe(Int32Array.of(7, 7, 31, 32)))).toEqual(rowOf([7, 31, 32]))
})

test("a union allows what some part allows, and changes no part", () => {
  fc.assert(
    fc.property(parts, (all) => {
      const sounds = all.map(sound)
      const before = sounds.map((part) => [...tokensOf(part)])
      const union = unite(sounds)
      expect(written(union)).toEqual(rowOf(before.flat()))
      expect(sounds.map((part) => [...tokensOf(part)])).toEqual(before)
      expect(listedCount(union)).toBe(
        union.common.length + union.removed.length + union.ids.reduce((sum, list) => sum + list.length, 0),
      )
    }),
    { seed: 2, numRuns: 1_000 },
  )
})

test("lists: both, and one less the other", () => {
  fc.assert(
    fc.property(ids, ids, (a, b) => {
      expect(new Set(joined(a, b))).toEqual(new Set([...a, ...b]))
      expect([...without(a, b)]).toEqual([...a].filter((id) => !b.includes(id)))
    }),
    { seed: 3, numRuns: 200 },
  )
})
