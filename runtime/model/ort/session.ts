/**
 * Feeds → logits, with an onnxruntime session. It runs in the worker, since `run` blocks the thread
 * that calls it.
 *
 * There are two ways to keep the cache. *Rows* (`rows.ts`): batched steps over rows of one
 * capacity, if a trial at load finds a layout for them (`layout.ts`). *Alone* (`alone.ts`): every
 * slot runs separately. The trials also check whether the graph accepts several tokens after a
 * past: some exports of recurrent layers do so only at the beginning of a text.
 */

import { ModelError } from "../../errors.ts"
import type { Feed, ModelWork } from "../model.ts"
import { AloneSlots } from "./alone.ts"
import type { CacheArray, Graph, Outputs, Run } from "./graph.ts"
import { distance, freshAt, judgeLayouts, type Layout, Rounding } from "./layout.ts"
import type { Memory } from "./memory.ts"
import { CacheRows, capacityOf, type NewTokens } from "./rows.ts"
import type { Signature } from "./signature.ts"
import { KeptStates, marksOf } from "./states.ts"

export interface SessionOptions {
  slotCount: number
  contextLength: number
  /** `exact`: rows that would change each other's logits run one at a time. */
  batching: "exact" | "fast"
  /**
   * Whether several tokens after the prompt may be read at once if that preserves only their
   * distribution. Default: only if it preserves their bits.
   */
  readsAhead?: boolean
  /** Bytes of the graph's weights. */
  weightBytes: number
  /** Whether the cache stays on the device, so that rows cannot be cut out of it. */
  isCacheOpaque: boolean
}

/**
 * Lengths of the trial prompt that is run in several chunkings, to find out whether chunking
 * changes bits. Small graphs get the longer one: it is cheap for them, and their matrix products
 * switch algorithm only at larger sizes.
 */
const trialLength = 40
const longTrialLength = 180
/** A graph is small if its cache has at most this many numbers per token. */
const smallCache = 4_096

/** Tokens that a trial reads one after the other. */
const trialSteps = 6
/** Lengths of the pieces in which a trial reads a few tokens. */
const trialPieces = [2, 2, 1]

/** Number of steps after which a row that did not run no longer counts for the shared room. */
const lingering = 16

/**
 * Maximum tokens of a feed that runs with others of the same length. It covers decoding and drafts,
 * but not prompts.
 */
const maxGrouped = 32

/**
 * Logits that differ by more than this share of the largest belong to a different text: no
 * quantization has such errors.
 */
const another = 0.5

type Keep = (feed: Feed, outputs: Outputs, row: number) => void

/** Rows first … end of the arena of a capacity, and which of them run for a feed. */
interface RowRange {
  readonly capacity: number
  readonly first: number
  readonly end: number
  /** `row` is the row of the run. */
  readonly ran: readonly { readonly feed: Feed; readonly row: number }[]
  readonly keep: Keep
}

/** `Block` and `Logits` are those of the memory: where caches and logits are kept. */
export class OrtSession<Block, Logits> {
  readonly signature: Signature
  /** Marks of a slot; 0 if there are no states, or no memory for them. */
  readonly marks: number
  readonly work: { -readonly [key in keyof ModelWork]: number } = { runs: 0, places: 0, placesInVain: 0 }
  readonly graph: Graph
  readonly memory: Memory<Block, Logits>
  private readonly options: SessionOptions
  private readonly alone: AloneSlots
  private readonly kept: KeptStates<Block>
  private rows: CacheRows<Block> | undefined
  private layout: Layout = "gapped"
  /**
   * Where several tokens can run at once: anywhere, only at the beginning of a text, or nowhere.
   */
  private several: "anywhere" | "first" | "never" = "anywhere"
  /** How much rows would change each other's logits, if that is why they do not run together. */
  dependence: number | undefined
  /** Whether a prompt has the same bits for every cut into pieces of at least two tokens. */
  cutsFreely = false
  /**
   * Whether a stepwise feed has the bits of its tokens one by one; if bits are traded for speed,
   * whether it has their distribution.
   */
  readsSteps = false
  /** The step in which each slot last ran. */
  private readonly usedAt: number[]
  private stepCount = 0
  /**
   * Whether a row has the same bits in more room than it needs, so that rows of other lengths may
   * run with it.
   */
  sharesRoom = false
  /** The least room that rows share, set by trials. */
  private leastRoom = 0
  /** Bytes of the keys and values of a token. */
  private readonly placeBytes: number

  constructor(graph: Graph, memory: Memory<Block, Logits>, options: SessionOptions) {
    this.graph = graph
    this.memory = memory
    this.signature = graph.signature
    this.options = options
    const { slotCount, isCacheOpaque } = options
    this.marks = isCacheOpaque ? 0 : marksOf(graph.signature, slotCount)
    this.kept = new KeptStates(slotCount, this.marks)
    this.alone = new AloneSlots(graph, {
      slotCount,
      canRead: memory.isOnHost && !isCacheOpaque,
      kept: new KeptStates<CacheArray>(slotCount, this.marks),
    })
    this.usedAt = Array.from({ length: options.slotCount }, () => -1)
    this.placeBytes = graph.signature.caches.reduce(
      (sum, { state, heads, dim, type }) => sum + (state ? 0 : heads * dim * (type === "float16" ? 2 : 4)),
      0,
    )
  }

  /** Whether rows of several slots run together. */
  get isBatched(): boolean {
    return this.rows !== undefined
  }

  get canRewind(): boolean {
    return !this.options.isCacheOpaque && !this.signature.hasStates
  }

  /** Whether rows run together even with several new tokens each. */
  private get readsSeveral(): boolean {
    return this.isBatched && this.several === "anywhere" && this.layout !== "aligned"
  }

  /**
   * GroupQueryAttention takes several new tokens after a past only for one row, unless the tokens
   * are read one after the other.
   */
  get joinsFeeds(): boolean {
    return this.readsSteps || !this.isBatched || this.layout !== "aligned"
  }

  /** How the model runs, and why, for the log. */
  get description(): string {
    const { dependence, several, isBatched, layout } = this
    const way = isBatched
      ? "batched"
      : this.options.isCacheOpaque
        ? "one row at a time: the cache stays on the device"
        : dependence !== undefined
          ? `one row at a time: together they change each other's logits by ${dependence.toPrecision(2)} of the largest, as quantised graphs do; batching "fast" runs them so`
          : "one row at a time: in no layout do rows of several lengths have the logits that they have alone"
    const copies =
      isBatched && layout === "shifted" ? ", each step copying its rows, which a sliding window needs" : ""
    const pieces =
      several === "anywhere"
        ? ""
        : several === "first"
          ? ", prompts token by token behind their first chunk, as the graph takes several tokens without a past only"
          : ", token by token, as the graph takes no more at once"
    const kept = this.marks === 0 ? "nothing can be reused" : `a slot keeps up to ${this.marks}`
    const states = this.signature.hasStates ? `, with states, of which ${kept}` : ""
    return `${way}${states}${copies}${pieces}`
  }

  /**
   * Finds out by trials how to keep the cache. Must be called once, before any other method. Throws
   * ModelError if the graph does not run.
   */
  async prepare(): Promise<void> {
    const { width, window = Number.POSITIVE_INFINITY } = this.signature
    const { contextLength, batching, readsAhead = false, isCacheOpaque, slotCount } = this.options
    const tokens = [0, 1, 2, 3, 4].map((id) => id % width)
    try {
      const { alone, distance } = await this.judgePieces(tokens)
      if (isCacheOpaque) return
      // The window is counted in positions, so a gap in it would hide tokens that should be
      // visible.
      const seesAll = contextLength + maxGrouped <= window
      const layouts: Layout[] = ["aligned"]
      if (seesAll) layouts.unshift("gapped")
      if (this.memory.isOnHost) layouts.push("shifted")
      const judged = await judgeLayouts({
        layouts,
        hasNeighbour: slotCount > 1,
        alone,
        distance,
        rows: (layout, hasNeighbour) => {
          this.forget(0)
          this.use(layout)
          return this.stepwise(tokens, hasNeighbour)
        },
      })
      this.rows = undefined
      this.forget(0)
      if (judged?.dependence === 0 || (judged && batching === "fast")) this.use(judged.layout)
      else this.dependence = judged?.dependence
      this.cutsFreely = await this.keepsBits()
      this.sharesRoom = await this.keepsBitsInRoom()
      this.readsSteps = (readsAhead && this.readsSeveral) || (await this.keepsSteps())
      Object.assign(this.work, { runs: 0, places: 0, placesInVain: 0 })
    } catch (cause) {
      if (cause instanceof ModelError) throw cause
      throw new ModelError(`the graph does not run: ${(cause as Error).message}`, { cause })
    }
  }

  /**
   * Finds out where several tokens can run at once, by comparing their logits with those of single
   * tokens. Returns the logits in the pieces of `stepwise`, and their distance from those of all
   * tokens at once.
   */
  private async judgePieces(tokens: readonly number[]): Promise<{ alone: Float32Array; distance: number }> {
    const tried = async (lengths: readonly number[]): Promise<Float32Array | undefined> => {
      try {
        return await this.inPieces(tokens, lengths)
      } catch {
        return undefined
      } finally {
        this.forget(0)
      }
    }
    const isBroken = (logits: Float32Array): boolean => logits.some(Number.isNaN)
    const broken = "the graph does not run: its logits are not numbers"
    // A text that begins with a single token is not tried: the convolutions of some exports are
    // wrong for its second token.
    const steps = await tried([2, 1, 1, 1])
    const whole = steps && (await tried([tokens.length]))
    if (!steps || !whole) {
      this.several = "never"
      const alone = await this.inPieces(tokens, trialPieces)
      if (isBroken(alone)) throw new ModelError(broken)
      return { alone, distance: 0 }
    }
    if (isBroken(steps)) throw new ModelError(broken)
    const off = distance(steps, whole)
    if (off > another)
      throw new ModelError(
        `the graph gives other logits with its cache than without: logits differ by ${off.toPrecision(2)} of the largest. Export the model again, with its cache`,
      )
    const pieces = await tried(trialPieces)
    if (pieces && distance(whole, pieces) <= Math.max(Rounding, 4 * off))
      return { alone: pieces, distance: distance(whole, pieces) }
    this.several = "first"
    const alone = await this.inPieces(tokens, trialPieces)
    return { alone, distance: distance(whole, alone) }
  }

  /**
   * Returns whether a prompt has the same bits in other pieces. Matrix products of one row use
   * another algorithm than those of several rows, which most graphs compute row by row. A gap
   * before new tokens moves the terms of sums.
   */
  private async keepsBits(): Promise<boolean> {
    if (this.several !== "anywhere" || (this.isBatched && this.layout !== "aligned")) return false
    const { width, caches } = this.signature
    const cacheSize = caches.reduce((sum, { heads, dim }) => sum + heads * dim, 0)
    const count = Math.min(cacheSize < smallCache ? longTrialLength : trialLength, this.options.contextLength)
    if (count < trialLength) return false
    const tokens = Array.from({ length: count }, (_, i) => (7 * i) % width)
    let first: Float32Array | undefined
    // Seventeen, because the row after a block of sixteen is again a single one.
    for (const cut of [count, 2, 17, count - 17]) {
      const last = await this.inPieces(tokens, cut === count ? [count] : [cut, count - cut])
      this.forget(0)
      first ??= last
      if (last.some((value, i) => value !== first?.[i])) return false
    }
    return true
  }

  /** Returns whether a row has the same bits in more room than it needs. */
  private async keepsBitsInRoom(): Promise<boolean> {
    const { contextLength } = this.options
    if (!this.isBatched || this.layout !== "aligned" || contextLength <= 2 * trialLength) return false
    const tokens = Array.from({ length: trialLength }, (_, i) => (5 * i) % this.signature.width)
    const begun = tokens.slice(0, -trialSteps)
    const said: Float32Array[] = []
    this.sharesRoom = true
    for (const length of [0, longTrialLength]) {
      this.leastRoom = capacityOf(length, contextLength)
      this.forget(0)
      await this.forward([{ slot: 0, start: 0, tokens: begun, logitsCount: 0 }])
      for (let at = begun.length; at < trialLength; at++) {
        const logits = await this.read([{ slot: 0, start: at, tokens: [tokens[at]], logitsCount: 1 }])
        said.push(logits.slice())
      }
    }
    this.leastRoom = 0
    this.forget(0)
    const more = said.splice(trialSteps)
    return said.every((logits, step) => logits.every((value, id) => value === more[step][id]))
  }

  /**
   * Returns whether tokens that one run reads one after the other have the bits of separate runs.
   */
  private async keepsSteps(): Promise<boolean> {
    const { signature, isBatched, options } = this
    if (!signature.takesSteps || !isBatched || this.several !== "anywhere") return false
    if (options.contextLength < 2 * trialSteps) return false
    const first = 2
    const tokens = Array.from({ length: first + trialSteps }, (_, i) => (11 * i) % signature.width)
    let start = first
    const begin = async (): Promise<void> => {
      this.forget(0)
      await this.forward([{ slot: 0, start: 0, tokens: tokens.slice(0, first), logitsCount: 1 }])
      start = first
    }
    const read = async (count: number): Promise<Float32Array> => {
      const fed = tokens.slice(start, start + count)
      const logits = await this.read([{ slot: 0, start, tokens: fed, logitsCount: count, isStepwise: true }])
      start += count
      return logits.slice()
    }
    await begin()
    const expected: Float32Array[] = []
    while (start < tokens.length) expected.push(await read(1))
    let isEqual = true
    for (const counts of [[trialSteps], [2, trialSteps - 2]]) {
      await begin()
      for (const count of counts) {
        const from = start - first
        const said = await read(count)
        for (const [row, wanted] of expected.slice(from, from + count).entries())
          isEqual &&= wanted.every((value, id) => said[row * wanted.length + id] === value)
      }
    }
    this.forget(0)
    return isEqual
  }

  private use(layout: Layout): void {
    const { slotCount, contextLength } = this.options
    this.layout = layout
    const kept = this.kept
    this.rows = new CacheRows(this.signature.caches, this.memory, { slotCount, contextLength, layout, kept })
  }

  /** Returns the requested logits. Shape [R, V]. */
  async forward(feeds: readonly Feed[]): Promise<Logits> {
    const { width } = this.signature
    const { memory } = this
    /** Row of the first logits of each piece. */
    const placeOf = new Map<Feed, number>()
    let wanted = 0
    const cut = feeds.map((feed) => {
      const pieces = this.pieces(feed)
      for (const piece of pieces) {
        placeOf.set(piece, wanted)
        wanted += piece.logitsCount
      }
      return pieces
    })
    const logits = memory.makeLogits(wanted, width)
    this.stepCount++
    try {
      const keep: Keep = (piece, outputs, row) => {
        const { slot, logitsCount } = piece
        if (logitsCount === 0) return
        const place = placeOf.get(piece)!
        if (this.rows?.isBroken(slot)) memory.breakLogits(logits, width, place, logitsCount)
        else memory.keepLogits(logits, place, outputs.logits, outputs.logitsAt(row), logitsCount)
      }
      const rounds = Math.max(...cut.map(({ length }) => length))
      for (let round = 0; round < rounds; round++) {
        const batch = cut.flatMap((pieces) => pieces[round] ?? [])
        if (this.rows) await this.forwardRows(this.rows, batch, keep)
        else
          for (const piece of batch) {
            this.count(1, piece.tokens.length)
            memory.flush()
            const outputs = await this.alone.forward(piece)
            keep(piece, outputs, 0)
            memory.dispose(outputs.logits)
            if (this.isMarked(piece)) this.alone.mark(piece.slot)
          }
      }
    } catch (cause) {
      // The state after a failed run is unknown, so the slots of this batch become empty.
      for (const { slot } of feeds) this.forget(slot)
      memory.freeLogits(logits)
      throw cause
    }
    memory.flush()
    return logits
  }

  /** Returns the logits of a token after a short past that belongs to no slot. Shape [V]. */
  async tryStep(): Promise<Float32Array> {
    const { contextLength } = this.options
    const pastLength = Math.min(8, contextLength - 1)
    const run: Run = {
      ...{ tokens: [[0]], lengths: [pastLength], pastLength, contextLength, wanted: [1] },
      layout: this.isBatched ? this.layout : "gapped",
    }
    const { memory, signature } = this
    const past = signature.caches.map(({ state, heads, dim, type }) => {
      const block = memory.make(type, state ? dim : heads * pastLength * dim)
      return memory.tensor(type, block, 0, state ? [1, ...state] : [1, heads, pastLength, dim]).tensor
    })
    this.count(1, 1)
    const outputs = await this.graph.run(run, past)
    const logits = memory.makeLogits(1, signature.width)
    memory.keepLogits(logits, 0, outputs.logits, outputs.logitsAt(0), 1)
    return (await memory.readLogits(logits)).slice()
  }

  async close(): Promise<void> {
    for (const slot of this.usedAt.keys()) this.forget(slot)
    await this.graph.release()
  }

  private forget(slot: number): void {
    this.rows?.truncate(slot, 0)
    this.alone.forget(slot)
  }

  /** Cuts a feed as the graph accepts it: whole, or token by token. */
  private pieces(feed: Feed): Feed[] {
    const { slot, start, tokens, logitsCount, copyFrom, isMarked } = feed
    if (this.several === "anywhere" || (this.several === "first" && start === 0)) return [feed]
    return tokens.map((token, at) => ({
      slot,
      start: start + at,
      tokens: [token],
      logitsCount: at >= tokens.length - logitsCount ? 1 : 0,
      ...(at === 0 && copyFrom !== undefined && { copyFrom }),
      ...(at === tokens.length - 1 && isMarked && { isMarked }),
    }))
  }

  private async forwardRows(rows: CacheRows<Block>, feeds: readonly Feed[], keep: Keep): Promise<void> {
    const groups = new Map<string, Feed[]>()
    const single: Feed[] = []
    for (const feed of feeds) {
      this.usedAt[feed.slot] = this.stepCount
      if (feed.copyFrom !== undefined) rows.copy(feed.copyFrom, feed.slot, feed.start)
      rows.truncate(feed.slot, feed.start)
      // The new tokens need room before the run.
      if (this.writesInPlace) rows.reserve(feed.slot, feed.start + feed.tokens.length)
    }
    const roomOf = this.sharesRoom ? this.sharedRooms(rows) : null
    for (const feed of feeds) {
      const count = feed.tokens.length
      const isStepwise = this.isStepwise(feed)
      if (feed.start === 0 || count > (isStepwise || this.layout !== "aligned" ? maxGrouped : 1)) {
        single.push(feed)
        continue
      }
      if (roomOf !== null) rows.place(feed.slot, roomOf(feed.start))
      const key = `${rows.capacity(feed.slot)} ${count} ${isStepwise}`
      groups.set(key, [...(groups.get(key) ?? []), feed])
    }
    for (const group of groups.values()) await this.forwardGroup(rows, group, keep)
    for (const feed of single) await this.forwardSingle(rows, feed, keep)
  }

  /**
   * Runs feeds of one capacity and one number of new tokens as one batch.
   *
   * On a small graph, a batch takes longer per row than single rows once a cache tensor no longer
   * fits into the second-level cache (embedded model, one thread, ms per row: 8 × 64 positions 0.33
   * against 1.2 alone; 8 × 256 1.3 against 1.7; 8 × 512 3.0 against 2.0). But with batches cut to
   * fit it, the engine lost a fifth of its tokens per second at 350 tokens per row (384 against
   * 295, shared machine): each further run costs more than it saves.
   */
  private async forwardGroup(rows: CacheRows<Block>, group: readonly Feed[], keep: Keep): Promise<void> {
    const capacity = rows.capacity(group[0].slot)
    const newCount = group[0].tokens.length
    const feedOf = new Map(group.map((feed) => [feed.slot, feed]))
    // A row that runs without use starts at 0, as there may be no position left after its tokens;
    // or after its tokens, if the run would otherwise overwrite them.
    const lengthOf = (slot: number): number =>
      feedOf.has(slot) || this.writesInPlace ? rows.length(slot) : 0
    // A row that pauses for a step or two stays where it is, and its tokens are computed without
    // use, unless that costs several tokens.
    const mayStay = (slot: number): boolean =>
      newCount === 1 && this.stepCount - this.usedAt[slot] <= 2 && lengthOf(slot) < capacity
    const { first, end } = rows.gather(capacity, [...feedOf.keys()], mayStay)
    const slots = rows.slotsOf(capacity).slice(first, end)
    const run: Run = {
      tokens: slots.map((slot) => feedOf.get(slot)?.tokens ?? new Array<number>(newCount).fill(0)),
      lengths: slots.map(lengthOf),
      pastLength: capacity,
      layout: this.layout,
      contextLength: this.options.contextLength,
      wanted: slots.map((slot) => feedOf.get(slot)?.logitsCount ?? 0),
      isStepwise: this.isStepwise(group[0]),
    }
    this.work.placesInVain += newCount * (slots.length - group.length)
    const ran = [...slots.entries()].flatMap(([row, slot]) => {
      const feed = feedOf.get(slot)
      return feed ? [{ feed, row }] : []
    })
    await this.runRows(rows, run, { capacity, first, end, ran, keep })
  }

  private async forwardSingle(rows: CacheRows<Block>, feed: Feed, keep: Keep): Promise<void> {
    const capacity = rows.capacity(feed.slot)
    // A slot without tokens has no row yet.
    const row = Math.max(0, rows.row(feed.slot))
    const run: Run = {
      tokens: [feed.tokens],
      lengths: [feed.start],
      pastLength: capacity,
      layout: this.layout,
      contextLength: this.options.contextLength,
      wanted: [feed.logitsCount],
      isStepwise: this.isStepwise(feed),
    }
    const range = { capacity, first: row, end: row + 1 }
    await this.runRows(rows, run, { ...range, ran: [{ feed, row: 0 }], keep })
  }

  /** Runs rows first … end of an arena, and keeps what they give for the feeds in `ran`. */
  private async runRows(
    rows: CacheRows<Block>,
    run: Run,
    { capacity, first, end, ran, keep }: RowRange,
  ): Promise<void> {
    this.count(run.tokens.length, run.tokens[0].length)
    const past = this.signature.caches.map((_, cache) => rows.past(cache, capacity, first, end))
    const tensors = past.map(({ tensor }) => tensor)
    const isInPlace = this.writesInPlace && capacity > 0
    this.memory.flush()
    const outputs = await this.graph.run(run, tensors, { isInPlace })
    const tokens = ran.map(
      ({ feed: { slot, start, tokens }, row }): NewTokens => ({
        ...{ slot, count: tokens.length, row },
        at: freshAt(this.layout, start, capacity),
      }),
    )
    for (const { feed, row } of ran) keep(feed, outputs, row)
    rows.append(tokens, outputs.caches, isInPlace && past.every(({ isView }) => isView))
    for (const { feed } of ran) if (this.isMarked(feed)) rows.mark(feed.slot)
    for (const output of [outputs.logits, ...(isInPlace ? [] : outputs.caches)]) this.memory.dispose(output)
  }

  /** Whether a run writes new keys and values into the rows that it reads. */
  private get writesInPlace(): boolean {
    return this.memory.sharesPast && this.layout === "aligned"
  }

  /**
   * Returns the room for a row by its length: that of longer rows, if they ran recently and saving
   * a run is worth it. A run reads all weights, and for each position of the room the bytes of its
   * keys and values.
   */
  private sharedRooms(rows: CacheRows<Block>): (length: number) => number {
    const { contextLength, weightBytes } = this.options
    const added = this.writesInPlace ? 1 : 0
    const needed = (length: number): number =>
      Math.max(this.leastRoom, capacityOf(length + added, contextLength))
    const counts = new Map<number, number>()
    for (const [slot, usedAt] of this.usedAt.entries()) {
      const need = needed(rows.length(slot))
      if (this.stepCount - usedAt <= lingering) counts.set(need, (counts.get(need) ?? 0) + 1)
    }
    const rooms = new Map<number, number>()
    let room = 0
    for (const [need, count] of [...counts].sort(([a], [b]) => b - a)) {
      if (count * (room - need) * this.placeBytes > weightBytes || room === 0) room = need
      rooms.set(need, room)
    }
    return (length) => rooms.get(needed(length))!
  }

  private isMarked({ isMarked }: Feed): boolean {
    return isMarked === true && this.marks > 0
  }

  private isStepwise({ isStepwise, tokens }: Feed): boolean {
    return isStepwise === true && tokens.length > 1 && this.signature.takesSteps
  }

  private count(rows: number, tokens: number): void {
    this.work.runs++
    this.work.places += rows * tokens
  }

  /** Runs the tokens in slot 0, in feeds of these lengths. */
  private async inPieces(tokens: readonly number[], lengths: readonly number[]): Promise<Float32Array> {
    let start = 0
    let last: Float32Array = new Float32Array(0)
    for (const length of lengths) {
      const feed = { slot: 0, start, tokens: tokens.slice(start, start + length), logitsCount: 1 }
      last = await this.read([feed])
      start += length
    }
    return last
  }

  /**
   * Runs the pieces of `trialPieces` in slot 0, with the present layout; with `hasNeighbour`, next
   * to a row of another length.
   */
  private async stepwise(tokens: readonly number[], hasNeighbour: boolean): Promise<Float32Array> {
    const other = hasNeighbour ? [{ slot: 1, start: 0, tokens: [tokens[4]], logitsCount: 0 }] : []
    await this.forward([{ slot: 0, start: 0, tokens: tokens.slice(0, 2), logitsCount: 0 }, ...other])
    await this.forward([{ slot: 0, start: 2, tokens: tokens.slice(2, 4), logitsCount: 0 }])
    const next = other.map((feed) => ({ ...feed, start: 1 }))
    return this.read([{ slot: 0, start: 4, tokens: tokens.slice(4), logitsCount: 1 }, ...next])
  }

  /** Returns the logits of a trial on the host. */
  private async read(feeds: readonly Feed[]): Promise<Float32Array> {
    const logits = await this.forward(feeds)
    const values = await this.memory.readLogits(logits)
    this.memory.freeLogits(logits)
    return values
  }
}
