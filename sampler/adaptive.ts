/**
 * Adaptive-p: draws tokens whose probability is near a target, and steers the average probability
 * of the drawn tokens towards that target.
 *
 * A token of probability p, after all filters, gets the logit 5 − 10·d² / (1 + d) with d = |p − t|
 * / 0.3. The aim t is 2·target − mean, at least 0 and at most 1, where `mean` is the moving average
 * of the probabilities of the drawn tokens. The average starts at the target. It is stored by
 * position, as mirostat's μ is. MrJackSpade, ddh0 2025 (llama.cpp, pull request 17927), section 3.
 */
import type { SamplingParams } from "./params.ts"
import type { SampleRow } from "./row.ts"
import { type Candidates, softmax } from "./truncation.ts"

const PeakLogit = 5
const Sharpness = 10
const Width = 0.3

/**
 * Writes the transformed logits into `candidates`. Returns the probabilities before the transform,
 * by token.
 */
export function aimAt(candidates: Candidates, target: number, mean: number): ReadonlyMap<number, number> {
  const aim = Math.min(1, Math.max(0, 2 * target - mean))
  const { ids, probs } = softmax(candidates)
  const chances = new Map<number, number>()
  for (const [at, id] of ids.entries()) {
    const distance = Math.abs(probs[at] - aim) / Width
    candidates.values[id] = Math.fround(PeakLogit - (Sharpness * distance * distance) / (1 + distance))
    chances.set(id, probs[at])
  }
  return chances
}

/** Returns the average before the draw of a row whose target is `target`. */
export function meanBefore({ tokens, position }: SampleRow, target: number): number {
  return tokens.muBefore(position, target)
}

/** Moves the average by the probability of the drawn token. */
export function recordChance(
  row: SampleRow,
  { adaptiveDecay }: SamplingParams,
  mean: number,
  chance: number,
): void {
  row.tokens.recordMu(row.position, adaptiveDecay * mean + (1 - adaptiveDecay) * chance)
}
