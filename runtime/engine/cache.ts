/**
 * Slots: which sequence uses which row of the model's cache, and which prompts can be reused from
 * it.
 *
 * A slot remembers its prompt after its sequence has left, so that a later prompt with the same
 * beginning skips that part. Reused values have the bits that the later request would have
 * computed, so its tokens do not depend on what was cached. If the model's bits do not depend on
 * how a prompt is cut into pieces (`cutsFreely`), every token may be reused; but a piece of a
 * single token is computed with other kernels, so every piece has at least two. Otherwise only
 * whole chunks are reused, since they were computed from the same cuts. A model with states can
 * only be rewound to its marks, which lie between chunks. There are few rows, so they are searched
 * linearly.
 */
import { withMark } from "../model/marks.ts"

export interface Placement {
  readonly slot: number
  /** Number of prompt tokens that need no computing. */
  readonly reusedCount: number
  /** The slot to copy them from; undefined if they are in `slot` itself. */
  readonly copyFrom: number | undefined
}

interface Slot {
  isFree: boolean
  /** The prompt whose beginning is in the slot, and how many of its tokens can be reused. */
  prompt: readonly number[]
  wholeCount: number
  /**
   * Token counts that the model can be rewound to, for a model that cannot be rewound to any count.
   */
  marks: readonly number[]
  /** Number of the slot's last release. The slot with the least number is taken first. */
  releasedAt: number
}

/** The least number of tokens that is worth a copy, if every token can be reused. */
const FewTokens = 8

export class Slots {
  readonly chunkSize: number
  /** Whether prompts may be cut anywhere, into pieces of at least two tokens. */
  readonly cutsFreely: boolean
  private readonly canReuse: boolean
  /** Maximum number of marks of a slot; 0 if the model needs none or has none. */
  private readonly marks: number
  private readonly slots: Slot[]
  private releaseCount = 0

  /**
   * `canReuse`: whether the contents of a slot may be reused; with `marks`, only up to one of them.
   */
  constructor(count: number, chunkSize: number, { canReuse = true, cutsFreely = false, marks = 0 } = {}) {
    this.chunkSize = chunkSize
    this.cutsFreely = cutsFreely && marks === 0
    this.canReuse = canReuse || marks > 0
    this.marks = marks
    this.slots = Array.from({ length: count }, () => ({
      isFree: true,
      prompt: [],
      wholeCount: 0,
      marks: [],
      releasedAt: 0,
    }))
  }

  get freeCount(): number {
    return this.slots.filter((slot) => slot.isFree).length
  }

  /** Returns the end of the chunk that begins at `start`, in a prompt of `length` tokens. */
  chunkEnd(start: number, length: number): number {
    return Math.min(length, (Math.floor(start / this.chunkSize) + 1) * this.chunkSize)
  }

  /**
   * Returns the end of the piece that begins at `start` of a prompt of `length` tokens: the end of
   * the chunk, or `size` tokens further if prompts may be cut anywhere.
   */
  pieceEnd(start: number, length: number, size = this.chunkSize): number {
    if (!this.cutsFreely) return this.chunkEnd(start, length)
    const end = Math.min(length, start + size)
    return length - end === 1 ? end - 1 : end
  }

  /**
   * Takes a free slot for this prompt; returns undefined if there is none. Without `reuses` the
   * whole prompt will be computed.
   */
  take(prompt: readonly number[], { reuses = true } = {}): Placement | undefined {
    let best = -1
    let source = -1
    let reusedCount = 0
    for (const [index, slot] of this.slots.entries()) {
      const common = this.canReuse && reuses ? this.commonCount(slot, prompt) : 0
      // If the source slot is free its tokens are used where they are; otherwise they must be
      // copied.
      if (common > reusedCount || (common > 0 && common === reusedCount && slot.isFree)) {
        reusedCount = common
        source = index
      }
    }
    // A later prompt may want the rest of the slot. So if the rest is the larger part, the prefix
    // is copied into another slot.
    if (source >= 0 && this.slots[source].isFree && 2 * reusedCount >= this.slots[source].wholeCount) {
      best = source
    } else {
      for (const [index, slot] of this.slots.entries()) {
        if (slot.isFree && (best < 0 || slot.releasedAt < this.slots[best].releasedAt)) best = index
      }
    }
    if (best < 0) return undefined
    const slot = this.slots[best]
    slot.isFree = false
    slot.prompt = prompt
    slot.wholeCount = reusedCount
    slot.marks = reusedCount > 0 ? this.slots[source].marks.filter((mark) => mark <= reusedCount) : []
    return { slot: best, reusedCount, copyFrom: reusedCount > 0 && source !== best ? source : undefined }
  }

  /** Records that the slot now holds the first `count` tokens of its prompt, cut into chunks. */
  computed(index: number, count: number): void {
    const slot = this.slots[index]
    const within = Math.min(count, slot.prompt.length)
    const whole = this.cutsFreely ? within : within - (within % this.chunkSize)
    if (whole > 1) slot.wholeCount = Math.max(slot.wholeCount, whole)
  }

  /** Records that the slot holds `count` tokens and can be rewound to that count. */
  mark(index: number, count: number): void {
    const slot = this.slots[index]
    slot.marks = withMark(slot.marks, count, this.marks)
  }

  /** Frees a slot. `isIntact` is false if a fault of the model destroyed its contents. */
  release(index: number, isIntact = true): void {
    const slot = this.slots[index]
    slot.isFree = true
    slot.releasedAt = ++this.releaseCount
    if (!isIntact) this.lose(index)
  }

  /** Forgets the contents of the slot, which stays taken. */
  lose(index: number): void {
    this.slots[index].wholeCount = 0
    this.slots[index].marks = []
  }

  /** Forgets all contents, after the model has lost all rows. */
  forget(): void {
    for (const index of this.slots.keys()) this.lose(index)
  }

  /**
   * Returns the length of the common prefix that can be reused. At least one token is left to
   * compute, for its logits.
   */
  private commonCount(slot: Slot, prompt: readonly number[]): number {
    const bound = Math.min(slot.wholeCount, prompt.length - (this.cutsFreely ? 2 : 1))
    let count = 0
    while (count < bound && slot.prompt[count] === prompt[count]) count++
    if (this.marks > 0) return Math.max(0, ...slot.marks.filter((mark) => mark <= count))
    if (this.cutsFreely) return count < FewTokens ? 0 : count
    return count - (count % this.chunkSize)
  }
}
