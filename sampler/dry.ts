/**
 * DRY ("don't repeat yourself", p-e-w 2024): penalises a token that would prolong a repetition of
 * the sequence's own past, exponentially in the length of the repetition.
 *
 * For each earlier position, the sampler needs the length of the longest suffix of the context that
 * also ends just before that position. This is one entry of the Z-array of the reversed context, so
 * all positions together cost O(n).
 */
import type { TokenCounts } from "./counts.ts"
import type { SamplingParams } from "./params.ts"

/** Returns the penalty by token id, for ids with a positive penalty only. */
export function dryPenalties(tokens: TokenCounts, params: SamplingParams): Map<number, number> {
  const penalties = new Map<number, number>()
  const { dryMultiplier, dryBase, dryAllowedLength, dryLastN, dryBreakers } = params
  if (dryMultiplier === 0 || dryLastN === 0) return penalties
  const all = tokens.history()
  const context = dryLastN === -1 ? all : all.subarray(Math.max(0, all.length - dryLastN))
  const reach = suffixReach(context, dryBreakers)
  const singles = new Set(dryBreakers.filter((ids) => ids.length === 1).map(([id]) => id))
  const longest = new Map<number, number>()
  for (const [back, length] of zArray(context).entries()) {
    const repeated = Math.min(length, reach)
    if (back === 0 || repeated < dryAllowedLength) continue
    // Reversed index `back` is the end of the earlier occurrence. The token after that end is the
    // one that would repeat now.
    const next = context[context.length - back]
    if (!singles.has(next)) longest.set(next, Math.max(longest.get(next) ?? 0, repeated))
  }
  const maxExponent = dryBase > 1 ? Math.floor(88.7228 / Math.log(dryBase)) : Infinity
  for (const [id, length] of longest) {
    penalties.set(id, dryMultiplier * dryBase ** Math.min(length - dryAllowedLength, maxExponent))
  }
  return penalties
}

/** Returns the number of tokens after the last breaker of the context. */
function suffixReach(context: Int32Array, breakers: readonly (readonly number[])[]): number {
  let reach = context.length
  for (const ids of breakers) {
    for (let end = context.length; end >= ids.length && context.length - end < reach; end--) {
      if (!ids.every((id, at) => context[end - ids.length + at] === id)) continue
      reach = context.length - end
      break
    }
  }
  return reach
}

/**
 * Returns z, where z[i] is the length of the longest common prefix of the reversed context and its
 * suffix from i. Gusfield 1997, 1.3.
 */
function zArray(context: Int32Array): Int32Array {
  const n = context.length
  const z = new Int32Array(n)
  const last = n - 1
  for (let i = 1, left = 0, right = 0; i < n; i++) {
    let length = i < right ? Math.min(right - i, z[i - left]) : 0
    while (i + length < n && context[last - length] === context[last - i - length]) length++
    z[i] = length
    if (i + length > right) {
      left = i
      right = i + length
    }
  }
  return z
}
