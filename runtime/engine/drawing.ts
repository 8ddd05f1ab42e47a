/**
 * Turns logits and masks into tokens, with the sampler.
 *
 * The logits of a row may lack the exact bits of plain decoding. Then its draw is checked, and
 * discarded if rounding could have changed it. If a row makes the sampler fail, only that row
 * fails.
 */

import { describeDrawn } from "../../sampler/cpu.ts"
import type { SampleResult, SampleRow, Sampler } from "../../sampler/index.ts"
import type { StepLogits } from "../model/logits.ts"
import { isNearTie } from "../speculation/neartie.ts"
import type { Sequence, TakeToken } from "./sequence.ts"

/** A row to be drawn; the sequence's mask is filled. */
export interface DrawRow {
  readonly sequence: Sequence
  /** Logits of the batch; `logitsRow` is the index of this row. */
  readonly logits: StepLogits
  readonly logitsRow: number
  readonly isPlain: boolean
  /** The draft token at this position, if it is judged by ratio instead of drawn. */
  readonly judged?: SampleRow["judged"]
}

/**
 * Returns one result for each of `rows`: undefined if only plain logits can decide, or the error if
 * the row failed. `rounding` bounds how much the logits of rows that are not plain may differ from
 * the plain ones.
 */
export async function drawTokens(
  sampler: Sampler,
  rows: readonly DrawRow[],
  rounding: number,
): Promise<(SampleResult | Error | undefined)[]> {
  const results = new Map<DrawRow, SampleResult | Error | undefined>()
  for (const row of rows) {
    const { take = giverOf(row.sequence) } = row.sequence.options
    if (take) results.set(row, await taken(row, take))
  }
  const drawn = rows.filter((row) => !results.has(row))
  for (const own of groupsOf(drawn)) {
    const found = await drawTogether(sampler, own, rounding)
    for (const [index, row] of own.entries()) results.set(row, found[index])
  }
  return rows.map((row) => results.get(row))
}

/**
 * Returns the rows that are drawn together: those of the same logits. A row with processors is
 * drawn alone: if another row fails, the rows of its group are drawn again, and a processor may
 * count its calls.
 */
function groupsOf(rows: readonly DrawRow[]): DrawRow[][] {
  const alone = rows.filter(({ sequence }) => sequence.options.processors?.length)
  const others = rows.filter((row) => !alone.includes(row))
  const groups = [...new Set(others.map(({ logits }) => logits))].map((logits) =>
    others.filter((row) => row.logits === logits),
  )
  return [...groups, ...alone.map((row) => [row])]
}

/** Returns the function that takes the next of `firstTokens`; undefined if none is left. */
function giverOf({ options, outputCount }: Sequence): TakeToken | undefined {
  const token = options.firstTokens?.[outputCount]
  if (token === undefined) return undefined
  return (logits, row) => ({
    ...{ token, status: "ok" },
    ...(row.params.logprobs !== null && { logprobs: describeDrawn(logits, row, token) }),
  })
}

/** Returns the result of a row whose token a `take` function chooses. */
async function taken(row: DrawRow, take: TakeToken): Promise<SampleResult | Error> {
  try {
    return take(await row.logits.row(row.logitsRow), sampleRow(row))
  } catch (error) {
    return error as Error
  }
}

async function drawTogether(
  sampler: Sampler,
  rows: readonly DrawRow[],
  rounding: number,
): Promise<readonly (SampleResult | Error | undefined)[]> {
  try {
    const samples = rows.map(sampleRow)
    const { logits } = rows[0]
    const drawn = await sampler.sample(logits, logits.width, samples)
    const results: (SampleResult | undefined)[] = []
    for (const [index, row] of rows.entries()) {
      results.push((await isDoubtful(row, samples[index], rounding)) ? undefined : drawn[index])
    }
    return results
  } catch (error) {
    if (rows.length === 1) return [error as Error]
    const alone: (SampleResult | Error | undefined)[] = []
    for (const row of rows) alone.push(...(await drawTogether(sampler, [row], rounding)))
    return alone
  }
}

async function isDoubtful(row: DrawRow, sample: SampleRow, rounding: number): Promise<boolean> {
  return !row.isPlain && isNearTie(await row.logits.row(row.logitsRow), sample, rounding)
}

function sampleRow({ sequence, logitsRow, judged }: DrawRow): SampleRow {
  const { params, choice, processors } = sequence.options
  const { counts, tokens, mask, maskId } = sequence
  const row = { logitsRow, params, mask, tokens: counts, position: tokens.length, choice }
  return {
    ...row,
    ...(maskId === undefined ? {} : { maskId }),
    ...(judged ? { judged } : {}),
    ...(processors?.length ? { processors } : {}),
  }
}
