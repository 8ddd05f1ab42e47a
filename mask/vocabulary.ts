/**
 * Vocabulary: token id → the bytes that the token writes. Everything above it (trie, masks, text)
 * works on these bytes, so the text that was checked is the text that is sent.
 *
 * There are three kinds of id: *text* (bytes in the trie), *special* (control tokens and end ids:
 * they have a name but no bytes, and only a token edge reads them) and *holes* (padding, and ids
 * that no token has). `width` is the width of the logits, which is often larger than the number of
 * tokens.
 *
 * A vocabulary is made from the bytes of each id; `tokenizerjson.ts` and `ranks.ts` find these
 * bytes in tokenizer files.
 */

import { checkOptions, type Fields } from "../grammar/options.ts"
import { sha256 } from "./sha256.ts"

export interface VocabularyOptions {
  /** V, the width of the logits. Default: the highest id + 1. */
  width?: number
  /** All ids that end an output; at least one. */
  endIds: readonly number[]
  /** Control tokens by name. They have no bytes. */
  specials?: Readonly<Record<string, number>> | ReadonlyMap<string, number>
  /** True when the first token of an output drops its leading space (WordPiece). */
  dropsFirstSpace?: boolean
}

/** What a `TokenTrie` consists of. */
export interface TrieParts {
  readonly nodes: Int32Array
  readonly duplicates: ReadonlyMap<number, readonly number[]>
}

/** What a vocabulary is made from; `offsets` and `values` as in the class. */
export interface VocabularyParts {
  readonly width: number
  readonly offsets: Uint32Array
  readonly values: Uint8Array
  readonly endIds: readonly number[]
  readonly specials: ReadonlyMap<string, number>
  readonly dropsFirstSpace: boolean
  /** The result of `sortedIds`, and the trie, if they were stored. */
  readonly sorted?: Uint32Array
  readonly trie?: TrieParts
}

const vocabularyFields = {
  width: "number",
  endIds: "list",
  specials: "object",
  dropsFirstSpace: "boolean",
} as const satisfies Fields<VocabularyOptions>

/**
 * The bytes of each token id. Deeply immutable and shared by all requests. Rows are `words` long:
 * bit `t & 31` of word `t >>> 5`.
 */
export class Vocabulary {
  /** V: width of the logits. */
  readonly width: number
  /** W = ⌈V / 32⌉. */
  readonly words: number
  /** Number of ids that are text or special. */
  readonly tokenCount: number
  /** Ascending, without duplicates. All of them are special. */
  readonly endIds: readonly number[]
  readonly specials: ReadonlyMap<string, number>
  /**
   * The tokens of an unconstrained output: all text tokens and the end ids. Shape [W]. Read-only.
   */
  readonly freeRow: Uint32Array
  readonly maxTokenBytes: number
  /** Whether the first token of an output drops its leading space (WordPiece). */
  readonly dropsFirstSpace: boolean
  /**
   * Bytes of token t = values[offsets[t] … offsets[t + 1]). Shape [V + 1]; if two neighbours are
   * equal, the token has no bytes.
   */
  readonly offsets: Uint32Array
  readonly values: Uint8Array
  private readonly names: ReadonlyMap<number, string>
  private madeHash: string | null = null
  private readonly sorted: Uint32Array | undefined
  /** @internal The trie, if it was stored. */
  readonly storedTrie: TrieParts | undefined

  private constructor(parts: VocabularyParts) {
    const { width, offsets, values, specials } = parts
    const names = new Map<number, string>()
    for (const [name, id] of specials) {
      checkId(id, width, `special token ${JSON.stringify(name)}`)
      names.set(id, name)
    }
    for (const id of parts.endIds) {
      checkId(id, width, "end of sequence")
      if (!names.has(id)) names.set(id, `<end ${id}>`)
    }
    if (parts.endIds.length === 0)
      throw new RangeError("vocabulary: no end-of-sequence id; without one an output cannot be finished")
    this.width = width
    this.words = (width + 31) >>> 5
    this.endIds = [...new Set(parts.endIds)].sort((a, b) => a - b)
    this.specials = specials
    this.names = names
    this.dropsFirstSpace = parts.dropsFirstSpace
    this.offsets = offsets
    this.values = values
    this.sorted = parts.sorted
    this.storedTrie = parts.trie
    this.freeRow = new Uint32Array(this.words)
    let [maxTokenBytes, tokenCount] = [0, names.size]
    for (let id = 0; id < width; id++) {
      const length = offsets[id + 1] - offsets[id]
      if (length === 0) continue
      this.freeRow[id >>> 5] |= 1 << (id & 31)
      if (length > maxTokenBytes) maxTokenBytes = length
      tokenCount++
    }
    for (const id of this.endIds) this.freeRow[id >>> 5] |= 1 << (id & 31)
    this.maxTokenBytes = maxTokenBytes
    this.tokenCount = tokenCount
  }

  /**
   * Returns a vocabulary from the bytes of each id; null, undefined and empty are holes. Throws
   * RangeError.
   */
  static fromBytes(
    tokens: readonly (Uint8Array | null | undefined)[],
    options: VocabularyOptions,
  ): Vocabulary {
    checkOptions(options, vocabularyFields)
    const specials = new Map(
      options.specials instanceof Map ? options.specials : Object.entries(options.specials ?? {}),
    )
    const named = new Set([...specials.values(), ...options.endIds])
    const width = options.width ?? [...named].reduce((most, id) => Math.max(most, id + 1), tokens.length)
    if (!Number.isInteger(width) || width < 1)
      throw new RangeError(`width of the vocabulary: ${width} is not a positive integer`)
    const offsets = new Uint32Array(width + 1)
    for (let id = 0, byteCount = 0; id < Math.max(width, tokens.length); id++) {
      const length = named.has(id) ? 0 : (tokens[id]?.length ?? 0)
      if (length > 0) checkId(id, width, "token")
      byteCount += length
      offsets[Math.min(id, width - 1) + 1] = byteCount
    }
    const values = new Uint8Array(offsets[width])
    for (let id = 0; id < width; id++) if (offsets[id + 1] > offsets[id]) values.set(tokens[id]!, offsets[id])
    const { endIds, dropsFirstSpace = false } = options
    return new Vocabulary({ width, offsets, values, endIds, specials, dropsFirstSpace })
  }

  /** @internal Returns a vocabulary from parts that are already checked. */
  static fromParts(parts: VocabularyParts): Vocabulary {
    return new Vocabulary(parts)
  }

  /** Returns whether the logits have a column `id`: an integer from 0 to V − 1. */
  hasColumn(id: number): boolean {
    return id >>> 0 === id && id < this.width
  }

  /**
   * Returns the bytes that the token writes; empty for holes, padding and special tokens. The
   * result is a view: read-only.
   */
  bytes(id: number): Uint8Array {
    return this.values.subarray(this.offsets[id], this.offsets[id + 1])
  }

  /**
   * Returns whether `id` is a control token or an end id: these have no bytes and never occur
   * inside a text.
   */
  isSpecial(id: number): boolean {
    return this.names.has(id)
  }

  /** Returns the spelling of a special token, for display; undefined for all others. */
  name(id: number): string | undefined {
    return this.names.get(id)
  }

  isEnd(id: number): boolean {
    return this.endIds.includes(id)
  }

  /**
   * SHA-256 over width, end ids and (kind, bytes) of every id, in hexadecimal. The first call takes
   * some 20 ms for 2 MB.
   */
  get hash(): string {
    this.madeHash ??= this.digest()
    return this.madeHash
  }

  /** @internal Returns the ids of all text tokens by their bytes, equal ones by their ids. */
  sortedIds(): Uint32Array {
    return this.sorted ?? sortByBytes(this.offsets, this.values)
  }

  private digest(): string {
    const header = [this.width, this.endIds.length, ...this.endIds, this.dropsFirstSpace ? 1 : 0]
    const names = [...this.names]
      .sort((a, b) => a[0] - b[0])
      .map(([id, name]) => [id, encoder.encode(name)] as const)
    const nameBytes = names.reduce((sum, [, name]) => sum + 8 + name.length, 0)
    const view = new DataView(
      new ArrayBuffer(4 * (header.length + this.offsets.length) + nameBytes + this.values.length),
    )
    const bytes = new Uint8Array(view.buffer)
    let at = 0
    for (const word of header) at = putWord(view, at, word)
    for (const offset of this.offsets) at = putWord(view, at, offset)
    for (const [id, name] of names) {
      at = putWord(view, putWord(view, at, id), name.length)
      bytes.set(name, at)
      at += name.length
    }
    bytes.set(this.values, at)
    return sha256(bytes)
  }
}

/**
 * Sorts the ids of the tokens that have bytes. The first four bytes decide nearly always (two in a
 * vocabulary of millions, so that keys are exact), and numbers are sorted much faster.
 */
function sortByBytes(offsets: Uint32Array, values: Uint8Array): Uint32Array {
  const width = offsets.length - 1
  const length = width > 2 ** 21 ? 2 : 4
  const keys = new Float64Array(width)
  let count = 0
  for (let id = 0; id < width; id++) {
    const [start, end] = [offsets[id], offsets[id + 1]]
    if (end === start) continue
    let prefix = 0
    for (let at = start; at < start + length; at++) prefix = 256 * prefix + (at < end ? values[at] : 0)
    keys[count++] = prefix * width + id
  }
  const ids = Uint32Array.from(keys.subarray(0, count).sort(), (key) => key % width)
  return ids.sort((a, b) => {
    const [startA, startB] = [offsets[a], offsets[b]]
    const most = Math.min(offsets[a + 1] - startA, offsets[b + 1] - startB)
    for (let i = 0; i < most; i++) {
      const difference = values[startA + i] - values[startB + i]
      if (difference !== 0) return difference
    }
    return offsets[a + 1] - startA - (offsets[b + 1] - startB) || a - b
  })
}

function putWord(view: DataView, at: number, word: number): number {
  view.setUint32(at, word, true)
  return at + 4
}

function checkId(id: number, width: number, what: string): void {
  if (!Number.isInteger(id) || id < 0 || id >= width) {
    throw new RangeError(`${what}: id ${id} is outside the ${width} columns of the logits`)
  }
}

const encoder = new TextEncoder()
