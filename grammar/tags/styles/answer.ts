/**
 * The answer of styles that write plain text: text and calls, calls alone, or calls beside the text
 * of a response format.
 *
 * Only the style's own mark separates text from calls: where it is complete, a call has begun
 * (`plan.ts`).
 */
import type { Frame, Step } from "../../frame.ts"
import { freeTextLexeme } from "../../lexeme/freetext.ts"
import type { CallBlocks } from "./blocks.ts"
import { CallSequence } from "./calls.ts"
import { before, done, Places } from "./place.ts"
import type { Plan } from "./plan.ts"

export class AnswerLanguage {
  private readonly plan: Plan
  private readonly places = new Places("")
  private readonly calls: CallSequence
  /** Whether text is allowed between calls and around them. */
  private readonly isFree: boolean
  private readonly text: number

  constructor(plan: Plan, blocks: CallBlocks) {
    this.plan = plan
    this.isFree = plan.format === null && !plan.calls.isRequired
    this.text = freeTextLexeme({ stops: [], excludes: plan.excludes }, { mayEnd: true })
    // Free text may contain whatever separates calls outside a section.
    const areJoined = !this.isFree
    this.calls = new CallSequence(plan, blocks, this.places, {
      areJoined,
      after: (count) => this.after(count),
    })
  }

  start(): Step[] {
    const { calls, format } = this.plan
    if (this.isFree) return this.textSteps(0)
    return [...this.calls.steps(0, true), ...(calls.isRequired ? [] : (format?.start ?? []))]
  }

  /** Returns text after `count` calls. */
  private textSteps(count: number): Step[] {
    const behind = this.places.place(
      `text ${count}`,
      () => [...this.calls.steps(count, false), done],
      () => [done],
    )
    return before(behind, [{ lexeme: this.text, frames: [] }])
  }

  private after(count: number): Frame {
    return this.places.place(
      `block ${count}`,
      () => (this.isFree && this.calls.canCall(count) ? this.textSteps(count) : [done]),
      () => [done],
    )
  }
}
