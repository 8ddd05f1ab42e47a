/**
 * What the endpoints that generate text are given by the application, how each of them reads its
 * body, and what the engine is told of it.
 */
import type { GenerateOptions } from "../../../runtime/index.ts"
import { type BodyLimits, type HeldBytes, readBytes } from "../../http/body.ts"
import type { Exchange } from "../../http/exchange.ts"
import type { ModelNames } from "../models.ts"
import type { BodyRead, BodyReader, Endpoint } from "../read/readbody.ts"
import type { ConstraintRequest } from "./constraint.ts"
import type { GenerationRequest } from "./fields.ts"
import { refuseLeftOut } from "./leftout.ts"

export interface EndpointOptions {
  bodyLimits: BodyLimits
  /** The bodies that are being read. */
  held: HeldBytes
  reader: BodyReader
  models: ModelNames
  /** Silence of a stream before a comment is sent. */
  heartbeatMs?: number | undefined
  /** For requests that do not say. */
  onLength?: "truncate" | "close" | undefined
  /**
   * Milliseconds. A constraint that takes longer to compile is refused: everybody waits meanwhile.
   */
  compileMs: number
  /** Refuse a budget that the context cannot hold, instead of answering with what is left of it. */
  strictMaxTokens: boolean
  /**
   * Refuse tools that a service would run, and what a conversation holds of them, instead of
   * leaving them out.
   */
  strictTools: boolean
  /** Answers that may wait for a slot. */
  maxWaiting: number
  /** What a client is told to wait when the line is full. */
  retryAfterSeconds: () => number
  /** Which of the server's keys the request carries; −1 where there are none. */
  key: number
  /** Is told of the generations that a request begins, and of what its client is told instead. */
  exchange: Exchange
}

/** The request that the body holds, checked and bounded. Throws `Refusal`. */
export async function readRequest<E extends Endpoint>(
  endpoint: E,
  request: Request,
  { bodyLimits, held, reader }: EndpointOptions,
): Promise<BodyRead<E>> {
  const bytes = await readBytes(request, bodyLimits.maxBytes, held)
  const byteCount = bytes.length
  try {
    return await reader.read(endpoint, bytes, bodyLimits, request.signal)
  } finally {
    held.give(byteCount)
  }
}

/**
 * What the engine is told of a request, but for its prompt, its seed and its end. Throws `Refusal`.
 */
export function engineOptions(
  { options, report, leftOut }: Pick<GenerationRequest, "options" | "report" | "leftOut">,
  { constraint, policies }: ConstraintRequest,
  { compileMs, onLength, strictMaxTokens, strictTools }: EndpointOptions,
): GenerateOptions {
  if (strictTools) refuseLeftOut(leftOut)
  return {
    ...options,
    strictMaxTokens,
    ...(constraint && { constraint: constraint.input }),
    limits: { compileMs },
    ...policies.compile,
    ...(constraint && onLength && { onLength }),
    ...policies.generate,
    report,
  }
}
