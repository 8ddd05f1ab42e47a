/**
 * The nodes below which tokens continue with a quote: a JSON string closes there, and a property
 * name is complete there.
 */
import { End, Stride, type TokenTrie } from "../trie.ts"

export const Quote = 0x22

export class Quotes {
  private readonly trie: TokenTrie
  /** The result of `nodesAbove`, once it is needed. */
  private areBelow: Uint32Array | null = null

  constructor(trie: TokenTrie) {
    this.trie = trie
  }

  /** Returns whether some token below `node` continues with a quote, at once or later. */
  isBelow(node: number): boolean {
    this.areBelow ??= nodesAbove(this.trie)
    return hasNode(this.areBelow, node)
  }

  /** Returns the largest number of quotes in the bytes of one token below `node`. */
  mostBelow(node: number): number {
    const { trie } = this
    const base = trie.depth(node)
    /** Number of quotes by depth below `node`. */
    const counts = [0]
    let most = 0
    trie.scan(node, (_, byte, depth) => {
      counts[depth - base] = counts[depth - base - 1] + (byte === Quote ? 1 : 0)
      most = Math.max(most, counts[depth - base])
      return true
    })
    return most
  }
}

/** Returns a bit for each node: whether some edge strictly below it has the quote as its byte. */
function nodesAbove(trie: TokenTrie): Uint32Array {
  const { nodes } = trie
  const above = new Uint32Array((trie.nodeCount + 31) >>> 5)
  const open: number[] = [0]
  for (let at = Stride; at < nodes.length; at += Stride) {
    while (at >= nodes[open[open.length - 1] + End]) open.pop()
    if (trie.byte(at) === Quote) {
      for (let i = open.length - 1; i >= 0 && !hasNode(above, open[i]); i--) {
        const index = open[i] / Stride
        above[index >>> 5] |= 1 << (index & 31)
      }
    }
    open.push(at)
  }
  return above
}

function hasNode(bits: Uint32Array, node: number): boolean {
  const index = node / Stride
  return ((bits[index >>> 5] >>> (index & 31)) & 1) === 1
}
