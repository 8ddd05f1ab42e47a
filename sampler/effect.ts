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

/** One side of a mask. */
interface Side {
  readonly count: number
  /** Logarithm of the sum of the exponentials; −∞ if there is no value. */
  readonly log: number
  /** Bits of entropy of the distribution over the side. */
  readonly entropy: number
  /** The likeliest tokens, with their logits. */
  readonly top: readonly { readonly token: number; readonly value: number }[]
}

/** The logits of one side; −∞ for the tokens of the other. Each call overwrites it. */
let scratch = new Float32Array(0)
const heap = new TopHeap()

/**
 * Returns the effect of `mask` (shape [W]) on `values` (shape [V]), with at most `count` tokens on
 * each side; `count` is at most 256. Tokens without a probability are in no list. O(V).
 */
export function effectOf(values: Float32Array, mask: Uint32Array, count: number): MaskEffect {
  if (scratch.length < values.length) scratch = new Float32Array(values.length)
  const side = scratch.subarray(0, values.length)
  const legal = sideOf(values, mask, side, { isLegal: true, count })
  const illegal = sideOf(values, mask, side, { isLegal: false, count })
  const max = Math.max(legal.log, illegal.log)
  const all = max + Math.log(Math.exp(legal.log - max) + Math.exp(illegal.log - max))
  const ranked = ({ top }: Side, total: number): Ranked[] =>
    top.map(({ token, value }) => ({ token, logprob: value - total }))
  return {
    allowed: legal.count,
    mass: Math.exp(legal.log - all),
    entropy: legal.entropy,
    legal: ranked(legal, legal.log),
    illegal: ranked(illegal, all),
  }
}

/** Returns one side of a mask, with at most `count` tokens. Overwrites `side`, shape [V]. */
function sideOf(
  values: Float32Array,
  mask: Uint32Array,
  side: Float32Array,
  { isLegal, count }: { isLegal: boolean; count: number },
): Side {
  let kept = 0
  let max = Number.NEGATIVE_INFINITY
  const flip = isLegal ? 0 : -1
  // hot
  for (let id = 0; id < values.length; id++) {
    const value = values[id]
    side[id] = Number.NEGATIVE_INFINITY
    if (((mask[id >>> 5] ^ flip) & (1 << (id & 31))) === 0) continue
    kept++
    // NaN has no probability either.
    if (value > Number.NEGATIVE_INFINITY) side[id] = value
    if (value > max) max = value
  }
  const { ids, values: likeliest, count: found } = heap.rank(side, null, side.length, count)
  const top = Array.from({ length: found }, (_, at) => ({ token: ids[at], value: likeliest[at] }))
  if (max === Number.NEGATIVE_INFINITY) return { count: kept, log: max, entropy: 0, top }
  let sum = 0
  let products = 0
  for (let id = 0; id < side.length; id++) {
    const below = side[id] - max
    if (below === Number.NEGATIVE_INFINITY) continue
    const share = Math.exp(below)
    sum += share
    products += share * below
  }
  const log = Math.log(sum)
  return { count: kept, log: max + log, entropy: (log - products / sum) / Math.LN2, top }
}
