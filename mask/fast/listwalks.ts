/**
 * Walks below the nodes of a list: from each of them, or by a way that meets fewer nodes.
 *
 * What a state of few edges reads is found among the children by their bytes, and what many nodes share below them is read once.
 */
import { Dead, lexemes } from "../../grammar/lexeme/table.ts"
import type { NodeLists } from "../lists.ts"
import type { Found, TokenTrie } from "../trie.ts"
import { NestedWalks } from "./nested.ts"

/** Children by so many bytes are looked for one byte after the other. */
const FewEdges = 2

export class ListWalks {
  /** What was read last. */
  readonly found: Found
  private readonly trie: TokenTrie
  private readonly lists: NodeLists
  /** Nodes of a list from which on all are walked together; infinity: each is walked from all its children. */
  readonly minNested: number
  /** Made for the first list of many nodes. */
  private ofMany: NestedWalks | null = null

  constructor(trie: TokenTrie, lists: NodeLists, minNested: number) {
    this.trie = trie
    this.lists = lists
    this.minNested = minNested
    // Twice, see `makeRoom`.
    this.found = { tokens: new Int32Array(2 * trie.nodeCount + 1), tokenCount: 0, exits: [] }
  }

  /** Forgets what was found. */
  begin(): void {
    this.found.tokenCount = 0
    this.found.exits.length = 0
  }

  /** What `state` reads below the nodes of `list`. Valid until the next walk. */
  below(list: number, state: number): Found {
    this.begin()
    const length = this.lists.length(list)
    if (length >= this.minNested) this.belowMany(list, state)
    else if (length > 1 && this.minNested < Number.POSITIVE_INFINITY && lexemes.base(state) === Dead)
      this.alongEdges(list, state, (node, target) => this.visit(node, target))
    else {
      for (const node of this.lists.view(list)) {
        this.makeRoom(node)
        this.trie.walk(node, state, this.found)
      }
    }
    return this.found
  }

  /** Adds what is read below `node`, and `node` itself: `state` is the one after its byte. */
  visit(node: number, state: number): void {
    this.makeRoom(node)
    this.trie.visit(node, state, this.found)
  }

  /** Walks from many nodes, which may lie below others. */
  nested(): NestedWalks {
    this.ofMany ??= new NestedWalks(this.trie, this.found)
    return this.ofMany
  }

  private belowMany(list: number, state: number): void {
    const nested = this.nested()
    nested.begin()
    // Children by a byte are found at once, but for a keyword's letters they are as many as the nodes.
    if (lexemes.base(state) === Dead && lexemes.edgeCount(state) <= FewEdges)
      this.alongEdges(list, state, (node, target) => nested.visit(node, target))
    else nested.below(this.lists.view(list), state)
  }

  /** Visits the children of all nodes of `list`, for a state of few edges: what has none of their bytes next is not looked at. */
  private alongEdges(list: number, state: number, visit: (node: number, target: number) => void): void {
    for (let i = 0; i < lexemes.edgeCount(state); i++) {
      const children = this.lists.children(list, lexemes.edgeByte(state, i))
      if (children < 0) continue
      const target = lexemes.edgeTarget(state, i)
      for (const node of this.lists.view(children)) visit(node, target)
    }
  }

  /** Room for all tokens below `node`. Nodes of a list may lie below each other: then tokens are found twice. */
  private makeRoom(node: number): void {
    const { found } = this
    if (found.tokenCount + this.trie.subtreeSize(node) < found.tokens.length) return
    const tokens = new Set(found.tokens.subarray(0, found.tokenCount))
    found.tokens.set([...tokens])
    found.tokenCount = tokens.size
  }
}
