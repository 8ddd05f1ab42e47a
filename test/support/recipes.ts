/** Recipes at random, and what they mean by their definition. */
import fc from "fast-check"
import { type Recipe, writeRecipe } from "../../mask/recipe.ts"

export const width = 100
export const ids = fc.uniqueArray(fc.nat(width - 1), { maxLength: 20 }).map((list) => Int32Array.from(list))
/** A few rows, so that parts share some. */
const rows = fc.array(ids.map(rowOf), { minLength: 1, maxLength: 3 })
export const parts = rows.chain((shared) =>
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

export function rowOf(tokens: Iterable<number>): Uint32Array {
  const row = new Uint32Array(Math.ceil(width / 32))
  for (const token of tokens) row[token >>> 5] |= 1 << (token & 31)
  return row
}

/** Set, clear, set: the definition. */
export function tokensOf({ row, common, removed, ids: lists }: Recipe): Set<number> {
  const tokens = new Set<number>()
  for (let token = 0; row !== null && token < width; token++)
    if ((row[token >>> 5] >>> (token & 31)) & 1) tokens.add(token)
  for (const token of common) tokens.add(token)
  for (const token of removed) tokens.delete(token)
  for (const list of lists) for (const token of list) tokens.add(token)
  return tokens
}

export function written(recipe: Recipe): Uint32Array {
  const row = rowOf([1, 50, 99])
  writeRecipe(recipe, row)
  return row
}

/** Without a row nothing is cleared: so says the contract. */
export const sound = (part: Recipe): Recipe =>
  part.row === null ? { ...part, removed: new Int32Array(0) } : part
