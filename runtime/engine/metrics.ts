/**
 * What the engine counts, for /metrics and for benches: plain numbers that only grow, and the quantile that usage and
 * benches print.
 */

/** What an engine has counted since it was opened. Only `lastStepAt` is not a sum. */
export class EngineMetrics {
  requests = 0
  /** Finished choices by reason. */
  readonly finished: Record<"stop" | "length" | "abort" | "error", number> = {
    stop: 0,
    length: 0,
    abort: 0,
    error: 0,
  }
  steps = 0
  promptTokens = 0
  /** Prompt tokens taken over from another request. */
  cachedTokens = 0
  completionTokens = 0
  forcedTokens = 0
  /** Proposed tokens that were verified, and those of them that stayed. */
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
  /** performance.now() of the last finished step. */
  lastStepAt = 0
}

/** The value below which the share `q` of the values lies; 0 of none. Sorts a copy. */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) return 0
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))]
}
