/**
 * One step of all running sequences: draft ▸ schedule ▸ forward in the model's thread ∥ fill masks
 * ▸ sample ▸ accept ▸ emit.
 *
 * This file has the parts that concern the whole batch; `rows.ts` handles the rows that have
 * logits. An error in the work for one sequence ends only that sequence, and the step continues.
 */

import type { GuideHost } from "../guides/guide.ts"
import type { StepLogits } from "../model/logits.ts"
import type { Model } from "../model/model.ts"
import { noDraft } from "../speculation/draft.ts"
import { StepCosts } from "../speculation/draftcost.ts"
import { type DraftWish, legalDraft } from "../speculation/speculation.ts"
import type { Speculator } from "../speculation/speculator.ts"
import type { EngineMetrics } from "./metrics.ts"
import { readPromptRows } from "./promptrows.ts"
import { type Cursor, type RowParts, Rows } from "./rows.ts"
import type { BatchEntry, Scheduler } from "./scheduler.ts"
import type { FinishReason, Sequence } from "./sequence.ts"

export interface StepperParts extends RowParts {
  readonly model: Model
  readonly scheduler: Scheduler
  readonly log: (line: string) => void
}

/**
 * Maximum number of rows for which guides look ahead. Rows with feeds of different lengths need
 * separate runs. With more rows than this, one more column in the run of all rows costs less than
 * such a separate run.
 */
const maxAheadRows = 3

export class Stepper {
  private readonly parts: StepperParts
  private readonly scheduler: Scheduler
  private readonly guides: GuideHost
  private readonly metrics: EngineMetrics
  private readonly rows: Rows
  private speculator: Speculator | null
  private readonly costs = new StepCosts()

  constructor(parts: Omit<StepperParts, "leave">) {
    this.parts = { ...parts, leave: (sequence) => this.leave(sequence) }
    this.scheduler = parts.scheduler
    this.guides = parts.guides
    this.metrics = parts.metrics
    this.speculator = parts.speculator
    this.rows = new Rows(this.parts)
  }

  /** Advances every running sequence by at least one token, or by a chunk of its prompt. */
  async step(): Promise<void> {
    const begunAt = performance.now()
    await this.rows.resume()
    await this.draft()
    const batch = this.scheduler.next()
    // All running sequences wait for late answers of their guides.
    if (batch.length === 0) return this.rows.pause()
    const { ms } = this.metrics
    const startedAt = performance.now()
    const logits = await this.forward(batch)
    const arrivedAt = performance.now()
    ms.forward += arrivedAt - startedAt
    if (!logits) return
    let cursors: readonly Cursor[]
    try {
      for (const entry of batch) this.scheduler.computed(entry)
      for (const entry of batch) if (entry.promptRow >= 0) await this.readPrompt(entry, logits)
      this.rows.outreach = this.outreach()
      cursors = await this.rows.draw(batch, logits, arrivedAt - startedAt)
    } finally {
      logits.release()
    }
    if (batch.some(({ sequence }) => sequence.options.speculation))
      this.countDrafts(batch, cursors, performance.now() - begunAt)
    ms.sample += performance.now() - arrivedAt
    this.metrics.steps++
    this.metrics.lastStepAt = performance.now()
  }

  /**
   * Runs the model while masks are filled. Returns undefined if the model failed on this batch: one
   * of its sequences caused the failure, so each of them is computed again alone. Throws if the
   * model's thread has ended.
   */
  private async forward(batch: readonly BatchEntry[]): Promise<StepLogits | undefined> {
    const { model } = this.parts
    const forward = model.forward(batch.map(({ feed }) => feed))
    const isDone = forward.then(
      () => {},
      () => {},
    )
    try {
      this.guides.prepare(
        batch.flatMap(({ logitsRow, sequence }) => (logitsRow >= 0 ? (sequence.options.guide ?? []) : [])),
      )
      return await forward
    } catch (error) {
      // A run that was started is always awaited.
      await isDone
      if (model.isDead || model.isRestarting) throw error
      this.parts.log(`step failed: ${(error as Error).message}`)
      if (batch.length > 1) this.scheduler.suspect(batch.map(({ sequence }) => sequence))
      else this.fail(batch[0].sequence, error as Error, false)
      return undefined
    }
  }

  /** Reads the log-probabilities of the prompt, which may be all that was requested. */
  private async readPrompt(entry: BatchEntry, logits: StepLogits): Promise<void> {
    const { sequence } = entry
    try {
      await readPromptRows(entry, logits)
      if (sequence.options.maxTokens === 0 && !sequence.wantsPromptRows) this.end(sequence, "length", null)
    } catch (error) {
      this.fail(sequence, error as Error)
    }
  }

  /**
   * Returns how far guides look ahead for the next step: to forced tokens if a separate run for one
   * row pays, and also to guesses if nothing else makes drafts.
   */
  private outreach(): Rows["outreach"] {
    const rows = this.scheduler.running.length
    if (!this.parts.model.readsSteps || rows > maxAheadRows) return "none"
    return this.speculator || this.costs.isStale(rows, this.metrics.steps) ? "forced" : "guesses"
  }

  /**
   * Finds drafts for the next forward. Forced tokens go first: they are no draft, and cost nothing.
   */
  private async draft(): Promise<void> {
    const { speculator } = this
    if (!speculator) return
    const isMeasuring = this.costs.isStale(this.scheduler.running.length, this.metrics.steps)
    const ready = this.scheduler.running.filter((sequence) => {
      sequence.draft = noDraft
      sequence.isDelayed = false
      const { speculation } = sequence.options
      return (
        speculation && !sequence.replays && !sequence.isLate && sequence.cachedCount >= sequence.promptCount
      )
    })
    const known = await this.rows.takeRuns(ready)
    for (const sequence of ready) if (!known.includes(sequence)) this.delay(sequence)
    const wishes = known.flatMap((sequence): DraftWish[] => {
      const count = Math.min(sequence.options.speculation!.next(isMeasuring), sequence.left - 1)
      return count > 0 ? [{ sequence, count }] : []
    })
    if (wishes.length === 0) return
    const startedAt = performance.now()
    try {
      const proposals = await speculator.drafter.propose(wishes, this.guides)
      for (const [index, { sequence, count }] of wishes.entries()) {
        if (sequence.isFinished) continue
        const { tokens, ...rest } = proposals[index]
        const proposal = rest.parents ? proposals[index] : { ...rest, tokens: tokens.slice(0, count) }
        const draft = await legalDraft(sequence, proposal, this.guides)
        if (draft) sequence.draft = draft
        else this.delay(sequence)
      }
    } catch (error) {
      // A draft only saves time, so the answers continue without it.
      this.parts.log(`drafts end: ${(error as Error).message}`)
      this.speculator = null
    }
    this.metrics.ms.draft += performance.now() - startedAt
  }

  /** Makes a sequence wait for its draft: tokens that are judged by ratio depend on the draft. */
  private delay(sequence: Sequence): void {
    sequence.isDelayed = sequence.options.speculation?.verify === "reject"
  }

  /**
   * Records what the step's drafts gained and cost. A step without drafts gives the cost to compare
   * with.
   */
  private countDrafts(batch: readonly BatchEntry[], cursors: readonly Cursor[], elapsedMs: number): void {
    const withDrafts = cursors.filter(({ entry }) => entry.draft.tokens.length > 0)
    // The time of a prompt is the same with and without drafts, so steps with prompts are not
    // compared.
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

  end(sequence: Sequence, reason: FinishReason, stopReason: "complete" | null): void {
    if (sequence.isFinished) return
    sequence.finish(reason, stopReason)
    this.leave(sequence)
  }

  /**
   * Ends a sequence with an error. `isIntact`: whether the contents of its slot are still valid.
   */
  fail(sequence: Sequence, error: Error, isIntact = true): void {
    this.rows.fail(sequence, error, isIntact)
  }

  /** Removes a finished sequence from its slot before the next step. */
  leave(sequence: Sequence, isIntact = true): void {
    this.metrics.finished[sequence.finishReason!]++
    this.metrics.cachedTokens += sequence.reusedCount
    this.scheduler.remove(sequence, isIntact)
    if (sequence.options.guide) this.guides.release(sequence.options.guide)
  }
}
