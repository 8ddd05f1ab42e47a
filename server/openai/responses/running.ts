/**
 * A running response, rendered as the final object or as a stream of events.
 *
 * From its first event on, a running response is found by its id and can be read and cancelled.
 * When it has ended, it is stored before its last event is sent, so that the next request can
 * continue from it.
 */
import type { Engine, GenerateResult, Generation, GenerationEvent } from "../../../runtime/index.ts"
import { type ErrorContext, toHttpError } from "../../errors.ts"
import { closedFieldsOf } from "../chat/answer.ts"
import { closedOf, refuseFailure, warningsOf } from "../reply/finish.ts"
import { logprobRows } from "../reply/logprobs.ts"
import { LongReply } from "../reply/longreply.ts"
import { spellSeed } from "../reply/seed.ts"
import { timesOf } from "../reply/usage.ts"
import { type ResponsesRequest, words } from "./fields.ts"
import type { Item } from "./items.ts"
import { newId, Output, type OutputItem, type ResponseEvent } from "./output.ts"
import type { ResponseObject, ResponseScope, RunningResponse } from "./store.ts"
import { turnName } from "./tools.ts"

type Finish = Extract<GenerationEvent, { type: "finish" }>

interface RunningOptions {
  engine: Engine
  request: ResponsesRequest
  generation: Generation
  seed: bigint
  /** The input items of the request. */
  input: readonly Item[]
  isConstrained: boolean
  scope: ResponseScope
  /** The context for errors that occur after the status line. */
  context: ErrorContext
}

export class Running implements RunningResponse {
  private readonly options: RunningOptions
  private readonly output: Output
  private readonly head: { id: string; object: "response"; created_at: number; model: string }
  private readonly end: () => void
  private isCancelled = false
  private finish: Finish | null = null

  constructor(options: RunningOptions) {
    this.options = options
    const { engine, request, isConstrained, scope } = options
    const { flat } = request.tools
    const byName = new Map(flat.map((tool) => [turnName(tool), tool]))
    this.output = new Output({
      rowsOf: request.topLogprobs === null ? null : (rows) => logprobRows(rows, engine.vocabulary),
      toolOf: (name) => byName.get(name),
      isConstrained,
    })
    const createdAt = Math.floor(Date.now() / 1000)
    this.head = { id: newId("resp"), object: "response", created_at: createdAt, model: request.model }
    this.end = scope.begin(this.head.id, this)
  }

  get response(): ResponseObject {
    return this.object({ status: this.isCancelled ? "cancelled" : "in_progress" })
  }

  cancel(): void {
    if (this.options.generation.isFinished) return
    this.isCancelled = true
    this.options.generation.cancel()
  }

  /** Returns the whole reply. Rejects with the error of the generation. */
  async whole(headers: Record<string, string>): Promise<Response> {
    try {
      for await (const _ of this.walk());
      const response = await this.ended()
      const long = new LongReply()
      const output = withRows(response.output, (rows) => long.list(rows, (some) => [...some]))
      return long.response({ ...response, output }, headers)
    } finally {
      this.end()
    }
  }

  /** Yields the numbered events of a stream. A failure is reported by two events. */
  async *events(): AsyncGenerator<ResponseEvent> {
    let count = 0
    const numbered = ({ type, ...fields }: ResponseEvent) => ({ type, sequence_number: count++, ...fields })
    try {
      yield numbered({ type: "response.created", response: this.response })
      yield numbered({ type: "response.in_progress", response: this.response })
      for await (const event of this.walk()) yield numbered(event)
      const response = await this.ended()
      const type = response.status === "completed" ? "response.completed" : "response.incomplete"
      yield numbered({ type, response })
    } catch (error) {
      const { code, message, param } = toHttpError(error, this.options.context).body.error
      yield numbered({ type: "error", code, message, param })
      // OpenAI defines only a few codes for this event.
      const told = { code: "server_error", message }
      yield numbered({ type: "response.failed", response: this.object({ status: "failed", error: told }) })
    } finally {
      this.end()
    }
  }

  private async *walk(): AsyncGenerator<ResponseEvent> {
    for await (const event of this.options.generation) {
      if (event.type !== "finish") {
        yield* this.output.take(event)
        continue
      }
      this.finish = event
      if (!this.isCancelled || event.finishReason !== "abort") refuseFailure(event)
      yield* this.output.end(event)
    }
  }

  /** Returns the response after its last event, and stores it. */
  private async ended(): Promise<ResponseObject> {
    const { request, generation, input, scope } = this.options
    const result = await generation.result
    const response = this.object({ ...this.outcome(), usage: usageOf(result, request) }, result)
    if (request.stores) {
      const own = input.map((item) => ({ ...item, id: item.id ?? newId(prefixes[item.type]) }))
      const made = own.filter((_, i) => input[i].id === undefined)
      scope.put({
        // Log-probabilities are not stored, because they are larger than the rest.
        response: { ...response, output: withRows(response.output, () => []) },
        input: own,
        previousId: request.previousResponseId,
        ownIds: [...made, ...this.output.items].map(({ id }) => id),
      })
    }
    return response
  }

  private outcome(): { status: string; [field: string]: unknown } {
    const { finishReason } = this.finish!
    if (finishReason === "stop") return { status: "completed", completed_at: Math.floor(Date.now() / 1000) }
    if (finishReason === "abort") return { status: "cancelled" }
    return { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } }
  }

  private object(
    fields: { status: string; [field: string]: unknown },
    result: GenerateResult | null = null,
  ): ResponseObject {
    const { request, generation, seed } = this.options
    const tokenrail = {
      seed: spellSeed(seed),
      ...(request.report && { report: generation.report }),
      ...(this.finish !== null && { stop_reason: this.finish.stopReason }),
      ...(result !== null && { ...warningsOf(result, request, words), ...closedOf(result.choices) }),
      ...(result !== null && closedFieldsOf(result.choices[0]).tokenrail),
    }
    return {
      ...this.head,
      completed_at: null,
      error: null,
      incomplete_details: null,
      usage: null,
      ...fields,
      output: [...this.output.items],
      ...request.echo,
      tokenrail,
    }
  }
}

const prefixes: Record<Item["type"], string> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  function_call_output: "fco",
  custom_tool_call: "ctc",
  custom_tool_call_output: "ctco",
}

/** Returns the items with their rows of log-probabilities replaced. */
function withRows(items: readonly Item[], make: (rows: readonly unknown[]) => unknown): OutputItem[] {
  return (items as OutputItem[]).map((item) => {
    if (item.type !== "message" || typeof item.content === "string") return item
    const content = item.content.map((part) =>
      part.type === "output_text" ? { ...part, logprobs: make(part.logprobs as unknown[]) } : part,
    )
    return { ...item, content }
  })
}

function usageOf({ usage }: GenerateResult, { timing }: ResponsesRequest): object {
  return {
    input_tokens: usage.promptTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: 0 },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.totalTokens,
    ...(timing && { tokenrail: timesOf(usage) }),
  }
}
