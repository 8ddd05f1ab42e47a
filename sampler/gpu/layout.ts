/**
 * The records that host and kernels share, and who writes them. All words are 32 bits, little-endian.
 *
 *   Row      64 B a row, written by the host (`packRow`), read by every kernel; all that a warm row uploads
 *   Edit     16 B, ids ascending within a row, written by the host (`packEdits`)
 *   Partial  32 B a tile and row: what `scan`, later `take`, found in a tile
 *   Stat     64 B a row: what is known of the whole row; `stat` and `cut` write it
 *   Slab     a counter and SlabSize pairs (ordered key, id) a row: the tokens among which the cut lies
 *   Result   16 B a row: token, status, bits of its value, survivors at the cut; the only read-back
 */
import type { SamplingParams } from "../params.ts"
import { isGreedy } from "../params.ts"
import { type Edits, repetitionFactors } from "../penalties.ts"
import type { RowKey } from "../rng.ts"

/** Tokens of one workgroup: 256 threads, 8 each. */
export const Tile = 2048
export const Threads = 256
export const RowWords = 16
export const EditWords = 4
export const PartialWords = 8
export const StatWords = 16
/** Buckets of 1/32 nat below the maximum; the last one holds all the rest. */
export const Buckets = 1024
/** Of one level: counts, then the upper and the lower 12 bits of the masses. Two levels a row. */
export const HistWords = 3 * Buckets
export const SlabSize = 1024
/** Word 0: how many pairs. */
export const SlabWords = 2 + 2 * SlabSize
export const ResultWords = 4

export const RowFlag = {
  greedy: 1,
  /** A threshold on the value: top-nσ or min-p. */
  threshold: 2,
  sigma: 4,
  minP: 8,
  topK: 16,
  topP: 32,
  /** No filter, but values so large that the noise has to be added to their distance from the maximum. */
  hot: 64,
} as const

/** Statuses of a result. 0: nothing was written. `redo`: the kernels cannot tell exactly; the host computes the row. */
export const ResultStatus = { ok: 1, emptyMask: 2, modelOutput: 3, redo: 4 } as const

/** Bits of Edit.flags. */
export const EditFlag = { ban: 1, repeated: 2 } as const

export interface RowRecord {
  readonly params: SamplingParams
  readonly key: RowKey
  /** Atlas slots of the grammar's mask and of the allowed ids; 0 = everything. */
  readonly slot: number
  readonly slot2: number
  readonly editOffset: number
  readonly editCount: number
  /** Row of the uploaded logits. */
  readonly logitsRow: number
}

export function rowFlags(params: SamplingParams): number {
  if (isGreedy(params)) return RowFlag.greedy
  return (
    (params.topNSigma > 0 ? RowFlag.sigma | RowFlag.threshold : 0) |
    (params.minP > 0 ? RowFlag.minP | RowFlag.threshold : 0) |
    (params.topK > 0 ? RowFlag.topK : 0) |
    (params.topP < 1 ? RowFlag.topP : 0) |
    (params.temperature < 0.2 ? RowFlag.hot : 0)
  )
}

/** Writes row `index`. The field order is `struct Row` of `kernels/common.ts`. */
export function packRow(view: DataView, index: number, record: RowRecord): void {
  const { params, key } = record
  const { penalty, inverse } = repetitionFactors(params.repetitionPenalty)
  let at = 4 * RowWords * index
  const word = (value: number): void => {
    view.setUint32(at, value, true)
    at += 4
  }
  const float = (value: number): void => {
    view.setFloat32(at, value, true)
    at += 4
  }
  word(rowFlags(params))
  word(record.slot)
  word(record.slot2)
  word(record.editOffset)
  word(record.editCount)
  float(isGreedy(params) ? 1 : 1 / params.temperature)
  word(params.topK)
  float(params.topP)
  float(params.minP > 0 ? Math.log(params.minP) : 0)
  float(params.topNSigma)
  float(penalty)
  float(inverse)
  word(key[0])
  word(key[1])
  word(key[2])
  word(record.logitsRow)
}

/** Writes a row's edits from edit `offset` on; `bans` are those that hold. */
export function packEdits(view: DataView, offset: number, edits: Edits, bans: number): void {
  for (let index = 0; index < edits.count; index++) {
    const at = 4 * EditWords * (offset + index)
    const flags =
      (edits.bans[index] & bans ? EditFlag.ban : 0) | (edits.repeated[index] ? EditFlag.repeated : 0)
    view.setUint32(at, edits.ids[index], true)
    view.setUint32(at + 4, flags, true)
    view.setFloat32(at + 8, edits.bias[index], true)
    view.setFloat32(at + 12, edits.sub[index] + edits.dry[index], true)
  }
}
