/**
 * The turn of styles that write messages: reasoning and remarks, then an answer or calls, each with a header of its own.
 */

import type { Rules } from "../../ebnf/rules.ts"
import type { Term } from "../../ebnf/terms.ts"
import type { Frame, Step } from "../../frame.ts"
import { freeTextLexeme } from "../../lexeme/freetext.ts"
import type { CallBlocks } from "./blocks.ts"
import { beforeEnd, literalTerm } from "./literal.ts"
import { before, done, Places } from "./place.ts"
import type { Plan } from "./plan.ts"
import type { Message, Messages } from "./style.ts"

export class MessageLanguage {
  private readonly rules: Rules
  private readonly plan: Plan
  private readonly blocks: CallBlocks
  private readonly messages: Messages
  private readonly places = new Places("")
  private readonly text: Term

  constructor(rules: Rules, plan: Plan, blocks: CallBlocks, messages: Messages) {
    this.rules = rules
    this.plan = plan
    this.blocks = blocks
    this.messages = messages
    this.text = rules.terms.lexeme(freeTextLexeme({ stops: [], excludes: plan.excludes }, { mayEnd: true }))
  }

  start(): Step[] {
    const { reasoning } = this.plan
    if (reasoning === null || reasoning === undefined || reasoning.optional) return this.message(0)
    return before(this.between(0), this.reasoning())
  }

  /** Any message, when so many calls were made. */
  private message(count: number): Step[] {
    const { reasoning, calls, format } = this.plan
    const { remark } = this.messages
    const more = this.between(count)
    const steps = this.ending(count)
    if (reasoning !== null) steps.push(...before(more, this.reasoning()))
    if (!calls.isRequired && format === null)
      steps.push(...before(more, this.steps("remark", remark, this.text)))
    return steps
  }

  /** The messages that a turn can end with. */
  private ending(count: number): Step[] {
    const { calls, format } = this.plan
    const steps: Step[] = []
    if (!calls.isRequired) {
      const content = format === null ? this.text : this.rules.terms.nested(format)
      steps.push(...this.answer(content, count))
    }
    if (calls.tools.length === 0 || count >= calls.max) return steps
    for (const at of this.blocks.blocks.keys()) {
      const next = this.blocks.endsText(at) ? null : this.afterCall(this.oneMore(count))
      const call = this.blocks.first(at, count, false)
      steps.push(...(next === null ? call : before(next, call)))
    }
    return steps
  }

  private reasoning(): readonly Step[] {
    const { reasoning } = this.messages
    const { max_tokens } = this.plan.reasoning ?? {}
    const { terms } = this.rules
    const text = max_tokens === undefined ? this.text : terms.budget(this.text, max_tokens, "reasoning")
    return this.steps("reasoning", reasoning, text)
  }

  /** The answer: behind an end that is no end of the whole text more may follow. */
  private answer(content: Term, count: number): Step[] {
    const { begin, ends } = this.messages.answer
    return ends.flatMap((end, i) => {
      const message = this.steps(`answer ${i}`, { begin, ends: [end] }, content)
      if (i === 0 || this.plan.format !== null) return [...message]
      return before(this.afterAnswer(count), message)
    })
  }

  private steps(key: string, { begin, ends }: Message, content: Term): readonly Step[] {
    const { terms } = this.rules
    return this.blocks.steps(key, () => {
      const closing = ends.map((end) => literalTerm(this.rules, beforeEnd(this.rules, end) ?? end))
      return terms.concat(literalTerm(this.rules, begin), content, terms.or(closing))
    })
  }

  /** Behind a message that another one must follow. */
  private between(count: number): Frame {
    const { between } = this.messages
    const steps = () => this.blocks.steps("between", () => literalTerm(this.rules, between))
    const next = this.places.place(
      `message ${count}`,
      () => this.message(count),
      () => this.ending(count),
    )
    return this.places.place(`between ${count}`, () => before(next, steps()))
  }

  private afterAnswer(count: number): Frame {
    return this.afterEnd(`answered ${count}`, count)
  }

  private afterCall(count: number): Frame {
    return this.afterEnd(`called ${count}`, count)
  }

  private afterEnd(key: string, count: number): Frame {
    return this.places.place(
      key,
      () => (count < this.plan.calls.max ? [...this.between(count).follow(1, null), done] : [done]),
      () => [done],
    )
  }

  private oneMore(count: number): number {
    return this.blocks.areNumbered || this.plan.calls.max !== Number.POSITIVE_INFINITY ? count + 1 : 0
  }
}
