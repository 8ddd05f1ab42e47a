/** The reason why an answer ended, and its usage, in Anthropic's terms. */
import type { Usage } from "../../runtime/index.ts"
import { timesOf } from "../openai/reply/usage.ts"

interface Ended {
  finishReason: string
  stopReason: string | number | null
}

export interface Stop {
  stop_reason: "end_turn" | "max_tokens" | "stop_sequence" | "tool_use"
  stop_sequence: string | null
}

/**
 * Fields of the end of an answer that only Anthropic fills: containers of tools that its servers
 * run, and refusals by its policies.
 */
export const noDetails = { container: null, stop_details: null }

/** Returns the stop reason of an answer that did not fail. */
export function stopOf(
  { finishReason, stopReason }: Ended,
  { callCount, stopSequences }: { callCount: number; stopSequences: readonly string[] },
): Stop {
  if (finishReason === "length") return { stop_reason: "max_tokens", stop_sequence: null }
  const text = stopSequences.find((each) => each === stopReason)
  if (text !== undefined) return { stop_reason: "stop_sequence", stop_sequence: text }
  return { stop_reason: callCount > 0 ? "tool_use" : "end_turn", stop_sequence: null }
}

/**
 * Returns the usage at the start of a stream. It is not known yet how many tokens of the prompt are
 * cached from an earlier request.
 */
export function firstUsage(promptTokens: number): object {
  return { ...counts(promptTokens, 0, 0), output_tokens_details: { thinking_tokens: 0 } }
}

/**
 * Returns the usage of a finished request. Each token of the prompt is counted once: as read from
 * the cache, or as input.
 */
export function usageOf(usage: Usage, { timing }: { timing: boolean }): object {
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens } = usage
  return {
    ...counts(promptTokens, cachedTokens, completionTokens),
    output_tokens_details: { thinking_tokens: reasoningTokens },
    ...(timing && { tokenrail: timesOf(usage) }),
  }
}

function counts(promptTokens: number, cachedTokens: number, completionTokens: number): object {
  return {
    input_tokens: promptTokens - cachedTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedTokens,
    output_tokens: completionTokens,
    // Only Anthropic's own servers report it.
    cache_creation: null,
    inference_geo: null,
    server_tool_use: null,
    service_tier: "standard",
    speed: null,
  }
}
