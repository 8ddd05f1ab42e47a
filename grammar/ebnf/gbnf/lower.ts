/**
 * From the trees of a checked GBNF text to rules.
 *
 * GBNF has no terminals: every part without recursion, tokens or attributes becomes one lexeme by itself (`terms.ts`). Dispatches
 * and runs of tokens recur, so each is a rule of its own, declared before anything is lowered.
 */
import { GrammarError } from "../../errors.ts"
import { exprs } from "../../lexeme/expr/expr.ts"
import { freeTextLexeme, stopTag } from "../../lexeme/freetext.ts"
import { PlainTag } from "../../lexeme/table.ts"
import { utf8 } from "../../utf8.ts"
import type { RuleId, Rules } from "../rules.ts"
import type { Source } from "../source.ts"
import { lazyExpr, type Term } from "../terms.ts"
import { MinChoice, MinUnfused } from "../texts.ts"
import type { TokenNames } from "../tokennames.ts"
import { anyToken, anyTokens } from "../tokensets.ts"
import type { RuleAttributes } from "./attributes.ts"
import type { CheckedGrammar } from "./check.ts"
import type { CheckedMacro } from "./macros.ts"
import { RegularRules } from "./regular.ts"
import { type GbnfRule, type Group, type Item, visitItems } from "./tree.ts"

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
      const uses = new Set(rule.references.map(({ name }) => this.idOf(name)))
      visitItems(rule, (item) => {
        const own = this.declareItem(item, rule)
        if (own === null) return
        this.itemRules.set(item, own)
        uses.add(own)
      })
      const lower = () => this.source.nested(rule.offset, () => this.rule(rule))
      rules.define(this.idOf(rule.name), [...uses], lower)
    }
    return this.idOf(root)
  }

  private idOf(name: string): RuleId {
    return this.ids.get(name) as RuleId
  }

  /** A rule for an item that recurs: a dispatch, or a run of tokens. Null for any other. */
  private declareItem(item: Item, rule: GbnfRule): RuleId | null {
    const { rules } = this
    if (item.kind === "repeat" && item.min <= 1 && item.max === Number.POSITIVE_INFINITY) {
      const excluded = this.excludedBy(item.item, rule)
      return excluded === null ? null : anyTokens(rules, rules.tokens as TokenNames, excluded)
    }
    if (item.kind !== "macro") return null
    const macro = this.checked.macros.get(item.macro)
    if (macro?.kind !== "dispatch" && macro?.kind !== "tokenDispatch") return null
    const self = rules.declare(macro.kind === "dispatch" ? "TagDispatch" : "TokenTagDispatch")
    const targets = macro.triggers.map((each) => this.idOf(each.rule))
    if (macro.kind === "dispatch") rules.define(self, [...targets, self], () => this.dispatch(macro, self))
    else {
      const excluded = new Set([...macro.excludes, ...macro.triggers.map(({ trigger }) => trigger)])
      const run = anyTokens(rules, rules.tokens as TokenNames, excluded)
      rules.define(self, [...targets, run, self], () => this.tokenDispatch(macro, run, self))
    }
    return self
  }

  /** What an item that is one token leaves out; null for any other item. */
  private excludedBy(item: Item, { groups }: GbnfRule): ReadonlySet<number> | null {
    let inner = item
    while (inner.kind === "group") {
      const group: Group = groups[inner.group]
      if (group.length !== 1 || group[0].length !== 1) return null
      inner = group[0][0]
    }
    if (inner.kind === "macro") {
      const macro = this.checked.macros.get(inner.macro)
      return macro?.kind === "tokens" && macro.isNegated ? new Set(macro.ids) : null
    }
    if (inner.kind !== "token") return null
    const token = this.checked.tokens.get(inner.token)
    return token !== undefined && "ids" in token && token.isNegated ? new Set(token.ids) : null
  }

  private rule(rule: GbnfRule): Term {
    const { terms } = this.rules
    const attributes = this.checked.attributes.get(rule)
    if (attributes === undefined) return this.groups(rule)
    const { capture, maxTokens } = attributes
    let term = this.bounded(rule, attributes)
    if (maxTokens !== null) term = terms.budget(term, maxTokens, rule.name)
    return capture === null ? term : terms.capture(capture, term)
  }

  /** The rule as the lexeme that `lazy` or `greedy` make of it, of at most so many characters. */
  private bounded(rule: GbnfRule, { ending, maxChars }: RuleAttributes): Term {
    const { terms } = this.rules
    if (ending === "any" && maxChars === null) return this.groups(rule)
    const whole = this.regular.exprOf(rule)
    if (whole === null) {
      const what = ending === "any" ? "max_chars" : ending
      throw new GrammarError(
        "unsupported",
        "",
        `${what} on rule "${rule.name}", which is no regular expression as a whole. Take recursion, tokens and rules with attributes out of it`,
      )
    }
    const expr = maxChars === null ? whole : exprs.and([whole, exprs.loop(exprs.anyChar, 0, maxChars)])
    if (ending === "lazy") return terms.whole(lazyExpr(expr))
    return ending === "greedy" ? terms.greedy(expr) : terms.expr(expr)
  }

  private groups({ groups }: GbnfRule): Term {
    const made: Term[] = []
    for (const group of groups) made.push(this.group(group, made))
    return made[made.length - 1]
  }

  /** Any of the alternatives. `inner`: the groups inside, by their place. Many that begin with strings are read as one trie. */
  private group(group: Group, inner: readonly Term[]): Term {
    const { terms } = this.rules
    const isMany = group.length >= MinUnfused && group.filter(beginsWithText).length >= MinUnfused
    const choice: (readonly [text: string, rest: Term])[] = []
    const others: Term[] = []
    for (const items of group) {
      const first = items.length === 0 ? undefined : items[0]
      if (first?.kind !== "text" || group.length < MinChoice) {
        others.push(this.sequence(items, inner))
        continue
      }
      const rest = this.sequence(items.slice(1), inner)
      const isFused = !isMany && rest !== terms.empty && terms.exprOf(rest) !== null
      if (isFused) others.push(terms.concat(terms.text(first.text), rest))
      else choice.push([first.text, rest])
    }
    if (choice.length >= MinChoice) others.push(terms.choice(choice))
    else for (const [text, rest] of choice) others.push(terms.concat(terms.text(text), rest))
    return terms.or(others)
  }

  private sequence(items: readonly Item[], inner: readonly Term[]): Term {
    const { terms } = this.rules
    let tail = terms.empty
    for (let i = items.length - 1; i >= 0; i--) tail = terms.concat(this.item(items[i], inner), tail)
    return tail
  }

  private item(item: Item, inner: readonly Term[]): Term {
    const { rules } = this
    const { terms } = rules
    switch (item.kind) {
      case "text":
        return terms.text(item.text)
      case "class":
        return terms.expr(exprs.codePoints(item.ranges))
      case "rule":
        return rules.use(this.idOf(item.name))
      case "group":
        return inner[item.group]
      case "repeat": {
        const own = this.itemRules.get(item)
        if (own !== undefined) return item.min === 0 ? rules.use(own) : terms.rule(own, true)
        return terms.repeat(this.item(item.item, inner), item.min, item.max)
      }
      case "token": {
        const token = this.checked.tokens.get(item.token)
        if (token === undefined) throw new Error("internal: a token has not been checked")
        return "ids" in token ? this.tokens(token.ids, token.isNegated) : terms.text(token.spelling)
      }
      case "macro": {
        const own = this.itemRules.get(item)
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

function beginsWithText(items: readonly Item[]): boolean {
  return items[0]?.kind === "text"
}
