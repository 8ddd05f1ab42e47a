/**
 * Feeds → logits, on an onnxruntime session. Lives in the worker, since `run` blocks the thread it is called on.
 *
 * Two ways to keep the cache. *Rows* (`rows.ts`): batched steps over rows of one capacity, where a probe at load finds a layout
 * for them (`layout.ts`). *Alone*: every slot runs by itself and the outputs of a step are the inputs of the next, untouched, or
 * cut where the slot goes back; the only way where the cache lives on a GPU (and cannot be cut), where no layout is right, and,
 * unless the caller wants speed, where quantised activations make rows depend on each other.
 */

import type { InferenceSession, Tensor } from "onnxruntime-node"
import { ModelError } from "../../errors.ts"
import type { Feed } from "../model.ts"
import { judgeLayouts, type Layout } from "./layout.ts"
import { type CacheArray, CacheRows, capacityOf } from "./rows.ts"
import type { Signature } from "./signature.ts"

export type TensorConstructor = new (
  type: string,
  data: Float32Array | Uint16Array | BigInt64Array | Uint8Array,
  dims: readonly number[],
) => Tensor

export interface SessionOptions {
  slotCount: number
  contextLength: number
  /** `exact`: rows that depend on each other run one at a time. */
  batching: "exact" | "fast"
  /** The cache stays on the device: rows cannot be cut out of it. */
  isCacheOpaque: boolean
}

type Feeds = Record<string, Tensor>

/** Tokens of one run of the graph: B rows of S tokens. */
interface Run {
  /** Shape [B, S]. */
  tokens: number[][]
  /** Tokens already in the cache, a row. */
  lengths: number[]
  /** P of the past handed over. */
  pastLength: number
  /** The logits of the last so many tokens are read. */
  logitsCount: number
}

/** Tokens of the prompt that is cut in several ways for trial; of graphs so small that more cost nothing, whose products change their way later. */
const trialLength = 40
const longTrialLength = 180
/** Numbers that the cache keeps of a token. */
const smallCache = 4_096

/** Feeds of at most this many tokens run with others of their length: decoding and drafts, not prompts. */
const maxGrouped = 32

export class OrtSession {
  readonly signature: Signature
  private readonly session: InferenceSession
  private readonly Tensor: TensorConstructor
  private readonly options: SessionOptions
  private rows: CacheRows | undefined
  private layout: Layout = "gapped"
  /** How far rows that run together move each other's logits, where that is why they do not. */
  dependence: number | undefined
  /** Whether a prompt has the same bits however it is cut, in pieces of at least two tokens. */
  cutsFreely = false
  /** Alone: the outputs of the slot's last step, by cache; undefined when empty. */
  private readonly presents: (Tensor[] | undefined)[]
  private readonly lengths: number[]
  /** The step in which a slot ran last. */
  private readonly usedAt: number[]
  private stepCount = 0
  private scratch: CacheArray[] = []

  constructor(
    session: InferenceSession,
    Tensor: TensorConstructor,
    signature: Signature,
    options: SessionOptions,
  ) {
    this.session = session
    this.Tensor = Tensor
    this.signature = signature
    this.options = options
    this.presents = Array.from({ length: options.slotCount }, () => undefined)
    this.lengths = this.presents.map(() => 0)
    this.usedAt = this.presents.map(() => -1)
  }

  /** Whether rows of several slots run together. */
  get isBatched(): boolean {
    return this.rows !== undefined
  }

  get canRewind(): boolean {
    return !this.options.isCacheOpaque
  }

  /** Chooses the way to keep the cache, by trying. Call once, first. Throws ModelError when the graph does not run. */
  async prepare(): Promise<void> {
    const tokens = [0, 1, 2, 3, 4].map((id) => id % this.signature.width)
    try {
      if (this.options.isCacheOpaque) {
        await this.forward([{ slot: 0, start: 0, tokens: [0], logitsCount: 1 }])
        this.forget(0)
        return
      }
      const judged = await judgeLayouts({
        layouts: this.signature.hasPositions ? ["gapped", "aligned"] : ["aligned"],
        hasNeighbour: this.options.slotCount > 1,
        alone: () => this.stepwise(tokens, false),
        whole: () => this.whole(tokens),
        rows: (layout, hasNeighbour) => {
          this.forget(0)
          this.use(layout)
          return this.stepwise(tokens, hasNeighbour)
        },
      })
      this.rows = undefined
      this.forget(0)
      if (judged?.dependence === 0 || (judged && this.options.batching === "fast")) this.use(judged.layout)
      else this.dependence = judged?.dependence
      this.cutsFreely = await this.keepsBits()
    } catch (cause) {
      throw new ModelError(`the graph does not run: ${(cause as Error).message}`, { cause })
    }
  }

  /**
   * Whether a prompt has the same bits in other pieces: matrix products of one row take another way through the processor than those
   * of several, and these are computed row by row, in most graphs. A gap before new tokens moves the terms of sums.
   */
  private async keepsBits(): Promise<boolean> {
    if (this.isBatched && this.layout === "gapped") return false
    const { width, caches } = this.signature
    const cacheSize = caches.reduce((sum, { heads, dim }) => sum + heads * dim, 0)
    const count = Math.min(cacheSize < smallCache ? longTrialLength : trialLength, this.options.contextLength)
    if (count < trialLength) return false
    const tokens = Array.from({ length: count }, (_, i) => (7 * i) % width)
    let first: Float32Array | undefined
    // Seventeen: a row beyond a block of sixteen is a single one again.
    for (const cut of [count, 2, 17, count - 17]) {
      let last: Float32Array = new Float32Array(0)
      for (const [start, end] of cut === count
        ? [[0, count]]
        : [
            [0, cut],
            [cut, count],
          ])
        last = await this.forward([{ slot: 0, start, tokens: tokens.slice(start, end), logitsCount: 1 }])
      this.forget(0)
      first ??= last
      if (last.some((value, i) => value !== first?.[i])) return false
    }
    return true
  }

  private use(layout: Layout): void {
    this.layout = layout
    this.rows = this.makeRows()
  }

  /** The logits that the feeds want. Shape [R, V]. `reuse` may be the array of an earlier call. */
  async forward(feeds: readonly Feed[], reuse?: ArrayBuffer): Promise<Float32Array> {
    const { width } = this.signature
    const placeOf = new Map<Feed, number>()
    let wanted = 0
    for (const feed of feeds) {
      placeOf.set(feed, wanted)
      wanted += feed.logitsCount * width
    }
    const logits =
      reuse && reuse.byteLength >= 4 * wanted ? new Float32Array(reuse, 0, wanted) : new Float32Array(wanted)
    this.stepCount++
    try {
      const keep = (feed: Feed, output: Tensor, row: number): void => {
        if (feed.logitsCount > 0) logits.set(this.lastRows(output, row, feed.logitsCount), placeOf.get(feed))
      }
      if (this.rows) await this.forwardRows(this.rows, feeds, keep)
      else for (const feed of feeds) await this.forwardAlone(feed, keep)
    } catch (cause) {
      // What a failed run left behind is unknown: the slots of this batch start over.
      for (const { slot } of feeds) this.forget(slot)
      throw cause
    }
    return logits
  }

  async close(): Promise<void> {
    for (const slot of this.presents.keys()) this.forget(slot)
    await this.session.release()
  }

  private forget(slot: number): void {
    this.rows?.truncate(slot, 0)
    for (const tensor of this.presents[slot] ?? []) tensor.dispose()
    this.presents[slot] = undefined
    this.lengths[slot] = 0
  }

  private async forwardRows(
    rows: CacheRows,
    feeds: readonly Feed[],
    keep: (feed: Feed, logits: Tensor, row: number) => void,
  ): Promise<void> {
    const groups = new Map<string, { capacity: number; group: Feed[] }>()
    const single: Feed[] = []
    for (const feed of feeds) {
      this.usedAt[feed.slot] = this.stepCount
      if (feed.copyFrom !== undefined) rows.copy(feed.copyFrom, feed.slot, feed.start)
      rows.truncate(feed.slot, feed.start)
      const capacity = capacityOf(feed.start, this.options.contextLength)
      const count = feed.tokens.length
      const key = `${capacity} ${count}`
      // GroupQueryAttention takes several new tokens behind a past for one row only.
      const isSingle = count > (this.layout === "aligned" ? 1 : maxGrouped) || capacity === 0
      if (isSingle) single.push(feed)
      else groups.set(key, { capacity, group: [...(groups.get(key)?.group ?? []), feed] })
    }
    // A row that pauses for a step or two stays where it is and is computed in vain.
    const mayStay = (slot: number): boolean => this.stepCount - this.usedAt[slot] <= 2
    // All rows of a capacity and a number of new tokens run as one batch. On a small graph the run alone is then slower a row than single rows once a
    // cache tensor outgrows the second-level cache (embedded model, one thread, ms a row: 8 × 64 positions 0.33 against
    // 1.2 alone; 8 × 256 1.3 against 1.7; 8 × 512 3.0 against 2.0), but runs cut to fit it lost a fifth of the engine's
    // tokens a second at 350 tokens a row (384 against 295, machine shared): each run costs more than it saves.
    for (const { capacity, group } of groups.values()) {
      const newCount = group[0].tokens.length
      const feedOf = new Map(group.map((feed) => [feed.slot, feed]))
      const count = rows.gather(capacity, [...feedOf.keys()], mayStay)
      const slots = rows.slotsOf(capacity).slice(0, count)
      const run: Run = {
        tokens: slots.map((slot) => [...(feedOf.get(slot)?.tokens ?? new Array<number>(newCount).fill(0))]),
        // A row in vain begins at 0: behind its tokens there may be no position left.
        lengths: slots.map((slot) => (feedOf.has(slot) ? rows.length(slot) : 0)),
        pastLength: capacity,
        logitsCount: Math.max(1, ...group.map((feed) => feed.logitsCount)),
      }
      const { logits, presents } = await this.run(run, (cache) => rows.past(cache, capacity, 0, count))
      for (const [row, slot] of slots.entries()) {
        const feed = feedOf.get(slot)
        if (!feed) continue
        keep(feed, logits, row)
        rows.append(slot, newCount, presents, row, capacity + newCount, this.freshAt(feed.start, capacity))
      }
    }
    for (const feed of single) {
      const capacity = capacityOf(feed.start, this.options.contextLength)
      const row = rows.row(feed.slot)
      const run: Run = {
        tokens: [[...feed.tokens]],
        lengths: [feed.start],
        pastLength: capacity,
        logitsCount: Math.max(1, feed.logitsCount),
      }
      const { logits, presents } = await this.run(run, (cache) => rows.past(cache, capacity, row, row + 1))
      keep(feed, logits, 0)
      const { length } = feed.tokens
      rows.append(feed.slot, length, presents, 0, capacity + length, this.freshAt(feed.start, capacity))
    }
  }

  /** Position in the outputs of the first new token of a row of `length` tokens. */
  private freshAt(length: number, capacity: number): number {
    return this.layout === "aligned" ? length : capacity
  }

  private async forwardAlone(
    feed: Feed,
    keep: (feed: Feed, logits: Tensor, row: number) => void,
  ): Promise<void> {
    const { slot, start, tokens, copyFrom } = feed
    if (copyFrom !== undefined) this.takeOver(copyFrom, slot, start)
    else if (start === 0) this.forget(slot)
    else if (start < this.lengths[slot]) this.takeOver(slot, slot, start)
    if (start !== this.lengths[slot]) {
      throw new Error(`internal: slot ${slot} holds ${this.lengths[slot]} tokens, not ${start}`)
    }
    const past = this.presents[slot] ?? this.emptyPast()
    const logitsCount = Math.max(1, feed.logitsCount)
    const inputs = this.inputs({ tokens: [[...tokens]], lengths: [start], pastLength: start, logitsCount })
    for (const [cache, { past: name }] of this.signature.caches.entries()) inputs[name] = past[cache]
    const outputs = await this.session.run(inputs)
    for (const tensor of past) tensor.dispose()
    this.presents[slot] = this.signature.caches.map(({ present }) => outputs[present])
    this.lengths[slot] = start + tokens.length
    keep(feed, outputs.logits, 0)
  }

  /** Alone: makes slot `to` hold the first `length` tokens of slot `from`. */
  private takeOver(from: number, to: number, length: number): void {
    const tensors = this.presents[from]
    if (!tensors || !this.canRewind || length > this.lengths[from]) {
      throw new Error(`internal: slot ${from} cannot give its first ${length} tokens`)
    }
    const { cacheType, caches } = this.signature
    const cut = caches.map(({ heads, dim }, cache) => {
      const data = tensors[cache].data as CacheArray
      const array = this.makeArray(heads * length * dim)
      const size = this.lengths[from] * dim
      for (let head = 0; head < heads; head++) {
        array.set(data.subarray(head * size, head * size + length * dim), head * length * dim)
      }
      return new this.Tensor(cacheType, array, [1, heads, length, dim])
    })
    this.forget(to)
    this.presents[to] = cut
    this.lengths[to] = length
  }

  /** The cache outputs of `run` lie in scratch arrays, which the next run overwrites. */
  private async run(
    run: Run,
    past: (cache: number) => CacheArray,
  ): Promise<{ logits: Tensor; presents: CacheArray[] }> {
    const { caches, cacheType } = this.signature
    const rowCount = run.tokens.length
    const presentLength = run.pastLength + run.tokens[0].length
    const inputs = this.inputs(run)
    const outputs: Record<string, Tensor | null> = { logits: null }
    const presents = caches.map(({ past: name, present, heads, dim }, cache) => {
      inputs[name] = new this.Tensor(cacheType, past(cache), [rowCount, heads, run.pastLength, dim])
      const size = rowCount * heads * presentLength * dim
      if ((this.scratch[cache]?.length ?? 0) < size) this.scratch[cache] = this.makeArray(2 * size)
      const array = this.scratch[cache].subarray(0, size)
      outputs[present] = new this.Tensor(cacheType, array, [rowCount, heads, presentLength, dim])
      return array
    })
    const { logits } = await this.session.run(inputs, outputs)
    return { logits, presents }
  }

  private inputs(run: Run): Feeds {
    const { signature } = this
    const rowCount = run.tokens.length
    const newCount = run.tokens[0].length
    const total = run.pastLength + newCount
    const ids = new BigInt64Array(rowCount * newCount)
    const positions = new BigInt64Array(rowCount * newCount)
    const mask = new BigInt64Array(rowCount * total)
    for (const [row, tokens] of run.tokens.entries()) {
      for (const [at, token] of tokens.entries()) {
        ids[row * newCount + at] = BigInt(token)
        positions[row * newCount + at] = BigInt(run.lengths[row] + at)
      }
      mask.fill(1n, row * total, row * total + run.lengths[row])
      const fresh = row * total + this.freshAt(run.lengths[row], run.pastLength)
      mask.fill(1n, fresh, fresh + newCount)
    }
    const feeds: Feeds = {
      input_ids: new this.Tensor("int64", ids, [rowCount, newCount]),
      attention_mask: new this.Tensor("int64", mask, [rowCount, total]),
    }
    if (signature.hasPositions) feeds.position_ids = new this.Tensor("int64", positions, [rowCount, newCount])
    if (signature.logitsToKeep) {
      const kept = BigInt64Array.of(BigInt(run.logitsCount))
      feeds[signature.logitsToKeep] = new this.Tensor("int64", kept, [])
    }
    if (signature.hasCacheBranch) feeds.use_cache_branch = new this.Tensor("bool", Uint8Array.of(1), [1])
    return feeds
  }

  /** Of the logits [B, S, V] those of the last tokens of a row. Shape [count, V]. */
  private lastRows(logits: Tensor, row: number, count: number): Float32Array {
    const [, positionCount, width] = logits.dims
    if (width !== this.signature.width) {
      throw new ModelError(`logits have ${width} columns, not ${this.signature.width}`)
    }
    if (positionCount < count) {
      throw new ModelError(`the graph gives logits of ${positionCount} tokens, not of the last ${count}`)
    }
    const end = (row + 1) * positionCount * width
    const data = logits.data as Float32Array | Uint16Array
    const values = data.subarray(end - count * width, end)
    return values instanceof Float32Array ? values : Float32Array.from(values, halfToFloat)
  }

  private emptyPast(): Tensor[] {
    return this.signature.caches.map(
      ({ heads, dim }) => new this.Tensor(this.signature.cacheType, this.makeArray(0), [1, heads, 0, dim]),
    )
  }

  private makeArray(length: number): CacheArray {
    return this.signature.cacheType === "float16" ? new Uint16Array(length) : new Float32Array(length)
  }

  private makeRows(): CacheRows {
    const { slotCount, contextLength } = this.options
    return new CacheRows(this.signature.caches, {
      slotCount,
      contextLength,
      makeArray: (length) => this.makeArray(length),
    })
  }

  /** The definition: all tokens at once, nothing cached. */
  private async whole(tokens: readonly number[]): Promise<Float32Array> {
    const run: Run = { tokens: [[...tokens]], lengths: [0], pastLength: 0, logitsCount: 1 }
    const { logits } = await this.run(run, () => this.makeArray(0))
    return this.lastRows(logits, 0, 1).slice()
  }

  /** The same in three steps of slot 0, as the slots are kept now; beside a neighbour of another length where `hasNeighbour`. */
  private async stepwise(tokens: readonly number[], hasNeighbour: boolean): Promise<Float32Array> {
    const other = hasNeighbour ? [{ slot: 1, start: 0, tokens: [tokens[4]], logitsCount: 0 }] : []
    await this.forward([{ slot: 0, start: 0, tokens: tokens.slice(0, 2), logitsCount: 0 }, ...other])
    await this.forward([{ slot: 0, start: 2, tokens: tokens.slice(2, 4), logitsCount: 0 }])
    const next = other.map((feed) => ({ ...feed, start: 1 }))
    return this.forward([{ slot: 0, start: 4, tokens: tokens.slice(4), logitsCount: 1 }, ...next])
  }
}

/** IEEE 754 binary16 → number. */
export function halfToFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >>> 10) & 31
  const fraction = bits & 1023
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
}
