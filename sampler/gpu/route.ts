/**
 * Which way a row goes: to the CPU, through the kernels that read tiles of logits, or, where few
 * tokens are legal, to the one that reads only theirs; and what of the atlas its kernels read.
 */
import { vllmOrder } from "../order.ts"
import { isGreedy, type SamplingParams } from "../params.ts"
import { countBits, legalIds, type SampleRow } from "../row.ts"
import { canRank } from "./asks.ts"
import type { MaskAtlas } from "./atlas.ts"
import { hasRareStages, SortSize } from "./layout.ts"

/** Sums of 12-bit parts of masses fit a word up to this width, a whole one being 4096. */
const MaxWidth = 2 ** 20 - 1

/** Whether the kernels know all stages of the row, and what it is asked beside its token. */
export function isGpuRow(row: SampleRow, width: number): boolean {
  const { params, processors, judged } = row
  if (processors?.length) return false
  if (width > MaxWidth || params.contrastive !== null || !hasDefaultOrder(params)) return false
  const isProcessed = params.logprobs !== null && params.logprobsMode.startsWith("processed")
  if (isProcessed && !canRank(params)) return false
  // Which token a judged row ends in is known only here.
  if (judged && params.logprobs !== null) return false
  if (isGreedy(params)) return true
  if (params.topPBoundary !== "ge" || params.adaptiveTarget !== null) return false
  if (!hasRareStages(params)) return true
  const isMoving = params.mirostat !== 0 && params.dynatempRange > 0
  return !isProcessed && !judged && !isMoving && isShort(row, width)
}

function hasDefaultOrder({ order }: SamplingParams): boolean {
  return order.every((stage, at) => stage === vllmOrder[at])
}

/**
 * Few legal tokens, whose ids fit a slot of the atlas; and no law is asked for, which only long
 * rows leave behind.
 */
export function isShort({ mask, params, judged }: SampleRow, width: number): boolean {
  const { allowed, logprobs, logprobsMode } = params
  if (judged || (logprobs !== null && logprobsMode.startsWith("processed"))) return false
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
