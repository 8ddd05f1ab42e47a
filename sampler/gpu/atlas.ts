/**
 * Which mask rows are on the device: the mask of a state is uploaded once, and later steps refer to
 * its slot. The rows themselves are in a buffer of the pipeline, which gets the new ones with each
 * submission.
 *
 * Slots are u32 [slots, W]. Slot 0 allows every token. A mask that comes with an id keeps its slot
 * until the slot is evicted as the least recently used one. A mask without an id gets a slot for
 * one step. Slots of the running step are never reused. A slot may hold a list of at most W ids
 * instead of a mask.
 */

/** Maximum bytes of mask rows that an atlas keeps by default. */
const defaultBudget = 64 * 2 ** 20

/** A mask row, or a list of ids, to be written at the start of a slot. */
export interface SlotWrite {
  readonly slot: number
  readonly words: Uint32Array
}

/** The slots that a submission uses, and what must be written into them before it. */
export interface MaskSlots {
  /** Differs between atlases: the slots of another one are all empty. */
  readonly atlas: number
  /** W, the words of a slot. */
  readonly words: number
  readonly slotCount: number
  readonly writes: readonly SlotWrite[]
}

let lastAtlas = 0

export class MaskAtlas {
  readonly slotCount: number
  private readonly id = ++lastAtlas
  private readonly words: number
  /** Since the last `take`. */
  private writes: SlotWrite[] = []
  /** Slots by key, from least to most recently used. */
  private readonly slots = new Map<unknown, number>()
  private readonly free: number[] = []
  private readonly pinned = new Set<unknown>()

  /**
   * `width` and W are those of the rows. The atlas has at least `minSlots` slots besides slot 0,
   * and at most `maxBytes`, the size of one buffer.
   */
  constructor(width: number, options: { minSlots: number; maxBytes: number; budget?: number }) {
    this.words = Math.ceil(width / 32)
    const most = Math.floor(options.maxBytes / (4 * this.words))
    const wanted = Math.floor((options.budget ?? defaultBudget) / (4 * this.words))
    this.slotCount = Math.min(most, Math.max(wanted, options.minSlots + 1), 4096 + options.minSlots)
    const ones = new Uint32Array(this.words).fill(0xffffffff)
    if (width % 32 !== 0) ones[this.words - 1] = 2 ** (width % 32) - 1
    this.write(0, ones)
    for (let slot = this.slotCount - 1; slot > 0; slot--) this.free.push(slot)
  }

  /** Allows the slots of the last step to be reused. */
  beginStep(): void {
    for (const key of this.pinned) if (typeof key === "symbol") this.release(key)
    this.pinned.clear()
  }

  /** Returns what a submission with the slots asked for since the last call needs. */
  take(): MaskSlots {
    const { id: atlas, words, slotCount, writes } = this
    this.writes = []
    return { atlas, words, slotCount, writes }
  }

  /**
   * Returns the slot of a mask, after uploading it if needed. `key` identifies the content;
   * undefined keeps the slot for this step only.
   */
  slotOf(mask: Uint32Array | null, key: unknown): number {
    if (mask === null) return 0
    const own = key ?? Symbol("step")
    let slot = this.slots.get(own)
    if (slot === undefined) {
      slot = this.free.pop() ?? this.evict()
      this.write(slot, mask)
    } else this.slots.delete(own)
    this.slots.set(own, slot)
    this.pinned.add(own)
    return slot
  }

  private evict(): number {
    for (const [key, slot] of this.slots) {
      if (this.pinned.has(key)) continue
      this.slots.delete(key)
      return slot
    }
    throw new Error(`internal: all ${this.slotCount} mask slots are in use by one step`)
  }

  private release(key: unknown): void {
    const slot = this.slots.get(key)
    if (slot === undefined) return
    this.slots.delete(key)
    this.free.push(slot)
  }

  private write(slot: number, mask: Uint32Array): void {
    this.writes.push({ slot, words: mask.subarray(0, this.words) })
  }
}
