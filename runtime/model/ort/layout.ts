/**
 * How rows of several slots may run together, found out by trying.
 *
 * *Gapped*: the new tokens come behind the gap that the attention mask hides; it needs a graph that takes positions and honours
 * every zero of the mask. *Aligned*: they come behind the row's own tokens, as the operator GroupQueryAttention has it, which
 * counts the ones of the mask. Which one a graph has is not written in it, and one that ignores its mask looks like any other. So
 * the same tokens run in each layout, and it is right if it says what a row alone says.
 *
 * Quantised graphs say something else already when the same tokens come in other pieces; the measure is therefore how far the
 * graph is from itself. Where activations are quantised by the largest value of a batch, a neighbour changes a row: that is the
 * *dependence*. It is exactly zero in graphs of 32, 16 and 4 bits (SmolLM2-135M by onnxruntime-genai's builder, the embedded
 * model).
 */

/** Where a graph puts the keys of new tokens: behind the past, or behind the row's own tokens. */
export type Layout = "gapped" | "aligned"

/** The same few tokens in several ways; each gives the logits of the last one. Shape [V]. */
export interface Trial {
  readonly layouts: readonly Layout[]
  readonly hasNeighbour: boolean
  /** In steps, as one row. */
  alone(): Promise<Float32Array>
  /** At once, nothing cached. */
  whole(): Promise<Float32Array>
  /** In steps, in rows of a layout; beside a row of another length where `hasNeighbour`. */
  rows(layout: Layout, hasNeighbour: boolean): Promise<Float32Array>
}

export interface Judgement {
  readonly layout: Layout
  /** How far a neighbour moves a row's logits, as a part of the largest. Zero: not by a bit. */
  readonly dependence: number
}

/** Sums in another order: an ignored mask or a wrong position shows in the first digits. */
const Rounding = 1e-3

/** The layout that is right; null: rows run one at a time. Throws what a row alone throws. */
export async function judgeLayouts(trial: Trial): Promise<Judgement | null> {
  const alone = await trial.alone()
  let least = Math.max(Rounding, distance(alone, await trial.whole()))
  let best: Judgement | null = null
  for (const layout of trial.layouts) {
    try {
      const single = await trial.rows(layout, false)
      const error = distance(alone, single)
      if (error > least) continue
      const dependence = trial.hasNeighbour ? distance(single, await trial.rows(layout, true)) : 0
      least = error
      best = { layout, dependence }
    } catch {
      // A graph that does not run in this layout has another one.
    }
  }
  return best
}

/** The largest difference of two rows of logits, as a part of the largest of them. */
function distance(one: Float32Array, other: Float32Array): number {
  let scale = 1
  let most = 0
  for (const [at, value] of one.entries()) {
    scale = Math.max(scale, Math.abs(value))
    most = Math.max(most, Math.abs(value - other[at]))
  }
  return most / scale
}
