/**
 * Rules in the form that captures are read with: as they were written, with the set of recursive
 * ones.
 */
import { components } from "../components.ts"
import { Kind, type Term, type Terms } from "../terms.ts"

export class CapturingRules {
  readonly terms: Terms
  readonly start: Term
  readonly bodyOf: (rule: number) => Term
  /** Rules that reach themselves; null if not computed yet. */
  private recursive: ReadonlySet<number> | null = null

  constructor(terms: Terms, start: Term, bodyOf: (rule: number) => Term) {
    this.terms = terms
    this.start = start
    this.bodyOf = bodyOf
  }

  /** Returns whether `rule`, which the start reaches, reaches itself. */
  isRecursive(rule: number): boolean {
    this.recursive ??= this.findRecursive()
    return this.recursive.has(rule)
  }

  private findRecursive(): ReadonlySet<number> {
    const recursive = new Set<number>()
    const callees = new Map<number, readonly number[]>()
    // The start has no id among the rules.
    const calleesOf = (rule: number) => {
      const found = this.rulesIn(rule < 0 ? this.start : this.bodyOf(rule))
      callees.set(rule, found)
      return found
    }
    for (const members of components(-1, calleesOf)) {
      if (members.length === 1 && !callees.get(members[0])?.includes(members[0])) continue
      for (const member of members) recursive.add(member)
    }
    return recursive
  }

  private rulesIn(term: Term): number[] {
    const { terms } = this
    const rules = [...terms.within(term)].filter((part) => terms.kind(part) === Kind.Rule)
    return rules.map((part) => terms.at(part, 1))
  }
}
