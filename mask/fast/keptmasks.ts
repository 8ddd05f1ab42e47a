/**
 * Cached masks. Each is a recipe until it has been written so often that a row to copy is worth its
 * memory.
 *
 * A union of the same local masks is one mask, whichever grammar needs it: of the 143,370 unions of
 * MaskBench's development split, 23,217 are distinct.
 */
import { TupleTable } from "../../grammar/intern.ts"
import { idsRecipe, listedCount, type Recipe, rowRecipe, wordCount, writeRecipe } from "../recipe.ts"
import type { KeptMask } from "../shortcuts.ts"
import type { FastLocal } from "./entry.ts"
import { putInOrder } from "./order.ts"
import { uniteShared } from "./unions.ts"

/** A mask becomes a row to copy once all its uses together have set more ids than this. */
const ManyIds = 4_096
/** Setting this many ids takes as long as copying a row. */
const FewIds = 64
/** Bytes of a union besides its recipe: its key, the object, its entries in tables. */
const unionBytes = 160

/** A cached mask. Only `KeptMasks` writes to it. */
export interface FastMask extends KeptMask {
  /** How the mask is currently written. */
  recipe: Recipe
  /** Number of ids that each use sets one by one. */
  listed: number
  /** Number of ids that all uses have set. */
  set: number
}

export class KeptMasks {
  private readonly width: number
  private readonly maxBytes: number
  private readonly maxRows: number
  private readonly keepsRows: boolean
  /** Ids of the ascending serials of the parts, followed by the number of end ids. */
  private unions = new TupleTable()
  private masks: FastMask[] = []
  private maskBytes = 0
  /** The masks that are rows to copy, in a ring buffer. */
  private readonly rows: FastMask[] = []
  /** Number of rows that were made. */
  private rowCount = 0
  private key = new Int32Array(16)

  /**
   * `width` is that of the vocabulary. `maxBytes` bounds all unions, and separately the rows to
   * copy.
   */
  constructor(width: number, maxBytes: number, keepsRows = true) {
    this.width = width
    this.maxBytes = maxBytes
    this.keepsRows = keepsRows
    this.maxRows = Math.max(1, Math.floor(maxBytes / (4 * wordCount(width))))
  }

  get bytes(): number {
    return this.maskBytes + 4 * wordCount(this.width) * this.rows.length
  }

  /** Returns the union of `parts` and of the tokens `endIds`, which are always the same or none. */
  unionOf(parts: readonly FastLocal[], endIds: Int32Array): FastMask {
    if (this.key.length <= parts.length) this.key = new Int32Array(2 * parts.length)
    const { key } = this
    for (let i = 0; i < parts.length; i++) key[i] = parts[i].serial
    const count = putInOrder(key, parts.length)
    key[count] = endIds.length
    const union = this.unions.intern(key, count + 1)
    const known = this.masks[union]
    if (known !== undefined) return known
    const plain = uniteShared(endIds.length === 0 ? parts : [...parts, idsRecipe(endIds)])
    const isOwnRow = plain.row !== null && !parts.some(({ row }) => row === plain.row)
    const bytes = 8 * plain.ids.length + (isOwnRow ? plain.row.byteLength : 0)
    const mask = { plain, bytes, recipe: plain, listed: listedCount(plain), set: 0 }
    this.masks[union] = mask
    this.maskBytes += unionBytes + 4 * count + bytes
    if (this.maskBytes > this.maxBytes) this.forgetUnions()
    return mask
  }

  /**
   * Returns a mask that no other state shares, though its row may be shared. Many ids become a row
   * at once, because a list of them would take more memory.
   */
  alone(recipe: Recipe, isSharedRow: boolean): FastMask {
    const isLong = listedCount(recipe) >= this.width / 64
    const plain = isLong ? rowRecipe(this.rowOf(recipe)) : recipe
    const listed = listedCount(plain)
    const bytes = 4 * listed + (isSharedRow && !isLong ? 0 : (plain.row?.byteLength ?? 0))
    return { plain, bytes, recipe: plain, listed, set: 0 }
  }

  /** Returns how to write `mask`, which the caller is about to write. */
  use(mask: FastMask): Recipe {
    mask.set += mask.listed
    // Not at the first use, since most masks are used once.
    if (this.keepsRows && mask.set > ManyIds && mask.listed > FewIds && mask.set > mask.listed)
      this.keepRow(mask)
    return mask.recipe
  }

  /** Evicts the unions; those that are needed again are made again. */
  forgetUnions(): void {
    const unions = new TupleTable()
    this.masks = []
    this.maskBytes = 0
    this.unions = unions
  }

  /**
   * Replaces the oldest row if there are enough rows; a mask that is still in use gets a row again.
   */
  private keepRow(mask: FastMask): void {
    const row = this.rowOf(mask.plain)
    const place = this.rowCount++ % this.maxRows
    const oldest = this.rows[place]
    this.rows[place] = mask
    mask.recipe = rowRecipe(row)
    mask.listed = 0
    if (oldest === undefined) return
    oldest.recipe = oldest.plain
    oldest.listed = listedCount(oldest.plain)
    oldest.set = 0
  }

  private rowOf(recipe: Recipe): Uint32Array {
    const row = new Uint32Array(wordCount(this.width))
    writeRecipe(recipe, row)
    return row
  }
}
