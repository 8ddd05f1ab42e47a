/** Tokens by their number of characters, and the rows of those that have at most so many. */
import { grown } from "../grammar/intern.ts"
import { wordCount } from "./bits.ts"

export class CountedTokens {
  private readonly width: number
  private readonly duplicates: ReadonlyMap<number, readonly number[]>
  /** By ascending number of characters. */
  private readonly tokens: Int32Array
  /** Tokens with at most k characters: `tokens[0 .. ends[k])`. */
  private readonly ends: Int32Array
  private readonly rows = new Map<number, Uint32Array>()

  /** Tokens with their number of characters. */
  constructor(
    { values, keys, length }: Pairs,
    width: number,
    duplicates: ReadonlyMap<number, readonly number[]>,
  ) {
    this.width = width
    this.duplicates = duplicates
    let most = -1
    for (let i = 0; i < length; i++) if (keys[i] > most) most = keys[i]
    this.ends = new Int32Array(most + 1)
    for (let i = 0; i < length; i++) this.ends[keys[i]]++
    for (let k = 1; k <= most; k++) this.ends[k] += this.ends[k - 1]
    this.tokens = new Int32Array(length)
    const next = Int32Array.from(this.ends, (_, k) => (k === 0 ? 0 : this.ends[k - 1]))
    for (let i = 0; i < length; i++) this.tokens[next[keys[i]]++] = values[i]
  }

  /** The most characters that a token has. */
  get maxCount(): number {
    return Math.max(0, this.ends.length - 1)
  }

  /** How many tokens have at most `bound` characters, ids that spell the same once. */
  countUpTo(bound: number): number {
    return this.ends.length === 0 ? 0 : this.ends[Math.min(bound, this.ends.length - 1)]
  }

  /** Tokens with at most `bound` characters. */
  ids(bound: number): Int32Array {
    const ids = Array.from(this.tokens.subarray(0, this.countUpTo(bound)))
    if (this.duplicates.size > 0) {
      for (let i = ids.length - 1; i >= 0; i--) ids.push(...(this.duplicates.get(ids[i]) ?? []))
    }
    return Int32Array.from(ids)
  }

  /** Tokens with at most `bound` characters. Kept: at most as many rows as a token has characters. Shape [W]. */
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
    const isMost = 2 * end > tokens.length && end < tokens.length
    // Most tokens are shorter than most bounds: clear the long ones in a copy of the row that has all.
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
}

/** Values with keys, in the order in which they came. */
export class Pairs {
  length = 0
  values = new Int32Array(256)
  keys = new Int32Array(256)

  push(value: number, key: number): void {
    if (this.length === this.values.length) {
      this.values = grown(this.values, 2 * this.length)
      this.keys = grown(this.keys, 2 * this.length)
    }
    this.values[this.length] = value
    this.keys[this.length++] = key
  }
}
