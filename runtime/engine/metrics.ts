/**
 * What the engine counts, for /metrics and for benches: plain numbers and distributions that only
 * grow, and the quantile that usage and benches print.
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
  /** Constrained choices whose completion was decided by their budget. */
  closed = 0
  steps = 0
  promptTokens = 0
  /** Prompt tokens taken over from another request. */
  cachedTokens = 0
  completionTokens = 0
  /** Completion tokens of reasoning, counted when their request has ended. */
  reasoningTokens = 0
  forcedTokens = 0
  /** Proposed tokens that were verified, and the accepted ones. */
  draftedTokens = 0
  acceptedTokens = 0
  /** Times that tokens went through the model again, because rounding could have changed a draw. */
  replays = 0
  /** Draws that the check after the draw refused. */
  maskViolations = 0
  compileHits = 0
  compileMisses = 0
  /** Milliseconds, summed. */
  readonly ms = { compile: 0, draft: 0, forward: 0, mask: 0, maskWait: 0, sample: 0, accept: 0 }
  /** Seconds. */
  readonly seconds = {
    /** From a request's admission to its first token. */
    ttft: new Distribution(decades(1e-3, 100)),
    /** A token after the first, on average over its request. */
    tpot: new Distribution(decades(1e-4, 10)),
    /** To fill one mask, wherever that was done. */
    mask: new Distribution(decades(1e-6, 1)),
    /**
     * Time for which the logits of a row had to wait for its mask: the cost of a constraint for its
     * answer.
     */
    maskWait: new Distribution(decades(1e-6, 1)),
  }
  /** Seconds of each compilation that was not cached, by kind of constraint. */
  readonly compileSeconds = new Map<string, Distribution>()
  /** performance.now() of the last finished step. */
  lastStepAt = 0

  /** Counts the compiled or cached constraint of a request. */
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

  /** Counts a finished request. Times of tokens that it did not have are left out. */
  answered({ usage, choices }: Answered): void {
    this.reasoningTokens += usage.reasoningTokens
    for (const { stopReason } of choices) if (stopReason === "closed") this.closed++
    if (usage.completionTokens > 0) this.seconds.ttft.observe(usage.ttftMs / 1000)
    if (usage.tpotMs > 0) this.seconds.tpot.observe(usage.tpotMs / 1000)
  }
}

/** Of a request's result. */
interface Answered {
  readonly usage: {
    readonly completionTokens: number
    readonly reasoningTokens: number
    readonly ttftMs: number
    readonly tpotMs: number
  }
  readonly choices: readonly { readonly stopReason: string | number | null }[]
}

/** The value below which the share `q` of the values lies; 0 of none. Sorts a copy. */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) return 0
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]
}
