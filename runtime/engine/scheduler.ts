/**
 * Who runs in the next step: waiting → running → finished, over a fixed set of slots.
 *
 * First come, first served. Every running sequence feeds what its slot lacks: one token while
 * decoding, a few after a forced run, a chunk of the prompt at the start; a draft follows the last
 * of them. A budget of prompt tokens a step keeps long prompts from holding up the others. If the
 * cuts are part of the result's bits, chunks are cut at multiples of their size, whatever the load.
 * If they are not, a sequence that is alone is fed in larger pieces.
 */

import type { Feed, Model } from "../model/model.ts"
import { type Draft, noDraft } from "../speculation/draft.ts"
import { Slots } from "./cache.ts"
import type { Sequence } from "./sequence.ts"

export interface BatchEntry {
  readonly sequence: Sequence
  readonly feed: Feed
  /** The last tokens of the feed, which are not the sequence's yet. */
  readonly draft: Draft
  /** The first of its rows of the step's logits from which a token is drawn; −1: none is. */
  readonly logitsRow: number
  /**
   * The first of its rows for the tokens of the prompt, one for each token of the feed; −1: there
   * are none.
   */
  readonly promptRow: number
  /** The logits have the bits of plain decoding. */
  readonly isPlain: boolean
}

/** A batch that is being put together, and what is left of its budgets. */
interface Step {
  readonly batch: BatchEntry[]
  /** Tokens of prompts. */
  budget: number
  /** Tokens of prompts whose logits are wanted. */
  rowBudget: number
  /** Rows of logits so far. */
  rowCount: number
  /** Nothing else runs or waits. */
  readonly isAlone: boolean
}

/**
 * A prompt is reused in whole chunks if its cuts are part of the bits: of 1,000 tokens that two
 * requests share, 960 are. Chunks of 128 took 0.14 to 0.19 of the first request's time for the
 * second, these 0.07 to 0.11; the first takes 8 to 20 % longer (SmolLM2-135M by optimum's exporter:
 * fp32, 4 and 8 bits).
 */
const chunkSize = 96
/** Prompt tokens computed in one step, over all sequences. */
const promptBudget = 512
/** Those of them whose logits are wanted: each has a row of all columns. */
const promptRowBudget = chunkSize
/**
 * If several tokens of a row are a run of their own, this many cost more than as many places in the
 * steps of all rows: a run of two took 10 ms, a place 3.5 (SmolLM2-135M, 4 bits, eight rows). Alone
 * they are fed so too, for the same bits; that costs a row by itself 6 ms a time.
 */
const fewTokens = 2
/** Some graphs make the logits of every token: the most numbers of a piece beyond a chunk. */
const maxLogits = 2 ** 25

export class Scheduler {
  readonly waiting: Sequence[] = []
  readonly running: Sequence[] = []
  readonly slots: Slots
  /** Prompt tokens of a sequence that is alone, in one step. */
  private readonly aloneSize: number
  /** Up to this many tokens behind others are fed one by one. */
  private readonly fewTokens: number
  /** Answered tokens have the same bits however they are cut. */
  private readonly readsSteps: boolean
  private readonly hasMarks: boolean
  private readonly masks: readonly Uint32Array[]
  /** Where the first feed of a sequence takes its reused tokens from. */
  private readonly copies = new Map<Sequence, number>()
  /** Sequences of which one made the model fail: each runs alone until it has caught up. */
  private readonly suspects = new Set<Sequence>()
  private readonly place: (sequence: Sequence) => void

  /** `place` is called with every sequence that gets a slot. */
  constructor(model: Model, words: number, place: (sequence: Sequence) => void = () => {}) {
    this.place = place
    const { slotCount, canRewind, marks, cutsFreely, joinsFeeds, readsSteps, width } = model
    this.fewTokens = joinsFeeds ? 0 : fewTokens
    this.readsSteps = readsSteps
    this.slots = new Slots(slotCount, chunkSize, { canReuse: canRewind, cutsFreely, marks })
    this.hasMarks = marks > 0
    this.aloneSize = Math.max(chunkSize, Math.min(promptBudget, Math.floor(maxLogits / width)))
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
    this.suspects.delete(sequence)
    if (sequence.slot < 0) return
    this.slots.release(sequence.slot, isIntact)
    sequence.slot = -1
  }

  /**
   * The model failed with these sequences together, and their slots are empty: each is computed
   * again by itself.
   */
  suspect(sequences: readonly Sequence[]): void {
    for (const sequence of sequences) {
      if (sequence.slot < 0) continue
      this.slots.lose(sequence.slot)
      this.copies.delete(sequence)
      sequence.restart()
      this.suspects.add(sequence)
    }
  }

  /** The next batch: admits while slots and budget last, then cuts the feeds. */
  next(): BatchEntry[] {
    const step: Step = {
      batch: [],
      budget: promptBudget,
      rowBudget: promptRowBudget,
      rowCount: 0,
      isAlone: this.running.length + this.waiting.length === 1,
    }
    const [suspect] = this.suspects
    if (suspect) {
      this.feed(suspect, step)
      return step.batch
    }
    for (const sequence of this.running)
      if (!sequence.isLate && !sequence.isDelayed) this.feed(sequence, step)
    // A copy happens with the first feed, so no sequence is admitted whose first feed would have to
    // wait.
    while (this.waiting.length > 0 && step.budget > 0) {
      const sequence = this.waiting[0]
      if ((sequence.wantsPromptRows && step.rowBudget <= 0) || !this.admit(sequence)) break
      this.feed(sequence, step)
    }
    return step.batch
  }

  /** Gives the first waiting sequence a slot. False if there is none. */
  private admit(sequence: Sequence): boolean {
    const placement = this.slots.take(sequence.options.promptIds, { reuses: !sequence.wantsPromptRows })
    if (!placement) return false
    this.waiting.shift()
    this.running.push(sequence)
    sequence.slot = placement.slot
    if (!sequence.options.guide) {
      sequence.ownMask = this.masks[placement.slot]
      sequence.fillFree()
    }
    sequence.cachedCount = placement.reusedCount
    sequence.plainCount = placement.reusedCount
    sequence.reusedCount = placement.reusedCount
    if (placement.copyFrom !== undefined) this.copies.set(sequence, placement.copyFrom)
    this.place(sequence)
    return true
  }

  /** Adds the next feed of a sequence to a step, unless its prompt finds no budget left there. */
  private feed(sequence: Sequence, step: Step): void {
    const { promptCount, cachedCount, tokens } = sequence
    const isPrompt = cachedCount < promptCount
    const wantsRows = isPrompt && sequence.wantsPromptRows
    if (isPrompt && (step.budget <= 0 || (wantsRows && step.rowBudget <= 0))) return
    const end = this.feedEnd(sequence, step.isAlone)
    if (isPrompt) step.budget -= end - cachedCount
    const promptRows = wantsRows ? end - cachedCount : 0
    step.rowBudget -= promptRows
    const isLast = end === tokens.length
    const draft = isLast ? sequence.draft : noDraft
    const plain: Feed = {
      slot: sequence.slot,
      start: cachedCount,
      tokens: [...tokens.slice(cachedCount, end), ...draft.tokens],
      logitsCount: Math.max(promptRows, isLast ? 1 + draft.tokens.length : 0),
      ...(this.readsSteps && !isPrompt && { isStepwise: true }),
      ...(this.hasMarks && isPrompt && end % chunkSize === 0 && { isMarked: true }),
    }
    const copyFrom = this.copies.get(sequence)
    this.copies.delete(sequence)
    step.batch.push({
      sequence,
      feed: copyFrom === undefined ? plain : { ...plain, copyFrom },
      draft,
      // Rows are those of the last tokens of a feed.
      logitsRow: isLast ? step.rowCount + plain.logitsCount - 1 - draft.tokens.length : -1,
      promptRow: promptRows > 0 ? step.rowCount : -1,
      isPlain: this.isPlain(sequence, plain),
    })
    step.rowCount += plain.logitsCount
  }

  /** Where the next feed of a sequence ends. */
  private feedEnd(sequence: Sequence, isAlone: boolean): number {
    const { promptCount, cachedCount, tokens } = sequence
    if (sequence.replays) return this.plainEnd(sequence)
    if (cachedCount >= promptCount) return this.runEnd(cachedCount, tokens.length)
    const size = isAlone && !sequence.wantsPromptRows ? this.aloneSize : chunkSize
    return this.slots.pieceEnd(cachedCount, promptCount, size)
  }

  /** Records a computed feed. Which tokens of its draft are accepted is not known yet. */
  computed({ sequence, feed, draft, isPlain }: BatchEntry): void {
    sequence.cachedCount = feed.start + feed.tokens.length - draft.tokens.length
    if (isPlain) sequence.plainCount = sequence.cachedCount
    if (sequence.slot === feed.slot) {
      this.slots.computed(feed.slot, sequence.cachedCount)
      if (feed.isMarked) this.slots.mark(feed.slot, sequence.cachedCount)
    }
    if (sequence.cachedCount === sequence.tokens.length) this.suspects.delete(sequence)
  }

  /** Whether the slot will hold, and the logits have, the bits of plain decoding. */
  private isPlain(sequence: Sequence, feed: Feed): boolean {
    if (!sequence.options.speculation || (this.readsSteps && feed.start >= sequence.promptCount)) return true
    if (this.slots.cutsFreely && feed.start < sequence.promptCount)
      return feed.start === sequence.plainCount && feed.start + feed.tokens.length <= sequence.promptCount
    return feed.start === sequence.plainCount && feed.start + feed.tokens.length === this.plainEnd(sequence)
  }

  /**
   * Where plain decoding would cut: behind a chunk of the prompt, behind a drawn token, behind a
   * forced run.
   */
  private plainEnd({ cachedCount, promptCount, counts }: Sequence): number {
    if (cachedCount < promptCount) return this.slots.pieceEnd(cachedCount, promptCount)
    if (!counts.isForced(cachedCount)) return cachedCount + 1
    let end = cachedCount + 1
    while (end < counts.length && counts.isForced(end)) end++
    return this.runEnd(cachedCount, end)
  }

  /**
   * The end of a feed of answered tokens that begins at `start`, where those up to `end` are known.
   * Where any cut has the same bits, tokens go together once there are as many of them as rows: a
   * run of n tokens costs about what n places cost in a run of n rows.
   */
  private runEnd(start: number, end: number): number {
    const few = this.readsSteps ? this.running.length - 1 : this.fewTokens
    return end - start <= few ? start + 1 : this.slots.chunkEnd(start, end)
  }
}
