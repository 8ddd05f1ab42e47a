/**
 * Lists of trie nodes, interned: the places at which a token can be when something begins. The root alone is where
 * tokens begin; the nodes at which one lexeme may end are where the next one is read from.
 */
import { PairMap, TupleTable } from "../grammar/intern.ts"
import { byteSet, hasByte, NoBytes } from "../grammar/lexeme/bytesets.ts"
import { guardOf } from "../grammar/lexeme/greedy.ts"
import { ByteEdges } from "./fast/byteedges.ts"
import { noIds } from "./recipe.ts"
import { Stride, type TokenTrie } from "./trie.ts"

/** The list that holds the trie's root alone. */
export const RootList = 0
/** The list without nodes. */
export const NoList = 1

const Quote = 0x22
/** The children of longer lists are looked for among the edges of their byte. */
const ManyNodes = 256
/** So few are put in order one by one: a call of the array's own sort costs more (a C grammar's masks of 132 tokens: 42 instead of 37 ms). */
const FewNodes = 32
/** Unions and differences that are kept, of each kind. */
const MaxKnown = 1 << 16

export class NodeLists {
  private readonly trie: TokenTrie
  /** Ascending trie nodes. */
  private readonly table = new TupleTable()
  /** Trie nodes below each list. */
  private readonly sizes: number[] = []
  private readonly quotedLists = new Map<number, { open: number; closing: number }>()
  /** (list, byte) → list of children + 1. */
  private readonly childLists = new PairMap()
  /** (list, list) → the nodes of both, and those of the first alone. */
  private readonly unions = new PairMap()
  private readonly differences = new PairMap()
  /** Made for the first long list. */
  private edges: ByteEdges | null = null
  /** By list: whether some token goes on with a quote below it. */
  private readonly quotes: boolean[] = []
  /** Lists of lists, ascending, and the list of all their nodes by the id of each. */
  private groups = new TupleTable()
  private groupUnions: number[] = []
  /** By list: the tokens that end there. */
  private readonly ownTokens: Int32Array[] = []
  /** By list: the set of the bytes with which tokens go on there. */
  private readonly byteSets: number[] = []

  /** Whether nodes at which nothing can follow are kept, too: the tests hold lists without them to that. */
  private readonly keepsAll: boolean

  constructor(trie: TokenTrie, keepsAll = false) {
    this.trie = trie
    this.keepsAll = keepsAll
    this.table.intern([0])
    this.table.intern([])
  }

  /** The list of these nodes, which ascend. */
  intern(nodes: ArrayLike<number>): number {
    return this.table.intern(nodes)
  }

  /** The list of these nodes, in any order and any number of times. */
  gather(nodes: ArrayLike<number>): number {
    return this.intern(ascending(nodes))
  }

  /** The nodes of `list`; valid until the next list is made. */
  view(list: number): Int32Array {
    return this.table.view(list)
  }

  /** How many nodes `list` has. */
  length(list: number): number {
    return this.table.length(list)
  }

  get bytes(): number {
    return this.table.bytes
  }

  /**
   * The nodes of `list` in two lists, -1 for an empty one: `open`, below which no token has two quotes, so that no
   * string that is opened there closes there; and `closing`, the others.
   */
  quoted(list: number): { open: number; closing: number } {
    let parts = this.quotedLists.get(list)
    if (parts === undefined) {
      const nodes = Array.from(this.view(list))
      const closing = nodes.filter((node) => this.trie.mostBelow(node, Quote) > 1)
      const open = nodes.filter((node) => !closing.includes(node))
      const intern = (part: number[]) => (part.length === 0 ? -1 : this.intern(part))
      parts = { open: intern(open), closing: intern(closing) }
      this.quotedLists.set(list, parts)
    }
    return parts
  }

  /** The nodes of both lists, memoised. */
  union(list: number, other: number): number {
    if (list === other || other === NoList) return list
    if (list === NoList) return other
    const known = this.unions.get(list, other)
    if (known >= 0) return known
    const union = this.internAll([list, other])
    if (this.unions.size >= MaxKnown) this.unions.clear()
    this.unions.set(list, other, union)
    return union
  }

  /** The nodes of all `lists`, which are put in order, each once; memoised. */
  unionOf(lists: Int32Array): number {
    if (lists.length === 1) return lists[0]
    if (lists.length === 2) return this.union(lists[0], lists[1])
    if (this.groups.count >= MaxKnown) {
      this.groups = new TupleTable()
      this.groupUnions = []
    }
    const count = putInOrder(lists)
    const group = this.groups.intern(lists, count)
    this.groupUnions[group] ??= this.internAll(lists.subarray(0, count))
    return this.groupUnions[group]
  }

  private internAll(lists: ArrayLike<number>): number {
    let count = 0
    for (let i = 0; i < lists.length; i++) count += this.length(lists[i])
    const nodes = new Int32Array(count)
    count = 0
    for (let i = 0; i < lists.length; i++) {
      nodes.set(this.view(lists[i]), count)
      count += this.length(lists[i])
    }
    return this.table.intern(nodes, distinct(nodes.sort(), count))
  }

  /** The bytes with which tokens go on below `list`, as a set of `bytesets.ts`; memoised. */
  nextBytes(list: number): number {
    this.byteSets[list] ??= this.bytesBelow(list)
    return this.byteSets[list]
  }

  private bytesBelow(list: number): number {
    const { trie } = this
    const isNext = new Uint8Array(256)
    for (const node of this.view(list)) {
      const last = trie.firstPlace(node + Stride)
      for (let place = trie.firstPlace(node); place < last; place++) isNext[trie.byteAt(place)] = 1
    }
    const bytes: number[] = []
    for (let byte = 0; byte < 256; byte++) if (isNext[byte] === 1) bytes.push(byte)
    return byteSet(bytes)
  }

  /** The nodes of `list` that are not in `other`, memoised. */
  without(list: number, other: number): number {
    if (other === NoList) return list
    const known = this.differences.get(list, other)
    if (known >= 0) return known
    const taken = this.view(other)
    let at = 0
    const nodes = this.view(list).filter((node) => {
      while (at < taken.length && taken[at] < node) at++
      return taken[at] !== node
    })
    const rest = this.intern(nodes)
    if (this.differences.size >= MaxKnown) this.differences.clear()
    this.differences.set(list, other, rest)
    return rest
  }

  /** Whether some token goes on with a quote below a node of `list`, memoised. */
  hasQuote(list: number): boolean {
    this.quotes[list] ??= this.view(list).some((node) => this.trie.hasQuoteBelow(node))
    return this.quotes[list]
  }

  /** Trie nodes below `list`, memoised. */
  size(list: number): number {
    if (this.sizes[list] === undefined) {
      let size = 0
      for (const node of this.view(list)) size += this.trie.subtreeSize(node)
      this.sizes[list] = size
    }
    return this.sizes[list]
  }

  /** The list of the children by `byte` of the nodes in `list`; -1 if there are none. */
  children(list: number, byte: number): number {
    const known = this.childLists.get(list, byte)
    if (known >= 0) return known - 1
    const children = this.childNodes(list, byte)
    const id = children.length === 0 ? -1 : this.gather(children)
    this.childLists.set(list, byte, id + 1)
    return id
  }

  private childNodes(list: number, byte: number): number[] {
    if (this.length(list) > ManyNodes) {
      this.edges ??= new ByteEdges(this.trie)
      return this.edges.childrenOf(list, this.view(list), byte)
    }
    const children: number[] = []
    for (const node of this.view(list)) {
      const child = this.trie.child(node, byte)
      if (child !== 0) children.push(child)
    }
    return children
  }

  /** Tokens that end at the nodes of `list`; of short lists memoised. */
  tokens(list: number): Int32Array {
    if (this.length(list) > ManyNodes) return this.tokensAt(list)
    this.ownTokens[list] ??= this.tokensAt(list)
    return this.ownTokens[list]
  }

  private tokensAt(list: number): Int32Array {
    const tokens: number[] = []
    for (const node of this.view(list)) if (this.trie.token(node) >= 0) tokens.push(this.trie.token(node))
    return tokens.length === 0 ? noIds : this.withDuplicates(Int32Array.from(tokens))
  }

  /**
   * (node, tag) pairs → (tag, list) pairs, ascending by tag. A node at which tokens go on with bytes that the tag forbids alone is left
   * out: an identifier could end in the middle of each word, but there no other lexeme begins.
   */
  exits(exits: readonly number[]): Int32Array {
    if (exits.length === 0) return noIds
    const byTag = new Map<number, number[]>()
    // Most exits in a row have one tag.
    let [tag, nodes]: [number, number[]] = [0, []]
    let guard = NoBytes
    for (let i = 0; i < exits.length; i += 2) {
      if (exits[i + 1] !== tag) {
        tag = exits[i + 1]
        guard = this.keepsAll ? NoBytes : guardOf(tag)
        nodes = byTag.get(tag) ?? []
      }
      if (guard !== NoBytes && !this.goesOnWithout(guard, exits[i])) continue
      if (nodes.length === 0) byTag.set(tag, nodes)
      nodes.push(exits[i])
    }
    const pairs: number[] = []
    for (const [tag, nodes] of [...byTag].sort((a, b) => a[0] - b[0])) pairs.push(tag, this.gather(nodes))
    return Int32Array.from(pairs)
  }

  /** Whether some token goes on at `node` with a byte that is not in `set`. */
  private goesOnWithout(set: number, node: number): boolean {
    const { trie } = this
    const last = trie.firstPlace(node + Stride)
    for (let place = trie.firstPlace(node); place < last; place++)
      if (!hasByte(set, trie.byteAt(place))) return true
    return false
  }

  /** `plain`, (tag, list) pairs, less the (node, tag) pairs `taken`, which are in it, and with those `added`. */
  patched(plain: Int32Array, taken: readonly number[], added: readonly number[]): Int32Array {
    if (taken.length === 0 && added.length === 0) return plain
    const byTag = new Map<number, number>()
    for (let i = 0; i < plain.length; i += 2) byTag.set(plain[i], plain[i + 1])
    const gone = this.exits(taken)
    for (let i = 0; i < gone.length; i += 2)
      byTag.set(gone[i], this.without(byTag.get(gone[i]) as number, gone[i + 1]))
    const fresh = this.exits(added)
    for (let i = 0; i < fresh.length; i += 2) {
      const before = byTag.get(fresh[i]) ?? NoList
      byTag.set(fresh[i], before === NoList ? fresh[i + 1] : this.union(before, fresh[i + 1]))
    }
    const pairs: number[] = []
    for (const [tag, list] of [...byTag].sort((a, b) => a[0] - b[0]))
      if (list !== NoList) pairs.push(tag, list)
    return Int32Array.from(pairs)
  }

  /** `tokens` and the ids that spell the same. A copy. */
  withDuplicates(tokens: Int32Array): Int32Array {
    const { duplicates } = this.trie
    const others: number[] = []
    if (duplicates.size > 0)
      for (let i = 0; i < tokens.length; i++) {
        const same = duplicates.get(tokens[i])
        if (same !== undefined) others.push(...same)
      }
    if (others.length === 0) return tokens.slice()
    const all = new Int32Array(tokens.length + others.length)
    all.set(tokens)
    all.set(others, tokens.length)
    return all
  }
}

/** `nodes` in order, each once: below two nodes of one list, one of which lies below the other, the same may be found. */
function ascending(nodes: ArrayLike<number>): ArrayLike<number> {
  let at = 1
  while (at < nodes.length && nodes[at - 1] < nodes[at]) at++
  // As a walk finds them, mostly.
  if (at >= nodes.length) return nodes
  const sorted = Int32Array.from(nodes)
  return sorted.subarray(0, putInOrder(sorted, sorted.length, at))
}

/** Puts the first `length` of `nodes`, of which the first `from` ascend, in order, each once; how many are left. */
export function putInOrder(nodes: Int32Array, length = nodes.length, from = 1): number {
  if (length > FewNodes) nodes.subarray(0, length).sort()
  else insert(nodes, length, from)
  return distinct(nodes, length)
}

/** Puts the first `length` of `nodes`, of which the first `from` ascend, in order. */
function insert(nodes: Int32Array, length: number, from: number): void {
  for (let i = from; i < length; i++) {
    const node = nodes[i]
    let at = i
    for (; at > 0 && nodes[at - 1] > node; at--) nodes[at] = nodes[at - 1]
    nodes[at] = node
  }
}

/** Moves each of the first `length` of `nodes`, which ascend, to the front once. How many that are. */
function distinct(nodes: Int32Array, length: number): number {
  let count = 0
  for (let i = 0; i < length; i++) if (i === 0 || nodes[i] !== nodes[i - 1]) nodes[count++] = nodes[i]
  return count
}
