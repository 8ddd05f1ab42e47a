/**
 * The tokens that the outcomes of a batch report, whichever API their replies belong to.
 *
 * They are read from the recorded lines, so that a batch that is continued counts those of earlier
 * processes too. Each reply ends with its usage or has it near its end, but its text may hold
 * anything, so the line is parsed.
 */
import { isFields } from "../openai/request/wire.ts"
import type { BatchUsage } from "./store.ts"

/** Returns the usage of a recorded line; null if its reply has none. Linear in the line. */
export function usageOf(line: string): BatchUsage | null {
  const { response } = JSON.parse(line) as { response?: { body?: unknown } | null }
  const body = response?.body
  return isFields(body) && isFields(body.usage) ? read(body.usage) : null
}

function read(usage: Record<string, unknown>): BatchUsage {
  const isChat = "prompt_tokens" in usage
  const details = usage[isChat ? "prompt_tokens_details" : "input_tokens_details"]
  const outputDetails = usage[isChat ? "completion_tokens_details" : "output_tokens_details"]
  // Anthropic does not count cached tokens as input.
  const apart = count(usage, "cache_read_input_tokens")
  const input = count(usage, isChat ? "prompt_tokens" : "input_tokens") + apart
  const output = count(usage, isChat ? "completion_tokens" : "output_tokens")
  const thoughts = count(outputDetails, "reasoning_tokens") + count(outputDetails, "thinking_tokens")
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: count(details, "cached_tokens") + apart },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: thoughts },
    total_tokens: input + output,
  }
}

function count(fields: unknown, name: string): number {
  const value = isFields(fields) ? fields[name] : undefined
  return typeof value === "number" ? value : 0
}
