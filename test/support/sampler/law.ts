import type { RowLaw } from "../../../sampler/cpu.ts"
import { pinned, softmax } from "../../../sampler/truncation.ts"

/** The survivors and their probabilities, most probable first: the row's law in readable form. */
export function probabilities(law: RowLaw): [token: number, probability: number][] {
  const order = pinned(law.candidates)
  if (law.isGreedy) return [[order[0], 1]]
  const { ids, probs } = softmax(law.candidates)
  return order.map((id) => [id, probs[ids.indexOf(id)]])
}
