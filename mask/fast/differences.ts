/**
 * The differences between two states that read nearly the same tokens.
 *
 * A search that has begun (thirty of the 32 digits that must not come in a row) continues after
 * most characters like one that has not begun. So its local mask is the mask of the other state,
 * corrected where the two still differ, which is below few nodes of the trie.
 */
import { Dead, lexemes } from "../../grammar/lexeme/table.ts"
import type { Found, TokenTrie } from "../trie.ts"
import type { Children } from "./children.ts"

/** Maximum number of nodes to visit. More cost as much as reading the state by itself. */
const MaxNodes = 1 << 13

export interface Difference {
  /** What the state reads and its base does not read in the same way. */
  readonly found: Found
  /** What the base reads and the state does not read in the same way. */
  readonly other: Found
}

export class Differences {
  private readonly trie: TokenTrie
  private readonly children: Children
  private left = 0
  private readonly found: Found = { tokens: new Int32Array(MaxNodes), tokenCount: 0, exits: [] }
  private readonly other: Found = { tokens: new Int32Array(MaxNodes), tokenCount: 0, exits: [] }

  constructor(children: Children) {
    this.trie = children.trie
    this.children = children
  }

  /** Returns the differences below `nodes`; null if they need too many nodes. */
  find(nodes: Int32Array, state: number, base: number): Difference | null {
    this.left = MaxNodes
    for (const found of [this.found, this.other]) {
      found.tokenCount = 0
      found.exits.length = 0
    }
    if (this.leastDifferent(nodes, state, base) > MaxNodes) return null
    for (const node of nodes) if (!this.differ(node, state, base)) return null
    return { found: copied(this.found), other: copied(this.other) }
  }

  /** Returns the number of nodes below the first bytes that only one of the two states reads. */
  private leastDifferent(nodes: Int32Array, state: number, base: number): number {
    const { trie, children } = this
    let count = 0
    for (const node of nodes) {
      const end = children.end(node)
      for (let place = children.first(node); place < end; place++) {
        const byte = children.byteAt(place)
        const [mine, theirs] = [lexemes.next(state, byte), lexemes.next(base, byte)]
        if (mine !== theirs && (mine === Dead || theirs === Dead))
          count += trie.subtreeSize(children.nodeAt(place))
      }
    }
    return count
  }

  private differ(node: number, state: number, base: number): boolean {
    const { trie, children, found, other } = this
    const end = children.end(node)
    for (let place = children.first(node); place < end; place++) {
      const byte = children.byteAt(place)
      const mine = lexemes.next(state, byte)
      const theirs = lexemes.next(base, byte)
      if (mine === theirs) continue
      const child = children.nodeAt(place)
      const isOne = mine === Dead || theirs === Dead
      this.left -= isOne ? 1 + trie.subtreeSize(child) : 1
      if (this.left < 0) return false
      if (isOne) {
        children.visit(child, mine, found)
        children.visit(child, theirs, other)
        continue
      }
      if (!trie.hasChildren(child)) continue
      const [mineEnds, theirsEnds] = [lexemes.tags[mine], lexemes.tags[theirs]]
      if (mineEnds !== theirsEnds) {
        if (mineEnds !== 0) found.exits.push(child, mineEnds)
        if (theirsEnds !== 0) other.exits.push(child, theirsEnds)
      }
      if (!this.differ(child, mine, theirs)) return false
    }
    return true
  }
}

function copied({ tokens, tokenCount, exits }: Found): Found {
  return { tokens: tokens.slice(0, tokenCount), tokenCount, exits: exits.slice() }
}
