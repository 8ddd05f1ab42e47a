/**
 * Logits and masks of a step → tokens, by the sampler.
 *
 * Sequences that must close in their budget have their draw checked: a token after which the rest would not fit is taken
 * out of the mask and the row is drawn again, a few times; then the completion in hand is written. Rows whose logits have
 * not the bits of plain decoding have their draws checked too: a doubtful one is no draw.
 */

import type { SampleResult, SampleRow, Sampler } from "../sampler/index.ts"
import { logitsOf } from "../sampler/sampler.ts"
import { isNearTie } from "./neartie.ts"
import type { Sequence } from "./sequence.ts"

/** A row of a step to be drawn; the sequence's mask is filled and may be narrowed. */
export interface DrawRow {
  readonly sequence: Sequence
  readonly logitsRow: number
  readonly isPlain: boolean
  /** The draft token at this place, judged by ratio instead of drawn. */
  readonly judged?: SampleRow["judged"]
}

export interface StepLogits {
  /** Shape [R, V], V = `width`. */
  readonly logits: Float32Array
  readonly width: number
  /** How far the logits of rows that are not plain may be off. */
  readonly rounding: number
}

const maxRedraws = 8

/** One result for each of `rows`; undefined where only plain logits can tell. */
export async function drawTokens(
  sampler: Sampler,
  step: StepLogits,
  rows: readonly DrawRow[],
): Promise<(SampleResult | undefined)[]> {
  const results = await drawRows(sampler, step, rows)
  for (const [index, row] of rows.entries()) {
    const { closing, mask, left } = row.sequence
    if (!closing) continue
    for (let attempt = 1; ; attempt++) {
      const result = results[index]
      if (result?.status !== "ok" || closing.fits(result.token, left - 1)) break
      closing.hasBound = true
      row.sequence.maskId = undefined
      // The plan's own token always fits, so its bit is never cleared and the row cannot become empty.
      mask![result.token >>> 5] &= ~(1 << (result.token & 31))
      if (attempt === maxRedraws && closing.next >= 0) keepOnly(mask!, closing.next)
      results[index] = (await drawRows(sampler, step, [row]))[0]
    }
  }
  return results
}

async function drawRows(
  sampler: Sampler,
  { logits, width, rounding }: StepLogits,
  rows: readonly DrawRow[],
): Promise<(SampleResult | undefined)[]> {
  const samples = rows.map(sampleRow)
  const drawn = await sampler.sample(logits, width, samples)
  return rows.map((row, index) => {
    const own = logitsOf(logits, width, row.logitsRow)
    return row.isPlain || !isNearTie(own, samples[index], rounding) ? drawn[index] : undefined
  })
}

function sampleRow({ sequence, logitsRow, judged }: DrawRow): SampleRow {
  const { params, choice } = sequence.options
  const { counts, tokens, mask, maskId } = sequence
  const row = { logitsRow, params, mask: mask!, tokens: counts, position: tokens.length, choice }
  return { ...row, ...(maskId === undefined ? {} : { maskId }), ...(judged ? { judged } : {}) }
}

function keepOnly(row: Uint32Array, token: number): void {
  row.fill(0)
  row[token >>> 5] = 1 << (token & 31)
}
