/**
 * Lists the budgets of a grammar, so that a vocabulary can check whether it can keep them.
 */
import type { BudgetPart } from "../budget.ts"
import { GrammarError } from "../errors.ts"
import type { NormalRules } from "./normal.ts"
import type { RuleLanguage } from "./steps.ts"
import { Kind, type Term, type Terms } from "./terms.ts"

/**
 * Returns the parts with budgets that `start` reaches, those of nested grammars included. Throws
 * `unsupported` for a part that begins with itself: there, infinitely many budgets would begin at
 * one place.
 */
export function budgetParts(normal: NormalRules, language: RuleLanguage, start: Term): BudgetPart[] {
  const { terms } = normal
  const parts: BudgetPart[] = []
  const seen = new Set<Term>()
  const open = [start]
  for (let term = open.pop(); term !== undefined; term = open.pop()) {
    if (seen.has(term)) continue
    seen.add(term)
    terms.addParts(open, term)
    switch (terms.kind(term)) {
      case Kind.Rule:
        open.push(normal.body(terms.at(term, 1)))
        break
      case Kind.Nested:
        parts.push(...terms.grammars[terms.at(term, 1)].budgets)
        break
      case Kind.Budget: {
        const name = terms.budgets.get(term) as string
        if (beginsWithItself(normal, term)) throw new GrammarError("unsupported", "", refusal(name))
        const budget = term
        parts.push({ name, maxTokens: terms.at(term, 2), begin: () => language.steps(budget) })
      }
    }
  }
  return parts
}

function refusal(name: string): string {
  return `${name === "" ? "a part" : `rule ${name}`} with max_tokens begins with itself. Let it repeat by * or +, or recur at its end`
}

/** Returns whether reading `budget` can begin with reading it. */
function beginsWithItself(normal: NormalRules, budget: Term): boolean {
  const { terms } = normal
  const seen = new Set<Term>()
  const open = firstSymbols(terms, normal, budget)
  for (let symbol = open.pop(); symbol !== undefined; symbol = open.pop()) {
    if (symbol === budget) return true
    if (seen.has(symbol)) continue
    seen.add(symbol)
    open.push(...firstSymbols(terms, normal, symbol))
  }
  return false
}

function firstSymbols(terms: Terms, normal: NormalRules, symbol: Term): Term[] {
  switch (terms.kind(symbol)) {
    case Kind.Rule:
      return [...normal.form(terms.at(symbol, 1)).keys()]
    case Kind.Budget:
      return [...normal.linear(terms.at(symbol, 1)).keys()]
    default:
      return []
  }
}
