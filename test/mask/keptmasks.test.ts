/** Kept masks against the unions that they are, as recipes and as rows. */
import { expect, test } from "vitest"
import { wordCount } from "../../mask/bits.ts"
import { entry, type Local } from "../../mask/entry.ts"
import { EqualLocals } from "../../mask/fast/equals.ts"
import { KeptMasks } from "../../mask/keptmasks.ts"
import { idsRecipe, noIds, writeRecipe } from "../../mask/recipe.ts"
import { randomOf } from "../support/oracle.ts"

const width = 2_000
const rowBytes = 4 * wordCount(width)
const endIds = Int32Array.of(1, 1_999)

test("unions are those of their parts at each use, while rows come and go", () => {
  const random = randomOf(32)
  const equals = new EqualLocals()
  const below = (n: number) => Math.floor(random() * n)
  const locals: Local[] = Array.from({ length: 12 }, () => {
    const ids = Int32Array.from({ length: 1 + below(150) }, () => below(width))
    return equals.one(entry(idsRecipe(ids), noIds, 0))
  })
  // Room for three rows: of the unions, more become rows than that.
  const masks = new KeptMasks(width, 3 * rowBytes)
  const copied = new Set<string>()
  let evicted = 0
  for (let step = 0; step < 6_000; step++) {
    if (step % 1_000 === 999) masks.forgetUnions()
    const parts = Array.from({ length: 1 + below(3) }, () => locals[below(4) * below(4)])
    const ends = below(2) === 0 ? endIds : noIds
    const mask = masks.unionOf(parts, ends)
    const other = masks.unionOf([...parts].reverse().concat(parts), ends)
    expect(other).toBe(mask)
    const row = new Uint32Array(wordCount(width))
    const recipe = masks.use(mask)
    writeRecipe(recipe, row)
    const tokens = new Set([...parts.flatMap(({ ids }) => ids.flatMap((list) => [...list])), ...ends])
    const expected = new Uint32Array(wordCount(width))
    for (const token of tokens) expected[token >>> 5] |= 1 << (token & 31)
    expect(row).toEqual(expected)
    const key = `${[...new Set(parts.map(({ serial }) => serial))].sort()} ${ends.length}`
    if (recipe.row !== null) copied.add(key)
    else if (copied.delete(key)) evicted++
  }
  expect(copied.size).toBeGreaterThan(0)
  expect(evicted).toBeGreaterThan(10)
})

test("rows take no more than their bound", () => {
  const masks = new KeptMasks(width, 2 * rowBytes)
  const before = masks.bytes
  for (let i = 0; i < 8; i++) {
    const mask = masks.alone(idsRecipe(Int32Array.from({ length: 500 }, (_, k) => (k + i) % width)))
    for (let use = 0; use < 12; use++) masks.use(mask)
    expect(mask.recipe.row).not.toBeNull()
  }
  expect(masks.bytes - before).toBe(2 * rowBytes)
})
