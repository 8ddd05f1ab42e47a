/**
 * Rows with a heavy tail: one token far above all others, whose weights are 1, 2, 3, and some tokens of no mass, masked or
 * −∞ in turn. What cuts the noise off, coarsens it or lets a masked token through shows in which of them are drawn.
 */
import { maskOf } from "./rows.ts"
import { chiSquare, normalise } from "./statistics.ts"

export interface Tail {
  readonly width: number
  readonly logits: Float32Array
  /** What the mask allows. */
  readonly legal: readonly number[]
  readonly mask: Uint32Array
  /** Share of all but the head. */
  readonly share: number
  /** Above 1: the draws of n positions have another law. */
  ratio(draws: Iterable<number>): number
}

const head = 2221
const binCount = 26

/** `depth`: nats from the head down to a weight of 1. `period`: two ids of so many have no mass. */
export function tailOf(width: number, depth: number, period: number): Tail {
  const weightOf = (id: number) => (id % period === 1 || id % period === 4 ? 0 : 1 + ((id >>> 1) % 3))
  const logits = Float32Array.from({ length: width }, (_, id) => {
    if (id === head) return 0
    const weight = weightOf(id)
    // What the mask denies is likelier than all the rest.
    return weight > 0 ? Math.log(weight) - depth : id % period === 1 ? Number.NEGATIVE_INFINITY : 5
  })
  const legal = Array.from({ length: width }, (_, id) => id).filter((id) => id === head || id % period !== 4)
  /** The head; the tail by weight and by eighth of the vocabulary; what must not be drawn. */
  const binOf = (id: number) => {
    if (id === head) return 0
    return weightOf(id) === 0 ? binCount - 1 : 1 + 8 * (weightOf(id) - 1) + Math.floor((8 * id) / width)
  }
  const weights = new Float64Array(binCount)
  for (const id of legal) if (weightOf(id) > 0 || id === head) weights[binOf(id)] += Math.exp(logits[id])
  const law = normalise(Array.from(weights))
  return {
    width,
    logits,
    legal,
    mask: maskOf(width, legal),
    share: 1 - law[0],
    ratio(draws) {
      const counts = new Float64Array(binCount)
      let n = 0
      for (const id of draws) {
        counts[binOf(id)]++
        n++
      }
      return chiSquare(counts, law, n).ratio
    },
  }
}

/** The mask of a sampler that forgets it in the last 64 tokens. */
export function leakyMask({ mask }: Tail): Uint32Array {
  const leaky = mask.slice()
  leaky.fill(0xffffffff, leaky.length - 2)
  return leaky
}
