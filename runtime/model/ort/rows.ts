/**
 * Stores the keys and values of the slots so that a decode step copies only one position per row.
 *
 * The graph appends: past [B, H, P, D] and S new tokens give present [B, H, P + S, D]. If the whole
 * present were the next past, all rows of a batch would need one length. Instead every row keeps
 * its tokens at positions 0 … n of a fixed capacity C, the attention mask hides the gap after them,
 * the new token's keys are returned at position C, and are copied to position n. Attention does not
 * depend on the order of its keys: positions are already encoded in the keys. Graphs of
 * grouped-query attention count each row's tokens by its attention mask, and put the new ones at
 * position n.
 *
 * C is a power of two, and rows of one C lie in one arena and run as one batch. C depends only on
 * the row's own length, so that a row's logits have the same bits whatever rows run with it: room
 * for the longest row would change the order of the sums in the softmax. If a trial shows that it
 * does not, as in graphs of grouped-query attention (`steps.ts`), all rows get the room of the
 * longest.
 *
 * A state has one size whatever the row's length: it is in the arena next to the keys, is replaced
 * by each run, and cannot be truncated: a row can only be rewound to a position where its states
 * were kept (`states.ts`).
 */

import type { Tensor } from "onnxruntime-node"
import { type CacheArray, makeArray } from "./graph.ts"
import { type Layout, seenAt } from "./layout.ts"
import type { CacheShape } from "./signature.ts"
import type { KeptStates } from "./states.ts"

const smallestCapacity = 64
/** The exponent bits of a float16 that is infinite or NaN. */
const halfInfinity = 0x7c00

/**
 * Returns the capacity of the arena for rows of this many tokens; 0 for none. It is a multiple of
 * the smallest one: sums over positions are computed in that many lanes, so they have the same bits
 * in every capacity.
 */
export function capacityOf(length: number, contextLength: number): number {
  if (length === 0) return 0
  let capacity = smallestCapacity
  while (capacity < length) capacity *= 2
  const most = smallestCapacity * Math.ceil(Math.max(contextLength, length) / smallestCapacity)
  return Math.min(capacity, most)
}

/** The rows of one capacity, without gaps between them. A row is found by its slot. */
interface Arena {
  readonly capacity: number
  /** The slot of each row. */
  readonly slots: number[]
  /** One array per cache tensor. Shape [R, H, C, D], for a state [R, D], with R ≥ slots.length. */
  arrays: CacheArray[]
  room: number
}

export class CacheRows {
  private readonly caches: readonly CacheShape[]
  private readonly kept: KeptStates
  private readonly contextLength: number
  private readonly layout: Layout
  private readonly arenas = new Map<number, Arena>()
  /** Number of tokens of each slot. Shape [slots]. */
  private readonly lengths: Int32Array
  /** Capacity of the arena that has the slot's row; 0 if it has no row. Shape [slots]. */
  private readonly capacities: Int32Array
  /** Slots with a token of which keys or values are not finite. */
  private readonly broken = new Set<number>()
  /** In the layout *shifted*: rows with the gap first, for the current run. */
  private readonly shifted: CacheArray[] = []

  constructor(
    caches: readonly CacheShape[],
    options: { slotCount: number; contextLength: number; layout: Layout; kept: KeptStates },
  ) {
    this.kept = options.kept
    this.caches = caches
    this.contextLength = options.contextLength
    this.layout = options.layout
    this.lengths = new Int32Array(options.slotCount)
    this.capacities = new Int32Array(options.slotCount)
  }

  length(slot: number): number {
    return this.lengths[slot]
  }

  /**
   * Returns whether the slot has a token of which keys or values are not finite: no logits can be
   * computed for its text.
   */
  isBroken(slot: number): boolean {
    return this.broken.has(slot)
  }

  /** Drops the tokens after `length`, and moves the row to the arena for that length. */
  truncate(slot: number, length: number): void {
    if (length > this.lengths[slot]) {
      throw new Error(`internal: slot ${slot} holds ${this.lengths[slot]} tokens, not ${length}`)
    }
    if (length === 0) this.broken.delete(slot)
    if (length === this.lengths[slot]) return
    const states = this.statesAt(slot, length)
    this.lengths[slot] = length
    this.move(slot, capacityOf(length, this.contextLength))
    this.kept.cut(slot, length)
    this.restore(slot, states)
  }

  /** Makes slot `to` hold the first `length` tokens of slot `from`. */
  copy(from: number, to: number, length: number): void {
    if (length > this.lengths[from]) {
      throw new Error(`internal: slot ${from} holds ${this.lengths[from]} tokens, not ${length}`)
    }
    const states = this.statesAt(from, length)
    this.lengths[to] = 0
    this.move(to, capacityOf(length, this.contextLength))
    this.lengths[to] = length
    if (this.isBroken(from)) this.broken.add(to)
    else this.broken.delete(to)
    this.kept.share(from, to, length)
    if (length === 0) return
    const source = this.arenas.get(this.capacities[from])!
    const target = this.arenas.get(this.capacities[to])!
    this.copyTokens(source, source.slots.indexOf(from), target, target.slots.indexOf(to), length)
    this.restore(to, states)
  }

  /** Keeps the current states of a slot, so that it can be rewound to them. */
  mark(slot: number): void {
    const arena = this.arenas.get(this.capacities[slot])!
    const row = arena.slots.indexOf(slot)
    const states = this.caches.map(({ state, dim }, cache) =>
      state ? arena.arrays[cache].slice(row * dim, (row + 1) * dim) : undefined,
    )
    this.kept.add(slot, this.lengths[slot], states)
  }

  /**
   * Moves the rows of `slots` (all of one capacity) together in their arena. Returns the range of
   * rows that must run: from the first to the last of them. Rows in between for which `mayStay` is
   * true are left in place, since moving them there and back costs more.
   */
  gather(
    capacity: number,
    slots: readonly number[],
    mayStay: (slot: number) => boolean,
  ): { first: number; end: number } {
    const arena = this.arenas.get(capacity)!
    const wanted = new Set(slots)
    const isWanted = (slot: number) => wanted.has(slot)
    const first = arena.slots.findIndex(isWanted)
    let last = arena.slots.findLastIndex(isWanted)
    for (let row = first; row < last; row++) {
      const slot = arena.slots[row]
      if (isWanted(slot) || mayStay(slot)) continue
      this.swap(arena, row, last)
      while (!isWanted(arena.slots[last])) last--
    }
    return { first, end: last + 1 }
  }

  /** The slots of the arena's rows. */
  slotsOf(capacity: number): readonly number[] {
    return this.arenas.get(capacity)?.slots ?? []
  }

  /** Capacity of the arena that has the slot's row; 0 if it has none. */
  capacity(slot: number): number {
    return this.capacities[slot]
  }

  /** Moves the slot's row to the arena of a capacity that fits it. */
  place(slot: number, capacity: number): void {
    this.move(slot, capacity)
  }

  row(slot: number): number {
    return this.arenas.get(this.capacities[slot])?.slots.indexOf(slot) ?? -1
  }

  /**
   * Returns rows start … end of one cache tensor, as the graph's past: a view, or, if rows are
   * shifted, a copy that the next call overwrites. Capacity 0 is the empty past.
   */
  past(cache: number, capacity: number, start: number, end: number): CacheArray {
    const shape = this.caches[cache]
    const arena = this.arenas.get(capacity)
    const size = this.rowSize(cache, capacity)
    if (!arena) return makeArray(shape.type, (end - start) * size)
    const rows = arena.arrays[cache].subarray(start * size, end * size)
    if (this.layout !== "shifted" || shape.state) return rows
    if ((this.shifted[cache]?.length ?? 0) < rows.length)
      this.shifted[cache] = makeArray(shape.type, 2 * rows.length)
    const shifted = this.shifted[cache].subarray(0, rows.length)
    for (let row = start; row < end; row++) {
      const length = this.lengths[arena.slots[row]]
      const gap = seenAt(this.layout, length, capacity) * shape.dim
      for (let head = 0; head < shape.heads; head++) {
        const at = ((row - start) * shape.heads + head) * capacity * shape.dim
        shifted.set(rows.subarray(at, at + length * shape.dim), at + gap)
      }
    }
    return shifted
  }

  /**
   * Appends the slot's next tokens from row `outputRow` of a run's outputs: `count` positions,
   * which are the whole output, or start at `freshAt` in the whole present. Keys and values that
   * are not finite are stored as zeros, and the slot is marked as broken: if they were stored and
   * later lay in the gap of another row, an infinity times the zero of a hidden position would
   * break that row too.
   */
  append(slot: number, count: number, outputs: readonly Tensor[], outputRow: number, freshAt: number): void {
    const start = this.lengths[slot]
    this.move(slot, Math.max(this.capacities[slot], capacityOf(start + count, this.contextLength)))
    this.lengths[slot] = start + count
    const capacity = this.capacities[slot]
    const arena = this.arenas.get(capacity)!
    const row = arena.slots.indexOf(slot)
    // If a layer has such values, so have all layers above it, so the last one is checked.
    const last = this.caches.findLastIndex(({ state }) => !state)
    for (let cache = last; cache >= Math.max(0, last - 1); cache--)
      if (!this.isFinite(cache, outputs[cache], outputRow, count, freshAt)) this.broken.add(slot)
    const isBroken = this.isBroken(slot)
    for (const [cache, { heads, dim, state, fresh }] of this.caches.entries()) {
      const from = outputs[cache].data as CacheArray
      const to = arena.arrays[cache]
      if (state) {
        to.set(from.subarray(outputRow * dim, (outputRow + 1) * dim), row * dim)
        continue
      }
      const length = outputs[cache].dims[2]
      const first = fresh === undefined ? freshAt : 0
      for (let head = 0; head < heads; head++) {
        const at = ((outputRow * heads + head) * length + first) * dim
        const place = ((row * heads + head) * capacity + start) * dim
        if (isBroken) to.fill(0, place, place + count * dim)
        else to.set(from.subarray(at, at + count * dim), place)
      }
    }
  }

  /**
   * Returns whether the new positions of a cache are finite numbers, in the row that `append`
   * reads.
   */
  private isFinite(
    cache: number,
    output: Tensor,
    outputRow: number,
    count: number,
    freshAt: number,
  ): boolean {
    const { heads, dim, state, fresh } = this.caches[cache]
    if (state) return true
    const values = output.data as CacheArray
    const length = output.dims[2]
    const isHalf = values instanceof Uint16Array
    for (let head = 0; head < heads; head++) {
      const at = ((outputRow * heads + head) * length + (fresh === undefined ? freshAt : 0)) * dim
      for (let i = at; i < at + count * dim; i++)
        if (isHalf ? (values[i] & halfInfinity) === halfInfinity : !Number.isFinite(values[i])) return false
    }
    return true
  }

  /**
   * Returns the states of a slot after `length` tokens; null if they are those in its row, or if
   * there are none.
   */
  private statesAt(slot: number, length: number): readonly (CacheArray | undefined)[] | null {
    if (length === 0 || length === this.lengths[slot] || this.caches.every(({ state }) => !state)) return null
    const states = this.kept.at(slot, length)
    if (states === undefined) throw new Error(`internal: slot ${slot} cannot give its first ${length} tokens`)
    return states
  }

  private restore(slot: number, states: readonly (CacheArray | undefined)[] | null): void {
    if (states === null) return
    const arena = this.arenas.get(this.capacities[slot])!
    const row = arena.slots.indexOf(slot)
    for (const [cache, state] of states.entries())
      if (state) arena.arrays[cache].set(state, row * this.caches[cache].dim)
  }

  private move(slot: number, capacity: number): void {
    const before = this.capacities[slot]
    if (before === capacity) return
    this.capacities[slot] = capacity
    const source = this.arenas.get(before)
    const sourceRow = source ? source.slots.indexOf(slot) : -1
    if (capacity > 0) {
      const target = this.arena(capacity)
      const row = target.slots.push(slot) - 1
      this.reserve(target, row + 1)
      if (source) this.copyTokens(source, sourceRow, target, row, this.lengths[slot])
    }
    if (source) {
      const last = source.slots.length - 1
      if (sourceRow < last) this.swap(source, sourceRow, last)
      source.slots.pop()
    }
  }

  private arena(capacity: number): Arena {
    let arena = this.arenas.get(capacity)
    if (!arena) {
      arena = { capacity, slots: [], arrays: this.caches.map(({ type }) => makeArray(type, 0)), room: 0 }
      this.arenas.set(capacity, arena)
    }
    return arena
  }

  private reserve(arena: Arena, rows: number): void {
    if (rows <= arena.room) return
    arena.room = Math.max(rows, Math.min(2 * arena.room, this.lengths.length))
    arena.arrays = arena.arrays.map((array, cache) => {
      const grown = makeArray(this.caches[cache].type, arena.room * this.rowSize(cache, arena.capacity))
      grown.set(array)
      return grown
    })
  }

  private rowSize(cache: number, capacity: number): number {
    const { heads, dim, state } = this.caches[cache]
    return state ? dim : heads * capacity * dim
  }

  private copyTokens(
    source: Arena,
    sourceRow: number,
    target: Arena,
    targetRow: number,
    length: number,
  ): void {
    for (const [cache, { heads, dim, state }] of this.caches.entries()) {
      if (state) {
        const whole = source.arrays[cache].subarray(sourceRow * dim, (sourceRow + 1) * dim)
        target.arrays[cache].set(whole, targetRow * dim)
        continue
      }
      for (let head = 0; head < heads; head++) {
        const from = (sourceRow * heads + head) * source.capacity * dim
        const to = (targetRow * heads + head) * target.capacity * dim
        target.arrays[cache].set(source.arrays[cache].subarray(from, from + length * dim), to)
      }
    }
  }

  private swap(arena: Arena, one: number, other: number): void {
    for (const [cache, array] of arena.arrays.entries()) {
      const size = this.rowSize(cache, arena.capacity)
      const kept = array.slice(one * size, (one + 1) * size)
      array.copyWithin(one * size, other * size, (other + 1) * size)
      array.set(kept, other * size)
    }
    const slot = arena.slots[one]
    arena.slots[one] = arena.slots[other]
    arena.slots[other] = slot
  }
}
