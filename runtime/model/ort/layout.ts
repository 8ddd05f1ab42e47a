/**
 * How rows of several slots may run together, found by trials.
 *
 * A row's past is handed over in more room than it fills. *Gapped*: its tokens lie in front, and
 * the new ones come behind the gap, which the attention mask hides; it needs a graph that takes
 * positions and honours every zero of the mask. *Shifted*: the gap lies in front, so that the new
 * tokens follow the old ones; each step costs a copy of the row. Only so are rows right in a graph
 * that finds by their places in the past which tokens are too far away to be seen
 * (`signature.window`). *Aligned*: the new tokens come behind the row's own ones and the gap behind
 * both, as the operator GroupQueryAttention has it, which counts the ones of the mask. A graph does
 * not say which layout it has, and one that ignores its mask looks like any other. So the same
 * tokens run in each layout, and a layout is right if its logits are those of a row alone.
 *
 * Quantised graphs give other logits even for the same tokens in other pieces, so the measure is
 * how far the graph is from itself. Where activations are quantised by the largest value of a
 * batch, a neighbour changes a row: that is the *dependence*. It is exactly zero in graphs of 32,
 * 16 and 4 bits (SmolLM2-135M by onnxruntime-genai's builder, the embedded model).
 */

/** Where in a past of P places the n tokens of a row lie, and where the graph puts the new ones. */
export type Layout = "gapped" | "shifted" | "aligned"

/** Place of the first token of a row of `length` tokens. */
export function seenAt(layout: Layout, length: number, pastLength: number): number {
  return layout === "shifted" ? pastLength - length : 0
}

/** Place of the first new token behind a row of `length` tokens. */
export function freshAt(layout: Layout, length: number, pastLength: number): number {
  return layout === "aligned" ? length : pastLength
}

/** The same few tokens in several ways; each gives the logits of the last one. Shape [V]. */
export interface Trial {
  readonly layouts: readonly Layout[]
  readonly hasNeighbour: boolean
  /** In steps, as one row. */
  readonly alone: Float32Array
  /** How far these may be from the graph's logits for the tokens in other pieces. */
  readonly distance: number
  /** In steps, in rows of a layout; beside a row of another length where `hasNeighbour`. */
  rows(layout: Layout, hasNeighbour: boolean): Promise<Float32Array>
}

export interface Judgement {
  readonly layout: Layout
  /** How far a neighbour moves a row's logits, as a part of the largest. Zero: not by a bit. */
  readonly dependence: number
}

/** Sums in another order: an ignored mask or a wrong position shows in the first digits. */
export const Rounding = 1e-3

/**
 * The layout that is right, the first of those that are about equally so; null: rows run one at a
 * time.
 */
export async function judgeLayouts(trial: Trial): Promise<Judgement | null> {
  // Other sums in another order: where activations are rounded, two such distances differ by as
  // much as they are.
  const bound = Math.max(Rounding, 2 * trial.distance)
  const right: { layout: Layout; error: number; single: Float32Array }[] = []
  for (const layout of trial.layouts) {
    try {
      const single = await trial.rows(layout, false)
      const error = distance(trial.alone, single)
      if (error <= bound) right.push({ layout, error, single })
    } catch {
      // A graph that fails in this layout has another one.
    }
  }
  const least = Math.min(...right.map(({ error }) => error))
  const best = right.find(({ error }) => error <= Math.max(Rounding, 2 * least))
  if (!best) return null
  const { layout, single } = best
  const dependence = trial.hasNeighbour ? distance(single, await trial.rows(layout, true)) : 0
  return { layout, dependence }
}

/** The largest difference of two rows of logits, as a part of the largest of them. */
export function distance(one: Float32Array, other: Float32Array): number {
  let scale = 1
  let most = 0
  for (const [at, value] of one.entries()) {
    scale = Math.max(scale, Math.abs(value))
    most = Math.max(most, Math.abs(value - other[at]))
  }
  return most / scale
}
