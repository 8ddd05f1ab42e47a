/**
 * Processes the rows of a step that have logits: mask ▸ sample ▸ accept ▸ emit. If a row has a
 * draft, this repeats for as long as the accepted tokens are the drafted ones.
 *
 * A row is not sampled if its mask has one bit or its bytes are forced (`mask/prompt/forced.ts`).
 * Forced tokens are accepted as one event and go into the next step as one feed. If few rows run
 * and cutting a feed anywhere gives the same bits, the feed also contains the drawn token before
 * the forced ones and guesses of what follows. If the answer of a row's guide is late, the row is
 * set aside with its logits: the others continue, and it rejoins them when the answer arrives. A
 * failure ends only its own sequence.
 */

import type { Vocabulary } from "../../mask/vocabulary.ts"
import { effectOf, type MaskEffect } from "../../sampler/effect.ts"
import type { SampleResult, Sampler } from "../../sampler/index.ts"
import { certaintyOf, describeForced } from "../../sampler/logprobs.ts"
import { overruledBans } from "../../sampler/penalties.ts"
import { RequestError } from "../errors.ts"
import type { Certainty } from "../fields/certainty.ts"
import { type Awaited, type GuideHost, hasArrived } from "../guides/guide.ts"
import { isMisfit, type Misfit, type Outlook, type RunStep, type Verdict } from "../guides/walk.ts"
import type { StepLogits } from "../model/logits.ts"
import { draftFrom, guessedDraft, noDraft } from "../speculation/draft.ts"
import type { Speculator } from "../speculation/speculator.ts"
import { type DrawRow, drawTokens } from "./drawing.ts"
import type { EngineMetrics } from "./metrics.ts"
import type { BatchEntry } from "./scheduler.ts"
import { isLegal, type Sequence } from "./sequence.ts"
import { forbiddenFirst, type TokenTrace } from "./trace.ts"
import { Turns, turn } from "./turns.ts"

export interface RowParts {
  readonly sampler: Sampler
  readonly vocabulary: Vocabulary
  readonly guides: GuideHost
  readonly metrics: EngineMetrics
  /** Null if the only drafts are the guesses of guides. */
  readonly speculator: Speculator | null
  /** Called when a sequence has finished. */
  readonly leave: (sequence: Sequence, isIntact?: boolean) => void
}

/**
 * The progress of a row in a step: how many tokens of its draft have been accepted, and how many of
 * those were proposed.
 */
export interface Cursor {
  readonly entry: BatchEntry
  /** Logits of the batch. */
  readonly logits: StepLogits
  /** The drawn token, while it waits for its verdict. */
  result: (SampleResult & { status: "ok" }) | undefined
  /** How sure the model was of the drawn token, if requested. */
  certainty: Certainty | undefined
  /** What the mask did to the row of the drawn token, if a trace is requested. */
  effect: MaskEffect | null
  redraws: number
  taken: number
  accepted: number
  /**
   * performance.now() when a row that was set aside began to wait for its mask; 0 if it does not
   * wait.
   */
  waitsSince: number
  /** Whether the logits could not decide, so that the row gave no token. */
  isRepeated: boolean
}

/**
 * Bounds of the time that a step waits for the slowest of its guides. It is a share of the
 * forward's time, because a row that is set aside misses the next forward.
 */
const lateShare = 0.25
const minLateMs = 4
const maxLateMs = 15
/** Maximum time between two checks if nothing else runs. */
const pauseMs = 50
/** Maximum forbidden draws before the planned completion is written. */
const maxRedraws = { budget: 8, words: 64 }

export class Rows {
  private readonly parts: RowParts
  private readonly guides: GuideHost
  private readonly metrics: EngineMetrics
  /**
   * How far guides look ahead in this step: not at all, to the tokens that are forced after a drawn
   * token, or also to guesses after those.
   */
  outreach: "none" | "forced" | "guesses" = "none"
  private late: Cursor[] = []
  private lateMs = minLateMs

  constructor(parts: RowParts) {
    this.parts = parts
    this.guides = parts.guides
    this.metrics = parts.metrics
  }

  /**
   * Draws tokens for the rows of a batch that have logits, and then for the following rows of their
   * drafts. `forwardMs`: the time that computing the logits took.
   */
  async draw(
    batch: readonly BatchEntry[],
    logits: StepLogits,
    forwardMs: number,
  ): Promise<readonly Cursor[]> {
    this.lateMs = Math.min(maxLateMs, Math.max(minLateMs, lateShare * forwardMs))
    const entries = batch.filter(({ logitsRow, sequence }) => logitsRow >= 0 && !sequence.isFinished)
    const cursors = entries.map((entry) => makeCursor(entry, logits))
    // The entries keep the drafts of this step, so drafts made from now on are for the next one.
    for (const { sequence } of entries) sequence.draft = noDraft
    await this.advance(cursors)
    return cursors
  }

  /** Continues the rows that were set aside and now have their answers. */
  async resume(): Promise<void> {
    const ready = this.late.filter(({ entry }) => {
      const { guide } = entry.sequence.options
      return entry.sequence.isFinished || hasArrived(guide!, awaited(entry.sequence))
    })
    if (ready.length === 0) return
    this.late = this.late.filter((cursor) => !ready.includes(cursor))
    for (const { entry } of ready) entry.sequence.isLate = false
    try {
      await this.advance(ready)
    } finally {
      for (const { logits } of ready) logits.release()
    }
  }

  /** Waits for one of the rows that were set aside. */
  async pause(): Promise<void> {
    const waits = this.late.map(({ entry: { sequence } }) =>
      this.guides.arrived([sequence.options.guide!], awaited(sequence), pauseMs),
    )
    if (waits.length > 0) await Promise.race(waits)
    else await turn()
  }

  /**
   * Accepts the tokens that are forced next in these sequences. Returns the sequences whose outlook
   * is known and that have not finished.
   */
  async takeRuns(sequences: readonly Sequence[]): Promise<readonly Sequence[]> {
    const { known } = await this.lookAll(sequences)
    return known.filter((sequence) => !sequence.isFinished)
  }

  fail(sequence: Sequence, error: Error, isIntact = true): void {
    if (sequence.isFinished) return
    try {
      sequence.finish("error", null, error.message, error)
    } finally {
      this.parts.leave(sequence, isIntact)
    }
  }

  private async advance(cursors: readonly Cursor[]): Promise<void> {
    for (let rest = cursors; rest.length > 0; ) {
      // Rows that rejoin may have been drawn already.
      const drawn = rest.filter(({ result }) => result)
      const ready = await this.withMasks(rest.filter(({ result }) => !result))
      rest = await this.settle([...drawn, ...(await this.sample(ready))])
    }
  }

  /**
   * Accepts forced tokens. Returns the rows whose mask is available and whose logits can still be
   * used.
   */
  private async withMasks(cursors: readonly Cursor[]): Promise<readonly Cursor[]> {
    const running = cursors.filter(({ entry }) => !entry.sequence.isFinished)
    const before = new Map(running.map(({ entry: { sequence } }) => [sequence, sequence.tokens.length]))
    const startedAt = performance.now()
    const { late } = await this.lookAll(running.map(({ entry }) => entry.sequence))
    const endedAt = performance.now()
    this.metrics.ms.maskWait += endedAt - startedAt
    return running.filter((cursor) => {
      const { sequence } = cursor.entry
      const start = before.get(sequence)!
      const since = cursor.waitsSince || startedAt
      cursor.waitsSince = late.includes(sequence) ? since : 0
      if (sequence.options.isConstrained && !cursor.waitsSince) {
        this.metrics.seconds.maskWait.observe((endedAt - since) / 1000)
      }
      if (cursor.waitsSince) this.setAside(cursor)
      else if (!sequence.isFinished) return sequence.tokens.length === start || this.follow(cursor, start)
      return false
    })
  }

  /** Waits for the outlooks of sequences, and accepts the forced runs that they begin with. */
  private async lookAll(
    sequences: readonly Sequence[],
  ): Promise<{ known: readonly Sequence[]; late: readonly Sequence[] }> {
    const late: Sequence[] = []
    let missing = sequences.filter(({ options, outlook }) => options.guide && !outlook)
    for (
      ;
      missing.length > 0;
      missing = missing.filter((sequence) => !late.includes(sequence) && isCut(sequence))
    ) {
      await this.guides.arrived(
        missing.map(({ options }) => options.guide!),
        "outlook",
        this.lateMs,
      )
      for (const sequence of missing) {
        const { guide } = sequence.options
        if (sequence.isFinished) continue
        this.confirm(sequence)
        if (guide!.failure) this.fail(sequence, guide!.failure)
        else if (guide!.outlook) this.takeRun(sequence, guide!.outlook)
        else late.push(sequence)
      }
      this.guides.flush()
    }
    return { known: sequences.filter((sequence) => !late.includes(sequence)), late }
  }

  /** Handles the verdict on a token that was accepted before its verdict arrived. */
  private confirm(sequence: Sequence): void {
    const guide = sequence.options.guide!
    const { verdict } = guide
    if (!sequence.isPresumed || !verdict) return
    sequence.isPresumed = false
    guide.verdict = undefined
    if (isMisfit(verdict) || verdict.isAccepting) {
      guide.failure = new Error("internal: a text was complete earlier than its outlook allowed")
    } else if (verdict.acceptUs !== undefined) sequence.acceptUs.push(verdict.acceptUs)
  }

  /** Accepts the forced run, as one event. If the run was cut, requests the next outlook. */
  private takeRun(sequence: Sequence, outlook: Outlook): void {
    const { guide } = sequence.options
    this.alone(sequence, () => {
      if (sequence.options.isConstrained) {
        for (const us of outlook.fillUs) {
          this.metrics.ms.mask += us / 1000
          this.metrics.seconds.mask.observe(us / 1e6)
        }
        sequence.maskUs.push(...outlook.fillUs)
        sequence.lastMaskUs = outlook.fillUs.at(-1) ?? null
      }
      this.takeSteps(sequence, outlook.run)
      if (outlook.isCut) this.guides.look(guide!)
      else sequence.outlook = outlook
    })
  }

  private takeSteps(sequence: Sequence, run: readonly RunStep[]): void {
    sequence.isHeld = true
    for (const step of run) if (!sequence.isFinished) this.takeForced(sequence, step.token, step)
    sequence.release()
  }

  private takeForced(sequence: Sequence, token: number, verdict: Verdict): void {
    const first = sequence.options.firstTokens?.[sequence.outputCount]
    if (first !== undefined && first !== token) throw forbiddenFirst(sequence.outputCount, first, token)
    sequence.forcedCount++
    this.metrics.forcedTokens++
    const { params, choice } = sequence.options
    const { counts, mask, tokens } = sequence
    const row = { logitsRow: 0, params, mask, tokens: counts, position: tokens.length, choice }
    for (const param of overruledBans(row, token)) sequence.lifted.add(param)
    const logprobs = params.logprobs === null ? undefined : describeForced(token, params)
    const kind = first !== undefined ? "given" : sequence.hasClosed ? "closing" : "forced"
    sequence.traces?.push({ token, kind, effect: null, maskUs: null })
    this.accept(sequence, token, { logprobs, verdict, isForced: true })
  }

  /**
   * Moves along the draft from the token at `at` on. Returns whether there are logits for the token
   * after the last one.
   */
  private follow(cursor: Cursor, at: number): boolean {
    const { sequence, draft } = cursor.entry
    for (let i = at; i < sequence.tokens.length; i++) {
      if (sequence.isFinished || sequence.tokens[i] !== draft.tokens[cursor.taken]) return false
      cursor.taken++
      sequence.cachedCount++
    }
    return !sequence.isFinished
  }

  /** Draws one token per row. Returns the rows that got one. */
  private async sample(cursors: readonly Cursor[]): Promise<readonly Cursor[]> {
    if (cursors.length === 0) return cursors
    const results = await drawTokens(this.parts.sampler, cursors.map(toDrawRow), this.rounding)
    const drawn = cursors.filter((cursor, index) => this.isDrawn(cursor, results[index]))
    const turns = new Turns()
    for (const cursor of drawn) {
      const { isFinished, options } = cursor.entry.sequence
      // A sequence may be cancelled in a turn: its mask is no longer its own.
      if (isFinished || !(options.confidence || options.traceTokens)) continue
      await judge(cursor)
      await turns.give()
    }
    return drawn
  }

  /**
   * Maximum difference between the logits and those of plain decoding. A GPU's sampler adds the
   * rounding of its scores.
   */
  private get rounding(): number {
    const { speculator, sampler } = this.parts
    return (speculator?.rounding ?? 0) + (sampler.name === "gpu" ? 2e-4 : 0)
  }

  /**
   * Returns whether a draw gave a token. No sampler is trusted: the bit of the token is checked in
   * the mask.
   */
  private isDrawn(cursor: Cursor, result: SampleResult | Error | undefined): boolean {
    const { sequence } = cursor.entry
    if (sequence.isFinished) return false
    if (!result) {
      this.metrics.replays++
      cursor.isRepeated = true
      this.rewind(sequence)
      return false
    }
    sequence.replays = false
    if (result instanceof Error) this.fail(sequence, result)
    else if (result.status !== "ok") {
      this.fail(sequence, drawError(sequence, result.status))
    } else if (!isLegal(sequence.mask, result.token) && isGiven(sequence)) {
      this.fail(sequence, forbiddenFirst(sequence.outputCount, result.token))
    } else if (!isLegal(sequence.mask, result.token)) {
      this.metrics.maskViolations++
      this.fail(
        sequence,
        new Error(`internal: the sampler drew token ${result.token}, which the mask denies`),
      )
    } else {
      cursor.result = result as SampleResult & { status: "ok" }
      return true
    }
    return false
  }

  /**
   * Makes the sequence compute its last tokens again, since only logits of plain decoding can
   * decide. Its mask must be complete by then.
   */
  private rewind(sequence: Sequence): void {
    sequence.rewind()
    if (!sequence.isNarrowed) return
    sequence.isNarrowed = false
    sequence.outlook = undefined
    this.guides.look(sequence.options.guide!)
    this.guides.flush()
  }

  /** Asks the guides about the drawn tokens and accepts them. Returns the rows that continue. */
  private async settle(cursors: readonly Cursor[]): Promise<readonly Cursor[]> {
    const running = cursors.filter(({ entry }) => !entry.sequence.isFinished)
    const asked = running.filter((cursor) => {
      const { result, entry } = cursor
      const { sequence } = entry
      const { guide } = sequence.options
      if (!guide || sequence.endsBy(result!.token)) return false
      if (!guide.verdict && !guide.failure && !sequence.isAsked) {
        const looksAhead = this.outreach !== "none" && sequence.options.takesRuns === true
        sequence.isPresumed = !looksAhead && sequence.goesOnBehind(result!.token)
        this.guides.accept(guide, result!.token, looksAhead ? this.guessCount(cursor) : -1)
        sequence.isAsked = !sequence.isPresumed
        // The outlook of the position before this token is outdated.
        if (sequence.isPresumed) guide.outlook = undefined
      }
      return !sequence.isPresumed
    })
    if (asked.length > 0) {
      const guides = asked.map(({ entry }) => entry.sequence.options.guide!)
      await this.guides.arrived(guides, "verdict", this.lateMs)
    }
    return running.filter((cursor) => {
      const { sequence } = cursor.entry
      if (sequence.isFinished) return false
      const { guide } = sequence.options
      if (!guide || !asked.includes(cursor))
        return this.take(cursor, sequence.isPresumed ? presumed : undefined)
      const { verdict, failure } = guide
      if (!verdict && !failure) {
        this.setAside(cursor)
        return false
      }
      guide.verdict = undefined
      sequence.isAsked = false
      if (!verdict) this.fail(sequence, failure!)
      else if (isMisfit(verdict)) this.refit(cursor, verdict)
      else return this.take(cursor, verdict)
      return !sequence.isFinished
    })
  }

  /** Number of tokens to guess after the drawn one: none while an earlier guess still holds. */
  private guessCount({ entry: { sequence, draft }, result, taken }: Cursor): number {
    const holds = result!.token === draft.tokens[taken] && taken + 1 < draft.tokens.length
    return this.outreach === "guesses" && !holds ? (sequence.options.speculation?.next(false) ?? 0) : 0
  }

  /**
   * Handles a drawn token that is not allowed: it is removed from the mask, and the row is drawn
   * again with the same noise.
   */
  private refit(cursor: Cursor, { why, next }: Misfit): void {
    const { sequence } = cursor.entry
    if (why === "budget") sequence.hasClosed = true
    // The plan's own token always fits, so its bit is never cleared and the row cannot become
    // empty.
    sequence.narrow(cursor.result!.token)
    cursor.result = undefined
    if (++cursor.redraws < maxRedraws[why] || next < 0) return
    sequence.mask.fill(0)
    sequence.mask[next >>> 5] = 1 << (next & 31)
  }

  /** Accepts the drawn token. Returns whether the draft has logits for the next token. */
  private take(cursor: Cursor, verdict: Verdict | undefined): boolean {
    const { sequence, draft } = cursor.entry
    const { token, logprobs, relaxed } = cursor.result!
    const before = sequence.tokens.length
    sequence.traces?.push(traceOf(cursor))
    cursor.result = undefined
    cursor.redraws = 0
    this.alone(sequence, () => {
      for (const param of relaxed ?? []) sequence.lifted.add(param)
      this.accept(sequence, token, { logprobs, verdict, certainty: cursor.certainty })
      if (verdict?.run && !sequence.isFinished) this.takeSteps(sequence, verdict.run)
      if (verdict?.draft && !sequence.isFinished) sequence.draft = guessedDraft(verdict.draft)
    })
    if (token !== draft.tokens[cursor.taken]) return false
    cursor.accepted++
    return this.follow(cursor, before)
  }

  private accept(sequence: Sequence, token: number, how: Parameters<Sequence["accept"]>[1]): void {
    const start = performance.now()
    sequence.accept(token, how)
    sequence.options.speculation?.advance()
    this.metrics.ms.accept += performance.now() - start
    this.metrics.completionTokens++
    if (sequence.isFinished) this.parts.leave(sequence)
  }

  /** Runs a function for a sequence. If it throws, only this sequence ends. */
  private alone(sequence: Sequence, run: () => void): void {
    try {
      run()
    } catch (error) {
      this.fail(sequence, error as Error)
    }
  }

  /**
   * Sets a row aside until its guide answers, with copies of its logits and those of the rest of
   * its draft.
   */
  private setAside(cursor: Cursor): void {
    const { entry, logits, taken, result, redraws, waitsSince } = cursor
    const row = entry.logitsRow + taken
    const draft = draftFrom(entry.draft, taken)
    const end = row + 1 + draft.tokens.length
    const kept = makeCursor({ ...entry, draft, logitsRow: 0 }, logits.keep(row, end))
    kept.result = result
    kept.certainty = cursor.certainty
    kept.effect = cursor.effect
    kept.redraws = redraws
    kept.waitsSince = waitsSince
    entry.sequence.isLate = true
    this.late.push(kept)
  }
}

/** The verdict that is assumed for a token after which the text cannot be complete. */
const presumed: Verdict = { isAccepting: false, isExhausted: false }

function makeCursor(entry: BatchEntry, logits: StepLogits): Cursor {
  return {
    ...{ entry, logits, result: undefined, certainty: undefined, effect: null, redraws: 0 },
    ...{ taken: 0, accepted: 0, waitsSince: 0, isRepeated: false },
  }
}

/** Records how sure the model was of the drawn token, and what the mask did, as requested. */
async function judge(cursor: Cursor): Promise<void> {
  const { entry, logits, taken, result } = cursor
  const { mask, options, tokens } = entry.sequence
  const { confidence, traceTokens } = options
  const row = await logits.row(entry.logitsRow + taken)
  // After a redraw the mask lacks tokens that the constraint allows: the first effect is kept.
  if (traceTokens && cursor.redraws === 0) cursor.effect = effectOf(row, mask, traceTokens)
  if (!confidence) return
  cursor.certainty = certaintyOf(row, mask, result!.token)
  options.watch?.(row, mask, result!.token, tokens)
}

/** Returns whether the caller chose the next token. */
function isGiven({ options, outputCount }: Sequence): boolean {
  return outputCount < (options.firstTokens?.length ?? 0)
}

/** Returns the trace of a drawn token that is about to be accepted. */
function traceOf({ entry, result, effect, taken }: Cursor): TokenTrace {
  const { sequence, draft } = entry
  const { token } = result!
  const isDraft = draft.tokens[taken] === token && draft.forced[taken] === false
  const drawn = sequence.hasClosed ? "closing" : isDraft ? "draft" : "sampled"
  return { token, kind: isGiven(sequence) ? "given" : drawn, effect, maskUs: sequence.lastMaskUs }
}

/**
 * Returns the error that says why no token could be drawn. A list of allowed ids is never lifted.
 */
function drawError({ options }: Sequence, status: string): Error {
  if (status === "empty_mask" && options.params.allowed !== null) {
    const message =
      "empty_mask: no token of allowed_token_ids may come next in the constraint: allow more, or loosen it"
    return new RequestError("invalid_value", message, "allowed_token_ids")
  }
  const what = status === "empty_mask" ? "no token is left to choose" : "the model's logits are not numbers"
  return new Error(`${status}: ${what}`)
}

/** Returns whether the run that the sequence accepted was cut. */
function isCut({ isFinished, outlook }: Sequence): boolean {
  return !isFinished && outlook === undefined
}

/** Returns the answer that a row that was set aside waits for. */
function awaited({ isAsked }: Sequence): Awaited {
  return isAsked ? "verdict" : "outlook"
}

function toDrawRow({ entry, logits, taken }: Cursor): DrawRow {
  const { sequence, draft, logitsRow, isPlain } = entry
  const isJudged = sequence.options.speculation?.verify === "reject"
  const token = draft.tokens[taken]
  return {
    sequence,
    logits,
    logitsRow: logitsRow + taken,
    isPlain: isPlain || isJudged,
    ...(isJudged && token !== undefined && { judged: { token, law: draft.laws[taken] } }),
  }
}
