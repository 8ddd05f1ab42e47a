/**
 * Makes drafts with a smaller model that has the same vocabulary: it decodes ahead, for all
 * sequences of a step at once.
 *
 * It draws with the request's own parameters and masks, so its drafts are legal. For "match" it
 * also uses the noise of the draw that will verify them, so that both choose the same token as
 * often as their distributions allow (Daliri et al. 2024, arXiv 2408.07978). It has its own slots,
 * one for each of the engine's. The contents of a slot are compared with the sequence's tokens each
 * time, so refused drafts, new sequences and repeated prompts need no bookkeeping.
 */

import type { Vocabulary } from "../../mask/index.ts"
import { type DraftLaw, drawDraft, type Proposal, type SampleRow, type Sampler } from "../../sampler/index.ts"
import { onHost } from "../../sampler/sampler.ts"
import { isLegal, type Sequence } from "../engine/sequence.ts"
import type { GuideHost } from "../guides/guide.ts"
import type { Feed, Model } from "../model/model.ts"
import type { Drafter, DraftWish } from "./speculation.ts"
import { probeMs } from "./speculator.ts"

/** Maximum tokens of a prompt that are computed in one run. */
const chunkSize = 128

/** One sequence's draft while it is being made. */
interface Course {
  readonly sequence: Sequence
  /** The sequence's slot, stored here because the sequence may end in the meantime and leave it. */
  readonly slot: number
  readonly count: number
  /** The mask of the next token. Shape [W]. */
  mask: Uint32Array
  readonly tokens: number[]
  readonly laws: DraftLaw[]
  hasEnded: boolean
}

export class ModelDrafter implements Drafter {
  readonly description: string
  private readonly model: Model
  private readonly sampler: Sampler
  private readonly vocabulary: Vocabulary
  /** The tokens in each slot of the draft model. */
  private readonly held: number[][]

  constructor(model: Model, sampler: Sampler, vocabulary: Vocabulary, id: string) {
    this.model = model
    this.sampler = sampler
    this.vocabulary = vocabulary
    this.description = `model ${id} on ${model.description}`
    this.held = Array.from({ length: model.slotCount }, () => [])
    model.onRestart = () => {
      for (const held of this.held) held.length = 0
    }
  }

  async propose(wishes: readonly DraftWish[], guides: GuideHost): Promise<readonly Proposal[]> {
    const courses = wishes.map((wish) => this.begin(wish))
    try {
      for (;;) {
        const goOn = await Promise.all(courses.map((course) => this.goesOn(course, guides)))
        const running = courses.filter((_, index) => goOn[index])
        if (running.length === 0) break
        const logits = await this.forward(running)
        await this.draw(running, logits)
      }
    } finally {
      for (const { sequence, tokens } of courses) sequence.counts.rollback(tokens.length)
    }
    return courses.map(({ tokens, laws }) => ({ tokens, laws }))
  }

  tokenMs(rows: number): Promise<number> {
    return probeMs(this.model, rows, 1)
  }

  close(): Promise<void> {
    return this.model.close()
  }

  private begin({ sequence, count }: DraftWish): Course {
    return {
      sequence,
      slot: sequence.slot,
      count: Math.min(count, this.model.contextLength - sequence.tokens.length),
      mask: this.vocabulary.freeRow,
      tokens: [],
      laws: [],
      hasEnded: false,
    }
  }

  /** Accepts forced tokens. Returns whether a token must be drawn then. */
  private async goesOn(course: Course, guides: GuideHost): Promise<boolean> {
    const { guide } = course.sequence.options
    while (!course.hasEnded && course.tokens.length < course.count) {
      if (!guide) return true
      const glimpse = await guides.glimpse(guide, course.tokens)
      if (!glimpse) {
        // Tokens that are judged by ratio depend on the draft, so the draft must not depend on
        // time.
        const isNeeded = course.sequence.options.speculation?.verify === "reject"
        if (isNeeded && !guide.failure && !course.sequence.isFinished) continue
        break
      }
      course.mask = glimpse.mask
      if (glimpse.forced.length === 0) return true
      for (const token of glimpse.forced) {
        if (course.tokens.length < course.count) this.take(course, token, null, true)
      }
    }
    return false
  }

  /**
   * Returns the rows of logits of the running courses, in their order. Shape [R, V], V of the
   * engine's model.
   */
  private async forward(running: readonly Course[]): Promise<Float32Array> {
    for (;;) {
      const feeds = running.map(({ sequence, slot, tokens }): Feed => {
        const held = this.held[slot]
        const whole = [...sequence.tokens, ...tokens]
        let start = 0
        // The last token is always computed again, since its logits are needed.
        while (start < held.length && start < whole.length - 1 && held[start] === whole[start]) start++
        const end = Math.min(whole.length, start + chunkSize)
        this.held[slot] = whole.slice(0, end)
        const isLast = end === whole.length
        return { slot, start, tokens: whole.slice(start, end), logitsCount: isLast ? 1 : 0 }
      })
      const late = feeds.filter(({ logitsCount }) => logitsCount === 0)
      // Prompts run first: no row is drawn before all rows have caught up.
      const logits = await this.run(late.length > 0 ? late : feeds)
      if (late.length === 0) return this.fit(logits)
      for (const { slot, start, logitsCount } of feeds) if (logitsCount > 0) this.held[slot].length = start
    }
  }

  private async run(feeds: readonly Feed[]): Promise<Float32Array> {
    try {
      return await onHost(await this.model.forward(feeds))
    } catch (error) {
      for (const { slot } of feeds) this.held[slot] = []
      throw error
    }
  }

  private async draw(running: readonly Course[], logits: Float32Array): Promise<void> {
    const { width } = this.vocabulary
    const rows = running.map(
      ({ sequence, mask, tokens }, logitsRow): SampleRow => ({
        logitsRow,
        params: sequence.options.params,
        mask,
        tokens: sequence.counts,
        position: sequence.tokens.length + tokens.length,
        choice: sequence.options.choice,
      }),
    )
    const matching = rows.filter((_, at) => running[at].sequence.options.speculation?.verify !== "reject")
    const drawn = matching.length > 0 ? await this.sampler.sample(logits, width, matching) : []
    for (const [at, course] of running.entries()) {
      const index = matching.indexOf(rows[at])
      if (index >= 0) {
        const { status, token } = drawn[index]
        if (status === "ok") this.take(course, token, null)
        else course.hasEnded = true
        continue
      }
      const row = logits.subarray(at * width, (at + 1) * width)
      const result = drawDraft({ logits: row, row: rows[at] })
      if (result) this.take(course, result.token, result.law)
      else course.hasEnded = true
    }
  }

  private take(course: Course, token: number, law: DraftLaw, isForced = false): void {
    const { sequence, mask, tokens, laws } = course
    // An end of sequence needs no draft: the row before it draws it.
    if (this.vocabulary.isEnd(token) || !(isForced || isLegal(mask, token))) {
      course.hasEnded = true
      return
    }
    tokens.push(token)
    laws.push(law)
    if (isForced) sequence.counts.pushForced(token)
    else sequence.counts.push(token)
  }

  /**
   * Returns the same logits in rows as wide as the engine's. Tokens without a column in this model
   * cannot be drawn.
   */
  private fit(logits: Float32Array): Float32Array {
    const { width } = this.vocabulary
    const own = this.model.width
    if (own === width) return logits
    const rowCount = logits.length / own
    const fitted = new Float32Array(rowCount * width).fill(Number.NEGATIVE_INFINITY)
    for (let row = 0; row < rowCount; row++) {
      fitted.set(logits.subarray(row * own, row * own + Math.min(own, width)), row * width)
    }
    return fitted
  }
}

/** Throws RangeError naming the first token that two vocabularies spell differently. */
export function checkSameVocabulary(ours: Vocabulary, draft: Vocabulary): void {
  const none = new Uint8Array(0)
  const read = (vocabulary: Vocabulary, id: number): [name: string | undefined, bytes: Uint8Array] =>
    id < vocabulary.width ? [vocabulary.name(id), vocabulary.bytes(id)] : [undefined, none]
  const show = ([name, bytes]: [string | undefined, Uint8Array]): string => {
    if (name !== undefined) return `the control token ${name}`
    return bytes.length === 0 ? "no token" : JSON.stringify(new TextDecoder().decode(bytes))
  }
  for (let id = 0; id < Math.max(ours.width, draft.width); id++) {
    const mine = read(ours, id)
    const other = read(draft, id)
    if (mine[0] === other[0] && equalBytes(mine[1], other[1])) continue
    throw new RangeError(
      `its token ${id} is ${show(other)}, the model's is ${show(mine)}; a draft model needs the model's vocabulary`,
    )
  }
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}
