/**
 * The page's side of an engine in a worker: each method is a message, and its result another one.
 * Schemas of a library are converted here, and their validators run here, since functions cannot be
 * sent; so do the tools of `run`.
 */

import { onAbort } from "../../runtime/aborts.ts"
import type { DecideOptions, Decisions } from "../../runtime/decisions/decide.ts"
import type { DecisionInput } from "../../runtime/decisions/prompt.ts"
import type { Question } from "../../runtime/decisions/questions.ts"
import type { ScoreOptions, Scores } from "../../runtime/decisions/score.ts"
import type { ModelInfo } from "../../runtime/engine/engine.ts"
import type { GenerateOptions, Prompt } from "../../runtime/engine/request.ts"
import type { GenerateResult } from "../../runtime/engine/result.ts"
import { withJson, withValues } from "../../runtime/engine/result.ts"
import type { StreamEvent } from "../../runtime/engine/sequence.ts"
import { AbortError, ModelError, RequestError, reasonOf } from "../../runtime/errors.ts"
import type { Extraction, ExtractOptions } from "../../runtime/extraction/extract.ts"
import type { Message } from "../../runtime/model/template.ts"
import { OptionError, unpackError } from "../../runtime/page/errors.ts"
import {
  type Constraint,
  type NoMore,
  readConstraint,
  type SchemaValue,
  type ValueOf,
  type WrittenOf,
} from "../../runtime/schema.ts"
import { type RunResult, run, type TypedRunOptions } from "../../runtime/turn/run.ts"
import { type Answer, abortMessage, type Call, type CallMessage, type ReplyHead } from "./messages.ts"

/** Statuses whose responses have no body. */
const bodiless = [101, 204, 205, 304]

/** An engine in a worker. `open` creates it, `close` ends it and its worker. */
export class PageEngine {
  readonly model: ModelInfo
  private readonly worker: Worker
  /** Ends of the calls that wait for the worker. */
  private readonly pending = new Set<(error: Error) => void>()
  private death: Error | undefined
  private closed: Promise<void> | undefined

  /** `worker`: one whose engine is open. @internal */
  constructor(worker: Worker, model: ModelInfo) {
    this.worker = worker
    this.model = model
    worker.addEventListener("error", ({ message }) => this.die(`its worker failed: ${message}`))
  }

  /** Returns the whole answer, as `generate` of the engine in Node does. */
  async generate<const Options extends GenerateOptions & NoMore<Options, GenerateOptions>>(
    prompt: Prompt,
    options?: Options,
  ): Promise<GenerateResult<ValueOf<Options>>> {
    return (await this.answer(prompt, options ?? {})) as GenerateResult<ValueOf<Options>>
  }

  /**
   * Yields the events of an answer as they come, as `stream` of the engine in Node does. Leaving
   * the loop cancels the request.
   */
  async *stream<const Options extends GenerateOptions & NoMore<Options, GenerateOptions>>(
    prompt: Prompt,
    options?: Options,
  ): AsyncGenerator<StreamEvent<WrittenOf<Options>>> {
    const { signal, plain } = plainOptions(options ?? {})
    const events = this.events({ method: "stream", prompt, options: plain }, signal)
    for await (const event of events) yield event as StreamEvent<WrittenOf<Options>>
  }

  /**
   * Runs the tool loop: the model answers, its calls are run in the page, and it answers again,
   * until it makes no more calls.
   */
  run<const Schemas extends Readonly<Record<string, unknown>>, const Schema = unknown>(
    prompt: string | readonly Message[],
    options: TypedRunOptions<Schemas, Schema>,
  ): Promise<RunResult<SchemaValue<Schema>>> {
    const engine = { generate: (messages: Prompt, how: GenerateOptions) => this.answer(messages, how) }
    return run(engine, prompt, options) as Promise<RunResult<SchemaValue<Schema>>>
  }

  /** Returns the tokens that `generate` would give to the model. */
  tokenize(prompt: Prompt, options: GenerateOptions = {}): Promise<readonly number[]> {
    const { signal, plain } = plainOptions(options)
    return this.call({ method: "tokenize", prompt, options: plain }, signal) as Promise<readonly number[]>
  }

  /** Returns the answers to questions about `input`, with exact probabilities. */
  decide(
    input: DecisionInput,
    questions: readonly Question[],
    { signal, ...options }: DecideOptions = {},
  ): Promise<Decisions> {
    return this.call({ method: "decide", input, questions, options }, signal) as Promise<Decisions>
  }

  /** Returns the log-probabilities of texts that may continue the prompt. */
  score(
    prompt: Prompt,
    texts: readonly string[],
    { signal, ...options }: ScoreOptions = {},
  ): Promise<Scores> {
    return this.call({ method: "score", prompt, texts, options }, signal) as Promise<Scores>
  }

  /** Returns a value of a JSON Schema from `text`, with the places of its parts. */
  async extract<const Schema>(
    text: string,
    schema: Schema,
    { signal, ...options }: ExtractOptions = {},
  ): Promise<Extraction<ValueOf<{ schema: Schema }>>> {
    const { plain, constraint } = plainOptions({ schema })
    const found = await this.call({ method: "extract", text, schema: plain.schema, options }, signal)
    const extraction = found as Extraction<ValueOf<{ schema: Schema }>>
    const value = (await constraint?.validate(extraction.text)) as typeof extraction.value
    return { ...extraction, value }
  }

  /**
   * Answers a request as the server would, without a network: pass it as the `fetch` of a client.
   * Only the path of the URL counts.
   */
  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init)
    const { url, method, signal } = request
    signal.throwIfAborted()
    const bytes = await request.arrayBuffer()
    const body = method === "GET" || method === "HEAD" ? null : bytes
    const plain = { url, method, headers: [...request.headers], body }
    const pieces = this.events({ method: "fetch", request: plain }, signal)
    const first = await pieces.next().catch((error) => {
      throw signal.aborted ? signal.reason : error
    })
    const { headers, ...head } = first.value as ReplyHead
    const init2 = { ...head, headers: headers.map(([...pair]): [string, string] => pair) }
    if (bodiless.includes(head.status)) return new Response(null, init2)
    return new Response(streamOf(pieces, signal), init2)
  }

  /** Ends running answers by `abort`, then the worker. A second call returns the same promise. */
  close(): Promise<void> {
    this.closed ??= this.end()
    return this.closed
  }

  /** `await using engine = await open()` calls this at the end of its block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  private async end(): Promise<void> {
    if (!this.death) await this.call({ method: "close" }, undefined).catch(() => {})
    this.worker.terminate()
    this.die("it was closed")
  }

  private async answer(prompt: Prompt, options: GenerateOptions): Promise<GenerateResult> {
    const { signal, plain, constraint } = plainOptions(options)
    const sent = this.call({ method: "generate", prompt, options: plain }, signal)
    const result = (await sent) as GenerateResult
    return constraint ? withValues(result, constraint) : withJson(result)
  }

  private async call(call: Call, signal: AbortSignal | undefined): Promise<unknown> {
    return (await this.events(call, signal).next()).value
  }

  /** Yields the events of a call, and returns its result. Leaving the loop aborts the call. */
  private async *events(call: Call, signal: AbortSignal | undefined): AsyncGenerator<unknown, unknown> {
    if (signal?.aborted) throw reasonOf(new AbortError("", { cause: signal.reason }))
    if (this.death) throw new RequestError("engine_dead", `the engine is lost: ${this.death.message}`)
    const answers = new Inbox()
    const { port1: port, port2 } = new MessageChannel()
    port.onmessage = ({ data }: MessageEvent<Answer>) => answers.put(data)
    this.pending.add(answers.fail)
    const release = onAbort(signal, () => port.postMessage(abortMessage))
    try {
      this.send({ kind: "call", call, port: port2 })
      for (;;) {
        const answer = await answers.take()
        if (answer.kind === "event") yield answer.event
        else if (answer.kind === "done") return answer.result
        else throw unpackError(answer.error)
      }
    } catch (error) {
      const isOwn = error instanceof AbortError && signal?.aborted === true
      throw isOwn ? reasonOf(new AbortError(error.text, { cause: signal.reason })) : error
    } finally {
      release()
      this.pending.delete(answers.fail)
      port.postMessage(abortMessage)
      port.close()
    }
  }

  private send(message: CallMessage): void {
    try {
      this.worker.postMessage(message, [message.port])
    } catch (error) {
      if ((error as Error).name !== "DataCloneError") throw error
      throw new OptionError(
        "options",
        `they cannot be sent to the worker of the engine (${(error as Error).message}). Leave functions out`,
      )
    }
  }

  private die(why: string): void {
    this.death ??= new ModelError(`the engine cannot answer: ${why}`)
    for (const fail of [...this.pending]) fail(this.death)
  }
}

/** The worker's answers to one call, until they are read. */
class Inbox {
  private readonly answers: Answer[] = []
  private failure: Error | undefined
  private wake = (): void => {}

  put(answer: Answer): void {
    this.answers.push(answer)
    this.wake()
  }

  readonly fail = (error: Error): void => {
    this.failure = error
    this.wake()
  }

  /** Returns the next answer. Rejects if the worker is lost before it comes. */
  async take(): Promise<Answer> {
    for (;;) {
      const answer = this.answers.shift()
      if (answer) return answer
      if (this.failure) throw this.failure
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }
}

/** Returns the options as plain data, without the signal, and the constraint that is read back. */
function plainOptions({ signal, ...options }: GenerateOptions): {
  signal: AbortSignal | undefined
  plain: GenerateOptions
  constraint: Constraint | null
} {
  const constraint = readConstraint(options)
  const { input } = constraint ?? {}
  if (input !== undefined && !("kind" in input))
    throw new OptionError(
      "constraint",
      "a compiled constraint cannot be sent to the worker of the engine. Give what it was compiled from",
    )
  // The JSON Schema of a library's schema, which itself has functions.
  const plain = "schema" in options && input?.kind === "json" ? { ...options, schema: input.schema } : options
  return { signal: signal ?? undefined, plain, constraint }
}

/** Returns the pieces of a body as a stream. Cancelling it aborts the call. */
function streamOf(pieces: AsyncGenerator<unknown, unknown>, signal: AbortSignal): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await pieces.next()
        if (done) controller.close()
        else controller.enqueue(value as Uint8Array)
      } catch (error) {
        controller.error(signal.aborted ? signal.reason : error)
      }
    },
    async cancel() {
      await pieces.return(undefined)
    },
  })
}
