/**
 * What the names of a text mean: attributes, macros, tokens. Everything that can be wrong with a text is found before anything
 * is lowered, so that its author sees all of it at once.
 */
import type { Limits } from "../../errors.ts"
import type { Mistakes } from "../source.ts"
import { type TokenNames, tokenSpelled } from "../tokennames.ts"
import { type RuleAttributes, readAttributes } from "./attributes.ts"
import { type CheckedMacro, checkMacro } from "./macros.ts"
import { type GbnfRule, type Item, type Macro, type TokenReference, visitItems } from "./tree.ts"

/** Tokens by id, or all others; a control token by its spelling where no vocabulary is known. */
type CheckedToken = { ids: readonly number[]; isNegated: boolean } | { spelling: string }

export interface CheckedGrammar {
  readonly attributes: ReadonlyMap<GbnfRule, RuleAttributes>
  readonly macros: ReadonlyMap<Macro, CheckedMacro>
  readonly tokens: ReadonlyMap<TokenReference, CheckedToken>
}

/** Reports all that is wrong with the rules of a text. */
export function checkRules(
  rules: Iterable<GbnfRule>,
  mistakes: Mistakes,
  limits: Limits,
  tokens: TokenNames | null,
): CheckedGrammar {
  const checker = new Checker(mistakes, limits, tokens)
  for (const rule of rules) checker.checkRule(rule)
  return checker
}

class Checker implements CheckedGrammar {
  readonly attributes = new Map<GbnfRule, RuleAttributes>()
  readonly macros = new Map<Macro, CheckedMacro>()
  readonly tokens = new Map<TokenReference, CheckedToken>()
  private readonly mistakes: Mistakes
  private readonly limits: Limits
  private readonly known: TokenNames | null

  constructor(mistakes: Mistakes, limits: Limits, known: TokenNames | null) {
    this.mistakes = mistakes
    this.limits = limits
    this.known = known
  }

  checkRule(rule: GbnfRule): void {
    if (rule.attributes.length > 0) this.attributes.set(rule, readAttributes(rule, this.mistakes))
    visitItems(rule, (item) => this.checkItem(item))
  }

  private checkItem(item: Item): void {
    if (item.kind === "token") {
      const checked = this.tokenOf(item.token)
      if (checked !== null) this.tokens.set(item.token, checked)
    } else if (item.kind === "macro") {
      const checked = checkMacro(item.macro, this.mistakes, this.limits)
      if (checked === null) return
      this.checkIds(checked, item.macro.offset)
      this.macros.set(item.macro, checked)
    }
  }

  /** Whether the ids of a macro are those of tokens, and a vocabulary is there where others than they are meant. */
  private checkIds(macro: CheckedMacro, offset: number): void {
    if (macro.kind === "tokens") {
      if (macro.isNegated) this.needVocabulary(offset)
      for (const id of macro.ids) this.checkId(id, offset)
    } else if (macro.kind === "tokenDispatch") {
      this.needVocabulary(offset)
      for (const id of macro.excludes) this.checkId(id, offset)
      for (const { trigger } of macro.triggers) this.checkId(trigger, offset)
    }
  }

  private tokenOf({ which, isNegated, offset }: TokenReference): CheckedToken | null {
    if (isNegated) this.needVocabulary(offset)
    if (typeof which !== "string") {
      const ids: number[] = []
      for (let i = 0; i < which.length; i += 2) {
        if (!this.checkId(which[i + 1], offset)) return null
        for (let id = which[i]; id <= which[i + 1]; id++) ids.push(id)
      }
      return { ids, isNegated }
    }
    if (this.known === null) return { spelling: which }
    const id = tokenSpelled(which, this.known)
    if (id >= 0) return { ids: [id], isNegated }
    this.mistakes.add("syntax", offset, `no token is spelled ${which}`)
    return null
  }

  private checkId(id: number, offset: number): boolean {
    const count = this.known?.width ?? MaxIds
    if (id < count) return true
    this.mistakes.add("syntax", offset, `no token has the id ${id}: the last one is ${count - 1}`)
    return false
  }

  private needVocabulary(offset: number): void {
    if (this.known !== null) return
    this.mistakes.add(
      "unsupported",
      offset,
      "all tokens but some depend on the vocabulary, which is not known here",
    )
  }
}

/** Ids where no vocabulary is known. */
const MaxIds = 1 << 20
