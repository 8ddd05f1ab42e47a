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
import { type Layout, seenAt } from "./layout.ts"
import type { Memory, Move } from "./memory.ts"
import type { CacheShape, FloatType } from "./signature.ts"
import type { KeptStates } from "./states.ts"

const smallestCapacity = 64

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
interface Arena<Block> {
  readonly capacity: number
  /** The slot of each row. */
  readonly slots: number[]
  /** One block per cache tensor. Shape [R, H, C, D], for a state [R, D], with R ≥ slots.length. */
  blocks: Block[]
  room: number
}

/** The new tokens of a slot, and where a run's outputs have them. */
export interface NewTokens {
  readonly slot: number
  readonly count: number
  /** Row of the outputs. */
  readonly row: number
  /** Their first position in a whole present. */
  readonly at: number
}

export class CacheRows<Block> {
  private readonly caches: readonly CacheShape[]
  private readonly memory: Memory<Block, unknown>
  private readonly kept: KeptStates<Block>
  private readonly contextLength: number
  private readonly layout: Layout
  private readonly arenas = new Map<number, Arena<Block>>()
  /** Number of tokens of each slot. Shape [slots]. */
  private readonly lengths: Int32Array
  /** Capacity of the arena that has the slot's row; 0 if it has no row. Shape [slots]. */
  private readonly capacities: Int32Array
  /** Slots with a token of which keys or values are not finite. */
  private readonly broken = new Set<number>()
  /** In the layout *shifted*: rows with the gap first, for the current run. */
  private readonly shifted: { block: Block; length: number }[] = []

  constructor(
    caches: readonly CacheShape[],
    memory: Memory<Block, unknown>,
    options: { slotCount: number; contextLength: number; layout: Layout; kept: KeptStates<Block> },
  ) {
    this.memory = memory
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
    const states = this.caches.map(({ state, dim, type }, cache) =>
      state ? this.cut(type, arena.blocks[cache], row * dim, dim) : undefined,
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
    // On a device only the first rows can be read where they are.
    const first = this.memory.isOnHost ? arena.slots.findIndex(isWanted) : 0
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

  /** Gives the slot's row room for this many tokens. */
  reserve(slot: number, length: number): void {
    this.move(slot, Math.max(this.capacities[slot], capacityOf(length, this.contextLength)))
  }

  /** Moves the slot's row to the arena of a capacity that fits it. */
  place(slot: number, capacity: number): void {
    this.move(slot, capacity)
  }

  row(slot: number): number {
    return this.arenas.get(this.capacities[slot])?.slots.indexOf(slot) ?? -1
  }

  /**
   * Returns rows start … end of one cache tensor, as the graph's past, until the next call for this
   * tensor. `isView`: whether the tensor is the arena's own memory. Capacity 0 is the empty past.
   */
  past(cache: number, capacity: number, start: number, end: number): { tensor: Tensor; isView: boolean } {
    const { type, state, heads, dim } = this.caches[cache]
    const { memory } = this
    const arena = this.arenas.get(capacity)
    const size = this.rowSize(cache, capacity)
    const dims = state ? [end - start, ...state] : [end - start, heads, capacity, dim]
    if (!arena) return memory.tensor(type, memory.make(type, (end - start) * size), 0, dims)
    if (this.layout !== "shifted" || state)
      return memory.tensor(type, arena.blocks[cache], start * size, dims)
    if ((this.shifted[cache]?.length ?? 0) < (end - start) * size) {
      const length = 2 * (end - start) * size
      this.shifted[cache] = { block: memory.make(type, length), length }
    }
    const { block } = this.shifted[cache]
    for (let row = start; row < end; row++) {
      const length = this.lengths[arena.slots[row]]
      const gap = seenAt(this.layout, length, capacity) * dim
      for (let head = 0; head < heads; head++) {
        const at = (row * heads + head) * capacity * dim
        const from = { block: arena.blocks[cache], at }
        memory.copy(type, from, { block, at: at - start * size + gap }, length * dim)
      }
    }
    return memory.tensor(type, block, 0, dims)
  }

  /**
   * Appends new tokens of slots from a run's outputs: the positions from `at` on of a whole
   * present, or an output with the new positions alone. `isInPlace`: whether the run wrote them
   * into the rows. Keys and values that are not finite are stored as zeros, and the slot is marked
   * as broken: if they were stored and later lay in the gap of another row, an infinity times the
   * zero of a hidden position would break that row too.
   */
  append(tokens: readonly NewTokens[], outputs: readonly Tensor[], isInPlace = false): void {
    const { caches, memory } = this
    for (const { slot, count } of tokens) {
      const length = this.lengths[slot] + count
      this.move(slot, Math.max(this.capacities[slot], capacityOf(length, this.contextLength)))
      this.lengths[slot] = length
    }
    if (isInPlace) return
    // If a layer has such values, so have all layers above it, so the last one is checked.
    const last = caches.findLastIndex(({ state }) => !state)
    for (const each of tokens)
      for (let cache = last; cache >= Math.max(0, last - 1); cache--)
        if (!memory.isFinite(caches[cache], outputs[cache], this.moveOf(each, caches[cache])))
          this.broken.add(each.slot)
    for (const [capacity, arena] of this.arenas) {
      const own = tokens.filter(({ slot }) => this.capacities[slot] === capacity)
      if (own.length === 0) continue
      const whole = own.filter(({ slot }) => !this.isBroken(slot))
      const broken = own.filter(({ slot }) => this.isBroken(slot))
      for (const [cache, shape] of caches.entries()) {
        const to = arena.blocks[cache]
        const moves = (shape.state ? own : whole).map((each) => this.moveOf(each, shape))
        memory.write(shape, outputs[cache], to, capacity, moves)
        if (shape.state) continue
        for (const each of broken) memory.clear(shape, to, capacity, this.moveOf(each, shape))
      }
    }
  }

  private moveOf({ slot, count, row, at }: NewTokens, { fresh }: CacheShape): Move {
    return {
      fromRow: row,
      from: fresh === undefined ? at : 0,
      toRow: this.row(slot),
      to: this.lengths[slot] - count,
      count,
    }
  }

  /**
   * Returns the states of a slot after `length` tokens; null if they are those in its row, or if
   * there are none.
   */
  private statesAt(slot: number, length: number): readonly (Block | undefined)[] | null {
    if (length === 0 || length === this.lengths[slot] || this.caches.every(({ state }) => !state)) return null
    const states = this.kept.at(slot, length)
    if (states === undefined) throw new Error(`internal: slot ${slot} cannot give its first ${length} tokens`)
    return states
  }

  private restore(slot: number, states: readonly (Block | undefined)[] | null): void {
    if (states === null) return
    const arena = this.arenas.get(this.capacities[slot])!
    const row = arena.slots.indexOf(slot)
    for (const [cache, state] of states.entries()) {
      const { type, dim } = this.caches[cache]
      if (!state) continue
      const to = { block: arena.blocks[cache], at: row * dim }
      this.memory.copy(type, { block: state, at: 0 }, to, dim)
    }
  }

  /** Returns a new block with a copy of numbers of another one. */
  private cut(type: FloatType, block: Block, at: number, length: number): Block {
    const copy = this.memory.make(type, length)
    this.memory.copy(type, { block, at }, { block: copy, at: 0 }, length)
    return copy
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
      this.grow(target, row + 1)
      // What an earlier row left there cannot be checked on a device.
      if (!this.memory.isOnHost) this.clear(target, row)
      if (source) this.copyTokens(source, sourceRow, target, row, this.lengths[slot])
    }
    if (source) {
      const last = source.slots.length - 1
      if (sourceRow < last) this.swap(source, sourceRow, last)
      source.slots.pop()
    }
  }

  private arena(capacity: number): Arena<Block> {
    let arena = this.arenas.get(capacity)
    if (!arena) {
      arena = { capacity, slots: [], blocks: [], room: 0 }
      this.arenas.set(capacity, arena)
    }
    return arena
  }

  private grow(arena: Arena<Block>, rows: number): void {
    const { room, blocks, capacity } = arena
    if (rows <= room) return
    arena.room = Math.max(rows, Math.min(2 * room, this.lengths.length))
    arena.blocks = this.caches.map(({ type }, cache) => {
      const size = this.rowSize(cache, capacity)
      const grown = this.memory.make(type, arena.room * size)
      if (room > 0) {
        this.memory.copy(type, { block: blocks[cache], at: 0 }, { block: grown, at: 0 }, room * size)
        this.memory.free(blocks[cache])
      }
      return grown
    })
  }

  private clear(arena: Arena<Block>, row: number): void {
    const move: Move = { fromRow: 0, from: 0, toRow: row, to: 0, count: arena.capacity }
    for (const [cache, shape] of this.caches.entries())
      if (!shape.state) this.memory.clear(shape, arena.blocks[cache], arena.capacity, move)
  }

  private rowSize(cache: number, capacity: number): number {
    const { heads, dim, state } = this.caches[cache]
    return state ? dim : heads * capacity * dim
  }

  private copyTokens(
    source: Arena<Block>,
    sourceRow: number,
    target: Arena<Block>,
    targetRow: number,
    length: number,
  ): void {
    for (const [cache, { heads, dim, state, type }] of this.caches.entries()) {
      const copy = (at: number, place: number, count: number): void => {
        const from = { block: source.blocks[cache], at }
        this.memory.copy(type, from, { block: target.blocks[cache], at: place }, count)
      }
      if (state) {
        copy(sourceRow * dim, targetRow * dim, dim)
        continue
      }
      for (let head = 0; head < heads; head++) {
        const at = (sourceRow * heads + head) * source.capacity * dim
        const place = (targetRow * heads + head) * target.capacity * dim
        copy(at, place, length * dim)
      }
    }
  }

  private swap(arena: Arena<Block>, one: number, other: number): void {
    for (const [cache, { type }] of this.caches.entries()) {
      const block = arena.blocks[cache]
      const size = this.rowSize(cache, arena.capacity)
      const kept = this.cut(type, block, one * size, size)
      this.memory.copy(type, { block, at: other * size }, { block, at: one * size }, size)
      this.memory.copy(type, { block: kept, at: 0 }, { block, at: other * size }, size)
      this.memory.free(kept)
    }
    const slot = arena.slots[one]
    arena.slots[one] = arena.slots[other]
    arena.slots[other] = slot
  }
}
