/**
 * One output in the making: its tokens, its place in the grammar, its text so far, and the rules by which it ends.
 *
 * `accept` is the only way forward and holds the order of the stops (spec: end of sequence, stop ids, grammar finished,
 * stop strings, budget, context). A stop inside a constraint counts only where the text before it is complete: soundness
 * goes before truncation.
 */

import { GrammarError } from "../grammar/index.ts"
import type { Matcher, RowKind } from "../mask/index.ts"
import {
  canonicalTokens,
  type Encode,
  Matcher as FreshMatcher,
  isAllowed,
  tailBytes,
  type Vocabulary,
} from "../mask/index.ts"
import type { SamplingParams, TokenLogprobs } from "../sampler/index.ts"
import { TokenCounts } from "../sampler/index.ts"
import { Closing } from "./closing.ts"
import { Detokenizer } from "./detokenizer.ts"
import { type Draft, noDraft, type Speculation } from "./draft.ts"
import { Repetition } from "./repetition.ts"
import type { StopRegexes } from "./stopregex.ts"
import { type StopStrings, StopWatch } from "./stops.ts"
import { StopWhen, type StopWhenKind } from "./stopwhen.ts"
import { WordBuffer } from "./wordbuffer.ts"

export type FinishReason = "stop" | "length" | "abort" | "error"

export type GenerationEvent =
  | { type: "text"; choice: number; text: string; tokens: number[]; logprobs?: TokenLogprobs[] }
  | {
      type: "finish"
      choice: number
      finishReason: FinishReason
      /**
       * null: end of sequence, or the budget; a stop string, pattern or id; `complete`: the grammar ended; `closed`: it
       * ended with the budget; `json`, `xml`, `tool_call`: what was waited for is whole; `repetition`.
       */
      stopReason: string | number | null
      message?: string
    }

type Ending = [finishReason: FinishReason, stopReason: string | number | null, message?: string]

/** What all choices of a request share. */
export interface SequenceOptions {
  readonly vocabulary: Vocabulary
  readonly promptIds: readonly number[]
  /** The end of the prompt, where it is to be written again: bytes ahead of the answer. */
  readonly prefix?: Uint8Array | undefined
  readonly params: SamplingParams
  readonly matcher: Matcher | null
  /** The tokenizer, for forced tokens; null: none are forced but those that the mask leaves alone. */
  readonly encode?: Encode | null
  /** With a matcher: complete the answer when the budget ends. */
  readonly closes: boolean
  readonly stops: StopStrings
  readonly stopRegexes?: StopRegexes
  readonly stopWhen?: StopWhenKind | null
  readonly repetition?: { min: number; max: number; count: number } | null
  /** Events end at words. */
  readonly byWords?: boolean
  readonly stopTokenIds: ReadonlySet<number>
  readonly includesStop: boolean
  readonly ignoresEnd: boolean
  readonly minTokens: number
  readonly maxTokens: number
  readonly contextLength: number
  readonly choice: number
  /** How drafts are made and judged; null: there are none. */
  readonly speculation?: Speculation | null
  /** What the output may repeat, for drafts. */
  readonly predictionIds?: readonly number[]
  readonly emit: (event: GenerationEvent) => void
}

export class Sequence {
  readonly options: SequenceOptions
  /** Prompt, then output. */
  readonly tokens: number[]
  readonly counts: TokenCounts
  readonly logprobs: TokenLogprobs[] = []
  /** Keeps the answer completable within the budget; null when it may be cut. */
  readonly closing: Closing | null
  /** Events wait for `release`: a forced run is one of them. */
  isHeld = false
  /** Row in which the mask of the next token is written; given with the slot. Shape [W]. */
  mask: Uint32Array | undefined
  /** `mask` says what may follow the last token. */
  isMaskFilled = false
  /** Equal ids mean equal masks, over all sequences of an engine; undefined for a mask of its own. */
  maskId: number | undefined
  slot = -1
  /** How many of `tokens` the slot holds. */
  cachedCount = 0
  /** How many of them were computed as plain decoding computes them, to the bit. */
  plainCount = 0
  /** The tokens behind `plainCount` are computed again, as plain decoding does. */
  replays = false
  /** Goes into the next step behind the tokens. */
  draft: Draft = noDraft
  /** Proposed tokens that were verified, and those that stayed. Forced ones do not count. */
  draftedCount = 0
  acceptedCount = 0
  /** Prompt tokens that another request had computed. */
  reusedCount = 0
  forcedCount = 0
  text = ""
  finishReason: FinishReason | undefined
  stopReason: string | number | null = null
  message: string | undefined
  /** Parameters whose bans were lifted, because nothing else would have been left. */
  readonly lifted = new Set<string>()
  /** Microseconds of every mask filled, and of every token that the matcher accepted. */
  readonly maskUs: number[] = []
  readonly acceptUs: number[] = []
  private readonly detokenizer: Detokenizer
  private readonly watch: StopWatch
  private readonly stopWhen: StopWhen | null
  private readonly repetition: Repetition | null
  private readonly words: WordBuffer | null
  /** Forced tokens that come next, see `mask/forced.ts`. */
  private ahead: number[] = []
  /** Tokens whose text has not been sent. */
  private unsent: number[] = []
  private unsentLogprobs: TokenLogprobs[] = []
  /** Text that waits for `release`. */
  private waiting = ""
  /** All text, the held part too: what stop strings are judged by. */
  private written = ""

  constructor(options: SequenceOptions) {
    this.options = options
    this.tokens = [...options.promptIds]
    this.counts = new TokenCounts(options.promptIds)
    this.closing = options.closes && options.matcher ? new Closing(options.matcher) : null
    this.detokenizer = new Detokenizer(options.vocabulary, { skip: options.prefix?.length ?? 0 })
    this.watch = new StopWatch(options.stops, {
      includesStop: options.includesStop,
      counts: (length) => this.outputCount >= options.minTokens && this.isComplete(length),
      ...(options.stopRegexes && { regexes: options.stopRegexes }),
    })
    this.stopWhen = options.stopWhen ? new StopWhen(options.stopWhen) : null
    this.repetition = options.repetition ? new Repetition(options.repetition) : null
    this.words = options.byWords ? new WordBuffer() : null
  }

  get promptCount(): number {
    return this.options.promptIds.length
  }

  get outputCount(): number {
    return this.tokens.length - this.options.promptIds.length
  }

  /** Tokens that may still be written. */
  get left(): number {
    const { maxTokens, contextLength } = this.options
    return Math.min(maxTokens - this.outputCount, contextLength - this.tokens.length)
  }

  get isFinished(): boolean {
    return this.finishReason !== undefined
  }

  /** Stop strings and patterns that appeared where the constraint was not complete. */
  get ignoredStops(): readonly string[] {
    return this.watch.ignored
  }

  /**
   * Writes the tokens that may come next into `mask`. `single`: one bit, which needs no sampling; so is a token that is
   * forced, though others could spell its bytes.
   */
  fillMask(): RowKind {
    const kind = this.ahead.length > 0 ? "single" : this.fillWhole()
    if (kind === "masked") this.ahead = this.forced()
    if (this.ahead.length === 0) return kind
    const row = this.mask!
    row.fill(0)
    row[this.ahead[0] >>> 5] = 1 << (this.ahead[0] & 31)
    this.isMaskFilled = true
    this.maskId = undefined
    return "single"
  }

  /** The tokens that are forced behind `drafted`, where `matcher` stands. */
  forcedAt({ fsm, state }: Matcher, drafted: readonly number[]): readonly number[] {
    const { encode } = this.options
    if (!encode) return []
    // A token has a byte at least; the whole text is not copied for each token of a draft.
    const before = drafted.length === 0 ? this.tokens : [...this.tokens.slice(-tailBytes), ...drafted]
    return canonicalTokens(fsm, state, before, encode)
  }

  /** The tokens that are forced here and fit into the budget. */
  private forced(): number[] {
    const { matcher } = this.options
    const tokens = matcher ? this.forcedAt(matcher, []) : []
    return this.closing?.fitsAll(tokens, this.left) === false ? [] : [...tokens]
  }

  private fillWhole(): RowKind {
    const { matcher, vocabulary, stopTokenIds } = this.options
    const row = this.mask!
    this.isMaskFilled = true
    this.maskId = stopTokenIds.size > 0 ? undefined : matcher ? stateId(matcher) : FreeMask
    if (!matcher) {
      row.set(vocabulary.freeRow)
      for (const id of stopTokenIds) row[id >>> 5] |= 1 << (id & 31)
      return "free"
    }
    const kind = matcher.fillMask(row)
    if (stopTokenIds.size === 0 || !matcher.isAccepting()) return kind
    // A stop id ends a complete text, as an end id does; elsewhere it is the text that it spells, or nothing.
    for (const id of stopTokenIds) row[id >>> 5] |= 1 << (id & 31)
    return "masked"
  }

  /** Appends a token that the mask allows, sends what text it completes, and ends the output where it ends. */
  accept(token: number, logprobs?: TokenLogprobs, isForced = false): void {
    if (isForced) this.counts.pushForced(token)
    else this.counts.push(token)
    const end = this.advance(token, logprobs)
    if (!end) return
    const [finishReason, stopReason, message] = end
    // What the budget's rule led to its end was closed, even if a token was left.
    const isClosed = this.closing?.hasBound && (stopReason === null || stopReason === "complete")
    this.finish(finishReason, isClosed && finishReason === "stop" ? "closed" : stopReason, message)
  }

  /** How the output ends by this token; undefined when it goes on. */
  private advance(token: number, logprobs: TokenLogprobs | undefined): Ending | undefined {
    const { vocabulary, matcher, stopTokenIds, minTokens } = this.options
    this.isMaskFilled = false
    this.tokens.push(token)
    this.ahead.shift()
    const isComplete = !matcher || matcher.isAccepting()
    if (vocabulary.isEnd(token) && !(this.options.ignoresEnd && !matcher)) {
      matcher?.accept(token)
      return ["stop", null]
    }
    if (stopTokenIds.has(token) && isComplete && (matcher || this.outputCount >= minTokens)) {
      if (this.options.includesStop) {
        this.unsent.push(token)
        this.send(this.watch.flush() + this.detokenizer.push(token))
      }
      return ["stop", token]
    }
    if (matcher) {
      const start = performance.now()
      if (!matcher.accept(token)) return ["error", null, `internal: token ${token} left the constraint`]
      this.acceptUs.push(1000 * (performance.now() - start))
      this.closing?.accept(token)
    }
    this.unsent.push(token)
    if (logprobs) {
      this.logprobs.push(logprobs)
      this.unsentLogprobs.push(logprobs)
    }
    const piece = this.detokenizer.push(token)
    this.written += piece
    if (matcher?.isExhausted()) {
      this.send(this.watch.flush() + piece)
      return ["stop", "complete"]
    }
    const repeats = this.repetition?.push(token) ?? false
    const end = this.readText(piece)
    if (end) return end
    if (this.left <= 0) return this.closing && matcher?.isAccepting() ? ["stop", "closed"] : ["length", null]
    if (!repeats || this.outputCount < minTokens) return undefined
    // A constrained text that is cut off is no answer.
    return [matcher && !matcher.isAccepting() ? "length" : "stop", "repetition"]
  }

  /** Sends what the stops let through. */
  private readText(piece: string): Ending | undefined {
    const end = this.stopWhen?.push(piece, this.outputCount >= this.options.minTokens) ?? -1
    const start = this.written.length - piece.length
    try {
      const { text, stop } = this.watch.push(end < 0 ? piece : piece.slice(0, end - start))
      this.send(text)
      if (stop !== null) return ["stop", stop]
    } catch (error) {
      // A pattern whose automaton grew beyond its bounds.
      if (error instanceof GrammarError) return ["error", null, `stop_regex: ${error.message}`]
      throw error
    }
    return end < 0 ? undefined : ["stop", this.stopWhen!.kind]
  }

  /** Sends what waited. */
  release(): void {
    this.isHeld = false
    this.emitText("")
  }

  /** What the slot holds beyond plain decoding is forgotten: the next token needs logits of which every bit is right. */
  rewind(): void {
    this.cachedCount = this.plainCount
    this.replays = true
    this.isMaskFilled = false
  }

  /** Ends the output; held text is sent unless a stop string or id dropped it. Later calls do nothing. */
  finish(finishReason: FinishReason, stopReason: string | number | null, message?: string): void {
    if (this.isFinished) return
    this.isHeld = false
    // After a stop string nothing is held.
    this.send(this.watch.flush())
    if (this.words) this.emitText(this.words.flush())
    if (this.unsent.length > 0) this.emitText("", true)
    this.finishReason = finishReason
    this.stopReason = stopReason
    this.message = message
    const event = { type: "finish" as const, choice: this.options.choice, finishReason, stopReason }
    this.options.emit(message === undefined ? event : { ...event, message })
  }

  private send(text: string): void {
    this.emitText(this.words ? this.words.push(text) : text)
  }

  private emitText(part: string, isLast = false): void {
    this.waiting += part
    if (this.isHeld || (this.waiting === "" && !isLast)) return
    const text = this.waiting
    this.waiting = ""
    this.text += text
    const event = { type: "text" as const, choice: this.options.choice, text, tokens: this.unsent }
    this.options.emit(this.unsentLogprobs.length > 0 ? { ...event, logprobs: this.unsentLogprobs } : event)
    this.unsent = []
    this.unsentLogprobs = []
  }

  /** Whether the first `length` units of the output are an accepted text. Rare: asked at stop strings only. */
  private isComplete(length: number): boolean {
    const { matcher, prefix } = this.options
    if (!matcher) return true
    const fresh = new FreshMatcher(matcher.fsm)
    return (
      (!prefix || fresh.acceptBytes(prefix)) &&
      fresh.acceptBytes(new TextEncoder().encode(this.written.slice(0, length))) &&
      fresh.isAccepting()
    )
  }
}

/** Mask id of the row that every unconstrained sequence has. */
const FreeMask = 0
const machineIds = new WeakMap<object, number>()
let machineCount = 0

/** A state's mask depends on the machine and the state alone. */
function stateId({ fsm, state }: Matcher): number {
  let id = machineIds.get(fsm)
  if (id === undefined) {
    id = ++machineCount
    machineIds.set(fsm, id)
  }
  return id * 2 ** 32 + state
}

/** Whether the row lets the token through: the check after every draw. */
export function isLegal(row: Uint32Array, token: number): boolean {
  return isAllowed(row, token)
}
