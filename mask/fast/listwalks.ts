/**
 * Walks below all nodes of a list, past what was read before.
 *
 * An identifier may end nearly anywhere in a word, so what follows it is read from fifty thousand nodes of which most lie below
 * others. Each node is marked with the state in which it was read last: what is read in the same state is not read again. And
 * what a state of few edges reads is found among the children of all nodes by their bytes.
 */
import { Dead, lexemes } from "../../grammar/lexeme/table.ts"
import { type Found, type ReadMarks, Stride, type TokenTrie } from "../trie.ts"
import { type Children, dropRepeated } from "./children.ts"
import type { ListTables } from "./listtables.ts"

/** Children by so many bytes are looked for one byte after the other. */
const FewEdges = 2
/** No state has such a number: when stamps reach it they begin anew. */
const MaxStamp = 1 << 30

export class ListWalks {
  /** What was read last. It has room for all tokens twice. */
  readonly found: Found
  /** Nodes of a list from which on nodes are marked. */
  readonly minNested: number
  private readonly children: Children
  private readonly trie: TokenTrie
  private readonly lists: ListTables
  /** Made for the first list of many nodes. */
  private marks: ReadMarks | null = null
  /** The state after each byte; -1 for those that are not known yet. */
  private readonly nexts = new Int32Array(256)

  constructor(children: Children, lists: ListTables, minNested: number) {
    this.children = children
    this.trie = children.trie
    this.lists = lists
    this.minNested = minNested
    this.found = { tokens: new Int32Array(2 * this.trie.nodeCount + 1), tokenCount: 0, exits: [] }
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
    const isNarrow = lexemes.base(state) === Dead
    const marks = length >= this.minNested ? this.freshMarks() : null
    // Children by a byte are found at once, but for a keyword's letters they are as many as the nodes.
    const isAlongEdges = isNarrow && length > 1 && (marks === null || lexemes.edgeCount(state) <= FewEdges)
    if (isAlongEdges) this.alongEdges(list, state, marks)
    else if (marks !== null) this.belowMarked(this.lists.view(list), state, marks)
    else for (const node of this.lists.view(list)) this.belowNode(node, state)
    return this.found
  }

  /** What `state` reads strictly below `nodes`, some of which lie below others. Valid until the next walk. */
  belowNested(nodes: Int32Array, state: number): Found {
    this.begin()
    this.belowMarked(nodes, state, this.freshMarks())
    return this.found
  }

  /** Adds what is read below `node`, and `node` itself: `state` is the one after its byte. */
  visit(node: number, state: number): void {
    this.children.visit(node, state, this.found)
  }

  private belowNode(node: number, state: number): void {
    const { found } = this
    if (found.tokenCount + this.trie.subtreeSize(node) >= found.tokens.length) dropRepeated(found)
    this.children.walk(node, state, found)
  }

  /** Visits the children of all nodes of `list`, for a state of few edges: nodes that have none of their bytes are not looked at. */
  private alongEdges(list: number, state: number, marks: ReadMarks | null): void {
    for (let i = 0; i < lexemes.edgeCount(state); i++) {
      const children = this.lists.childrenBy(list, lexemes.edgeByte(state, i))
      if (children < 0) continue
      const target = lexemes.edgeTarget(state, i)
      for (const node of this.lists.view(children)) this.children.visit(node, target, this.found, marks)
    }
  }

  /** Most children of many nodes have been read in the same state, or are not read at all. */
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

  /** Marks above all states of the walks before: so none need be cleared. */
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
