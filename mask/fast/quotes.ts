/**
 * The nodes below which tokens continue with a quote: a JSON string closes there, and a property
 * name is complete there.
 */
import { End, Stride, type TokenTrie } from "../trie.ts"

export const Quote = 0x22

export class Quotes {
  private readonly trie: TokenTrie
  /** Bit set by node: whether some edge strictly below it has the quote as its byte. */
  private readonly areBelow: Uint32Array

  /** Walks once over the trie. */
  constructor(trie: TokenTrie) {
    this.trie = trie
    const { nodes } = trie
    this.areBelow = new Uint32Array((trie.nodeCount + 31) >>> 5)
    const open: number[] = []
    for (let at = Stride; at < nodes.length; at += Stride) {
      while (open.length > 0 && at >= nodes[open[open.length - 1] + End]) open.pop()
      if (trie.byte(at) === Quote) {
        for (let i = open.length - 1; i >= 0 && !this.isBelow(open[i]); i--) this.mark(open[i])
        this.mark(0)
      }
      open.push(at)
    }
  }

  private mark(node: number): void {
    const index = node / Stride
    this.areBelow[index >>> 5] |= 1 << (index & 31)
  }

  /** Returns whether some token below `node` continues with a quote, at once or later. */
  isBelow(node: number): boolean {
    const index = node / Stride
    return ((this.areBelow[index >>> 5] >>> (index & 31)) & 1) === 1
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
