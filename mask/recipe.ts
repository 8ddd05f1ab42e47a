/**
 * Recipes: masks as instructions instead of rows.
 *
 * A recipe copies one dense row, sets ids, clears ids and sets ids. The ids to clear come from
 * shortcuts, which write a mask as the row of another mask with corrections.
 */

/** How to write a mask: copy, set, clear, set. */
export interface Recipe {
  /** The row to copy; null if all words are zero. Shared, never written to. Shape [W]. */
  readonly row: Uint32Array | null
  /** Tokens to set after the copy. Shared. */
  readonly common: Int32Array
  /** Tokens to clear after that; empty if there is no row. */
  readonly removed: Int32Array
  /** Lists of tokens to set last. Shared. */
  readonly ids: readonly Int32Array[]
}

/** Returns W, the number of words of a row, for a width of V tokens. */
export function wordCount(width: number): number {
  return (width + 31) >>> 5
}

export const noIds = new Int32Array(0)

const noLists: readonly Int32Array[] = []

/**
 * All recipes come from one object literal. Copies made by spreading are slower to make and to
 * read, since each has a hidden class of its own.
 */
export function recipe(
  row: Uint32Array | null,
  common: Int32Array,
  removed: Int32Array,
  ids: readonly Int32Array[],
): Recipe {
  return { row, common, removed, ids }
}

/** The empty mask. */
export const emptyRecipe: Recipe = recipe(null, noIds, noIds, noLists)

/** Returns the mask with the bits of `row`. */
export function rowRecipe(row: Uint32Array): Recipe {
  return recipe(row, noIds, noIds, noLists)
}

/** Returns the mask of the tokens in `ids`. */
export function idsRecipe(ids: Int32Array): Recipe {
  return ids.length === 0 ? emptyRecipe : recipe(null, noIds, noIds, [ids])
}

/** Returns the mask of the tokens in `ids`; as a row if they are many relative to `width`. */
export function compactIds(ids: Int32Array, width: number): Recipe {
  if (ids.length < width / 64) return idsRecipe(ids)
  const row = new Uint32Array(wordCount(width))
  setIds(row, ids)
  return rowRecipe(row)
}

/** Returns the number of ids in the lists of `recipe`, not counting the dense row. */
export function listedCount({ common, removed, ids }: Recipe): number {
  let count = common.length + removed.length
  for (const list of ids) count += list.length
  return count
}

/** Returns the bytes of the row and the ids of `recipe`, shared ones included. */
export function recipeBytes(recipe: Recipe): number {
  return (recipe.row?.byteLength ?? 0) + 4 * listedCount(recipe)
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

/**
 * Returns the union of `parts`, by its definition: a row of `words` words in which the bits of all
 * parts are set.
 */
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

/**
 * Sets four at a time, since this is the longest loop when a mask is cached (600 ids 1.0 → 0.75 µs;
 * Node 20, one core).
 */
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
