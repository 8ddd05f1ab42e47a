/**
 * The fast path: the bits of `cpu.ts` without a sort over the vocabulary.
 *
 * A row is values and ids: either dense, where an index is its id and −∞ marks what is not allowed, or the list of a
 * sparse mask's set bits. Cuts by rank and mass take prefixes of the pinned order, so a cut is one pair (last value, last
 * id): a heap finds it for small k, a histogram by distance from the maximum and a sort of one bucket for the rest.
 * Integer masses make that exact: their sums do not depend on the order. The draw computes noise only for tokens whose
 * random bits could still win. Rows with rarer stages, and rows with values beyond ±1e24, go to the definition.
 */
import { describeDrawn, forcedResult, sampleRow } from "./cpu.ts"
import { vllmOrder } from "./order.ts"
import { isGreedy, type SamplingParams } from "./params.ts"
import {
  addBias,
  collectEdits,
  type Edits,
  liftBans,
  penalise,
  repetitionFactors,
  subtractDry,
} from "./penalties.ts"
import { gumbel, type RowKey, rowKey, Stream, tokenBits } from "./rng.ts"
import { checkDrawn, countBits, type Relaxation, type SampleResult, type SampleRow } from "./row.ts"
import { HeapSize, MaxSortWidth, type Ranked, sortPinned, TopHeap } from "./top.ts"
import { massExponent } from "./truncation.ts"

/** Beyond this the definition's clamp could matter. */
const Huge = 1e24
/** Noise stays below this. */
const MaxNoise = 22.875
const BucketCount = 1024
const BucketsPerNat = 32

/** One sampler's scratch memory; rows are independent. Not reentrant. */
export class Selector {
  private values = new Float32Array(0)
  private ids = new Int32Array(0)
  private readonly heap = new TopHeap()
  private readonly bucketMasses = new Float64Array(BucketCount)
  private readonly bucketCounts = new Int32Array(BucketCount)

  /** As `sampleRow` of the definition, to the bit. */
  select(logits: Float32Array, row: SampleRow): SampleResult {
    const forced = forcedResult(row)
    if (forced) return forced
    const fast = isFast(row, logits.length) ? this.selectFast(logits, row) : undefined
    return fast ?? sampleRow(logits, row)
  }

  /** undefined: the row needs the definition. */
  private selectFast(logits: Float32Array, row: SampleRow): SampleResult | undefined {
    const { params } = row
    const width = logits.length
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
      const count = row.mask === null && params.allowed === null ? width : countLegal(row)
      x = this.values
      if (4 * count <= width) {
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
    const token = isGreedy(params) ? idAt(ids, first) : this.draw(x, ids, n, first, row, width)
    if (token < 0) return undefined
    checkDrawn(row, token, width)
    return {
      token,
      status: "ok",
      ...(params.logprobs === null ? {} : { logprobs: describeDrawn(logits, row, token) }),
      ...(relaxed.length > 0 ? { relaxed } : {}),
    }
  }

  /** Values and ids of a sparse row. Returns how many. */
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

  /** Values of a dense row, by id. Loops over what is denied, which is rarer. */
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

  /** Bias, bans and penalties, in place. There is an allowed value. Returns the bans that were lifted. */
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

  /** Temperature, filters, noise. −1: the definition has to tell. */
  private draw(
    x: Float32Array,
    ids: Int32Array | null,
    n: number,
    first: number,
    row: SampleRow,
    width: number,
  ): number {
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
      return drawRanked(ranked, topP < 1 ? nucleus(ranked, topP, width) : ranked.count, key)
    }
    const cut = { value: Number.NEGATIVE_INFINITY, id: -1 }
    if (topK > 0) this.cutCount(z, list, count, max, topK, cut)
    if (cut.value < -Huge && cut.id >= 0) return -1
    if (topP < 1) this.cutMass(z, list, count, max, topP, width, cut)
    return drawCut(z, list, count, max, cut, key)
  }

  /** The lowest value that top-nσ and min-p keep; NaN: values so large that the definition has to tell. */
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

  /** Compacts what is from the floor up into the scratch lists, which z may be. */
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

  /** Lowers the cut to the k-th of the pinned order. */
  private cutCount(
    z: Float32Array,
    ids: Int32Array | null,
    n: number,
    max: number,
    k: number,
    cut: Cut,
  ): void {
    const counts = this.bucketCounts.fill(0)
    const lastBucket = BucketCount - 1
    // hot
    for (let at = 0; at < n; at++) {
      if (z[at] === Number.NEGATIVE_INFINITY) continue
      const distance = (max - z[at]) * BucketsPerNat
      counts[distance < lastBucket ? distance | 0 : lastBucket]++
    }
    let before = 0
    let bucket = 0
    while (bucket < BucketCount && before + counts[bucket] < k) before += counts[bucket++]
    if (bucket === BucketCount) return
    const ranked = this.sortBucket(z, ids, n, max, bucket, counts[bucket], cut)
    cut.value = ranked.values[k - before - 1]
    cut.id = ranked.ids[k - before - 1]
  }

  /** Lowers the cut to the last token that top-p keeps of what is above it. */
  private cutMass(
    z: Float32Array,
    ids: Int32Array | null,
    n: number,
    max: number,
    share: number,
    width: number,
    cut: Cut,
  ): void {
    const masses = this.bucketMasses.fill(0)
    const counts = this.bucketCounts.fill(0)
    const unit = 2 ** massExponent(width)
    const lastBucket = BucketCount - 1
    const { value: cutValue, id: cutId } = cut
    let total = 0
    // hot
    for (let at = 0; at < n; at++) {
      const value = z[at]
      if (value <= cutValue && (value < cutValue || (ids === null ? at : ids[at]) > cutId)) continue
      const mass = Math.floor(unit * Math.exp(value - max))
      const distance = (max - value) * BucketsPerNat
      const bucket = distance < lastBucket ? distance | 0 : lastBucket
      total += mass
      masses[bucket] += mass
      counts[bucket]++
    }
    const bound = share * total
    let before = 0
    let bucket = 0
    while (bucket < BucketCount - 1 && before + masses[bucket] < bound) before += masses[bucket++]
    const ranked = this.sortBucket(z, ids, n, max, bucket, counts[bucket], cut)
    let at = 0
    while (at < ranked.count && before < bound) {
      before += Math.floor(unit * Math.exp(ranked.values[at] - max))
      at++
    }
    // The bucket's first token stays: the bound lies in this bucket.
    const last = Math.max(0, at - 1)
    cut.value = ranked.values[last]
    cut.id = ranked.ids[last]
  }

  private sortBucket(
    z: Float32Array,
    ids: Int32Array | null,
    n: number,
    max: number,
    bucket: number,
    count: number,
    cut: Cut,
  ): Ranked {
    const values = new Float32Array(count)
    const kept = new Int32Array(count)
    const { value: cutValue, id: cutId } = cut
    let found = 0
    // hot
    for (let at = 0; at < n; at++) {
      const value = z[at]
      const distance = (max - value) * BucketsPerNat
      // The last bucket holds all the rest.
      if (distance < bucket || (distance >= bucket + 1 && bucket < BucketCount - 1)) continue
      if (value <= cutValue && (value < cutValue || (ids === null ? at : ids[at]) > cutId)) continue
      values[found] = value
      kept[found++] = idAt(ids, at)
    }
    return sortPinned(values, kept, found)
  }
}

/** The last pair that is kept; (−∞, −1) keeps whatever is there. Bucket b is a distance in [b, b + 1) / BucketsPerNat. */
interface Cut {
  value: number
  id: number
}

/** Whether all of the row's stages are here. */
function isFast({ params, processors }: SampleRow, width: number): boolean {
  if (processors?.length || params.contrastive !== null || width > MaxSortWidth) return false
  if (params.logprobs !== null && params.logprobsMode.startsWith("processed")) return false
  if (params.order !== vllmOrder && params.order.some((stage, at) => stage !== vllmOrder[at])) return false
  if (isGreedy(params)) return true
  return (
    params.typicalP === 1 &&
    params.epsilonCutoff === 0 &&
    params.etaCutoff === 0 &&
    params.xtcProbability === 0 &&
    params.dynatempRange === 0 &&
    params.mirostat === 0 &&
    params.topPBoundary === "ge"
  )
}

const NotANumber = -2

/** Index of the first maximum; −1: nothing is above −∞; NotANumber: a NaN is there. */
function argmax(x: Float32Array, n: number): number {
  let best = Number.NEGATIVE_INFINITY
  let index = -1
  // hot
  for (let at = 0; at < n; at++) {
    if (x[at] <= best) continue
    if (Number.isNaN(x[at])) return NotANumber
    best = x[at]
    index = at
  }
  return index
}

function idAt(ids: Int32Array | null, at: number): number {
  return ids === null ? at : ids[at]
}

/** −1: the id is not in the list. */
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

function countLegal({ mask, params }: SampleRow): number {
  return Math.min(
    mask === null ? Number.POSITIVE_INFINITY : countBits(mask),
    params.allowed === null ? Number.POSITIVE_INFINITY : countBits(params.allowed),
  )
}

/** How many of the ranked pairs top-p keeps. */
function nucleus({ count, values }: Ranked, share: number, width: number): number {
  const unit = 2 ** massExponent(width)
  const max = values[0]
  let total = 0
  for (let at = 0; at < count; at++) total += Math.floor(unit * Math.exp(values[at] - max))
  const bound = share * total
  let before = 0
  let kept = 0
  while (kept < count && before < bound) before += Math.floor(unit * Math.exp(values[kept++] - max))
  return Math.max(1, kept)
}

function drawRanked({ values, ids }: Ranked, count: number, key: RowKey): number {
  let token = ids[0]
  if (count === 1) return token
  let best = Number.NEGATIVE_INFINITY
  for (let at = 0; at < count; at++) {
    const score = values[at] + gumbel(tokenBits(ids[at], key))
    if (score > best || (score === best && ids[at] < token)) {
      best = score
      token = ids[at]
    }
  }
  return token
}

/**
 * The draw over what the cut keeps. A token can only win when its noise is above best − max, that is, when its bits are
 * below a bound that falls as the best rises; most tokens cost their 12 integer operations and one comparison.
 */
function drawCut(
  z: Float32Array,
  ids: Int32Array | null,
  n: number,
  max: number,
  cut: Cut,
  key: RowKey,
): number {
  const { value: cutValue, id: cutId } = cut
  let token = -1
  let best = Number.NEGATIVE_INFINITY
  let bound = 2 ** 32
  // hot
  for (let at = 0; at < n; at++) {
    const value = z[at]
    if (value + MaxNoise <= best || value < cutValue) continue
    const id = ids === null ? at : ids[at]
    if (value === cutValue && id > cutId) continue
    const bits = tokenBits(id, key)
    if (bits > bound) continue
    const score = value + gumbel(bits)
    if (score <= best) continue
    best = score
    token = id
    // One part in 10^9 above the exact bound: the comparison may only be too generous.
    bound = 2 + 2 ** 32 * -Math.expm1(-Math.exp(max - best)) * (1 + 1e-9)
  }
  return token
}
