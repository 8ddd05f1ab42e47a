/**
 * How answers ended, in the terms of a reply: failures become refusals, and the `tokenrail` object
 * reports the rest.
 */
import type { GenerateResult } from "../../../runtime/index.ts"
import { Refusal } from "../../errors.ts"
import type { EndpointWords } from "../../overflow.ts"
import type { GenerationRequest } from "../request/fields.ts"

/**
 * Throws the error of a failed answer: OpenAI's replies have no finish reason for it, so the
 * request fails.
 */
export function refuseFailure(finish: {
  finishReason: string
  message?: string | undefined
  error?: Error | undefined
}): void {
  if (finish.finishReason === "error") {
    if (finish.error) throw finish.error
    throw new Refusal("server_error", finish.message ?? "the engine could not produce a token")
  }
  // A client that has disconnected never reads this reply. So a client that does was cut off
  // because the engine is closing.
  if (finish.finishReason === "abort") {
    throw new Refusal("shutting_down", "the answer was cut off, because the server is shutting down")
  }
}

/** Returns whether the budget decided how an answer was completed. */
export function closedOf(choices: readonly { stopReason: string | number | null }[]): { closed?: true } {
  return choices.some(({ stopReason }) => stopReason === "closed") ? { closed: true } : {}
}

/**
 * Returns warnings that list the parts of the request that were left out, and those that the
 * context or the constraint overruled, by the endpoint's field names.
 */
export function warningsOf(
  { warnings }: Pick<GenerateResult, "warnings">,
  { leftOut }: Pick<GenerationRequest, "leftOut">,
  { maxTokens }: EndpointWords,
): { warnings?: readonly string[] } {
  const told = [
    ...leftOut.map(({ warning }) => warning),
    ...warnings.map((warning) => warning.replace(/^max_tokens:/, `${maxTokens}:`)),
  ]
  return told.length > 0 ? { warnings: told } : {}
}
