/**
 * What a mask does to a row of logits: how much of the model's probability it keeps, how open the
 * choice is that it leaves, and the likeliest tokens on both of its sides.
 *
 * Everything is about the model's own distribution, without temperature and penalties. Sums are in
 * float64, by ascending id.
 */
import { TopHeap } from "./top.ts"

/** A token and the natural logarithm of its probability. */
interface Ranked {
  readonly token: number
  readonly logprob: number
}

/** The effect of a mask on one row. */
export interface MaskEffect {
  /** Number of tokens that the mask allows. */
  readonly allowed: number
  /** Probability of all allowed tokens together. */
  readonly mass: number
  /** Bits of entropy of the model's distribution over the allowed tokens. */
  readonly entropy: number
  /** The likeliest allowed tokens, with their probabilities among the allowed tokens. */
  readonly legal: readonly Ranked[]
  /** The likeliest forbidden tokens, with their probabilities among all tokens. */
  readonly illegal: readonly Ranked[]
}

/**
 * Returns the effect of `mask` (shape [W]) on `values` (shape [V]), with at most `count` tokens on
 * each side; `count` is at most 256. Tokens without a probability are in no list. O(V).
 */
export function effectOf(values: Float32Array, mask: Uint32Array, count: number): MaskEffect {
  const isAllowed = (id: number): boolean => (mask[id >>> 5] & (1 << (id & 31))) !== 0
  const sides = { legal: new Float32Array(values.length), illegal: new Float32Array(values.length) }
  let allowed = 0
  for (let id = 0; id < values.length; id++) {
    const legal = isAllowed(id)
    if (legal) allowed++
    const value = values[id] > Number.NEGATIVE_INFINITY ? values[id] : Number.NEGATIVE_INFINITY
    sides.legal[id] = legal ? value : Number.NEGATIVE_INFINITY
    sides.illegal[id] = legal ? Number.NEGATIVE_INFINITY : value
  }
  const legal = logSum(sides.legal)
  const illegal = logSum(sides.illegal)
  const max = Math.max(legal, illegal)
  const all = max + Math.log(Math.exp(legal - max) + Math.exp(illegal - max))
  const top = (side: Float32Array, total: number): Ranked[] => {
    const { ids, count: found } = new TopHeap().rank(side, null, side.length, count)
    return Array.from(ids.subarray(0, found), (token) => ({ token, logprob: side[token] - total }))
  }
  return {
    allowed,
    mass: Math.exp(legal - all),
    entropy: entropyOf(sides.legal, legal),
    legal: top(sides.legal, legal),
    illegal: top(sides.illegal, all),
  }
}

/** Returns the logarithm of the sum of the exponentials; −∞ if there is no value. */
function logSum(values: Float32Array): number {
  let max = Number.NEGATIVE_INFINITY
  for (const value of values) if (value > max) max = value
  if (max === Number.NEGATIVE_INFINITY) return max
  let sum = 0
  for (const value of values) sum += Math.exp(value - max)
  return max + Math.log(sum)
}

/** Returns the entropy in bits of values whose exponentials sum to exp(`total`). */
function entropyOf(values: Float32Array, total: number): number {
  let sum = 0
  for (const value of values) {
    const logprob = value - total
    if (logprob > -745) sum -= Math.exp(logprob) * logprob
  }
  return sum / Math.LN2
}
