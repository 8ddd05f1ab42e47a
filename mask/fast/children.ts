/**
 * The children of each trie node side by side, ascending by byte, so that a state with few edges
 * goes directly to the children it needs instead of past all of them.
 */
import { Dead, lexemes } from "../../grammar/lexeme/table.ts"
import { End, type Found, Head, type ReadMarks, Stride, type TokenTrie } from "../trie.ts"

/** Up to this many children are compared one by one. */
const FewChildren = 8

export class Children {
  readonly trie: TokenTrie
  /**
   * The children of the node at offset `at` are `nodes[s .. s + c)` with the bytes
   * `bytes[s .. s + c)`, where s is `starts[at / Stride] - 1` and c is `counts[at / Stride]`. They
   * are listed when they are first needed; `starts` is 0 until then. Shapes [N], [N], [N - 1],
   * [N - 1].
   */
  private readonly starts: Int32Array
  private readonly counts: Uint16Array
  private readonly nodes: Int32Array
  private readonly bytes: Uint8Array
  /** Number of children listed so far. */
  private filled = 0

  constructor(trie: TokenTrie) {
    this.trie = trie
    const count = trie.nodeCount
    this.starts = new Int32Array(count)
    this.counts = new Uint16Array(count)
    this.nodes = new Int32Array(count - 1)
    this.bytes = new Uint8Array(count - 1)
  }

  /** Lists the children of the node with this index. */
  private list(index: number): void {
    const { nodes } = this.trie
    const end = nodes[index * Stride + End]
    this.starts[index] = this.filled + 1
    for (let child = (index + 1) * Stride; child < end; child = nodes[child + End]) {
      this.nodes[this.filled] = child
      this.bytes[this.filled++] = nodes[child + Head] & 0xff
      this.counts[index]++
    }
  }

  /** Returns the index of the first child of `node`. */
  first(node: number): number {
    const index = node / Stride
    if (this.starts[index] === 0) this.list(index)
    return this.starts[index] - 1
  }

  /** Returns the index after the last child of `node`. */
  end(node: number): number {
    return this.first(node) + this.counts[node / Stride]
  }

  byteAt(place: number): number {
    return this.bytes[place]
  }

  nodeAt(place: number): number {
    return this.nodes[place]
  }

  /**
   * Returns the first index from `from` to `end` (excluded) of a child whose byte is at least
   * `byte`; `end` if there is none. Binary search.
   */
  seek(from: number, end: number, byte: number): number {
    const { bytes } = this
    let low = from
    let high = end
    while (high - low > FewChildren) {
      const middle = (low + high) >>> 1
      if (bytes[middle] < byte) low = middle + 1
      else high = middle
    }
    while (low < high && bytes[low] < byte) low++
    return low
  }

  /** Returns the child of `node` by `byte`, or 0. */
  by(node: number, byte: number): number {
    const end = this.end(node)
    const place = this.seek(this.first(node), end, byte)
    return place < end && this.bytes[place] === byte ? this.nodes[place] : 0
  }

  /** Returns the child of `node` that is `below` or an ancestor of it. */
  above(node: number, below: number): number {
    let low = this.first(node)
    for (let high = this.end(node); high - low > 1; ) {
      const middle = (low + high) >>> 1
      if (this.nodes[middle] <= below) low = middle
      else high = middle
    }
    return this.nodes[low]
  }

  /** As `TokenTrie.walk`, but follows the edges of a state that has few. */
  walk(node: number, state: number, found: Found, marks: ReadMarks | null = null): void {
    if (lexemes.base(state) !== Dead) {
      this.trie.walk(node, state, found, marks)
      return
    }
    const count = lexemes.edgeCount(state)
    const end = this.end(node)
    for (let i = 0, place = this.first(node); i < count && place < end; i++) {
      const byte = lexemes.edgeByte(state, i)
      place = this.seek(place, end, byte)
      if (place < end && this.bytes[place] === byte)
        this.visit(this.nodes[place], lexemes.edgeTarget(state, i), found, marks)
    }
  }

  /**
   * As `walk`, but also for `node` itself: `state` is the one after its byte. Removes repeated
   * tokens from `found` if the new ones might not fit.
   */
  visit(node: number, state: number, found: Found, marks: ReadMarks | null = null): void {
    if (state === Dead) return
    if (marks !== null) {
      const mark = marks.stamp + state
      if (marks.seen[node / Stride] === mark) return
      marks.seen[node / Stride] = mark
    }
    const { trie } = this
    trie.visitCount++
    if (found.tokenCount + trie.subtreeSize(node) >= found.tokens.length) dropRepeated(found)
    const token = trie.token(node)
    if (token >= 0) found.tokens[found.tokenCount++] = token
    if (!trie.hasChildren(node)) return
    if (lexemes.tags[state] !== 0) found.exits.push(node, lexemes.tags[state])
    this.walk(node, state, found, marks)
  }
}

/** Removes repeated tokens from `found`, which arise if nodes of one list lie below each other. */
export function dropRepeated(found: Found): void {
  const tokens = new Set(found.tokens.subarray(0, found.tokenCount))
  found.tokens.set([...tokens])
  found.tokenCount = tokens.size
}
