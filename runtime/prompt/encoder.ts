/**
 * Encodes prompts without blocking the event loop: short ones in this thread, for a few
 * milliseconds; long ones, and those that take longer, in another thread. That thread is ended if a
 * prompt exceeds its time or memory, or if its request has ended.
 *
 * A text is measured before it is encoded: if it has more bytes than the longest tokens of a whole
 * context could write, it cannot fit.
 */
import type { Worker } from "node:worker_threads"
import { onAbort } from "../aborts.ts"
import { AbortError, ModelError, RequestError } from "../errors.ts"
import { maxHeapMb, type PackedError, unpackError } from "../guides/protocol.ts"
import type { Message, TemplateOptions } from "../model/template.ts"
import type { Tokenizer } from "../model/tokenizer.ts"

/** The input of an encoding. */
export type PromptText =
  /**
   * A raw prompt: control tokens in it are recognized unless `parseSpecial` is false, and a begin
   * token is written.
   */
  | { kind: "raw"; text: string; addSpecialTokens?: boolean; parseSpecial?: boolean }
  /** A part of a text, in which the spelling of a control token is plain text. */
  | { kind: "part"; text: string }
  | { kind: "messages"; messages: readonly Message[]; options: TemplateOptions }

export type PromptAnswer = { ids: readonly number[] } | { error: PackedError }

/** Thrown by `within` when the time of the work is over. */
export class OutOfTimeError extends Error {}

/** Work outside of the engine's thread, and work in it that is ended when its time is over. */
export interface PromptThreads {
  /** Starts a thread. It answers `ready`, and for each text `begun` and the result. @internal */
  start(): Worker
  /** Returns the result of `work`. Throws OutOfTimeError after `ms` milliseconds. */
  within<Result>(ms: number, work: () => Result): Result
}

export interface PromptOptions {
  /** Maximum number of long prompts that wait for the thread. Default 256. */
  readonly maxWaiting?: number
  readonly tokenizer: Tokenizer
  readonly contextLength: number
  /** Null: everything is encoded in this thread, without a time limit. */
  readonly threads: PromptThreads | null
  /**
   * Whether the tokenizer and the templates are the package's own, so that their time is known to
   * be linear in the text.
   */
  readonly isKnown?: boolean
  /** Maximum milliseconds for one prompt, and for all prompts of one request. */
  readonly promptMs: number
}

/**
 * Maximum units that are encoded in the engine's thread, which takes about 3 ms (embedded model's
 * tokenizer, Node 20).
 */
export const shortLength = 4_096
export const defaultPromptMs = 5_000
/** Maximum milliseconds for which one short prompt may block the engine's thread. */
const hereMs = 30
/** Maximum milliseconds for which the words of one request, such as banned ones, may block it. */
const wordsMs = 250
/** Default of `maxWaiting`. */
const defaultMaxWaiting = 256

/** Milliseconds that the prompts of one request have taken so far. */
export interface PromptTime {
  ms: number
}

interface Job {
  readonly text: PromptText
  readonly spent: PromptTime
  resolve(ids: readonly number[]): void
  reject(error: Error): void
}

export class PromptEncoder {
  private readonly options: PromptOptions
  private worker: Worker | undefined
  private current: Job | undefined
  private timer: ReturnType<typeof setTimeout> | undefined
  /** performance.now() when the thread started the current job. */
  private begunAt = 0
  private waiting: Job[] = []
  private isClosed = false
  /** Whether the last short prompt took too long for this thread. */
  private isSlow = false

  constructor(options: PromptOptions) {
    this.options = options
  }

  /**
   * Maximum units of a text that may still fit into the context: the bytes of as many of the
   * longest tokens.
   */
  get maxUnits(): number {
    const { tokenizer, contextLength } = this.options
    return contextLength * tokenizer.vocabulary.maxTokenBytes
  }

  /**
   * Returns the ids of a text, and adds its time to `spent`. Rejects with RequestError if the text
   * cannot fit into the context, if the template refuses it, or if it takes too long, and with
   * AbortError.
   */
  async encode(
    text: PromptText,
    signal?: AbortSignal,
    spent: PromptTime = { ms: 0 },
  ): Promise<readonly number[]> {
    const length = lengthOf(text)
    const { contextLength, threads } = this.options
    const bound = this.maxUnits
    // The exact number of tokens of a short text is soon known, since the text is encoded.
    if (length > Math.max(bound, shortLength)) {
      const least = Math.ceil((length * contextLength) / bound)
      throw new RequestError(
        "context_length_exceeded",
        `the prompt has ${length} characters, and the context of ${contextLength} tokens cannot hold more than ${bound}: shorten it`,
        fieldOf(text),
        text.kind === "part"
          ? undefined
          : { contextLength, promptTokens: least, isCounted: false, maxTokens: null },
      )
    }
    if (spent.ms > this.options.promptMs) throw this.tooLong(text)
    const ids = !threads || length <= shortLength ? this.encodeHere(text, spent) : null
    if (ids !== null || !threads) return ids ?? []
    if (this.isClosed) throw new AbortError()
    const { maxWaiting = defaultMaxWaiting } = this.options
    if (this.waiting.length >= maxWaiting) {
      const message = `${maxWaiting} long prompts wait to be tokenised: try again later`
      throw new RequestError("queue_full", message)
    }
    let callOff = (): void => {}
    const encoded = new Promise<readonly number[]>((resolve, reject) => {
      const job: Job = { text, spent, resolve, reject }
      callOff = onAbort(signal, () => this.drop(job, new AbortError("", { cause: signal?.reason })))
      this.waiting.push(job)
      this.next(threads)
    })
    return encoded.finally(() => callOff())
  }

  /**
   * Returns a function that encodes the words of one request, which are parts of texts, in this
   * thread. The function throws RequestError if all words together take too long.
   */
  wordEncoder(): (text: string) => number[] {
    const { tokenizer } = this.options
    const { bounds } = this
    if (!bounds) return tokenizer.encodePart
    let left = wordsMs
    return (text) => {
      const startedAt = performance.now()
      try {
        return bounds.within(Math.max(1, Math.ceil(left)), () => tokenizer.encodePart(text))
      } catch (error) {
        if (!(error instanceof OutOfTimeError)) throw error
        const message = `the words of this request take more than ${wordsMs} ms to be tokenised: leave them out, or choose another model`
        throw new RequestError("invalid_value", message)
      } finally {
        left -= performance.now() - startedAt
      }
    }
  }

  /** What bounds the work in this thread; null if nothing has to. */
  private get bounds(): PromptThreads | null {
    return this.options.isKnown ? null : this.options.threads
  }

  /**
   * Encodes in this thread. Returns null if that takes longer than this thread may be blocked: the
   * other thread has more time, and can be ended.
   */
  private encodeHere(text: PromptText, spent: PromptTime): readonly number[] | null {
    const { tokenizer } = this.options
    const { bounds } = this
    if (this.isSlow) return null
    const startedAt = performance.now()
    try {
      return bounds ? bounds.within(hereMs, () => encodeText(tokenizer, text)) : encodeText(tokenizer, text)
    } catch (error) {
      if (!(error instanceof OutOfTimeError)) throw error
      this.isSlow = true
      return null
    } finally {
      spent.ms += performance.now() - startedAt
    }
  }

  async close(): Promise<void> {
    this.isClosed = true
    for (const job of [...this.waiting, ...(this.current ? [this.current] : [])]) job.reject(new AbortError())
    this.waiting = []
    await this.end()
  }

  private next(threads: PromptThreads): void {
    if (this.current || this.isClosed) return
    this.current = this.waiting.shift()
    if (!this.current) return
    this.worker ??= this.start(threads)
    this.worker.postMessage(this.current.text)
  }

  private start(threads: PromptThreads): Worker {
    const worker = threads.start()
    worker.on("message", (answer: PromptAnswer | "ready" | "begun") => {
      if (worker !== this.worker || answer === "ready") return
      // The time counts from the start of the encoding, not from the start of the thread.
      if (answer === "begun") {
        this.begunAt = performance.now()
        const left = this.options.promptMs - (this.current?.spent.ms ?? 0)
        this.timer = setTimeout(() => this.expire(), Math.max(1, left))
      } else
        this.settle(threads, (job) =>
          "ids" in answer ? job.resolve(answer.ids) : job.reject(unpackError(answer.error)),
        )
    })
    const lose = (error: Error): void => {
      if (worker !== this.worker) return
      this.worker = undefined
      const cause = new ModelError(`the thread that tokenises prompts ended: ${error.message}`, {
        cause: error,
      })
      const isMemory = (error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY"
      this.settle(threads, (job) => job.reject(isMemory ? tooLarge(job.text) : cause))
    }
    worker.on("error", lose)
    worker.on("exit", (code) => lose(new Error(`code ${code}`)))
    worker.unref()
    return worker
  }

  private settle(threads: PromptThreads, how: (job: Job) => void): void {
    clearTimeout(this.timer)
    const job = this.current
    this.current = undefined
    if (job) {
      const ms = performance.now() - this.begunAt
      job.spent.ms += ms
      if (lengthOf(job.text) <= shortLength && ms < hereMs) this.isSlow = false
    }
    if (job) how(job)
    this.next(threads)
  }

  private expire(): void {
    const { current } = this
    if (current) this.drop(current, this.tooLong(current.text))
  }

  private tooLong(text: PromptText): RequestError {
    const { promptMs } = this.options
    const isShort = lengthOf(text) <= shortLength
    const way = isShort
      ? "its model's chat template or tokenizer does not end soon: raise promptMs, or choose another model"
      : "shorten it, or raise promptMs"
    const message = `the prompt takes more than ${promptMs} ms to be tokenised: ${way}`
    return new RequestError("invalid_value", message, fieldOf(text))
  }

  /** Abandons a job. If the thread works on it, the thread is ended. */
  private drop(job: Job, error: Error): void {
    job.reject(error)
    this.waiting = this.waiting.filter((other) => other !== job)
    if (this.current !== job) return
    void this.end()
    const { threads } = this.options
    if (threads) this.settle(threads, () => {})
  }

  private async end(): Promise<void> {
    const { worker } = this
    this.worker = undefined
    clearTimeout(this.timer)
    await worker?.terminate()
  }
}

function tooLarge(text: PromptText): RequestError {
  return new RequestError(
    "invalid_value",
    `the prompt takes more than ${maxHeapMb} MB of memory to be tokenised: shorten it, or choose another model`,
    fieldOf(text),
  )
}

export function encodeText(tokenizer: Tokenizer, text: PromptText): readonly number[] {
  switch (text.kind) {
    case "raw":
      return tokenizer.encode(text.text, text)
    case "part":
      return tokenizer.encodePart(text.text)
    case "messages":
      return tokenizer.encodeMessages(text.messages, text.options)
    default:
      return text satisfies never
  }
}

/** Returns the request's field that contains the text. */
function fieldOf({ kind }: PromptText): string {
  return kind === "messages" ? "messages" : "prompt"
}

/** Returns the number of UTF-16 units of all strings, which is at most their number of bytes. */
function lengthOf(text: PromptText): number {
  return text.kind === "messages" ? lengthIn([text.messages, text.options]) : text.text.length
}

function lengthIn(value: unknown): number {
  if (typeof value === "string") return value.length
  if (typeof value !== "object" || value === null) return 0
  return Object.values(value).reduce<number>((sum, each) => sum + lengthIn(each), 0)
}
