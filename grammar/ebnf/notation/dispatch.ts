/**
 * Dispatches: free text until a trigger is complete, then the rule of that trigger, and free text
 * again. A dispatch refers to itself, so each one becomes a rule.
 */
import { freeTextLexeme, stopTag } from "../../lexeme/freetext.ts"
import { PlainTag } from "../../lexeme/table.ts"
import { utf8 } from "../../utf8.ts"
import type { RuleId, Rules } from "../rules.ts"
import type { Term } from "../terms.ts"
import type { TokenNames } from "../tokennames.ts"
import { anyTokens } from "../tokensets.ts"
import type { Dispatch } from "./dialect.ts"

/**
 * Declares and defines the rule of a dispatch and returns it. `ruleOf` returns the rule of a name.
 */
export function dispatchRule(dispatch: Dispatch, rules: Rules, ruleOf: (name: string) => RuleId): RuleId {
  const isText = dispatch.by === "text"
  const self = rules.declare(isText ? "TagDispatch" : "TokenTagDispatch")
  const targets = dispatch.triggers.map(({ rule }) => ruleOf(rule))
  const again = () => (dispatch.loops ? rules.use(self) : rules.terms.empty)
  if (dispatch.by === "text") {
    rules.define(self, [...targets, self], () => textDispatch(dispatch, rules, ruleOf, again()))
    return self
  }
  const { triggers, excludes } = dispatch
  const excluded = new Set([...excludes, ...triggers.map(({ trigger }) => trigger)])
  const run = anyTokens(rules, rules.tokens as TokenNames, excluded)
  rules.define(self, [...targets, run, self], () => {
    const { terms } = rules
    const switches = triggers.map(({ trigger, rule }) =>
      terms.concat(terms.token([trigger]), rules.use(ruleOf(rule)), again()),
    )
    return terms.concat(rules.use(run), terms.or([terms.empty, ...switches]))
  })
  return self
}

function textDispatch(
  { triggers, excludes }: Dispatch & { by: "text" },
  rules: Rules,
  ruleOf: (name: string) => RuleId,
  again: Term,
): Term {
  const { terms } = rules
  const byTrigger = new Map<string, Term[]>()
  for (const { trigger, rule } of triggers) {
    const targets = byTrigger.get(trigger) ?? []
    byTrigger.set(trigger, targets)
    targets.push(rules.use(ruleOf(rule)))
  }
  const stops = [...byTrigger.keys()]
  const rests = new Map([[PlainTag, terms.empty]])
  for (const [trigger, targets] of byTrigger)
    rests.set(stopTag(trigger), terms.concat(terms.or(targets), again))
  const textOf = (kept: ReadonlySet<number>) =>
    freeTextLexeme(
      {
        stops: stops.filter((stop) => kept.has(stopTag(stop))),
        // A trigger whose rule has no text must not be completed.
        excludes: [...excludes, ...stops.filter((stop) => !kept.has(stopTag(stop)))],
      },
      { mayEnd: kept.has(PlainTag) },
    )
  const ends = () =>
    new Map([[PlainTag, utf8("")], ...stops.map((stop) => [stopTag(stop), utf8(stop)] as const)])
  return terms.branch(textOf(new Set(rests.keys())), rests, textOf, ends)
}
