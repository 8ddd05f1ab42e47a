/**
 * The order in which the stages between the bans and the draw run.
 *
 * The default is vLLM's order: temperature before the filters, so that they see the distribution
 * that is drawn from. llama.cpp filters first and applies the temperature to the remaining tokens.
 * Any other permutation is an order too. Every order but the default runs on the CPU.
 */

/** `typical_p` names the three cuts by entropy: typical, epsilon, eta. */
export type StageName =
  | "penalties"
  | "dry"
  | "temperature"
  | "top_n_sigma"
  | "min_p"
  | "top_k"
  | "typical_p"
  | "top_p"
  | "xtc"

export const vllmOrder: readonly StageName[] = [
  "penalties",
  "dry",
  "temperature",
  "top_n_sigma",
  "min_p",
  "top_k",
  "typical_p",
  "top_p",
  "xtc",
]

export const llamacppOrder: readonly StageName[] = [
  "penalties",
  "dry",
  "top_n_sigma",
  "top_k",
  "typical_p",
  "top_p",
  "min_p",
  "xtc",
  "temperature",
]

/** Returns whether the stages run in vLLM's order. */
export function isDefaultOrder(order: readonly StageName[]): boolean {
  return order === vllmOrder || order.every((stage, at) => stage === vllmOrder[at])
}

export function isStageOrder(names: readonly string[]): names is readonly StageName[] {
  return names.length === vllmOrder.length && vllmOrder.every((name) => names.includes(name))
}
