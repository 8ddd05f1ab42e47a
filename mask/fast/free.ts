/**
 * Local masks of states with free bytes: the state reads any text of them up to some length,
 * although each prefix leads to a state of its own. Examples are an A-label of a host name and a
 * class of a pattern. The tokens that consist of free bytes alone are found once per list of trie
 * nodes. The automaton is only run along the few paths to the nodes at which the other tokens leave
 * the free bytes.
 */

import type { FreeBytes } from "../../grammar/lexeme/expr/machine.ts"
import { rawLexeme } from "../../grammar/lexeme/raw.ts"
import { anyContent } from "../../grammar/lexeme/string/content.ts"
import { Dead, lexemes } from "../../grammar/lexeme/table.ts"
import type { Found, TokenTrie } from "../trie.ts"
import type { Children } from "./children.ts"
import { CountedTokens, Pairs } from "./counted.ts"

/**
 * A number of free bytes above this is rounded down to a multiple of `RoomStep`, since few tokens
 * are longer.
 */
const ManyBytes = 16
const RoomStep = 8
const MaxRoom = 48
/** The bytes that may leave a state with a row, since a row does not list them. */
const allBytes = Array.from({ length: 256 }, (_, byte) => byte)

export class FreeMasks {
  private readonly children: Children
  private readonly width: number
  private readonly made = new Map<string, FreeTokens>()
  /** Bytes of what is cached, excluding rows that are made later. */
  bytes = 0

  constructor(children: Children, width: number) {
    this.children = children
    this.width = width
  }

  /** Evicts everything. */
  clear(): void {
    this.made.clear()
    this.bytes = 0
  }

  /**
   * Returns the tokens below `nodes` that consist of free bytes; adds the others that `state` reads
   * to `found`. `list` identifies `nodes`.
   */
  read(
    list: number,
    nodes: ArrayLike<number>,
    state: number,
    free: FreeBytes,
    found: Found,
  ): CountedTokens | null {
    if (free.room === 0) return null
    const room = free.room <= ManyBytes ? free.room : Math.min(free.room & -RoomStep, MaxRoom)
    const count = lexemes.edgeCount(state)
    const ways = count === 0 ? allBytes : Array.from({ length: count }, (_, i) => lexemes.edgeByte(state, i))
    const isWide = free.isWide ?? false
    const key = `${list} ${room} ${isWide} ${free.bytes} ${ways}`
    let tokens = this.made.get(key)
    if (tokens === undefined) {
      tokens = new FreeTokens(
        this.children.trie,
        this.width,
        nodes,
        { bytes: free.bytes, room, isWide },
        ways,
      )
      this.made.set(key, tokens)
      this.bytes += tokens.byteLength
    }
    tokens.leave(state, this.children, found)
    return tokens.inside
  }
}

class FreeTokens {
  /** Tokens that consist of free bytes alone. */
  readonly inside: CountedTokens
  /**
   * The union of the paths to the nodes at which other tokens leave the free bytes, in trie order.
   * Shape [n]: byte, and index of the parent or -1.
   */
  private readonly path: Int32Array
  private readonly parents: Int32Array
  /** Shape [n]: the node after the first byte that is not free, else 0. */
  private readonly leaving: Int32Array
  private readonly states: Int32Array

  /** `ways` are the bytes that may leave; at most `room` bytes are free. */
  constructor(
    trie: TokenTrie,
    width: number,
    roots: ArrayLike<number>,
    { bytes, room, isWide }: FreeBytes,
    ways: readonly number[],
  ) {
    const inside = new Pairs()
    const isFree = new Uint8Array(256)
    const isWay = new Uint8Array(256)
    for (const byte of bytes) isFree[byte] = 1
    for (const byte of ways) isWay[byte] = 1
    const path: number[] = []
    const parents: number[] = []
    const leaving: number[] = []
    /**
     * By depth: the byte, and its index in `path` if a node at which a token leaves lies below,
     * else -1.
     */
    const read = new Uint8Array(trie.maxDepth + 1)
    const places = new Int32Array(trie.maxDepth + 1)
    /** By depth: the lexeme state of plain text, which shows whether the bytes form characters. */
    const texts = new Int32Array(trie.maxDepth + 1)
    for (let i = 0; i < roots.length; i++) {
      const top = trie.depth(roots[i])
      texts[top] = rawLexeme(anyContent)
      const placeOf = (depth: number): number => {
        if (depth === top) return -1
        if (places[depth] < 0) {
          parents.push(placeOf(depth - 1))
          leaving.push(0)
          places[depth] = path.push(read[depth]) - 1
        }
        return places[depth]
      }
      trie.scan(roots[i], (node, byte, depth, token) => {
        read[depth] = byte
        places[depth] = -1
        texts[depth] = isWide ? lexemes.next(texts[depth - 1], byte) : Dead
        const isKnown = isFree[byte] === 1
        const isNext = isWide ? (isKnown || byte >= 0x80) && texts[depth] !== Dead : isKnown
        if (isNext && depth - top <= room) {
          if (token >= 0) inside.push(token, 0)
          return true
        }
        if (isWay[byte] === 1) leaving[placeOf(depth)] = node
        return false
      })
    }
    this.inside = new CountedTokens(inside, width, trie.duplicates)
    this.path = Int32Array.from(path)
    this.parents = Int32Array.from(parents)
    this.leaving = Int32Array.from(leaving)
    this.states = new Int32Array(path.length)
  }

  get byteLength(): number {
    return this.inside.bytes + 4 * this.path.byteLength
  }

  /** Adds what `state` reads of the tokens that leave the free bytes. */
  leave(state: number, children: Children, found: Found): void {
    const { path, parents, leaving, states } = this
    for (let i = 0; i < path.length; i++) {
      const before = parents[i] < 0 ? state : states[parents[i]]
      states[i] = before === 0 ? 0 : lexemes.next(before, path[i])
      if (leaving[i] !== 0) children.visit(leaving[i], states[i], found)
    }
  }
}
