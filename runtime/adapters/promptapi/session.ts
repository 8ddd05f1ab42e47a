/**
 * A session of the Prompt API: a conversation that grows by prompts and their answers.
 *
 * The operations of a session run one after the other. An operation that fails or is aborted leaves
 * the conversation as it was. If the context window has no room for a prompt, the oldest prompts
 * are removed with their answers, and `contextoverflow` is fired; the initial prompts are never
 * removed.
 */
import { onAbort } from "../../aborts.ts"
import type { Engine } from "../../engine/engine.ts"
import { inOwnWords } from "../../engine/fieldnames.ts"
import type { GenerateOptions, Prompt } from "../../engine/request.ts"
import { AbortError, ModelError } from "../../errors.ts"
import type { Message } from "../../model/template.ts"
import { checkComplete, withDefaults } from "../../schema.ts"
import { exception, exceptionOf, quotaExceeded } from "./errors.ts"
import { type PromptInput, type ReadInput, readInput } from "./messages.ts"

/** The engine, as far as sessions need it. */
export type SessionEngine = Pick<Engine, "model" | "start" | "tokenize">

/** Options of a prompt. */
export interface PromptOptions {
  /** A JSON Schema (an object), or a RegExp that the whole answer must match. */
  readonly responseConstraint?: object | undefined
  /** If true, the prompt does not contain the JSON Schema of the constraint. Default false. */
  readonly omitResponseConstraintInput?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/** A listener of `contextoverflow`. */
export type OverflowListener = ((event: { readonly type: string }) => void) | null

/** A session, with the methods of `LanguageModel` in browsers. */
export interface PromptSession {
  /** Tokens of the conversation so far. */
  readonly contextUsage: number
  /** Tokens that the conversation and its answer may have together. */
  readonly contextWindow: number
  /** The former name of `contextUsage`. */
  readonly inputUsage: number
  /** The former name of `contextWindow`. */
  readonly inputQuota: number
  readonly temperature: number
  readonly topK: number
  oncontextoverflow: OverflowListener
  /** The former name of `oncontextoverflow`. */
  onquotaoverflow: OverflowListener
  /** Returns the answer, which satisfies the constraint. */
  prompt(input: PromptInput, options?: PromptOptions): Promise<string>
  /** Returns the answer in pieces as it is written. */
  promptStreaming(input: PromptInput, options?: PromptOptions): ReadableStream<string>
  /** Adds messages without an answer. */
  append(input: PromptInput, options?: { readonly signal?: AbortSignal | undefined }): Promise<void>
  /** Returns the number of tokens that a prompt would add. */
  measureContextUsage(input: PromptInput, options?: PromptOptions): Promise<number>
  /** The former name of `measureContextUsage`. */
  measureInputUsage(input: PromptInput, options?: PromptOptions): Promise<number>
  /** Returns a session with the same conversation, which grows by itself. */
  clone(options?: { readonly signal?: AbortSignal | undefined }): Promise<PromptSession>
  /** Ends what runs and waits, with an AbortError. */
  destroy(): void
  addEventListener(type: string, listener: (event: { readonly type: string }) => void): void
  removeEventListener(type: string, listener: (event: { readonly type: string }) => void): void
}

/** What a session begins with, and what its prompts have in common. */
export interface SessionStart {
  readonly initial: readonly Message[]
  readonly turns: readonly Message[]
  readonly options: GenerateOptions
  readonly temperature: number
  readonly topK: number
  readonly contextUsage: number
}

/**
 * The session itself; its users see the interface.
 *
 * @internal
 */
export class Session extends EventTarget implements PromptSession {
  contextUsage: number
  readonly temperature: number
  readonly topK: number
  oncontextoverflow: OverflowListener = null
  onquotaoverflow: OverflowListener = null
  private readonly engine: SessionEngine
  private readonly start: SessionStart
  private turns: readonly Message[]
  private readonly end = new AbortController()
  /** The last operation, which the next one waits for. Never rejects. */
  private last: Promise<unknown> = Promise.resolve()

  constructor(engine: SessionEngine, start: SessionStart) {
    super()
    this.engine = engine
    this.start = start
    this.turns = start.turns
    this.temperature = start.temperature
    this.topK = start.topK
    this.contextUsage = start.contextUsage
  }

  get contextWindow(): number {
    return this.engine.model.contextLength
  }

  get inputUsage(): number {
    return this.contextUsage
  }

  get inputQuota(): number {
    return this.contextWindow
  }

  async prompt(input: PromptInput, options: PromptOptions = {}): Promise<string> {
    let text = ""
    for await (const piece of this.answer(input, options)) text += piece
    return text
  }

  promptStreaming(input: PromptInput, options: PromptOptions = {}): ReadableStream<string> {
    const left = new AbortController()
    const pieces = this.answer(input, { ...options, signal: anyOf(left.signal, options.signal) })
    // The answer takes its place in the queue now, and is written whether it is read or not.
    let first: Promise<IteratorResult<string>> | undefined = pieces.next()
    first.catch(() => {})
    const source = {
      async pull(controller: ReadableStreamDefaultController<string>) {
        const { done, value } = await (first ?? pieces.next())
        first = undefined
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel(reason: unknown) {
        left.abort(reason)
        // The generator may stand between two pieces, where it sees no signal.
        await pieces.return(undefined)
      },
    }
    return new ReadableStream<string>(source, { highWaterMark: Number.POSITIVE_INFINITY })
  }

  append(input: PromptInput, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    return this.queued(signal, async (own) => {
      const messages = this.wholeMessages(input)
      const kept = await this.makeRoom(messages, {}, 0, own)
      own.throwIfAborted()
      await this.keep([...kept, ...messages])
    })
  }

  measureContextUsage(input: PromptInput, options: PromptOptions = {}): Promise<number> {
    const { signal } = options
    return this.queued(signal, async (own) => {
      const all = [...this.start.initial, ...this.turns, ...this.wholeMessages(input)]
      const asked = withDefaults(this.start.options, constraintOf(options))
      return (await this.count(all, { ...asked, signal: own })) - this.contextUsage
    })
  }

  measureInputUsage(input: PromptInput, options: PromptOptions = {}): Promise<number> {
    return this.measureContextUsage(input, options)
  }

  clone({ signal }: { signal?: AbortSignal | undefined } = {}): Promise<PromptSession> {
    return this.queued(signal, async () => {
      const { turns, contextUsage } = this
      return new Session(this.engine, { ...this.start, turns, contextUsage })
    })
  }

  destroy(reason: unknown = exception("AbortError", "the session was destroyed")): void {
    this.end.abort(reason)
  }

  /** Destroys the session when the signal fires, which has not fired yet. */
  destroyOn(signal: AbortSignal): void {
    const detach = onAbort(signal, () => this.destroy(signal.reason))
    onAbort(this.end.signal, detach)
  }

  /** Yields the pieces of an answer, and adds the prompt and the answer to the conversation. */
  private async *answer(input: PromptInput, options: PromptOptions): AsyncGenerator<string> {
    const own = this.signalOf(options.signal)
    const release = await this.turn(own)
    try {
      yield* this.generate(this.read(input), constraintOf(options), own)
    } catch (error) {
      throw exceptionOf(inOwnWords(error), own)
    } finally {
      release()
    }
  }

  private async *generate(
    { messages, prefix }: ReadInput,
    constraint: GenerateOptions,
    signal: AbortSignal,
  ): AsyncGenerator<string> {
    const options = { ...withDefaults(this.start.options, constraint), signal }
    const begun = prefix === null ? [] : await this.prefixIds(prefix, signal)
    const kept = await this.makeRoom(messages, options, begun.length + 1, signal)
    const all = [...this.start.initial, ...kept, ...messages]
    const { schemaInPrompt, ...others } = options
    const generation =
      prefix === null
        ? await this.engine.start(all, options)
        : await this.engine.start([...(await this.engine.tokenize(all, options)), ...begun], {
            ...others,
            raw: true,
          })
    let text = ""
    for await (const event of generation) {
      if (event.type !== "text" || event.text === "") continue
      text += event.text
      yield event.text
    }
    const { finishReason, error, message } = await generation.result
    signal.throwIfAborted()
    // The engine was closed, which ends an answer as an abort does.
    if (finishReason === "abort") throw new AbortError(text)
    if (finishReason === "error") throw error ?? new ModelError(message ?? "the model failed")
    if (Object.keys(constraint).length > 0) checkComplete(text, finishReason, "responseConstraint")
    await this.keep([...kept, ...messages, { role: "assistant", content: (prefix ?? "") + text }])
  }

  private read(input: PromptInput): ReadInput {
    return readInput(input, this.start.initial.length === 0 && this.turns.length === 0)
  }

  /** Returns the messages of an input; a prefix is a message like the others. */
  private wholeMessages(input: PromptInput): readonly Message[] {
    const { messages, prefix } = this.read(input)
    return prefix === null ? messages : [...messages, { role: "assistant", content: prefix }]
  }

  /** Returns the tokens of a text that begins an answer. */
  private prefixIds(prefix: string, signal: AbortSignal): Promise<readonly number[]> {
    return this.engine.tokenize(prefix, { raw: true, parseSpecial: false, addSpecialTokens: false, signal })
  }

  /**
   * Returns the turns that leave room for messages and `answer` more tokens: all, or those behind
   * the oldest. Throws if the messages alone have no room.
   */
  private async makeRoom(
    messages: readonly Message[],
    options: GenerateOptions,
    answer: number,
    signal: AbortSignal,
  ): Promise<readonly Message[]> {
    let kept = this.turns
    for (;;) {
      const all = [...this.start.initial, ...kept, ...messages]
      const requested = answer + (await this.count(all, { ...options, signal }))
      if (requested <= this.contextWindow) break
      if (kept.length === 0) throw quotaExceeded(requested, this.contextWindow)
      kept = withoutOldest(kept)
    }
    if (kept !== this.turns) this.tellOverflow()
    return kept
  }

  private tellOverflow(): void {
    for (const type of ["contextoverflow", "quotaoverflow"] as const) {
      const event = new Event(type)
      this[`on${type}`]?.(event)
      this.dispatchEvent(event)
    }
  }

  private async keep(turns: readonly Message[]): Promise<void> {
    const all = [...this.start.initial, ...turns]
    this.contextUsage = await this.count(all, { templateOptions: { addGenerationPrompt: false } })
    this.turns = turns
  }

  /** Returns the number of tokens of a conversation with its tools; none has no tokens. */
  private async count(messages: readonly Message[], options: GenerateOptions): Promise<number> {
    if (messages.length === 0) return 0
    const { tools, ...defaults } = this.start.options
    const templateOptions = { ...defaults.templateOptions, ...options.templateOptions }
    const counted = { ...(tools && { tools }), ...options, templateOptions }
    return (await this.engine.tokenize(messages as Prompt, counted)).length
  }

  /** Runs an operation when those before it have ended. */
  private async queued<Result>(
    signal: AbortSignal | undefined,
    task: (own: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const own = this.signalOf(signal)
    const release = await this.turn(own)
    try {
      return await task(own)
    } catch (error) {
      throw exceptionOf(inOwnWords(error), own)
    } finally {
      release()
    }
  }

  /** Returns a signal that also fires when the session is destroyed. Throws if it has fired. */
  private signalOf(signal: AbortSignal | undefined): AbortSignal {
    const own = anyOf(this.end.signal, signal)
    own.throwIfAborted()
    return own
  }

  /**
   * Waits until the operations before this one have ended. Returns the function that lets the next
   * one begin.
   */
  private async turn(own: AbortSignal): Promise<() => void> {
    const before = this.last
    let release = () => {}
    const mine = new Promise<void>((resolve) => {
      release = resolve
    })
    this.last = before.then(() => mine)
    try {
      await new Promise<void>((resolve, reject) => {
        const detach = onAbort(own, () => reject(own.reason))
        void before.then(detach).then(resolve)
      })
    } catch (error) {
      release()
      throw error
    }
    return release
  }
}

/** Returns the turns without the oldest prompt and its answer. */
function withoutOldest(turns: readonly Message[]): readonly Message[] {
  const answer = turns.findIndex(({ role }) => role === "assistant")
  return answer < 0 ? [] : turns.slice(answer + 1)
}

function anyOf(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  return other === undefined ? one : AbortSignal.any([one, other])
}

/** Returns the engine's options of a constraint, which the budget completes. */
function constraintOf(options: PromptOptions): GenerateOptions {
  const { responseConstraint: constraint, omitResponseConstraintInput: isOmitted = false } = options
  if (constraint === undefined || constraint === null) {
    if (isOmitted) throw new TypeError("omitResponseConstraintInput: there is no responseConstraint")
    return {}
  }
  if (typeof constraint !== "object")
    throw new TypeError("responseConstraint: it is neither a JSON Schema object nor a RegExp")
  if (Object.prototype.toString.call(constraint) === "[object RegExp]")
    return { regex: constraint as RegExp, onLength: "close" }
  return { schema: constraint, onLength: "close", schemaInPrompt: !isOmitted }
}
