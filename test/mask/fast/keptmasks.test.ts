/** Kept masks against the unions that they are, as recipes and as rows. */
import { expect, test } from "vitest"
import { entry, type FastLocal } from "../../../mask/fast/entry.ts"
import { EqualLocals } from "../../../mask/fast/equals.ts"
import { KeptMasks } from "../../../mask/fast/keptmasks.ts"
import { idsRecipe, noIds, rowRecipe, wordCount, writeRecipe } from "../../../mask/recipe.ts"
import { randomOf } from "../../support/oracle.ts"

const width = 10_000
const rowBytes = 4 * wordCount(width)
const endIds = Int32Array.of(1, 9_999)

test("unions are those of their parts at each use, while rows come and go", () => {
  const random = randomOf(32)
  const equals = new EqualLocals()
  const below = (n: number) => Math.floor(random() * n)
  const locals: FastLocal[] = Array.from({ length: 12 }, () => {
    const ids = Int32Array.from({ length: 100 + below(400) }, () => below(width))
    return equals.one(entry(idsRecipe(ids), noIds, 0))
  })
  // Room for twelve rows: of the unions, more become rows than that.
  const masks = new KeptMasks(width, 12 * rowBytes)
  const copied = new Set<string>()
  let evicted = 0
  let shared = 0
  for (let step = 0; step < 3_000; step++) {
    if (step % 1_000 === 999) masks.forgetUnions()
    const parts = Array.from({ length: 1 + below(3) }, () => locals[below(4) * below(4)])
    const ends = below(2) === 0 ? endIds : noIds
    const mask = masks.unionOf(parts, ends)
    const other = masks.unionOf([...parts].reverse().concat(parts), ends)
    if (other === mask) shared++
    const row = new Uint32Array(wordCount(width))
    const recipe = masks.use(mask)
    writeRecipe(recipe, row)
    const tokens = new Set([...parts.flatMap(({ ids }) => ids.flatMap((list) => [...list])), ...ends])
    const expected = new Uint32Array(wordCount(width))
    for (const token of tokens) expected[token >>> 5] |= 1 << (token & 31)
    expect(row.every((word, i) => word === expected[i])).toBe(true)
    const key = `${[...new Set(parts.map(({ serial }) => serial))].sort()} ${ends.length}`
    if (recipe.row !== null) copied.add(key)
    else if (copied.delete(key)) evicted++
  }
  expect(copied.size).toBeGreaterThan(0)
  expect(evicted).toBeGreaterThan(10)
  // All but those behind which everything was forgotten.
  expect(shared).toBeGreaterThan(2_950)
})

test("rows take no more than their bound", () => {
  const masks = new KeptMasks(width, 2 * rowBytes)
  const before = masks.bytes
  for (let i = 0; i < 8; i++) {
    const mask = masks.alone(idsRecipe(Int32Array.from({ length: 100 }, (_, k) => 7 * k + i)), false)
    expect([mask.plain.row, mask.bytes]).toEqual([null, 400])
    for (let use = 0; use < 80; use++) masks.use(mask)
    expect(mask.recipe.row).not.toBeNull()
  }
  expect(masks.bytes - before).toBe(2 * rowBytes)
})

test("a mask of many ids is a row at once, which is its own", () => {
  const masks = new KeptMasks(width, 2 * rowBytes)
  const long = masks.alone(idsRecipe(Int32Array.from({ length: 1_000 }, (_, k) => 9 * k)), true)
  expect([long.listed, long.bytes, long.plain.row?.byteLength]).toEqual([0, rowBytes, rowBytes])
  const other = new Uint32Array(wordCount(width))
  const shared = { row: other, common: noIds, removed: noIds, ids: [Int32Array.of(5)] }
  expect([masks.alone(shared, true).bytes, masks.alone(shared, false).bytes]).toEqual([4, 4 + rowBytes])
})

test("unions take no more than their bound and one", () => {
  const equals = new EqualLocals()
  const masks = new KeptMasks(width, 3 * rowBytes)
  const dense = () => new Uint32Array(wordCount(width)).fill(1)
  const locals = Array.from({ length: 40 }, () => equals.one(entry(rowRecipe(dense()), noIds, 0)))
  for (let i = 0; i < 39; i++) {
    // The union of two rows is a row of its own.
    const mask = masks.unionOf([locals[i], locals[i + 1]], noIds)
    expect(mask.bytes).toBe(rowBytes)
    expect(masks.bytes).toBeLessThanOrEqual(4 * rowBytes)
  }
  expect(masks.unionOf([locals[0]], noIds).bytes).toBe(0)
})
