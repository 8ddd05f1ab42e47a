/**
 * Log-probabilities of the chosen token, of the likeliest ones and of named ones.
 *
 * A capture is the set of candidates of one stage: after the grammar's mask (`raw`), before it (`unmasked`), or what the
 * token was drawn from (`processed`). Float64, sums by ascending id. Never NaN, never an infinity: −9999 stands for
 * impossible, as OpenAI writes it.
 */
import type { SamplingParams } from "./params.ts"
import type { RankedLogprob, TokenLogprobs } from "./row.ts"
import { type Candidates, pinned, softmax } from "./truncation.ts"

export const Impossible = -9999

/** `capture` holds at least one survivor. */
export function describe(capture: Candidates, token: number, params: SamplingParams): TokenLogprobs {
  const order = pinned(capture)
  const ranks = new Map(order.map((id, at) => [id, at + 1]))
  const numbers = valuesOf(capture, params)
  const one = (id: number): RankedLogprob => ({
    token: id,
    logprob: capture.alive[id] ? numbers(id) : Impossible,
    rank: ranks.get(id) ?? 0,
  })
  return {
    ...one(token),
    top: order.slice(0, params.logprobs ?? 0).map(one),
    named: params.logprobTokenIds.map(one),
  }
}

/** A token that had no alternative: certain, without a look at its logits. */
export function describeForced(token: number, params: SamplingParams): TokenLogprobs {
  const certain = { token, logprob: 0, rank: 1 }
  const named = params.logprobTokenIds.map((id) =>
    id === token ? certain : { token: id, logprob: Impossible, rank: 0 },
  )
  return { ...certain, top: params.logprobs ? [certain] : [], named }
}

function valuesOf(capture: Candidates, params: SamplingParams): (id: number) => number {
  if (params.logprobsMode.endsWith("logits")) return (id) => capture.values[id]
  const { ids, logs } = softmax(capture)
  const byId = new Map(ids.map((id, at) => [id, logs[at]]))
  return (id) => byId.get(id)!
}
