/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The engine: it takes requests and returns tokens, and runs one step at a time for all requests
 * together (`step.ts`).
 *
 * This file has everything around the steps: admission, the queue, aborts, faults, shutdown. Every
 * refusal happens in `start`, before the first token.
 */

import type { CompileOptions, Grammar, GrammarInput, Report } from "../../grammar/index.ts"
import { checkOptions } from "../../grammar/options.ts"
import type { Vocabulary } from "../../mask/vocabulary.ts"
import type { Sampler } from "../../sampler/index.ts"
import { onAbort } from "../aborts.ts"
import { type DecideOptions, type Decisions, decide, type Prompted } from "../decisions/decide.ts"
import type { DecisionInput } from "../decisions/prompt.ts"
import type { Question } from "../decisions/questions.ts"
import { type ScoreOptions, type Scores, score } from "../decisions/score.ts"
import { AbortError, ModelError, RequestError, reasonOf } from "../errors.ts"
import { type Extraction, type ExtractOptions, extract } from "../extraction/extract.ts"
import type { GuideHost, OpenedGuides } from "../guides/guide.ts"
import { LocalGuides } from "../guides/local.ts"
import type { Bound, WalkRequest } from "../guides/opening.ts"
import type { WorkLimits } from "../guides/protocol.ts"
import { RoutedGuides } from "../guides/routed.ts"
import type { DeviceTraffic, Model, ModelWork } from "../model/model.ts"
import type { Message } from "../model/template.ts"
import type { Tokenizer } from "../model/tokenizer.ts"
import type { PromptEncoder, PromptTime } from "../prompt/encoder.ts"
import {
  type Constraint,
  type ConstraintInput,
  checkComplete,
  type NoMore,
  readConstraint,
  type SchemaValue,
  type ValueOf,
  type WrittenOf,
} from "../schema.ts"
import { Drafting } from "../speculation/drafting.ts"
import type { Speculator } from "../speculation/speculator.ts"
import { type RunResult, run, type TypedRunOptions } from "../turn/run.ts"
import type { ModelStyle } from "../turn/style.ts"
import { type ApartReading, readingHere } from "../turn/wholereading.ts"
import { Admission } from "./admission.ts"
import { Batch } from "./batch.ts"
import type { BeamSettings } from "./beamoptions.ts"
import { type Probe, searchBeams, searchedRequest, writes } from "./beams.ts"
import { type Compiled, CompiledConstraints } from "./compiled.ts"
import { inOwnWords, ownText } from "./fieldnames.ts"
import { Generation } from "./generation.ts"
import { EngineMetrics } from "./metrics.ts"
import { type ProbeHost, probe } from "./probe.ts"
import {
  type GenerateOptions,
  type Prompt,
  promptIdsOf,
  type ReadRequest,
  readCount,
  readRequest,
} from "./request.ts"
import { generateAliases, generateFields } from "./requestfields.ts"
import { type GenerateResult, withJson, withValues } from "./result.ts"
import { Scheduler } from "./scheduler.ts"
import {
  type GenerationEvent,
  Sequence,
  type StreamEvent,
  type TakeToken,
  type TokenWatch,
} from "./sequence.ts"
import { Stepper } from "./step.ts"
import { Stepping } from "./stepping.ts"

export interface EngineParts {
  readonly model: Model
  readonly sampler: Sampler
  readonly tokenizer: Tokenizer
  readonly prompts: PromptEncoder
  /** Where constraints are compiled and masks are filled; null: in this thread. */
  readonly guides: (GuideHost & { readonly stateCount: number }) | null
  /** Time limits of the constraints of this thread. Default: none. */
  readonly limits?: Readonly<WorkLimits>
  /** Where turns whose tools have slow schemas are read. Default: in this thread. */
  readonly slowReading?: ApartReading
  readonly id: string
  readonly createdAt: number
  readonly family: string
  readonly parameterCount: number | null
  readonly fileType: string
  readonly weightBytes: number
  /** How the model writes calls and reasoning. */
  readonly style: ModelStyle
  /** Maximum number of sequences that wait for a slot. */
  readonly maxWaiting: number
  /** The seed of requests that have none. If undefined, each such request draws a seed. */
  readonly seed: bigint | undefined
  /** Null if the only drafts are those of `guesses`. */
  readonly speculator: Speculator | null
  /**
   * Whether drafts of constrained answers are guessed from the habits of their text
   * (`guides/habits.ts`), if that changes no bit.
   */
  readonly guesses: boolean
  readonly log: (line: string) => void
}

/** Properties of an engine's model. */
export interface ModelInfo {
  readonly id: string
  /** Seconds since 1970. */
  readonly createdAt: number
  readonly contextLength: number
  /** `model_type` of the model's config.json; "" if it has none. */
  readonly family: string
  /** Number of weights of a model of GGUF or safetensors; null if it is not known. */
  readonly parameterCount: number | null
  /** What the weights were quantized as, such as "Q4_K_M" or "F16"; or "unknown". */
  readonly fileType: string
  /** Bytes of the files that hold the graph and its weights. */
  readonly weightBytes: number
  /** Whether it is known how the model marks the reasoning before its answers. */
  readonly thinks: boolean
  /** V: columns of the logits. */
  readonly width: number
  readonly tokenCount: number
  readonly endIds: readonly number[]
}

/**
 * A model with its tokenizer, its sampler and the running requests. `open` creates it, `close` ends
 * it.
 */
export class Engine {
  readonly model: ModelInfo
  readonly vocabulary: Vocabulary
  readonly tokenizer: Tokenizer
  readonly metrics = new EngineMetrics()
  private readonly parts: EngineParts
  private readonly compiled: CompiledConstraints
  private readonly scheduler: Scheduler
  private readonly guides: GuideHost
  private readonly admission: Admission
  private closed: Promise<void> | undefined
  private readonly stepper: Stepper
  private readonly stepping: Stepping
  private readonly drafting: Drafting
  private readonly slowReading: ApartReading
  private readonly probing: ProbeHost

  constructor(parts: EngineParts) {
    this.parts = parts
    this.tokenizer = parts.tokenizer
    this.vocabulary = parts.tokenizer.vocabulary
    this.compiled = new CompiledConstraints(this.vocabulary)
    const local = new LocalGuides({
      vocabulary: this.vocabulary,
      encode: parts.tokenizer.encodePart,
      bind: (request) => this.bind(request),
      limits: parts.limits,
    })
    const guides = parts.guides ? new RoutedGuides(parts.guides, local) : local
    this.guides = guides
    this.slowReading = parts.slowReading ?? readingHere
    this.scheduler = new Scheduler(parts.model, this.vocabulary.words, ({ options, slot }) => {
      if (options.guide) guides.begin(options.guide, slot)
    })
    this.admission = new Admission(this.scheduler, parts.model.slotCount, parts.maxWaiting)
    const { vocabulary, scheduler, metrics } = this
    const stepper = new Stepper({ ...parts, vocabulary, scheduler, metrics, guides })
    this.stepper = stepper
    const { admission } = this
    this.stepping = new Stepping({ ...parts, scheduler, stepper, guides, admission, metrics })
    const { model, speculator, guesses } = parts
    this.drafting = new Drafting(model, speculator, guesses, () => scheduler.running.length)
    this.model = {
      id: parts.id,
      createdAt: parts.createdAt,
      contextLength: parts.model.contextLength,
      family: parts.family,
      parameterCount: parts.parameterCount,
      fileType: parts.fileType,
      weightBytes: parts.weightBytes,
      thinks: parts.style.reasoning !== null,
      width: this.vocabulary.width,
      tokenCount: this.vocabulary.tokenCount,
      endIds: this.vocabulary.endIds,
    }
    this.probing = {
      ...{ vocabulary, guides, contextLength: model.contextLength },
      openGuides: (request, count, signal) => this.openGuides(request, count, signal),
      checkAlive: () => this.stepping.checkAlive(),
      add: (sequence) => {
        scheduler.add([sequence])
        this.stepping.wake()
      },
      end: (sequence) => this.stepper.end(sequence, "abort", null),
    }
    parts.model.onDeath = (error) => this.stepping.die(error)
    parts.model.onRestart = () => this.scheduler.slots.forget()
  }

  /**
   * Admits a request: compiles the constraint, tokenizes the prompt and takes a place in the queue.
   * Rejects with OptionError, GrammarError, SamplingError, RequestError or AbortError. The returned
   * generation reports later failures only by its events.
   */
  start(prompt: Prompt, options: GenerateOptions = {}): Promise<Generation> {
    return this.begin(prompt, options, undefined)
  }

  private async begin(
    prompt: Prompt,
    options: GenerateOptions,
    watch: TokenWatch | undefined,
  ): Promise<Generation> {
    checkRequest(options)
    const { signal } = options
    if (signal?.aborted) throw new AbortError("", { cause: signal.reason })
    this.stepping.checkAlive()
    const count = readCount(options)
    const isBackground = options.background ?? false
    this.admission.check(count, isBackground)
    const prepared = this.admission.begin(count, isBackground)
    this.stepping.tellBusy()
    try {
      return await this.prepare(prompt, options, watch)
    } catch (error) {
      throw this.stepping.causeOf(error, signal)
    } finally {
      prepared()
      this.stepping.tellBusy()
    }
  }

  private async prepare(
    prompt: Prompt,
    options: GenerateOptions,
    watch: TokenWatch | undefined,
  ): Promise<Generation> {
    const { signal } = options
    const constraint = readConstraint(options)
    const request = { ...(await this.read(prompt, options, constraint)), ...(watch && { watch }) }
    if (request.beams) return this.search(request, request.beams, constraint, signal)
    return this.open(request, constraint, signal)
  }

  private read(
    prompt: Prompt,
    options: GenerateOptions,
    constraint: Constraint | null,
  ): Promise<ReadRequest> {
    return readRequest(prompt, options, {
      tokenizer: this.tokenizer,
      prompts: this.parts.prompts,
      contextLength: this.model.contextLength,
      seed: this.parts.seed ?? randomSeed(),
      maxDraftTokens: this.drafting.maxTokens,
      constraint,
      style: this.parts.style,
    })
  }

  /** Searches for the likeliest answers, then writes them. */
  private async search(
    request: ReadRequest,
    beams: BeamSettings,
    constraint: Constraint | null,
    signal: AbortSignal | undefined,
  ): Promise<Generation> {
    const plain = searchedRequest(request)
    const { vocabulary } = this
    const { own, release } = ownSignal(signal)
    const look: Probe = (written) => probe(this.probing, plain, written, own)
    const found = await searchBeams(plain, beams, { vocabulary, probe: look }).finally(release)
    if (found.length === 0) throw new RequestError("invalid_value", "use_beam_search: no text was found", "n")
    return this.open({ ...plain, count: found.length }, constraint, signal, found.map(writes))
  }

  /**
   * Opens the sequences of a request. `takes`: the functions that supply each answer's tokens, if
   * the tokens are not drawn.
   */
  private async open(
    request: ReadRequest,
    constraint: Constraint | null,
    signal: AbortSignal | undefined,
    takes: readonly TakeToken[] = [],
  ): Promise<Generation> {
    const opened = request.walk && (await this.openGuides(request.walk, request.count, signal))
    try {
      // The engine or the request may have ended during the wait.
      this.stepping.checkAlive()
      if (signal?.aborted) throw new AbortError("", { cause: signal.reason })
      return this.admit(request, constraint, opened, signal, takes)
    } catch (error) {
      for (const guide of opened?.guides ?? []) this.guides.release(guide)
      throw error
    }
  }

  /** Puts a prepared request into the queue. */
  private admit(
    request: ReadRequest,
    constraint: Constraint | null,
    opened: OpenedGuides | null,
    signal: AbortSignal | undefined,
    takes: readonly TakeToken[],
  ): Generation {
    const { drop = 0, prefix, report = null, compileMs = 0 } = opened?.opening ?? {}
    const { isAccepting, isExhausted, lostWords } = opened?.opening ?? {}
    const promptIds = request.promptIds.slice(0, request.promptIds.length - drop)
    const generation = new Generation({
      promptTokens: promptIds.length,
      report,
      constraint,
      turn: request.turn,
      fields: request.fields,
      confidence: request.confidence,
      slowReading: this.slowReading,
      bytesOf: (token) => this.vocabulary.name(token)?.length ?? this.vocabulary.bytes(token).length,
      endNames: this.vocabulary.endIds.map((id) => this.vocabulary.name(id)!),
      endName: (token) => (this.vocabulary.isEnd(token) ? this.vocabulary.name(token) : undefined),
      compileMs,
      seed: request.params.seed,
      warnings: request.warnings,
      cancel: (cancelled) => this.cancel(cancelled),
    })
    const isConstrained = request.turn === null ? constraint !== null : request.turn.constraint !== null
    const sequences = Array.from(
      { length: request.count },
      (_, choice) =>
        new Sequence({
          ...request,
          promptIds,
          ...(prefix && { prefix }),
          ...(lostWords && { lostWords }),
          vocabulary: this.vocabulary,
          guide: opened?.guides[choice] ?? null,
          isConstrained,
          spellsControls: request.turn !== null,
          ...(isConstrained && { isComplete: isAccepting ?? false }),
          contextLength: this.model.contextLength,
          choice,
          take: takes[choice],
          speculation: this.drafting.judge(request),
          emit: generation.push,
        }),
    )
    generation.sequences = sequences
    this.metrics.requests++
    this.metrics.promptTokens += promptIds.length
    // If only the empty text satisfies the constraint, the answer is complete before the first
    // step.
    if (isConstrained && isExhausted)
      for (const sequence of sequences) this.stepper.end(sequence, "stop", "complete")
    else this.scheduler.add(sequences)
    this.watchSignal(generation, signal)
    void generation.result.then((result) => this.metrics.answered(result))
    this.stepping.wake()
    return generation
  }

  /**
   * Returns the whole answer. Rejects as `start` does, and with IncompleteError (a constrained
   * answer that ran out of budget), ValidationError (the schema's own validator), AbortError,
   * ModelError.
   */
  async generate<const Options extends GenerateOptions & NoMore<Options, GenerateOptions>>(
    prompt: Prompt,
    options?: Options,
  ): Promise<GenerateResult<ValueOf<Options>>> {
    try {
      return await this.answer(prompt, options)
    } catch (error) {
      throw reasonOf(inOwnWords(error))
    }
  }

  private async answer<Options extends GenerateOptions>(
    prompt: Prompt,
    options: Options | undefined,
    watch?: TokenWatch,
  ): Promise<GenerateResult<ValueOf<Options>>> {
    checkRequest(options ?? {})
    const constraint = readConstraint(options ?? {})
    const generation = await this.begin(prompt, options ?? {}, watch)
    const raw = await generation.result
    const result = withJson({ ...raw, warnings: raw.warnings.map(ownText) })
    for (const choice of result.choices) {
      if (choice.finishReason === "abort")
        throw new AbortError(choice.text, { cause: options?.signal?.reason })
      if (choice.finishReason === "error")
        throw choice.error ?? new ModelError(choice.message ?? "the model failed")
      if (constraint && choice.toolCalls.length === 0)
        checkComplete(choice.text, choice.finishReason, constraint.title)
    }
    if (!constraint) return result as GenerateResult<ValueOf<Options>>
    return withValues(result, constraint) as Promise<GenerateResult<ValueOf<Options>>>
  }

  /**
   * Returns the answers to many prompts with the same options, in their order: `for await (const
   * result of engine.batch(prompts, options))`, or `await engine.batch(prompts, options)` for all
   * of them. The first failure ends the batch with the error that `generate` would throw.
   */
  batch<const Options extends GenerateOptions & NoMore<Options, GenerateOptions>>(
    prompts: Iterable<Prompt>,
    options?: Options,
  ): Batch<ValueOf<Options>> {
    const { signal: own, ...rest } = options ?? ({} as Options)
    checkRequest(rest)
    const answer = (prompt: Prompt, signal: AbortSignal) =>
      this.generate(prompt, { ...rest, signal } as unknown as GenerateOptions) as Promise<
        GenerateResult<ValueOf<Options>>
      >
    const width = Math.max(1, Math.floor(this.batchWidth / readCount(rest)))
    return new Batch(prompts, answer, width, own)
  }

  /**
   * Yields the events of an answer as they come, and after each of them the changes of the values
   * of a JSON text: they open, grow and close. Leaving the loop cancels the request.
   */
  async *stream<const Options extends GenerateOptions & NoMore<Options, GenerateOptions>>(
    prompt: Prompt,
    options?: Options,
  ): AsyncGenerator<StreamEvent<WrittenOf<Options>>> {
    checkRequest(options ?? {})
    const generation = await this.start(prompt, { ...options, fields: options?.fields ?? true }).catch(
      (error) => {
        throw reasonOf(inOwnWords(error))
      },
    )
    for await (const { fields, ...event } of generation) {
      // Changes of values that the end of the answer causes come before its `finish` event.
      const isLast = event.type === "finish"
      if (!isLast) yield event as GenerationEvent
      const call = event.type === "arguments" ? { call: event.index } : {}
      for (const field of fields ?? [])
        yield { choice: event.choice, ...call, ...field } as StreamEvent<WrittenOf<Options>>
      if (isLast) yield event as GenerationEvent
    }
  }

  /**
   * Returns the tokens that `start` would give to the model. `spent`: the time that tokenizing the
   * prompts of one request has taken so far. This call adds its own time; all prompts of a request
   * together have the time limit of one. Rejects with RequestError, AbortError and ModelError.
   */
  async tokenize(
    prompt: Prompt,
    options: GenerateOptions = {},
    spent: PromptTime = { ms: 0 },
  ): Promise<readonly number[]> {
    checkRequest(options)
    const input = readConstraint(options)?.input ?? null
    try {
      return await promptIdsOf(prompt, options, this.parts.prompts, input, spent)
    } catch (error) {
      throw this.stepping.causeOf(error, options.signal)
    }
  }

  /**
   * Returns the answers to questions about `input`, with exact probabilities: of writing the text
   * of each option and ending, over all tokenisations, normalised over the options. The chat
   * template renders the input and each question; docs/decisions.md has the text. Nothing is drawn.
   * Costs one prefill, and one forward for each beginning of an option in tokens that the sums
   * need. Rejects with RequestError before the first forward, and with one that names the options
   * if they have too many spellings; with OptionError, AbortError and ModelError.
   */
  async decide(
    input: DecisionInput,
    questions: readonly Question[],
    options: DecideOptions = {},
  ): Promise<Decisions> {
    const host = { vocabulary: this.vocabulary, ...this.judging() }
    return this.judged(options, (signal) =>
      decide(
        {
          ...host,
          prompt: (messages, { templateOptions, background }) => {
            const variables = { enable_thinking: false, ...templateOptions?.variables }
            return this.prompted(
              messages,
              { background, templateOptions: { ...templateOptions, variables } },
              signal,
            )
          },
        },
        input,
        questions,
        options,
      ),
    )
  }

  /**
   * Returns the log-probabilities of texts that may continue the prompt, token by token, in the
   * tokenizer's own tokens. Costs one forward a token. Rejects as `decide` does.
   */
  async score(prompt: Prompt, texts: readonly string[], options: ScoreOptions = {}): Promise<Scores> {
    const { prompts } = this.parts
    return this.judged(options, (signal) =>
      score(
        {
          ...{ ...this.judging(), endIds: this.vocabulary.endIds },
          prompt: () => this.prompted(prompt, options, signal),
          encode: (text) => prompts.encode({ kind: "part", text }, signal),
        },
        texts,
        options,
      ),
    )
  }

  /**
   * Returns a value of `schema` from `text`: strings that the schema leaves open, or marks by
   * `"x-copied": true`, are substrings of the text by grammar. Each string, number, boolean and
   * null has its place in the text, and how sure the model was; docs/extraction.md has the rules.
   * Rejects as `generate` does.
   */
  async extract<const Schema>(
    text: string,
    schema: Schema,
    options: ExtractOptions = {},
  ): Promise<Extraction<ValueOf<{ schema: Schema }>>> {
    const { vocabulary, parts } = this
    const host = {
      vocabulary,
      tokenize: (messages: readonly Message[], how: GenerateOptions, constraint: ConstraintInput) =>
        promptIdsOf(messages, how, parts.prompts, constraint),
      answer: (prompt: readonly number[], asked: GenerateOptions, watch: TokenWatch) =>
        this.answer(prompt, asked, watch),
    }
    try {
      return await extract(host, text, schema, options)
    } catch (error) {
      throw reasonOf(inOwnWords(this.stepping.causeOf(error, options.signal)))
    }
  }

  private judging(): { contextLength: number; slotCount: number } {
    return { contextLength: this.model.contextLength, slotCount: this.parts.model.slotCount }
  }

  /** Runs a task that looks at logits. If a part of it fails, its other parts end. */
  private async judged<Result>(
    { signal, background }: Pick<ScoreOptions, "signal" | "background">,
    task: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    if (signal?.aborted) throw reasonOf(new AbortError("", { cause: signal.reason }))
    this.stepping.checkAlive()
    this.admission.check(1, background ?? false)
    const { own, end, release } = ownSignal(signal)
    try {
      return await task(own)
    } catch (error) {
      end()
      throw reasonOf(inOwnWords(this.stepping.causeOf(error, signal)))
    } finally {
      release()
    }
  }

  private async prompted(
    prompt: Prompt,
    { raw = false, templateOptions = {}, background }: ScoreOptions,
    signal: AbortSignal,
  ): Promise<Prompted> {
    const ids = await promptIdsOf(prompt, { raw, templateOptions, signal }, this.parts.prompts)
    const request = await this.read(ids, { raw: true, maxTokens: 1, background }, null)
    return { ids, look: async (written) => (await probe(this.probing, request, written, signal))! }
  }

  /**
   * Runs the tool loop: the model answers, its calls are run, and it answers again, until it makes
   * no more calls. Rejects as `generate` does, and with RequestError if `maxSteps` is not a valid
   * number of steps.
   */
  run<const Schemas extends Readonly<Record<string, unknown>>, const Schema = unknown>(
    prompt: string | readonly Message[],
    options: TypedRunOptions<Schemas, Schema>,
  ): Promise<RunResult<SchemaValue<Schema>>> {
    return run(this, prompt, options) as Promise<RunResult<SchemaValue<Schema>>>
  }

  /** Returns the compiled constraint, from the cache if possible. Throws GrammarError. */
  compile(
    input: GrammarInput | Grammar,
    options: CompileOptions = {},
  ): { grammar: Grammar; report: Report | null } {
    const { grammar, report } = this.compileCounted(input, options)
    return { grammar, report }
  }

  /** Whether `close` has been called, so that no request is answered any more. */
  get isClosed(): boolean {
    return this.stepping.isClosing
  }

  /**
   * Whether the engine is dead: the model is lost, or no step has ended for 30 s although there is
   * work.
   */
  get isDead(): boolean {
    return this.stepping.isDead
  }

  /** Whether the model is being loaded again after it was lost. Requests are accepted and wait. */
  get isRestarting(): boolean {
    return this.parts.model.isRestarting
  }

  /**
   * Number of answers of a batch that are asked for at once: more than there are slots, as far as
   * the queue allows, so that the next prompts are prepared while others run.
   */
  get batchWidth(): number {
    const { model, maxWaiting } = this.parts
    return model.slotCount + Math.min(model.slotCount, maxWaiting)
  }

  load(): { running: number; waiting: number; slots: number } {
    const { running, waiting } = this.scheduler
    return { running: running.length, waiting: waiting.length, slots: this.parts.model.slotCount }
  }

  /** Approximate number of states of all cached machines. O(constraints of this thread). */
  get stateCount(): number {
    return this.compiled.stateCount + (this.parts.guides?.stateCount ?? 0)
  }

  /** Counts of the model's work since it was opened. */
  modelWork(): ModelWork {
    return this.parts.model.work
  }

  /**
   * Bytes between host and device since it was opened. undefined unless model and sampler share a
   * device.
   */
  deviceTraffic(): DeviceTraffic | undefined {
    return this.parts.model.traffic
  }

  /** Number of tokens of running sequences in the model's cache, and its capacity. */
  cacheLoad(): { used: number; size: number } {
    const used = this.scheduler.running.reduce((sum, { cachedCount }) => sum + cachedCount, 0)
    return { used, size: this.parts.model.slotCount * this.model.contextLength }
  }

  /**
   * Ends running answers by `abort` and releases model and sampler. A second call returns the same
   * promise.
   */
  close(): Promise<void> {
    this.closed ??= this.end()
    return this.closed
  }

  /** `await using engine = await open()` calls this at the end of its block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  private async end(): Promise<void> {
    await this.stepping.end()
    await this.guides.close()
    await this.parts.prompts.close()
    await this.slowReading.close()
    await this.parts.model.close()
    await this.parts.speculator?.drafter.close()
    this.parts.sampler.close()
  }

  private cancel(generation: Generation): void {
    for (const sequence of generation.sequences) this.stepper.end(sequence, "abort", null)
  }

  /**
   * Throws RequestError unless `count` more answers find a slot or a place in a queue of `most` and
   * of the engine's own bound. Answers of the background take no place from the others.
   */
  checkLine(count: number, most = Number.POSITIVE_INFINITY, isBackground = false): void {
    this.admission.check(count, isBackground, most)
  }

  private async openGuides(request: WalkRequest, count: number, signal?: AbortSignal): Promise<OpenedGuides> {
    this.stepping.checkAlive()
    const opened = await this.guides.open(request, count, signal)
    const { opening, guides } = opened
    if (request.constraint && guides[0].host === this.parts.guides) {
      this.metrics.compiled(kindOf(request.constraint.input), opening.isCached, opening.compileMs)
    }
    return opened
  }

  /** Returns the machine of a constraint, in this thread. */
  private bind({ constraint }: WalkRequest): Bound | null {
    if (!constraint) return null
    const { input, policies } = constraint
    if ("machine" in input) {
      return { machine: this.compiled.stored(input), report: input.report, compileMs: 0, isCached: true }
    }
    const { grammar, report, isCached, compileMs } = this.compileCounted(input, this.bounded(policies))
    return { machine: this.compiled.machine(grammar), report, isCached, compileMs: isCached ? 0 : compileMs }
  }

  /** Returns the options with the engine's time limit, if it has one and theirs is not lower. */
  private bounded(policies: CompileOptions): CompileOptions {
    const { compileMs } = this.parts.limits ?? {}
    if (compileMs === undefined) return policies
    const least = Math.min(compileMs, policies.limits?.compileMs ?? compileMs)
    return { ...policies, limits: { ...policies.limits, compileMs: least } }
  }

  private compileCounted(input: GrammarInput | Grammar, options: CompileOptions): Compiled {
    try {
      const compiled = this.compiled.compile(input, { surface: "generate", ...options })
      this.metrics.compiled(kindOf(input), compiled.isCached, compiled.compileMs)
      return compiled
    } catch (error) {
      this.metrics.compileMisses++
      throw error
    }
  }

  private watchSignal(generation: Generation, signal: AbortSignal | undefined): void {
    void generation.result.then(onAbort(signal, () => this.cancel(generation)))
  }
}

/**
 * Returns a signal that fires with the caller's, for many listeners; `end` fires it, and `release`
 * detaches it from the caller's.
 */
function ownSignal(signal: AbortSignal | undefined): {
  own: AbortSignal
  end: () => void
  release: () => void
} {
  const own = new AbortController()
  const release = onAbort(signal, () => own.abort(signal?.reason))
  return { own: own.signal, end: () => own.abort(), release }
}

/** Throws OptionError for an unknown option. */
function checkRequest(options: GenerateOptions): void {
  checkOptions(options, generateFields, { aliases: generateAliases })
}

/**
 * Returns the kind of a constraint, for metrics. An already compiled constraint has no kind of its
 * own.
 */
function kindOf(input: ConstraintInput): string {
  return "kind" in input ? input.kind : "compiled"
}

function randomSeed(): bigint {
  return crypto.getRandomValues(new BigInt64Array(1))[0]
}
