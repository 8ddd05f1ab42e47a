/**
 * Masks that are kept, each as its recipe until it has been written so often that a row to copy is worth its memory.
 *
 * A union of the same local masks is one mask, whichever grammar asks for it: of 143,370 unions of MaskBench's development split
 * 23,217 differ.
 */
import { TupleTable } from "../../grammar/intern.ts"
import { wordCount } from "../bits.ts"
import { putInOrder } from "../lists.ts"
import type { KeptMask } from "../local.ts"
import { idsRecipe, listedCount, type Recipe, rowRecipe, writeRecipe } from "../recipe.ts"
import type { FastLocal } from "./entry.ts"
import { uniteShared } from "./unions.ts"

/** A mask of which so many ids were set, over all its uses, is kept as a row to copy. */
const ManyIds = 4_096
/** So few are set in the time in which a row is copied. */
const FewIds = 64
/** What a union takes beside its recipe: its key, itself, its places in tables. */
const unionBytes = 160

/** `KeptMasks` alone writes to it. */
export interface FastMask extends KeptMask {
  /** How it is written at the moment. */
  recipe: Recipe
  /** Ids that are set one by one each time. */
  listed: number
  /** Those of all uses. */
  set: number
}

export class KeptMasks {
  private readonly width: number
  private readonly maxBytes: number
  private readonly maxRows: number
  private readonly keepsRows: boolean
  /** By the serials of the parts, which ascend, and the number of end ids behind them. */
  private unions = new TupleTable()
  private masks: FastMask[] = []
  private maskBytes = 0
  /** The masks that are rows to copy, in a ring. */
  private readonly rows: FastMask[] = []
  /** Rows that were made. */
  private rowCount = 0
  private key = new Int32Array(16)

  /** `width`: of the vocabulary; `maxBytes`: of all unions, and as many of rows to copy. */
  constructor(width: number, maxBytes: number, keepsRows = true) {
    this.width = width
    this.maxBytes = maxBytes
    this.keepsRows = keepsRows
    this.maxRows = Math.max(1, Math.floor(maxBytes / (4 * wordCount(width))))
  }

  get bytes(): number {
    return this.maskBytes + 4 * wordCount(this.width) * this.rows.length
  }

  /** The union of `parts` and of the tokens `endIds`, which are always the same or none. */
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

  /** A mask that no other state shares, though its row may be another's. Many ids are a row at once: as a list they would take more. */
  alone(recipe: Recipe, isSharedRow: boolean): FastMask {
    const isLong = listedCount(recipe) >= this.width / 64
    const plain = isLong ? rowRecipe(this.rowOf(recipe)) : recipe
    const listed = listedCount(plain)
    const bytes = 4 * listed + (isSharedRow && !isLong ? 0 : (plain.row?.byteLength ?? 0))
    return { plain, bytes, recipe: plain, listed, set: 0 }
  }

  /** How to write `mask`, which is about to be written. */
  use(mask: FastMask): Recipe {
    mask.set += mask.listed
    // Not at once: most masks are asked for once.
    if (this.keepsRows && mask.set > ManyIds && mask.listed > FewIds && mask.set > mask.listed)
      this.keepRow(mask)
    return mask.recipe
  }

  /** Unions that are asked for from now on are made anew. */
  forgetUnions(): void {
    const unions = new TupleTable()
    this.masks = []
    this.maskBytes = 0
    this.unions = unions
  }

  /** In place of the oldest one, where there are enough: what is in use comes back. */
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
