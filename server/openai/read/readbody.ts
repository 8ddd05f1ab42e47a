/**
 * Converts the bytes of a body to a checked and bounded request: JSON ▸ fields ▸ constraint ▸
 * policies.
 *
 * A pure function of its bytes, which runs on the event loop for a small body and in a thread for a
 * large one (bodyreader.ts). The result consists of JSON values, so that it can be sent between
 * threads.
 */
import { readOutput } from "../../anthropic/constraint.ts"
import { parseCount, parseMessages } from "../../anthropic/fields.ts"
import { type ParseLimits, parseBody, type RequestBody } from "../../http/body.ts"
import { parseGenerate, parseOllamaChat, parseShow } from "../../ollama/fields.ts"
import { parseChat } from "../chat/schema.ts"
import { parseCompile } from "../compile/fields.ts"
import { parseCompletion } from "../completions/completionfields.ts"
import { parseDecision, parseScore } from "../decisionfields.ts"
import { refuseTrace } from "../reply/trace.ts"
import { readBareFormat, readConstraint } from "../request/constraint.ts"
import { parseCountResponse, parseResponse } from "../responses/fields.ts"
import { parseDetokenize, parseTokenize } from "../tokenizefields.ts"

/** The parser of each endpoint. */
const parsers = {
  chat: (body: RequestBody) => ({ chat: parseChat(body), ...readConstraint(body) }),
  completions: (body: RequestBody) => ({ completion: parseCompletion(body), ...readConstraint(body) }),
  messages: (body: RequestBody) => ({ messages: parseMessages(body), ...readOutput(body) }),
  countTokens: (body: RequestBody) => ({ count: parseCount(body), ...readOutput(body) }),
  responses: parseResponse,
  countResponse: parseCountResponse,
  decisions: parseDecision,
  ollamaChat: (body: RequestBody) => ({ turn: parseOllamaChat(body), ...readBareFormat(body) }),
  ollamaGenerate: (body: RequestBody) => ({ turn: parseGenerate(body), ...readBareFormat(body) }),
  ollamaShow: parseShow,
  score: parseScore,
  compile: parseCompile,
  tokenize: parseTokenize,
  detokenize: parseDetokenize,
}

/** The endpoints whose replies have a place for a trace, and one that ignores it. */
const tracing: ReadonlySet<Endpoint> = new Set(["chat", "completions", "compile"])

export type Endpoint = keyof typeof parsers
export type BodyRead<E extends Endpoint> = ReturnType<(typeof parsers)[E]>

/** Reads bodies: by `readBody` on the event loop, or in a thread that runs it. */
export interface BodyReader {
  /**
   * Throws `Refusal`, or AbortError when the signal fires. The bytes may be detached afterwards.
   */
  read<E extends Endpoint>(
    endpoint: E,
    bytes: Uint8Array<ArrayBuffer>,
    limits: ParseLimits,
    signal: AbortSignal,
  ): Promise<BodyRead<E>>
}

/** Returns the checked request of an endpoint. Throws `Refusal`. */
export function readBody<E extends Endpoint>(
  endpoint: E,
  bytes: Uint8Array,
  limits: ParseLimits,
): BodyRead<E> {
  const read = parsers[endpoint](parseBody(bytes, limits))
  if ("policies" in read && !tracing.has(endpoint)) refuseTrace(read.policies)
  return read as BodyRead<E>
}
