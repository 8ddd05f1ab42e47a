/**
 * Which way a row goes: to the CPU, through the kernels that read tiles of logits, or, where few tokens are legal, to the one
 * that reads only theirs; and what of the atlas its kernels read.
 */
import { vllmOrder } from "../order.ts"
import { isGreedy, type SamplingParams } from "../params.ts"
import { countBits, legalIds, type SampleRow } from "../row.ts"
import type { MaskAtlas } from "./atlas.ts"
import { SortSize } from "./layout.ts"

/** Sums of 12-bit parts of masses fit a word up to this width, a whole one being 4096. */
const MaxWidth = 2 ** 20 - 1

/** Whether the kernels know all stages of the row. */
export function isGpuRow({ params, processors }: SampleRow, width: number): boolean {
  if (processors?.length) return false
  if (width > MaxWidth || params.contrastive !== null || !hasDefaultOrder(params)) return false
  if (params.logprobs !== null && params.logprobsMode.startsWith("processed")) return false
  if (isGreedy(params)) return true
  return (
    params.typicalP === 1 &&
    params.epsilonCutoff === 0 &&
    params.etaCutoff === 0 &&
    params.xtcProbability === 0 &&
    params.dynatempRange === 0 &&
    params.mirostat !== 1 &&
    params.topPBoundary === "ge"
  )
}

function hasDefaultOrder({ order }: SamplingParams): boolean {
  return order.every((stage, at) => stage === vllmOrder[at])
}

/** Few legal tokens, whose ids fit a slot of the atlas. */
export function isShort({ mask, params: { allowed } }: SampleRow, width: number): boolean {
  const most = Math.min(SortSize, Math.ceil(width / 32))
  return [mask, allowed].some((one) => one !== null && countBits(one) <= most)
}

/** Slots of the row's masks; of a short row, the slot of its ids and how many they are. */
export function slotsOf(
  atlas: MaskAtlas,
  row: SampleRow,
  width: number,
): { readonly slot: number; readonly slot2: number } {
  const { mask, maskId } = row
  const { allowed } = row.params
  if (!isShort(row, width)) return { slot: atlas.slotOf(mask, maskId), slot2: atlas.slotOf(allowed, allowed) }
  const ids = legalIds([mask, allowed], width)
  const key = allowed === null && maskId !== undefined ? `ids of ${maskId}` : undefined
  return { slot: atlas.slotOf(ids, key), slot2: ids.length }
}
