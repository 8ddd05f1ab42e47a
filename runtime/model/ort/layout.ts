/**
 * Finds by trials how rows of several slots may run together.
 *
 * A row's past is passed in with more room than it fills. *Gapped*: its tokens come first, then the
 * gap, then the new tokens; the attention mask hides the gap. This needs a graph that takes
 * positions and respects every zero of the mask. *Shifted*: the gap comes first, so that the new
 * tokens follow the old ones; each step copies the row. If a graph decides by the index in the past
 * which tokens are outside of its window (`signature.window`), only this layout is correct.
 * *Aligned*: the new tokens follow the row's own ones, and the gap comes last; this is the layout
 * of the operator GroupQueryAttention, which counts the ones of the mask. A graph does not say
 * which layout it has, and one that ignores its mask looks like any other. So the same tokens run
 * in each layout, and a layout is correct if its logits are those of a row alone.
 *
 * Quantized graphs give different logits even for the same tokens cut into other pieces, so logits
 * are compared relative to that difference. If activations are quantized by the largest value of a
 * batch, a neighbour changes a row: that is the *dependence*. It is exactly zero in graphs of 32,
 * 16 and 4 bits (SmolLM2-135M by onnxruntime-genai's builder, the embedded model).
 */

/**
 * Where the n tokens of a row lie in a past of P positions, and where the graph puts the new ones.
 */
export type Layout = "gapped" | "shifted" | "aligned"

/** Returns the index of the first token of a row of `length` tokens. */
export function seenAt(layout: Layout, length: number, pastLength: number): number {
  return layout === "shifted" ? pastLength - length : 0
}

/** Returns the index of the first new token after a row of `length` tokens. */
export function freshAt(layout: Layout, length: number, pastLength: number): number {
  return layout === "aligned" ? length : pastLength
}

/** The same few tokens, run in several ways; each gives the logits of the last token. Shape [V]. */
export interface Trial {
  readonly layouts: readonly Layout[]
  readonly hasNeighbour: boolean
  /** The logits of the tokens in steps, as one row. */
  readonly alone: Float32Array
  /** How much these may differ from the graph's logits for the tokens in other pieces. */
  readonly distance: number
  /**
   * Returns the logits of the tokens in steps, in rows of a layout; with `hasNeighbour`, next to a
   * row of another length.
   */
  rows(layout: Layout, hasNeighbour: boolean): Promise<Float32Array>
}

export interface Judgement {
  readonly layout: Layout
  /**
   * How much a neighbour changes a row's logits, relative to the largest. Zero: not by a single
   * bit.
   */
  readonly dependence: number
}

/**
 * Relative difference that the order of sums can cause. An ignored mask or a wrong position changes
 * the first digits.
 */
export const Rounding = 1e-3

/**
 * Returns the correct layout, or the first of those that are about equally correct; null: rows run
 * one at a time.
 */
export async function judgeLayouts(trial: Trial): Promise<Judgement | null> {
  // The factor 2 is for activations that are rounded: each of two distances may then be as large as
  // the rounding.
  const bound = Math.max(Rounding, 2 * trial.distance)
  const right: { layout: Layout; error: number; single: Float32Array }[] = []
  for (const layout of trial.layouts) {
    try {
      const single = await trial.rows(layout, false)
      const error = distance(trial.alone, single)
      if (error <= bound) right.push({ layout, error, single })
    } catch {
      // If a graph fails in this layout, it has another one.
    }
  }
  const least = Math.min(...right.map(({ error }) => error))
  const best = right.find(({ error }) => error <= Math.max(Rounding, 2 * least))
  if (!best) return null
  const { layout, single } = best
  const dependence = trial.hasNeighbour ? distance(single, await trial.rows(layout, true)) : 0
  return { layout, dependence }
}

/** Returns the largest difference of two rows of logits, relative to the largest logit. */
export function distance(one: Float32Array, other: Float32Array): number {
  let scale = 1
  let most = 0
  for (const [at, value] of one.entries()) {
    scale = Math.max(scale, Math.abs(value))
    most = Math.max(most, Math.abs(value - other[at]))
  }
  return most / scale
}
