/**
 * Turns the logits of a prompt's tokens into log-probabilities: the model's prediction for each
 * token, given those before it.
 *
 * They are the model's own, without mask, temperature or penalty. Reading a row is O(V), and a
 * chunk has many rows, so the event loop gets a turn after every few milliseconds.
 */

import { describeRow } from "../../sampler/logprobs.ts"
import type { StepLogits } from "../model/logits.ts"
import type { BatchEntry } from "./scheduler.ts"
import { Turns } from "./turns.ts"

/**
 * Appends to `promptLogprobs` of the sequence the log-probabilities that the rows of its feed
 * contain. Returns early if the sequence ends. Throws if the logits are not numbers.
 */
export async function readPromptRows(
  { sequence, feed, promptRow }: BatchEntry,
  logits: StepLogits,
): Promise<void> {
  const { options, promptCount, promptLogprobs, tokens } = sequence
  const params = { ...options.params, logprobs: options.promptLogprobs ?? 0 }
  const turns = new Turns()
  for (let index = 0; index < feed.tokens.length; index++) {
    // The row of a token predicts the next one. If a prompt is computed again, the tokens before
    // `promptLogprobs.length` are already done.
    const position = feed.start + index + 1
    if (position >= promptCount) return
    if (position < promptLogprobs.length) continue
    const judged = describeRow(await logits.row(promptRow + index), tokens[position], params)
    if (Number.isNaN(judged.logprob)) throw new Error("model_output: the model's logits are not numbers")
    promptLogprobs.push(judged)
    await turns.give()
    if (sequence.isFinished) return
  }
}
