/**
 * The records that host and kernels share, and which of them writes each. All words are 32 bits,
 * little-endian.
 *
 *   Row      64 B a row, written by the host (`packRow`), read by every kernel; a warm row uploads
 *            nothing else
 *   Edit     16 B, ids ascending within a row, written by the host (`packEdits`); rows
 *            with rare stages have two more for their parameters (`packRare`)
 *   Partial  32 B for each tile and row: the result of `scan`, later of `take`, for the tile
 *   Stat     64 B a row: results for the whole row; written by `stat`, `cut` and `settle`
 *   Hist     12 KiB a row: for each bucket, the number of values and the sum of deficits below
 *            the exponential of the bucket's upper edge
 *   Slab     a counter and SlabSize pairs (ordered key, id) a row: the tokens around the cut
 *   Result   16 B a row: token, status, bits of the maximum or of the surprise, candidate count;
 *            the only data that is read back
 */
import type { SamplingParams } from "../params.ts"
import { isGreedy } from "../params.ts"
import { type Edits, repetitionFactors } from "../penalties.ts"
import type { RowKey } from "../rng.ts"

/** Tokens of one workgroup: 256 threads with 8 each. */
export const Tile = 2048
export const Threads = 256
export const RowWords = 16
export const EditWords = 4
export const PartialWords = 8
export const StatWords = 16
export const ShapeWords = 8
/** Number of buckets in a window over a fixed grid of 1/32 nat. */
export const Buckets = 1024
/**
 * Number of buckets, from the maximum's down, that have a mass. Lower values are in the last
 * bucket, `Reach`, whose mass counts as 0: 2^20 tokens that are 26 nats below the maximum have 5e-6
 * of the whole. The rest of the window leaves room for an imprecise guess of the maximum.
 */
export const Reach = 832
/**
 * A guess puts the window this far above the previous maximum, so the next one may be 3 nats higher
 * or lower.
 */
export const WarmMargin = 96
/** Words of a histogram: counts, then the upper bits and the lower 12 bits of the deficits. */
export const HistWords = 3 * Buckets
/** Maximum pairs of a slab. Up to SortSize pairs are sorted; more are selected by digits. */
export const SlabSize = 8192
export const SortSize = 1024
/** Word 0 is the number of pairs. */
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
  /**
   * No filter, but values so large that the noise has to be added to their distance from the
   * maximum.
   */
  hot: 64,
  /**
   * The previous maximum is stored in the field of top-nσ, and `scan` fills the histogram around
   * it.
   */
  warm: 128,
  /** A threshold by surprise; μ is stored in the field of top-nσ. */
  mirostat: 256,
  /** The flags from here on are set only for rows with few legal tokens. */
  typical: 512,
  epsilon: 1024,
  eta: 2048,
  xtc: 4096,
  /** Like `mirostat`, but by the fit of a Zipf distribution to the head. */
  mirostat1: 8192,
  /** The temperature depends on the entropy. */
  dynamic: 16384,
} as const

/** How a logit is stored. */
export const LogitFormat = { float32: 0, float16: 1, bfloat16: 2 } as const

/**
 * Statuses of a result; 0 if nothing was written. `redo`: values are too large for float32, so the
 * host computes the row.
 */
export const ResultStatus = { ok: 1, emptyMask: 2, modelOutput: 3, redo: 4 } as const

/** Bits of Edit.flags. */
export const EditFlag = { ban: 1, repeated: 2 } as const

export interface RowRecord {
  readonly params: SamplingParams
  readonly key: RowKey
  /**
   * Atlas slots of the grammar's mask and of the allowed ids; 0 allows everything. For a short row:
   * slot and length of its list of ids.
   */
  readonly slot: number
  readonly slot2: number
  readonly editOffset: number
  readonly editCount: number
  /** Index of the row in the uploaded logits. */
  readonly logitsRow: number
  /**
   * The maximum after temperature of the row's previous step; undefined if unknown or not usable.
   */
  readonly lastMax?: number
  /** Mirostat's μ before the draw. */
  readonly mu?: number
  /** Whether XTC drops the head in this draw. */
  readonly dropsHead?: boolean
}

/** Number of records after the edits of a row with rare stages. */
export const RareRecords = 2

/** Returns whether a row has stages that the device has only for rows with few legal tokens. */
export function hasRareStages(params: SamplingParams): boolean {
  if (isGreedy(params)) return false
  const { typicalP, epsilonCutoff, etaCutoff, xtcProbability, mirostat, dynatempRange } = params
  const hasCut = typicalP < 1 || epsilonCutoff > 0 || etaCutoff > 0 || xtcProbability > 0
  return hasCut || mirostat === 1 || dynatempRange > 0
}

export function rowFlags(params: SamplingParams): number {
  if (isGreedy(params)) return RowFlag.greedy
  return (
    (params.topNSigma > 0 ? RowFlag.sigma | RowFlag.threshold : 0) |
    (params.minP > 0 ? RowFlag.minP | RowFlag.threshold : 0) |
    (params.topK > 0 ? RowFlag.topK : 0) |
    (params.topP < 1 ? RowFlag.topP : 0) |
    (params.mirostat === 2 ? RowFlag.mirostat | RowFlag.threshold : 0) |
    (params.mirostat === 1 ? RowFlag.mirostat1 : 0) |
    (params.typicalP < 1 ? RowFlag.typical : 0) |
    (params.epsilonCutoff > 0 ? RowFlag.epsilon : 0) |
    (params.etaCutoff > 0 ? RowFlag.eta : 0) |
    (params.dynatempRange > 0 ? RowFlag.dynamic : 0) |
    (params.temperature < 0.2 ? RowFlag.hot : 0)
  )
}

/**
 * Returns whether a row's cuts can start from its previous maximum: no earlier stage depends on
 * more than the maximum.
 */
export function canStartWarm(params: SamplingParams): boolean {
  const flags = rowFlags(params)
  return (flags & (RowFlag.topK | RowFlag.topP)) !== 0 && (flags & RowFlag.threshold) === 0
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
  const isWarm = record.lastMax !== undefined && canStartWarm(params)
  word(rowFlags(params) | (isWarm ? RowFlag.warm : 0) | (record.dropsHead ? RowFlag.xtc : 0))
  word(record.slot)
  word(record.slot2)
  word(record.editOffset)
  word(record.editCount)
  float(isGreedy(params) || params.dynatempRange > 0 ? 1 : 1 / params.temperature)
  word(params.topK)
  float(params.topP)
  float(params.minP > 0 ? Math.log(params.minP) : 0)
  float(isWarm ? record.lastMax! : (record.mu ?? params.topNSigma))
  float(penalty)
  float(inverse)
  word(key[0])
  word(key[1])
  word(key[2])
  word(record.logitsRow)
}

/** Writes a row's edits starting at edit `offset`. `bans` are the bans that hold. */
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

/**
 * Writes the parameters of rare stages starting at record `offset`. The field order is that of
 * `struct RareParams` in `kernels/rare.ts`.
 */
export function packRare(view: DataView, offset: number, params: SamplingParams): void {
  const { typicalP, epsilonCutoff, etaCutoff, xtcThreshold, temperature, dynatempRange, dynatempExponent } =
    params
  const low = Math.max(0, temperature - dynatempRange)
  const high = Math.max(0, temperature + dynatempRange)
  const values = [typicalP, epsilonCutoff, etaCutoff, xtcThreshold, low, high, dynatempExponent]
  for (const [index, value] of values.entries())
    view.setFloat32(4 * (EditWords * offset + index), value, true)
}
