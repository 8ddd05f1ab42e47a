/**
 * A running request: the events of its choices as they come, and the whole result at the end.
 *
 * Events are kept until they are read, and read once, so a caller may use only `result`, or iterate
 * late. If the reader is slow, unread events are merged, so that they take no more memory than the
 * answer itself. `result` never rejects: its finish reason says how an answer ended;
 * `Engine.generate` turns the bad endings into errors.
 */

import type { Report } from "../../grammar/index.ts"
import type { TokenLogprobs } from "../../sampler/index.ts"
import { AnswerFields } from "../fields/answer.ts"
import type { Constraint } from "../schema.ts"
import { type Carried, type TurnPiece, TurnReading } from "../turn/reading.ts"
import type { RequestTurn } from "../turn/turn.ts"
import type { ApartReading } from "../turn/wholereading.ts"
import { quantile } from "./metrics.ts"
import { type Choice, type GenerateResult, type Spread, type Usage, withJson } from "./result.ts"
import type { GenerationEvent, Sequence } from "./sequence.ts"
import type { TokenTrace } from "./trace.ts"

export interface GenerationOptions {
  readonly promptTokens: number
  readonly report: Report | null
  /** The constraint of the answer's text. */
  readonly constraint: Constraint | null
  /** The form of the turn; null if the text is the whole answer. */
  readonly turn: RequestTurn | null
  /**
   * Whether to report the changes of the values of the answer, if it is JSON, and of the arguments
   * of calls.
   */
  readonly fields: boolean
  /** Whether to also report how sure the model was of closed values. */
  readonly confidence: boolean
  /** Returns the spelling of a token that ends a text; undefined for all others. */
  readonly endName: (token: number) => string | undefined
  /** All spellings that `endName` can return. */
  readonly endNames: readonly string[]
  /** Reads turns that would take too long in this thread. */
  readonly slowReading: ApartReading
  /**
   * Returns how many bytes of the text a token writes; control tokens count as they are spelled.
   */
  readonly bytesOf: (token: number) => number
  readonly compileMs: number
  readonly seed: bigint
  /** The parts of the request that were changed or left out. */
  readonly warnings: readonly string[]
  readonly cancel: (generation: Generation) => void
}

/**
 * A running request, as `Engine.start` returns it: iterate over its events, or wait for `result`,
 * which never rejects.
 */
export class Generation {
  readonly promptTokens: number
  readonly report: Report | null
  readonly result: Promise<GenerateResult>
  /** Set by the engine, which creates them with this object's `push`. */
  sequences: readonly Sequence[] = []
  private readonly options: GenerationOptions
  private readonly startedAt = performance.now()
  private firstAt: number | undefined
  private readonly unread = new UnreadEvents()
  /** The reader of each choice, if there is a turn to be read. */
  private readonly readings = new Map<number, TurnReading>()
  private readonly fields = new Map<number, AnswerFields>()
  /**
   * Errors of answers that could not be read. They are reported at the end of the answer, and the
   * engine continues.
   */
  private readonly failures = new Map<number, Error>()
  private wakers: (() => void)[] = []
  private finishedCount = 0
  private readonly resolve: (result: GenerateResult) => void

  constructor(options: GenerationOptions) {
    this.options = options
    this.promptTokens = options.promptTokens
    this.report = options.report
    let resolveResult: (result: GenerateResult) => void = () => {}
    this.result = new Promise((resolve) => {
      resolveResult = resolve
    })
    this.resolve = resolveResult
  }

  get isFinished(): boolean {
    return this.finishedCount > 0 && this.finishedCount === this.sequences.length
  }

  /** Number of tokens of all choices so far. */
  get completionTokens(): number {
    return this.sequences.reduce((sum, { outputCount }) => sum + outputCount, 0)
  }

  /**
   * The log-probabilities of the tokens of the prompt; the entry of the first token is null. Null
   * if `promptLogprobs` was not requested. The list is complete once choice 0 has emitted an event
   * other than a failure.
   */
  get promptLogprobs(): readonly (TokenLogprobs | null)[] | null {
    const [first] = this.sequences
    return typeof first.options.promptLogprobs === "number" ? first.promptLogprobs : null
  }

  /**
   * Returns how the next `count` tokens of a choice came about, or all known ones if they are
   * fewer: at least those of the events that were read. They are not kept: neither a later call nor
   * `result` has them. Null without `trace`.
   */
  takeTrace(choice: number, count: number): readonly TokenTrace[] | null {
    return this.sequences[choice].traces?.splice(0, count) ?? null
  }

  /** Ends all choices that still run, by `abort`. */
  cancel(): void {
    this.options.cancel(this)
  }

  /** Yields the unread events as they come. Leaving the loop early cancels the request. */
  async *[Symbol.asyncIterator](): AsyncIterator<GenerationEvent> {
    try {
      for (;;) {
        const event = this.unread.take()
        if (event) yield event
        else if (this.isFinished) return
        else await new Promise<void>((resolve) => this.wakers.push(resolve))
      }
    } finally {
      if (!this.isFinished) this.cancel()
    }
  }

  /** Handles an event of one of the sequences. */
  readonly push = (event: GenerationEvent): void => {
    this.firstAt ??= performance.now()
    const said = this.readSafely(event)
    if (said !== null) this.say(event, said)
    else if (event.type === "finish") void this.readApart(event).then((late) => this.say(event, late))
  }

  private say(event: GenerationEvent, said: readonly GenerationEvent[]): void {
    for (const each of said) this.unread.push(each)
    if (event.type === "finish") {
      this.finishedCount++
      // The last sequence is still finishing.
      if (this.isFinished) queueMicrotask(() => this.resolve(this.build()))
    }
    const { wakers } = this
    this.wakers = []
    for (const wake of wakers) wake()
  }

  /** Returns the events of an answer's content; null if its turn is read in another thread. */
  private readSafely(event: GenerationEvent): GenerationEvent[] | null {
    const { choice } = event
    try {
      if (!this.failures.has(choice)) {
        const said = this.read(event)
        return said === null ? null : this.told(said)
      }
    } catch (error) {
      this.failures.set(choice, error as Error)
    }
    return this.failed(event)
  }

  /** Reads a turn in another thread. Never rejects. */
  private async readApart(event: GenerationEvent & { type: "finish" }): Promise<GenerationEvent[]> {
    const { choice, finishReason } = event
    const { turn, slowReading } = this.options
    try {
      const { text } = this.sequences[choice]
      const { endNames } = this.options
      const read = await slowReading.read({ turn: turn!.turn, text, end: this.endOf(choice), endNames })
      const reading = this.readingOf(choice, turn!)
      return this.told(this.finished(event, reading, reading.complete(read, finishReason === "stop")))
    } catch (error) {
      this.failures.set(choice, error as Error)
      return this.failed(event)
    }
  }

  private told(said: GenerationEvent[]): GenerationEvent[] {
    return this.options.fields ? said.map((each) => this.withFields(each)) : said
  }

  private failed(event: GenerationEvent): GenerationEvent[] {
    const error = this.failures.get(event.choice)!
    return event.type === "finish" ? [{ ...event, finishReason: "error", message: error.message, error }] : []
  }

  /** Returns the spelling of the control token that ended the text of a choice. */
  private endOf(choice: number): string | undefined {
    const last = this.sequences[choice]?.tokens.at(-1)
    return last === undefined ? undefined : this.options.endName(last)
  }

  /**
   * Returns the events of an answer's content, after reading the turn; null if the turn is read in
   * another thread.
   */
  private read(event: GenerationEvent): GenerationEvent[] | null {
    const { turn } = this.options
    if (turn === null) return [event]
    const { choice } = event
    const reading = this.readingOf(choice, turn)
    if (event.type === "text") {
      const { text, tokens, logprobs, certainty } = event
      const carried = { tokens, ...(logprobs && { logprobs }), ...(certainty && { certainty }) }
      return reading.feed(text, carried).map((piece) => ({ choice, ...piece }))
    }
    if (event.type !== "finish") return [event]
    const pieces = reading.end(this.endOf(choice), event.finishReason === "stop")
    return reading.isSlow ? null : this.finished(event, reading, pieces)
  }

  /** Returns the end of an answer, after the last events of its content. */
  private finished(
    event: GenerationEvent & { type: "finish" },
    reading: TurnReading,
    pieces: readonly (TurnPiece & Carried)[],
  ): GenerationEvent[] {
    const { choice } = event
    const rest = reading.takeCarried()
    const events: GenerationEvent[] = pieces.map((piece) => ({ choice, ...piece }))
    if (rest.tokens.length > 0) events.push({ choice, type: "text", text: "", ...rest })
    return [...events, { ...event, ...this.ending(choice, event) }]
  }

  /** Returns the event with the changes of the answer's values. */
  private withFields({ certainty, ...event }: GenerationEvent): GenerationEvent {
    const { choice, type } = event
    const isJson = this.options.constraint?.isJson ?? false
    const fields = this.fields.get(choice) ?? new AnswerFields(isJson, this.options.confidence)
    this.fields.set(choice, fields)
    if (type === "call") fields.begin(event.index, event.isCustom)
    const isWhole = type === "finish" && event.finishReason === "stop"
    const events =
      type === "text"
        ? fields.push(event.text, null, certainty)
        : type === "arguments"
          ? fields.push(event.text, event.index, certainty)
          : isWhole
            ? fields.finish(certainty)
            : []
    return events.length > 0 ? { ...event, fields: events } : event
  }

  private readingOf(choice: number, { turn }: RequestTurn): TurnReading {
    const { bytesOf, endNames } = this.options
    const reading = this.readings.get(choice) ?? new TurnReading(turn, bytesOf, endNames)
    this.readings.set(choice, reading)
    return reading
  }

  /**
   * Returns how an answer ended. Text that ended with the budget without being complete was cut.
   */
  private ending(choice: number, ended: Ended): Ended {
    const { finishReason, stopReason } = ended
    const isCut =
      stopReason === "closed" &&
      this.options.turn?.isFree === true &&
      !this.options.turn.closes &&
      this.readings.get(choice)?.turn.toolCalls.length === 0
    return isCut ? { finishReason: "length", stopReason: null } : { finishReason, stopReason }
  }

  private build(): GenerateResult {
    const choices = this.sequences.map((sequence, index) => this.choice(sequence, index))
    const { index: _, ...first } = choices[0]
    const ignored = (where: "inside" | "early", told: string) =>
      [...new Set(this.sequences.flatMap(({ ignoredStops }) => [...ignoredStops[where]]))].map(
        (stop) => `stop ${JSON.stringify(stop)}: ${told} it is ordinary text`,
      )
    const lifted = new Set(this.sequences.flatMap((sequence) => [...sequence.lifted]))
    return withJson({
      ...first,
      choices,
      usage: this.usage(),
      report: this.report,
      seed: this.options.seed,
      warnings: [
        ...this.options.warnings,
        ...ignored("inside", "inside the constraint"),
        ...ignored("early", "below min_tokens"),
        ...[...lifted].map(
          (param) => `${param}: ${overruled[param] ?? "lifted where it left no token to choose"}`,
        ),
      ],
    })
  }

  private choice(sequence: Sequence, index: number): Choice {
    const { logprobs } = sequence
    const failure = this.failures.get(index)
    const { message, error } = failure ? { message: failure.message, error: failure } : sequence
    const { finishReason, stopReason } = this.ending(index, {
      finishReason: failure ? "error" : sequence.finishReason!,
      stopReason: sequence.stopReason,
    })
    const { constraint, turn } = this.options
    const said = turn === null ? { ...noTurn, text: sequence.text } : this.readingOf(index, turn).turn
    const isAnswer = constraint !== null && finishReason === "stop" && said.toolCalls.length === 0
    return {
      index,
      ...said,
      value: isAnswer ? constraint.parse(said.text) : undefined,
      tokens: sequence.tokens.slice(sequence.promptCount),
      finishReason,
      stopReason,
      message,
      error,
      logprobs: sequence.options.params.logprobs === null ? null : logprobs,
      fields: this.options.confidence ? (this.fields.get(index)?.closed ?? []) : null,
      trace: sequence.traces,
    }
  }

  private usage(): Usage {
    const { sequences, promptTokens } = this
    const sum = (of: (sequence: Sequence) => number): number =>
      sequences.reduce((total, sequence) => total + of(sequence), 0)
    const completionTokens = sum((sequence) => sequence.outputCount)
    const endedAt = performance.now()
    const firstAt = this.firstAt ?? endedAt
    const longest = Math.max(...sequences.map((sequence) => sequence.outputCount))
    return {
      promptTokens,
      cachedTokens: sequences[0].reusedCount,
      completionTokens,
      reasoningTokens: [...this.readings.values()].reduce(
        (total, reading) => total + reading.reasoningTokens,
        0,
      ),
      totalTokens: promptTokens + completionTokens,
      forcedTokens: sum((sequence) => sequence.forcedCount),
      draftedTokens: sum((sequence) => sequence.draftedCount),
      acceptedTokens: sum((sequence) => sequence.acceptedCount),
      compileMs: this.options.compileMs,
      maskUs: spread(sequences.flatMap((sequence) => sequence.maskUs)),
      acceptUs: spread(sequences.flatMap((sequence) => sequence.acceptUs)),
      ttftMs: firstAt - this.startedAt,
      tpotMs: longest > 1 ? (endedAt - firstAt) / (longest - 1) : 0,
    }
  }
}

function spread(values: readonly number[]): Spread {
  const total = values.reduce((sum, value) => sum + value, 0)
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99), total }
}

/** Descriptions of the effect of parameters that do not ban tokens by themselves. */
const overruled: Readonly<Record<string, string>> = {
  ignore_eos: "a constraint ends the text",
  logit_bias: "a token with a bias of -100 was written where the constraint left no likelier one",
}

const noTurn = { reasoning: "", toolCalls: [] }

type Ended = Pick<GenerationEvent & { type: "finish" }, "finishReason" | "stopReason">
/** Events that further text may be appended to. */
type TextEvent = GenerationEvent & { type: "text" | "reasoning" | "arguments" }

/**
 * Number of unread events of one request that are kept one by one. Above it, further text is
 * appended to the last event of its choice if both are of the same kind.
 */
const maxUnread = 64

/** A queue of events. The events of a choice stay in their order. */
class UnreadEvents {
  private readonly events: GenerationEvent[] = []
  /** The last event of each choice, as long as it is unread and text. */
  private readonly lastTexts = new Map<number, TextEvent>()

  push(event: GenerationEvent): void {
    if (event.type === "finish" || event.type === "call" || event.type === "called") {
      this.lastTexts.delete(event.choice)
      this.events.push(event)
      return
    }
    const last = this.events.length < maxUnread ? undefined : this.lastTexts.get(event.choice)
    if (last?.type === event.type && !("index" in last && "index" in event && last.index !== event.index)) {
      last.text += event.text
      last.tokens.push(...event.tokens)
      if (event.fields) last.fields = [...(last.fields ?? []), ...event.fields]
      if (event.logprobs) {
        last.logprobs ??= []
        last.logprobs.push(...event.logprobs)
      }
      return
    }
    const own = { ...event, tokens: [...event.tokens] }
    if (event.logprobs) own.logprobs = [...event.logprobs]
    this.events.push(own)
    this.lastTexts.set(event.choice, own)
  }

  take(): GenerationEvent | undefined {
    const event = this.events.shift()
    if (event && this.lastTexts.get(event.choice) === event) this.lastTexts.delete(event.choice)
    return event
  }
}
