/**
 * How answers ended, as the wire says it: failures as refusals, and what `tokenrail` of a reply tells beside the answer.
 */
import type { GenerateResult } from "../../../runtime/index.ts"
import { Refusal } from "../../errors.ts"

/** A finish "error" has no place in the reply of OpenAI: it is a failed request. Throws what the answer failed with. */
export function refuseFailure(finish: {
  finishReason: string
  message?: string | undefined
  error?: Error | undefined
}): void {
  if (finish.finishReason === "error") {
    if (finish.error) throw finish.error
    throw new Refusal("server_error", finish.message ?? "the engine could not produce a token")
  }
  // A client that has left reads nothing of this: whoever does was cut off by the end of the engine.
  if (finish.finishReason === "abort") {
    throw new Refusal("shutting_down", "the answer is cut off, the server is shutting down")
  }
}

/** Whether the budget decided how an answer was completed. */
export function closedOf(choices: readonly { stopReason: string | number | null }[]): { closed?: true } {
  return choices.some(({ stopReason }) => stopReason === "closed") ? { closed: true } : {}
}

/** What the constraint overruled, where it overruled anything. */
export function warningsOf({ warnings }: Pick<GenerateResult, "warnings">): { warnings?: readonly string[] } {
  return warnings.length > 0 ? { warnings } : {}
}
