/**
 * The nodes at which a lexeme that follows itself may begin: some given nodes, the nodes where it
 * ends when read from them, and so on.
 *
 * Vocabularies hold runs of a hundred signs as tokens, and a grammar with a prefix operator or with
 * empty statements reads each sign as a lexeme. All nodes of such a run are found here at once,
 * from the trie alone.
 */
import { PairMap } from "../../grammar/intern.ts"
import { PlainTag } from "../../grammar/lexeme/table.ts"
import type { NodeLists } from "../lists.ts"
import type { Found, TokenTrie } from "../trie.ts"

/** Maximum number of cached results. */
const MaxKnown = 1 << 14

export class Repeats {
  private readonly trie: TokenTrie
  private readonly lists: NodeLists
  /** (list, lexeme state) → list. */
  private readonly known = new PairMap()

  constructor(trie: TokenTrie, lists: NodeLists) {
    this.trie = trie
    this.lists = lists
  }

  /**
   * Returns the nodes of `list`, and the nodes at which `lexemeState` ends with the plain tag when
   * it is read from any of all these.
   */
  of(list: number, lexemeState: number, scratch: Found): number {
    const known = this.known.get(list, lexemeState)
    if (known >= 0) return known
    const all = this.find(list, lexemeState, scratch)
    if (this.known.size >= MaxKnown) this.known.clear()
    this.known.set(list, lexemeState, all)
    return all
  }

  private find(list: number, lexemeState: number, scratch: Found): number {
    const { exits } = scratch
    const nodes = new Set<number>(this.lists.view(list))
    // The iteration also visits the nodes that it adds.
    for (const node of nodes) {
      scratch.tokenCount = 0
      exits.length = 0
      this.trie.walk(node, lexemeState, scratch)
      for (let i = 0; i < exits.length; i += 2) if (exits[i + 1] === PlainTag) nodes.add(exits[i])
    }
    return nodes.size === this.lists.length(list) ? list : this.lists.intern([...nodes].sort((a, b) => a - b))
  }
}
