/**
 * The engine: requests in, tokens out, one step at a time for all of them together.
 *
 * `step()` is the pipeline: draft ▸ schedule ▸ forward in the worker ∥ fill masks here ▸ sample ▸ accept ▸ emit. A row
 * whose mask has one bit is not sampled: its token is taken while the model still runs, and so are the forced ones behind
 * it; they go into the next step as one feed. With a draft the last two are repeated along it, while the tokens taken are
 * those drafted. Whatever can be refused is refused in `start`, before the first token.
 */

import type { CompileOptions, Grammar, GrammarInput, Report } from "../grammar/index.ts"
import { Matcher } from "../mask/index.ts"
import type { Vocabulary } from "../mask/vocabulary.ts"
import { needsLogits } from "../sampler/cpu.ts"
import type { SampleResult, Sampler } from "../sampler/index.ts"
import { describeForced } from "../sampler/logprobs.ts"
import { type Compiled, CompiledConstraints } from "./compiled.ts"
import { noDraft, Speculation } from "./draft.ts"
import { type DrawRow, drawTokens } from "./drawing.ts"
import { AbortError, ModelError, RequestError } from "./errors.ts"
import { type GenerateResult, Generation } from "./generation.ts"
import { EngineMetrics } from "./metrics.ts"
import type { Model } from "./model.ts"
import { type GenerateOptions, type Prompt, type ReadRequest, readRequest } from "./request.ts"
import { type BatchEntry, Scheduler } from "./scheduler.ts"
import { checkComplete, readConstraint, type ValueOf } from "./schema.ts"
import { type GenerationEvent, isLegal, onlyToken, Sequence } from "./sequence.ts"
import { canSpeculate, type DraftWish, isPermitted, legalDraft, type Speculator } from "./speculation.ts"
import type { Tokenizer } from "./tokenizer.ts"

export interface EngineParts {
  readonly model: Model
  readonly sampler: Sampler
  readonly tokenizer: Tokenizer
  readonly id: string
  readonly createdAt: number
  readonly maxWaiting: number
  /** The seed of requests that bring none; without it each draws its own. */
  readonly seed: bigint | undefined
  /** Null: no drafts. */
  readonly speculator: Speculator | null
  readonly log: (line: string) => void
}

const stallMs = 30_000

/** A row being drawn: how much of its draft has been taken, and how much of that was proposed. */
interface Cursor {
  readonly entry: BatchEntry
  taken: number
  accepted: number
}

export interface ModelInfo {
  readonly id: string
  /** Seconds since 1970. */
  readonly createdAt: number
  readonly contextLength: number
  /** V: columns of the logits. */
  readonly width: number
  readonly tokenCount: number
  readonly endIds: readonly number[]
}

export class Engine {
  readonly model: ModelInfo
  readonly vocabulary: Vocabulary
  readonly tokenizer: Tokenizer
  readonly metrics = new EngineMetrics()
  private readonly parts: EngineParts
  private readonly compiled: CompiledConstraints
  private readonly scheduler: Scheduler
  private loop: Promise<void> | undefined
  private isClosing = false
  private death: Error | undefined
  /** performance.now() when work came to an idle engine. */
  private busySince = 0
  private speculator: Speculator | null
  /** For masks along a draft. Shape [W]. */
  private readonly scratchMask: Uint32Array

  constructor(parts: EngineParts) {
    this.parts = parts
    this.tokenizer = parts.tokenizer
    this.vocabulary = parts.tokenizer.vocabulary
    this.compiled = new CompiledConstraints(this.vocabulary)
    this.scheduler = new Scheduler(parts.model, this.vocabulary.words)
    this.speculator = parts.speculator
    this.scratchMask = new Uint32Array(this.vocabulary.words)
    this.model = {
      id: parts.id,
      createdAt: parts.createdAt,
      contextLength: parts.model.contextLength,
      width: this.vocabulary.width,
      tokenCount: this.vocabulary.tokenCount,
      endIds: this.vocabulary.endIds,
    }
    parts.model.onDeath = (error) => this.die(error)
  }

  /**
   * Admits a request: constraint compiled, prompt tokenised, place in the line taken. Rejects with GrammarError,
   * SamplingError, RequestError or AbortError; what it returns can only end by its events.
   */
  async start(prompt: Prompt, options: GenerateOptions = {}): Promise<Generation> {
    const { signal } = options
    if (signal?.aborted) throw new AbortError("", { cause: signal.reason })
    this.checkAlive()
    const constraint = readConstraint(options)
    const request = readRequest(prompt, options, {
      tokenizer: this.tokenizer,
      contextLength: this.model.contextLength,
      seed: this.parts.seed ?? randomSeed(),
      maxDraftTokens: this.parts.speculator?.tokens ?? 0,
      constraint: constraint?.input ?? null,
    })
    const compiled = constraint ? this.compileCounted(constraint.input, constraint.policies) : null
    const fsm = compiled ? this.compiled.machine(compiled.grammar) : null
    this.checkLine()
    const generation = new Generation({
      promptTokens: request.promptIds.length,
      report: compiled?.report ?? null,
      constraint,
      compileMs: compiled && !compiled.isCached ? compiled.compileMs : 0,
      seed: request.params.seed,
      cancel: (cancelled) => this.cancel(cancelled),
    })
    const sequences = Array.from(
      { length: request.count },
      (_, choice) =>
        new Sequence({
          ...request,
          vocabulary: this.vocabulary,
          matcher: fsm ? new Matcher(fsm) : null,
          contextLength: this.model.contextLength,
          choice,
          speculation: this.speculation(request),
          emit: generation.push,
        }),
    )
    for (const { closing, left } of sequences) closing?.check(left)
    generation.sequences = sequences
    this.metrics.requests++
    this.metrics.promptTokens += request.promptIds.length
    // A constraint that only the empty text satisfies is complete before the first step.
    const begun = sequences.filter((sequence) => !sequence.options.matcher?.isExhausted())
    for (const sequence of sequences) if (!begun.includes(sequence)) this.end(sequence, "stop", "complete")
    this.scheduler.add(begun)
    this.watchSignal(generation, signal)
    this.wake()
    return generation
  }

  /**
   * The whole answer. Rejects as `start` does, and with IncompleteError (a constrained answer that ran out of budget),
   * ValidationError (the schema's own validator), AbortError, ModelError.
   */
  async generate<Options extends GenerateOptions>(
    prompt: Prompt,
    options?: Options,
  ): Promise<GenerateResult<ValueOf<Options>>> {
    const constraint = readConstraint(options ?? {})
    const generation = await this.start(prompt, options)
    const result = await generation.result
    for (const choice of result.choices) {
      if (choice.finishReason === "abort")
        throw new AbortError(choice.text, { cause: options?.signal?.reason })
      if (choice.finishReason === "error") throw new ModelError(choice.message ?? "the model failed")
      if (constraint) checkComplete(choice.text, choice.finishReason, constraint.title)
    }
    if (!constraint) return result as GenerateResult<ValueOf<Options>>
    const values = await Promise.all(result.choices.map((choice) => constraint.validate(choice.text)))
    const choices = result.choices.map((choice, index) => ({ ...choice, value: values[index] }))
    return { ...result, value: values[0] as ValueOf<Options>, choices }
  }

  /** The events of an answer as they come. Leaving the loop ends the request. */
  async *stream(prompt: Prompt, options: GenerateOptions = {}): AsyncGenerator<GenerationEvent> {
    yield* await this.start(prompt, options)
  }

  /** A constraint, compiled and kept. Throws GrammarError. */
  compile(
    input: GrammarInput | Grammar,
    options: CompileOptions = {},
  ): { grammar: Grammar; report: Report | null } {
    const { grammar, report } = this.compileCounted(input, options)
    return { grammar, report }
  }

  /** Whether nothing will be answered any more: the model is lost, or no step has ended for 30 s with work to do. */
  get isDead(): boolean {
    if (this.death) return true
    const since = Math.max(this.busySince, this.metrics.lastStepAt)
    return this.scheduler.hasWork && performance.now() - since > stallMs
  }

  load(): { running: number; waiting: number; slots: number } {
    const { running, waiting } = this.scheduler
    return { running: running.length, waiting: waiting.length, slots: this.parts.model.slotCount }
  }

  /** Ends what runs by `abort` and releases model and sampler. */
  async close(): Promise<void> {
    this.isClosing = true
    for (const sequence of this.sequences()) this.end(sequence, "abort", null)
    await this.loop
    await this.parts.model.close()
    await this.parts.speculator?.drafter.close()
    this.parts.sampler.close()
  }

  /** Advances every running sequence by at least one token, or by a chunk of its prompt. */
  private async step(): Promise<void> {
    await this.draft()
    const batch = this.scheduler.next()
    if (batch.length === 0) return
    const { ms } = this.metrics
    const startedAt = performance.now()
    const forward = this.parts.model.forward(batch.map(({ feed }) => feed))
    const drawn = this.fillMasks(batch)
    const filledAt = performance.now()
    const logits = await forward
    const arrivedAt = performance.now()
    ms.forward += arrivedAt - startedAt
    ms.maskWait += Math.max(0, filledAt - this.parts.model.answeredAt)
    for (const entry of batch) this.scheduler.computed(entry)
    await this.draw(logits, drawn)
    ms.sample += performance.now() - arrivedAt
    this.metrics.steps++
    this.metrics.lastStepAt = performance.now()
  }

  /** Tokens that the next forward may run ahead with. Forced ones go first: they are no draft, and cost nothing. */
  private async draft(): Promise<void> {
    const { speculator } = this
    if (!speculator) return
    const wishes: DraftWish[] = []
    for (const sequence of [...this.scheduler.running]) {
      sequence.draft = noDraft
      const { speculation } = sequence.options
      if (!speculation || sequence.replays || sequence.cachedCount < sequence.promptCount) continue
      while (!sequence.isFinished && this.isForced(sequence)) this.takeForced(sequence)
      if (sequence.isFinished) {
        this.leave(sequence)
        continue
      }
      const count = Math.min(speculation.next(), sequence.left - 1)
      if (count > 0) wishes.push({ sequence, count })
    }
    if (wishes.length === 0) return
    const startedAt = performance.now()
    try {
      const proposals = await speculator.drafter.propose(wishes)
      for (const [index, { sequence, count }] of wishes.entries()) {
        if (sequence.isFinished) continue
        const { tokens, ...rest } = proposals[index]
        const proposal = rest.parents ? proposals[index] : { ...rest, tokens: tokens.slice(0, count) }
        sequence.draft = legalDraft(sequence, proposal, this.scratchMask)
      }
    } catch (error) {
      // A draft only saves time: the answers go on without.
      this.parts.log(`drafts end: ${(error as Error).message}`)
      this.speculator = null
    }
    this.metrics.ms.draft += performance.now() - startedAt
  }

  /** Draws the rows, and those behind them for as long as what is taken is what was drafted. */
  private async draw(logits: Float32Array, entries: readonly BatchEntry[]): Promise<void> {
    const { sampler } = this.parts
    const step = { logits, width: this.vocabulary.width, rounding: this.parts.speculator?.rounding ?? 0 }
    const cursors = entries.map((entry): Cursor => ({ entry, taken: 0, accepted: 0 }))
    for (let rest = cursors; rest.length > 0; ) {
      rest = rest.filter(({ entry }) => !entry.sequence.isFinished)
      const results = await drawTokens(sampler, step, rest.map(toDrawRow))
      rest = rest.filter((cursor, index) => this.advance(cursor, results[index]))
    }
    for (const cursor of cursors) if (cursor.entry.draft.tokens.length > 0) this.countDraft(cursor)
  }

  /** Takes what was drawn; whether there are logits for the token after it. */
  private advance(cursor: Cursor, result: SampleResult | undefined): boolean {
    const { sequence, draft } = cursor.entry
    if (sequence.isFinished) return false
    if (!result) {
      this.metrics.replays++
      sequence.rewind()
      return false
    }
    sequence.replays = false
    const before = sequence.tokens.length
    this.take(sequence, result)
    if (sequence.tokens[before] === draft.tokens[cursor.taken]) cursor.accepted++
    for (let at = before; !sequence.isFinished && sequence.tokens[at] === draft.tokens[cursor.taken]; at++) {
      cursor.taken++
      sequence.cachedCount++
      if (!this.isForced(sequence)) return true
      this.takeForced(sequence)
      if (sequence.isFinished) this.leave(sequence)
    }
    return false
  }

  private countDraft({ entry, accepted }: Cursor): void {
    const { sequence, draft } = entry
    const drafted = draft.forced.filter((isForced) => !isForced).length
    sequence.draftedCount += drafted
    sequence.acceptedCount += accepted
    this.metrics.draftedTokens += drafted
    this.metrics.acceptedTokens += accepted
    sequence.options.speculation?.record(drafted, accepted)
  }

  /** How the drafts of a request are judged; null where there are none, or none could be. */
  private speculation({ params, verify, draftTokens }: ReadRequest): Speculation | null {
    const { speculator } = this
    if (!speculator || draftTokens === 0 || !canSpeculate(params, verify)) return null
    return new Speculation(verify, draftTokens, speculator.breakEven)
  }

  /** Masks of the rows that will have logits, while the worker runs; returns the entries that must be sampled. */
  private fillMasks(batch: readonly BatchEntry[]): BatchEntry[] {
    const drawn: BatchEntry[] = []
    for (const entry of batch) {
      if (entry.feed.logitsCount === 0) continue
      const { sequence } = entry
      const before = sequence.tokens.length
      while (!sequence.isFinished && this.isForced(sequence)) this.takeForced(sequence)
      if (sequence.isFinished) this.leave(sequence)
      // After a forced run the row's logits are stale: the run goes through the model first.
      else if (sequence.tokens.length === before) drawn.push(entry)
    }
    return drawn
  }

  /** Whether only one token may come next and needs no look at the logits. Fills the mask. */
  private isForced(sequence: Sequence): boolean {
    const { params } = sequence.options
    return (
      this.fillMask(sequence) === "single" &&
      !needsLogits(params) &&
      isPermitted(params, onlyToken(sequence.mask!))
    )
  }

  private fillMask(sequence: Sequence): string {
    if (sequence.isMaskFilled) return "masked"
    const start = performance.now()
    const kind = sequence.fillMask()
    const elapsed = performance.now() - start
    this.metrics.ms.mask += elapsed
    if (sequence.options.matcher) sequence.maskUs.push(1000 * elapsed)
    return kind
  }

  private takeForced(sequence: Sequence): void {
    const token = onlyToken(sequence.mask!)
    sequence.forcedCount++
    this.metrics.forcedTokens++
    const { params } = sequence.options
    if (sequence.outputCount < params.minTokens && params.endIds.includes(token)) {
      sequence.lifted.add("min_tokens")
    }
    this.accept(sequence, token, params.logprobs === null ? undefined : describeForced(token, params), true)
  }

  /** What was drawn, after the check that no sampler is trusted without: one bit. */
  private take(sequence: Sequence, result: SampleResult): void {
    if (sequence.isFinished) return
    if (result.status !== "ok") {
      const what =
        result.status === "empty_mask" ? "no token is left to choose" : "the model's logits are not numbers"
      this.end(sequence, "error", null, `${result.status}: ${what}`)
    } else if (!isLegal(sequence.mask!, result.token)) {
      this.metrics.maskViolations++
      this.end(
        sequence,
        "error",
        null,
        `internal: the sampler drew token ${result.token}, which the mask denies`,
      )
    } else {
      for (const param of result.relaxed ?? []) sequence.lifted.add(param)
      this.accept(sequence, result.token, result.logprobs)
      if (sequence.isFinished) this.leave(sequence)
    }
  }

  private accept(
    sequence: Sequence,
    token: number,
    logprobs: SampleResult["logprobs"],
    isForced = false,
  ): void {
    const start = performance.now()
    sequence.accept(token, logprobs, isForced)
    this.metrics.ms.accept += performance.now() - start
    this.metrics.completionTokens++
  }

  private end(
    sequence: Sequence,
    reason: "stop" | "abort" | "error",
    stopReason: "complete" | null,
    message?: string,
  ): void {
    if (sequence.isFinished) return
    sequence.finish(reason, stopReason, message)
    this.leave(sequence)
  }

  /** A finished sequence leaves its slot; the next step begins without it. */
  private leave(sequence: Sequence, isIntact = true): void {
    this.metrics.finished[sequence.finishReason!]++
    this.metrics.cachedTokens += sequence.reusedCount
    this.scheduler.remove(sequence, isIntact)
  }

  private cancel(generation: Generation): void {
    for (const sequence of generation.sequences) this.end(sequence, "abort", null)
  }

  private sequences(): Sequence[] {
    return [...this.scheduler.running, ...this.scheduler.waiting]
  }

  private wake(): void {
    if (!this.loop) this.busySince = performance.now()
    this.loop ??= this.run().finally(() => {
      this.loop = undefined
      // A request may have come between the last look and here.
      if (this.scheduler.hasWork && !this.isClosing) this.wake()
    })
  }

  private async run(): Promise<void> {
    while (this.scheduler.hasWork && !this.isClosing) {
      try {
        await this.step()
      } catch (error) {
        this.fault(error as Error)
      }
    }
  }

  /** A step failed: what ran ends with the error, what waits goes on with the next step. */
  private fault(error: Error): void {
    this.parts.log(`step failed: ${error.message}`)
    const running = [...this.scheduler.running]
    for (const sequence of running) {
      sequence.finish("error", null, error.message)
      this.leave(sequence, false)
    }
    // Nothing ran: the fault is not a request's, and trying again would fail again.
    if (this.parts.model.isDead || running.length === 0) this.die(error)
  }

  private die(error: Error): void {
    if (this.death) return
    this.death = error
    this.parts.log(`model lost: ${error.message}`)
    for (const sequence of this.sequences()) this.end(sequence, "error", null, error.message)
  }

  private checkAlive(): void {
    if (this.isClosing) throw new RequestError("shutting_down", "the engine is shutting down")
    if (this.death) throw new RequestError("engine_dead", `the model is lost: ${this.death.message}`)
  }

  private checkLine(): void {
    const { waiting, slots } = this.scheduler
    const { maxWaiting } = this.parts
    if (waiting.length < maxWaiting || waiting.length < slots.freeCount) return
    throw new RequestError(
      "queue_full",
      `${waiting.length} requests are waiting, and ${maxWaiting} is the bound: try again later`,
    )
  }

  private compileCounted(input: GrammarInput | Grammar, options: CompileOptions): Compiled {
    try {
      const compiled = this.compiled.compile(input, { surface: "generate", ...options })
      if (!compiled.isCached) this.metrics.ms.compile += compiled.compileMs
      return compiled
    } finally {
      this.metrics.compileHits = this.compiled.hitCount
      this.metrics.compileMisses = this.compiled.missCount
    }
  }

  private watchSignal(generation: Generation, signal: AbortSignal | undefined): void {
    if (!signal) return
    const abort = (): void => this.cancel(generation)
    signal.addEventListener("abort", abort, { once: true })
    void generation.result.then(() => signal.removeEventListener("abort", abort))
  }
}

function toDrawRow({ entry, taken }: Cursor): DrawRow {
  const { sequence, draft, logitsRow, isPlain } = entry
  const isJudged = sequence.options.speculation?.verify === "reject"
  const token = draft.tokens[taken]
  return {
    sequence,
    logitsRow: logitsRow + taken,
    isPlain: isPlain || isJudged,
    judged: isJudged && token !== undefined ? { token, law: draft.laws[taken] } : undefined,
  }
}

function randomSeed(): bigint {
  return crypto.getRandomValues(new BigInt64Array(1))[0]
}
