/**
 * `POST /v1/responses` and `/v1/responses/input_tokens`.
 *
 * A request passes the steps of chat: body ▸ fields ▸ conversation ▸ constraint ▸ admission ▸ text
 * ▸ reply. The body may be read in a thread; after it, the conversation is looked up in the store.
 */
import type { Engine, GenerateOptions } from "../../../runtime/index.ts"
import { type ErrorContext, errorResponse, toHttpError } from "../../errors.ts"
import { eventStream } from "../../http/sse.ts"
import { randomSeed } from "../reply/seed.ts"
import { checkBound, wholeBounds } from "../request/bounds.ts"
import { type EndpointOptions, engineOptions, readRequest } from "../request/endpoint.ts"
import { ignoredHeaders } from "../request/keys.ts"
import { conversationOf } from "./conversation.ts"
import { type ResponsesRequest, words } from "./fields.ts"
import { Running } from "./running.ts"
import type { ResponseStore } from "./store.ts"
import { type FlatTools, requestPath } from "./tools.ts"

/** Replies with one response. Never rejects: every failure is a response of HTTP. */
export async function createResponse(
  engine: Engine,
  request: Request,
  options: EndpointOptions,
  store: ResponseStore,
): Promise<Response> {
  let context = contextOf(options)
  try {
    const { response: asked, constraint, policies } = await readRequest("responses", request, options)
    context = { ...context, constraint, ...toolContext(asked.tools) }
    options.models.check(asked.model)
    checkRows(asked, engine.model.contextLength)
    const scope = store.of(options.key)
    const { messages, input } = conversationOf(asked, scope)
    const seed = BigInt(asked.options.seed ?? randomSeed())
    const generation = await engine.start(messages, {
      ...engineOptions(asked, { constraint, policies }, options),
      seed,
      signal: request.signal,
    })
    options.exchange.follow(generation)
    const isConstrained = constraint !== null
    const running = new Running({
      ...{ engine, request: asked, generation, seed, input, isConstrained, scope },
      context: { ...context, noted: undefined },
    })
    const headers = ignoredHeaders(asked.ignored)
    if (!asked.stream) return await running.whole(headers)
    return eventStream(running.events(), {
      isTyped: true,
      heartbeatMs: options.heartbeatMs,
      headers,
      cancel: () => generation.cancel(),
      describeError: (error) => ({ ...toHttpError(error).body.error, type: "error" }),
    })
  } catch (error) {
    return errorResponse(error, context)
  }
}

/**
 * Replies with the number of tokens that the prompt of a response would have. Never rejects: every
 * failure is a response of HTTP.
 */
export async function countInput(
  engine: Engine,
  request: Request,
  options: EndpointOptions,
  store: ResponseStore,
): Promise<Response> {
  let context = contextOf(options)
  try {
    const asked = await readRequest("countResponse", request, options)
    context = { ...context, ...toolContext(asked.tools) }
    if (asked.model !== null) options.models.check(asked.model)
    const { messages } = conversationOf(asked, store.of(options.key))
    const counted: GenerateOptions = { ...asked.options, signal: request.signal }
    const tokens = await engine.tokenize(messages, counted)
    const reply = { object: "response.input_tokens", input_tokens: tokens.length }
    return Response.json(reply, { headers: ignoredHeaders(asked.ignored) })
  } catch (error) {
    return errorResponse(error, context)
  }
}

function contextOf({ retryAfterSeconds, exchange }: EndpointOptions): ErrorContext {
  return { retryAfterSeconds: retryAfterSeconds(), noted: exchange.noted, words }
}

function toolContext(tools: FlatTools): ErrorContext {
  return { hasTools: tools.nested.length > 0, toolPath: (path) => requestPath(path, tools) }
}

/**
 * Bounds the rows of log-probabilities, because the reply and the last event of a stream hold the
 * whole response. Throws `Refusal`.
 */
function checkRows({ options, topLogprobs }: ResponsesRequest, contextLength: number): void {
  if (topLogprobs === null) return
  const tokens = Math.min(options.maxTokens ?? contextLength, contextLength)
  checkBound(wholeBounds.replyRows, tokens * (1 + topLogprobs + (options.logprobTokenIds?.length ?? 0)))
}
