/**
 * Long tokens by themselves: what tells two states apart that no short token can tell apart.
 *
 * Few tokens are longer than 24 bytes (344 of Llama 3's 128,256), but a count is seen as far as the longest one reaches: 128 bytes.
 * So a state near a bound shares its local mask with those farther away, but for the nodes below the 24th byte; these are read
 * for each state.
 */
import { Dead, lexemes } from "../../grammar/lexeme/table.ts"
import { End, type Found, Head, Stride, Token, type TokenTrie } from "../trie.ts"

export class FarTokens {
  private readonly trie: TokenTrie
  private readonly depth: number
  /** Nodes at `depth` that have children, and those above them, in trie order. */
  private readonly path: readonly number[]
  /** The two states by depth. */
  private readonly mine: Int32Array
  private readonly theirs: Int32Array
  /** A state by depth, for one walk. */
  private readonly states: Int32Array

  constructor(trie: TokenTrie, depth: number) {
    this.trie = trie
    this.depth = depth
    this.mine = new Int32Array(depth + 1)
    this.theirs = new Int32Array(depth + 1)
    this.states = new Int32Array(trie.maxDepth + 1)
    const path: number[] = []
    const above: number[] = []
    trie.scan(0, (node, _byte, at) => {
      above[at] = node
      if (at < depth) return true
      if (!trie.hasChildren(node)) return false
      // Those above it that are there already are the last ones, down to some depth.
      let first = 1
      const last = path.length === 0 ? 0 : path[path.length - 1]
      while (first < depth && above[first] <= last) first++
      for (let i = first; i <= depth; i++) path.push(above[i])
      return false
    })
    this.path = path
  }

  /** Whether no token is so long. */
  get isEmpty(): boolean {
    return this.path.length === 0
  }

  /**
   * Collects into `found` what `state` reads beyond the depth, and into `other` what `near` does, which no shorter token can tell from
   * it: where both are one state nothing is collected. Costs the nodes of the long tokens.
   */
  differ(state: number, near: number, found: Found, other: Found): void {
    const { trie, path, mine, theirs, depth: most } = this
    const { nodes } = trie
    mine[0] = state
    theirs[0] = near
    for (let i = 0; i < path.length; ) {
      const node = path[i]
      const head = nodes[node + Head]
      const depth = head >>> 8
      const own = lexemes.step(mine[depth - 1], head & 0xff)
      const their = lexemes.step(theirs[depth - 1], head & 0xff)
      if (own !== their && own !== Dead && depth < most) {
        mine[depth] = own
        theirs[depth] = their
        i++
        continue
      }
      if (own !== their && own !== Dead) {
        this.walk(node, own, found)
        this.walk(node, their, other)
      }
      const end = nodes[node + End]
      while (i < path.length && path[i] < end) i++
    }
  }

  /** As `TokenTrie.walk`, along texts on which most states are met once. */
  private walk(node: number, state: number, found: Found): void {
    const { trie, states } = this
    const { nodes } = trie
    const end = nodes[node + End]
    states[nodes[node + Head] >>> 8] = state
    for (let at = node + Stride; at < end; ) {
      const head = nodes[at + Head]
      const depth = head >>> 8
      const next = lexemes.step(states[depth - 1], head & 0xff)
      if (next === Dead) {
        at = nodes[at + End]
        continue
      }
      states[depth] = next
      if (nodes[at + Token] >= 0) found.tokens[found.tokenCount++] = nodes[at + Token]
      if (lexemes.tags[next] !== 0 && trie.hasChildren(at)) found.exits.push(at, lexemes.tags[next])
      at += Stride
    }
  }
}
