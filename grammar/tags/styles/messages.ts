/**
 * The turn of styles that write messages: reasoning and remarks, then an answer or calls, each with
 * a header of its own.
 */
import type { Rules } from "../../ebnf/rules.ts"
import type { Term } from "../../ebnf/terms.ts"
import type { Frame, Step } from "../../frame.ts"
import { freeTextLexeme } from "../../lexeme/freetext.ts"
import type { CallBlocks } from "./blocks.ts"
import { CallSequence } from "./calls.ts"
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
  private readonly calls: CallSequence
  private readonly text: Term

  constructor(rules: Rules, plan: Plan, blocks: CallBlocks, messages: Messages) {
    this.rules = rules
    this.plan = plan
    this.blocks = blocks
    this.messages = messages
    this.text = rules.terms.lexeme(freeTextLexeme({ stops: [], excludes: plan.excludes }, { mayEnd: true }))
    this.calls = new CallSequence(plan, blocks, this.places, {
      areJoined: false,
      after: (count) => this.after(count),
    })
  }

  start(): Step[] {
    const { reasoning } = this.plan
    if (reasoning === null || reasoning === undefined || reasoning.optional) return this.message(0)
    // If the prompt has begun the section, the section has no header.
    const { begin = "" } = reasoning
    return before(this.between(0), this.reasoning(begin === "" ? "" : this.messages.reasoning.begin))
  }

  /** Returns any message after `count` calls. */
  private message(count: number): Step[] {
    const { reasoning, calls, format } = this.plan
    const { remark, reasoning: thought } = this.messages
    const more = this.between(count)
    const steps = this.ending(count)
    if (reasoning !== null) steps.push(...before(more, this.reasoning(thought.begin)))
    if (remark !== undefined && !calls.isRequired && format === null) {
      steps.push(...before(more, this.steps("remark", remark, this.text)))
    }
    return steps
  }

  /** Returns the messages that a turn can end with. */
  private ending(count: number): Step[] {
    const { calls, format } = this.plan
    const steps = this.calls.steps(count, true)
    if (calls.isRequired) return steps
    return [...steps, ...this.answer(format === null ? this.text : this.rules.terms.nested(format), count)]
  }

  private reasoning(begin: string): readonly Step[] {
    const { ends } = this.messages.reasoning
    const { max_tokens } = this.plan.reasoning ?? {}
    const { terms } = this.rules
    const text = max_tokens === undefined ? this.text : terms.budget(this.text, max_tokens, "reasoning")
    return this.steps(`reasoning ${begin}`, { begin, ends }, text)
  }

  /** Returns the answer. After its first end the turn is over; after other ends more may follow. */
  private answer(content: Term, count: number): Step[] {
    const { begin, ends } = this.messages.answer
    return ends.flatMap((end, i) => {
      const message = this.steps(`answer ${i}`, { begin, ends: [end] }, content)
      return before(i === 0 || this.plan.format !== null ? this.closing() : this.after(count), message)
    })
  }

  private steps(key: string, { begin, ends }: Message, content: Term): readonly Step[] {
    const { terms } = this.rules
    return this.blocks.steps(key, () => {
      const closing = ends.map((end) => literalTerm(this.rules, beforeEnd(this.rules, end) ?? end))
      return terms.concat(literalTerm(this.rules, begin), content, terms.or(closing))
    })
  }

  /** Returns what follows a message if another one must follow. */
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

  /** Returns what follows a message if another one may follow. */
  private after(count: number): Frame {
    const isMore = this.messages.end === undefined && count < this.plan.calls.max
    return this.places.place(
      `after ${count}`,
      () => [...(isMore ? this.between(count).follow(1, null) : []), ...this.ends()],
      () => this.ends(),
    )
  }

  private closing(): Frame {
    return this.places.place("closing", () => this.ends())
  }

  /** Returns what closes the turn. */
  private ends(): readonly Step[] {
    const { end } = this.messages
    return end === undefined ? [done] : this.blocks.steps("end", () => literalTerm(this.rules, end))
  }
}
