/** Unions of recipes that share what their parts hold, against sets of tokens. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { joined, uniteShared, without } from "../../../mask/fast/unions.ts"
import { listedCount } from "../../../mask/recipe.ts"
import { ids, parts, rowOf, sound, tokensOf, written } from "../../support/recipes.ts"

test("a union allows what some part allows, and changes no part", () => {
  fc.assert(
    fc.property(parts, (all) => {
      const sounds = all.map(sound)
      const before = sounds.map((part) => [...tokensOf(part)])
      const union = uniteShared(sounds)
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
