/**
 * Logits and masks of a step → tokens, by the sampler.
 *
 * Sequences that must close in their budget have their draw checked: a token after which the rest would not fit is taken
 * out of the mask and the row is drawn again, a few times; then the completion in hand is written.
 */

import type { SampleResult, SampleRow, Sampler } from "../sampler/index.ts"
import type { BatchEntry } from "./scheduler.ts"

/** The logits of a step. Shape [R, V], V = `width`, one row for each entry of `wanted`. */
export interface StepLogits {
  readonly logits: Float32Array
  readonly wanted: readonly BatchEntry[]
  readonly width: number
}

const maxRedraws = 8

/** One result for each of `rows`, entries of `wanted` whose masks are filled; may narrow their masks. */
export async function drawTokens(
  sampler: Sampler,
  step: StepLogits,
  rows: readonly BatchEntry[],
): Promise<SampleResult[]> {
  if (rows.length === 0) return []
  const draw = (entries: readonly BatchEntry[]): Promise<SampleResult[]> =>
    sampler.sample(
      step.logits,
      step.width,
      entries.map((entry) => sampleRow(entry, step.wanted.indexOf(entry))),
    )
  const results = await draw(rows)
  for (const [index, entry] of rows.entries()) {
    const { sequence } = entry
    const { closing, mask, left } = sequence
    if (!closing) continue
    for (let attempt = 1; results[index].status === "ok"; attempt++) {
      const { token } = results[index]
      if (closing.fits(token, left - 1)) break
      closing.hasBound = true
      sequence.maskId = undefined
      // The plan's own token always fits, so its bit is never cleared and the row cannot become empty.
      mask![token >>> 5] &= ~(1 << (token & 31))
      if (attempt === maxRedraws && closing.next >= 0) keepOnly(mask!, closing.next)
      results[index] = (await draw([entry]))[0]
    }
  }
  return results
}

function sampleRow({ sequence }: BatchEntry, logitsRow: number): SampleRow {
  const { params, choice } = sequence.options
  const { counts, tokens, mask, maskId } = sequence
  const row = { logitsRow, params, mask: mask!, tokens: counts, position: tokens.length, choice }
  return maskId === undefined ? row : { ...row, maskId }
}

function keepOnly(row: Uint32Array, token: number): void {
  row.fill(0)
  row[token >>> 5] = 1 << (token & 31)
}
