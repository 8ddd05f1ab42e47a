/**
 * Turns the logits of a prompt's tokens into log-probabilities: the model's prediction for each
 * token, given those before it.
 *
 * They are the model's own, without mask, temperature or penalty. Reading a row is O(V), and a
 * chunk has many rows, so the event loop gets a turn after every few milliseconds.
 */

import { describeRow } from "../../sampler/logprobs.ts"
import type { BatchEntry } from "./scheduler.ts"

/** Maximum milliseconds without a turn for the event loop. */
const turnMs = 8

/**
 * Appends to `promptLogprobs` of the sequence the log-probabilities that the rows of its feed
 * contain. The logits have shape [R, V], V = `width`. Returns early if the sequence ends. Throws if
 * the logits are not numbers.
 */
export async function readPromptRows(
  { sequence, feed, promptRow }: BatchEntry,
  logits: Float32Array,
  width: number,
): Promise<void> {
  const { options, promptCount, promptLogprobs, tokens } = sequence
  const params = { ...options.params, logprobs: options.promptLogprobs ?? 0 }
  let since = performance.now()
  for (let index = 0; index < feed.tokens.length; index++) {
    // The row of a token predicts the next one. If a prompt is computed again, the tokens before
    // `promptLogprobs.length` are already done.
    const position = feed.start + index + 1
    if (position >= promptCount) return
    if (position < promptLogprobs.length) continue
    const row = promptRow + index
    const values = logits.subarray(row * width, (row + 1) * width)
    const judged = describeRow(values, tokens[position], params)
    if (Number.isNaN(judged.logprob)) throw new Error("model_output: the model's logits are not numbers")
    promptLogprobs.push(judged)
    if (performance.now() - since < turnMs) continue
    await new Promise((resolve) => setImmediate(resolve))
    if (sequence.isFinished) return
    since = performance.now()
  }
}
