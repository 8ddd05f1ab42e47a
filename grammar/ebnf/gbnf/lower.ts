/**
 * From the trees of a checked GBNF text to rules.
 *
 * GBNF has no terminals: every part without recursion, tokens or attributes becomes one lexeme by itself (`terms.ts`). Dispatches
 * and runs of tokens recur, so each is a rule of its own, declared before anything is lowered.
 */
import { exprs } from "../../lexeme/expr/expr.ts"
import { freeTextLexeme, stopTag } from "../../lexeme/freetext.ts"
import { PlainTag } from "../../lexeme/string/content.ts"
import { utf8 } from "../../utf8.ts"
import type { RuleId, Rules, TokenNames } from "../rules.ts"
import type { Source } from "../source.ts"
import { lazyExpr, type Term } from "../terms.ts"
import { anyToken, anyTokens } from "../tokensets.ts"
import type { RuleAttributes } from "./attributes.ts"
import type { CheckedGrammar } from "./check.ts"
import type { CheckedMacro } from "./macros.ts"
import { RegularRules } from "./regular.ts"
import type { Alternatives, GbnfRule, Item } from "./tree.ts"

type Dispatch = Extract<CheckedMacro, { kind: "dispatch" }>
type TokenDispatch = Extract<CheckedMacro, { kind: "tokenDispatch" }>

/** Declares and defines the rules of a text; the one named `root`. */
export function lowerRules(
  source: Source,
  gbnfRules: ReadonlyMap<string, GbnfRule>,
  checked: CheckedGrammar,
  rules: Rules,
  root: string,
): RuleId {
  return new Lowering(source, gbnfRules, checked, rules).lowerAll(root)
}

class Lowering {
  private readonly source: Source
  private readonly gbnfRules: ReadonlyMap<string, GbnfRule>
  private readonly checked: CheckedGrammar
  private readonly rules: Rules
  private readonly regular: RegularRules
  private readonly ids = new Map<string, RuleId>()
  /** Rules that stand for an item. */
  private readonly itemRules = new Map<Item, RuleId>()

  constructor(
    source: Source,
    gbnfRules: ReadonlyMap<string, GbnfRule>,
    checked: CheckedGrammar,
    rules: Rules,
  ) {
    this.source = source
    this.gbnfRules = gbnfRules
    this.checked = checked
    this.rules = rules
    this.regular = new RegularRules(gbnfRules, checked)
  }

  lowerAll(root: string): RuleId {
    const { rules, ids, gbnfRules } = this
    for (const name of gbnfRules.keys()) ids.set(name, rules.declare(name))
    for (const rule of gbnfRules.values()) {
      const uses = rule.references.map(({ name }) => this.idOf(name))
      this.declareItems(rule.alternatives, uses)
      rules.define(this.idOf(rule.name), [...new Set(uses)], () => this.rule(rule))
    }
    return this.idOf(root)
  }

  private idOf(name: string): RuleId {
    return this.ids.get(name) as RuleId
  }

  /** Makes rules of dispatches and runs of tokens, and adds them to `uses`. */
  private declareItems(alternatives: Alternatives, uses: RuleId[]): void {
    for (const items of alternatives) {
      for (const item of items) {
        const rule = this.declareItem(item)
        if (rule !== null) {
          this.itemRules.set(item, rule)
          uses.push(rule)
        } else if (item.kind === "group") this.declareItems(item.alternatives, uses)
        else if (item.kind === "repeat") this.declareItems([[item.item]], uses)
      }
    }
  }

  private declareItem(item: Item): RuleId | null {
    const { rules } = this
    if (item.kind === "repeat" && item.min <= 1 && item.max === Number.POSITIVE_INFINITY) {
      const excluded = this.excludedBy(item.item)
      return excluded === null ? null : anyTokens(rules, rules.tokens as TokenNames, excluded)
    }
    if (item.kind !== "macro") return null
    const macro = this.checked.macros.get(item.macro)
    if (macro?.kind !== "dispatch" && macro?.kind !== "tokenDispatch") return null
    const rule = rules.declare(macro.kind === "dispatch" ? "TagDispatch" : "TokenTagDispatch")
    const targets = macro.triggers.map((each) => this.idOf(each.rule))
    if (macro.kind === "dispatch") rules.define(rule, [...targets, rule], () => this.dispatch(macro, rule))
    else {
      const excluded = new Set([...macro.excludes, ...macro.triggers.map(({ trigger }) => trigger)])
      const run = anyTokens(rules, rules.tokens as TokenNames, excluded)
      rules.define(rule, [...targets, run, rule], () => this.tokenDispatch(macro, run, rule))
    }
    return rule
  }

  /** What an item that is one token leaves out; null for any other item. */
  private excludedBy(item: Item): ReadonlySet<number> | null {
    if (item.kind === "group" && item.alternatives.length === 1 && item.alternatives[0].length === 1) {
      return this.excludedBy(item.alternatives[0][0])
    }
    if (item.kind === "macro") {
      const macro = this.checked.macros.get(item.macro)
      return macro?.kind === "tokens" && macro.isNegated ? new Set(macro.ids) : null
    }
    if (item.kind !== "token") return null
    const token = this.checked.tokens.get(item.token)
    return token !== undefined && "ids" in token && token.isNegated ? new Set(token.ids) : null
  }

  private rule(rule: GbnfRule): Term {
    const { terms } = this.rules
    const attributes = this.checked.attributes.get(rule)
    if (attributes === undefined) return this.alternatives(rule.alternatives)
    const { capture, maxTokens } = attributes
    let term = this.bounded(rule, attributes)
    if (maxTokens !== null) term = terms.budget(term, maxTokens, rule.name)
    return capture === null ? term : terms.capture(capture, term)
  }

  /** The rule as the lexeme that `lazy` or `greedy` make of it, of at most so many characters. */
  private bounded(rule: GbnfRule, { ending, maxChars }: RuleAttributes): Term {
    const { terms } = this.rules
    if (ending === "any" && maxChars === null) return this.alternatives(rule.alternatives)
    const whole = this.regular.exprOf(rule.alternatives)
    if (whole === null) {
      const what = ending === "any" ? "max_chars" : ending
      throw this.source.error(
        "unsupported",
        rule.offset,
        `${what} on rule "${rule.name}", which is no regular expression as a whole. Take recursion, tokens and rules with attributes out of it`,
      )
    }
    const expr = maxChars === null ? whole : exprs.and([whole, exprs.loop(exprs.anyChar, 0, maxChars)])
    if (ending === "lazy") return terms.whole(lazyExpr(expr))
    return ending === "greedy" ? this.source.nested(rule.offset, () => terms.greedy(expr)) : terms.expr(expr)
  }

  private alternatives(alternatives: Alternatives): Term {
    return this.rules.terms.or(alternatives.map((items) => this.sequence(items)))
  }

  private sequence(items: readonly Item[]): Term {
    const { terms } = this.rules
    return items.reduceRight((tail, item) => terms.concat(this.item(item), tail), terms.empty)
  }

  private item(item: Item): Term {
    const { rules } = this
    const { terms } = rules
    const own = this.itemRules.get(item)
    switch (item.kind) {
      case "text":
        return terms.text(item.text)
      case "class":
        return terms.expr(exprs.codePoints(item.ranges))
      case "rule":
        return rules.use(this.idOf(item.name))
      case "group":
        return this.alternatives(item.alternatives)
      case "repeat":
        if (own !== undefined) return item.min === 0 ? rules.use(own) : terms.rule(own, true)
        return terms.repeat(this.item(item.item), item.min, item.max)
      case "token": {
        const token = this.checked.tokens.get(item.token)
        if (token === undefined) throw new Error("internal: a token has not been checked")
        return "ids" in token ? this.tokens(token.ids, token.isNegated) : terms.text(token.spelling)
      }
      case "macro": {
        if (own !== undefined) return rules.use(own)
        const macro = this.checked.macros.get(item.macro)
        if (macro?.kind === "expr") return terms.expr(macro.expr)
        if (macro?.kind === "tokens") return this.tokens(macro.ids, macro.isNegated)
        throw new Error("internal: a macro has not been checked")
      }
    }
  }

  private tokens(ids: readonly number[], isNegated: boolean): Term {
    const { rules } = this
    return isNegated ? anyToken(rules, rules.tokens as TokenNames, new Set(ids)) : rules.terms.token(ids)
  }

  /** Free text up to a trigger, what the trigger switches to, and again; or free text alone. */
  private dispatch({ triggers, excludes, loops }: Dispatch, self: RuleId): Term {
    const { rules } = this
    const { terms } = rules
    const again = loops ? rules.use(self) : terms.empty
    const byTrigger = new Map<string, Term[]>()
    for (const { trigger, rule } of triggers) {
      const targets = byTrigger.get(trigger) ?? []
      byTrigger.set(trigger, targets)
      targets.push(rules.use(this.idOf(rule)))
    }
    const stops = [...byTrigger.keys()]
    const rests = new Map([[PlainTag, terms.empty]])
    for (const [trigger, targets] of byTrigger) {
      rests.set(stopTag(trigger), terms.concat(terms.or(targets), again))
    }
    const textOf = (kept: ReadonlySet<number>) =>
      freeTextLexeme(
        {
          stops: stops.filter((stop) => kept.has(stopTag(stop))),
          // A trigger whose rule has no text may not be completed.
          excludes: [...excludes, ...stops.filter((stop) => !kept.has(stopTag(stop)))],
        },
        { mayEnd: kept.has(PlainTag) },
      )
    const ends = () =>
      new Map([[PlainTag, utf8("")], ...stops.map((stop) => [stopTag(stop), utf8(stop)] as const)])
    return terms.branch(textOf(new Set(rests.keys())), rests, textOf, ends)
  }

  /** The same on tokens. */
  private tokenDispatch({ triggers, loops }: TokenDispatch, run: RuleId, self: RuleId): Term {
    const { rules } = this
    const { terms } = rules
    const again = loops ? rules.use(self) : terms.empty
    const switches = triggers.map(({ trigger, rule }) =>
      terms.concat(terms.token([trigger]), rules.use(this.idOf(rule)), again),
    )
    return terms.concat(rules.use(run), terms.or([terms.empty, ...switches]))
  }
}
