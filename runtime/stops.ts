/**
 * Stop strings: where an output ends because of its text. Stop patterns (`stopregex.ts`) are watched along with them.
 *
 * An Aho–Corasick automaton (Aho and Corasick 1975) over UTF-16 units finds the earliest end of any stop string, the
 * longest where several end together: so the result does not depend on how the text was cut into tokens. The automaton's
 * depth is the length of the longest suffix that could still become a stop string: exactly that much is held back, and
 * what was sent is never taken back.
 */

import { RequestError } from "./errors.ts"
import type { RegexMatch } from "./stopregex.ts"

const maxStops = 64

/** The automaton, built once a request and shared by its choices. Node 0 is the root. */
export class StopStrings {
  /** Length of the string that node n spells. */
  readonly depth: number[] = [0]
  /** Index of the stop string that ends at node n, −1: none. */
  readonly ends: number[] = [-1]
  /** The longest proper suffix of node n that is a stop string, as a node; 0: none. */
  readonly shorter: number[] = [0]
  readonly strings: readonly string[]
  private readonly edges: Map<number, number>[] = [new Map()]
  /** The longest proper suffix of node n that is a node. */
  private readonly fallback: number[] = [0]

  /** Throws RequestError on an empty or malformed string, and on more than 64. */
  constructor(strings: readonly string[]) {
    if (strings.length > maxStops) {
      throw new RequestError(
        "invalid_value",
        `stop: ${strings.length} strings are more than ${maxStops}`,
        "stop",
      )
    }
    for (const [index, string] of strings.entries()) {
      if (string === "" || /\p{Surrogate}/u.test(string)) {
        const what = string === "" ? "is empty" : "holds half a surrogate pair"
        throw new RequestError("invalid_value", `stop[${index}] ${what}: leave it out`, "stop")
      }
    }
    this.strings = strings
    for (const [index, string] of strings.entries()) this.insert(index, string)
    this.link()
  }

  /** The node after one more UTF-16 unit. */
  next(node: number, unit: number): number {
    for (let at = node; ; at = this.fallback[at]) {
      const to = this.edges[at].get(unit)
      if (to !== undefined) return to
      if (at === 0) return 0
    }
  }

  /** The node to go on from when nothing that ends here counted: a string that no other one prolongs is over. */
  settle(node: number): number {
    return this.edges[node].size > 0 ? node : this.fallback[node]
  }

  private insert(index: number, string: string): void {
    let node = 0
    for (let at = 0; at < string.length; at++) {
      const unit = string.charCodeAt(at)
      let to = this.edges[node].get(unit)
      if (to === undefined) {
        to = this.depth.length
        this.edges[node].set(unit, to)
        this.edges.push(new Map())
        this.depth.push(at + 1)
        this.ends.push(-1)
        this.shorter.push(0)
        this.fallback.push(0)
      }
      node = to
    }
    if (this.ends[node] < 0) this.ends[node] = index
  }

  private link(): void {
    const queue = [...this.edges[0].values()]
    for (const node of queue) {
      for (const [unit, to] of this.edges[node]) {
        this.fallback[to] = this.next(this.fallback[node], unit)
        queue.push(to)
      }
      const suffix = this.fallback[node]
      this.shorter[node] = this.ends[suffix] >= 0 ? suffix : this.shorter[suffix]
    }
  }
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
  private held = ""
  /** Units that were sent. */
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

  /** Reads more of the output, whole code points. After a stop nothing may be pushed. */
  push(text: string): StopStep {
    const whole = this.held + text
    for (let at = this.held.length; at < whole.length; at++) {
      this.node = this.stops.next(this.node, whole.charCodeAt(at))
      const found = this.found(whole, at + 1)
      if (!found) {
        this.node = this.stops.settle(this.node)
        continue
      }
      this.held = ""
      this.sentCount += found.cut
      return { text: whole.slice(0, found.cut), stop: found.stop }
    }
    const held = Math.max(this.stops.depth[this.node], this.regexes?.depth ?? 0)
    return { text: this.release(whole, whole.length - held), stop: null }
  }

  /** What was held back, once no more text comes. */
  flush(): string {
    this.node = 0
    return this.release(this.held, this.held.length)
  }

  /** The longest stop that ends at unit `end` and counts. */
  private found(whole: string, end: number): { cut: number; stop: string } | undefined {
    const { ends, shorter, depth, strings } = this.stops
    const matches: { start: number; stop: string }[] = []
    for (let at = ends[this.node] >= 0 ? this.node : shorter[this.node]; at !== 0; at = shorter[at]) {
      matches.push({ start: end - depth[at], stop: strings[ends[at]] })
    }
    const unit = whole.charCodeAt(end - 1)
    const isHigh = unit >= 0xd800 && unit < 0xdc00
    if (this.regexes && !isHigh) {
      const isPair = unit >= 0xdc00 && unit < 0xe000
      this.regexes.push(whole.slice(end - (isPair ? 2 : 1), end))
      for (const { source, start } of this.regexes.found) {
        matches.push({ start: start - this.sentCount, stop: source })
      }
      matches.sort((a, b) => a.start - b.start)
    }
    for (const { start, stop } of matches) {
      const cut = this.includesStop ? end : start
      if (!this.counts || this.counts(this.sentCount + cut)) return { cut, stop }
      if (!this.ignored.includes(stop)) this.ignored.push(stop)
    }
    return undefined
  }

  private release(text: string, count: number): string {
    this.held = text.slice(count)
    this.sentCount += count
    return text.slice(0, count)
  }
}
