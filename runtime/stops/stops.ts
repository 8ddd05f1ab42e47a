/**
 * Stop strings, which end an output because of its text. Stop patterns (`stopregex.ts`) are
 * searched at the same time.
 *
 * An automaton over UTF-16 units (`automaton.ts`) finds the earliest end of any stop string, and
 * the longest string if several end together, so the result does not depend on how the text was cut
 * into tokens. The automaton's depth is the length of the longest suffix that could still become a
 * stop string. Exactly that many units are held back, and sent text is never retracted.
 */

import { RequestError } from "../errors.ts"
import { StringAutomaton } from "./automaton.ts"
import { HeldText } from "./heldtext.ts"
import type { RegexMatch } from "./stopregex.ts"

/** Maximum number of stop strings of a request, and of UTF-16 units of all of them. */
export const maxStops = 64
export const maxStopUnits = 4_096

/** The stop strings of a request, as an automaton that its choices share. */
export class StopStrings extends StringAutomaton {
  /**
   * Throws RequestError for an empty or malformed string, and for more than 64 strings or more than
   * 4,096 units in all.
   */
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
    super(strings)
  }
}

function refused(what: string): RequestError {
  return new RequestError("invalid_value", `stop${what}`, "stop")
}

export interface StopStep {
  /** Text that may be sent now. */
  text: string
  /** The stop string that ended the output, or the source of the pattern; otherwise null. */
  stop: string | null
}

/**
 * Patterns that are searched together with the strings: a `RegexWatch`, or its results from another
 * thread.
 */
export interface PatternWatch {
  /** Matches that end at the last code point read, the longest first. */
  readonly found: readonly RegexMatch[]
  /** Number of units at the end of the text that a match could still include. */
  readonly depth: number
  push(point: string): void
}

/** The state of one output in the automaton, with the text that is held back. */
export class StopWatch {
  private readonly stops: StopStrings
  private readonly includesStop: boolean
  private readonly counts: ((textLength: number, stop: string) => boolean) | undefined
  private readonly regexes: PatternWatch | undefined
  private node = 0
  private readonly held = new HeldText()
  /** Number of units that were read, and number of those that were sent. */
  private readCount = 0
  private sentCount = 0

  /**
   * `counts(length, stop)` returns whether `stop` may end the output after its first `length`
   * units, and is called for every stop that was found; without it, every stop string counts.
   */
  constructor(
    stops: StopStrings,
    options: {
      includesStop?: boolean
      counts?: (textLength: number, stop: string) => boolean
      regexes?: PatternWatch
    } = {},
  ) {
    this.stops = stops
    this.includesStop = options.includesStop ?? false
    this.counts = options.counts
    this.regexes = options.regexes
  }

  /**
   * Reads more of the output, in whole code points. Must not be called after a stop. Linear in the
   * text.
   */
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

  /** Returns the held text at the end of the output. */
  flush(): string {
    this.node = 0
    return this.release(this.held.length)
  }

  /** Returns the longest stop that ends with unit `at` of the text being read and counts. */
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
      if (!this.counts || this.counts(cut, stop)) return { cut, stop }
    }
    return undefined
  }

  private release(count: number): string {
    this.sentCount += count
    return this.held.take(count)
  }
}
