/**
 * The nodes inside tokens at which free text may end and something can follow.
 *
 * A lexeme that may end after every character has an exit at nearly every node of the trie: listing
 * them takes a hundred milliseconds and a megabyte per state. But what follows begins with few
 * bytes, such as `<` for the end of a tag, so only nodes with such a child matter. These are found
 * from the edges by byte, and the lexeme is read along the paths to them alone.
 */
import { lowerBound, QuadTable } from "../../grammar/intern.ts"
import { bytesOf, hasByte } from "../../grammar/lexeme/bytesets.ts"
import { Dead, lexemes, PlainTag } from "../../grammar/lexeme/table.ts"
import { NoList } from "../lists.ts"
import { End, type TokenTrie } from "../trie.ts"
import type { Children } from "./children.ts"
import type { Edges } from "./edges.ts"
import type { ListTables } from "./listtables.ts"
import type { ListWalks } from "./listwalks.ts"

/** Maximum number of cached results. */
const MaxKnown = 1 << 12
/**
 * If a node has at most this many trie nodes below it, a walk finds the ends faster than the edges
 * by byte.
 */
const MaxWalkNodes = 512
/**
 * If more than 1 in this many edges has one of the bytes, one walk is faster than the paths to
 * these edges.
 */
const ManyEdges = 8

export class TextEnds {
  private readonly trie: TokenTrie
  private readonly children: Children
  private readonly lists: ListTables
  private readonly edges: () => Edges
  private readonly walks: ListWalks
  /** Ids of (list, lexeme state, set of bytes), and the result of each id. */
  private keys = new QuadTable()
  private known: number[] = []
  /**
   * The path from the root of the list to the current node: its nodes, and the lexeme state after
   * each.
   */
  private readonly path: Int32Array
  private readonly states: Int32Array

  constructor(children: Children, lists: ListTables, walks: ListWalks, edges: () => Edges) {
    this.trie = children.trie
    this.children = children
    this.lists = lists
    this.walks = walks
    this.edges = edges
    this.path = new Int32Array(this.trie.maxDepth + 1)
    this.states = new Int32Array(this.trie.maxDepth + 1)
  }

  /**
   * Returns the list of the nodes below those of `list`, between two characters, where
   * `lexemeState` may end with the plain tag and a byte of the set `bytes` follows; `NoList` if
   * there are none. `bytes` must not include bytes within a character.
   */
  before(list: number, lexemeState: number, bytes: number): number {
    if (this.known.length >= MaxKnown) {
      this.keys = new QuadTable()
      this.known = []
    }
    const key = this.keys.intern(list, lexemeState, bytes, 0)
    if (key < this.known.length) return this.known[key]
    const ends = this.find(this.lists.view(list).slice(), lexemeState, bytes)
    this.known[key] = ends
    return ends
  }

  private find(roots: Int32Array, lexemeState: number, bytes: number): number {
    const { minNested } = this.walks
    const isCommon =
      lexemes.base(lexemeState) !== Dead && this.edgeCount(bytes) > this.trie.nodeCount / ManyEdges
    if (isCommon) {
      const nodes = this.nestedEnds(roots, lexemeState, bytes)
      return nodes.length === 0 ? NoList : this.lists.gather(nodes)
    }
    const found = new Set<number>()
    const isNear = (root: number) => this.trie.subtreeSize(root) <= MaxWalkNodes
    for (const root of roots) if (!isNear(root)) this.add(root, lexemeState, bytes, found)
    const near = roots.filter(isNear)
    if (near.length < minNested) for (const root of near) this.addNear(root, lexemeState, bytes, found)
    else for (const node of this.nestedEnds(near, lexemeState, bytes)) found.add(node)
    return found.size === 0 ? NoList : this.lists.intern([...found].sort((a, b) => a - b))
  }

  /** Returns how many edges of the trie have a byte of the set. */
  private edgeCount(bytes: number): number {
    let count = 0
    for (const byte of bytesOf(bytes)) count += this.edges().by(byte).length
    return count
  }

  private add(root: number, lexemeState: number, bytes: number, found: Set<number>): void {
    const { trie } = this
    if (trie.subtreeSize(root) <= MaxWalkNodes) this.addNear(root, lexemeState, bytes, found)
    else if (lexemes.base(lexemeState) === Dead) {
      for (let i = 0; i < lexemes.edgeCount(lexemeState); i++) {
        const child = this.children.by(root, lexemes.edgeByte(lexemeState, i))
        if (child === 0) continue
        const next = lexemes.edgeTarget(lexemeState, i)
        if (lexemes.tags[next] === PlainTag && this.goesOn(child, bytes)) found.add(child)
        this.add(child, next, bytes, found)
      }
    } else for (const byte of bytesOf(bytes)) this.addBelow(root, lexemeState, this.edges().by(byte), found)
  }

  /**
   * Adds the nodes below `root` where the lexeme may end and a byte of the set `bytes` follows.
   * Finds them by a walk.
   */
  private addNear(root: number, lexemeState: number, bytes: number, found: Set<number>): void {
    const { trie, states } = this
    states[trie.depth(root)] = lexemeState
    trie.scan(root, (node, byte, depth) => {
      const next = lexemes.next(states[depth - 1], byte)
      states[depth] = next
      if (lexemes.tags[next] === PlainTag && this.goesOn(node, bytes)) found.add(node)
      return next !== Dead
    })
  }

  /**
   * Returns the same for many nodes, some of which lie below others: what is below both is read
   * once. The result may have duplicates.
   */
  private nestedEnds(roots: Int32Array, lexemeState: number, bytes: number): number[] {
    const { exits } = this.walks.belowNested(roots, lexemeState)
    const nodes: number[] = []
    for (let i = 0; i < exits.length; i += 2)
      if (exits[i + 1] === PlainTag && this.goesOn(exits[i], bytes)) nodes.push(exits[i])
    return nodes
  }

  private goesOn(node: number, bytes: number): boolean {
    const { children } = this
    const end = children.end(node)
    for (let place = children.first(node); place < end; place++)
      if (hasByte(bytes, children.byteAt(place))) return true
    return false
  }

  /**
   * Adds the parents of `nodes` that are below `root` and where the lexeme may end. `nodes` must be
   * ascending.
   */
  private addBelow(root: number, lexemeState: number, nodes: Int32Array, found: Set<number>): void {
    const { trie, children, path, states } = this
    const end = trie.nodes[root + End]
    let top = 0
    path[0] = root
    states[0] = lexemeState
    for (let i = lowerBound(nodes, root + 1); i < nodes.length && nodes[i] < end; i++) {
      const node = nodes[i]
      while (trie.nodes[path[top] + End] <= node) top--
      // Goes down to the parent, as far as the lexeme allows.
      for (;;) {
        const child = children.above(path[top], node)
        if (child === node) {
          if (path[top] !== root && lexemes.tags[states[top]] === PlainTag) found.add(path[top])
          break
        }
        const next = lexemes.next(states[top], trie.byte(child))
        if (next === Dead) break
        top++
        path[top] = child
        states[top] = next
      }
    }
  }
}
