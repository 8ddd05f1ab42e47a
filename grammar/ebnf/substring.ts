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
    expr = exprs.machine(new SubstringMachine(chunks.filter((chunk) => chunk !== "")))
    known.exprs.set(key, expr)
  }
  return expr
}

/**
 * Memoized by the chunks. Machines are never freed, like all expressions, so equal ones are shared.
 */
const known = owned("substrings", { exprs: new Map<string, ExprId>() }, { entryBytes: 1_000 })

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
    this.start = this.states.intern([0, this.offsets[1], 0])
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
    let low = Unbounded
    for (let i = 0; i < this.states.length(state); i += 3) {
      const [first, end, depth] = [0, 1, 2].map((k) => this.states.at(state, i + k))
      if (depth === 0 || end - first > 1) return { low: 0, high: Unbounded, from: 1, to: 0 }
      low = Math.min(low, characters(this.chunks[this.edgeChunk[first]], depth))
    }
    return { low, high: Unbounded, from: 1, to: 0 }
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
