/**
 * The fast path: returns the same bits as `cpu.ts` without a sort over the vocabulary.
 *
 * A row is a list of values with ids. A dense row is indexed by id, and −∞ marks tokens that are
 * not allowed. A sparse row lists the set bits of its mask. A heap finds the tokens of a small k,
 * and `cuts.ts` makes all other cuts. Rows with rarer stages, and rows with values beyond ±1e24,
 * are computed by the definition.
 */

import { applyStage, describeDrawn, forcedResult, sampleRow } from "../cpu.ts"
import { isDefaultOrder } from "../order.ts"
import { hasPlainFilters, isGreedy, type SamplingParams } from "../params.ts"
import {
  addBias,
  collectEdits,
  type Edits,
  liftBans,
  noEdits,
  penalise,
  repetitionFactors,
  subtractDry,
} from "../penalties.ts"
import { type RowKey, rowKey, Stream } from "../rng.ts"
import { checkDrawn, type Relaxation, type SampleResult, type SampleRow } from "../row.ts"
import { HeapSize, MaxSortWidth, type Ranked, TopHeap } from "../top.ts"
import { Cutter, drawKept, drawRanked, nucleus } from "./cuts.ts"

/** Above this magnitude the clamp of the definition could take effect. */
const Huge = 1e24

/** The scratch memory of one sampler. Rows are independent. Not reentrant. */
export class Selector {
  private values = new Float32Array(0)
  private ids = new Int32Array(0)
  /** Width of the current row's logits. */
  private width = 0
  private readonly heap = new TopHeap()
  private readonly cutter = new Cutter()

  /** Returns the same bits as `sampleRow` of the definition. */
  select(logits: Float32Array, row: SampleRow): SampleResult {
    const forced = forcedResult(row)
    if (forced) return forced
    const fast = isFast(row, logits.length) ? this.selectFast(logits, row) : undefined
    return fast ?? sampleRow(logits, row)
  }

  /** Returns undefined if the row needs the definition. */
  private selectFast(logits: Float32Array, row: SampleRow): SampleResult | undefined {
    const { params } = row
    const width = logits.length
    this.width = width
    if (this.values.length < width) {
      this.values = new Float32Array(width)
      this.ids = new Int32Array(width)
    }
    const edits = collectEdits(row)
    const isPlain = row.mask === null && params.allowed === null && edits.count === 0
    let x = logits
    let ids: Int32Array | null = null
    let n = width
    if (!isPlain) {
      x = this.values
      if (looksSparse(row.mask) || looksSparse(params.allowed)) {
        ids = this.ids
        n = this.gather(logits, row)
      } else this.fill(logits, row)
    }
    const best = argmax(x, n)
    if (best === NotANumber) return { token: -1, status: "model_output" }
    if (best < 0) return { token: -1, status: "empty_mask" }
    if (Math.abs(x[best]) > Huge) return undefined
    let first = best
    let relaxed: readonly Relaxation[] = []
    if (edits.count > 0) {
      relaxed = this.edit(x, ids, n, edits, params)
      first = argmax(x, n)
    }
    const token = isGreedy(params) ? idAt(ids, first) : this.draw(x, ids, n, first, row)
    if (token < 0) return undefined
    checkDrawn(row, token, width)
    return {
      token,
      status: "ok",
      ...(params.logprobs === null ? {} : { logprobs: describeDrawn(logits, row, token) }),
      ...(relaxed.length > 0 ? { relaxed } : {}),
    }
  }

  /** Collects values and ids of a sparse row. Returns their number. */
  private gather(logits: Float32Array, { mask, params }: SampleRow): number {
    const { values, ids } = this
    const { allowed } = params
    const lead = mask ?? allowed!
    let n = 0
    for (let word = 0; word < lead.length; word++) {
      for (let bits = allowed ? lead[word] & allowed[word] : lead[word]; bits !== 0; bits &= bits - 1) {
        const id = 32 * word + 31 - Math.clz32(bits & -bits)
        if (id >= logits.length) break
        values[n] = logits[id]
        ids[n++] = id
      }
    }
    return n
  }

  /** Collects the values of a dense row, by id. Loops over the denied tokens, which are fewer. */
  private fill(logits: Float32Array, { mask, params }: SampleRow): void {
    const { values } = this
    const width = logits.length
    values.set(logits)
    for (const denier of [mask, params.allowed]) {
      if (denier === null) continue
      for (let word = 0; 32 * word < width; word++) {
        for (let denied = ~denier[word]; denied !== 0; denied &= denied - 1) {
          values[32 * word + 31 - Math.clz32(denied & -denied)] = Number.NEGATIVE_INFINITY
        }
      }
    }
  }

  /**
   * Applies bias, bans and penalties in place. Requires an allowed value. Returns the bans that
   * were lifted.
   */
  private edit(
    x: Float32Array,
    ids: Int32Array | null,
    n: number,
    edits: Edits,
    params: SamplingParams,
  ): readonly Relaxation[] {
    const isAlive = (id: number) => {
      const at = indexOf(ids, n, id)
      return at >= 0 && x[at] !== Number.NEGATIVE_INFINITY
    }
    const hasBans = edits.bans.some((bans) => bans !== 0)
    const { bans, relaxed } = hasBans ? liftBans(edits, countAlive(x, n), isAlive) : { bans: 0, relaxed: [] }
    const { penalty, inverse } = repetitionFactors(params.repetitionPenalty)
    for (let edit = 0; edit < edits.count; edit++) {
      const at = indexOf(ids, n, edits.ids[edit])
      if (at < 0 || x[at] === Number.NEGATIVE_INFINITY) continue
      if (edits.bans[edit] & bans) {
        x[at] = Number.NEGATIVE_INFINITY
        continue
      }
      const biased = addBias(Math.max(x[at], -1e30), edits.bias[edit])
      x[at] = subtractDry(
        penalise(biased, edits.repeated[edit], penalty, inverse, edits.sub[edit]),
        edits.dry[edit],
      )
    }
    return relaxed
  }

  /** Applies temperature, filters and noise. Returns −1 if the definition must decide. */
  private draw(x: Float32Array, ids: Int32Array | null, n: number, first: number, row: SampleRow): number {
    const { width } = this
    const { params } = row
    const key = rowKey(params.seed, row.position, Stream.draw, row.choice)
    let z = x
    let list = ids
    let count = n
    if (params.temperature !== 1) {
      const inverse = Math.fround(1 / params.temperature)
      z = this.values
      // hot
      for (let at = 0; at < n; at++) z[at] = x[at] * inverse
    }
    const max = z[first]
    const floor = this.threshold(z, n, max, params)
    if (Number.isNaN(floor)) return -1
    if (floor > Number.NEGATIVE_INFINITY) {
      count = this.keepFrom(z, list, n, floor)
      z = this.values
      list = this.ids
    }
    const { topK, topP } = params
    if (topK > 0 && topK <= HeapSize) {
      const ranked = this.heap.rank(z, list, count, topK)
      if (ranked.values[ranked.count - 1] < -Huge) return -1
      if (!hasPlainFilters(params)) return drawFiltered(ranked, row, width, key)
      return drawRanked(ranked, topP < 1 ? nucleus(ranked, topP, width) : ranked.count, key)
    }
    const kept = { values: z, ids: list, count, max, cutValue: Number.NEGATIVE_INFINITY, cutId: -1 }
    if (topK > 0) this.cutter.cutCount(kept, topK)
    if (kept.cutValue < -Huge && kept.cutId >= 0) return -1
    if (topP < 1) this.cutter.cutMass(kept, topP, width)
    return drawKept(kept, key)
  }

  /**
   * Returns the lowest value that top-nσ and min-p keep, or NaN if values are so large that the
   * definition must decide.
   */
  private threshold(z: Float32Array, n: number, max: number, params: SamplingParams): number {
    let floor = Number.NEGATIVE_INFINITY
    if (params.topNSigma > 0) {
      let sum = 0
      let count = 0
      for (let at = 0; at < n; at++) {
        if (z[at] === Number.NEGATIVE_INFINITY) continue
        if (z[at] < -Huge) return Number.NaN
        sum += z[at]
        count++
      }
      const mean = sum / count
      let squares = 0
      for (let at = 0; at < n; at++) {
        if (z[at] !== Number.NEGATIVE_INFINITY) squares += (z[at] - mean) ** 2
      }
      floor = max - params.topNSigma * Math.sqrt(squares / count)
    }
    return params.minP > 0 ? Math.max(floor, max + Math.log(params.minP)) : floor
  }

  /** Copies the values that are at least `floor` into the scratch lists, one of which may be z. */
  private keepFrom(z: Float32Array, ids: Int32Array | null, n: number, floor: number): number {
    const { values, ids: kept } = this
    let count = 0
    for (let at = 0; at < n; at++) {
      if (!(z[at] >= floor)) continue
      kept[count] = idAt(ids, at)
      values[count++] = z[at]
    }
    return count
  }
}

/** Returns whether this file has all stages that the row uses. */
function isFast({ params, processors }: SampleRow, width: number): boolean {
  if (processors?.length || params.contrastive !== null || width > MaxSortWidth) return false
  if (params.logprobs !== null && params.logprobsMode.startsWith("processed")) return false
  if (!isDefaultOrder(params.order)) return false
  if (isGreedy(params)) return true
  if (
    params.dynatempRange > 0 ||
    params.mirostat !== 0 ||
    params.adaptiveTarget !== null ||
    params.topPBoundary !== "ge"
  )
    return false
  return hasPlainFilters(params) || (params.topK > 0 && params.topK <= HeapSize)
}

/**
 * Applies the definition's own filters to the tokens that top-k kept. They are in ascending order
 * of id, so that sums have the same bits.
 */
function drawFiltered({ values, ids, count }: Ranked, row: SampleRow, width: number, key: RowKey): number {
  const order = Array.from({ length: count }, (_, at) => at).sort((a, b) => ids[a] - ids[b])
  const candidates = {
    values: Float32Array.from(order, (at) => values[at]),
    alive: new Uint8Array(count).fill(1),
    width,
  }
  for (const stage of ["typical_p", "top_p", "xtc"] as const) applyStage(stage, candidates, row, noEdits)
  const kept = order.filter((_, at) => candidates.alive[at])
  const left = {
    count: kept.length,
    values: Float32Array.from(kept, (at) => values[at]),
    ids: Int32Array.from(kept, (at) => ids[at]),
  }
  return drawRanked(left, left.count, key)
}

const NotANumber = -2

/**
 * Returns the index of the first maximum, −1 if no value is above −∞, or NotANumber if a value is
 * NaN. Compares eight values at a time: 230 → 100 µs.
 */
function argmax(x: Float32Array, n: number): number {
  let best = Number.NEGATIVE_INFINITY
  let index = -1
  // hot
  for (let at = 0; at < n; ) {
    if (
      at + 8 <= n &&
      x[at] <= best &&
      x[at + 1] <= best &&
      x[at + 2] <= best &&
      x[at + 3] <= best &&
      x[at + 4] <= best &&
      x[at + 5] <= best &&
      x[at + 6] <= best &&
      x[at + 7] <= best
    ) {
      at += 8
      continue
    }
    // One of these eight is higher, or NaN.
    for (const end = Math.min(n, at + 8); at < end; at++) {
      if (x[at] <= best) continue
      if (Number.isNaN(x[at])) return NotANumber
      best = x[at]
      index = at
    }
  }
  return index
}

function idAt(ids: Int32Array | null, at: number): number {
  return ids === null ? at : ids[at]
}

/** Returns the index of an id in the list, or −1 if the id is not in it. */
function indexOf(ids: Int32Array | null, n: number, id: number): number {
  if (ids === null) return id
  let low = 0
  let high = n
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ids[middle] < id) low = middle + 1
    else high = middle
  }
  return low < n && ids[low] === id ? low : -1
}

function countAlive(x: Float32Array, n: number): number {
  let count = 0
  for (let at = 0; at < n; at++) if (x[at] !== Number.NEGATIVE_INFINITY) count++
  return count
}

/**
 * Returns whether a mask allows at most about a quarter of the tokens. Samples every 16th word; a
 * wrong guess costs time but does not change the result.
 */
function looksSparse(mask: Uint32Array | null): boolean {
  if (mask === null) return false
  let count = 0
  let words = 0
  for (let word = 0; word < mask.length; word += 16, words++) {
    for (let bits = mask[word]; bits !== 0; bits &= bits - 1) count++
  }
  return count <= 8 * words
}
