/**
 * The token trie: every token's bytes in one depth-first array, and the walk of a lexeme automaton through it.
 *
 * Nodes are three integers wide and lie in depth-first order, so that a subtree is a range: a dead state skips to its
 * end, and the depth is the stack pointer (the same idea as llguidance's toktrie). Interleaved integers take 3–8 ns a
 * node (Node 20, 309,000 nodes, all alive), linked objects 160–300.
 */
import { lexemes } from "../grammar/lexeme/table.ts"
import type { Vocabulary } from "./vocabulary.ts"

export const Stride = 3 // words a node; node 0 is the root
export const Head = 0 // byte | depth << 8
export const End = 1 // offset just past the subtree
export const Token = 2 // lowest id of the tokens that end here, or NoTokenHere

const NoTokenHere = -1
/** In place of a lexeme state: none whose row is at hand. */
export const NoState = -1
/** So many children are looked through one by one. */
const FewChildren = 8

/** What one walk found: tokens that stay inside the lexeme, and nodes below which the lexeme may end, with its tag. */
export interface Found {
  /** Token ids in trie order. */
  tokens: Int32Array
  tokenCount: number
  /** Node and tag, pairwise, in trie order; only nodes that have children. */
  exits: number[]
}

export class TokenTrie {
  /** Shape [N, Stride]. */
  readonly nodes: Int32Array
  /** Ids that spell the same bytes as a lower id, by that id. */
  readonly duplicates: ReadonlyMap<number, readonly number[]>
  /**
   * Children by node, ascending by byte: those of the node at offset `at` are `childNodes[o .. p)` with the bytes
   * `childBytes[o .. p)`, o = `childOffsets[at / Stride]`, p = the next one. Shapes [N + 1], [N - 1], [N - 1].
   */
  private readonly childOffsets: Int32Array
  private readonly childNodes: Int32Array
  private readonly childBytes: Uint8Array
  private readonly states: Int32Array
  /** Nodes that walks and scans have visited. */
  visitCount = 0
  /** Bit set by node: whether the byte of some edge strictly below it is a quote. */
  private readonly quotes: Uint32Array

  constructor(vocabulary: Vocabulary) {
    const spellings: { id: number; bytes: Uint8Array }[] = []
    let maxLength = 0
    for (let id = 0; id < vocabulary.width; id++) {
      const bytes = vocabulary.bytes(id)
      if (bytes.length === 0) continue
      spellings.push({ id, bytes })
      maxLength = Math.max(maxLength, bytes.length)
    }
    spellings.sort((a, b) => compareBytes(a.bytes, b.bytes) || a.id - b.id)
    const duplicates = new Map<number, number[]>()
    let distinct = 0
    for (const spelling of spellings) {
      const before = spellings[distinct - 1]
      if (distinct > 0 && compareBytes(before.bytes, spelling.bytes) === 0) {
        duplicates.set(before.id, [...(duplicates.get(before.id) ?? []), spelling.id])
      } else {
        spellings[distinct++] = spelling
      }
    }
    this.duplicates = duplicates
    const nodes: number[] = [0, 0, NoTokenHere]
    const build = (start: number, end: number, depth: number) => {
      for (let at = start; at < end; ) {
        const byte = spellings[at].bytes[depth]
        let next = at + 1
        while (next < end && spellings[next].bytes[depth] === byte) next++
        const node = nodes.length
        const endsHere = spellings[at].bytes.length === depth + 1
        nodes.push(byte | ((depth + 1) << 8), 0, endsHere ? spellings[at].id : NoTokenHere)
        build(endsHere ? at + 1 : at, next, depth + 1)
        nodes[node + End] = nodes.length
        at = next
      }
    }
    build(0, distinct, 0)
    nodes[End] = nodes.length
    this.nodes = Int32Array.from(nodes)
    const count = nodes.length / Stride
    this.childOffsets = new Int32Array(count + 1)
    this.childNodes = new Int32Array(count - 1)
    this.childBytes = new Uint8Array(count - 1)
    let filled = 0
    for (let at = 0; at < nodes.length; at += Stride) {
      this.childOffsets[at / Stride] = filled
      for (let child = at + Stride; child < nodes[at + End]; child = nodes[child + End]) {
        this.childNodes[filled] = child
        this.childBytes[filled++] = nodes[child] & 0xff
      }
    }
    this.childOffsets[count] = filled
    this.states = new Int32Array(maxLength + 1)
    this.quotes = new Uint32Array((count + 31) >>> 5)
    const open: number[] = []
    for (let at = Stride; at < nodes.length; at += Stride) {
      while (open.length > 0 && at >= nodes[open[open.length - 1] + End]) open.pop()
      if ((nodes[at] & 0xff) === 0x22) {
        for (let i = open.length - 1; i >= 0 && !this.hasQuoteBelow(open[i]); i--) this.markQuote(open[i])
        this.markQuote(0)
      }
      open.push(at)
    }
  }

  private markQuote(node: number): void {
    const index = node / Stride
    this.quotes[index >>> 5] |= 1 << (index & 31)
  }

  /** Whether some token below `node` goes on with a quote, at once or later. */
  hasQuoteBelow(node: number): boolean {
    const index = node / Stride
    return ((this.quotes[index >>> 5] >>> (index & 31)) & 1) === 1
  }

  get nodeCount(): number {
    return this.nodes.length / Stride
  }

  /** Longest token in bytes. */
  get maxDepth(): number {
    return this.states.length - 1
  }

  hasChildren(node: number): boolean {
    return this.nodes[node + End] > node + Stride
  }

  /** Token at `node`, or -1. */
  token(node: number): number {
    return this.nodes[node + Token]
  }

  /** Byte of the edge that leads to `node`. */
  byte(node: number): number {
    return this.nodes[node] & 0xff
  }

  /** Bytes from the root to `node`. */
  depth(node: number): number {
    return this.nodes[node] >>> 8
  }

  /**
   * Calls `visit` for the nodes strictly below `node` in order, with their byte, depth and token (-1 for none); what is
   * below a node is left out where it says false.
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

  /** Nodes strictly below `node`. */
  subtreeSize(node: number): number {
    return (this.nodes[node + End] - node) / Stride - 1
  }

  /** The most times that `byte` comes in the bytes of one token below `node`. */
  mostBelow(node: number, byte: number): number {
    let most = 0
    for (let i = this.childOffsets[node / Stride]; i < this.childOffsets[node / Stride + 1]; i++) {
      const child = this.childNodes[i]
      most = Math.max(most, (this.childBytes[i] === byte ? 1 : 0) + this.mostBelow(child, byte))
    }
    return most
  }

  *children(node: number): Generator<number> {
    for (let i = this.childOffsets[node / Stride]; i < this.childOffsets[node / Stride + 1]; i++)
      yield this.childNodes[i]
  }

  /** The child of `node` by `byte`, or 0. */
  child(node: number, byte: number): number {
    const last = this.firstPlace(node + Stride)
    const place = this.seek(this.firstPlace(node), last, byte)
    return place < last && this.childBytes[place] === byte ? this.childNodes[place] : 0
  }

  /** The child of `node` that is `below`, or has it below itself. */
  childAbove(node: number, below: number): number {
    let low = this.firstPlace(node)
    for (let high = this.firstPlace(node + Stride); high - low > 1; ) {
      const middle = (low + high) >>> 1
      if (this.childNodes[middle] <= below) low = middle
      else high = middle
    }
    return this.childNodes[low]
  }

  /** The node that spells `bytes` from `start` to their end; −1 if no token begins so. */
  descend(bytes: Uint8Array, start: number): number {
    let node = 0
    for (let at = start; at < bytes.length; at++) {
      node = this.child(node, bytes[at])
      if (node === 0) return -1
    }
    return node
  }

  /** Length of the longest token that `bytes` hold at `start`; 0 for none. */
  longest(bytes: Uint8Array, start: number): number {
    let length = 0
    let node = 0
    for (let at = start; at < bytes.length; at++) {
      node = this.child(node, bytes[at])
      if (node === 0) break
      if (this.token(node) >= 0) length = at + 1 - start
    }
    return length
  }

  /** The place of the first child of `node`; its last one lies ahead of `firstPlace(node + Stride)`. */
  firstPlace(node: number): number {
    return this.childOffsets[node / Stride]
  }

  /** The first place from `from` to `end` (excluded) of a child by `byte` or a higher one; `end` if there is none. Binary search. */
  seek(from: number, end: number, byte: number): number {
    const { childBytes } = this
    let low = from
    let high = end
    while (high - low > FewChildren) {
      const middle = (low + high) >>> 1
      if (childBytes[middle] < byte) low = middle + 1
      else high = middle
    }
    while (low < high && childBytes[low] < byte) low++
    return low
  }

  byteAt(place: number): number {
    return this.childBytes[place]
  }

  childAt(place: number): number {
    return this.childNodes[place]
  }

  /** All tokens strictly below `node`, appended to `tokens`. */
  tokensBelow(node: number, tokens: number[]): void {
    for (let at = node + Stride; at < this.nodes[node + End]; at += Stride) {
      if (this.nodes[at + Token] !== NoTokenHere) tokens.push(this.nodes[at + Token])
    }
  }

  /** Reads the lexeme from `state` along everything strictly below `node`, and adds to `found`. */
  walk(node: number, state: number, found: Found): void {
    const { nodes, states } = this
    const { tokens, exits } = found
    // A narrow state without a base has few ways on: go to them directly instead of past every child.
    if (lexemes.base(state) === 0) {
      const count = lexemes.edgeCount(state)
      const last = this.firstPlace(node + Stride)
      for (let i = 0, place = this.firstPlace(node); i < count && place < last; i++) {
        const byte = lexemes.edgeByte(state, i)
        place = this.seek(place, last, byte)
        if (place < last && this.byteAt(place) === byte)
          this.visit(this.childAt(place), lexemes.edgeTarget(state, i), found)
      }
      return
    }
    const end = nodes[node + End]
    states[nodes[node] >>> 8] = state
    let { tokenCount } = found
    let { rows, tags } = lexemes
    let { values, classes } = lexemes.wide
    let visitCount = 0
    // Mostly the same state reads on, and its row need not be looked up.
    let [last, row, first] = [NoState, 0, 0]
    // hot
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
      if (next === 0) {
        at = nodes[at + End]
        continue
      }
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

  /** As `walk`, for `node` itself too: `state` is the one after its byte. */
  visit(node: number, state: number, found: Found): void {
    if (state === 0) return
    this.visitCount++
    const token = this.nodes[node + Token]
    if (token >= 0) found.tokens[found.tokenCount++] = token
    if (!this.hasChildren(node)) return
    if (lexemes.tags[state] !== 0) found.exits.push(node, lexemes.tags[state])
    this.walk(node, state, found)
  }
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i] - b[i]
  return a.length - b.length
}
