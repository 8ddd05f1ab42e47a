/**
 * Slices: below some trie nodes, the tokens that consist of one set of characters, by their number
 * of characters, and the nodes at which all other tokens leave the set.
 *
 * A slice depends only on the vocabulary and the set. A state that reads the set's characters in a
 * loop, or counts them, allows the tokens inside without reading them; the automaton only reads the
 * nodes at which a token leaves the set, all nodes with the same byte and count together. The idea
 * of slices is llguidance's; here they are found from the automaton, and the rest of the trie below
 * a slice is cut into slices again.
 */

import { End, Head, Stride, Token, type TokenTrie } from "../trie.ts"
import { afterFirst, afterNext, type CharacterSets } from "./characters.ts"
import { CountedTokens, Pairs } from "./counted.ts"

/**
 * The nodes that `byte` reaches from characters of the set; `byte` begins no character of the set.
 */
export interface Group {
  /** Number of characters before the byte; 0 in merged groups. */
  readonly count: number
  readonly byte: number
  /**
   * Ascending if the slice is below one node. Below several nodes, which may lie below each other,
   * they are in the order of those nodes and may repeat.
   */
  readonly nodes: Int32Array
  /** Number of trie nodes below them. */
  readonly size: number
}

export class Slice {
  /** Tokens inside. A truncated character at the end counts. */
  readonly tokens: CountedTokens
  /** In ascending order of the count. */
  readonly groups: readonly Group[]
  /** The same nodes, grouped by byte alone. */
  readonly merged: readonly Group[]

  /** After `cap` characters, every further character leaves the set. */
  constructor(trie: TokenTrie, width: number, roots: Int32Array, firstBytes: Uint8Array, cap: number) {
    const inside = new Pairs()
    const leaving = new Pairs()
    const isInside = new Uint8Array(256)
    for (const byte of firstBytes) isInside[byte] = 1
    const read = new Int32Array(trie.maxDepth + 1)
    const cut = { isInside, cap, read, inside, leaving }
    for (const root of roots) part(trie, root, cut)
    this.tokens = new CountedTokens(inside, width, trie.duplicates)
    this.groups = grouped(trie, leaving)
    const isFlat = this.groups.every(({ count }) => count === 0)
    for (let i = 0; i < leaving.length; i++) leaving.keys[i] &= 0xff
    this.merged = isFlat ? this.groups : grouped(trie, leaving)
  }

  /**
   * Returns the largest number of characters of a token inside, or before a node at which one
   * leaves.
   */
  get maxCount(): number {
    return Math.max(this.tokens.maxCount, this.groups.at(-1)?.count ?? 0)
  }

  get bytes(): number {
    const nodes = this.merged.reduce((sum, { nodes }) => sum + nodes.length, 0)
    return this.tokens.bytes + 8 * nodes + 80 * (this.groups.length + this.merged.length)
  }
}

/**
 * Adds the tokens below `root` that consist of at most `cap` characters of a set to `inside`, with
 * their number of characters, and the nodes at which others leave the set to `leaving`, each with
 * count << 8 | byte. `read` is scratch space by depth: characters begun so far << 3 | the code of
 * the last one.
 */
function part(
  trie: TokenTrie,
  root: number,
  cut: { isInside: Uint8Array; cap: number; read: Int32Array; inside: Pairs; leaving: Pairs },
): void {
  const { nodes } = trie
  const { isInside, cap, read, inside, leaving } = cut
  read[nodes[root + Head] >>> 8] = 0
  const end = nodes[root + End]
  // hot
  for (let at = root + Stride; at < end; ) {
    const head = nodes[at + Head]
    const depth = head >>> 8
    const byte = head & 0xff
    const before = read[depth - 1]
    let code = before & 7
    let count = before >>> 3
    if (code !== 0) {
      code = afterNext(code, byte)
    } else if (isInside[byte] === 1 && count < cap) {
      code = byte < 0x80 ? 0 : afterFirst(byte)
      count++
    } else {
      leaving.push(at, (count << 8) | byte)
      code = -1
    }
    if (code < 0) {
      at = nodes[at + End]
      continue
    }
    read[depth] = (count << 3) | code
    if (nodes[at + Token] >= 0) inside.push(nodes[at + Token], count)
    at += Stride
  }
}

/**
 * Returns nodes grouped by their key, count << 8 | byte, ascending. A counting sort, so that nodes
 * keep their order.
 */
export function grouped(trie: TokenTrie, leaving: Pairs): Group[] {
  const { values, ends } = leaving.sorted()
  const groups: Group[] = []
  for (let key = 0; key < ends.length - 1; key++) {
    if (ends[key] === ends[key + 1]) continue
    const nodes = values.subarray(ends[key], ends[key + 1])
    let size = 0
    for (let i = 0; i < nodes.length; i++) size += trie.subtreeSize(nodes[i])
    groups.push({ count: key >>> 8, byte: key & 0xff, nodes, size })
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
  /** Bytes of all slices, excluding rows that are made later. */
  bytes = 0
  /** By list, then by set and cap. */
  private readonly slices = new Map<number, Map<number, Slice>>()

  constructor(trie: TokenTrie, width: number, sets: CharacterSets) {
    this.trie = trie
    this.width = width
    this.sets = sets
  }

  /**
   * Returns the slice by `set` with at most `cap` characters inside, below `nodes`, which `list`
   * identifies. The first call walks what is below them.
   */
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

  /** Evicts everything. */
  clear(): void {
    this.slices.clear()
    this.bytes = 0
  }
}
