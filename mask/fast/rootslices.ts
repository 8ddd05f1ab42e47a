/**
 * Slices of the whole trie, made from rows and edges instead of a walk, and only as far as they are
 * needed.
 *
 * A slice of all tokens leaves its set at a hundred thousand nodes, nearly all by bytes that no
 * state reads. Here the tokens inside are found by OR-ing rows, and the nodes at which a token
 * leaves only for the bytes that some state reads.
 */
import { countAllowed } from "../bits.ts"
import { idsRecipe, type Recipe, rowRecipe } from "../recipe.ts"
import type { TokenTrie } from "../trie.ts"
import type { Vocabulary } from "../vocabulary.ts"
import { Pairs } from "./counted.ts"
import { Edges, type EdgesAfter } from "./edges.ts"
import { type Group, grouped } from "./slices.ts"
import { TokenCharacters } from "./tokencharacters.ts"

/**
 * The tokens that consist of one set of characters, and the nodes at which others leave the set.
 */
export class RootSlice {
  private readonly firstBytes: Uint8Array
  private readonly trie: TokenTrie
  private readonly characters: TokenCharacters
  private readonly edges: Edges
  private readonly row: Uint32Array
  /** The largest number of characters of a token inside. */
  private readonly maxInside: number
  private readonly recipes = new Map<number, Recipe>()
  private readonly exits = new Map<number, EdgesAfter & { maxCount: number }>()
  private readonly charge: (bytes: number) => void

  /** `charge` is called with the bytes that the slice caches. */
  constructor(
    firstBytes: Uint8Array,
    trie: TokenTrie,
    characters: TokenCharacters,
    edges: Edges,
    charge: (bytes: number) => void,
  ) {
    this.charge = charge
    this.firstBytes = firstBytes
    this.trie = trie
    this.characters = characters
    this.edges = edges
    this.row = characters.within(firstBytes)
    this.maxInside = characters.mostIn(this.row)
    charge(this.row.byteLength)
  }

  /**
   * Returns the largest number of characters of a token inside, or before one of `bytes` that
   * leaves the set.
   */
  maxCount(bytes: readonly number[]): number {
    let most = this.maxInside
    for (const byte of bytes) most = Math.max(most, this.exitsBy(byte).maxCount)
    return most
  }

  /** Returns the mask of the tokens inside with at most `bound` characters. */
  inside(bound: number): Recipe {
    const most = Math.min(bound, this.maxInside)
    let recipe = this.recipes.get(most)
    if (recipe === undefined) {
      recipe = this.makeInside(most)
      this.recipes.set(most, recipe)
    }
    return recipe
  }

  private makeInside(most: number): Recipe {
    const row = most === this.maxInside ? this.row : this.characters.upTo(this.row, most)
    const count = countAllowed(row)
    if (count >= row.length / 2) {
      if (row !== this.row) this.charge(row.byteLength)
      return rowRecipe(row)
    }
    this.charge(4 * count)
    return idsRecipe(idsOf(row, count))
  }

  /**
   * Returns the nodes at which tokens leave by one of `bytes`, by ascending count and byte; all
   * counts are 0 if `isMerged`.
   */
  groups(bytes: readonly number[], isMerged: boolean): Group[] {
    const leaving = new Pairs()
    for (const byte of bytes) {
      const { nodes, counts } = this.exitsBy(byte)
      for (let i = 0; i < nodes.length; i++) leaving.push(nodes[i], isMerged ? byte : (counts[i] << 8) | byte)
    }
    return grouped(this.trie, leaving)
  }

  private exitsBy(byte: number): EdgesAfter & { maxCount: number } {
    let exits = this.exits.get(byte)
    if (exits === undefined) {
      const after = this.edges.after(this.firstBytes, byte)
      let maxCount = 0
      for (let i = 0; i < after.counts.length; i++) maxCount = Math.max(maxCount, after.counts[i])
      exits = { ...after, maxCount }
      this.exits.set(byte, exits)
      this.charge(8 * after.nodes.length)
    }
    return exits
  }
}

/** Returns the tokens of `row`, `count` of them, ascending. */
function idsOf(row: Uint32Array, count: number): Int32Array {
  const ids = new Int32Array(count)
  let at = 0
  for (let w = 0; w < row.length; w++) {
    for (let word = row[w]; word !== 0; word &= word - 1) ids[at++] = 32 * w + 31 - Math.clz32(word & -word)
  }
  return ids
}

/** The slices of the whole trie of one vocabulary, by set of characters. */
export class RootSlices {
  private readonly vocabulary: Vocabulary
  private readonly trie: TokenTrie
  private edges: Edges | null = null
  private characters: TokenCharacters | null = null
  private readonly slices = new Map<number, RootSlice>()
  /**
   * Bytes of all slices. The rows by character and the edges, 11 MiB for 128,000 tokens, belong to
   * the vocabulary.
   */
  bytes = 0

  constructor(vocabulary: Vocabulary, trie: TokenTrie) {
    this.vocabulary = vocabulary
    this.trie = trie
  }

  /** Returns the slice by `set`, whose characters begin with `firstBytes`. */
  of(set: number, firstBytes: Uint8Array): RootSlice {
    let slice = this.slices.get(set)
    if (slice === undefined) {
      this.characters ??= new TokenCharacters(this.vocabulary)
      slice = new RootSlice(firstBytes, this.trie, this.characters, this.edgesByByte(), (bytes) => {
        this.bytes += bytes
      })
      this.slices.set(set, slice)
    }
    return slice
  }

  /** Returns the edges of the trie, which the first call makes. */
  edgesByByte(): Edges {
    this.edges ??= new Edges(this.trie)
    return this.edges
  }

  /** Evicts the slices. */
  clear(): void {
    this.slices.clear()
    this.bytes = 0
  }
}
