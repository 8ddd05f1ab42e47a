/**
 * Slots: which sequence holds which row of the model's cache, and which prompts can be taken over
 * from it.
 *
 * A slot remembers the prompt it was filled with after its sequence has left, so that a later
 * prompt with the same beginning skips that part. Reused values have the bits that the later
 * request would have computed, so its tokens do not depend on what was cached. Where the model's
 * bits do not depend on how a prompt is cut (`cutsFreely`), every token may be reused; a piece of a
 * single token is computed another way, so each has two. Otherwise only whole chunks are reused,
 * since they were computed from the same cuts. A model with states can only return to its marks,
 * which lie between chunks. The rows are few, so they are searched one by one.
 */
import { withMark } from "../model/marks.ts"

export interface Placement {
  readonly slot: number
  /** Tokens of the prompt that need no computing. */
  readonly reusedCount: number
  /** The slot to copy them from, when they are not in `slot` itself. */
  readonly copyFrom: number | undefined
}

interface Slot {
  isFree: boolean
  /** The prompt whose beginning lies in the slot, and how much of it in whole chunks. */
  prompt: readonly number[]
  wholeCount: number
  /** The places that the model can return to, if it cannot return to any place. */
  marks: readonly number[]
  /** Order of release: the slot that was left longest ago is taken first. */
  releasedAt: number
}

/** If every token can be reused: the least number worth a copy. */
const FewTokens = 8

export class Slots {
  readonly chunkSize: number
  /** Whether prompts may be cut anywhere, into pieces of at least two tokens. */
  readonly cutsFreely: boolean
  private readonly canReuse: boolean
  /** Marks of a slot; 0: it needs none, or has none. */
  private readonly marks: number
  private readonly slots: Slot[]
  private releaseCount = 0

  /** `canReuse`: anything in a slot; with `marks` what lies before one of them. */
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

  /** The end of the chunk that begins at `start`, in a prompt of `length` tokens. */
  chunkEnd(start: number, length: number): number {
    return Math.min(length, (Math.floor(start / this.chunkSize) + 1) * this.chunkSize)
  }

  /**
   * The end of the piece of a prompt of `length` tokens that begins at `start`: a chunk, or `size`
   * tokens where any cut will do.
   */
  pieceEnd(start: number, length: number, size = this.chunkSize): number {
    if (!this.cutsFreely) return this.chunkEnd(start, length)
    const end = Math.min(length, start + size)
    return length - end === 1 ? end - 1 : end
  }

  /**
   * Takes a free slot for this prompt; undefined when there is none. Without `reuses` all of it
   * will be computed.
   */
  take(prompt: readonly number[], { reuses = true } = {}): Placement | undefined {
    let best = -1
    let source = -1
    let reusedCount = 0
    for (const [index, slot] of this.slots.entries()) {
      const common = this.canReuse && reuses ? this.commonCount(slot, prompt) : 0
      // In a free slot the tokens are already in place; from another slot they must be copied.
      if (common > reusedCount || (common > 0 && common === reusedCount && slot.isFree)) {
        reusedCount = common
        source = index
      }
    }
    // The rest of a slot may be reused too: if that is the larger part, the prefix is copied.
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

  /** The slot now holds the first `count` tokens of its prompt, cut into chunks. */
  computed(index: number, count: number): void {
    const slot = this.slots[index]
    const within = Math.min(count, slot.prompt.length)
    const whole = this.cutsFreely ? within : within - (within % this.chunkSize)
    if (whole > 1) slot.wholeCount = Math.max(slot.wholeCount, whole)
  }

  /** The slot holds `count` tokens, and can be rewound to there. */
  mark(index: number, count: number): void {
    const slot = this.slots[index]
    slot.marks = withMark(slot.marks, count, this.marks)
  }

  /** `isIntact` is false when the row was lost, by a fault of the model. */
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

  /** The model has lost all rows: no prompt can be taken over from a slot any more. */
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
