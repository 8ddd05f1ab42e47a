/**
 * The engine: requests in, tokens out, one step at a time for all of them together (`step.ts`).
 *
 * Here is what is around the steps: admission, the line, aborts, faults, the end. Whatever can be refused is refused in
 * `start`, before the first token.
 */

import type { CompileOptions, Grammar, GrammarInput, Report } from "../grammar/index.ts"
import { Matcher, type TokenMachine } from "../mask/index.ts"
import type { Vocabulary } from "../mask/vocabulary.ts"
import type { Sampler } from "../sampler/index.ts"
import { type Compiled, CompiledConstraints } from "./compiled.ts"
import { Speculation } from "./draft.ts"
import { AbortError, ModelError, RequestError } from "./errors.ts"
import { type GenerateResult, Generation } from "./generation.ts"
import { EngineMetrics } from "./metrics.ts"
import type { Model } from "./model.ts"
import { type GenerateOptions, type Prompt, type ReadRequest, readRequest } from "./request.ts"
import { Scheduler } from "./scheduler.ts"
import { type Constraint, checkComplete, readConstraint, type ValueOf } from "./schema.ts"
import { type GenerationEvent, Sequence } from "./sequence.ts"
import { canSpeculate } from "./speculation.ts"
import { breakEvenOf, type Speculator } from "./speculator.ts"
import { Stepper } from "./step.ts"
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
  private readonly stepper: Stepper

  constructor(parts: EngineParts) {
    this.parts = parts
    this.tokenizer = parts.tokenizer
    this.vocabulary = parts.tokenizer.vocabulary
    this.compiled = new CompiledConstraints(this.vocabulary)
    this.scheduler = new Scheduler(parts.model, this.vocabulary.words)
    const { vocabulary, scheduler, metrics } = this
    this.stepper = new Stepper({ ...parts, vocabulary, scheduler, metrics })
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
    const bound = constraint ? this.bind(constraint) : null
    this.checkLine()
    const matcher = bound && new Matcher(bound.machine)
    const healed = matcher && request.heals ? heal(matcher, request.promptIds) : null
    const promptIds = healed?.promptIds ?? request.promptIds
    const generation = new Generation({
      promptTokens: promptIds.length,
      report: bound?.report ?? null,
      constraint,
      compileMs: bound?.compileMs ?? 0,
      seed: request.params.seed,
      cancel: (cancelled) => this.cancel(cancelled),
    })
    const sequences = Array.from(
      { length: request.count },
      (_, choice) =>
        new Sequence({
          ...request,
          promptIds,
          prefix: healed?.prefix,
          vocabulary: this.vocabulary,
          matcher: matcher?.fork() ?? null,
          contextLength: this.model.contextLength,
          choice,
          speculation: this.speculation(request),
          emit: generation.push,
        }),
    )
    for (const { closing, left } of sequences) closing?.check(left)
    generation.sequences = sequences
    this.metrics.requests++
    this.metrics.promptTokens += promptIds.length
    // A constraint that only the empty text satisfies is complete before the first step.
    const begun = sequences.filter((sequence) => !sequence.options.matcher?.isExhausted())
    for (const sequence of sequences)
      if (!begun.includes(sequence)) this.stepper.end(sequence, "stop", "complete")
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
    for (const sequence of this.sequences()) this.stepper.end(sequence, "abort", null)
    await this.loop
    await this.parts.model.close()
    await this.parts.speculator?.drafter.close()
    this.parts.sampler.close()
  }

  /** How the drafts of a request are judged; null where there are none, or none could be. */
  private speculation({ params, verify, draftTokens }: ReadRequest): Speculation | null {
    const { speculator } = this.parts
    if (!speculator || draftTokens === 0 || !canSpeculate(params, verify)) return null
    const breakEven = (): number => breakEvenOf(speculator, this.scheduler.running.length)
    return new Speculation(verify, draftTokens, breakEven, speculator.isAdaptive)
  }

  private cancel(generation: Generation): void {
    for (const sequence of generation.sequences) this.stepper.end(sequence, "abort", null)
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
        await this.stepper.step()
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
      this.stepper.leave(sequence, false)
    }
    // Nothing ran: the fault is not a request's, and trying again would fail again.
    if (this.parts.model.isDead || running.length === 0) this.die(error)
  }

  private die(error: Error): void {
    if (this.death) return
    this.death = error
    this.parts.log(`model lost: ${error.message}`)
    for (const sequence of this.sequences()) this.stepper.end(sequence, "error", null, error.message)
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

  /** The machine that a constraint stands for, compiled if it is not yet. */
  private bind({ input, policies }: Constraint): {
    machine: TokenMachine
    report: Report | null
    compileMs: number
  } {
    if ("machine" in input)
      return { machine: this.compiled.stored(input), report: input.report, compileMs: 0 }
    const { grammar, report, isCached, compileMs } = this.compileCounted(input, policies)
    return { machine: this.compiled.machine(grammar), report, compileMs: isCached ? 0 : compileMs }
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

function randomSeed(): bigint {
  return crypto.getRandomValues(new BigInt64Array(1))[0]
}

/** What is left of the prompt, at least a token, once `matcher` has healed it, and the bytes to write again. */
function heal(
  matcher: Matcher,
  promptIds: readonly number[],
): { promptIds: readonly number[]; prefix: Uint8Array } {
  const { drop, prefix } = matcher.heal(promptIds.slice(1))
  return { promptIds: promptIds.slice(0, promptIds.length - drop), prefix }
}
