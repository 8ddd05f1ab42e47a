/**
 * Opens the walks of a request: compiles the constraint, heals the prompt, checks the budget,
 * compiles the patterns. The cost of all this depends on the grammar, and every refusal happens
 * here.
 */
import type { CompileOptions, Report } from "../../grammar/index.ts"
import {
  type Encode,
  heal,
  Matcher,
  type TokenMachine,
  tailBytes,
  type Vocabulary,
} from "../../mask/index.ts"
import { Closing, type ContextBound } from "../engine/closing.ts"
import type { ConstraintInput } from "../schema.ts"
import { StopRegexes } from "../stops/stopregex.ts"
import { BannedWords } from "./bannedwords.ts"
import { Walk, type WalkOptions } from "./walk.ts"

/**
 * The options of a request that concern its walks. They are plain data, unless the constraint is
 * already compiled.
 */
export interface WalkRequest {
  readonly constraint: { readonly input: ConstraintInput; readonly policies: CompileOptions } | null
  /** The last tokens of the prompt; their number is `promptTailLength`. */
  readonly promptTail: readonly number[]
  /**
   * Maximum tokens at the prompt's end that are written again because a longer token could cover
   * them.
   */
  readonly maxHealed: number
  /** Whether forced text is written in the tokenizer's own tokens. */
  readonly forces: boolean
  /** Whether the text must be completed within the budget. */
  readonly closes: boolean
  readonly maxTokens: number
  readonly contextLength: number
  /** Number of tokens that the context has left after the prompt. */
  readonly room: number
  readonly takesForced: boolean
  readonly allowed: Uint32Array | null
  readonly stopTokenIds: readonly number[]
  /** Whether stop strings are searched in the text. */
  readonly hasStops: boolean
  readonly stopRegexes: readonly (string | RegExp)[]
  /** Words that the constrained text may not contain. */
  readonly badWords: readonly string[]
  /** Tokens of the text that are already written: the walks accept them first. */
  readonly written?: readonly number[]
  /** Whether the report is requested. Then it is made where the constraint is compiled. */
  readonly wantsReport: boolean
}

/** The result of opening the request. */
export interface Opening {
  readonly report: Report | null
  /** Duration of the compilation in milliseconds; 0 if the constraint was cached. */
  readonly compileMs: number
  readonly isCached: boolean
  /** Number of prompt tokens that are written again. */
  readonly drop: number
  /** The bytes of those tokens. */
  readonly prefix: Uint8Array
  /** Whether the empty text is complete, and whether it is the only text. */
  readonly isAccepting: boolean
  readonly isExhausted: boolean
  /** Banned words that every known text of the constraint contains. */
  readonly lostWords: readonly string[]
}

export interface Bound {
  readonly machine: TokenMachine
  readonly report: Report | null
  readonly compileMs: number
  readonly isCached: boolean
}

function isJson({ constraint }: WalkRequest): boolean {
  return constraint !== null && "kind" in constraint.input && constraint.input.kind === "json"
}

/** Returns the number of tokens of the prompt's end that a request sends along. */
export function promptTailLength(vocabulary: Vocabulary): number {
  return tailBytes + vocabulary.maxTokenBytes
}

/**
 * Opens `count` walks at the start. `bound`: the compiled constraint; null if any text is allowed.
 * Throws RequestError if no answer fits into the budget or a pattern is refused, and GrammarError.
 */
export function openWalks(
  request: WalkRequest,
  count: number,
  bound: Bound | null,
  { vocabulary, encode }: { vocabulary: Vocabulary; encode: Encode },
): { opening: Opening; walks: Walk[] } {
  const { promptTail, maxHealed, maxTokens, room } = request
  const healed = bound && maxHealed > 0 ? heal(bound.machine, promptTail.slice(-maxHealed)) : null
  const machine = healed?.machine ?? bound?.machine
  const matcher = machine ? new Matcher(machine) : null
  const drop = healed?.drop ?? 0
  const prefix = healed?.prefix ?? new Uint8Array(0)
  const left = Math.min(maxTokens, room + drop)
  if (matcher && request.closes) new Closing(matcher).check(left, contextBound(request))
  const words = matcher && keepWords(matcher, request, left, prefix.length)
  const shared: Omit<WalkOptions, "matcher" | "closing"> = {
    vocabulary,
    promptTail: promptTail.slice(0, promptTail.length - drop),
    prefixLength: prefix.length,
    encode: request.forces ? encode : null,
    left,
    takesForced: request.takesForced,
    allowed: request.allowed,
    stopTokenIds: new Set(request.stopTokenIds),
    marksEnds: request.hasStops || request.stopRegexes.length > 0,
    isJson: isJson(request),
    stopRegexes: request.stopRegexes.length > 0 ? new StopRegexes(request.stopRegexes) : null,
  }
  const walks = Array.from({ length: count }, () => {
    const own = matcher?.fork() ?? null
    const bans = words?.bans ?? null
    const hasRule = request.closes || bans !== null
    const rules = { isBudgeted: request.closes, bans, node: -prefix.length }
    return new Walk({ ...shared, matcher: own, closing: own && hasRule ? new Closing(own, rules) : null })
  })
  const scratch = new Uint32Array(vocabulary.words)
  for (const walk of walks) for (const token of request.written ?? []) walk.replay(token, scratch)
  const { isAccepting, isExhausted } = walks[0]
  const { report = null, compileMs = 0, isCached = false } = bound ?? {}
  const lostWords = words?.lost ?? []
  return {
    opening: { report, compileMs, isCached, drop, prefix, isAccepting, isExhausted, lostWords },
    walks,
  }
}

/**
 * Returns the context if it leaves the answer no more tokens than the budget does; null if the
 * budget is the limit.
 */
function contextBound({ maxTokens, room, contextLength }: WalkRequest): ContextBound | null {
  return maxTokens < room ? null : { contextLength, promptTokens: contextLength - room }
}

/**
 * Splits the banned words of a request, in their order, into those that can be avoided together and
 * those that cannot.
 */
function keepWords(
  matcher: Matcher,
  { badWords, closes }: WalkRequest,
  left: number,
  prefixLength: number,
): { bans: BannedWords | null; lost: readonly string[] } {
  const bansOf = (words: readonly string[]): BannedWords | null => {
    const bans = new BannedWords(matcher.fsm, words)
    const { need } = new Closing(matcher, { isBudgeted: closes, bans, node: -prefixLength })
    return need <= (closes ? left : Number.MAX_VALUE) ? bans : null
  }
  if (badWords.length === 0) return { bans: null, lost: [] }
  let bans = bansOf(badWords)
  if (bans) return { bans, lost: [] }
  const kept: string[] = []
  for (const word of badWords) {
    const more = bansOf([...kept, word])
    if (more === null) continue
    bans = more
    kept.push(word)
  }
  return { bans, lost: badWords.filter((word) => !kept.includes(word)) }
}
