/** Recipes against sets of tokens. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { emptyRecipe, idsRecipe, listedCount, unite } from "../../mask/recipe.ts"
import { parts, rowOf, sound, tokensOf, width, written } from "../support/recipes.ts"

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
      const union = unite(sounds, Math.ceil(width / 32))
      expect(written(union)).toEqual(rowOf(before.flat()))
      expect(sounds.map((part) => [...tokensOf(part)])).toEqual(before)
      expect(listedCount(union)).toBe(
        union.common.length + union.removed.length + union.ids.reduce((sum, list) => sum + list.length, 0),
      )
    }),
    { seed: 2, numRuns: 1_000 },
  )
})
