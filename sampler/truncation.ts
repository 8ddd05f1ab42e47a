/**
 * The filters: select the candidates that may still be drawn, by rank, mass or surprise.
 *
 * Each filter takes the candidates, reads the survivors only, and clears some of them; none ever
 * clears the first of the pinned order (value descending, then id ascending). Values are float32;
 * exponentials and sums are float64, and real-valued sums run by ascending id, so that every
 * implementation gets the same bits. Masses of a cut are integers, whose sums are exact in any
 * order. Sources: top-k Fan 2018; top-p Holtzman 2020; typical Meister 2022; epsilon and eta Hewitt
 * 2022; min-p Nguyen 2024; top-nσ Tang 2024; XTC p-e-w 2024; mirostat Basu 2021.
 */

import { MaxSortWidth, sortPinned } from "./top.ts"

/**
 * All tokens of a row, indexed by id; or, if `width` is set, some of them by ascending id. All
 * arrays have the same shape.
 */
export interface Candidates {
  readonly values: Float32Array
  /** 1 if the token may be drawn. */
  readonly alive: Uint8Array
  /** Width of the logits, if these are not all tokens. */
  readonly width?: number
}

/** Returns the number of tokens that may be drawn. O(V). */
export function countAlive({ alive }: Candidates): number {
  let count = 0
  for (const one of alive) count += one
  return count
}

/** Returns the ids of the survivors, ascending. */
export function survivors({ alive }: Candidates): number[] {
  const ids: number[] = []
  for (let id = 0; id < alive.length; id++) if (alive[id]) ids.push(id)
  return ids
}

/** Returns the ids of the survivors in pinned order. */
export function pinned(candidates: Candidates): number[] {
  const { values } = candidates
  const ids = survivors(candidates)
  if (values.length > MaxSortWidth) return ids.sort((a, b) => values[b] - values[a] || a - b)
  const own = Float32Array.from(ids, (id) => values[id])
  return Array.from(sortPinned(own, Int32Array.from(ids), ids.length).ids)
}

export function maximum(candidates: Candidates): number {
  let max = -Infinity
  for (const id of survivors(candidates)) if (candidates.values[id] > max) max = candidates.values[id]
  return max
}

/** Clears survivors whose value is below the threshold. */
function keepFrom(candidates: Candidates, threshold: number): void {
  const { values, alive } = candidates
  const max = maximum(candidates)
  for (const id of survivors(candidates)) if (values[id] < threshold && values[id] < max) alive[id] = 0
}

/** Clears all but the first `count` of an order. */
function keepFirst({ alive }: Candidates, order: readonly number[], count: number): void {
  for (const id of order.slice(Math.max(1, count))) alive[id] = 0
}

/** Returns the probabilities of the survivors and their logarithms, with their ascending `ids`. */
export function softmax(candidates: Candidates): { ids: number[]; logs: Float64Array; probs: Float64Array } {
  const ids = survivors(candidates)
  const max = maximum(candidates)
  let sum = 0
  for (const id of ids) sum += Math.exp(candidates.values[id] - max)
  const log = Math.log(sum)
  const logs = Float64Array.from(ids, (id) => candidates.values[id] - max - log)
  return { ids, logs, probs: logs.map((value) => Math.exp(value)) }
}

/** Returns the entropy of a row's probabilities in nats. */
export function entropy(logs: Float64Array, probs: Float64Array): number {
  let sum = 0
  for (let at = 0; at < probs.length; at++) if (probs[at] > 0) sum -= probs[at] * logs[at]
  return sum
}

/** Applies the temperature by one multiplication with f32(1 / T). */
export function scale(candidates: Candidates, temperature: number): void {
  if (temperature === 1) return
  const inverse = Math.fround(1 / temperature)
  const { values } = candidates
  for (const id of survivors(candidates)) values[id] = Math.fround(values[id] * inverse)
}

/** Returns the temperature of a row whose temperature depends on its entropy, within T ± range. */
export function dynamicTemperature(
  candidates: Candidates,
  temperature: number,
  range: number,
  exponent: number,
): number {
  const low = Math.max(0, temperature - range)
  const high = Math.max(0, temperature + range)
  const { ids, logs, probs } = softmax(candidates)
  if (ids.length < 2) return high
  const share = Math.max(0, entropy(logs, probs)) / Math.log(ids.length)
  return low + (high - low) * Math.min(1, share) ** exponent
}

/** Keeps values within n standard deviations of the maximum. Tang et al. 2024. */
export function topNSigma(candidates: Candidates, n: number): void {
  const ids = survivors(candidates)
  let sum = 0
  for (const id of ids) sum += candidates.values[id]
  const mean = sum / ids.length
  let squares = 0
  for (const id of ids) squares += (candidates.values[id] - mean) ** 2
  keepFrom(candidates, maximum(candidates) - n * Math.sqrt(squares / ids.length))
}

/** Keeps tokens with at least this share of the likeliest token's probability. */
export function minP(candidates: Candidates, share: number): void {
  keepFrom(candidates, maximum(candidates) + Math.log(share))
}

/** Keeps exactly the first k of the pinned order. */
export function topK(candidates: Candidates, k: number): void {
  keepFirst(candidates, pinned(candidates), k)
}

/**
 * Returns the exponent of the integer masses, chosen so that their sum over a whole row is exact in
 * float64.
 */
export function massExponent(width: number): number {
  return 53 - Math.ceil(Math.log2(width))
}

/**
 * Keeps the start of `order` up to and including the token that reaches this share of the
 * survivors' mass.
 */
function keepMass(
  candidates: Candidates,
  order: readonly number[],
  share: number,
  boundary: "ge" | "gt",
): void {
  const max = maximum(candidates)
  const unit = 2 ** massExponent(candidates.width ?? candidates.alive.length)
  const weights = order.map((id) => Math.floor(unit * Math.exp(candidates.values[id] - max)))
  const bound = share * weights.reduce((sum, weight) => sum + weight, 0)
  let before = 0
  let count = 0
  while (count < order.length && (boundary === "ge" ? before < bound : before <= bound))
    before += weights[count++]
  keepFirst(candidates, order, count)
}

/** Keeps the smallest prefix of the pinned order that has this share of the survivors' mass. */
export function topP(candidates: Candidates, share: number, boundary: "ge" | "gt" = "ge"): void {
  keepMass(candidates, pinned(candidates), share, boundary)
}

/** Like top-p, but orders tokens by how near their surprise is to the mean surprise. */
export function typicalP(candidates: Candidates, share: number): void {
  const { ids, logs, probs } = softmax(candidates)
  const mean = entropy(logs, probs)
  const distance = new Float64Array(candidates.alive.length)
  for (const [at, id] of ids.entries()) distance[id] = Math.abs(-logs[at] - mean)
  // The sort is stable: tokens at equal distance stay in pinned order.
  const order = pinned(candidates).sort((a, b) => distance[a] - distance[b])
  keepMass(candidates, order, share, "ge")
}

/** Keeps the first token, and all tokens with a probability of at least the threshold. */
function keepProbable(candidates: Candidates, threshold: number): void {
  const { ids, probs } = softmax(candidates)
  const [first] = pinned(candidates)
  for (const [at, id] of ids.entries()) if (probs[at] < threshold && id !== first) candidates.alive[id] = 0
}

export function epsilonCutoff(candidates: Candidates, epsilon: number): void {
  keepProbable(candidates, epsilon)
}

export function etaCutoff(candidates: Candidates, eta: number): void {
  const { logs, probs } = softmax(candidates)
  keepProbable(candidates, Math.min(eta, Math.sqrt(eta) * Math.exp(-entropy(logs, probs))))
}

/**
 * Drops all tokens that reach the threshold except the last of them, which removes the head of an
 * already truncated set.
 */
export function xtc(candidates: Candidates, threshold: number, probability: number, u: number): void {
  const order = pinned(candidates)
  if (threshold > 0.5 || order.length < 2 || !(u < probability)) return
  const { ids, probs } = softmax(candidates)
  const probable = new Set(ids.filter((_, at) => probs[at] >= threshold))
  const head = order.filter((id) => probable.has(id))
  for (const id of head.slice(0, -1)) candidates.alive[id] = 0
}

/** Mirostat 2: keeps tokens with a surprise of at most μ bits. */
export function mirostat2(candidates: Candidates, mu: number): void {
  const { ids, logs } = softmax(candidates)
  const [first] = pinned(candidates)
  for (const [at, id] of ids.entries()) {
    if (-logs[at] / Math.LN2 > mu && id !== first) candidates.alive[id] = 0
  }
}

/**
 * Mirostat 1: keeps the k tokens that the fit of a Zipf distribution to the head gives. Basu et al.
 * 2021, section 3.
 */
export function mirostat1(candidates: Candidates, mu: number): void {
  const order = pinned(candidates)
  keepFirst(candidates, order, zipfCount(order, candidates, mu))
}

function zipfCount(order: readonly number[], candidates: Candidates, mu: number): number {
  const { values } = candidates
  let tb = 0
  let tt = 0
  for (let i = 0; i + 1 < Math.min(100, order.length); i++) {
    const t = Math.log((i + 2) / (i + 1))
    // The logarithm of the ratio of two probabilities is the difference of their values.
    tb += t * (values[order[i]] - values[order[i + 1]])
    tt += t * t
  }
  if (tt === 0) return order.length
  const slope = tb / tt
  const epsilon = slope - 1
  const width = candidates.width ?? candidates.alive.length
  const scaled = epsilon === 0 ? 2 ** mu / Math.log(width) : (epsilon * 2 ** mu) / (1 - width ** -epsilon)
  const k = scaled ** (1 / slope)
  return Number.isNaN(k) ? order.length : Math.max(1, Math.floor(k))
}
