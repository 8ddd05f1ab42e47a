/**
 * Reading a lexeme from many nodes of the token trie, some of which lie below others.
 *
 * An identifier may end nearly anywhere in a word, so what follows it is read from fifty thousand nodes of which most lie below
 * others. Each node keeps the state in which it was read last: what is read in the same state is not read again.
 */
import { Dead, lexemes } from "../../grammar/lexeme/table.ts"
import { End, type Found, Head, NoState, Stride, Token, type TokenTrie } from "../trie.ts"

/** No state has such a number: where stamps come to it they begin anew. */
const MaxStamp = 1 << 30

export class NestedWalks {
  private readonly trie: TokenTrie
  readonly found: Found
  /** By node: the state in which it was read last and the stamp of then, in one number. Shape [N]. */
  private readonly seen: Int32Array
  /** Above all states of the walks before, and their stamps: so nothing need be cleared. */
  private stamp = 0
  /** Lexeme states on the way from a node down, by depth. */
  private readonly states: Int32Array
  /** The state after each byte; -1 for those that are not known yet. */
  private readonly nexts = new Int32Array(256)

  /** What is read is added to `found`, which has room for all tokens twice. */
  constructor(trie: TokenTrie, found: Found) {
    this.trie = trie
    this.found = found
    this.seen = new Int32Array(trie.nodeCount)
    this.states = new Int32Array(trie.maxDepth + 1)
  }

  /** What is read strictly below `nodes` from `state`. Valid until the next walk. */
  all(nodes: Int32Array, state: number): Found {
    this.begin()
    this.below(nodes, state)
    return this.found
  }

  /** Forgets what was read and found. */
  begin(): void {
    this.found.tokenCount = 0
    this.found.exits.length = 0
    this.stamp += lexemes.count
    if (this.stamp < MaxStamp) return
    this.stamp = 0
    this.seen.fill(0)
  }

  /** Reads the lexeme from `state` along everything strictly below `nodes`. Most children of many nodes have been read, or are not read at all. */
  below(nodes: Int32Array, state: number): void {
    const { trie, seen, stamp, nexts } = this
    nexts.fill(-1)
    let visitCount = 0
    // hot
    for (let i = 0; i < nodes.length; i++) {
      const last = trie.firstPlace(nodes[i] + Stride)
      for (let place = trie.firstPlace(nodes[i]); place < last; place++) {
        visitCount++
        const byte = trie.byteAt(place)
        let next = nexts[byte]
        if (next < 0) {
          next = lexemes.next(state, byte)
          nexts[byte] = next
        }
        if (next === Dead) continue
        const child = trie.childAt(place)
        if (seen[child / Stride] !== stamp + next) this.visit(child, next)
      }
    }
    trie.visitCount += visitCount
  }

  /** Reads what is below `node`, and `node` itself: `state` is the one after its byte. */
  visit(node: number, state: number): void {
    const { trie, seen, found } = this
    const mark = this.stamp + state
    if (seen[node / Stride] === mark) return
    seen[node / Stride] = mark
    trie.visitCount++
    const token = trie.token(node)
    if (token >= 0) {
      if (found.tokenCount === found.tokens.length) this.makeRoom()
      found.tokens[found.tokenCount++] = token
    }
    if (!trie.hasChildren(node)) return
    if (lexemes.tags[state] !== 0) found.exits.push(node, lexemes.tags[state])
    if (lexemes.base(state) === Dead) this.alongEdges(node, state)
    else this.walk(node, state)
  }

  /** For a state of few edges: goes to them directly instead of past every child. */
  private alongEdges(node: number, state: number): void {
    const { trie } = this
    const count = lexemes.edgeCount(state)
    const last = trie.firstPlace(node + Stride)
    for (let i = 0, place = trie.firstPlace(node); i < count && place < last; i++) {
      const byte = lexemes.edgeByte(state, i)
      place = trie.seek(place, last, byte)
      if (place < last && trie.byteAt(place) === byte)
        this.visit(trie.childAt(place), lexemes.edgeTarget(state, i))
    }
  }

  /** As `TokenTrie.walk`, past what was read in the same state. */
  private walk(root: number, state: number): void {
    const { seen, stamp, states, found } = this
    const { nodes } = this.trie
    const { tokens, exits } = found
    const end = nodes[root + End]
    if (found.tokenCount + (end - root) / Stride > tokens.length) this.makeRoom()
    let { tokenCount } = found
    let { rows, tags } = lexemes
    let { values, classes } = lexemes.wide
    let visitCount = 0
    states[nodes[root + Head] >>> 8] = state
    // Mostly the same state reads on, and its row need not be looked up.
    let [last, row, first] = [NoState, 0, 0]
    // hot
    for (let at = root + Stride; at < end; ) {
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
      if (next === Dead || seen[at / Stride] === stamp + next) {
        at = nodes[at + End]
        continue
      }
      seen[at / Stride] = stamp + next
      states[depth] = next
      const token = nodes[at + Token]
      if (token >= 0) tokens[tokenCount++] = token
      if (next >= tags.length) tags = lexemes.tags
      if (tags[next] !== 0 && nodes[at + End] > at + Stride) exits.push(at, tags[next])
      at += Stride
    }
    found.tokenCount = tokenCount
    this.trie.visitCount += visitCount
  }

  /** Tokens that were read in several states were found as often: once is enough. */
  private makeRoom(): void {
    const { found } = this
    const tokens = new Set(found.tokens.subarray(0, found.tokenCount))
    found.tokens.set([...tokens])
    found.tokenCount = tokens.size
  }
}
