/**
 * Regular expressions that end an output: at the first place where the text written so far ends
 * with a match.
 *
 * Each position begins a thread, a state of the pattern's automaton and the place where it began;
 * of threads in one state the earliest is kept, so there are never more than states. The first end
 * wins, and at that end the longest match. The held text begins where the earliest live thread
 * does. Text is read by code points, so the result does not depend on how it was cut into tokens.
 * To `$`, `\b` and lookaheads the text ends where it has been written to.
 */

import { compile, type Grammar, GrammarError } from "../../grammar/index.ts"
import { groupOf } from "../../grammar/regex/read.ts"
import { DeadState, States } from "../../grammar/state.ts"
import { RequestError } from "../errors.ts"

/**
 * Patterns of a request, UTF-16 units of all of them, and the time that they may take to compile
 * together.
 */
export const maxPatterns = 8
export const maxPatternUnits = 1_024
const maxCompileMs = 1_000
/** Longest match that is found, in UTF-16 units. */
const maxMatch = 256

interface Pattern {
  readonly source: string
  /**
   * Of a match at the start of the text; of one behind a code point, which is read first: it
   * decides `^` and `\b`.
   */
  readonly first: States
  readonly later: States
}

/** The automata, shared by the choices of a request. */
export class StopRegexes {
  readonly patterns: readonly Pattern[]

  /**
   * Throws RequestError on more than 8 patterns or more than 1,024 units in all, on one that cannot
   * be exact, and on one that matches the empty text.
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
  // Inside a class `(?<=` is four characters.
  if (/\(\?<[=!]/.test(source.replace(/\\.|\[(?:\\.|[^\]\\])*\]/gs, ""))) {
    throw invalid(`${name}: lookbehind is not supported: write what comes before into the pattern`)
  }
  let grammars: Grammar[]
  try {
    // Inside a group the malformed pattern `a)|(b` would become two patterns.
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
    throw invalid(`${name} matches the empty text, which is everywhere: ask for at least one character`)
  }
  return { source, first, later }
}

function invalid(message: string): RequestError {
  return new RequestError("invalid_value", message, "stop_regex")
}

const encoder = new TextEncoder()

export interface RegexMatch {
  readonly source: string
  /** Unit of the whole text at which the match begins. */
  readonly start: number
}

/** The place of one output in the automata. */
export class RegexWatch {
  /** Matches that end at the last code point read, the longest first. */
  found: RegexMatch[] = []
  private readonly patterns: readonly Pattern[]
  /**
   * By pattern: state → where its earliest thread began. Those of `first` and of `later` are kept
   * apart.
   */
  private readonly firsts: Map<number, number>[]
  private readonly laters: Map<number, number>[]
  /** Units read. */
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

  /** Units at the end of the text that a match could still take. */
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
