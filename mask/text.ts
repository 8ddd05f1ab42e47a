/**
 * Local masks inside strings that may hold any character: plain strings, strings with a length, searches that may still
 * begin later. They differ from each other only in how many characters a token may have and where the string may close.
 *
 * So the vocabulary is walked once per list of trie nodes, counting characters: tokens that stay inside the string,
 * sorted by their number of characters, and *closers*, the nodes at which a quote ends it. The tokens inside are then a
 * row a bound, and closers are decided one by one, by count or by the content automaton read along the paths to them.
 */
import {
  anyContent,
  characterRoom,
  lengthContent,
  mostCharacters,
  neededCharacters,
} from "../grammar/lexeme/content.ts"
import { Unbounded } from "../grammar/lexeme/counter.ts"
import { bodyState, type Escapes, stringBody, stringContentOf } from "../grammar/lexeme/string.ts"
import { lexemes } from "../grammar/lexeme/table.ts"
import { wordCount } from "./bits.ts"
import type { TokenTrie } from "./trie.ts"

/** What a string state allows: a row that is shared, and the closing nodes with their tags. */
export interface TextLocal {
  readonly row: Uint32Array
  /** Node and tag, pairwise, in trie order. */
  readonly closed: readonly number[]
  /** Whether this is the plain string. */
  readonly isUnbounded: boolean
}

export class TextMasks {
  private readonly trie: TokenTrie
  private readonly width: number
  private readonly minNodes: number
  private readonly analyses = new Map<string, TextTokens | null>()

  /** Below fewer than `minNodes` trie nodes a plain walk is as good. */
  constructor(trie: TokenTrie, width: number, minNodes = 2_000) {
    this.trie = trie
    this.width = width
    this.minNodes = minNodes
  }

  /** The local mask of `lexemeState` below `nodes`, or null when it is no such string. `list` is the identity of `nodes`. */
  local(list: number, nodes: ArrayLike<number>, lexemeState: number): TextLocal | null {
    const body = stringBody(lexemeState)
    if (body === null) return null
    const room = characterRoom(body.content)
    if (room < 0) return null
    const key = `${list} ${body.escapes}`
    let tokens = this.analyses.get(key)
    if (tokens === undefined) {
      let size = 0
      for (let i = 0; i < nodes.length; i++) size += this.trie.subtreeSize(nodes[i])
      tokens =
        size < this.minNodes
          ? null
          : new TextTokens(this.trie, this.width, Int32Array.from(nodes), body.escapes)
      this.analyses.set(key, tokens)
    }
    if (tokens === null) return null
    const needed = neededCharacters(body.content)
    return {
      row: tokens.row(room),
      closed: needed < 0 ? tokens.closedBy(lexemeState) : tokens.closedAt(needed, room),
      isUnbounded: needed === 0 && room === Unbounded,
    }
  }
}

class TextTokens {
  private readonly width: number
  private readonly duplicates: ReadonlyMap<number, readonly number[]>
  /** Tokens that stay inside the string, by ascending number of characters. */
  private readonly tokens: Int32Array
  /** Tokens with at most k characters: `tokens[0 .. ends[k])`. */
  private readonly ends: Int32Array
  private readonly rows = new Map<number, Uint32Array>()
  /** The union of the paths to closers, in trie order. Shape [n]: byte, index of the parent or -1. */
  private readonly bytes: Int32Array
  private readonly parents: Int32Array
  /** Shape [n]: the node if the string closes there, else 0; and its number of characters. */
  private readonly closers: Int32Array
  private readonly counts: Int32Array
  private readonly states: Int32Array

  constructor(trie: TokenTrie, width: number, roots: Int32Array, escapes: Escapes) {
    this.width = width
    this.duplicates = trie.duplicates
    const bound = trie.maxDepth
    const charactersRead = (state: number) => bound - mostCharacters(stringContentOf(state))
    const start = bodyState(lengthContent(anyContent, 0, bound), escapes)
    const byCount: number[][] = Array.from({ length: bound + 1 }, () => [])
    const path = {
      bytes: [] as number[],
      parents: [] as number[],
      closers: [] as number[],
      counts: [] as number[],
    }
    /** Nodes on the way down, and their place in `path` once a closer was found below them. */
    const open: { byte: number; place: number }[] = []
    const placeOf = (depth: number): number => {
      if (depth < 0) return -1
      const step = open[depth]
      if (step.place < 0) {
        const parent = placeOf(depth - 1)
        step.place = path.bytes.push(step.byte) - 1
        path.parents.push(parent)
        path.closers.push(0)
        path.counts.push(0)
      }
      return step.place
    }
    const visit = (node: number, state: number, count: number) => {
      for (const child of trie.children(node)) {
        const byte = trie.byte(child)
        const next = lexemes.next(state, byte)
        if (next === 0) continue
        open.push({ byte, place: -1 })
        if (lexemes.tags[next] !== 0) {
          const place = placeOf(open.length - 1)
          path.closers[place] = child
          path.counts[place] = count
        } else {
          const read = charactersRead(next)
          // In the middle of an escape one more character is due.
          const due = stringBody(next) === null ? read + 1 : read
          if (trie.token(child) >= 0) byCount[due].push(trie.token(child))
          visit(child, next, read)
        }
        open.pop()
      }
    }
    for (const root of roots) visit(root, start, 0)
    this.tokens = Int32Array.from(byCount.flat())
    this.ends = new Int32Array(bound + 1)
    for (let k = 0, end = 0; k <= bound; k++) {
      end += byCount[k].length
      this.ends[k] = end
    }
    this.bytes = Int32Array.from(path.bytes)
    this.parents = Int32Array.from(path.parents)
    this.closers = Int32Array.from(path.closers)
    this.counts = Int32Array.from(path.counts)
    this.states = new Int32Array(path.bytes.length)
  }

  /** Tokens inside the string with at most `room` characters. Kept: at most as many rows as a token has bytes. */
  row(room: number): Uint32Array {
    const bound = Math.min(room, this.ends.length - 1)
    let row = this.rows.get(bound)
    if (row === undefined) {
      row = this.filled(bound)
      this.rows.set(bound, row)
    }
    return row
  }

  private filled(bound: number): Uint32Array {
    const end = this.ends[bound]
    const isMost = 2 * end > this.tokens.length && end < this.tokens.length
    // Most tokens are shorter than most bounds: clear the long ones in a copy of the row that has all.
    const row = isMost ? this.row(this.ends.length - 1).slice() : new Uint32Array(wordCount(this.width))
    for (let i = isMost ? end : 0; i < (isMost ? this.tokens.length : end); i++) {
      const token = this.tokens[i]
      if (isMost) row[token >>> 5] &= ~(1 << (token & 31))
      else row[token >>> 5] |= 1 << (token & 31)
      if (this.duplicates.size === 0) continue
      for (const twin of this.duplicates.get(token) ?? []) {
        if (isMost) row[twin >>> 5] &= ~(1 << (twin & 31))
        else row[twin >>> 5] |= 1 << (twin & 31)
      }
    }
    return row
  }

  /** Closers after `min` to `max` characters, with the plain tag. */
  closedAt(min: number, max: number): number[] {
    const closed: number[] = []
    for (let i = 0; i < this.closers.length; i++) {
      if (this.closers[i] !== 0 && this.counts[i] >= min && (max === Unbounded || this.counts[i] <= max))
        closed.push(this.closers[i], 1)
    }
    return closed
  }

  /** Closers at which the string of `lexemeState` may close, with its tag. */
  closedBy(lexemeState: number): number[] {
    const { bytes, parents, closers, states } = this
    const closed: number[] = []
    for (let i = 0; i < bytes.length; i++) {
      const before = parents[i] < 0 ? lexemeState : states[parents[i]]
      states[i] = before === 0 ? 0 : lexemes.next(before, bytes[i])
      if (closers[i] !== 0 && lexemes.tags[states[i]] !== 0) closed.push(closers[i], lexemes.tags[states[i]])
    }
    return closed
  }
}
