/**
 * What the application passes to the endpoints that generate text, how each of them reads its body,
 * and the engine's options for it.
 */
import type { GenerateOptions } from "../../../runtime/index.ts"
import { errorResponse } from "../../errors.ts"
import { type BodyLimits, type HeldBytes, readBytes } from "../../http/body.ts"
import type { Exchange } from "../../http/exchange.ts"
import type { ModelNames } from "../models.ts"
import type { BodyRead, BodyReader, Endpoint } from "../read/readbody.ts"
import type { ConstraintRequest } from "./constraint.ts"
import type { GenerationRequest } from "./fields.ts"
import { refuseLeftOut } from "./leftout.ts"

export interface EndpointOptions {
  bodyLimits: BodyLimits
  /** Counts the bytes of bodies that are being read. */
  held: HeldBytes
  reader: BodyReader
  models: ModelNames
  /** Milliseconds without an event after which a stream sends a comment. */
  heartbeatMs?: number | undefined
  /** The default for requests. */
  onLength?: "truncate" | "close" | undefined
  /**
   * Milliseconds that a constraint may take to compile. A slower one is refused, because other
   * requests wait meanwhile.
   */
  compileMs: number
  /**
   * Whether to refuse a budget that the context cannot hold, instead of giving the answer the rest
   * of the context.
   */
  strictMaxTokens: boolean
  /**
   * Whether to refuse tools that a service would run, and their traces in a conversation, instead
   * of leaving them out.
   */
  strictTools: boolean
  /** Number of answers that may wait for a slot. */
  maxWaiting: number
  /** Returns the seconds after which a client may try again if the queue is full. */
  retryAfterSeconds: () => number
  /** Index of the key that the request carries; −1 if the server has no keys. */
  key: number
  /**
   * Receives the generations that a request begins, and the error that the client gets if it fails.
   */
  exchange: Exchange
}

/** Reads, checks and bounds the request in the body. Throws `Refusal`. */
export async function readRequest<E extends Endpoint>(
  endpoint: E,
  request: Request,
  { bodyLimits, held, reader }: EndpointOptions,
): Promise<BodyRead<E>> {
  // Ollama's own examples send JSON as curl's form type. No foreign page can: it has an origin.
  const anyType = endpoint.startsWith("ollama")
  const bytes = await readBytes(request, bodyLimits.maxBytes, held, anyType)
  const byteCount = bytes.length
  try {
    return await reader.read(endpoint, bytes, bodyLimits, request.signal)
  } finally {
    held.give(byteCount)
  }
}

/** Returns the engine's options for a request, without seed and signal. Throws `Refusal`. */
export function engineOptions(
  { options, report, leftOut }: Pick<GenerationRequest, "options" | "report" | "leftOut">,
  { constraint, policies }: ConstraintRequest,
  { compileMs, onLength, strictMaxTokens, strictTools, exchange }: EndpointOptions,
): GenerateOptions {
  if (strictTools) refuseLeftOut(leftOut)
  return {
    ...options,
    strictMaxTokens,
    ...(exchange.isBackground && { background: true }),
    ...(constraint && { constraint: constraint.input }),
    limits: { compileMs },
    ...policies.compile,
    ...(constraint && onLength && { onLength }),
    ...policies.generate,
    report,
  }
}

/** Returns the reply of `run`, or the refusal for its error. Never rejects. */
export async function respond(
  { retryAfterSeconds, exchange }: EndpointOptions,
  run: () => Promise<Response>,
): Promise<Response> {
  try {
    return await run()
  } catch (error) {
    return errorResponse(error, { retryAfterSeconds: retryAfterSeconds(), noted: exchange.noted })
  }
}
