/**
 * The engine's counters, for /metrics and for benchmarks: numbers and distributions that only grow,
 * and the quantile that usage and benchmarks report.
 */
import { Distribution, decades } from "./distribution.ts"

/** The counts of an engine since it was opened. Only `lastStepAt` is not a sum. */
export class EngineMetrics {
  requests = 0
  /** Finished choices by reason. */
  readonly finished: Record<"stop" | "length" | "abort" | "error", number> = {
    stop: 0,
    length: 0,
    abort: 0,
    error: 0,
  }
  /** Constrained choices that were completed by the budget's rule. */
  closed = 0
  steps = 0
  promptTokens = 0
  /** Prompt tokens reused from another request. */
  cachedTokens = 0
  completionTokens = 0
  /** Completion tokens of reasoning, counted when their request has ended. */
  reasoningTokens = 0
  forcedTokens = 0
  /** Number of proposed tokens that were verified, and of those that were accepted. */
  draftedTokens = 0
  acceptedTokens = 0
  /**
   * Number of times that tokens were computed again, because rounding could have changed a draw.
   */
  replays = 0
  /** Draws that the check after the draw rejected. */
  maskViolations = 0
  compileHits = 0
  compileMisses = 0
  /** Sums of durations in milliseconds. */
  readonly ms = { compile: 0, draft: 0, forward: 0, mask: 0, maskWait: 0, sample: 0, accept: 0 }
  /** Distributions of durations in seconds. */
  readonly seconds = {
    /** Time from a request's admission to its first token. */
    ttft: new Distribution(decades(1e-3, 100)),
    /** Average time per token after the first, by request. */
    tpot: new Distribution(decades(1e-4, 10)),
    /** Time to fill one mask, in any thread. */
    mask: new Distribution(decades(1e-6, 1)),
    /**
     * Time that the logits of a row had to wait for its mask: the delay that a constraint causes.
     */
    maskWait: new Distribution(decades(1e-6, 1)),
  }
  /** Seconds of each compilation that was not cached, by kind of constraint. */
  readonly compileSeconds = new Map<string, Distribution>()
  /** performance.now() of the last finished step. */
  lastStepAt = 0

  /** Counts the constraint of a request, compiled or cached. */
  compiled(kind: string, isCached: boolean, compileMs: number): void {
    if (isCached) {
      this.compileHits++
      return
    }
    this.compileMisses++
    this.ms.compile += compileMs
    const seconds = this.compileSeconds.get(kind) ?? new Distribution(decades(1e-4, 10))
    this.compileSeconds.set(kind, seconds)
    seconds.observe(compileMs / 1000)
  }

  /** Counts a finished request. Durations that the request does not have are left out. */
  answered({ usage, choices }: Answered): void {
    this.reasoningTokens += usage.reasoningTokens
    for (const { stopReason } of choices) if (stopReason === "closed") this.closed++
    if (usage.completionTokens > 0) this.seconds.ttft.observe(usage.ttftMs / 1000)
    if (usage.tpotMs > 0) this.seconds.tpot.observe(usage.tpotMs / 1000)
  }
}

/** The part of a request's result that is counted. */
interface Answered {
  readonly usage: {
    readonly completionTokens: number
    readonly reasoningTokens: number
    readonly ttftMs: number
    readonly tpotMs: number
  }
  readonly choices: readonly { readonly stopReason: string | number | null }[]
}

/**
 * Returns the value below which the share `q` of the values lies; 0 if there are no values. Sorts a
 * copy.
 */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) return 0
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]
}
