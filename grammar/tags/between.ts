/**
 * The text or tokens between tags, and the order of text and tags.
 *
 * The loop of text and tags is one rule that ends with itself, so the stack does not grow with the
 * number of tags that have been read.
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
  /** The part of the tag after its beginning. */
  readonly rest: MakeTerm
  /** Place of the beginning. */
  readonly path: string
}

/** The branches, and what may be between them. */
export interface Between {
  /**
   * Returns text, a branch, and then `again`. With `mayEnd` an end may take the place of branch and
   * `again`.
   */
  text(again: Term, options: { mayEnd: boolean }): Term
  /** Returns a branch without text before it, and `again`. */
  branch(again: Term): Term
  /** Returns an end. */
  end(): Term
}

/** Returns free text between branches. Each branch begins with its trigger. */
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

/**
 * Returns any tokens between branches, including control tokens: those of `run`. Branches and ends
 * begin with other tokens.
 */
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

/** Returns any of `ends`. Each is a list of pieces, which is empty if nothing ends it. */
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

/**
 * Returns text and branches in `order`. `uses` has the rules that branches use; the rule declared
 * here is added to it.
 */
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

/**
 * Declares any number of tokens that are not in `excluded` and that together are whole characters.
 * Adds its rules to `uses`.
 */
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
  // If no ordinary token is excluded they are text, which needs no list of their ids.
  const controls = [...tokens.specials.values()].filter(
    (id) => !excluded.has(id) && !tokens.endIds.includes(id),
  )
  const text = terms.expr(exprs.anyText)
  return () => terms.concat(text, terms.star(terms.concat(terms.token(controls), text)))
}
