/**
 * Operations on lists of trie nodes for the shortcuts: unions, differences, children, and the bytes
 * that may follow below them. All of them are memoized.
 */
import { PairMap, TupleTable } from "../../grammar/intern.ts"
import { byteSet } from "../../grammar/lexeme/bytesets.ts"
import { NodeLists, NoList } from "../lists.ts"
import { noIds } from "../recipe.ts"
import { ByteEdges } from "./byteedges.ts"
import type { Children } from "./children.ts"
import { ascending, distinct, putInOrder } from "./order.ts"
import type { Quotes } from "./quotes.ts"

/** The children of longer lists are searched among the edges of their byte. */
const ManyNodes = 256
/** Maximum number of cached unions, and of cached differences. */
const MaxKnown = 1 << 16

export class ListTables extends NodeLists {
  private readonly children: Children
  private readonly quotes: Quotes
  /** Number of trie nodes below each list. */
  private readonly sizes: number[] = []
  private readonly quotedLists = new Map<number, { open: number; closing: number }>()
  /** (list, byte) → list of children + 1. */
  private readonly childLists = new PairMap()
  /** (list, list) → the nodes of both; and those of the first that are not in the second. */
  private readonly unions = new PairMap()
  private readonly differences = new PairMap()
  /** Made for the first long list. */
  private edges: ByteEdges | null = null
  /** Ids of ascending lists of lists, and by id the list of all their nodes. */
  private groups = new TupleTable()
  private groupUnions: number[] = []
  /** By list: the tokens that end there. */
  private readonly ownTokens: Int32Array[] = []
  /** By list: the set of the bytes with which tokens continue there. */
  private readonly byteSets: number[] = []

  constructor(children: Children, quotes: Quotes) {
    super(children.trie)
    this.children = children
    this.quotes = quotes
  }

  override gather(nodes: ArrayLike<number>): number {
    return this.intern(ascending(nodes))
  }

  /**
   * Splits `list` into two lists, which may be empty: `open`, below which no token has two quotes,
   * so that no string opened there closes there; and `closing`, the other nodes.
   */
  quoted(list: number): { open: number; closing: number } {
    let parts = this.quotedLists.get(list)
    if (parts === undefined) {
      const nodes = Array.from(this.view(list))
      const closing = nodes.filter((node) => this.quotes.mostBelow(node) > 1)
      const open = nodes.filter((node) => !closing.includes(node))
      parts = { open: this.intern(open), closing: this.intern(closing) }
      this.quotedLists.set(list, parts)
    }
    return parts
  }

  /** Returns the list of the nodes of both lists. */
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

  /**
   * Returns the list of the nodes of all `lists`. Sorts `lists` in place and removes duplicates.
   */
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

  /** Returns the list of the nodes of `list` that are not in `other`. */
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

  /** Returns the bytes with which tokens continue below `list`, as a set of `bytesets.ts`. */
  nextBytes(list: number): number {
    this.byteSets[list] ??= this.bytesBelow(list)
    return this.byteSets[list]
  }

  private bytesBelow(list: number): number {
    const { children } = this
    const isNext = new Uint8Array(256)
    for (const node of this.view(list)) {
      const end = children.end(node)
      for (let place = children.first(node); place < end; place++) isNext[children.byteAt(place)] = 1
    }
    const bytes: number[] = []
    for (let byte = 0; byte < 256; byte++) if (isNext[byte] === 1) bytes.push(byte)
    return byteSet(bytes)
  }

  /** Returns the number of trie nodes below `list`. */
  size(list: number): number {
    if (this.sizes[list] === undefined) {
      let size = 0
      for (const node of this.view(list)) size += this.trie.subtreeSize(node)
      this.sizes[list] = size
    }
    return this.sizes[list]
  }

  /** Returns the list of the children by `byte` of the nodes in `list`; -1 if there are none. */
  childrenBy(list: number, byte: number): number {
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
    const found: number[] = []
    for (const node of this.view(list)) {
      const child = this.children.by(node, byte)
      if (child !== 0) found.push(child)
    }
    return found
  }

  /** Returns the tokens that end at the nodes of `list`; memoized for short lists. */
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
   * Returns the (tag, list) pairs `pairs` without the (node, tag) pairs `taken`, which must be in
   * it, and with the pairs `added`.
   */
  patched(pairs: Int32Array, taken: readonly number[], added: readonly number[]): Int32Array {
    if (taken.length === 0 && added.length === 0) return pairs
    const byTag = new Map<number, number>()
    for (let i = 0; i < pairs.length; i += 2) byTag.set(pairs[i], pairs[i + 1])
    const gone = this.exits(taken)
    for (let i = 0; i < gone.length; i += 2)
      byTag.set(gone[i], this.without(byTag.get(gone[i]) as number, gone[i + 1]))
    const fresh = this.exits(added)
    for (let i = 0; i < fresh.length; i += 2) {
      const before = byTag.get(fresh[i]) ?? NoList
      byTag.set(fresh[i], before === NoList ? fresh[i + 1] : this.union(before, fresh[i + 1]))
    }
    const result: number[] = []
    for (const [tag, list] of [...byTag].sort((a, b) => a[0] - b[0]))
      if (list !== NoList) result.push(tag, list)
    return Int32Array.from(result)
  }
}
