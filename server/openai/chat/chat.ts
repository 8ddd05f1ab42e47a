/**
 * `POST /v1/chat/completions`.
 *
 * A request passes these steps: body ▸ fields ▸ constraint ▸ admission ▸ text ▸ reply. All but the
 * last two precede the status line, so every refusal is a status and not an event. A stream and a
 * whole reply render the same generation: the joined deltas equal the whole text.
 *
 * Each chunk of a stream holds one choice: a role for each choice, then text, then a finish reason
 * for each choice, then usage.
 */
import type {
  Engine,
  GenerateOptions,
  GenerateResult,
  Generation,
  GenerationEvent,
  TokenLogprobs,
  Vocabulary,
} from "../../../runtime/index.ts"
import { errorResponse, toHttpError } from "../../errors.ts"
import { eventStream } from "../../http/sse.ts"
import type { EndpointWords } from "../../overflow.ts"
import { closedOf, refuseFailure, warningsOf } from "../reply/finish.ts"
import { logprobRows } from "../reply/logprobs.ts"
import { LongReply } from "../reply/longreply.ts"
import { randomSeed, spellSeed } from "../reply/seed.ts"
import { checkStreamedTrace, TraceCursor, traceCost } from "../reply/trace.ts"
import { counts, usageOf } from "../reply/usage.ts"
import { checkBound, wholeBounds } from "../request/bounds.ts"
import type { Constraint } from "../request/constraint.ts"
import { type EndpointOptions, engineOptions, readRequest } from "../request/endpoint.ts"
import { ignoredHeaders } from "../request/keys.ts"
import { Deltas, eventNotes, finishReasonOf, messageOf, notesOf } from "./answer.ts"
import type { ChatRequest } from "./schema.ts"

/** Replies with one chat completion. Never rejects: every failure is a response. */
export async function chat(engine: Engine, request: Request, options: EndpointOptions): Promise<Response> {
  let constraint: Constraint | null = null
  let hasTools = false
  let words = wordsOf({ maxTokensField: "max_tokens" })
  try {
    const { chat: chatRequest, constraint: asked, policies } = await readRequest("chat", request, options)
    constraint = asked
    words = wordsOf(chatRequest)
    hasTools = (chatRequest.options.tools ?? []).length > 0
    options.models.check(chatRequest.model)
    checkReply(chatRequest, engine.model.contextLength, policies.generate.trace)
    const seed = BigInt(chatRequest.options.seed ?? randomSeed())
    const generation = await engine.start(chatRequest.messages, {
      ...engineOptions(chatRequest, { constraint, policies }, options),
      seed,
      signal: request.signal,
    })
    options.exchange.follow(generation)
    const reply = new Reply(engine, chatRequest, generation, seed)
    const headers = ignoredHeaders(chatRequest.ignored)
    if (!chatRequest.stream) return await reply.whole(headers)
    return eventStream(reply.chunks(), {
      heartbeatMs: options.heartbeatMs,
      headers,
      cancel: () => generation.cancel(),
      describeError: (error) => toHttpError(error).body,
    })
  } catch (error) {
    const { noted } = options.exchange
    return errorResponse(error, {
      constraint,
      hasTools,
      retryAfterSeconds: options.retryAfterSeconds(),
      noted,
      words,
    })
  }
}

function wordsOf({ maxTokensField: maxTokens }: Pick<ChatRequest, "maxTokensField">): EndpointWords {
  return { api: "openai", prompt: "messages", maxTokens }
}

/**
 * Bounds the rows of log-probabilities and traces, since a whole reply is built in memory. Throws
 * `Refusal`.
 */
export function checkReply(
  { options, stream, topLogprobs }: Pick<ChatRequest, "options" | "stream" | "topLogprobs">,
  contextLength: number,
  trace: GenerateOptions["trace"] = null,
): void {
  const tokens = (options.n ?? 1) * Math.min(options.maxTokens ?? contextLength, contextLength)
  if (stream) checkStreamedTrace(trace, tokens)
  if (stream || (topLogprobs === null && !trace)) return
  const rows = topLogprobs === null ? 0 : 1 + topLogprobs + (options.logprobTokenIds?.length ?? 0)
  checkBound(wholeBounds.replyRows, tokens * (rows + traceCost(trace)))
}

/** Renders a generation as a whole reply or as a stream. */
class Reply {
  private readonly request: ChatRequest
  private readonly generation: Generation
  private readonly vocabulary: Vocabulary
  /** The seed and the report, for the reply or its first chunk. */
  private readonly extension: Record<string, unknown>
  private readonly head: { id: string; created: number; model: string; system_fingerprint: string }

  constructor(engine: Engine, request: ChatRequest, generation: Generation, seed: bigint) {
    this.request = request
    this.generation = generation
    this.vocabulary = engine.vocabulary
    this.extension = {
      seed: spellSeed(seed),
      ...(request.report && { report: generation.report }),
    }
    this.head = {
      id: `chatcmpl-${crypto.randomUUID().replaceAll("-", "")}`,
      created: Math.floor(Date.now() / 1000),
      model: request.model,
      system_fingerprint: `fp_${engine.vocabulary.hash.slice(0, 12)}`,
    }
  }

  async whole(headers: Record<string, string>): Promise<Response> {
    const result = await this.generation.result
    const long = new LongReply()
    const rows = (some: readonly TokenLogprobs[]) => logprobRows(some, this.vocabulary)
    const choices = result.choices.map((choice, index) => {
      refuseFailure(choice)
      return {
        index,
        message: messageOf(choice, this.request),
        logprobs:
          this.request.topLogprobs === null
            ? null
            : { content: long.list(choice.logprobs ?? [], rows), refusal: null },
        finish_reason: finishReasonOf(
          choice.finishReason,
          choice.toolCalls.length,
          this.request.options.toolChoice,
        ),
        stop_reason: choice.stopReason,
        ...notesOf(choice, this.vocabulary, long),
      }
    })
    const whole = {
      ...this.head,
      object: "chat.completion",
      choices,
      usage: this.usage(result),
      service_tier: "default",
      tokenrail: {
        ...this.extension,
        ...warningsOf(result, this.request, wordsOf(this.request)),
        ...closedOf(result.choices),
      },
    }
    return long.response(whole, headers)
  }

  async *chunks(): AsyncGenerator<unknown> {
    const { includeUsage, continuousUsage, options } = this.request
    const head = { ...this.head, object: "chat.completion.chunk" }
    const promptTokens = this.generation.promptTokens
    let completionTokens = 0
    const usage = () => {
      if (continuousUsage) return { usage: counts(promptTokens, completionTokens) }
      return includeUsage ? { usage: null } : {}
    }
    const chunk = (index: number, delta: object, more: object = {}) => ({
      ...head,
      choices: [{ index, delta, logprobs: null, finish_reason: null, ...more }],
      ...usage(),
    })
    const deltas = Array.from({ length: options.n ?? 1 }, () => new Deltas(this.request))
    for (let index = 0; index < deltas.length; index++) {
      const first = chunk(index, { role: "assistant", content: "" })
      yield index === 0 ? { ...first, tokenrail: this.extension } : first
    }
    const traces = new TraceCursor(this.generation, this.vocabulary)
    for await (const event of this.generation) {
      if (event.type !== "finish") {
        completionTokens += event.tokens.length
        const delta = deltas[event.choice].of(event)
        const notes = eventNotes(event, traces)
        if (delta === null && !event.logprobs?.length && !notes.tokenrail) continue
        yield chunk(event.choice, delta ?? { content: "" }, {
          ...this.eventLogprobs(event),
          ...notes,
        })
      } else {
        refuseFailure(event)
        const { callCount } = deltas[event.choice]
        const finish_reason = finishReasonOf(event.finishReason, callCount, options.toolChoice)
        const last = chunk(
          event.choice,
          {},
          {
            finish_reason,
            stop_reason: event.stopReason,
            ...eventNotes(event, traces),
          },
        )
        const said = {
          ...(this.generation.isFinished
            ? warningsOf(await this.generation.result, this.request, wordsOf(this.request))
            : {}),
          ...closedOf([event]),
        }
        yield Object.keys(said).length > 0 ? { ...last, tokenrail: said } : last
      }
    }
    if (includeUsage) yield { ...head, choices: [], usage: this.usage(await this.generation.result) }
  }

  private eventLogprobs(event: Exclude<GenerationEvent, { type: "finish" }>): object {
    if (this.request.topLogprobs === null) return {}
    return { logprobs: { content: logprobRows(event.logprobs, this.vocabulary), refusal: null } }
  }

  private usage({ usage }: GenerateResult): unknown {
    return usageOf(usage, this.request)
  }
}
