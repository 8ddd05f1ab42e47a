/**
 * `POST /v1/chat/completions`.
 *
 * The life of a request: body ▸ fields ▸ constraint ▸ admission ▸ text ▸ reply. All but the last two happen before the
 * status line, so that whatever can be refused is a status and not an event. A stream and a whole reply are two
 * renderings of the same generation: the joined deltas are the whole text.
 *
 * Chunks of a stream hold one choice each: a role per choice, then text, then a finish reason per choice, then usage.
 */
import type {
  Engine,
  GenerateResult,
  Generation,
  GenerationEvent,
  TokenLogprobs,
  Vocabulary,
} from "../../runtime/index.ts"
import { errorResponse, Refusal, toHttpError } from "../errors.ts"
import { type BodyLimits, type HeldBytes, readBytes } from "../http/body.ts"
import { eventStream } from "../http/sse.ts"
import { checkBound, wholeBounds } from "./bounds.ts"
import type { Constraint } from "./constraint.ts"
import { ignoredHeader } from "./keys.ts"
import { logprobRows } from "./logprobs.ts"
import { LongReply } from "./longreply.ts"
import type { ModelNames } from "./models.ts"
import type { ChatRead, ChatReader } from "./read/readchat.ts"
import type { ChatRequest } from "./schema.ts"

export interface ChatOptions {
  bodyLimits: BodyLimits
  /** The bodies that are being read. */
  held: HeldBytes
  reader: ChatReader
  models: ModelNames
  /** Silence of a stream before a comment is sent. */
  heartbeatMs?: number
  /** For requests that do not say. */
  onLength?: "truncate" | "close" | undefined
  /** Milliseconds. A constraint that takes longer to compile is refused: everybody waits meanwhile. */
  compileMs: number
  /** What a client is told to wait when the line is full. */
  retryAfterSeconds: () => number
}

/** One chat completion. Never rejects: every failure is a response. */
export async function chat(engine: Engine, request: Request, options: ChatOptions): Promise<Response> {
  let constraint: Constraint | null = null
  try {
    const { chat: chatRequest, constraint: asked, policies } = await read(request, options)
    constraint = asked
    options.models.check(chatRequest.model)
    checkReply(chatRequest, engine.model.contextLength)
    const seed = chatRequest.options.seed ?? randomSeed()
    const generation = await engine.start(chatRequest.messages, {
      ...chatRequest.options,
      ...(constraint && { constraint: constraint.input, limits: { compileMs: options.compileMs } }),
      ...policies.compile,
      ...(constraint && options.onLength && { onLength: options.onLength }),
      ...policies.generate,
      seed,
      report: chatRequest.report,
      signal: request.signal,
    })
    const reply = new Reply(engine, chatRequest, generation, BigInt(seed))
    const headers: Record<string, string> = chatRequest.ignored.length
      ? { "x-tokenrail-ignored": ignoredHeader(chatRequest.ignored) }
      : {}
    if (!chatRequest.stream) return await reply.whole(headers)
    return eventStream(reply.chunks(), {
      heartbeatMs: options.heartbeatMs,
      headers,
      cancel: () => generation.cancel(),
      describeError: (error) => toHttpError(error).body,
    })
  } catch (error) {
    return errorResponse(error, { constraint, retryAfterSeconds: options.retryAfterSeconds() })
  }
}

/** The request that the body holds, checked and bounded. Throws `Refusal`. */
async function read(request: Request, { bodyLimits, held, reader }: ChatOptions): Promise<ChatRead> {
  const bytes = await readBytes(request, bodyLimits.maxBytes, held)
  const byteCount = bytes.length
  try {
    return await reader.read(bytes, bodyLimits, request.signal)
  } finally {
    held.give(byteCount)
  }
}

/** A whole reply is built in memory: the rows that it could have at most are bounded. Throws `Refusal`. */
function checkReply({ options, stream, topLogprobs }: ChatRequest, contextLength: number): void {
  if (stream || topLogprobs === null) return
  const tokens = Math.min(options.maxTokens ?? contextLength, contextLength)
  const rows = 1 + topLogprobs + (options.logprobTokenIds?.length ?? 0)
  checkBound(wholeBounds.replyRows, (options.n ?? 1) * tokens * rows)
}

/** The two renderings of a generation. */
class Reply {
  private readonly request: ChatRequest
  private readonly generation: Generation
  private readonly vocabulary: Vocabulary
  /** Seed and report, for the reply or its first chunk. */
  private readonly extension: Record<string, unknown>
  private readonly head: { id: string; created: number; model: string; system_fingerprint: string }

  constructor(engine: Engine, request: ChatRequest, generation: Generation, seed: bigint) {
    this.request = request
    this.generation = generation
    this.vocabulary = engine.vocabulary
    this.extension = {
      seed: Number.isSafeInteger(Number(seed)) ? Number(seed) : String(seed),
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
        message: { role: "assistant", content: choice.text, refusal: null },
        logprobs:
          this.request.topLogprobs === null
            ? null
            : { content: long.list(choice.logprobs ?? [], rows), refusal: null },
        finish_reason: choice.finishReason,
        stop_reason: choice.stopReason,
      }
    })
    const whole = {
      ...this.head,
      object: "chat.completion",
      choices,
      usage: this.usage(result),
      service_tier: "default",
      tokenrail: { ...this.extension, ...warningsOf(result), ...closedOf(result.choices) },
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
    for (let index = 0; index < (options.n ?? 1); index++) {
      const first = chunk(index, { role: "assistant", content: "" })
      yield index === 0 ? { ...first, tokenrail: this.extension } : first
    }
    for await (const event of this.generation) {
      if (event.type === "text") {
        completionTokens += event.tokens.length
        if (event.text === "" && !event.logprobs?.length) continue
        yield chunk(event.choice, { content: event.text }, this.eventLogprobs(event))
      } else {
        refuseFailure(event)
        const last = chunk(
          event.choice,
          {},
          { finish_reason: event.finishReason, stop_reason: event.stopReason },
        )
        const said = {
          ...(this.generation.isFinished ? warningsOf(await this.generation.result) : {}),
          ...closedOf([event]),
        }
        yield Object.keys(said).length > 0 ? { ...last, tokenrail: said } : last
      }
    }
    if (includeUsage) yield { ...head, choices: [], usage: this.usage(await this.generation.result) }
  }

  private eventLogprobs(event: GenerationEvent & { type: "text" }): object {
    if (this.request.topLogprobs === null) return {}
    return { logprobs: { content: logprobRows(event.logprobs, this.vocabulary), refusal: null } }
  }

  private usage({ usage }: GenerateResult): unknown {
    const { promptTokens, completionTokens, cachedTokens, forcedTokens, compileMs, maskUs } = usage
    const { draftedTokens, acceptedTokens } = usage
    const timing = {
      forced_tokens: forcedTokens,
      compile_ms: compileMs,
      mask_us: maskUs.total,
      mask_us_p50: maskUs.p50,
      mask_us_p99: maskUs.p99,
      ttft_ms: usage.ttftMs,
      tpot_ms: usage.tpotMs,
    }
    return {
      ...counts(promptTokens, completionTokens, cachedTokens, [
        acceptedTokens,
        draftedTokens - acceptedTokens,
      ]),
      ...(this.request.timing && { tokenrail: timing }),
    }
  }
}

/** Whether the budget decided how an answer was completed. */
function closedOf(choices: readonly { stopReason: string | number | null }[]): { closed?: true } {
  return choices.some(({ stopReason }) => stopReason === "closed") ? { closed: true } : {}
}

/** What the constraint overruled, where it overruled anything. */
function warningsOf({ warnings }: GenerateResult): { warnings?: readonly string[] } {
  return warnings.length > 0 ? { warnings } : {}
}

function counts(
  promptTokens: number,
  completionTokens: number,
  cachedTokens = 0,
  [accepted, rejected] = [0, 0],
): object {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    completion_tokens_details: {
      reasoning_tokens: 0,
      accepted_prediction_tokens: accepted,
      rejected_prediction_tokens: rejected,
    },
  }
}

// A finish "error" has no place in the reply of OpenAI: it is a failed request.
function refuseFailure(finish: {
  finishReason: string
  message?: string | undefined
  error?: Error | undefined
}): void {
  if (finish.finishReason === "error") {
    if (finish.error) throw finish.error
    throw new Refusal("server_error", finish.message ?? "the engine could not produce a token")
  }
  // A client that has left reads nothing of this: whoever does was cut off by the end of the engine.
  if (finish.finishReason === "abort") {
    throw new Refusal("shutting_down", "the answer is cut off, the server is shutting down")
  }
}

// 53 bits: the seed that is reported must survive JSON.parse on the other side.
function randomSeed(): bigint {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2))
  return (BigInt(high & 0x1fffff) << 32n) | BigInt(low)
}
