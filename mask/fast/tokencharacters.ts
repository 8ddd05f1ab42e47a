/**
 * The characters of the tokens of a vocabulary, as rows by character.
 *
 * Most sets of characters lack few of the characters that tokens have. The tokens without these few
 * are found by OR-ing some dozen rows, while a walk through the trie visits every node.
 */
import { wordCount } from "../recipe.ts"
import type { Vocabulary } from "../vocabulary.ts"
import { afterFirst, afterNext } from "./characters.ts"
import { Pairs } from "./counted.ts"

/**
 * First bytes of non-ASCII characters (RFC 3629 §4), and the indices of the rows of all of these
 * and of all controls.
 */
const FirstLead = 0xc2
const LastLead = 0xf4
const Leads = 256
const Controls = 257

export class TokenCharacters {
  private readonly words: number
  /**
   * Tokens that are text if they begin at the end of a character; their last character may be
   * truncated. Shape [W].
   */
  private readonly text: Uint32Array
  /** By first byte: the tokens with such a character; `undefined` if there are none. */
  private readonly having: (Uint32Array | undefined)[] = []
  /** Number of characters by token, including a truncated one. */
  private readonly counts: Uint16Array
  /** Tokens that are text, longest first. */
  private readonly longest: Int32Array
  /** By number of characters: the tokens with at most that many. */
  private readonly short = new Map<number, Uint32Array>()

  constructor(vocabulary: Vocabulary) {
    const { width, offsets, values } = vocabulary
    this.words = wordCount(width)
    this.text = new Uint32Array(this.words)
    this.counts = new Uint16Array(width)
    const tokens = new Pairs()
    for (let token = 0; token < width; token++) {
      const count = this.read(values, offsets[token], offsets[token + 1], token)
      if (count === 0) continue
      this.text[token >>> 5] |= 1 << (token & 31)
      this.counts[token] = Math.min(count, 0xffff)
      tokens.push(token, this.counts[token])
    }
    this.longest = tokens.sorted().values.reverse()
    this.having[Leads] = this.union(FirstLead, LastLead)
    this.having[Controls] = this.union(0, 0x1f)
  }

  /** Marks the characters of one token. Returns their number; 0 if the token is not text. */
  private read(bytes: Uint8Array, from: number, to: number, token: number): number {
    let code = 0
    let count = 0
    for (let at = from; at < to; at++) {
      if (code === 0) {
        code = afterFirst(bytes[at])
        count++
        if (code >= 0) this.mark(bytes[at], token)
      } else {
        code = afterNext(code, bytes[at])
      }
      if (code < 0) return 0
    }
    return count
  }

  private mark(first: number, token: number): void {
    let row = this.having[first]
    if (row === undefined) {
      row = new Uint32Array(this.words)
      this.having[first] = row
    }
    row[token >>> 5] |= 1 << (token & 31)
  }

  private union(low: number, high: number): Uint32Array {
    const union = new Uint32Array(this.words)
    for (let first = low; first <= high; first++) {
      const row = this.having[first]
      if (row !== undefined) for (let w = 0; w < union.length; w++) union[w] |= row[w]
    }
    return union
  }

  /**
   * Returns the tokens whose characters all begin with bytes of `firstBytes`; the last one may be
   * truncated. A new row.
   */
  within(firstBytes: Uint8Array): Uint32Array {
    const isInside = new Uint8Array(256)
    for (const byte of firstBytes) isInside[byte] = 1
    const rows: Uint32Array[] = []
    const add = (row: Uint32Array | undefined) => {
      if (row !== undefined) rows.push(row)
    }
    const addLacking = (low: number, high: number, all?: Uint32Array) => {
      let count = 0
      for (let first = low; first <= high; first++) count += isInside[first]
      if (count === 0 && all !== undefined) rows.push(all)
      else for (let first = low; first <= high; first++) if (isInside[first] === 0) add(this.having[first])
    }
    addLacking(0, 0x1f, this.having[Controls])
    addLacking(0x20, 0x7f)
    addLacking(FirstLead, LastLead, this.having[Leads])
    while (rows.length % 4 !== 0) rows.push(rows[0])
    const outside = new Uint32Array(this.words)
    for (let i = 0; i < rows.length; i += 4) {
      const [a, b, c, d] = [rows[i], rows[i + 1], rows[i + 2], rows[i + 3]]
      // hot
      for (let w = 0; w < outside.length; w++) outside[w] |= a[w] | b[w] | c[w] | d[w]
    }
    for (let w = 0; w < outside.length; w++) outside[w] = this.text[w] & ~outside[w]
    return outside
  }

  /** Returns the largest number of characters of a token in `row`; 0 if there is none. */
  mostIn(row: Uint32Array): number {
    for (const token of this.longest) if ((row[token >>> 5] >>> (token & 31)) & 1) return this.counts[token]
    return 0
  }

  /** Returns the tokens of `row` with at most `count` characters. A new row. */
  upTo(row: Uint32Array, count: number): Uint32Array {
    let short = this.short.get(count)
    if (short === undefined) {
      short = new Uint32Array(this.words)
      for (let i = 0; i < this.longest.length; i++) {
        const token = this.longest[i]
        if (this.counts[token] <= count) short[token >>> 5] |= 1 << (token & 31)
      }
      this.short.set(count, short)
    }
    const both = row.slice()
    for (let w = 0; w < both.length; w++) both[w] &= short[w]
    return both
  }

  get bytes(): number {
    const rows = this.having.filter((row) => row !== undefined).length + 1 + this.short.size
    return 4 * this.words * rows + this.counts.byteLength + this.longest.byteLength
  }
}
