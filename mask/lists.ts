/**
 * Interned lists of trie nodes: the positions inside tokens from which a lexeme is read. At the
 * start of a token the list holds the root alone; after a lexeme it holds the nodes at which that
 * lexeme may end, and the next one is read from there.
 */
import { TupleTable } from "../grammar/intern.ts"
import { noIds } from "./recipe.ts"
import type { TokenTrie } from "./trie.ts"

/** The list that holds the trie's root alone. */
export const RootList = 0
/** The list without nodes. */
export const NoList = 1

export class NodeLists {
  protected readonly trie: TokenTrie
  /** Trie nodes in ascending order. */
  protected readonly table = new TupleTable()

  constructor(trie: TokenTrie) {
    this.trie = trie
    this.table.intern([0])
    this.table.intern([])
  }

  /** Returns the list of these nodes, which are ascending. */
  intern(nodes: ArrayLike<number>): number {
    return this.table.intern(nodes)
  }

  /** Returns the list of these nodes, which may be in any order and repeated. */
  gather(nodes: ArrayLike<number>): number {
    return this.intern(ascending(nodes))
  }

  /** Returns the nodes of `list`; valid until the next list is made. */
  view(list: number): Int32Array {
    return this.table.view(list)
  }

  /** Returns the number of nodes in `list`. */
  length(list: number): number {
    return this.table.length(list)
  }

  get bytes(): number {
    return this.table.bytes
  }

  /** Turns (node, tag) pairs into (tag, list) pairs, ascending by tag. */
  exits(exits: readonly number[]): Int32Array {
    if (exits.length === 0) return noIds
    const byTag = new Map<number, number[]>()
    // Consecutive exits usually have the same tag.
    let [tag, nodes]: [number, number[]] = [0, []]
    for (let i = 0; i < exits.length; i += 2) {
      if (exits[i + 1] !== tag) {
        tag = exits[i + 1]
        nodes = byTag.get(tag) ?? []
        if (nodes.length === 0) byTag.set(tag, nodes)
      }
      nodes.push(exits[i])
    }
    const pairs: number[] = []
    for (const [tag, nodes] of [...byTag].sort((a, b) => a[0] - b[0])) pairs.push(tag, this.gather(nodes))
    return Int32Array.from(pairs)
  }

  /** Returns a copy of `tokens` with all other ids of the same spellings added. */
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

/**
 * Returns `nodes` sorted, without duplicates. Duplicates arise if a list holds two nodes of which
 * one lies below the other.
 */
function ascending(nodes: ArrayLike<number>): Int32Array {
  const sorted = Int32Array.from(nodes).sort()
  return sorted.filter((node, i) => node !== sorted[i - 1])
}
