/**
 * Substrings of a text: consecutive chunks of it, or nothing. With it a model quotes a source word
 * by word.
 *
 * The chunks are the letters of a suffix automaton, which has at most two states for each chunk
 * (Blumer et al., The smallest automaton recognizing the subwords of a text, 1985). All of its
 * states accept. Bytes are read along the sorted chunks that a state offers: the prefix of a chunk
 * that has been read is a range of chunks and a depth. If one chunk is a prefix of another, both
 * readings stay open. So a state of the byte machine is a set of such ranges, usually of one.
 */
import { checkLimit, fixedBounds, GrammarError, type Limits, limitError } from "../errors.ts"
import { PairMap, TupleTable } from "../intern.ts"
import { type ByteMachine, type ExprId, exprs, type TextLengths } from "../lexeme/expr/expr.ts"
import { Unbounded } from "../lexeme/expr/nodes.ts"
import { owned } from "../tables.ts"
import { utf8 } from "../utf8.ts"
import { compareBytes } from "./texts.ts"

/**
 * The chunks of a text: its code points, or its runs of word characters, of white space, and of
 * other characters.
 */
export type SubstringUnit = "chars" | "words"

/** Returns the chunks of `text`, in order. Their concatenation is the text. */
export function chunksOf(text: string, unit: SubstringUnit): string[] {
  if (unit === "chars") return [...text]
  return text.match(/[\p{L}\p{M}\p{N}\p{Pc}]+|\s+|[^\p{L}\p{M}\p{N}\p{Pc}\s]+/gu) ?? []
}

/**
 * Returns the expression of the texts `chunks[i]` … `chunks[j]` in a row, and of the empty text.
 * Throws `limit`, and `syntax` if a chunk holds half a surrogate pair.
 */
export function substringExpr(chunks: readonly string[], path: string, limits: Limits): ExprId {
  checkLimit(limits, "chunks", chunks.length, path)
  const key = JSON.stringify(chunks)
  let expr = known.exprs.get(key)
  if (expr === undefined) {
    const half = chunks.find((chunk) => !chunk.isWellFormed())
    if (half !== undefined)
      throw new GrammarError("syntax", path, `the chunk ${JSON.stringify(half)} holds half a surrogate pair`)
    const machine = new SubstringMachine(chunks.filter((chunk) => chunk !== ""))
    expr = exprs.machine(machine)
    known.exprs.set(key, expr)
    known.bytes += key.length + machine.byteCount
  }
  return expr
}

/**
 * Memoized by the chunks. Machines are never freed, like all expressions, so equal ones are shared.
 * `bytes`: of the chunks and of the machines, without the states that are read later.
 */
const substrings = { exprs: new Map<string, ExprId>(), bytes: 0 }
const known = owned("substrings", substrings, { bytes: () => substrings.bytes, forget })

/** Letters lead from state to state; state 0 is the start. */
class SuffixAutomaton {
  private readonly targets = new PairMap()
  /** By state: the edge that was added last, -1 for none. By edge: the one added before it. */
  private readonly lastEdge: number[] = [-1]
  private readonly edgeBefore: number[] = []
  private readonly edgeLetter: number[] = []
  /**
   * By state: the length of the longest text that leads to it, and the state of that text's longest
   * suffix that leads elsewhere.
   */
  private readonly lengths: number[] = [0]
  private readonly links: number[] = [-1]
  private last = 0

  get count(): number {
    return this.lengths.length
  }

  append(letter: number): void {
    const state = this.add(this.lengths[this.last] + 1, 0)
    let at = this.last
    for (; at >= 0 && this.targets.get(at, letter) < 0; at = this.links[at]) this.setEdge(at, letter, state)
    if (at >= 0) {
      const next = this.targets.get(at, letter)
      if (this.lengths[next] === this.lengths[at] + 1) this.links[state] = next
      else {
        const clone = this.add(this.lengths[at] + 1, this.links[next])
        for (const each of this.letters(next)) this.setEdge(clone, each, this.targets.get(next, each))
        for (; at >= 0 && this.targets.get(at, letter) === next; at = this.links[at])
          this.targets.set(at, letter, clone)
        this.links[next] = clone
        this.links[state] = clone
      }
    }
    this.last = state
  }

  /** Returns the letters that can follow, in no order. */
  letters(state: number): number[] {
    const letters: number[] = []
    for (let edge = this.lastEdge[state]; edge >= 0; edge = this.edgeBefore[edge])
      letters.push(this.edgeLetter[edge])
    return letters
  }

  target(state: number, letter: number): number {
    return this.targets.get(state, letter)
  }

  /** Returns the states in an order in which every edge leads to an earlier one. */
  fromTheEnd(): number[] {
    return [...this.lengths.keys()].sort((a, b) => this.lengths[b] - this.lengths[a])
  }

  private add(length: number, link: number): number {
    this.lengths.push(length)
    this.links.push(link)
    return this.lastEdge.push(-1) - 1
  }

  private setEdge(state: number, letter: number, target: number): void {
    this.targets.set(state, letter, target)
    this.edgeBefore.push(this.lastEdge[state])
    this.lastEdge[state] = this.edgeLetter.push(letter) - 1
  }
}

/** About the bytes of a short array. */
const ChunkBytes = 120

class SubstringMachine implements ByteMachine {
  readonly start: number
  /**
   * The edges of automaton state s are `offsets[s] .. offsets[s + 1]`, sorted by the bytes of their
   * chunks.
   */
  private readonly offsets: Int32Array
  /** By edge: its chunk, and the automaton state that it leads to. */
  private readonly edgeChunk: Int32Array
  private readonly edgeTarget: Int32Array
  /** Distinct chunks, sorted by their bytes. */
  private readonly chunks: Uint8Array[]
  /** Whether every chunk is one character. */
  private readonly areCharacters: boolean
  /** By automaton state: the most characters that can follow. */
  private readonly longest: Int32Array
  /**
   * Tuples (first edge, end of the edges, bytes read), ascending, without duplicates. Depth 0 is
   * between chunks.
   */
  private readonly states = new TupleTable()

  constructor(chunks: readonly string[]) {
    const distinct = [...new Set(chunks)].map((text) => ({ text, bytes: utf8(text) }))
    distinct.sort((a, b) => compareBytes(a.bytes, b.bytes))
    const ranks = new Map(distinct.map(({ text }, rank) => [text, rank]))
    this.chunks = distinct.map(({ bytes }) => bytes)
    const automaton = new SuffixAutomaton()
    for (const chunk of chunks) automaton.append(ranks.get(chunk) as number)
    this.offsets = new Int32Array(automaton.count + 1)
    const edges: number[] = []
    for (let state = 0; state < automaton.count; state++) {
      for (const letter of automaton.letters(state).sort((a, b) => a - b)) edges.push(letter)
      this.offsets[state + 1] = edges.length
    }
    this.edgeChunk = Int32Array.from(edges)
    this.edgeTarget = new Int32Array(edges.length)
    for (let state = 0; state < automaton.count; state++) {
      for (let edge = this.offsets[state]; edge < this.offsets[state + 1]; edge++)
        this.edgeTarget[edge] = automaton.target(state, edges[edge])
    }
    this.longest = new Int32Array(automaton.count)
    for (const state of automaton.fromTheEnd())
      this.longest[state] = this.mostBehind(this.offsets[state], this.offsets[state + 1], 0)
    this.areCharacters = this.chunks.every((chunk) => characters(chunk, 0) === 1)
    this.start = this.states.intern([0, this.offsets[1], 0])
  }

  /** Bytes of the edges and chunks. */
  get byteCount(): number {
    const edges = 2 * this.offsets.byteLength + 2 * this.edgeChunk.byteLength
    return edges + this.chunks.length * ChunkBytes
  }

  isAccepting(state: number): boolean {
    for (let i = 2; i < this.states.length(state); i += 3) if (this.states.at(state, i) === 0) return true
    return false
  }

  row(state: number): readonly number[] {
    /** By byte: the ranges that it leads to. */
    const behind = new Map<number, number[][]>()
    for (let i = 0; i < this.states.length(state); i += 3) {
      const end = this.states.at(state, i + 1)
      const depth = this.states.at(state, i + 2)
      for (let first = this.states.at(state, i); first < end; ) {
        const byte = this.chunks[this.edgeChunk[first]][depth]
        const last = this.endOf(first, end, depth, byte)
        const ranges = behind.get(byte) ?? []
        behind.set(byte, ranges)
        this.addBehind(ranges, first, last, depth + 1)
        first = last
      }
    }
    const row: number[] = []
    for (const [byte, ranges] of [...behind].sort(([a], [b]) => a - b))
      row.push(byte | (byte << 8), this.stateOf(ranges))
    return row
  }

  lengths(state: number): TextLengths {
    let [low, high] = [Unbounded, 0]
    for (let i = 0; i < this.states.length(state); i += 3) {
      const [first, end, depth] = [0, 1, 2].map((k) => this.states.at(state, i + k))
      if (depth === 0) low = 0
      else
        for (let edge = first; edge < end; edge++)
          low = Math.min(low, characters(this.chunks[this.edgeChunk[edge]], depth))
      high = Math.max(high, this.mostBehind(first, end, depth))
    }
    // Chunks of several characters leave out some lengths between the two: `hasLength` tells which.
    return { low, high, from: this.areCharacters ? low : high, to: high }
  }

  /**
   * Walks along all ways of whole chunks of at most `max` characters, each pair of an automaton
   * state and a count once.
   */
  hasLength(state: number, min: number, max: number): boolean {
    /** Automaton state and the least count of characters that must still follow. */
    const open: [state: number, min: number][] = []
    const seen = new Set<number>()
    const add = (first: number, end: number, depth: number, least: number): void => {
      for (let edge = first; edge < end; edge++) {
        const left = least - characters(this.chunks[this.edgeChunk[edge]], depth)
        const target = this.edgeTarget[edge]
        const key = Math.max(left, 0) * this.longest.length + target
        if (left + (max - min) < 0 || this.longest[target] < left || seen.has(key)) continue
        seen.add(key)
        open.push([target, left])
      }
    }
    for (let i = 0; i < this.states.length(state); i += 3) {
      const [first, end, depth] = [0, 1, 2].map((k) => this.states.at(state, i + k))
      if (depth === 0 && min <= 0 && max >= 0) return true
      add(first, end, depth, min)
    }
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const [at, least] = next
      if (least <= 0) return true
      if (seen.size > fixedBounds.lengthStates) throw limitError(fixedBounds, "lengthStates", seen.size)
      add(this.offsets[at], this.offsets[at + 1], 0, least)
    }
    return false
  }

  /** Returns the most characters after `depth` bytes of the edges `[first, end)`. */
  private mostBehind(first: number, end: number, depth: number): number {
    let most = 0
    for (let edge = first; edge < end; edge++) {
      const own = characters(this.chunks[this.edgeChunk[edge]], depth)
      most = Math.max(most, own + this.longest[this.edgeTarget[edge]])
    }
    return most
  }

  /** Returns the first of the edges `[first, end)` whose chunk does not have `byte` at `depth`. */
  private endOf(first: number, end: number, depth: number, byte: number): number {
    let low = first + 1
    let high = end
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.chunks[this.edgeChunk[middle]][depth] === byte) low = middle + 1
      else high = middle
    }
    return low
  }

  /**
   * Adds the edges `[first, last)` at `depth`, and the edges that follow the one whose chunk ends
   * there.
   */
  private addBehind(ranges: number[][], first: number, last: number, depth: number): void {
    // A chunk that is a prefix of others sorts before them, and occurs once.
    const isEnd = this.chunks[this.edgeChunk[first]].length === depth
    if (isEnd) {
      const target = this.edgeTarget[first]
      ranges.push([this.offsets[target], this.offsets[target + 1], 0])
    }
    if (isEnd && first + 1 === last) return
    ranges.push([isEnd ? first + 1 : first, last, depth])
  }

  private stateOf(ranges: number[][]): number {
    ranges.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2])
    const tuple: number[] = []
    for (const [i, range] of ranges.entries()) {
      const before = ranges[i - 1]
      if (before === undefined || range.some((value, k) => value !== before[k])) tuple.push(...range)
    }
    if (tuple.length > 3 * fixedBounds.substringReadings) {
      throw limitError(fixedBounds, "substringReadings", tuple.length / 3)
    }
    return this.states.intern(tuple)
  }
}

/** Returns the number of characters that begin in `bytes` at or after `start`. */
function characters(bytes: Uint8Array, start: number): number {
  let count = 0
  for (let i = start; i < bytes.length; i++) if ((bytes[i] & 0xc0) !== 0x80) count++
  return count
}

function forget(): void {
  substrings.exprs = new Map()
  substrings.bytes = 0
}
