/**
 * Chooses the sequences that run in the next step: waiting → running → finished, over a fixed set
 * of slots.
 *
 * First come, first served. Every running sequence feeds the tokens that its slot lacks: one token
 * while decoding, a few after a forced run, a chunk of the prompt at the start; a draft follows the
 * last of them. A budget of prompt tokens per step prevents long prompts from holding up the
 * others. If the result's bits depend on the cuts, chunks are cut at multiples of their size,
 * whatever the load. Otherwise, a sequence that is alone is fed in larger pieces.
 */

import type { Feed, Model } from "../model/model.ts"
import { type Draft, noDraft } from "../speculation/draft.ts"
import { Slots } from "./cache.ts"
import type { Sequence } from "./sequence.ts"

export interface BatchEntry {
  readonly sequence: Sequence
  readonly feed: Feed
  /** The last tokens of the feed, which the sequence has not accepted yet. */
  readonly draft: Draft
  /** Index of the first of its logits rows from which a token is drawn; −1 if there is none. */
  readonly logitsRow: number
  /**
   * Index of the first of its logits rows for the tokens of the prompt, one for each token of the
   * feed; −1 if there is none.
   */
  readonly promptRow: number
  /**
   * Whether the logits have the same bits as in plain decoding, which is decoding without drafts.
   */
  readonly isPlain: boolean
}

/** A batch that is being assembled, and the rest of its budgets. */
interface Step {
  readonly batch: BatchEntry[]
  /** Prompt tokens that the step may still take. */
  budget: number
  /** Number of prompt tokens with requested logits that the step may still take. */
  rowBudget: number
  /** Number of logits rows so far. */
  rowCount: number
  /** Whether no other sequence runs or waits. */
  readonly isAlone: boolean
}

/**
 * Tokens of a chunk of a prompt. If the bits depend on the cuts, a prompt is reused in whole
 * chunks: of 1,000 tokens that two requests share, 960 are reused. With chunks of 128 the second
 * request took 0.14 to 0.19 of the first one's time, with these 0.07 to 0.11; the first request
 * takes 8 to 20 % longer (SmolLM2-135M by optimum's exporter: fp32, 4 and 8 bits).
 */
const chunkSize = 96
/** Maximum prompt tokens computed in one step, over all sequences. */
const promptBudget = 512
/** Maximum number of prompt tokens with requested logits: each of them has a row of all columns. */
const promptRowBudget = chunkSize
/**
 * Maximum tokens that a row feeds one by one. If more tokens are fed together, the row needs a
 * separate run; for few tokens that run costs more than one column for each of them in the runs of
 * all rows: a run of two tokens took 10 ms, a column 3.5 (SmolLM2-135M, 4 bits, eight rows). A
 * sequence that is alone is also fed one by one, so that it gets the same bits; that costs it 6 ms
 * each time.
 */
const fewTokens = 2
/**
 * Maximum number of logits of a piece that is longer than a chunk: some graphs compute the logits
 * of every token.
 */
const maxLogits = 2 ** 25

export class Scheduler {
  readonly waiting: Sequence[] = []
  readonly running: Sequence[] = []
  readonly slots: Slots
  /** Prompt tokens per step of a sequence that is alone. */
  private readonly aloneSize: number
  /** Maximum tokens that are fed one by one, after the prompt. */
  private readonly fewTokens: number
  /** Whether tokens after the prompt have the same bits however they are cut. */
  private readonly readsSteps: boolean
  private readonly hasMarks: boolean
  private readonly masks: readonly Uint32Array[]
  /** The slot from which the first feed of a sequence copies its reused tokens. */
  private readonly copies = new Map<Sequence, number>()
  /** Sequences that ran when the model failed: each runs alone until it has caught up. */
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

  /** Adds the sequences of one request. Those of the background stay behind all others. */
  add(sequences: readonly Sequence[]): void {
    const isLast = sequences[0]?.options.isBackground ?? false
    const at = isLast ? -1 : this.waiting.findIndex(({ options }) => options.isBackground)
    this.waiting.splice(at < 0 ? this.waiting.length : at, 0, ...sequences)
  }

  /** Removes a finished sequence and frees its slot; does nothing if the sequence is not here. */
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
   * Handles a failure of the model with these sequences together: their slots are empty, and each
   * sequence is computed again alone.
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

  /** Returns the next batch: admits sequences while slots and budget last, then cuts the feeds. */
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
    // A copy happens with the first feed. So a sequence is only admitted if its first feed fits
    // into this step.
    while (this.waiting.length > 0 && step.budget > 0) {
      const sequence = this.waiting[0]
      if ((sequence.wantsPromptRows && step.rowBudget <= 0) || !this.admit(sequence)) break
      this.feed(sequence, step)
    }
    return step.batch
  }

  /** Gives the first waiting sequence a slot. Returns false if none is free. */
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

  /**
   * Adds the next feed of a sequence to a step, unless the step has too little budget left for its
   * prompt.
   */
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
      // The logits rows of a feed belong to its last tokens.
      logitsRow: isLast ? step.rowCount + plain.logitsCount - 1 - draft.tokens.length : -1,
      promptRow: promptRows > 0 ? step.rowCount : -1,
      isPlain: this.isPlain(sequence, plain),
    })
    step.rowCount += plain.logitsCount
  }

  /** Returns the end of the next feed of a sequence. */
  private feedEnd(sequence: Sequence, isAlone: boolean): number {
    const { promptCount, cachedCount, tokens } = sequence
    if (sequence.replays) return this.plainEnd(sequence)
    if (cachedCount >= promptCount) return this.runEnd(cachedCount, tokens.length)
    const size = isAlone && !sequence.wantsPromptRows ? this.aloneSize : chunkSize
    return this.slots.pieceEnd(cachedCount, promptCount, size)
  }

  /** Records a computed feed. It is not yet known which tokens of its draft will be accepted. */
  computed({ sequence, feed, draft, isPlain }: BatchEntry): void {
    sequence.cachedCount = feed.start + feed.tokens.length - draft.tokens.length
    if (isPlain) sequence.plainCount = sequence.cachedCount
    if (sequence.slot === feed.slot) {
      this.slots.computed(feed.slot, sequence.cachedCount)
      if (feed.isMarked) this.slots.mark(feed.slot, sequence.cachedCount)
    }
    if (sequence.cachedCount === sequence.tokens.length) this.suspects.delete(sequence)
  }

  /** Returns whether the slot and the logits will have the bits of plain decoding. */
  private isPlain(sequence: Sequence, feed: Feed): boolean {
    if (!sequence.options.speculation || (this.readsSteps && feed.start >= sequence.promptCount)) return true
    if (this.slots.cutsFreely && feed.start < sequence.promptCount)
      return feed.start === sequence.plainCount && feed.start + feed.tokens.length <= sequence.promptCount
    return feed.start === sequence.plainCount && feed.start + feed.tokens.length === this.plainEnd(sequence)
  }

  /**
   * Returns where plain decoding would cut: after a chunk of the prompt, after a drawn token, or
   * after a forced run.
   */
  private plainEnd({ cachedCount, promptCount, counts }: Sequence): number {
    if (cachedCount < promptCount) return this.slots.pieceEnd(cachedCount, promptCount)
    if (!counts.isForced(cachedCount)) return cachedCount + 1
    let end = cachedCount + 1
    while (end < counts.length && counts.isForced(end)) end++
    return this.runEnd(cachedCount, end)
  }

  /**
   * Returns the end of a feed that begins at `start`, after the prompt, if the tokens up to `end`
   * are known. If any cut gives the same bits, tokens are fed together once there are as many of
   * them as rows: a run of n tokens costs about as much as n columns in a run of n rows.
   */
  private runEnd(start: number, end: number): number {
    const few = this.readsSteps ? this.running.length - 1 : this.fewTokens
    return end - start <= few ? start + 1 : this.slots.chunkEnd(start, end)
  }
}
