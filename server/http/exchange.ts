/**
 * One request and its reply, as the log, the metrics and the rate limits see them.
 *
 * An exchange begins when the request arrives and ends when its reply is complete: for a stream,
 * when the last token has been drawn or the client has gone. An endpoint reports the generations
 * that it began (`follow`) and the errors that it sent (`noted`). An exchange holds numbers and
 * names, never the content of a request.
 */
import type { GenerateResult, Usage } from "../../runtime/index.ts"
import { type ErrorBody, toHttpError } from "../errors.ts"
import type { Admission } from "./ratelimits.ts"

/** The outcome of a request. */
export interface Outcome {
  readonly requestId: string
  readonly method: string
  /** The route, never the requested path, so that the number of different values is bounded. */
  readonly endpoint: string
  readonly status: number
  readonly ms: number
  /** Null if nothing was generated. */
  readonly tokens: Tokens | null
  /** Distinct finish reasons of the answers. */
  readonly finish: readonly string[]
  readonly refusal: Refused | null
  /** Whether the client disconnected before the end. */
  readonly isAborted: boolean
}

type Tokens = Pick<Usage, "promptTokens" | "cachedTokens" | "completionTokens">

/** Why a request failed. */
export interface Refused {
  readonly code: string
  /** For the error of a constraint: syntax, unsupported, unsatisfiable, limit. */
  readonly kind?: string
  /**
   * For a failure of the server: the error's name and where it was thrown. The message is left out
   * because it may repeat the request.
   */
  readonly fault?: string
}

/** The status that proxies write if the client has gone. */
const clientGone = 499

/** A generation whose tokens the exchange counts. */
export interface Followed {
  readonly promptTokens: number
  /** Number of tokens so far. */
  readonly completionTokens: number
  readonly result: Promise<Finished>
}

/** The part of a result that an exchange reads. */
type Finished = Pick<GenerateResult, "choices"> & { readonly usage: Tokens }

export class Exchange {
  readonly requestId: string
  readonly isBackground: boolean
  /** Set when the request has passed the rate limits of its key. */
  admission: Admission | null = null
  private readonly request: Request
  private readonly endpoint: string
  private readonly begunAt = performance.now()
  private readonly followed: Followed[] = []
  private refusal: Refused | null = null

  /** `isBackground`: whether its answers wait behind those of other requests. */
  constructor(request: Request, endpoint: string, isBackground = false) {
    this.request = request
    this.isBackground = isBackground
    this.endpoint = endpoint
    this.requestId = requestIdOf(request)
  }

  get ms(): number {
    return performance.now() - this.begunAt
  }

  /** Records that a generation has begun, so that its tokens count as the request's. */
  follow(generation: Followed): void {
    this.followed.push(generation)
    this.admission?.spends(() =>
      this.followed.reduce((sum, each) => sum + each.promptTokens + each.completionTokens, 0),
    )
  }

  /** Receives the error that the client gets instead of an answer; see `ErrorContext`. */
  readonly noted = ({ code, kind }: ErrorBody["error"], error: unknown): void => {
    this.refusal = {
      code,
      ...(kind !== undefined && { kind }),
      ...(code === "server_error" && { fault: faultOf(error) }),
    }
  }

  /** Called when the head of the reply is ready. Resolves when the reply is complete. */
  async ended(status: number): Promise<Outcome> {
    const results = await Promise.all(this.followed.map(({ result }) => result))
    const isAborted = this.request.signal.aborted
    for (const result of results) this.noteFailure(result, isAborted)
    this.settle(status)
    const { method } = this.request
    return {
      ...{ requestId: this.requestId, method, endpoint: this.endpoint, ms: this.ms },
      // An error for a client that has gone is not a failure of the server.
      status: isAborted && status >= 500 ? clientGone : status,
      tokens: results.length > 0 ? sumOf(results) : null,
      finish: [...new Set(results.flatMap(({ choices }) => choices.map(finishOf)))],
      refusal: isAborted ? null : this.refusal,
      isAborted,
    }
  }

  /** Records the failure of a stream, which occurs after its status was sent. */
  private noteFailure({ choices }: Finished, isAborted: boolean): void {
    if (this.refusal || isAborted) return
    const failed = choices.find(({ finishReason }) => finishReason === "error")
    if (failed) toHttpError(failed.error ?? new Error(), { noted: this.noted })
    else if (choices.some(({ finishReason }) => finishReason === "abort")) {
      this.refusal = { code: "shutting_down" }
    }
  }

  private settle(status: number): void {
    if (status === 429 || status >= 500) this.admission?.takeBack()
    this.admission?.settle()
  }
}

function sumOf(results: readonly Finished[]): Tokens {
  const sum = (of: (usage: Tokens) => number) => results.reduce((total, { usage }) => total + of(usage), 0)
  return {
    promptTokens: sum((usage) => usage.promptTokens),
    cachedTokens: sum((usage) => usage.cachedTokens),
    completionTokens: sum((usage) => usage.completionTokens),
  }
}

/** Returns the error's name and the first frames of its stack. */
function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line))
  return [error.name, ...frames.slice(0, 3).map((frame) => frame.trim())].join(" ")
}

/** Returns the caller's own id if it is short and printable, so that both logs have the same id. */
function requestIdOf(request: Request): string {
  const given = request.headers.get("x-request-id") ?? ""
  return /^[\x21-\x7e]{1,128}$/.test(given) ? given : `req_${crypto.randomUUID().replaceAll("-", "")}`
}

/** Returns the finish reason for the log. An answer with calls of tools has `tool_calls`. */
function finishOf({ finishReason, toolCalls }: GenerateResult["choices"][number]): string {
  return finishReason === "stop" && toolCalls.length > 0 ? "tool_calls" : finishReason
}
