/**
 * Tokens by their number of characters, and the rows of the tokens with at most a given number.
 */
import { grown } from "../../grammar/intern.ts"
import { idsRecipe, type Recipe, rowRecipe, wordCount } from "../recipe.ts"

export class CountedTokens {
  private readonly width: number
  private readonly duplicates: ReadonlyMap<number, readonly number[]>
  /** In ascending order of the number of characters. */
  private readonly tokens: Int32Array
  /** The tokens with at most k characters are `tokens[0 .. ends[k])`. */
  private readonly ends: Int32Array
  private readonly rows = new Map<number, Uint32Array>()
  /** Whether each token is listed once; null until computed. */
  private isDistinct: boolean | null = null

  /**
   * Takes tokens with their number of characters. A token may come with several numbers if the
   * nodes of a list lie below each other.
   */
  constructor(pairs: Pairs, width: number, duplicates: ReadonlyMap<number, readonly number[]>) {
    this.width = width
    this.duplicates = duplicates
    const { values, ends } = pairs.sorted()
    this.tokens = values
    this.ends = ends.subarray(1)
  }

  /** Returns the largest number of characters of a token. */
  get maxCount(): number {
    return Math.max(0, this.ends.length - 1)
  }

  /**
   * Returns the number of tokens with at most `bound` characters. Ids with the same spelling count
   * once.
   */
  countUpTo(bound: number): number {
    return this.ends.length === 0 ? 0 : this.ends[Math.min(bound, this.ends.length - 1)]
  }

  /** Returns the mask of the tokens with at most `bound` characters. */
  recipe(bound: number): Recipe {
    const isSparse = this.countUpTo(bound) < this.width / 64
    return isSparse ? idsRecipe(this.ids(bound)) : rowRecipe(this.row(bound))
  }

  /** Returns the tokens with at most `bound` characters. */
  ids(bound: number): Int32Array {
    const ids = this.tokens.slice(0, this.countUpTo(bound))
    if (this.duplicates.size === 0) return ids
    const all = Array.from(ids)
    for (let i = ids.length - 1; i >= 0; i--) all.push(...(this.duplicates.get(ids[i]) ?? []))
    return Int32Array.from(all)
  }

  /**
   * Returns the row of the tokens with at most `bound` characters. Cached; there are at most as
   * many rows as a token has characters. Shape [W].
   */
  row(bound: number): Uint32Array {
    const most = Math.min(bound, this.maxCount)
    let row = this.rows.get(most)
    if (row === undefined) {
      row = this.filled(most)
      this.rows.set(most, row)
    }
    return row
  }

  get bytes(): number {
    return this.tokens.byteLength + this.ends.byteLength + 4 * wordCount(this.width) * this.rows.size
  }

  private filled(bound: number): Uint32Array {
    const { tokens } = this
    const end = this.countUpTo(bound)
    // Most tokens are shorter than most bounds, so the long ones are cleared in a copy of the full
    // row.
    const isMost = 2 * end > tokens.length && end < tokens.length && this.hasDistinct()
    const row = isMost ? this.row(this.maxCount).slice() : new Uint32Array(wordCount(this.width))
    for (let i = isMost ? end : 0; i < (isMost ? tokens.length : end); i++) {
      const token = tokens[i]
      if (isMost) row[token >>> 5] &= ~(1 << (token & 31))
      else row[token >>> 5] |= 1 << (token & 31)
      if (this.duplicates.size === 0) continue
      for (const twin of this.duplicates.get(token) ?? []) {
        if (isMost) row[twin >>> 5] &= ~(1 << (twin & 31))
        else row[twin >>> 5] |= 1 << (twin & 31)
      }
    }
    return row
  }

  private hasDistinct(): boolean {
    if (this.isDistinct === null) {
      const isMet = new Uint8Array(this.width)
      this.isDistinct = this.tokens.every((token) => {
        const isNew = isMet[token] === 0
        isMet[token] = 1
        return isNew
      })
    }
    return this.isDistinct
  }
}

/** Values with keys, in the order of insertion. */
export class Pairs {
  length = 0
  values = new Int32Array(256)
  keys = new Int32Array(256)

  push(value: number, key: number): void {
    if (this.length === this.values.length) this.values = grown(this.values, 2 * this.length)
    if (this.length === this.keys.length) this.keys = grown(this.keys, 2 * this.length)
    this.values[this.length] = value
    this.keys[this.length++] = key
  }

  /**
   * Returns the values by ascending key, in stable order (a counting sort). The values of key k are
   * `values[ends[k] .. ends[k + 1])`.
   */
  sorted(): { values: Int32Array; ends: Int32Array } {
    const { keys, length } = this
    const ends = endsOf(keys, length)
    return { values: placed(this.values, keys, length, ends.slice()), ends }
  }
}

// Each loop is a function of its own. V8 of Node 20 compiles a function that it enters by on-stack
// replacement at its first loop without feedback for the later loops, and discards the code at each
// of them, every time.

function endsOf(keys: Int32Array, length: number): Int32Array {
  const ends = new Int32Array(mostOf(keys, length) + 2)
  count(keys, length, ends)
  for (let key = 1; key < ends.length; key++) ends[key] += ends[key - 1]
  return ends
}

function mostOf(keys: Int32Array, length: number): number {
  let most = -1
  for (let i = 0; i < length; i++) if (keys[i] > most) most = keys[i]
  return most
}

function count(keys: Int32Array, length: number, ends: Int32Array): void {
  for (let i = 0; i < length; i++) ends[keys[i] + 1]++
}

function placed(values: Int32Array, keys: Int32Array, length: number, next: Int32Array): Int32Array {
  const placed = new Int32Array(length)
  for (let i = 0; i < length; i++) placed[next[keys[i]]++] = values[i]
  return placed
}
