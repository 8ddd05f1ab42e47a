/**
 * The token trie: the bytes of all tokens in one depth-first array, and the walk of a lexeme
 * automaton through it.
 *
 * A node is three integers. Nodes lie in depth-first order, so that a subtree is a range: where the
 * automaton is dead the walk jumps to the end of the subtree, and the depth is the stack pointer
 * (the same idea as llguidance's toktrie). Interleaved integers take 3–8 ns a node (Node 20,
 * 309,000 nodes, all alive), linked objects 160–300.
 */
import { Dead, lexemes } from "../grammar/lexeme/table.ts"
import type { TrieParts, Vocabulary } from "./vocabulary.ts"

export const Stride = 3 // words per node; node 0 is the root
export const Head = 0 // byte | depth << 8
export const End = 1 // offset after the subtree
export const Token = 2 // lowest id of the tokens that end here, or NoTokenHere

const NoTokenHere = -1
/** Stands in for a lexeme state when no row is loaded. */
const NoState = -1

/**
 * The result of a walk: tokens that the lexeme reads to their end, those that end it included, and
 * nodes at which the lexeme may end inside longer tokens, with its tag.
 */
export interface Found {
  /** Token ids in trie order. */
  tokens: Int32Array
  tokenCount: number
  /** (node, tag) pairs in trie order; only nodes that have children. */
  exits: number[]
}

/**
 * Which states have read which nodes. `walk` skips everything below a node that the same state has
 * already read.
 */
export interface ReadMarks {
  /** By node: `stamp` + the state that read it last. Shape [N]. */
  readonly seen: Int32Array
  /** Greater than all marks of earlier walks. */
  stamp: number
}

export class TokenTrie {
  /** Shape [N, Stride]. */
  readonly nodes: Int32Array
  readonly nodeCount: number
  /** Length of the longest token in bytes. */
  readonly maxDepth: number
  /** Maps the lowest id of a spelling to the other ids with the same bytes. */
  readonly duplicates: ReadonlyMap<number, readonly number[]>
  private readonly states: Int32Array
  /** Number of nodes that walks and scans have visited. */
  visitCount = 0

  /** Takes the nodes that the vocabulary was stored with, or makes them. */
  constructor(vocabulary: Vocabulary) {
    const { nodes, duplicates } = vocabulary.storedTrie ?? makeNodes(vocabulary)
    this.nodes = nodes
    this.duplicates = duplicates
    this.nodeCount = nodes.length / Stride
    this.maxDepth = vocabulary.maxTokenBytes
    this.states = new Int32Array(this.maxDepth + 1)
  }

  hasChildren(node: number): boolean {
    return this.nodes[node + End] > node + Stride
  }

  /** Returns the token at `node`, or -1. */
  token(node: number): number {
    return this.nodes[node + Token]
  }

  /** Returns the byte of the edge that leads to `node`. */
  byte(node: number): number {
    return this.nodes[node] & 0xff
  }

  /** Returns the offset after the subtree of `node`. */
  end(node: number): number {
    return this.nodes[node + End]
  }

  /** Returns the number of bytes from the root to `node`. */
  depth(node: number): number {
    return this.nodes[node] >>> 8
  }

  /**
   * Calls `visit` for the nodes strictly below `node` in order, with their byte, depth and token
   * (-1 for none). Skips everything below a node for which `visit` returns false.
   */
  scan(node: number, visit: (node: number, byte: number, depth: number, token: number) => boolean): void {
    const { nodes } = this
    const end = nodes[node + End]
    for (let at = node + Stride; at < end; ) {
      this.visitCount++
      const head = nodes[at + Head]
      at = visit(at, head & 0xff, head >>> 8, nodes[at + Token]) ? at + Stride : nodes[at + End]
    }
  }

  /** Returns the number of nodes strictly below `node`. */
  subtreeSize(node: number): number {
    return (this.nodes[node + End] - node) / Stride - 1
  }

  /** Returns the child of `node` by `byte`, or 0. Cost: one comparison for each child. */
  child(node: number, byte: number): number {
    const { nodes } = this
    for (let at = node + Stride; at < nodes[node + End]; at = nodes[at + End])
      if ((nodes[at] & 0xff) === byte) return at
    return 0
  }

  /** Appends all tokens strictly below `node` to `tokens`. */
  tokensBelow(node: number, tokens: number[]): void {
    for (let at = node + Stride; at < this.nodes[node + End]; at += Stride)
      if (this.nodes[at + Token] !== NoTokenHere) tokens.push(this.nodes[at + Token])
  }

  /**
   * Reads the lexeme from `state` along everything strictly below `node`, and adds the results to
   * `found`. With `marks`, skips everything below a node that the same state has already read.
   */
  walk(node: number, state: number, found: Found, marks: ReadMarks | null = null): void {
    const { nodes, states } = this
    const { tokens, exits } = found
    const seen = marks === null ? null : marks.seen
    const stamp = marks === null ? 0 : marks.stamp
    const end = nodes[node + End]
    states[nodes[node] >>> 8] = state
    let { tokenCount } = found
    let { rows, tags } = lexemes
    let { values, classes } = lexemes.wide
    let visitCount = 0
    // The same state usually reads the next node too, so its row need not be looked up.
    let [last, row, first] = [NoState, 0, 0]
    // hot: `states` has an element for each depth, `tokens` one for each node below.
    for (let at = node + Stride; at < end; ) {
      visitCount++
      const head = nodes[at + Head]
      const depth = head >>> 8
      const before = states[depth - 1]
      if (before !== last) {
        last = before
        row = rows[before]
        if (row > 0) first = values[row]
      }
      let next: number
      if (row > 0) {
        next = values[row + 1 + classes[first + (head & 0xff)]]
      } else {
        next = lexemes.next(before, head & 0xff)
        last = NoState
        rows = lexemes.rows
        values = lexemes.wide.values
        classes = lexemes.wide.classes
      }
      if (next === Dead || (seen !== null && seen[at / Stride] === stamp + next)) {
        at = nodes[at + End]
        continue
      }
      if (seen !== null) seen[at / Stride] = stamp + next
      states[depth] = next
      const token = nodes[at + Token]
      if (token >= 0) tokens[tokenCount++] = token
      if (next >= tags.length) tags = lexemes.tags
      if (tags[next] !== 0 && nodes[at + End] > at + Stride) exits.push(at, tags[next])
      at += Stride
    }
    found.tokenCount = tokenCount
    this.visitCount += visitCount
  }
}

/** Makes the trie of all tokens. */
function makeNodes(vocabulary: Vocabulary): TrieParts {
  const { count, order, shared, nodeCount, duplicates } = distinctSpellings(vocabulary)
  const { offsets, values } = vocabulary
  const nodes = new Int32Array(Stride * nodeCount)
  nodes[Token] = NoTokenHere
  /** The node at each depth on the path to the last token. */
  const path = new Int32Array(vocabulary.maxTokenBytes + 1)
  let [at, last] = [Stride, 0]
  for (let i = 0; i < count; i++) {
    const start = offsets[order[i]]
    const length = offsets[order[i] + 1] - start
    for (; last > shared[i]; last--) nodes[path[last] + End] = at
    for (let depth = shared[i]; depth < length; at += Stride) {
      nodes[at + Head] = values[start + depth] | (++depth << 8)
      nodes[at + Token] = depth === length ? order[i] : NoTokenHere
      path[depth] = at
    }
    last = length
  }
  for (; last >= 0; last--) nodes[path[last] + End] = at
  return { nodes, duplicates }
}

/**
 * Returns the first `count` elements of `order`: the tokens that have bytes, in the order of these,
 * one for each spelling; how many bytes each shares with the one before it; the number of nodes of
 * their trie; and the other ids of each spelling, by its lowest id.
 */
function distinctSpellings(vocabulary: Vocabulary) {
  const { offsets, values } = vocabulary
  const ids = vocabulary.sortedIds()
  const order = new Uint32Array(ids.length)
  const shared = new Uint32Array(ids.length)
  const duplicates = new Map<number, number[]>()
  let [count, nodeCount] = [0, 1]
  let [from, length] = [0, 0] // of the bytes of the spelling before
  // hot
  for (let i = 0; i < ids.length; i++) {
    const start = offsets[ids[i]]
    const ownLength = offsets[ids[i] + 1] - start
    let common = 0
    while (common < length && values[from + common] === values[start + common]) common++
    if (common > ownLength) common = ownLength
    if (count > 0 && common === ownLength && common === length) {
      const first = order[count - 1]
      duplicates.set(first, [...(duplicates.get(first) ?? []), ids[i]])
      continue
    }
    order[count] = ids[i]
    shared[count++] = common
    nodeCount += ownLength - common
    from = start
    length = ownLength
  }
  return { count, order, shared, nodeCount, duplicates }
}
