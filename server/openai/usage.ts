/**
 * `usage` as OpenAI counts it, and the times that `tokenrail.timing` asks for.
 */
import type { Usage } from "../../runtime/index.ts"

/** Of a finished request. */
export function usageOf(usage: Usage, { timing }: { timing: boolean }): object {
  const { promptTokens, completionTokens, cachedTokens, forcedTokens, compileMs, maskUs } = usage
  const { draftedTokens, acceptedTokens } = usage
  const times = {
    forced_tokens: forcedTokens,
    compile_ms: compileMs,
    mask_us: maskUs.total,
    mask_us_p50: maskUs.p50,
    mask_us_p99: maskUs.p99,
    ttft_ms: usage.ttftMs,
    tpot_ms: usage.tpotMs,
  }
  return {
    ...counts(promptTokens, completionTokens, cachedTokens, [acceptedTokens, draftedTokens - acceptedTokens]),
    ...(timing && { tokenrail: times }),
  }
}

/** Of a request under way, or of one whose usage has been read. */
export function counts(
  promptTokens: number,
  completionTokens: number,
  cachedTokens = 0,
  [accepted, rejected] = [0, 0],
): object {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens },
    completion_tokens_details: {
      reasoning_tokens: 0,
      accepted_prediction_tokens: accepted,
      rejected_prediction_tokens: rejected,
    },
  }
}
