/**
 * Pieces of a text: a join of consecutive chunks, or nothing. A model quotes a source with it, word by word.
 *
 * The chunks are the letters of a suffix automaton, which has at most two states a chunk (Blumer et al., The smallest automaton
 * recognizing the subwords of a text, 1985); each of its states accepts. Bytes are read along the chunks that a state offers,
 * sorted: what has been read of one is a range of them and a depth. Where one chunk begins another both readings stay open, so
 * a state of the byte machine is a set of such ranges, mostly of one.
 */
import { checkLimit, fixedBounds, GrammarError, type Limits, limitError } from "../errors.ts"
import { PairMap, TupleTable } from "../intern.ts"
import { type ByteMachine, type ExprId, exprs, type TextLengths } from "../lexeme/expr/expr.ts"
import { Unbounded } from "../lexeme/expr/nodes.ts"
import { utf8 } from "../utf8.ts"
import { compareBytes } from "./texts.ts"

/** How a text is cut into chunks: code points, or runs of word characters, of white space, of others. */
export type SubstringUnit = "chars" | "words"

/** The chunks of `text`, in order. Their join is the text. */
export function chunksOf(text: string, unit: SubstringUnit): string[] {
  if (unit === "chars") return [...text]
  return text.match(/[\p{L}\p{M}\p{N}\p{Pc}]+|\s+|[^\p{L}\p{M}\p{N}\p{Pc}\s]+/gu) ?? []
}

/** Texts that are `chunks[i]` to `chunks[j]` in a row, and the empty text. Throws `limit`, and `syntax` for half a character. */
export function substringExpr(chunks: readonly string[], path: string, limits: Limits): ExprId {
  checkLimit(limits, "chunks", chunks.length, path)
  const key = JSON.stringify(chunks)
  let expr = known.get(key)
  if (expr === undefined) {
    const half = chunks.find((chunk) => !chunk.isWellFormed())
    if (half !== undefined)
      throw new GrammarError("syntax", path, `the chunk ${JSON.stringify(half)} holds half a surrogate pair`)
    expr = exprs.machine(new SubstringMachine(chunks.filter((chunk) => chunk !== "")))
    known.set(key, expr)
  }
  return expr
}

/** By the chunks: machines stay for good, as all expressions do, so equal ones are one. */
const known = new Map<string, ExprId>()

/** Letters lead from state to state; state 0 is the beginning. */
class SuffixAutomaton {
  private readonly targets = new PairMap()
  /** Last letter that was added to a state, -1 for none, and the one before each. */
  private readonly lastEdge: number[] = [-1]
  private readonly edgeBefore: number[] = []
  private readonly edgeLetter: number[] = []
  /** Length of the longest text that leads to a state, and the state of its longest suffix that leads elsewhere. */
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

  /** Letters with which texts go on, in no order. */
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
  /** The edges of automaton state s are `offsets[s] .. offsets[s + 1]`, by the bytes of their chunks. */
  private readonly offsets: Int32Array
  /** Chunk of each edge, and the automaton state behind it. */
  private readonly edgeChunk: Int32Array
  private readonly edgeTarget: Int32Array
  /** Distinct chunks in the order of their bytes. */
  private readonly chunks: Uint8Array[]
  /** (first edge, edge behind the last, bytes read), ascending, none twice. Depth 0 stands between chunks. */
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
    /** By byte: the ranges behind it. */
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

  /** The first of the edges `[first, end)` whose chunk goes on otherwise than with `byte` at `depth`. */
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

  /** Adds the edges `[first, last)` at `depth`, and what follows the one among them whose chunk ends there. */
  private addBehind(ranges: number[][], first: number, last: number, depth: number): void {
    // A chunk that begins others sorts before them, and is there once.
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

/** Characters that begin in `bytes` from `start` on. */
function characters(bytes: Uint8Array, start: number): number {
  let count = 0
  for (let i = start; i < bytes.length; i++) if ((bytes[i] & 0xc0) !== 0x80) count++
  return count
}
