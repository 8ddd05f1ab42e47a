/**
 * One step of all running sequences: draft ▸ schedule ▸ forward in the worker ∥ fill masks here ▸ sample ▸ accept ▸ emit.
 *
 * A row whose mask has one bit is not sampled, nor one whose bytes are forced (`mask/forced.ts`): its token is taken while
 * the model still runs, and so are the forced ones behind it; they go into the next step as one feed. With a draft the
 * last three are repeated along it, while the tokens taken are those drafted.
 */

import { onlyToken } from "../mask/bits.ts"
import type { Vocabulary } from "../mask/vocabulary.ts"
import { needsLogits } from "../sampler/cpu.ts"
import type { SampleResult, Sampler } from "../sampler/index.ts"
import { describeForced } from "../sampler/logprobs.ts"
import { noDraft } from "./draft.ts"
import { StepCosts } from "./draftcost.ts"
import { type DrawRow, drawTokens } from "./drawing.ts"
import type { EngineMetrics } from "./metrics.ts"
import type { Model } from "./model.ts"
import type { BatchEntry, Scheduler } from "./scheduler.ts"
import { isLegal, type Sequence } from "./sequence.ts"
import { type DraftWish, isPermitted, legalDraft } from "./speculation.ts"
import type { Speculator } from "./speculator.ts"

export interface StepperParts {
  readonly model: Model
  readonly sampler: Sampler
  readonly vocabulary: Vocabulary
  readonly scheduler: Scheduler
  readonly metrics: EngineMetrics
  /** Null: no drafts. */
  readonly speculator: Speculator | null
  readonly log: (line: string) => void
}

/** A row being drawn: how much of its draft has been taken, and how much of that was proposed. */
interface Cursor {
  readonly entry: BatchEntry
  taken: number
  accepted: number
  /** The logits could not tell: no token came of the row. */
  isRepeated: boolean
}

export class Stepper {
  private readonly parts: StepperParts
  private readonly scheduler: Scheduler
  private readonly metrics: EngineMetrics
  private readonly vocabulary: Vocabulary
  private speculator: Speculator | null
  private readonly costs = new StepCosts()
  /** For masks along a draft. Shape [W]. */
  private readonly scratchMask: Uint32Array

  constructor(parts: StepperParts) {
    this.parts = parts
    this.scheduler = parts.scheduler
    this.metrics = parts.metrics
    this.vocabulary = parts.vocabulary
    this.speculator = parts.speculator
    this.scratchMask = new Uint32Array(parts.vocabulary.words)
  }

  /** How far logits may lie from those of plain decoding; a GPU's sampler rounds its scores besides. */
  private get rounding(): number {
    const { speculator, sampler } = this.parts
    return (speculator?.rounding ?? 0) + (sampler.name === "gpu" ? 2e-4 : 0)
  }

  /** Advances every running sequence by at least one token, or by a chunk of its prompt. */
  async step(): Promise<void> {
    const begunAt = performance.now()
    await this.draft()
    const batch = this.scheduler.next()
    if (batch.length === 0) return
    const { ms } = this.metrics
    const startedAt = performance.now()
    const forward = this.parts.model.forward(batch.map(({ feed }) => feed))
    const drawn = this.fillMasks(batch)
    const filledAt = performance.now()
    const logits = await forward
    const arrivedAt = performance.now()
    ms.forward += arrivedAt - startedAt
    ms.maskWait += Math.max(0, filledAt - this.parts.model.answeredAt)
    for (const entry of batch) this.scheduler.computed(entry)
    const cursors = await this.draw(logits, drawn)
    if (this.speculator) this.countDrafts(batch, cursors, performance.now() - begunAt)
    ms.sample += performance.now() - arrivedAt
    this.metrics.steps++
    this.metrics.lastStepAt = performance.now()
  }

  /** Tokens that the next forward may run ahead with. Forced ones go first: they are no draft, and cost nothing. */
  private async draft(): Promise<void> {
    const { speculator } = this
    if (!speculator) return
    const wishes: DraftWish[] = []
    const isMeasuring = this.costs.isStale(this.scheduler.running.length, this.metrics.steps)
    for (const sequence of [...this.scheduler.running]) {
      sequence.draft = noDraft
      const { speculation } = sequence.options
      if (!speculation || sequence.replays || sequence.cachedCount < sequence.promptCount) continue
      this.takeRun(sequence)
      if (sequence.isFinished) continue
      const count = Math.min(speculation.next(isMeasuring), sequence.left - 1)
      if (count > 0) wishes.push({ sequence, count })
    }
    if (wishes.length === 0) return
    const startedAt = performance.now()
    try {
      const proposals = await speculator.drafter.propose(wishes)
      for (const [index, { sequence, count }] of wishes.entries()) {
        if (sequence.isFinished) continue
        const { tokens, ...rest } = proposals[index]
        const proposal = rest.parents ? proposals[index] : { ...rest, tokens: tokens.slice(0, count) }
        sequence.draft = legalDraft(sequence, proposal, this.scratchMask)
      }
    } catch (error) {
      // A draft only saves time: the answers go on without.
      this.parts.log(`drafts end: ${(error as Error).message}`)
      this.speculator = null
    }
    this.metrics.ms.draft += performance.now() - startedAt
  }

  /** Draws the rows, and those behind them for as long as what is taken is what was drafted. */
  private async draw(logits: Float32Array, entries: readonly BatchEntry[]): Promise<readonly Cursor[]> {
    const { sampler } = this.parts
    const step = { logits, width: this.vocabulary.width, rounding: this.rounding }
    const cursors = entries.map((entry): Cursor => ({ entry, taken: 0, accepted: 0, isRepeated: false }))
    for (let rest = cursors; rest.length > 0; ) {
      rest = rest.filter(({ entry }) => !entry.sequence.isFinished)
      const results = await drawTokens(sampler, step, rest.map(toDrawRow))
      rest = rest.filter((cursor, index) => this.advance(cursor, results[index]))
    }
    return cursors
  }

  /** Takes what was drawn; whether there are logits for the token after it. */
  private advance(cursor: Cursor, result: SampleResult | undefined): boolean {
    const { sequence, draft } = cursor.entry
    if (sequence.isFinished) return false
    if (!result) {
      this.metrics.replays++
      cursor.isRepeated = true
      sequence.rewind()
      return false
    }
    sequence.replays = false
    const before = sequence.tokens.length
    this.take(sequence, result)
    if (sequence.tokens[before] === draft.tokens[cursor.taken]) cursor.accepted++
    sequence.isHeld = true
    const goesOn = this.takeDrafted(cursor, before)
    // A forced run may be longer than the draft.
    if (cursor.taken > 0 && !goesOn) this.takeRun(sequence)
    sequence.release()
    return goesOn
  }

  /** Follows the draft from the token at `at` on, through what is forced; whether it has logits for a token to be drawn. */
  private takeDrafted(cursor: Cursor, at: number): boolean {
    const { sequence, draft } = cursor.entry
    for (; !sequence.isFinished && sequence.tokens[at] === draft.tokens[cursor.taken]; at++) {
      cursor.taken++
      sequence.cachedCount++
      if (!this.isForced(sequence)) return true
      this.takeForced(sequence)
    }
    return false
  }

  /** What came of the step's drafts, and what they cost; a step without them tells what that costs. */
  private countDrafts(batch: readonly BatchEntry[], cursors: readonly Cursor[], elapsedMs: number): void {
    const withDrafts = cursors.filter(({ entry }) => entry.draft.tokens.length > 0)
    // Prompts cost what they cost with drafts and without.
    const isComparable = batch.every(({ sequence, feed }) => feed.start >= sequence.promptCount)
    if (isComparable && withDrafts.length === 0) {
      this.costs.observe(batch.length, elapsedMs, this.metrics.steps)
    }
    const extra = isComparable ? this.costs.extraTokens(batch.length, elapsedMs) : undefined
    const share = extra === undefined ? undefined : extra / withDrafts.length
    for (const { entry, accepted, isRepeated } of withDrafts) {
      const { sequence, draft } = entry
      const drafted = draft.forced.filter((isForced) => !isForced).length
      sequence.draftedCount += drafted
      sequence.acceptedCount += accepted
      this.metrics.draftedTokens += drafted
      this.metrics.acceptedTokens += accepted
      sequence.options.speculation?.record(drafted, accepted - Number(isRepeated), share)
    }
  }

  /** Masks of the rows that will have logits, while the worker runs; returns the entries that must be sampled. */
  private fillMasks(batch: readonly BatchEntry[]): BatchEntry[] {
    const drawn: BatchEntry[] = []
    for (const entry of batch) {
      if (entry.feed.logitsCount === 0) continue
      const { sequence } = entry
      const before = sequence.tokens.length
      this.takeRun(sequence)
      // After a forced run the row's logits are stale: the run goes through the model first.
      if (sequence.tokens.length === before) drawn.push(entry)
    }
    return drawn
  }

  /** Whether the next token is forced and needs no look at the logits. Fills the mask. */
  private isForced(sequence: Sequence): boolean {
    const { params } = sequence.options
    return (
      this.fillMask(sequence) === "single" &&
      !needsLogits(params) &&
      isPermitted(params, onlyToken(sequence.mask!))
    )
  }

  private fillMask(sequence: Sequence): string {
    if (sequence.isMaskFilled) return "masked"
    const start = performance.now()
    const kind = sequence.fillMask()
    const elapsed = performance.now() - start
    this.metrics.ms.mask += elapsed
    if (sequence.options.matcher) sequence.maskUs.push(1000 * elapsed)
    return kind
  }

  /** Takes what is forced, as one event. */
  private takeRun(sequence: Sequence): void {
    sequence.isHeld = true
    while (!sequence.isFinished && this.isForced(sequence)) this.takeForced(sequence)
    sequence.release()
  }

  private takeForced(sequence: Sequence): void {
    const token = onlyToken(sequence.mask!)
    sequence.forcedCount++
    this.metrics.forcedTokens++
    const { params } = sequence.options
    if (sequence.outputCount < params.minTokens && params.endIds.includes(token)) {
      sequence.lifted.add("min_tokens")
    }
    this.accept(sequence, token, params.logprobs === null ? undefined : describeForced(token, params), true)
    if (sequence.isFinished) this.leave(sequence)
  }

  /** What was drawn, after the check that no sampler is trusted without: one bit. */
  private take(sequence: Sequence, result: SampleResult): void {
    if (sequence.isFinished) return
    if (result.status !== "ok") {
      const what =
        result.status === "empty_mask" ? "no token is left to choose" : "the model's logits are not numbers"
      this.end(sequence, "error", null, `${result.status}: ${what}`)
    } else if (!isLegal(sequence.mask!, result.token)) {
      this.metrics.maskViolations++
      this.end(
        sequence,
        "error",
        null,
        `internal: the sampler drew token ${result.token}, which the mask denies`,
      )
    } else {
      for (const param of result.relaxed ?? []) sequence.lifted.add(param)
      this.accept(sequence, result.token, result.logprobs)
      if (sequence.isFinished) this.leave(sequence)
    }
  }

  private accept(
    sequence: Sequence,
    token: number,
    logprobs: SampleResult["logprobs"],
    isForced = false,
  ): void {
    const start = performance.now()
    sequence.accept(token, logprobs, isForced)
    sequence.options.speculation?.advance()
    this.metrics.ms.accept += performance.now() - start
    this.metrics.completionTokens++
  }

  end(
    sequence: Sequence,
    reason: "stop" | "abort" | "error",
    stopReason: "complete" | null,
    message?: string,
  ): void {
    if (sequence.isFinished) return
    sequence.finish(reason, stopReason, message)
    this.leave(sequence)
  }

  /** A finished sequence leaves its slot; the next step begins without it. */
  leave(sequence: Sequence, isIntact = true): void {
    this.metrics.finished[sequence.finishReason!]++
    this.metrics.cachedTokens += sequence.reusedCount
    this.scheduler.remove(sequence, isIntact)
  }
}

function toDrawRow({ entry, taken }: Cursor): DrawRow {
  const { sequence, draft, logitsRow, isPlain } = entry
  const isJudged = sequence.options.speculation?.verify === "reject"
  const token = draft.tokens[taken]
  return {
    sequence,
    logitsRow: logitsRow + taken,
    isPlain: isPlain || isJudged,
    judged: isJudged && token !== undefined ? { token, law: draft.laws[taken] } : undefined,
  }
}
