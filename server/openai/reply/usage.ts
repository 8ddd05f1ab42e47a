/** `usage` as OpenAI counts it, and the times that `tokenrail.timing` requests. */
import type { Usage } from "../../../runtime/index.ts"

/** Returns the usage of a finished request. */
export function usageOf(usage: Usage, { timing }: { timing: boolean }): object {
  const { promptTokens, completionTokens, cachedTokens } = usage
  const { draftedTokens, acceptedTokens } = usage
  return {
    ...counts(promptTokens, completionTokens, {
      cachedTokens,
      reasoningTokens: usage.reasoningTokens,
      acceptedTokens,
      rejectedTokens: draftedTokens - acceptedTokens,
    }),
    ...(timing && { tokenrail: timesOf(usage) }),
  }
}

/** Returns the times that `tokenrail.timing` requests. */
export function timesOf({ forcedTokens, compileMs, maskUs, ttftMs, tpotMs }: Usage): object {
  return {
    forced_tokens: forcedTokens,
    compile_ms: compileMs,
    mask_us: maskUs.total,
    mask_us_p50: maskUs.p50,
    mask_us_p99: maskUs.p99,
    ttft_ms: ttftMs,
    tpot_ms: tpotMs,
  }
}

/**
 * Returns the summed usage of a request that runs as several requests in the engine. Times that
 * cannot be added are those of the slowest.
 */
export function sumUsage(usages: readonly Usage[]): Usage {
  return usages.reduce((a, b) => ({
    promptTokens: a.promptTokens + b.promptTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
    completionTokens: a.completionTokens + b.completionTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    totalTokens: a.totalTokens + b.totalTokens,
    forcedTokens: a.forcedTokens + b.forcedTokens,
    draftedTokens: a.draftedTokens + b.draftedTokens,
    acceptedTokens: a.acceptedTokens + b.acceptedTokens,
    compileMs: a.compileMs + b.compileMs,
    maskUs: slowest(a.maskUs, b.maskUs),
    acceptUs: slowest(a.acceptUs, b.acceptUs),
    ttftMs: Math.max(a.ttftMs, b.ttftMs),
    tpotMs: Math.max(a.tpotMs, b.tpotMs),
  }))
}

function slowest(a: Usage["maskUs"], b: Usage["maskUs"]): Usage["maskUs"] {
  return { p50: Math.max(a.p50, b.p50), p99: Math.max(a.p99, b.p99), total: a.total + b.total }
}

/** Returns the counts of a running request, or of one whose usage has been read. */
export function counts(
  promptTokens: number,
  completionTokens: number,
  { cachedTokens = 0, reasoningTokens = 0, acceptedTokens = 0, rejectedTokens = 0 } = {},
): object {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    completion_tokens_details: {
      reasoning_tokens: reasoningTokens,
      accepted_prediction_tokens: acceptedTokens,
      rejected_prediction_tokens: rejectedTokens,
    },
  }
}
