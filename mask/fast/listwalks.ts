/**
 * Walks below all nodes of a list that skip what they have already read.
 *
 * An identifier may end nearly anywhere in a word, so what follows it is read from fifty thousand
 * nodes, most of which lie below others. Each node is marked with the state in which it was last
 * read, and is not read again in the same state. For a state with few edges, the children of all
 * nodes are found by their bytes.
 */
import { Dead, lexemes } from "../../grammar/lexeme/table.ts"
import { type Found, type ReadMarks, Stride, type TokenTrie } from "../trie.ts"
import { type Children, dropRepeated } from "./children.ts"
import type { ListTables } from "./listtables.ts"

/** A state with at most this many edges is read along its edges, even below many nodes. */
const FewEdges = 2
/** No state has so large a number; stamps that reach it start again at 0. */
const MaxStamp = 1 << 30

export class ListWalks {
  /** The results of the last walk. It has room for all tokens twice. */
  readonly found: Found
  /** Lists of at least this many nodes are walked with marks. */
  readonly minNested: number
  private readonly children: Children
  private readonly trie: TokenTrie
  private readonly lists: ListTables
  /** Made for the first list with many nodes. */
  private marks: ReadMarks | null = null
  /** The state after each byte; -1 if not computed yet. */
  private readonly nexts = new Int32Array(256)

  constructor(children: Children, lists: ListTables, minNested: number) {
    this.children = children
    this.trie = children.trie
    this.lists = lists
    this.minNested = minNested
    this.found = { tokens: new Int32Array(2 * this.trie.nodeCount + 1), tokenCount: 0, exits: [] }
  }

  /** Discards the results of the last walk. */
  begin(): void {
    this.found.tokenCount = 0
    this.found.exits.length = 0
  }

  /** Returns what `state` reads below the nodes of `list`. Valid until the next walk. */
  below(list: number, state: number): Found {
    this.begin()
    const length = this.lists.length(list)
    const isNarrow = lexemes.base(state) === Dead
    const marks = length >= this.minNested ? this.freshMarks() : null
    // All children by one byte are found together. But for the letters of a keyword there are as
    // many children as nodes, so this does not pay for more than a few edges.
    const isAlongEdges = isNarrow && length > 1 && (marks === null || lexemes.edgeCount(state) <= FewEdges)
    if (isAlongEdges) this.alongEdges(list, state, marks)
    else if (marks !== null) this.belowMarked(this.lists.view(list), state, marks)
    else for (const node of this.lists.view(list)) this.belowNode(node, state)
    return this.found
  }

  /**
   * Returns what `state` reads strictly below `nodes`, some of which lie below others. Valid until
   * the next walk.
   */
  belowNested(nodes: Int32Array, state: number): Found {
    this.begin()
    this.belowMarked(nodes, state, this.freshMarks())
    return this.found
  }

  /** Adds what is read at `node` and below it; `state` is the one after its byte. */
  visit(node: number, state: number): void {
    this.children.visit(node, state, this.found)
  }

  private belowNode(node: number, state: number): void {
    const { found } = this
    if (found.tokenCount + this.trie.subtreeSize(node) >= found.tokens.length) dropRepeated(found)
    this.children.walk(node, state, found)
  }

  /**
   * Visits the children of all nodes of `list` along the edges of `state`, which has few. Nodes
   * that have no child by these bytes are not visited.
   */
  private alongEdges(list: number, state: number, marks: ReadMarks | null): void {
    for (let i = 0; i < lexemes.edgeCount(state); i++) {
      const children = this.lists.childrenBy(list, lexemes.edgeByte(state, i))
      if (children < 0) continue
      const target = lexemes.edgeTarget(state, i)
      for (const node of this.lists.view(children)) this.children.visit(node, target, this.found, marks)
    }
  }

  /**
   * Most children of many nodes have already been read in the same state, or cannot be read at all.
   */
  private belowMarked(nodes: Int32Array, state: number, marks: ReadMarks): void {
    const { children, nexts, found } = this
    const { seen, stamp } = marks
    nexts.fill(-1)
    let visitCount = 0
    // hot
    for (let i = 0; i < nodes.length; i++) {
      const end = children.end(nodes[i])
      for (let place = children.first(nodes[i]); place < end; place++) {
        visitCount++
        const byte = children.byteAt(place)
        let next = nexts[byte]
        if (next < 0) {
          next = lexemes.next(state, byte)
          nexts[byte] = next
        }
        if (next === Dead) continue
        const child = children.nodeAt(place)
        if (seen[child / Stride] !== stamp + next) children.visit(child, next, found, marks)
      }
    }
    this.trie.visitCount += visitCount
  }

  /** Returns marks greater than all marks of earlier walks, so that none need be cleared. */
  private freshMarks(): ReadMarks {
    this.marks ??= { seen: new Int32Array(this.trie.nodeCount), stamp: 0 }
    const { marks } = this
    marks.stamp += lexemes.count
    if (marks.stamp >= MaxStamp) {
      marks.stamp = 0
      marks.seen.fill(0)
    }
    return marks
  }
}
