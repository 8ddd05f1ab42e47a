/**
 * Stop strings: where an output ends because of its text. Stop patterns (`stopregex.ts`) are watched along with them.
 *
 * An Aho–Corasick automaton (Aho and Corasick 1975) over UTF-16 units finds the earliest end of any stop string, the
 * longest where several end together: so the result does not depend on how the text was cut into tokens. The automaton's
 * depth is the length of the longest suffix that could still become a stop string: exactly that much is held back, and
 * what was sent is never taken back.
 */

import { RequestError } from "../errors.ts"
import { HeldText } from "./heldtext.ts"
import type { RegexMatch } from "./stopregex.ts"

/** Stop strings of a request, and UTF-16 units of all of them. */
export const maxStops = 64
export const maxStopUnits = 4_096

/**
 * The automaton, built once a request and shared by its choices. Node 0 is the root; N is the count of nodes, at most one
 * more than the strings have units. Time and memory to build it are linear in the units.
 */
export class StopStrings {
  /** Length of the string that node n spells. Shape [N]. */
  readonly depth: Int32Array
  /** Index of the stop string that ends at node n, −1: none. Shape [N]. */
  readonly ends: Int32Array
  /** The longest proper suffix of node n that is a stop string, as a node; 0: none. Shape [N]. */
  readonly shorter: Int32Array
  readonly strings: readonly string[]
  /** Node and unit, see `edge` → the node that follows. */
  private readonly edges = new Map<number, number>()
  /** The longest proper suffix of node n that is a node. Shape [N]. */
  private readonly fallback: Int32Array
  /** Whether an edge leaves node n. Shape [N]. */
  private readonly isInner: Uint8Array
  private nodeCount = 1

  /** Throws RequestError on an empty or malformed string, and on more than 64 or more than 4,096 units in all. */
  constructor(strings: readonly string[]) {
    if (strings.length > maxStops) throw refused(`: ${strings.length} strings are more than ${maxStops}`)
    const unitCount = strings.reduce((sum, string) => sum + string.length, 0)
    if (unitCount > maxStopUnits) {
      throw refused(
        `: ${unitCount} UTF-16 units in all are more than ${maxStopUnits}: send fewer or shorter ones`,
      )
    }
    for (const [index, string] of strings.entries()) {
      if (string === "") throw refused(`[${index}] is empty: leave it out`)
      if (!string.isWellFormed()) throw refused(`[${index}] holds half a surrogate pair: leave it out`)
    }
    this.strings = strings
    this.depth = new Int32Array(unitCount + 1)
    this.ends = new Int32Array(unitCount + 1).fill(-1)
    this.shorter = new Int32Array(unitCount + 1)
    this.fallback = new Int32Array(unitCount + 1)
    this.isInner = new Uint8Array(unitCount + 1)
    // Unit by unit, all strings at once: a suffix is shorter than what it ends, so it is there before it is asked for.
    const nodes = new Int32Array(strings.length)
    let longer = [...strings.keys()]
    for (let depth = 0; longer.length > 0; depth++) {
      for (const index of longer) {
        const node = this.insert(nodes[index], strings[index].charCodeAt(depth))
        nodes[index] = node
        if (depth + 1 === strings[index].length && this.ends[node] < 0) this.ends[node] = index
      }
      longer = longer.filter((index) => depth + 1 < strings[index].length)
    }
  }

  /** The node after one more UTF-16 unit. */
  next(node: number, unit: number): number {
    for (let at = node; ; at = this.fallback[at]) {
      const to = this.edges.get(edge(at, unit))
      if (to !== undefined) return to
      if (at === 0) return 0
    }
  }

  /** The node to go on from when nothing that ends here counted: a string that no other one prolongs is over. */
  settle(node: number): number {
    return this.isInner[node] === 1 ? node : this.fallback[node]
  }

  /** The node behind `unit` after `node`, made where there is none. */
  private insert(node: number, unit: number): number {
    const known = this.edges.get(edge(node, unit))
    if (known !== undefined) return known
    const suffix = node === 0 ? 0 : this.next(this.fallback[node], unit)
    const to = this.nodeCount++
    this.edges.set(edge(node, unit), to)
    this.isInner[node] = 1
    this.depth[to] = this.depth[node] + 1
    this.fallback[to] = suffix
    this.shorter[to] = this.ends[suffix] >= 0 ? suffix : this.shorter[suffix]
    return to
  }
}

function edge(node: number, unit: number): number {
  return node * 65_536 + unit
}

function refused(what: string): RequestError {
  return new RequestError("invalid_value", `stop${what}`, "stop")
}

export interface StopStep {
  /** What may be sent now. */
  text: string
  /** The stop string, or the source of the pattern, that ended the output; or null. */
  stop: string | null
}

/** Patterns that are watched along with the strings: `RegexWatch`, or what it has found somewhere else. */
export interface PatternWatch {
  /** Matches that end at the last code point read, the longest first. */
  readonly found: readonly RegexMatch[]
  /** Units at the end of the text that a match could still take. */
  readonly depth: number
  push(point: string): void
}

/** The position of one output in the automaton, with the text that is held back. */
export class StopWatch {
  /** Stop strings and patterns that were found where the constraint was not complete, and so are ordinary text. */
  readonly ignored: string[] = []
  private readonly stops: StopStrings
  private readonly includesStop: boolean
  private readonly counts: ((textLength: number) => boolean) | undefined
  private readonly regexes: PatternWatch | undefined
  private node = 0
  private readonly held = new HeldText()
  /** Units that were read, and of them those that were sent. */
  private readCount = 0
  private sentCount = 0

  /**
   * `counts(length)` says whether the first `length` units of the output are a complete answer; without it, every
   * stop string counts.
   */
  constructor(
    stops: StopStrings,
    options: {
      includesStop?: boolean
      counts?: (textLength: number) => boolean
      regexes?: PatternWatch
    } = {},
  ) {
    this.stops = stops
    this.includesStop = options.includesStop ?? false
    this.counts = options.counts
    this.regexes = options.regexes
  }

  /** Reads more of the output, whole code points. After a stop nothing may be pushed. Linear in the text. */
  push(text: string): StopStep {
    this.held.push(text)
    for (let at = 0; at < text.length; at++) {
      this.node = this.stops.next(this.node, text.charCodeAt(at))
      this.readCount++
      const found = this.found(text, at)
      if (!found) {
        this.node = this.stops.settle(this.node)
        continue
      }
      const sent = this.release(found.cut - this.sentCount)
      this.held.take(this.held.length)
      return { text: sent, stop: found.stop }
    }
    const heldCount = Math.max(this.stops.depth[this.node], this.regexes?.depth ?? 0)
    return { text: this.release(Math.max(0, this.held.length - heldCount)), stop: null }
  }

  /** What was held back, once no more text comes. */
  flush(): string {
    this.node = 0
    return this.release(this.held.length)
  }

  /** The longest stop that ends with unit `at` of the text being read, and counts. */
  private found(text: string, at: number): { cut: number; stop: string } | undefined {
    const { ends, shorter, depth, strings } = this.stops
    const end = this.readCount
    const matches: { start: number; stop: string }[] = []
    for (let node = ends[this.node] >= 0 ? this.node : shorter[this.node]; node !== 0; node = shorter[node]) {
      matches.push({ start: end - depth[node], stop: strings[ends[node]] })
    }
    const unit = text.charCodeAt(at)
    const isHigh = unit >= 0xd800 && unit < 0xdc00
    if (this.regexes && !isHigh) {
      const isPair = unit >= 0xdc00 && unit < 0xe000
      this.regexes.push(text.slice(isPair ? Math.max(0, at - 1) : at, at + 1))
      for (const { source, start } of this.regexes.found) matches.push({ start, stop: source })
      matches.sort((a, b) => a.start - b.start)
    }
    for (const { start, stop } of matches) {
      const cut = this.includesStop ? end : start
      if (!this.counts || this.counts(cut)) return { cut, stop }
      if (!this.ignored.includes(stop)) this.ignored.push(stop)
    }
    return undefined
  }

  private release(count: number): string {
    this.sentCount += count
    return this.held.take(count)
  }
}
