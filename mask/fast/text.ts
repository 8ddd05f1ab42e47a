/**
 * Local masks inside strings that may hold any character: plain strings, strings with a length,
 * searches that may still begin later. They differ only in how many characters a token may have and
 * where the string may close.
 *
 * So the vocabulary is walked once per list of trie nodes, counting characters. The walk finds the
 * tokens that stay inside the string, sorted by their number of characters, and the *closers*, the
 * nodes at which a quote ends the string. The tokens inside are then one row per bound, and closers
 * are decided one by one, by their count or by reading the content automaton along the paths to
 * them.
 */

import { Unbounded } from "../../grammar/lexeme/expr/counter.ts"
import { anyContent, characterRoom, neededCharacters } from "../../grammar/lexeme/string/content.ts"
import { bodyState, type Escapes, stringBody } from "../../grammar/lexeme/string/string.ts"
import { lexemes } from "../../grammar/lexeme/table.ts"
import type { TokenTrie } from "../trie.ts"
import { CountedTokens, Pairs } from "./counted.ts"

/**
 * The local mask of a string state: the tokens inside with at most `room` characters, and the
 * closing nodes with their tags.
 */
export interface TextLocal {
  readonly tokens: CountedTokens
  readonly room: number
  /** (node, tag) pairs in trie order. */
  readonly closed: readonly number[]
  /** Whether this is the plain string. */
  readonly isUnbounded: boolean
}

export class TextMasks {
  private readonly trie: TokenTrie
  private readonly width: number
  private readonly analyses = new Map<string, TextTokens>()
  /** Bytes of what is cached, excluding rows that are made later. */
  bytes = 0

  constructor(trie: TokenTrie, width: number) {
    this.trie = trie
    this.width = width
  }

  /** Evicts everything. */
  clear(): void {
    this.analyses.clear()
    this.bytes = 0
  }

  /**
   * Returns the local mask of `lexemeState` below `nodes`, or null if it is not such a string.
   * `list` identifies `nodes`.
   */
  local(list: number, nodes: ArrayLike<number>, lexemeState: number): TextLocal | null {
    const body = stringBody(lexemeState)
    if (body === null) return null
    const room = characterRoom(body.content)
    if (room < 0) return null
    const key = `${list} ${body.escapes}`
    let tokens = this.analyses.get(key)
    if (tokens === undefined) {
      tokens = new TextTokens(this.trie, this.width, Int32Array.from(nodes), body.escapes)
      this.analyses.set(key, tokens)
      this.bytes += tokens.byteLength
    }
    const needed = neededCharacters(body.content)
    return {
      tokens: tokens.tokens,
      room,
      closed: needed < 0 ? tokens.closedBy(lexemeState) : tokens.closedAt(needed, room),
      isUnbounded: needed === 0 && room === Unbounded,
    }
  }
}

class TextTokens {
  /** Tokens that stay inside the string. */
  readonly tokens: CountedTokens
  /**
   * The union of the paths to closers, in trie order. Shape [n]: byte, and index of the parent or
   * -1.
   */
  private readonly bytes: Int32Array
  private readonly parents: Int32Array
  /** Shape [n]: the node if the string closes there, else 0; and its number of characters. */
  private readonly closers: Int32Array
  private readonly counts: Int32Array
  private readonly states: Int32Array

  constructor(trie: TokenTrie, width: number, roots: Int32Array, escapes: Escapes) {
    const start = bodyState(anyContent, escapes)
    const inside = new Pairs()
    const path = {
      bytes: [] as number[],
      parents: [] as number[],
      closers: [] as number[],
      counts: [] as number[],
    }
    /**
     * By depth: the state, the characters begun so far, the byte, and the index in `path` if a
     * closer lies below.
     */
    const states = new Int32Array(trie.maxDepth + 1)
    const counts = new Int32Array(trie.maxDepth + 1)
    const places = new Int32Array(trie.maxDepth + 1)
    const edges = new Uint8Array(trie.maxDepth + 1)
    for (const root of roots) {
      const top = trie.depth(root)
      const placeOf = (depth: number): number => {
        if (depth === top) return -1
        if (places[depth] < 0) {
          path.parents.push(placeOf(depth - 1))
          path.closers.push(0)
          path.counts.push(0)
          places[depth] = path.bytes.push(edges[depth]) - 1
        }
        return places[depth]
      }
      states[top] = start
      counts[top] = 0
      trie.scan(root, (node, byte, depth, token) => {
        const before = states[depth - 1]
        const next = lexemes.next(before, byte)
        if (next === 0) return false
        edges[depth] = byte
        places[depth] = -1
        if (lexemes.tags[next] !== 0) {
          const place = placeOf(depth)
          path.closers[place] = node
          path.counts[place] = counts[depth - 1]
          return false
        }
        // Between two characters the plain string is always in the same state.
        const count = counts[depth - 1] + (before === start ? 1 : 0)
        states[depth] = next
        counts[depth] = count
        if (token >= 0) inside.push(token, count)
        return true
      })
    }
    this.tokens = new CountedTokens(inside, width, trie.duplicates)
    this.bytes = Int32Array.from(path.bytes)
    this.parents = Int32Array.from(path.parents)
    this.closers = Int32Array.from(path.closers)
    this.counts = Int32Array.from(path.counts)
    this.states = new Int32Array(path.bytes.length)
  }

  get byteLength(): number {
    return this.tokens.bytes + 5 * this.bytes.byteLength
  }

  /** Returns the closers after `min` to `max` characters, with the plain tag. */
  closedAt(min: number, max: number): number[] {
    const closed: number[] = []
    for (let i = 0; i < this.closers.length; i++) {
      if (this.closers[i] !== 0 && this.counts[i] >= min && (max === Unbounded || this.counts[i] <= max))
        closed.push(this.closers[i], 1)
    }
    return closed
  }

  /** Returns the closers at which the string of `lexemeState` may close, with its tag. */
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
