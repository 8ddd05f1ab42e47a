/**
 * Log-probabilities of the chosen token, of the likeliest tokens and of named tokens.
 *
 * A capture is the set of candidates of one stage: after the grammar's mask (`raw`), before it
 * (`unmasked`), or the candidates that the token was drawn from (`processed`). Values are float64,
 * summed by ascending id. They are never NaN and never infinite: −9999 marks an impossible token,
 * as OpenAI writes it.
 */
import type { SamplingParams } from "./params.ts"
import type { RankedLogprob, TokenLogprobs } from "./row.ts"
import { HeapSize, MaxSortWidth, TopHeap } from "./top.ts"
import { type Candidates, pinned } from "./truncation.ts"

export const Impossible = -9999

/**
 * Returns the log-probabilities of `token`, of the likeliest tokens and of the named ones.
 * `capture` must hold at least one survivor. O(V), and O(V log V) for more alternatives than a heap
 * holds.
 */
export function describe(capture: Candidates, token: number, params: SamplingParams): TokenLogprobs {
  const { values, alive } = capture
  const { max, log } = measure(capture)
  const isLogit = params.logprobsMode.endsWith("logits")
  const one = (id: number, rank: number): RankedLogprob => ({
    token: id,
    logprob: alive[id] ? (isLogit ? values[id] : values[id] - max - log) : Impossible,
    rank,
  })
  const top = topIds(capture, params.logprobs ?? 0).map((id, at) => one(id, at + 1))
  const ranked = (id: number) => one(id, alive[id] ? rankOf(capture, id) : 0)
  return { ...ranked(token), top, named: params.logprobTokenIds.map(ranked) }
}

/**
 * Returns the maximum, and the logarithm of the sum of exponentials relative to it, summed by
 * ascending id.
 */
function measure({ values, alive }: Candidates): { max: number; log: number } {
  let max = Number.NEGATIVE_INFINITY
  for (let id = 0; id < alive.length; id++) if (alive[id] && values[id] > max) max = values[id]
  let sum = 0
  for (let id = 0; id < alive.length; id++) if (alive[id]) sum += Math.exp(values[id] - max)
  return { max, log: Math.log(sum) }
}

function topIds(capture: Candidates, count: number): number[] {
  const { values, alive } = capture
  if (count === 0) return []
  if (count > HeapSize || alive.length > MaxSortWidth) return pinned(capture).slice(0, count)
  const present = values.map((value, id) => (alive[id] ? value : Number.NEGATIVE_INFINITY))
  const ranked = new TopHeap().rank(present, null, present.length, count)
  return Array.from(ranked.ids.subarray(0, ranked.count))
}

/**
 * Returns two natural logarithms: of the probability of a token among the tokens that a mask
 * allows, and of the probability of the allowed tokens among all. Their sum is the token's own
 * log-probability. Shape of `values` [V]. O(V).
 */
export function certaintyOf(
  values: Float32Array,
  mask: Uint32Array,
  token: number,
): { logprob: number; logMass: number } {
  let max = Number.NEGATIVE_INFINITY
  let allowedMax = Number.NEGATIVE_INFINITY
  // hot
  for (let id = 0; id < values.length; id++) {
    const value = values[id]
    if (value > max) max = value
    if (value > allowedMax && (mask[id >>> 5] & (1 << (id & 31))) !== 0) allowedMax = value
  }
  // Each sum has its own maximum: compared with the likeliest token, the allowed ones may be too
  // improbable for a float64.
  let sum = 0
  let allowedSum = 0
  for (let id = 0; id < values.length; id++) {
    const value = values[id]
    if (!(value > Number.NEGATIVE_INFINITY)) continue
    sum += Math.exp(value - max)
    if ((mask[id >>> 5] & (1 << (id & 31))) !== 0) allowedSum += Math.exp(value - allowedMax)
  }
  const all = max + Math.log(sum)
  const allowed = allowedMax + Math.log(allowedSum)
  return { logprob: values[token] - allowed, logMass: Math.min(0, allowed - all) }
}

/** Returns the rank of a token in the pinned order, from 1. */
function rankOf({ values, alive }: Candidates, token: number): number {
  const value = values[token]
  let rank = 1
  for (let id = 0; id < alive.length; id++) {
    if (alive[id] && (values[id] > value || (values[id] === value && id < token))) rank++
  }
  return rank
}

/**
 * Returns the result of `describe` for a row without a mask and without named tokens, such as each
 * row of a prompt. Shape [V]; at most `HeapSize` alternatives. It takes half the time (V = 128,000,
 * one alternative, two busy cores: 3.9 ms, `describe` 8.0).
 */
export function describeRow(values: Float32Array, token: number, params: SamplingParams): TokenLogprobs {
  const width = values.length
  const count = Math.min(params.logprobs ?? 0, width)
  const chosen = values[token]
  let max = Number.NEGATIVE_INFINITY
  let rank = 1
  // hot
  for (let id = 0; id < width; id++) {
    const value = values[id]
    if (value > max) max = value
    if (value > chosen || (value === chosen && id < token)) rank++
  }
  let sum = 0
  for (let id = 0; id < width; id++) sum += Math.exp(values[id] - max)
  const isLogit = params.logprobsMode.endsWith("logits")
  const log = Math.log(sum)
  const one = (id: number, place: number): RankedLogprob => {
    const value = values[id]
    const isPossible = value !== Number.NEGATIVE_INFINITY
    const logprob = isLogit ? value : value - max - log
    return { token: id, logprob: isPossible ? logprob : Impossible, rank: place }
  }
  const ids = count > 0 ? topOf(values, count) : []
  return { ...one(token, rank), top: ids.map((id, at) => one(id, at + 1)), named: [] }
}

function topOf(values: Float32Array, count: number): number[] {
  const ranked = new TopHeap().rank(values, null, values.length, count)
  return Array.from(ranked.ids.subarray(0, ranked.count))
}

/**
 * Returns the result for a token that had no alternative. It is certain, so its logits are not
 * read.
 */
export function describeForced(token: number, params: SamplingParams): TokenLogprobs {
  const certain = { token, logprob: 0, rank: 1 }
  const named = params.logprobTokenIds.map((id) =>
    id === token ? certain : { token: id, logprob: Impossible, rank: 0 },
  )
  return { ...certain, top: params.logprobs ? [certain] : [], named }
}
