/**
 * Long tokens, read separately, because they show differences between two states that no short
 * token shows.
 *
 * Few tokens are longer than 24 bytes (344 of Llama 3's 128,256), but the longest has 128 bytes, so
 * a bound on a count can matter 128 bytes before it is reached. A state near a bound therefore
 * shares its local mask with states farther away, except for the nodes below the 24th byte; these
 * are read for each state.
 */
import { Dead, lexemes } from "../../grammar/lexeme/table.ts"
import { End, type Found, Head, Stride, Token, type TokenTrie } from "../trie.ts"

export class FarTokens {
  private readonly trie: TokenTrie
  private readonly depth: number
  /** The result of `pathTo`, once it is needed. */
  private path: readonly number[] | null = null
  /** The two states by depth. */
  private readonly mine: Int32Array
  private readonly theirs: Int32Array
  /** The state by depth, for one walk. */
  private readonly states: Int32Array

  constructor(trie: TokenTrie, depth: number) {
    this.trie = trie
    this.depth = depth
    this.mine = new Int32Array(depth + 1)
    this.theirs = new Int32Array(depth + 1)
    this.states = new Int32Array(trie.maxDepth + 1)
  }

  /** Whether no token is longer than `depth`. */
  get isEmpty(): boolean {
    return this.trie.maxDepth <= this.depth
  }

  /**
   * Collects into `found` what `state` reads beyond `depth`, and into `other` what `near` reads
   * there; nothing is collected where both have reached the same state. No shorter token may
   * distinguish the two. Cost: the nodes of the long tokens.
   */
  differ(state: number, near: number, found: Found, other: Found): void {
    const { trie, mine, theirs, depth: most } = this
    this.path ??= pathTo(trie, most)
    const { path } = this
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

  /**
   * As `TokenTrie.walk`, for paths on which most states occur only once, so that their rows need
   * not be made.
   */
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

/** Returns the nodes at `depth` that have children, and their ancestors, in trie order. */
function pathTo(trie: TokenTrie, depth: number): number[] {
  const path: number[] = []
  const above: number[] = []
  trie.scan(0, (node, _byte, at) => {
    above[at] = node
    if (at < depth) return true
    if (!trie.hasChildren(node)) return false
    // The path already holds the ancestors above some depth, so only the others are added.
    let first = 1
    const last = path.length === 0 ? 0 : path[path.length - 1]
    while (first < depth && above[first] <= last) first++
    for (let i = first; i <= depth; i++) path.push(above[i])
    return false
  })
  return path
}
