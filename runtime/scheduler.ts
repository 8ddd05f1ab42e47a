/**
 * Who runs in the next step: waiting → running → finished, over a fixed set of slots.
 *
 * First come, first served. Every running sequence feeds what its slot lacks: one token while decoding, a few after a
 * forced run, a chunk of the prompt at the start. A budget of prompt tokens a step keeps long prompts from holding up
 * the others. Chunks are cut at multiples of their size, whatever the load: the cuts are part of the result's bits.
 */

import { Slots } from "./cache.ts"
import type { Feed, Model } from "./model.ts"
import type { Sequence } from "./sequence.ts"

export interface BatchEntry {
  readonly sequence: Sequence
  readonly feed: Feed
}

const chunkSize = 128
/** Prompt tokens computed in one step, over all sequences. */
const promptBudget = 512

export class Scheduler {
  readonly waiting: Sequence[] = []
  readonly running: Sequence[] = []
  readonly slots: Slots
  private readonly masks: readonly Uint32Array[]
  /** Where the first feed of a sequence takes its reused tokens from. */
  private readonly copies = new Map<Sequence, number>()

  constructor(model: Model, words: number) {
    this.slots = new Slots(model.slotCount, chunkSize, model.canRewind)
    const rows = new Uint32Array(model.slotCount * words)
    this.masks = Array.from({ length: model.slotCount }, (_, slot) =>
      rows.subarray(slot * words, (slot + 1) * words),
    )
  }

  get hasWork(): boolean {
    return this.waiting.length + this.running.length > 0
  }

  add(sequences: readonly Sequence[]): void {
    this.waiting.push(...sequences)
  }

  /** Takes a finished sequence out and frees its slot; nothing happens if it is not here. */
  remove(sequence: Sequence, isIntact = true): void {
    for (const list of [this.waiting, this.running]) {
      const at = list.indexOf(sequence)
      if (at >= 0) list.splice(at, 1)
    }
    this.copies.delete(sequence)
    if (sequence.slot < 0) return
    this.slots.release(sequence.slot, isIntact)
    sequence.slot = -1
    sequence.mask = undefined
  }

  /** The next batch: admits while slots and budget last, then cuts the feeds. */
  next(): BatchEntry[] {
    const batch: BatchEntry[] = []
    let budget = promptBudget
    const feed = (sequence: Sequence): void => {
      const { promptCount, cachedCount, tokens } = sequence
      const isPrompt = cachedCount < promptCount
      const end = this.slots.chunkEnd(cachedCount, isPrompt ? promptCount : tokens.length)
      if (isPrompt) {
        if (budget <= 0) return
        budget -= end - cachedCount
      }
      const copyFrom = this.copies.get(sequence)
      this.copies.delete(sequence)
      const wanted = { tokens: tokens.slice(cachedCount, end), wantsLogits: end === tokens.length }
      const plain: Feed = { slot: sequence.slot, start: cachedCount, ...wanted }
      batch.push({ sequence, feed: copyFrom === undefined ? plain : { ...plain, copyFrom } })
    }
    for (const sequence of this.running) feed(sequence)
    // A copy happens with the first feed, so nobody is admitted whose first feed would have to wait.
    while (this.waiting.length > 0 && budget > 0) {
      const sequence = this.waiting[0]
      const placement = this.slots.take(sequence.options.promptIds)
      if (!placement) break
      this.waiting.shift()
      this.running.push(sequence)
      sequence.slot = placement.slot
      sequence.mask = this.masks[placement.slot]
      sequence.cachedCount = placement.reusedCount
      sequence.reusedCount = placement.reusedCount
      if (placement.copyFrom !== undefined) this.copies.set(sequence, placement.copyFrom)
      feed(sequence)
    }
    return batch
  }

  /** The model has computed a feed. */
  computed({ sequence, feed }: BatchEntry): void {
    sequence.cachedCount = feed.start + feed.tokens.length
    if (sequence.slot === feed.slot) this.slots.computed(feed.slot, sequence.cachedCount)
  }
}
