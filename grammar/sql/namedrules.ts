/**
 * Rules by name. Each is made at its first use, and records the rules that it uses.
 */
import type { RuleId, Rules } from "../ebnf/rules.ts"
import type { Term } from "../ebnf/terms.ts"

/** Makes a term while its rule is lowered. */
export type MakeTerm = () => Term

export class NamedRules {
  readonly rules: Rules
  private readonly known = new Map<string, RuleId>()

  constructor(rules: Rules) {
    this.rules = rules
  }

  /**
   * Returns the rule `name`. `build` declares the rules that it uses by calling `use`, and returns
   * the function that makes its term.
   */
  of(name: string, build: (use: (rule: RuleId) => MakeTerm) => MakeTerm): RuleId {
    const known = this.known.get(name)
    if (known !== undefined) return known
    const rule = this.rules.declare(name)
    this.known.set(name, rule)
    const uses = new Set<RuleId>()
    const make = build((used) => {
      uses.add(used)
      return () => this.rules.use(used)
    })
    this.rules.define(rule, [...uses], make)
    return rule
  }
}
