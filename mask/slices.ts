/**
 * Slices: below some trie nodes, the tokens that consist of one set of characters, by how many they have, and where all
 * the others leave the set.
 *
 * A slice depends on the vocabulary and the set alone. A state that reads the set's characters in a loop, or counts them,
 * takes the tokens inside as they are; only the nodes at which a token leaves the set are asked of the automaton, all
 * with one byte and one count together. The idea of slices is llguidance's; here they are found from the automaton, and
 * the rest of the trie below a slice is cut into slices again.
 */
import { afterFirst, afterNext, type CharacterSets } from "./characters.ts"
import { CountedTokens, Pairs } from "./counted.ts"
import type { TokenTrie } from "./trie.ts"

/** Nodes that are reached from the set's characters by `byte`, which begins no character of the set. */
export interface Group {
  /** How many characters come before; 0 in groups that do not tell. */
  readonly count: number
  readonly byte: number
  /** Ascending. */
  readonly nodes: Int32Array
  /** Trie nodes below them. */
  readonly size: number
}

export class Slice {
  /** Tokens inside; one that ends within a character counts it. */
  readonly tokens: CountedTokens
  /** By ascending count. */
  readonly groups: readonly Group[]
  /** The same by byte alone. */
  readonly merged: readonly Group[]

  /** After `cap` characters nothing counts as inside any more. */
  constructor(trie: TokenTrie, width: number, roots: Int32Array, firstBytes: Uint8Array, cap: number) {
    const isInside = new Uint8Array(256)
    for (const byte of firstBytes) isInside[byte] = 1
    const inside = new Pairs()
    /** Nodes that leave the set, each with count << 8 | byte. */
    const leaving = new Pairs()
    /** By depth: characters begun so far, and what is left of the last one. */
    const counts = new Int32Array(trie.maxDepth + 1)
    const codes = new Int32Array(trie.maxDepth + 1)
    const visit = (node: number, byte: number, depth: number, token: number): boolean => {
      let count = counts[depth - 1]
      let code = codes[depth - 1]
      if (code !== 0) {
        code = afterNext(code, byte)
        if (code < 0) return false
      } else if (isInside[byte] === 1 && count < cap) {
        code = afterFirst(byte)
        count++
      } else {
        leaving.push(node, (count << 8) | byte)
        return false
      }
      counts[depth] = count
      codes[depth] = code
      if (token >= 0) inside.push(token, count)
      return true
    }
    for (const root of roots) {
      counts[trie.depth(root)] = 0
      codes[trie.depth(root)] = 0
      trie.scan(root, visit)
    }
    this.tokens = new CountedTokens(inside, width, trie.duplicates)
    this.groups = grouped(trie, leaving)
    const isFlat = this.groups.every(({ count }) => count === 0)
    for (let i = 0; i < leaving.length; i++) leaving.keys[i] &= 0xff
    this.merged = isFlat ? this.groups : grouped(trie, leaving)
  }

  /** The most characters before anything that the slice tells of. */
  get maxCount(): number {
    return Math.max(this.tokens.maxCount, this.groups.at(-1)?.count ?? 0)
  }

  get bytes(): number {
    const nodes = this.merged.reduce((sum, { nodes }) => sum + nodes.length, 0)
    return this.tokens.bytes + 8 * nodes + 80 * (this.groups.length + this.merged.length)
  }
}

/** Groups of nodes by their key, ascending: a counting sort, so that nodes keep their order. */
function grouped(trie: TokenTrie, { values, keys, length }: Pairs): Group[] {
  let most = -1
  for (let i = 0; i < length; i++) if (keys[i] > most) most = keys[i]
  const ends = new Int32Array(most + 2)
  for (let i = 0; i < length; i++) ends[keys[i] + 1]++
  for (let key = 1; key < ends.length; key++) ends[key] += ends[key - 1]
  const next = ends.slice()
  const nodes = new Int32Array(length)
  for (let i = 0; i < length; i++) nodes[next[keys[i]]++] = values[i]
  const groups: Group[] = []
  for (let key = 0; key <= most; key++) {
    if (ends[key] === ends[key + 1]) continue
    const own = nodes.subarray(ends[key], ends[key + 1])
    let size = 0
    for (let i = 0; i < own.length; i++) size += trie.subtreeSize(own[i])
    groups.push({ count: key >>> 8, byte: key & 0xff, nodes: own, size })
  }
  return groups
}

/** No token has more characters. */
const MaxCount = 0xffff

/** The slices of one vocabulary, by list of trie nodes and set. */
export class Slices {
  private readonly trie: TokenTrie
  private readonly width: number
  private readonly sets: CharacterSets
  /** Bytes of all slices, rows that are made later aside. */
  bytes = 0
  /** By list, then by set and cap. */
  private readonly slices = new Map<number, Map<number, Slice>>()

  constructor(trie: TokenTrie, width: number, sets: CharacterSets) {
    this.trie = trie
    this.width = width
    this.sets = sets
  }

  /** `list` is the identity of `nodes`, `cap` the most characters inside. The first call walks what is below them. */
  of(list: number, nodes: Int32Array, set: number, cap = MaxCount): Slice {
    let bySet = this.slices.get(list)
    if (bySet === undefined) {
      bySet = new Map()
      this.slices.set(list, bySet)
    }
    const key = set * (MaxCount + 1) + cap
    let slice = bySet.get(key)
    if (slice === undefined) {
      slice = new Slice(this.trie, this.width, nodes, this.sets.firstBytes(set), cap)
      bySet.set(key, slice)
      this.bytes += slice.bytes
    }
    return slice
  }

  /** Forgets everything. */
  clear(): void {
    this.slices.clear()
    this.bytes = 0
  }
}
