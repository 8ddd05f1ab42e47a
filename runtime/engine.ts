/**
 * The engine: requests in, tokens out, one step at a time for all of them together.
 *
 * `step()` is the pipeline: schedule ▸ forward in the worker ∥ fill masks here ▸ sample ▸ accept ▸ emit. A row whose mask
 * has one bit is not sampled: its token is taken while the model still runs, and so are the forced ones behind it; they
 * go into the next step as one feed. Whatever can be refused is refused in `start`, before the first token.
 */

import type { CompileOptions, Grammar, GrammarInput, Report } from "../grammar/index.ts"
import { Matcher } from "../mask/index.ts"
import type { Vocabulary } from "../mask/vocabulary.ts"
import { needsLogits } from "../sampler/cpu.ts"
import type { SampleResult, Sampler } from "../sampler/index.ts"
import { describeForced } from "../sampler/logprobs.ts"
import { type Compiled, CompiledConstraints } from "./compiled.ts"
import { drawTokens } from "./drawing.ts"
import { AbortError, ModelError, RequestError } from "./errors.ts"
import { type GenerateResult, Generation } from "./generation.ts"
import { EngineMetrics } from "./metrics.ts"
import type { Model } from "./model.ts"
import { type GenerateOptions, type Prompt, readRequest } from "./request.ts"
import { type BatchEntry, Scheduler } from "./scheduler.ts"
import { checkComplete, readConstraint, type ValueOf } from "./schema.ts"
import { type GenerationEvent, isLegal, onlyToken, Sequence } from "./sequence.ts"
import { StopStrings } from "./stops.ts"
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
  readonly log: (line: string) => void
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

  constructor(parts: EngineParts) {
    this.parts = parts
    this.tokenizer = parts.tokenizer
    this.vocabulary = parts.tokenizer.vocabulary
    this.compiled = new CompiledConstraints(this.vocabulary)
    this.scheduler = new Scheduler(parts.model, this.vocabulary.words)
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
    })
    const compiled = constraint ? this.compileCounted(constraint.input, constraint.policies) : null
    const fsm = compiled ? this.compiled.machine(compiled.grammar) : null
    this.checkLine()
    const stops = new StopStrings(request.stops)
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
          stops,
          contextLength: this.model.contextLength,
          choice,
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
    this.parts.sampler.close()
  }

  /** Advances every running sequence by at least one token, or by a chunk of its prompt. */
  private async step(): Promise<void> {
    const batch = this.scheduler.next()
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
    const rows = drawn.filter(({ sequence }) => !sequence.isFinished)
    const wanted = batch.filter(({ feed }) => feed.wantsLogits)
    const results = await drawTokens(
      this.parts.sampler,
      { logits, wanted, width: this.vocabulary.width },
      rows,
    )
    ms.sample += performance.now() - arrivedAt
    for (const [index, { sequence }] of rows.entries()) this.take(sequence, results[index])
    this.metrics.steps++
    this.metrics.lastStepAt = performance.now()
  }

  /** Masks of the rows that will have logits, while the worker runs; returns the entries that must be sampled. */
  private fillMasks(batch: readonly BatchEntry[]): BatchEntry[] {
    const drawn: BatchEntry[] = []
    for (const entry of batch) {
      if (!entry.feed.wantsLogits) continue
      const { sequence } = entry
      const before = sequence.tokens.length
      const isForced = (): boolean =>
        this.fillMask(sequence) === "single" &&
        !needsLogits(sequence.options.params) &&
        isPermitted(sequence, onlyToken(sequence.mask!))
      while (!sequence.isFinished && isForced()) this.takeForced(sequence)
      if (sequence.isFinished) this.leave(sequence)
      // After a forced run the row's logits are stale: the run goes through the model first.
      else if (sequence.tokens.length === before) drawn.push(entry)
    }
    return drawn
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

/** A list of allowed ids is never lifted: a forced token outside it ends the answer by the sampler's verdict. */
function isPermitted({ options }: Sequence, token: number): boolean {
  const { allowed } = options.params
  return allowed === null || isLegal(allowed, token)
}

function randomSeed(): bigint {
  return crypto.getRandomValues(new BigInt64Array(1))[0]
}
