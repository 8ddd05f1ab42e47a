/** Rows on both samplers: equal tokens, but for counted near ties. */
import { expect } from "vitest"
import { sampleRow } from "../../../sampler/cpu.ts"
import type { GpuSampler } from "../../../sampler/gpu/sampler.ts"
import type { SampleResult, SampleRow } from "../../../sampler/row.ts"
import { logitsOf } from "../../../sampler/sampler.ts"
import { type NearTie, nearTie } from "./ties.ts"

export interface Comparison {
  readonly rowCount: number
  /** Differences that are near ties, by what was near. */
  readonly ties: Readonly<Record<NearTie, number>>
  readonly tieCount: number
}

/**
 * Fails on a difference that is no near tie. Rows are sampled twice, unless `once`: the second time their cuts start from
 * the first one's maximum, and the answer has to be the same, near tie or not.
 */
export async function compareRows(
  gpu: GpuSampler,
  logits: Float32Array,
  width: number,
  rows: readonly SampleRow[],
  {
    definition = sampleRow,
    once = false,
  }: { definition?: (logits: Float32Array, row: SampleRow) => SampleResult; once?: boolean } = {},
): Promise<Comparison> {
  const found = await gpu.sample(logits, width, rows)
  if (!once) expect(await gpu.sample(logits, width, rows), "warm = cold").toEqual(found)
  const ties = { scores: 0, threshold: 0, mass: 0 }
  for (const [index, row] of rows.entries()) {
    const own = logitsOf(logits, width, row.logitsRow)
    const { token, status } = definition(own, row)
    if (token === found[index].token && status === found[index].status) continue
    const tie = nearTie(own, row)
    if (tie) ties[tie]++
    else {
      const { minP, topK, topP, topNSigma, temperature, seed, mirostat } = row.params
      const { position } = row
      const what = { width, minP, topK, topP, topNSigma, mirostat, temperature, seed: `${seed}`, position }
      expect
        .soft(
          { token: found[index].token, status: found[index].status },
          `row ${index}: ${JSON.stringify(what)}`,
        )
        .toEqual({ token, status })
    }
  }
  return { rowCount: rows.length, ties, tieCount: ties.scores + ties.threshold + ties.mass }
}
