/**
 * Slots: which sequence holds which row of the model's cache, and which prompts can be taken over from it.
 *
 * A slot remembers the prompt it was filled with after its sequence has left, so that a later prompt with the same
 * beginning skips that part. Only whole chunks of a prompt are reused: they were computed by themselves, from the same
 * cuts, so their keys have the bits that the later request would have computed, and its tokens do not depend on luck.
 */

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
  /** Order of release: the slot that was left longest ago is taken first. */
  releasedAt: number
}

export class Slots {
  readonly chunkSize: number
  private readonly canReuse: boolean
  private readonly slots: Slot[]
  private releaseCount = 0

  constructor(count: number, chunkSize: number, canReuse: boolean) {
    this.chunkSize = chunkSize
    this.canReuse = canReuse
    this.slots = Array.from({ length: count }, () => ({
      isFree: true,
      prompt: [],
      wholeCount: 0,
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

  /** Takes a free slot for this prompt; undefined when there is none. Without `reuses` all of it will be computed. */
  take(prompt: readonly number[], { reuses = true } = {}): Placement | undefined {
    let best = -1
    let source = -1
    let reusedCount = 0
    for (const [index, slot] of this.slots.entries()) {
      const common = this.canReuse && reuses ? this.commonCount(slot, prompt) : 0
      // In a free slot the tokens are in place already; elsewhere they cost a copy.
      if (common > reusedCount || (common > 0 && common === reusedCount && slot.isFree)) {
        reusedCount = common
        source = index
      }
    }
    if (source >= 0 && this.slots[source].isFree) best = source
    else {
      for (const [index, slot] of this.slots.entries()) {
        if (slot.isFree && (best < 0 || slot.releasedAt < this.slots[best].releasedAt)) best = index
      }
    }
    if (best < 0) return undefined
    const slot = this.slots[best]
    slot.isFree = false
    slot.prompt = prompt
    slot.wholeCount = reusedCount
    return { slot: best, reusedCount, copyFrom: reusedCount > 0 && source !== best ? source : undefined }
  }

  /** The slot now holds the first `count` tokens of its prompt, cut into chunks. */
  computed(index: number, count: number): void {
    const slot = this.slots[index]
    const within = Math.min(count, slot.prompt.length)
    slot.wholeCount = Math.max(slot.wholeCount, within - (within % this.chunkSize))
  }

  /** `isIntact` is false when the row was lost, by a fault of the model. */
  release(index: number, isIntact = true): void {
    const slot = this.slots[index]
    slot.isFree = true
    slot.releasedAt = ++this.releaseCount
    if (!isIntact) slot.wholeCount = 0
  }

  /** What the slot held is gone; it stays taken. */
  lose(index: number): void {
    this.slots[index].wholeCount = 0
  }

  /** The model has lost all rows: no prompt can be taken over from a slot any more. */
  forget(): void {
    for (const slot of this.slots) slot.wholeCount = 0
  }

  /** Whole chunks that both prompts begin with; at least one token is left to compute, for its logits. */
  private commonCount(slot: Slot, prompt: readonly number[]): number {
    const bound = Math.min(slot.wholeCount, prompt.length - 1)
    let count = 0
    while (count < bound && slot.prompt[count] === prompt[count]) count++
    return count - (count % this.chunkSize)
  }
}
