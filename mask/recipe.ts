/**
 * Recipes: masks as what to do, not as rows.
 *
 * One dense row to copy, ids to set, ids to clear, ids to set. Ids to clear come from shortcuts, which write a mask as another
 * one's row, corrected.
 */

import { wordCount } from "./bits.ts"

/** How to write a mask: copy, set, clear, set. */
export interface Recipe {
  /** Row to begin with; null: all zero. Shared, never written to. Shape [W]. */
  readonly row: Uint32Array | null
  /** Tokens to set in it. Shared. */
  readonly common: Int32Array
  /** Tokens to clear, then; none where there is no row. */
  readonly removed: Int32Array
  /** Lists of tokens to set, last. Shared. */
  readonly ids: readonly Int32Array[]
}

export const noIds = new Int32Array(0)

const noLists: readonly Int32Array[] = []

/** All recipes are one literal's: copies by spreading are slower to make and to read, since each has a class of its own. */
export function recipe(
  row: Uint32Array | null,
  common: Int32Array,
  removed: Int32Array,
  ids: readonly Int32Array[],
): Recipe {
  return { row, common, removed, ids }
}

/** The mask of nothing. */
export const emptyRecipe: Recipe = recipe(null, noIds, noIds, noLists)

/** The mask that `row` is. */
export function rowRecipe(row: Uint32Array): Recipe {
  return recipe(row, noIds, noIds, noLists)
}

/** The mask of the tokens in `ids`. */
export function idsRecipe(ids: Int32Array): Recipe {
  return ids.length === 0 ? emptyRecipe : recipe(null, noIds, noIds, [ids])
}

/** The mask of the tokens in `ids`; as a row where they are many of `width`. */
export function compactIds(ids: Int32Array, width: number): Recipe {
  if (ids.length < width / 64) return idsRecipe(ids)
  const row = new Uint32Array(wordCount(width))
  setIds(row, ids)
  return rowRecipe(row)
}

/** Ids in the lists of `recipe`, the dense row aside. */
export function listedCount({ common, removed, ids }: Recipe): number {
  let count = common.length + removed.length
  for (const list of ids) count += list.length
  return count
}

/** Writes `mask` into `row`. */
export function writeRecipe(mask: Recipe, row: Uint32Array): void {
  const { common, removed, ids } = mask
  if (mask.row === null) row.fill(0)
  else row.set(mask.row)
  setIds(row, common)
  for (let i = 0; i < removed.length; i++) row[removed[i] >>> 5] &= ~(1 << (removed[i] & 31))
  for (let k = 0; k < ids.length; k++) setIds(row, ids[k])
}

/** The union of `parts`, by its definition: a row of `words` words in which the bits of all are set. */
export function unite(parts: readonly Recipe[], words: number): Recipe {
  const filled = parts.filter((part) => part.row !== null || listedCount(part) > 0)
  if (filled.length === 0) return emptyRecipe
  if (filled.length === 1) return filled[0]
  const [union, row] = [new Uint32Array(words), new Uint32Array(words)]
  for (const part of filled) {
    writeRecipe(part, row)
    for (let w = 0; w < words; w++) union[w] |= row[w]
  }
  return rowRecipe(union)
}

/** Four at a time: the longest loop of a mask that is known (600 ids 1.0 → 0.75 µs; Node 20, one core). */
export function setIds(row: Uint32Array, ids: Int32Array): void {
  const { length } = ids
  let i = 0
  for (; i + 3 < length; i += 4) {
    const first = ids[i]
    const second = ids[i + 1]
    const third = ids[i + 2]
    const fourth = ids[i + 3]
    row[first >>> 5] |= 1 << (first & 31)
    row[second >>> 5] |= 1 << (second & 31)
    row[third >>> 5] |= 1 << (third & 31)
    row[fourth >>> 5] |= 1 << (fourth & 31)
  }
  for (; i < length; i++) row[ids[i] >>> 5] |= 1 << (ids[i] & 31)
}
