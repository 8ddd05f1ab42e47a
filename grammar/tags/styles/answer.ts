/**
 * The answer of styles that write text as it is: text and calls, calls alone, or calls beside what a response format asks for.
 *
 * Between text and calls nothing decides but the style's own mark: where it is complete, a call has begun (`plan.ts`).
 */
import type { Frame, Step } from "../../frame.ts"
import { freeTextLexeme } from "../../lexeme/freetext.ts"
import type { CallBlocks } from "./blocks.ts"
import { before, done, Places } from "./place.ts"
import type { Plan } from "./plan.ts"

export class AnswerLanguage {
  private readonly plan: Plan
  private readonly blocks: CallBlocks
  private readonly places = new Places("")
  /** Whether text may stand between calls and around them. */
  private readonly isFree: boolean
  private readonly text: number

  constructor(plan: Plan, blocks: CallBlocks) {
    this.plan = plan
    this.blocks = blocks
    this.isFree = plan.format === null && !plan.calls.isRequired
    this.text = freeTextLexeme({ stops: [], excludes: plan.excludes }, { mayEnd: true })
  }

  start(): Step[] {
    const { calls, format } = this.plan
    if (this.isFree) return this.textSteps(0)
    return [...this.callSteps(0), ...(calls.isRequired ? [] : (format?.start ?? []))]
  }

  /** Text, when so many calls were made. */
  private textSteps(count: number): Step[] {
    return before(
      this.places.place(
        `text ${count}`,
        () => [...this.callSteps(count), done],
        () => [done],
      ),
      [{ lexeme: this.text, frames: [] }],
    )
  }

  /** The ways to begin a block. */
  private callSteps(count: number): Step[] {
    const { blocks, calls } = { blocks: this.blocks, calls: this.plan.calls }
    if (calls.tools.length === 0 || count >= calls.max) return []
    return blocks.blocks.flatMap((_, at) =>
      before(this.afterCall(at, this.oneMore(count)), blocks.first(at, count, !this.isFree)),
    )
  }

  private afterCall(at: number, count: number): Frame {
    const end = this.blocks.end(at)
    const ends = (): readonly Step[] =>
      end === null ? this.afterBlock(count) : before(this.blockEnd(count), end)
    return this.places.place(
      `call ${at} ${count}`,
      () => {
        // Free text holds whatever stands between calls without a section of their own.
        const isMore = count < this.plan.calls.max && (end !== null || !this.isFree)
        const more = isMore ? this.blocks.next(at, count) : []
        return [...before(this.afterCall(at, this.oneMore(count)), more), ...ends()]
      },
      () => (end === null ? [done] : before(this.blockEnd(count), end)),
    )
  }

  private blockEnd(count: number): Frame {
    return this.places.place(
      `block ${count}`,
      () => this.afterBlock(count),
      () => [done],
    )
  }

  private afterBlock(count: number): Step[] {
    return this.isFree && count < this.plan.calls.max ? this.textSteps(count) : [done]
  }

  /** Calls are counted only where somebody asks how many there were. */
  private oneMore(count: number): number {
    return this.blocks.areNumbered || this.plan.calls.max !== Number.POSITIVE_INFINITY ? count + 1 : 0
  }
}
