/**
 * A turn as one rule: reasoning, then the answer with its calls. Reasoning is part of the grammar,
 * so it is constrained from its first byte, and no part of the answer can come early.
 */
import type { RuleId, Rules } from "../../ebnf/rules.ts"
import type { Term } from "../../ebnf/terms.ts"
import { Grammar } from "../../grammar.ts"
import { freeTextLexeme } from "../../lexeme/freetext.ts"
import { AnswerLanguage } from "./answer.ts"
import type { ArgumentOptions } from "./arguments.ts"
import { CallBlocks } from "./blocks.ts"
import { literalTerm } from "./literal.ts"
import { MessageLanguage } from "./messages.ts"
import { type Plan, planTurn, type Turn } from "./plan.ts"
import type { Reasoning } from "./style.ts"

/**
 * Returns the rule of an assistant's turn. Throws GrammarError for a wrong field (the path is its
 * name) and for a tool that cannot be called (the path is a pointer into `tools`).
 */
export function toolsRule(turn: Turn, rules: Rules, options: ArgumentOptions): RuleId {
  const plan = planTurn(turn)
  const blocks = new CallBlocks(rules, plan, options)
  const { messages, name } = plan.style
  const language =
    messages === undefined
      ? new AnswerLanguage(plan, blocks)
      : new MessageLanguage(rules, plan, blocks, messages)
  const start = language.start()
  const answer = new Grammar(start, {
    key: () => JSON.stringify({ ...turn, response_format: turn.response_format?.key }),
    title: `turn in the style ${name}`,
    limits: options.limits,
    readsTokens: rules.tokens !== null,
    budgets: [...blocks.budgets, ...(plan.format?.budgets ?? [])],
  })
  const rule = rules.declare("turn")
  rules.define(rule, [], () => {
    const { terms } = rules
    const { reasoning } = plan
    if (messages !== undefined || reasoning === null || reasoning === undefined) return terms.nested(answer)
    return terms.concat(reasoningTerm(rules, plan, reasoning), terms.nested(answer))
  })
  return rule
}

/** Returns the section before the answer. */
function reasoningTerm(rules: Rules, { thoughtExcludes: excludes }: Plan, reasoning: Reasoning): Term {
  const { terms } = rules
  const { begin = "", end, suffix = "", max_tokens, optional = false } = reasoning
  const text = terms.lexeme(freeTextLexeme({ stops: [], excludes }, { mayEnd: true }))
  const section = terms.concat(
    literalTerm(rules, begin),
    max_tokens === undefined ? text : terms.budget(text, max_tokens, "reasoning"),
    literalTerm(rules, end + suffix),
  )
  return optional ? terms.or([terms.empty, section]) : section
}
