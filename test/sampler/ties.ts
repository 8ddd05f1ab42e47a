/**
 * When two implementations may differ: the CPU computes in float64, the GPU in float32.
 *
 * A draw is a near tie when two scores are within 1e-4, a value is within 1e-5 of a threshold, or the mass before a token
 * within 1e-5 of the cut. Near ties are exempt from equality, and counted: many of them are a defect too.
 */
import { lawOf } from "../../sampler/cpu.ts"
import { isGreedy } from "../../sampler/params.ts"
import { gumbel, tokenBits } from "../../sampler/rng.ts"
import type { SampleRow } from "../../sampler/row.ts"
import { type Candidates, maximum, pinned, survivors } from "../../sampler/truncation.ts"

export function isNearTie(logits: Float32Array, row: SampleRow): boolean {
  const off = { topP: 1, topK: 0, minP: 0, topNSigma: 0 }
  const { params } = row
  const unfiltered = lawOf(logits, { ...row, params: { ...params, ...off } })
  if (unfiltered.status !== "ok") return false
  if (isGreedy(params)) return isClose(unfiltered.candidates, (z) => z, 1e-4, 0)
  const law = lawOf(logits, row)
  const thresholds = [
    ...(params.minP > 0 ? [maximum(unfiltered.candidates) + Math.log(params.minP)] : []),
    ...(params.topNSigma > 0 ? [sigmaThreshold(unfiltered.candidates, params.topNSigma)] : []),
  ]
  const { values } = unfiltered.candidates
  for (const threshold of thresholds) {
    for (const id of survivors(unfiltered.candidates)) {
      if (Math.abs(values[id] - threshold) <= 1e-5 * Math.max(1, Math.abs(values[id]))) return true
    }
  }
  if (params.topP < 1) {
    const before = lawOf(logits, { ...row, params: { ...params, topP: 1 } }).candidates
    if (isNearMass(before, params.topP)) return true
  }
  return isClose(law.candidates, (z, id) => z + gumbel(tokenBits(id, law.key)), 1e-4, 1)
}

/** Whether the two best scores are within `gap`, but for exact equality of equal values when `slack` is 0. */
function isClose(
  candidates: Candidates,
  score: (z: number, id: number) => number,
  gap: number,
  slack: number,
): boolean {
  let best = -Infinity
  let second = -Infinity
  for (const id of survivors(candidates)) {
    const value = score(candidates.values[id], id)
    if (value > best) {
      second = best
      best = value
    } else if (value > second) second = value
  }
  return best - second < gap && !(slack === 0 && best === second)
}

function sigmaThreshold(candidates: Candidates, n: number): number {
  const values = survivors(candidates).map((id) => candidates.values[id])
  const mean = values.reduce((sum, z) => sum + z, 0) / values.length
  const square = values.reduce((sum, z) => sum + (z - mean) ** 2, 0)
  return maximum(candidates) - n * Math.sqrt(square / values.length)
}

function isNearMass(candidates: Candidates, share: number): boolean {
  const max = maximum(candidates)
  const masses = pinned(candidates).map((id) => Math.exp(candidates.values[id] - max))
  const total = masses.reduce((sum, mass) => sum + mass, 0)
  let before = 0
  for (const mass of masses) {
    // Exact halves of equal values are the same on both sides.
    if (Math.abs(before / total - share) < 1e-5 && before / total !== share) return true
    before += mass
  }
  return false
}
