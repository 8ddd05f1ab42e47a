/**
 * What stands between tags, free text or any tokens, and in which order text and tags follow each other.
 *
 * The loop of text and tags is one rule that ends with itself, so however many tags have been read, the stack is what it was.
 */
import type { RuleId, Rules } from "../ebnf/rules.ts"
import type { Term } from "../ebnf/terms.ts"
import type { TokenNames } from "../ebnf/tokennames.ts"
import { anyTokens } from "../ebnf/tokensets.ts"
import { exprs } from "../lexeme/expr/expr.ts"
import type { TagOrder } from "./format.ts"
import { type Piece, piecesChoice } from "./literal.ts"
import { type FreeText, switchingText } from "./switching.ts"

/** Makes a term once the rules that it uses are lowered. */
export type MakeTerm = () => Term

/** A tag, or what a trigger switches to. */
export interface Branch {
  readonly begin: readonly Piece[]
  /** What follows its beginning. */
  readonly rest: MakeTerm
  /** Place of the beginning. */
  readonly path: string
}

/** How what stands between branches is read, and the branches. */
export interface Between {
  /** Text, a branch, and `again`; with `mayEnd` also text alone, and an end. */
  text(again: Term, options: { mayEnd: boolean }): Term
  /** A branch at once, and `again`. */
  branch(again: Term): Term
  /** An end. */
  end(): Term
}

/** Free text between branches, each with the trigger that it begins with. */
export function textBetween(
  rules: Rules,
  free: FreeText,
  branches: readonly (Branch & { readonly trigger: string })[],
): Between {
  const { terms } = rules
  return {
    text(again, options) {
      const switches = branches.map(({ trigger, begin, rest }) => ({
        trigger,
        begin,
        rest: terms.concat(rest(), again),
      }))
      return switchingText(rules, free, switches, options)
    },
    branch: (again) => branchChoice(rules, branches, again),
    end: () => endTerm(rules, free.ends),
  }
}

/** Any tokens between branches, control tokens included: those of `run`. Branches and ends begin with other tokens. */
export function tokensBetween(
  rules: Rules,
  run: MakeTerm,
  branches: readonly Branch[],
  ends: readonly (readonly Piece[])[],
): Between {
  const { terms } = rules
  return {
    text(again, { mayEnd }) {
      const branch = branchChoice(rules, branches, again)
      return terms.concat(run(), mayEnd ? terms.or([branch, endTerm(rules, ends)]) : branch)
    },
    branch: (again) => branchChoice(rules, branches, again),
    end: () => endTerm(rules, ends),
  }
}

/** One of the ways to end; each is the pieces of an end, none for nothing. */
export function endTerm(rules: Rules, ends: readonly (readonly Piece[])[]): Term {
  return piecesChoice(
    rules,
    ends.map((end) => [end, rules.terms.empty]),
  )
}

function branchChoice(rules: Rules, branches: readonly Branch[], again: Term): Term {
  return piecesChoice(
    rules,
    branches.map(({ begin, rest }) => [begin, rules.terms.concat(rest(), again)]),
  )
}

/** Text and branches in `order`. `uses` are the rules that branches use; the one declared here comes to them. */
export function inOrder(rules: Rules, order: TagOrder, between: Between, uses: Set<RuleId>): MakeTerm {
  const { terms } = rules
  const { atLeastOne, leadingText } = order
  let again = () => between.end()
  if (!order.stopAfterFirst) {
    const self = rules.declare("text and tags")
    const make = () => between.text(rules.use(self), { mayEnd: true })
    rules.define(self, [...uses, self], make)
    uses.add(self)
    again = () => rules.use(self)
    if (!atLeastOne && leadingText) return again
  }
  if (leadingText) return () => between.text(again(), { mayEnd: !atLeastOne })
  return () => {
    const branch = between.branch(again())
    return atLeastOne ? branch : terms.or([between.end(), branch])
  }
}

/** Any number of tokens that are not in `excluded`, whole characters in all. Rules for it come to `uses`. */
export function tokenRun(
  rules: Rules,
  tokens: TokenNames,
  excluded: ReadonlySet<number>,
  uses: Set<RuleId>,
): MakeTerm {
  const { terms } = rules
  if (![...excluded].every((id) => tokens.bytes(id).length === 0)) {
    const rule = anyTokens(rules, tokens, excluded)
    uses.add(rule)
    return () => rules.use(rule)
  }
  // Where no ordinary token is excluded they are text, which needs no list of their ids.
  const controls = [...tokens.specials.values()].filter(
    (id) => !excluded.has(id) && !tokens.endIds.includes(id),
  )
  const text = terms.expr(exprs.anyText)
  return () => terms.concat(text, terms.star(terms.concat(terms.token(controls), text)))
}
