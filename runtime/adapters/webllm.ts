/**
 * Masks for WebLLM (`@mlc-ai/web-llm`): a processor for `logitProcessorRegistry` of an engine's
 * configuration. It has the methods of WebLLM's interface `LogitProcessor` and imports nothing of
 * WebLLM.
 *
 * Source: github.com/mlc-ai/web-llm, src/types.ts and src/llm_chat.ts (0.2.86). WebLLM calls
 * `processLogits` with the V logits of one sequence before each draw, `processSampledToken` after
 * it (stop tokens included), and `resetState` when a chat is reset. It does not reset between two
 * requests of one chat.
 */
import type { TokenMachine } from "../../mask/machine.ts"
import { constrain } from "./rows.ts"

/** What WebLLM's interface `LogitProcessor` asks for. */
export interface WebllmLogitProcessor {
  /** Masks the V logits in place and returns them. Throws RangeError as `ConstrainedRows.apply`. */
  processLogits(logits: Float32Array): Float32Array
  /** Moves past the drawn token. Throws RangeError if the grammar does not allow it. */
  processSampledToken(token: number): void
  /** Begins a new text. */
  resetState(): void
}

/**
 * Returns a processor that writes texts of one grammar, one after the other: after an end id the
 * next logits begin a new text. A request that was cut off (`max_tokens`, a stop string, an
 * interruption) leaves its text unfinished: call `resetState()` before the next request.
 */
export function webllmProcessor(machine: TokenMachine): WebllmLogitProcessor {
  const rows = constrain(machine)
  return {
    processLogits(logits) {
      if (rows.isDone()) rows.reset()
      return rows.apply(logits)
    },
    processSampledToken(token) {
      rows.accept(token)
    },
    resetState() {
      rows.reset()
    },
  }
}
