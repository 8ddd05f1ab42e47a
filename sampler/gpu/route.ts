/**
 * Decides which path a row takes: the CPU, the kernels that read tiles of logits, or, if few tokens
 * are legal, the kernel that reads only their logits. Also returns the atlas slots that the row's
 * kernels read.
 */
import { isDefaultOrder } from "../order.ts"
import { isGreedy } from "../params.ts"
import { countBits, legalIds, type SampleRow } from "../row.ts"
import { canRank } from "./asks.ts"
import type { MaskAtlas } from "./atlas.ts"
import { hasRareStages, SortSize } from "./layout.ts"

/** Sums of 12-bit parts of masses fit a word up to this width, since a whole mass is 4096. */
const MaxWidth = 2 ** 20 - 1

/** Returns whether the kernels have all stages of the row and can answer its ask. */
export function isGpuRow(row: SampleRow, width: number): boolean {
  const { params, processors, judged } = row
  if (processors?.length) return false
  if (width > MaxWidth || params.contrastive !== null || !isDefaultOrder(params.order)) return false
  const isProcessed = params.logprobs !== null && params.logprobsMode.startsWith("processed")
  if (isProcessed && !canRank(params)) return false
  // Only the host decides which token a judged row ends with, so the device cannot list its
  // log-probabilities.
  if (judged && params.logprobs !== null) return false
  if (isGreedy(params)) return true
  if (params.topPBoundary !== "ge" || params.adaptiveTarget !== null) return false
  if (!hasRareStages(params)) return true
  const isMoving = params.mirostat !== 0 && params.dynatempRange > 0
  return !isProcessed && !judged && !isMoving && isShort(row, width)
}

/**
 * Returns whether a row is short: its few legal ids fit a slot of the atlas, and nothing reads its
 * distribution, which only long rows leave on the device.
 */
export function isShort({ mask, params, judged }: SampleRow, width: number): boolean {
  const { allowed, logprobs, logprobsMode } = params
  if (judged || (logprobs !== null && logprobsMode.startsWith("processed"))) return false
  const most = Math.min(SortSize, Math.ceil(width / 32))
  return [mask, allowed].some((one) => one !== null && countBits(one) <= most)
}

/** Returns the slots of the row's masks; for a short row, the slot and the number of its ids. */
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
