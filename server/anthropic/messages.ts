/**
 * `POST /v1/messages`, Anthropic's API for the same turn as a chat completion.
 *
 * A request passes the steps of chat.ts: body ▸ fields ▸ constraint ▸ admission ▸ blocks ▸ reply.
 * All but the last two precede the status line. A stream consists of message_start, the events of
 * the blocks, message_delta with reason and usage, and message_stop; `ping` is sent while no event
 * is ready.
 */
import type { Engine, GenerateResult, Generation, GenerationEvent } from "../../runtime/index.ts"
import { toHttpError } from "../errors.ts"
import { eventStream } from "../http/sse.ts"
import { closedFieldsOf, fieldsOf } from "../openai/chat/answer.ts"
import { closedOf, refuseFailure, warningsOf } from "../openai/reply/finish.ts"
import { randomSeed, spellSeed } from "../openai/reply/seed.ts"
import type { Constraint } from "../openai/request/constraint.ts"
import { type EndpointOptions, engineOptions, readRequest } from "../openai/request/endpoint.ts"
import { ignoredHeaders } from "../openai/request/keys.ts"
import { Blocks } from "./answer.ts"
import { messagesErrorBody, messagesErrorResponse, words } from "./errors.ts"
import type { MessagesRequest } from "./fields.ts"
import { firstUsage, noDetails, type Stop, stopOf, usageOf } from "./finish.ts"

/** Replies with one message. Never rejects: every failure is a response. */
export async function messages(
  engine: Engine,
  request: Request,
  options: EndpointOptions,
): Promise<Response> {
  const { exchange } = options
  let constraint: Constraint | null = null
  let hasTools = false
  try {
    const { messages: asked, ...held } = await readRequest("messages", request, options)
    constraint = held.constraint
    hasTools = (asked.options.tools ?? []).length > 0
    options.models.check(asked.model)
    const seed = BigInt(asked.options.seed ?? randomSeed())
    const generation = await engine.start(asked.messages, {
      ...engineOptions(asked, held, options),
      seed,
      signal: request.signal,
    })
    exchange.follow(generation)
    const reply = new Reply(asked, generation, seed)
    const headers = ignoredHeaders(asked.ignored)
    if (!asked.stream) return await reply.whole(headers)
    return eventStream(reply.events(), {
      isTyped: true,
      waiting: { type: "ping" },
      heartbeatMs: options.heartbeatMs,
      headers,
      cancel: () => generation.cancel(),
      describeError: (error) => messagesErrorBody(toHttpError(error), exchange.requestId),
    })
  } catch (error) {
    const { noted, requestId } = exchange
    const retryAfterSeconds = options.retryAfterSeconds()
    return messagesErrorResponse(error, { constraint, hasTools, retryAfterSeconds, noted, requestId })
  }
}

/** Renders a generation as a whole message or as a stream. */
class Reply {
  private readonly request: MessagesRequest
  private readonly generation: Generation
  private readonly blocks: Blocks
  private readonly head: object
  /** The seed and the report. */
  private readonly extension: object

  constructor(request: MessagesRequest, generation: Generation, seed: bigint) {
    this.request = request
    this.generation = generation
    this.blocks = new Blocks(request)
    this.head = {
      id: `msg_${crypto.randomUUID().replaceAll("-", "")}`,
      type: "message",
      role: "assistant",
      model: request.model,
      ...noDetails,
      diagnostics: null,
    }
    this.extension = { seed: spellSeed(seed), ...(request.report && { report: generation.report }) }
  }

  async whole(headers: Record<string, string>): Promise<Response> {
    let stop: Stop | undefined
    for await (const event of this.generation) {
      this.blocks.of(event)
      if (event.type === "finish") stop = this.stop(event)
    }
    const result = await this.generation.result
    const rest = {
      ...stop,
      usage: usageOf(result.usage, this.request),
      tokenrail: {
        ...this.extension,
        ...said(result, this.request),
        ...closedFieldsOf(result.choices[0]).tokenrail,
      },
    }
    // The blocks are already JSON, with the arguments of calls as they were written.
    const text = `${JSON.stringify(this.head).slice(0, -1)},"content":${this.blocks.json},${JSON.stringify(rest).slice(1)}`
    return new Response(text, { headers: { "content-type": "application/json", ...headers } })
  }

  async *events(): AsyncGenerator<object> {
    const message = {
      ...this.head,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: firstUsage(this.generation.promptTokens),
      tokenrail: this.extension,
    }
    yield { type: "message_start", message }
    let stop: Stop | undefined
    let told: object = {}
    for await (const event of this.generation) {
      const events = this.blocks.of(event)
      if (event.type !== "finish") {
        yield* withFields(events, event)
        continue
      }
      yield* events
      stop = this.stop(event)
      told = fieldsOf(event).tokenrail ?? {}
    }
    const result = await this.generation.result
    told = { ...told, ...said(result, this.request) }
    yield {
      type: "message_delta",
      delta: { ...stop, ...noDetails },
      usage: usageOf(result.usage, this.request),
      ...(Object.keys(told).length > 0 && { tokenrail: told }),
    }
    yield { type: "message_stop" }
  }

  /** Returns why the answer ended. Throws the error of a failed answer. */
  private stop(event: GenerationEvent & { type: "finish" }): Stop {
    refuseFailure(event)
    const { stopSequences } = this.request
    return stopOf(event, { callCount: this.blocks.callCount, stopSequences })
  }
}

/** Returns the events; the last of them carries the changes of the answer's values. */
function withFields(events: object[], event: GenerationEvent): object[] {
  return events.map((each, i) => (i === events.length - 1 ? { ...each, ...fieldsOf(event) } : each))
}

/** Returns the `tokenrail` object for the end of the reply. */
function said(result: GenerateResult, request: MessagesRequest): object {
  return { ...warningsOf(result, request, words), ...closedOf(result.choices) }
}
