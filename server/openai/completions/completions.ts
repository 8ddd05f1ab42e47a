/**
 * `POST /v1/completions`: generates text that continues raw prompts.
 *
 * A request passes the steps of chat (chat.ts), once for each prompt. All prompts are started
 * before the status line, and if one is refused, the others are cancelled. The choice `index` is
 * prompt · n + j. The j-th answer of the p-th prompt is drawn with the seed of the request plus p,
 * so that equal prompts get different answers.
 */

import { turn } from "../../../runtime/engine/turns.ts"
import type { Engine, GenerateOptions } from "../../../runtime/index.ts"
import { RequestError } from "../../../runtime/index.ts"
import { errorResponse, toHttpError, unsupported } from "../../errors.ts"
import { eventStream } from "../../http/sse.ts"
import { randomSeed } from "../reply/seed.ts"
import { checkStreamedTrace, traceCost } from "../reply/trace.ts"
import { checkBound, wholeBounds } from "../request/bounds.ts"
import type { Constraint } from "../request/constraint.ts"
import { type EndpointOptions, engineOptions, readRequest } from "../request/endpoint.ts"
import { ignoredHeaders } from "../request/keys.ts"
import type { Policies } from "../request/policies.ts"
import { type CompletionRequest, defaultMaxTokens, type RawPrompt, words } from "./completionfields.ts"
import { CompletionReply, cancelAll, type Prompted } from "./completionreply.ts"
import { textOf } from "./legacylogprobs.ts"

/** Replies with the completions of one request. Never rejects: every failure is a response. */
export async function completions(
  engine: Engine,
  request: Request,
  options: EndpointOptions,
): Promise<Response> {
  let constraint: Constraint | null = null
  try {
    const { completion, constraint: asked, policies } = await readRequest("completions", request, options)
    constraint = asked
    options.models.check(completion.model)
    refusePolicies(policies)
    const count = completion.bestOf * completion.prompts.length
    engine.checkLine(count, options.maxWaiting, options.exchange.isBackground)
    const seed = BigInt(completion.options.seed ?? randomSeed())
    const prompted = await start(engine, completion, {
      ...engineOptions(completion, { constraint, policies }, options),
      seed,
      signal: request.signal,
    })
    const generations = prompted.map(({ generation }) => generation)
    for (const generation of generations) options.exchange.follow(generation)
    const reply = new CompletionReply(engine, completion, prompted, seed)
    const headers = ignoredHeaders(completion.ignored)
    if (!completion.stream) return await reply.whole(headers)
    return eventStream(reply.chunks(), {
      heartbeatMs: options.heartbeatMs,
      headers,
      cancel: () => cancelAll(generations),
      describeError: (error) => toHttpError(error).body,
    })
  } catch (error) {
    const { noted } = options.exchange
    return errorResponse(error, { constraint, retryAfterSeconds: options.retryAfterSeconds(), noted, words })
  }
}

/** Throws `Refusal` for policies about turns of a conversation. */
function refusePolicies({ generate }: Policies): void {
  if (generate.reasonUntil === undefined || generate.reasonUntil === null) return
  throw unsupported(
    "tokenrail.reason",
    ": a raw prompt has no separate reasoning",
    "Use /v1/chat/completions, or write the reasoning into the grammar",
  )
}

/** Starts all prompts, or none. */
async function start(
  engine: Engine,
  completion: CompletionRequest,
  options: GenerateOptions & { seed: bigint },
): Promise<Prompted[]> {
  const { prompts, isList } = completion
  const named = <Result>(index: number, run: () => Promise<Result>) =>
    isList ? withPlace(index, run) : run()
  const tokenized: (readonly number[])[] = []
  const spent = { ms: 0 }
  for (const [index, prompt] of prompts.entries()) {
    const ids = await named(index, () => engine.tokenize(prompt, options, spent))
    // The engine refuses a prompt that does not fit before the next one costs anything.
    const isTooLong = ids.length + Math.min(1, options.maxTokens ?? 1) > engine.model.contextLength
    if (isTooLong) cancelAll([await named(index, () => engine.start(ids, options))])
    tokenized.push(ids)
    // Lets other requests run between two prompts.
    if (isList) await turn()
  }
  checkReply(completion, tokenized, engine.model.contextLength, options.trace)
  const prompted: Prompted[] = []
  try {
    for (const [index, ids] of tokenized.entries()) {
      const seed = BigInt.asIntN(64, options.seed + BigInt(index))
      const room = Math.max(1, engine.model.contextLength - ids.length)
      const maxTokens = options.maxTokens ?? Math.min(defaultMaxTokens, room)
      const generation = await named(index, () => engine.start(ids, { ...options, maxTokens, seed }))
      prompted.push({ ids, text: echoOf(prompts[index], ids, completion, engine), generation })
    }
    return prompted
  } catch (error) {
    cancelAll(prompted.map(({ generation }) => generation))
    throw error
  }
}

function echoOf(
  prompt: RawPrompt,
  ids: readonly number[],
  { echo }: CompletionRequest,
  engine: Engine,
): string {
  if (!echo) return ""
  return typeof prompt === "string" ? prompt : textOf(ids, engine.vocabulary)
}

/** Adds the index of the prompt in the list to a refusal. */
async function withPlace<Result>(index: number, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof RequestError) || error.param !== "prompt") throw error
    const field = `prompt[${index}]`
    const message = `${field}: ${error.message.replace(/^prompt: /, "")}`
    throw new RequestError(error.code, message, field, error.overflow)
  }
}

/**
 * Bounds the rows of log-probabilities and traces, since a whole reply is built in memory. Throws
 * `Refusal`.
 */
function checkReply(
  { options, stream, topLogprobs, n, bestOf, echo }: CompletionRequest,
  prompts: readonly (readonly number[])[],
  contextLength: number,
  trace: GenerateOptions["trace"],
): void {
  const hasRows = options.logprobs !== null && options.logprobs !== undefined
  const answer = bestOf * Math.min(options.maxTokens ?? defaultMaxTokens, contextLength)
  if (stream) checkStreamedTrace(trace, prompts.length * answer)
  if (stream || (!hasRows && !trace)) return
  const tokens = prompts.reduce((sum, ids) => sum + answer + (echo ? n * ids.length : 0), 0)
  checkBound(wholeBounds.replyRows, tokens * ((hasRows ? 1 + (topLogprobs ?? 0) : 0) + traceCost(trace)))
}
