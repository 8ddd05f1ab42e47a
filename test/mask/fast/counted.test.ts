/** Tokens by their number of characters against a filter. */
import { expect, test } from "vitest"
import { CountedTokens, Pairs } from "../../../mask/fast/counted.ts"
import { writeRecipe } from "../../../mask/recipe.ts"
import { randomOf } from "../../support/oracle.ts"

const width = 4_000
const duplicates = new Map([[5, [3_990, 3_991]]])

function pairsOf(entries: readonly (readonly [token: number, count: number])[]): Pairs {
  const pairs = new Pairs()
  for (const [token, count] of entries) pairs.push(token, count)
  return pairs
}

const random = randomOf(3)
const entries = Array.from({ length: 3_000 }, (_, token) => [token, Math.floor(9 * random())] as const)

test("ids, rows and recipes hold the tokens up to a bound, duplicates with them", () => {
  const counted = new CountedTokens(pairsOf(entries), width, duplicates)
  for (const bound of [0, 1, 4, 7, 8, 100]) {
    const expected = entries.filter(([, count]) => count <= bound).map(([token]) => token)
    expect(counted.countUpTo(bound)).toBe(expected.length)
    if (expected.includes(5)) expected.push(3_990, 3_991)
    expected.sort((a, b) => a - b)
    expect(Array.from(counted.ids(bound)).sort((a, b) => a - b)).toEqual(expected)
    const written = new Uint32Array(width / 32)
    writeRecipe(counted.recipe(bound), written)
    for (const row of [counted.row(bound), written]) {
      const ids = Array.from({ length: width }, (_, id) => id).filter(
        (id) => (row[id >>> 5] >>> (id & 31)) & 1,
      )
      expect(ids).toEqual(expected)
    }
  }
  expect(counted.maxCount).toBe(8)
})

test("a token that comes with several numbers of characters is there from the least of them on", () => {
  const again = entries.filter(() => random() < 0.3).map(([token, count]) => [token, count + 1] as const)
  const counted = new CountedTokens(pairsOf([...entries, ...again]), width, new Map())
  for (const bound of [0, 1, 4, 7, 8, 100]) {
    const row = counted.row(bound)
    const ids = Array.from({ length: width }, (_, id) => id).filter((id) => (row[id >>> 5] >>> (id & 31)) & 1)
    expect(ids).toEqual(entries.filter(([, count]) => count <= bound).map(([token]) => token))
  }
})

test("no tokens at all", () => {
  const counted = new CountedTokens(new Pairs(), width, new Map())
  expect([counted.maxCount, counted.countUpTo(3), counted.ids(3).length, counted.recipe(3).row]).toEqual([
    0,
    0,
    0,
    null,
  ])
})

test("pairs are sorted by key and keep their order otherwise", () => {
  const { values, ends } = pairsOf([
    [7, 2],
    [1, 0],
    [9, 2],
    [3, 0],
  ]).sorted()
  expect([Array.from(values), Array.from(ends)]).toEqual([
    [1, 3, 7, 9],
    [0, 2, 2, 4],
  ])
})
