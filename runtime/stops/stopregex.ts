/**
 * Regular expressions that end an output: at the first position where the text written so far ends
 * with a match.
 *
 * Each position begins a thread, which is a state of the pattern's automaton and the start
 * position. Of several threads in one state only the earliest is kept, so there are never more
 * threads than states. The first end wins, and among the matches that end there the longest. The
 * held text begins where the earliest live thread began. Text is read by code points, so the result
 * does not depend on how it was cut into tokens. For `$`, `\b` and lookaheads, the text ends after
 * the last code point written.
 */

import { compile, type Grammar, GrammarError } from "../../grammar/index.ts"
import { groupOf } from "../../grammar/regex/read.ts"
import { DeadState, States } from "../../grammar/state.ts"
import { RequestError } from "../errors.ts"

/**
 * Maximum number of patterns of a request, of UTF-16 units of all of them, and of milliseconds to
 * compile them together.
 */
export const maxPatterns = 8
export const maxPatternUnits = 1_024
const maxCompileMs = 1_000
/** Maximum length of a match, in UTF-16 units. */
const maxMatch = 256

interface Pattern {
  readonly source: string
  /**
   * The start state for a match at the start of the text; and for a match after a code point, which
   * is read first, since it decides `^` and `\b`.
   */
  readonly first: States
  readonly later: States
}

/** The automata of a request, shared by its choices. */
export class StopRegexes {
  readonly patterns: readonly Pattern[]

  /**
   * Throws RequestError for more than 8 patterns or more than 1,024 units in all, for a pattern
   * that cannot be matched exactly, and for one that matches the empty text.
   */
  constructor(patterns: readonly (string | RegExp)[]) {
    if (patterns.length > maxPatterns) {
      throw invalid(`stop_regex: ${patterns.length} patterns are more than ${maxPatterns}`)
    }
    const unitCount = patterns.reduce((sum, pattern) => sum + sourceOf(pattern).length, 0)
    if (unitCount > maxPatternUnits) {
      throw invalid(
        `stop_regex: ${unitCount} UTF-16 units in all are more than ${maxPatternUnits}: send shorter ones`,
      )
    }
    const deadline = performance.now() + maxCompileMs
    this.patterns = patterns.map((pattern, index) =>
      compilePattern(pattern, `stop_regex[${index}]`, deadline),
    )
  }
}

function sourceOf(pattern: string | RegExp): string {
  return typeof pattern === "string" ? pattern : pattern.source
}

function compilePattern(pattern: string | RegExp, name: string, deadline: number): Pattern {
  const source = sourceOf(pattern)
  const flags = typeof pattern === "string" ? "" : pattern.flags
  if (source === "") throw invalid(`${name} is empty: leave it out`)
  // The pattern removes escapes and classes first: inside a class, `(?<=` is four ordinary
  // characters.
  if (/\(\?<[=!]/.test(source.replace(/\\.|\[(?:\\.|[^\]\\])*\]/gs, ""))) {
    throw invalid(`${name}: lookbehind is not supported: write what comes before into the pattern`)
  }
  let grammars: Grammar[]
  try {
    // The group makes a malformed pattern fail: inside a group `a)|(b` would be two valid patterns.
    const group = groupOf(source, flags, "")
    grammars = [group, `[^]${group}`].map((each) => {
      const limits = { compileMs: Math.max(1, deadline - performance.now()) }
      return compile({ kind: "regex", pattern: each, flags }, { unsatisfiable: "empty", limits }).grammar
    })
  } catch (error) {
    if (error instanceof GrammarError) throw invalid(`${name}: ${error.message}`)
    throw error
  }
  if (grammars.every((grammar) => grammar.isEmpty)) throw invalid(`${name} matches no text at all`)
  const [first, later] = grammars.map((grammar) => new States(grammar))
  const behind = ["a", " ", "\n"].map((text) => later.advance(later.start, encoder.encode(text)))
  if (first.isAccepting(first.start) || behind.some((state) => later.isAccepting(state))) {
    throw invalid(`${name} matches the empty text, which occurs everywhere: require at least one character`)
  }
  return { source, first, later }
}

function invalid(message: string): RequestError {
  return new RequestError("invalid_value", message, "stop_regex")
}

const encoder = new TextEncoder()

export interface RegexMatch {
  readonly source: string
  /** Offset in the whole text of the unit at which the match begins. */
  readonly start: number
}

/** The states of the automata for one output. */
export class RegexWatch {
  /** Matches that end at the last code point read, the longest first. */
  found: RegexMatch[] = []
  private readonly patterns: readonly Pattern[]
  /**
   * For each pattern a map from each state to the start of its earliest thread. Threads of `first`
   * and of `later` are kept separately.
   */
  private readonly firsts: Map<number, number>[]
  private readonly laters: Map<number, number>[]
  /** Number of units read. */
  private position = 0
  private before: Uint8Array | undefined

  constructor({ patterns }: StopRegexes) {
    this.patterns = patterns
    this.firsts = patterns.map(() => new Map())
    this.laters = patterns.map(() => new Map())
  }

  /** Reads one code point. */
  push(point: string): void {
    const bytes = encoder.encode(point)
    const end = this.position + point.length
    this.found = []
    for (const [index, { source, first, later }] of this.patterns.entries()) {
      if (this.before === undefined) this.firsts[index].set(first.start, 0)
      else begin(this.laters[index], later.advance(later.start, this.before), this.position)
      let start = Number.POSITIVE_INFINITY
      for (const [states, threads] of [
        [first, this.firsts],
        [later, this.laters],
      ] as const) {
        const next = new Map<number, number>()
        for (const [state, from] of threads[index]) {
          if (end - from <= maxMatch) begin(next, states.advance(state, bytes), from)
        }
        threads[index] = next
        for (const [state, from] of next) if (from < start && states.isAccepting(state)) start = from
      }
      if (start < end) this.found.push({ source, start })
    }
    this.found.sort((a, b) => a.start - b.start)
    this.before = bytes
    this.position = end
  }

  /** Number of units at the end of the text that a match could still include. */
  get depth(): number {
    let start = this.position
    for (const threads of [...this.firsts, ...this.laters]) {
      for (const from of threads.values()) start = Math.min(start, from)
    }
    return this.position - start
  }
}

function begin(threads: Map<number, number>, state: number, from: number): void {
  if (state === DeadState) return
  const known = threads.get(state)
  if (known === undefined || from < known) threads.set(state, from)
}
