/**
 * The edges of the token trie by their byte. The children by one byte of many nodes are found among
 * all edges with that byte: most bytes have few edges, and these lie in the trie's order.
 */
import { lowerBound } from "../../grammar/intern.ts"
import { Head, Stride, type TokenTrie } from "../trie.ts"

/** Cost of a binary search, in units of marking a node. */
const SearchSteps = 8

export class ByteEdges {
  /** The edges of byte b are `[starts[b] .. starts[b + 1])`. */
  private readonly starts = new Int32Array(257)
  /** The node that each edge leads to, and the node that it leaves; ascending for each byte. */
  private readonly children: Int32Array
  private readonly parents: Int32Array
  /** 1 for the nodes of the list that was marked last. Shape [N]. */
  private readonly isMarked: Uint8Array
  private marked: Int32Array = new Int32Array(0)
  private markedList = -1

  /** Walks once over the trie: 5 ms and 2.4 MiB for 275,000 nodes, once for each vocabulary. */
  constructor({ nodes }: TokenTrie) {
    const count = nodes.length / Stride
    const { starts } = this
    for (let at = Stride; at < nodes.length; at += Stride) starts[(nodes[at + Head] & 0xff) + 1]++
    for (let byte = 0; byte < 256; byte++) starts[byte + 1] += starts[byte]
    this.children = new Int32Array(count)
    this.parents = new Int32Array(count)
    this.isMarked = new Uint8Array(count)
    const next = starts.slice()
    const above: number[] = []
    // hot
    for (let at = 0; at < nodes.length; at += Stride) {
      const head = nodes[at + Head]
      const depth = head >>> 8
      above[depth] = at
      if (depth === 0) continue
      const place = next[head & 0xff]++
      this.children[place] = at
      this.parents[place] = above[depth - 1]
    }
  }

  /**
   * Returns the children of `nodes` by `byte`, ascending. `list` identifies `nodes`. Cost: the
   * edges of `byte`, and `nodes` if `list` is not that of the last call.
   */
  childrenOf(list: number, nodes: Int32Array, byte: number): number[] {
    const { children, parents, isMarked, starts } = this
    const found: number[] = []
    const [first, end] = [starts[byte], starts[byte + 1]]
    if (list !== this.markedList && (end - first) * SearchSteps < nodes.length) {
      for (let i = first; i < end; i++)
        if (nodes[lowerBound(nodes, parents[i])] === parents[i]) found.push(children[i])
      return found
    }
    if (list !== this.markedList) this.mark(list, nodes)
    // hot
    for (let i = first; i < end; i++) if (isMarked[parents[i] / Stride] === 1) found.push(children[i])
    return found
  }

  private mark(list: number, nodes: Int32Array): void {
    const { isMarked } = this
    for (const node of this.marked) isMarked[node / Stride] = 0
    this.marked = nodes.slice()
    for (const node of this.marked) isMarked[node / Stride] = 1
    this.markedList = list
  }
}
