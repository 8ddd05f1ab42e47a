/**
 * `POST /api/chat` and `POST /api/generate`: Ollama's API for a turn, and for a single prompt.
 *
 * A request passes the steps of chat.ts: body ▸ fields ▸ constraint ▸ admission ▸ text ▸ reply. All
 * but the last two precede the status line.
 */
import type { Engine } from "../../runtime/index.ts"
import { toHttpError } from "../errors.ts"
import { lineStream } from "../http/ndjson.ts"
import { checkReply } from "../openai/chat/chat.ts"
import { randomSeed } from "../openai/reply/seed.ts"
import type { Constraint } from "../openai/request/constraint.ts"
import { type EndpointOptions, engineOptions, readRequest } from "../openai/request/endpoint.ts"
import { ignoredHeaders } from "../openai/request/keys.ts"
import type { EndpointWords } from "../overflow.ts"
import { ollamaErrorBody, ollamaErrorResponse } from "./errors.ts"
import { checkModel, checkThinks } from "./models.ts"
import { type Kind, loadedLine, Reply } from "./reply.ts"

/** Replies to a chat. Never rejects: every failure is a response. */
export function ollamaChat(engine: Engine, request: Request, options: EndpointOptions): Promise<Response> {
  return answer("chat", engine, request, options)
}

/** Replies to a prompt. Never rejects: every failure is a response. */
export function ollamaGenerate(
  engine: Engine,
  request: Request,
  options: EndpointOptions,
): Promise<Response> {
  return answer("generate", engine, request, options)
}

const endpoints = { chat: "ollamaChat", generate: "ollamaGenerate" } as const

async function answer(
  kind: Kind,
  engine: Engine,
  request: Request,
  options: EndpointOptions,
): Promise<Response> {
  const begunAt = performance.now()
  const words: EndpointWords = {
    api: "openai",
    prompt: kind === "chat" ? "messages" : "prompt",
    maxTokens: "num_predict",
  }
  let constraint: Constraint | null = null
  let hasTools = false
  try {
    const { turn, ...held } = await readRequest(endpoints[kind], request, options)
    constraint = held.constraint
    hasTools = (turn.options.tools ?? []).length > 0
    checkModel(turn.model, options.models)
    if (turn.thinks) checkThinks(turn.model, engine)
    const headers = ignoredHeaders(turn.ignored)
    if (turn.isLoad) return whole(loadedLine(kind, turn.model), headers)
    checkReply(turn, engine.model.contextLength)
    const seed = BigInt(turn.options.seed ?? randomSeed())
    const generation = await engine.start(turn.prompt, {
      ...engineOptions(turn, held, options),
      seed,
      signal: request.signal,
    })
    options.exchange.follow(generation)
    const parts = { kind, generation, words, seed, begunAt, vocabulary: engine.vocabulary }
    const reply = new Reply({ ...parts, request: turn, admittedAt: performance.now() })
    if (!turn.stream) return whole(await reply.whole(), headers)
    return lineStream(reply.lines(), {
      headers,
      cancel: () => generation.cancel(),
      describeError: (error) => JSON.stringify(ollamaErrorBody(toHttpError(error))),
    })
  } catch (error) {
    const { noted } = options.exchange
    const retryAfterSeconds = options.retryAfterSeconds()
    return ollamaErrorResponse(error, { constraint, hasTools, retryAfterSeconds, noted, words })
  }
}

function whole(line: string, headers: Record<string, string>): Response {
  return new Response(line, { headers: { "content-type": "application/json; charset=utf-8", ...headers } })
}
