/**
 * A sequence being written: its tokens, its state in the grammar, its text so far, and the rules by
 * which it ends.
 *
 * Only `accept` adds tokens, and it holds the order of the stops (spec: end of sequence, stop ids,
 * stop strings, grammar finished, budget, context). A stop inside a constraint counts only if the
 * text before it is complete: soundness takes precedence over truncation.
 */

import { isAllowed, type Vocabulary } from "../../mask/index.ts"
import type {
  LogitsProcessor,
  SampleResult,
  SampleRow,
  SamplingParams,
  TokenLogprobs,
} from "../../sampler/index.ts"
import { TokenCounts } from "../../sampler/index.ts"
import { type Certainty, type CertaintySpan, CertaintyTrail } from "../fields/certainty.ts"
import type { FieldEvent } from "../fields/reader.ts"
import type { Guide } from "../guides/guide.ts"
import { PatternPoints } from "../guides/points.ts"
import { FreeMask, type Outlook, type Verdict } from "../guides/walk.ts"
import { Detokenizer } from "../model/detokenizer.ts"
import { type Draft, noDraft, type Speculation } from "../speculation/draft.ts"
import { Repetition } from "../stops/repetition.ts"
import { type StopStrings, StopWatch } from "../stops/stops.ts"
import { StopWhen, type StopWhenKind } from "../stops/stopwhen.ts"
import { WordBuffer } from "../stops/wordbuffer.ts"
import type { Carried, TurnPiece } from "../turn/reading.ts"
import type { TokenTrace } from "./trace.ts"

/**
 * How an answer ended: it is complete or a stop was found (`stop`), it was cut (`length`), the
 * caller ended it (`abort`), or it failed (`error`).
 */
export type FinishReason = "stop" | "length" | "abort" | "error"

/**
 * A piece of an answer, or its end. `choice` is the index of the answer; `finish` is the last event
 * of an answer. Each token of an answer is among the `tokens` of one event. Without tools and
 * reasoning there are only text events. `fields`: the changes of the values of the JSON text, if
 * requested.
 */
export type GenerationEvent =
  | ({ choice: number; fields?: readonly FieldEvent[] } & TurnPiece & Carried)
  | {
      type: "finish"
      choice: number
      fields?: readonly FieldEvent[]
      finishReason: FinishReason
      /**
       * null: end of sequence, or the budget; a stop string, pattern or id; `complete`: the grammar
       * ended; `closed`: it ended with the budget; `json`, `xml`, `tool_call`: the text that
       * `stopWhen` waits for is complete; `repetition`.
       */
      stopReason: string | number | null
      message?: string
      /** The cause of the finish reason `error`. */
      error?: Error
      /** The last tokens, if they have no text. */
      certainty?: CertaintySpan
    }

/**
 * An event that `stream` yields. `call`: index of the call whose arguments contain the value;
 * undefined if the text does. `Value` is the type of the whole value, whose path is "".
 */
export type StreamEvent<Value = unknown> =
  | GenerationEvent
  | ({ choice: number; call?: number } & Exclude<FieldEvent, { type: "close" }>)
  | ({ choice: number; call: number } & ClosedEvent)
  | ({ choice: number; call?: undefined } & ClosedEvent &
      ({ readonly path: ""; readonly value: Value } | { readonly path: `/${string}` }))

type ClosedEvent = FieldEvent & { type: "close" }

/** Chooses a token in place of the sampler. `logits` is the row alone, shape [V]. */
export type TakeToken = (logits: Float32Array, row: SampleRow) => SampleResult

/**
 * Sees each drawn token with the logits and the mask that it was drawn with, and all `tokens`
 * before it, those of the prompt included. A token may be drawn again instead of being accepted.
 */
export type TokenWatch = (
  logits: Float32Array,
  mask: Uint32Array,
  token: number,
  tokens: readonly number[],
) => void

/** Facts about an accepted token. */
interface TokenTold {
  readonly logprobs?: TokenLogprobs | undefined
  readonly verdict?: Verdict | undefined
  readonly certainty?: Certainty | undefined
}

type Ending = [finishReason: FinishReason, stopReason: string | number | null, message?: string]

/** Fields that all choices of a request share. */
export interface SequenceOptions {
  readonly vocabulary: Vocabulary
  readonly promptIds: readonly number[]
  /** Whether the answer waits behind those without it. */
  readonly isBackground?: boolean
  /** Whether the answer continues the prompt's text. */
  readonly continues?: boolean
  /** The bytes of the prompt's end that the healed answer writes again. */
  readonly prefix?: Uint8Array | undefined
  readonly params: SamplingParams
  /** Chooses the tokens in place of the sampler. */
  readonly take?: TakeToken | undefined
  readonly watch?: TokenWatch
  /** The caller's functions that change logits. */
  readonly processors?: readonly LogitsProcessor[]
  /**
   * The walk through the constraint and the patterns that end the text; null if there is neither.
   */
  readonly guide: Guide | null
  /** Whether there is a constraint. */
  readonly isConstrained: boolean
  /** Whether the empty text satisfies the constraint. */
  readonly isComplete?: boolean
  /** Whether verdicts may include the forced runs that follow their tokens. */
  readonly takesRuns?: boolean
  /** Whether there are patterns that end the text. */
  readonly hasPatterns?: boolean
  /** Whether a constrained answer is completed when the budget ends. */
  readonly closes: boolean
  /** Whether words are banned from a constrained answer, so that a drawn token may be refused. */
  readonly bansWords?: boolean
  /** Banned words that the constraint cannot avoid. */
  readonly lostWords?: readonly string[]
  readonly stops: StopStrings
  readonly stopWhen?: StopWhenKind | null
  readonly repetition?: { min: number; max: number; count: number } | null
  /** Whether events end only between words. */
  readonly byWords?: boolean
  /** Whether control tokens are part of the text. */
  readonly spellsControls?: boolean
  readonly stopTokenIds: ReadonlySet<number>
  readonly includesStop: boolean
  readonly ignoresEnd: boolean
  readonly minTokens: number
  readonly maxTokens: number
  /** Whether events report how sure the model was of their tokens. */
  readonly confidence?: boolean
  /** Number of tokens in each list of a trace; 0 for no trace. */
  readonly traceTokens?: number
  /** The tokens with which the answer begins. */
  readonly firstTokens?: readonly number[]
  /**
   * Number of alternatives for each token of the prompt; null if no log-probabilities are
   * requested.
   */
  readonly promptLogprobs?: number | null
  readonly contextLength: number
  readonly choice: number
  /** How drafts are made and verified; null if there are none. */
  readonly speculation?: Speculation | null
  /** Text that the output may repeat, for drafts. */
  readonly predictionIds?: readonly number[]
  readonly emit: (event: GenerationEvent) => void
}

export class Sequence {
  readonly options: SequenceOptions
  /** The tokens of the prompt, then those of the output. */
  readonly tokens: number[]
  readonly counts: TokenCounts
  readonly logprobs: TokenLogprobs[] = []
  /**
   * The log-probabilities of the prompt's tokens so far. The first token has none, since nothing
   * precedes it.
   */
  readonly promptLogprobs: (TokenLogprobs | null)[] = [null]
  /** How each token of the output came about; null if no trace is requested. */
  readonly traces: TokenTrace[] | null
  /** Microseconds to fill the mask for the next token; null if it was known. */
  lastMaskUs: number | null = null
  /** Whether the budget's rule forbade a drawn token. */
  hasClosed = false
  /** Whether events wait for `release`, so that a forced run is one event. */
  isHeld = false
  /** Mask of an unconstrained sequence, assigned with the slot. Shape [W]. */
  ownMask: Uint32Array | undefined
  /** The outlook whose forced run has been accepted: its mask is the one for the next token. */
  outlook: Outlook | undefined
  /** Whether tokens were removed from the mask. */
  isNarrowed = false
  /** Whether it waits for an answer about its last draw: until then it takes no part in a step. */
  isLate = false
  /** Whether its draft is late, and its tokens depend on it: then it takes no part in this step. */
  isDelayed = false
  /** Whether its guide has been asked about its last draw. */
  isAsked = false
  /**
   * Whether its last token was accepted before its verdict, which can only be that the text
   * continues.
   */
  isPresumed = false
  slot = -1
  /** Number of `tokens` that the slot holds. */
  cachedCount = 0
  /** Number of those that were computed with the bits of plain decoding. */
  plainCount = 0
  /** Whether the tokens after `plainCount` are computed again, as plain decoding does. */
  replays = false
  /** The draft that follows the tokens in the next step. */
  draft: Draft = noDraft
  /**
   * Number of proposed tokens that were verified, and of those that were accepted. Forced ones do
   * not count.
   */
  draftedCount = 0
  acceptedCount = 0
  /** Prompt tokens that another request has computed. */
  reusedCount = 0
  forcedCount = 0
  text = ""
  finishReason: FinishReason | undefined
  stopReason: string | number | null = null
  message: string | undefined
  error: Error | undefined
  /**
   * Parameters that the constraint overruled: their bans were lifted, because no other token was
   * left.
   */
  readonly lifted = new Set<string>()
  /**
   * Stop strings and patterns that were treated as ordinary text: where the constraint was not
   * complete, and before `min_tokens`.
   */
  readonly ignoredStops = { inside: new Set<string>(), early: new Set<string>() }
  /** Microseconds of every mask that was filled, and of every token that the matcher accepted. */
  readonly maskUs: number[] = []
  readonly acceptUs: number[] = []
  private readonly detokenizer: Detokenizer
  private readonly watch: StopWatch
  private readonly stopWhen: StopWhen | null
  private readonly repetition: Repetition | null
  private readonly words: WordBuffer | null
  private readonly points: PatternPoints | null
  private readonly trail: CertaintyTrail | null
  /** Whether the text so far satisfies the constraint. */
  private isComplete: boolean
  /**
   * Number of bytes written, including those of the healed prompt and of control tokens as the text
   * spells them; and the byte counts at which the text was complete.
   */
  private byteCount = 0
  private readonly ends = new Set<number>()
  /** Tokens that no event has contained yet. */
  private unsent: number[] = []
  private unsentLogprobs: TokenLogprobs[] = []
  /** Text that waits for `release`. */
  private waiting = ""
  /** All text, including the held part: stop strings are searched in it. */
  private written = ""

  constructor(options: SequenceOptions) {
    this.options = options
    this.tokens = [...options.promptIds]
    this.counts = new TokenCounts(options.promptIds)
    this.detokenizer = new Detokenizer(options.vocabulary, {
      skip: options.prefix?.length ?? 0,
      continues: options.continues ?? false,
      rendersSpecials: options.spellsControls ?? false,
    })
    this.points = options.hasPatterns ? new PatternPoints() : null
    this.isComplete = options.isComplete ?? !options.isConstrained
    if (this.isComplete) this.ends.add(0)
    this.watch = new StopWatch(options.stops, {
      includesStop: options.includesStop,
      counts: (length, stop) => this.endsAt(length, stop),
      ...(this.points && { regexes: this.points }),
    })
    this.stopWhen = options.stopWhen ? new StopWhen(options.stopWhen) : null
    this.repetition = options.repetition ? new Repetition(options.repetition) : null
    this.words = options.byWords ? new WordBuffer() : null
    this.traces = options.traceTokens ? [] : null
    this.trail = options.confidence ? new CertaintyTrail() : null
  }

  get promptCount(): number {
    return this.options.promptIds.length
  }

  get outputCount(): number {
    return this.tokens.length - this.options.promptIds.length
  }

  /**
   * Whether the log-probabilities of the prompt's tokens are still to be computed. The first of
   * several answers does it for all of them.
   */
  get wantsPromptRows(): boolean {
    const { promptLogprobs, choice } = this.options
    return typeof promptLogprobs === "number" && choice === 0 && this.promptLogprobs.length < this.promptCount
  }

  /** Number of tokens that may still be written. */
  get left(): number {
    const { maxTokens, contextLength } = this.options
    return Math.min(maxTokens - this.outputCount, contextLength - this.tokens.length)
  }

  get isFinished(): boolean {
    return this.finishReason !== undefined
  }

  /** Mask of the tokens that may come next. Shape [W]. */
  get mask(): Uint32Array {
    return this.options.guide?.mask ?? this.ownMask!
  }

  /**
   * Equal ids mean equal masks, over all sequences of an engine; undefined if no other sequence
   * shares the mask.
   */
  get maskId(): number | undefined {
    if (this.isNarrowed) return undefined
    if (this.options.guide) return this.outlook?.maskId
    return this.options.stopTokenIds.size > 0 ? undefined : FreeMask
  }

  /**
   * Fills the mask of an unconstrained sequence with the row that all such sequences share, and the
   * stop ids.
   */
  fillFree(): void {
    const { vocabulary, stopTokenIds } = this.options
    this.ownMask!.set(vocabulary.freeRow)
    for (const id of stopTokenIds) this.ownMask![id >>> 5] |= 1 << (id & 31)
  }

  /**
   * Returns whether `token` ends the output by itself, whatever the constraint's verdict would be.
   */
  endsBy(token: number): boolean {
    return this.isEnd(token) || this.isStop(token)
  }

  private isEnd(token: number): boolean {
    const { vocabulary, isConstrained, ignoresEnd } = this.options
    return vocabulary.isEnd(token) && !(ignoresEnd && !isConstrained)
  }

  private isStop(token: number): boolean {
    const { isConstrained, stopTokenIds, minTokens } = this.options
    const counts = isConstrained || this.outputCount + 1 >= minTokens
    return stopTokenIds.has(token) && this.isComplete && counts
  }

  /**
   * Returns whether the verdict on `token` need not be waited for: the text cannot be complete
   * after it, and no rule asks about it.
   */
  goesOnBehind(token: number): boolean {
    const { outlook } = this
    const { isConstrained, closes, bansWords, hasPatterns, stops, vocabulary } = this.options
    if (!outlook || outlook.least === 0 || !isConstrained) return false
    if (closes || bansWords || hasPatterns || stops.strings.length > 0) return false
    // A control token of the grammar can complete the text without writing a byte.
    if (vocabulary.name(token) !== undefined) return false
    const bytes = vocabulary.bytes(token)
    return bytes.length < outlook.least || (outlook.closer >= 0 && !bytes.includes(outlook.closer))
  }

  /** Removes a token from the mask. */
  narrow(token: number): void {
    this.isNarrowed = true
    this.mask[token >>> 5] &= ~(1 << (token & 31))
  }

  /**
   * Appends a token that the mask allows, sends the text that it completes, and ends the output if
   * it has to end. `verdict`: the guide's verdict on the token; a token that ends the output needs
   * none.
   */
  accept(token: number, { isForced = false, ...told }: TokenTold & { isForced?: boolean } = {}): void {
    if (this.options.isConstrained && isBarred(this.options.params, token)) this.lifted.add("logit_bias")
    if (isForced) this.counts.pushForced(token)
    else this.counts.push(token)
    const end = this.advance(token, told)
    if (!end) return
    const [finishReason, stopReason, message] = end
    // If the budget's rule has shaped the text, its end counts as closed, even if a token was left.
    const isClosed = this.hasClosed && (stopReason === null || stopReason === "complete")
    this.finish(finishReason, isClosed && finishReason === "stop" ? "closed" : stopReason, message)
  }

  /** Returns how the output ends with this token; undefined if it continues. */
  private advance(token: number, { logprobs, verdict, certainty }: TokenTold): Ending | undefined {
    const { isConstrained, minTokens } = this.options
    const isEnd = this.isEnd(token)
    const isStop = this.isStop(token)
    this.outlook = undefined
    this.isNarrowed = false
    this.tokens.push(token)
    if (certainty && (isEnd || isStop)) this.trail?.push(certainty, this.written.length)
    if (isEnd) return ["stop", null]
    if (isStop) {
      if (this.options.includesStop) {
        this.unsent.push(token)
        this.send(this.watch.flush() + this.detokenizer.push(token))
      }
      return ["stop", token]
    }
    if (verdict) this.read(token, verdict)
    this.unsent.push(token)
    if (logprobs) {
      this.logprobs.push(logprobs)
      this.unsentLogprobs.push(logprobs)
    }
    const piece = this.detokenizer.push(token)
    this.written += piece
    if (certainty) this.trail?.push(certainty, this.written.length)
    const repeats = this.repetition?.push(token) ?? false
    const end = this.readText(piece)
    if (end) return end
    if (isConstrained && verdict?.isExhausted) {
      this.send(this.watch.flush())
      return ["stop", "complete"]
    }
    const isWhole = isConstrained && this.isComplete
    if (this.left <= 0) return isWhole && this.options.closes ? ["stop", "closed"] : ["length", null]
    if (!repeats || this.outputCount < minTokens) return undefined
    // A truncated constrained text is not an answer.
    return [isConstrained && !isWhole ? "length" : "stop", "repetition"]
  }

  /** Records the guide's verdict on a token. */
  private read(token: number, { isAccepting, ends, points, acceptUs }: Verdict): void {
    const { isConstrained, vocabulary } = this.options
    if (points) this.points?.add(points)
    if (!isConstrained) return
    if (acceptUs !== undefined) this.acceptUs.push(acceptUs)
    this.isComplete = isAccepting
    for (const count of ends ?? []) this.ends.add(this.byteCount + count)
    if (!vocabulary.isSpecial(token)) this.byteCount += vocabulary.bytes(token).length
    else {
      const name = this.options.spellsControls ? vocabulary.name(token)! : ""
      this.byteCount += encoder.encode(name).length
      // It has no text inside which the constraint could be complete, so only its end counts.
      if (ends && isAccepting) this.ends.add(this.byteCount)
    }
  }

  /** Sends the text that cannot be part of a stop. */
  private readText(piece: string): Ending | undefined {
    const end = this.stopWhen?.push(piece, this.outputCount >= this.options.minTokens) ?? -1
    const start = this.written.length - piece.length
    const { text, stop } = this.watch.push(end < 0 ? piece : piece.slice(0, end - start))
    this.send(text)
    if (stop !== null) return ["stop", stop]
    return end < 0 ? undefined : ["stop", this.stopWhen!.kind]
  }

  /** Sends the waiting events. */
  release(): void {
    this.isHeld = false
    this.emitText("")
  }

  /**
   * Forgets the tokens that were not computed by plain decoding: the next token needs exact logits.
   */
  rewind(): void {
    this.cachedCount = this.plainCount
    this.replays = true
  }

  /** Records that the slot is empty: all tokens are computed again, as plain decoding does. */
  restart(): void {
    this.plainCount = 0
    this.rewind()
  }

  /**
   * Ends the output; held text is sent unless a stop string or id dropped it. Later calls do
   * nothing.
   */
  finish(
    finishReason: FinishReason,
    stopReason: string | number | null,
    message?: string,
    error?: Error,
  ): void {
    if (this.isFinished) return
    this.isHeld = false
    const { minTokens, lostWords = [], ignoresEnd, isConstrained } = this.options
    if (finishReason === "stop" && this.outputCount < minTokens) this.lifted.add("min_tokens")
    if (finishReason === "stop" && ignoresEnd && isConstrained) this.lifted.add("ignore_eos")
    if (lostWords.some((word) => this.written.includes(word))) this.lifted.add("bad_words")
    // After a stop string no text is held.
    this.send(this.watch.flush())
    if (this.words) this.emitText(this.words.flush())
    if (this.unsent.length > 0) this.emitText("", true)
    this.finishReason = finishReason
    this.stopReason = stopReason
    this.message = message
    this.error = error
    const event = {
      ...{ type: "finish" as const, choice: this.options.choice, finishReason, stopReason },
      ...(this.trail && { certainty: this.trail.take(Number.POSITIVE_INFINITY) }),
    }
    this.options.emit({ ...event, ...(message !== undefined && { message }), ...(error && { error }) })
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
    const event = {
      ...{ type: "text" as const, choice: this.options.choice, text, tokens: this.unsent },
      ...(this.trail && { certainty: this.trail.take(this.text.length) }),
    }
    this.options.emit(this.unsentLogprobs.length > 0 ? { ...event, logprobs: this.unsentLogprobs } : event)
    this.unsent = []
    this.unsentLogprobs = []
  }

  /** Returns whether `stop` ends the text after its first `length` units. */
  private endsAt(length: number, stop: string): boolean {
    if (!this.wasComplete(length)) {
      this.ignoredStops.inside.add(stop)
      return false
    }
    if (this.outputCount >= this.options.minTokens) return true
    this.ignoredStops.early.add(stop)
    return false
  }

  /**
   * Returns whether the constraint accepts the first `length` units of the output. It is called for
   * stops, which lie near the end.
   */
  private wasComplete(length: number): boolean {
    if (!this.options.isConstrained) return true
    const after = this.detokenizer.heldCount + encoder.encode(this.written.slice(length)).length
    return this.ends.has(this.byteCount - after)
  }
}

const encoder = new TextEncoder()

/** Returns whether a request biases `token` so strongly that it must not come. */
function isBarred({ biasIds, biasValues }: SamplingParams, token: number): boolean {
  const at = biasIds.indexOf(token)
  return at >= 0 && biasValues[at] <= -100
}

/** Returns whether the row allows the token. This is checked after every draw. */
export function isLegal(row: Uint32Array, token: number): boolean {
  return isAllowed(row, token)
}
