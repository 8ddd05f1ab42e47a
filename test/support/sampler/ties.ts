/**
 * When two implementations may differ: the CPU computes in float64, the GPU in float32.
 *
 * A draw is a near tie when two scores are within 1e-4, a value is within 1e-5 of a threshold, or the mass before a token
 * within 1e-5 of the cut. Near ties are exempt from equality, and counted: many of them are a defect too.
 */
import { lawOf } from "../../../sampler/cpu.ts"
import { isGreedy, type SamplingParams } from "../../../sampler/params.ts"
import { gumbel, tokenBits } from "../../../sampler/rng.ts"
import type { SampleRow } from "../../../sampler/row.ts"
import { type Candidates, entropy, maximum, pinned, softmax, survivors } from "../../../sampler/truncation.ts"

/** Which two numbers were too near to each other. */
export type NearTie = "scores" | "threshold" | "mass"

/** undefined: the two implementations have to agree. */
export function nearTie(logits: Float32Array, row: SampleRow): NearTie | undefined {
  const { params } = row
  const unmoved = { typicalP: 1, epsilonCutoff: 0, etaCutoff: 0, topP: 1, xtcProbability: 0 }
  const off = { ...unmoved, topK: 0, minP: 0, topNSigma: 0, mirostat: 0 as const }
  const unfiltered = lawOf(logits, { ...row, params: { ...params, ...off } })
  if (unfiltered.status !== "ok") return undefined
  if (isGreedy(params)) return isClose(unfiltered.candidates, (z) => z, 1e-4, 0) ? "scores" : undefined
  const { values } = unfiltered.candidates
  for (const threshold of thresholds(unfiltered.candidates, row)) {
    for (const id of survivors(unfiltered.candidates)) {
      if (Math.abs(values[id] - threshold) <= 1e-5 * Math.max(1, Math.abs(values[id]))) return "threshold"
    }
  }
  /** Candidates before a stage: those behind it are off. */
  const before = (change: Partial<SamplingParams>) =>
    lawOf(logits, { ...row, params: { ...params, ...change } }).candidates
  if (params.typicalP < 1 && isNearTypical(before(unmoved), params.typicalP)) return "mass"
  if (params.epsilonCutoff > 0) {
    const candidates = before({ ...unmoved, typicalP: params.typicalP })
    if (isNearShare(candidates, () => params.epsilonCutoff)) return "threshold"
  }
  if (params.etaCutoff > 0) {
    const { typicalP, epsilonCutoff, etaCutoff } = params
    const least = (h: number) => Math.min(etaCutoff, Math.sqrt(etaCutoff) * Math.exp(-h))
    if (isNearShare(before({ ...unmoved, typicalP, epsilonCutoff }), least)) return "threshold"
  }
  if (params.topP < 1 && isNearMass(before({ topP: 1, xtcProbability: 0 }), params.topP)) return "mass"
  if (params.xtcProbability > 0) {
    if (isNearShare(before({ xtcProbability: 0 }), () => params.xtcThreshold)) return "threshold"
  }
  if (params.mirostat === 1 && row.tokens.muBefore(row.position, -1) === -1) {
    const counts = [1 - 2e-5, 1 + 2e-5].map((share) => {
      return survivors(before({ mirostatTau: share * params.mirostatTau })).length
    })
    if (counts[0] !== counts[1]) return "threshold"
  }
  const law = lawOf(logits, row)
  const score = (z: number, id: number) => z + gumbel(tokenBits(id, law.key))
  return isClose(law.candidates, score, 1e-4, 1) ? "scores" : undefined
}

function thresholds(candidates: Candidates, { params, tokens, position }: SampleRow): number[] {
  const found: number[] = []
  if (params.minP > 0) found.push(maximum(candidates) + Math.log(params.minP))
  if (params.topNSigma > 0) found.push(sigmaThreshold(candidates, params.topNSigma))
  if (params.mirostat === 2) {
    const { ids, logs } = softmax(candidates)
    const mu = tokens.muBefore(position, 2 * params.mirostatTau)
    // logs = z − lse, whichever token it is.
    found.push(candidates.values[ids[0]] - logs[0] - mu * Math.LN2)
  }
  return found
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

/** Whether a probability is near the least one that stays, given the entropy. */
function isNearShare(candidates: Candidates, least: (entropy: number) => number): boolean {
  const { logs, probs } = softmax(candidates)
  const bound = least(entropy(logs, probs))
  return probs.some((share) => Math.abs(share - bound) <= 1e-5 * bound && share !== bound)
}

/** Whether the mass at typical's cut is near its share, or the two distances there near each other. */
function isNearTypical(candidates: Candidates, share: number): boolean {
  const { ids, logs, probs } = softmax(candidates)
  const mean = entropy(logs, probs)
  const order = ids
    .map((_, at) => ({ distance: Math.abs(-logs[at] - mean), share: probs[at] }))
    .sort((a, b) => a.distance - b.distance)
  let before = 0
  for (const [at, one] of order.entries()) {
    const next = order[at + 1]
    const isCut = before < share && before + one.share >= share - 1e-5
    if (Math.abs(before - share) < 1e-5 && before !== share) return true
    if (isCut && next && next.distance !== one.distance) {
      const gap = next.distance - one.distance
      if (gap < 1e-5 * Math.max(1, one.distance)) return true
    }
    before += one.share
  }
  return false
}
