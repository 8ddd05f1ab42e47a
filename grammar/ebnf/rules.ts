/**
 * Rules: every notation (GBNF, Lark, structural tags, tool-call styles) writes into them, and they
 * make the grammar.
 *
 * A front end declares its rules, then defines each by the rules that it uses and a function that
 * makes its term. Rules are lowered callees first, so that a regular rule stands in other rules as
 * its expression and fuses with its neighbours (`terms.ts`). A recursive rule remains a reference,
 * unless it recurs only at one of its ends: then it is a loop (Arden, Delayed Logic and Finite
 * State Machines, 1961). Names are labels for messages. The id is the identity, so a notation
 * inside another has its own scope.
 */
import { checkTime } from "../deadline.ts"
import { checkLimit, type Limits } from "../errors.ts"
import { Grammar, type GuardedGrammar } from "../grammar.ts"
import { LazyGrammars } from "../lazy.ts"
import { NoBytes } from "../lexeme/bytesets.ts"
import type { PlacedPattern } from "../regex/foreign.ts"
import { budgetParts } from "./budgets.ts"
import { RuleCaptures } from "./captures/reader.ts"
import { components } from "./components.ts"
import { GreedyRules } from "./greedy.ts"
import { checkRules } from "./least.ts"
import { NormalRules } from "./normal.ts"
import { RuleLanguage } from "./steps.ts"
import { Kind, type Term, Terms } from "./terms.ts"
import { type TokenNames, tokenSpelled } from "./tokennames.ts"

export type RuleId = number

/** The name of a grammar, and the properties that its text states for the whole grammar. */
interface RulesIdentity {
  readonly key: () => string
  readonly title: string
  readonly isForced?: boolean
}

interface Definition {
  readonly name: string
  uses: readonly RuleId[]
  lower: (() => Term) | null
  /** Null until the rule is lowered. */
  term: Term | null
  /** Whether the rule can reach itself. */
  isRecursive: boolean
}

export class Rules {
  readonly terms: Terms
  readonly limits: Limits
  /** Null if there is no vocabulary: then control tokens are read as their spelling. */
  readonly tokens: TokenNames | null
  /** The schemas inside the rules. */
  readonly schemas = new LazyGrammars()
  /** The regular expressions that were read, for the report. */
  readonly patterns: PlacedPattern[] = []
  private readonly definitions: Definition[] = []

  constructor(limits: Limits, tokens: TokenNames | null = null) {
    this.limits = limits
    this.tokens = tokens
    this.terms = new Terms(limits)
  }

  /** Declares a rule that is to be defined; `name` is for messages. */
  declare(name: string): RuleId {
    checkLimit(this.limits, "rules", this.definitions.length + 1)
    return this.definitions.push({ name, uses: [], lower: null, term: null, isRecursive: false }) - 1
  }

  /** Defines a rule. `lower` runs later, after those of `uses`, and gets their terms from `use`. */
  define(rule: RuleId, uses: readonly RuleId[], lower: () => Term): void {
    const definition = this.definitions[rule]
    if (definition.lower !== null) throw new Error(`internal: rule ${definition.name} is defined twice`)
    definition.uses = uses
    definition.lower = lower
  }

  nameOf(rule: RuleId): string {
    return this.definitions[rule].name
  }

  /**
   * Returns the term that stands for a rule inside another: the rule's own term if it is one
   * symbol, else a reference. Valid only while the other rule is lowered.
   */
  use(rule: RuleId): Term {
    const { term, isRecursive } = this.definitions[rule]
    if (term === null || isRecursive) return this.terms.rule(rule)
    switch (this.terms.kind(term)) {
      case Kind.Never:
      case Kind.Empty:
      case Kind.Expr:
      case Kind.Lexeme:
      case Kind.Greedy:
      case Kind.Nested:
      case Kind.Rule:
        return term
      default:
        return this.terms.rule(rule)
    }
  }

  /** Returns the term of a rule once all are lowered. */
  termOf(rule: RuleId): Term {
    const { term, name } = this.definitions[rule]
    if (term === null) throw new Error(`internal: rule ${name} is not lowered`)
    return term
  }

  /**
   * Returns the control token spelled `name`; null if there is no such token. Without a vocabulary
   * it is the text of its spelling.
   */
  special(name: string): Term | null {
    if (this.tokens === null) return this.terms.text(name)
    const id = tokenSpelled(name, this.tokens)
    return id < 0 ? null : this.terms.token([id])
  }

  /** Returns the grammar that begins with `start`; null if no text satisfies it. Throws `limit`. */
  grammar(start: RuleId, options: RulesIdentity): Grammar | null {
    this.lowerAll(start)
    const bodyOf = (rule: number) => this.termOf(rule)
    checkRules(this.terms, start, bodyOf, (rule) => this.nameOf(rule))
    if (!this.terms.hasGreedy) return this.grammarOf(start, bodyOf, options, null)
    const term = this.terms.rule(start)
    const greedy = new GreedyRules(this.terms, bodyOf, this.definitions.length, this.limits)
    const versions = new Map<number, Grammar | null>()
    const guards: GuardedGrammar = {
      leaves: (before) => greedy.leaves(term, before),
      version: (before, after) => {
        const rule = greedy.versionRule(term, before, after)
        if (!versions.has(rule)) versions.set(rule, this.grammarOf(rule, greedy.bodyOf, options, null))
        return versions.get(rule) as Grammar | null
      },
    }
    return this.grammarOf(greedy.versionRule(term, NoBytes, null), greedy.bodyOf, options, guards)
  }

  /**
   * Returns the grammar of `start`. `bodyOf` returns the bodies of rules, none of which has greedy
   * lexemes.
   */
  private grammarOf(
    start: RuleId,
    bodyOf: (rule: number) => Term,
    options: RulesIdentity,
    guards: GuardedGrammar | null,
  ): Grammar | null {
    const normal = new NormalRules(this.terms, bodyOf)
    const language = new RuleLanguage(normal)
    const term = this.terms.rule(start)
    const { limits } = this
    const { readsTokens } = this.terms
    // Refuses a budget that begins with itself. It must run first: such a budget has infinitely
    // many steps.
    const budgets =
      this.terms.hasBudgets && normal.isProductive(start) ? budgetParts(normal, language, term) : []
    const steps = language.start(start)
    return steps.length === 0
      ? null
      : new Grammar(steps, {
          ...options,
          limits,
          readsTokens,
          budgets,
          guards,
          // A budget counts for a single reading.
          unites: budgets.length === 0,
          captures: this.terms.hasCaptures ? new RuleCaptures(this.terms, term, bodyOf, limits) : null,
        })
  }

  /** Lowers `start` and all rules that it reaches, callees first. Linear in rules and uses. */
  private lowerAll(start: RuleId): void {
    const usesOf = (rule: RuleId) => this.definitions[rule].uses
    for (const members of components(start, usesOf)) this.lowerTogether(members)
  }

  /** Lowers rules that reach each other, or one rule that does not reach itself. */
  private lowerTogether(members: readonly RuleId[]): void {
    const isRecursive = members.length > 1 || this.definitions[members[0]].uses.includes(members[0])
    for (const rule of members) this.definitions[rule].isRecursive = isRecursive
    for (const rule of members) {
      checkTime()
      const definition = this.definitions[rule]
      if (definition.term !== null) continue
      if (definition.lower === null) throw new Error(`internal: rule ${definition.name} is not defined`)
      definition.term = definition.lower()
      definition.lower = null
    }
    if (members.length > 1 || !isRecursive) return
    const definition = this.definitions[members[0]]
    const looped = this.looped(members[0], definition.term as Term)
    if (looped === null) return
    definition.term = looped
    definition.isRecursive = false
  }

  /**
   * Returns the term of `rule` as a loop, if the rule occurs in its own term only at the end of
   * alternatives, or only at their beginning; else null.
   */
  private looped(rule: RuleId, term: Term): Term | null {
    const { terms } = this
    const self = terms.rule(rule)
    const alternatives = terms.kind(term) === Kind.Or ? terms.members(term) : [term]
    const others: Term[] = []
    const before: Term[] = []
    const after: Term[] = []
    for (const alternative of alternatives) {
      if (alternative === self) continue
      if (!this.mentions(alternative, rule)) {
        others.push(alternative)
        continue
      }
      if (terms.kind(alternative) !== Kind.Concat) return null
      const parts = terms.row(alternative)
      if (parts[parts.length - 1] === self) before.push(terms.concat(...parts.slice(0, -1)))
      else if (parts[0] === self) after.push(terms.concat(...parts.slice(1)))
      else return null
    }
    if (before.length > 0 && after.length > 0) return null
    if ([...before, ...after].some((part) => this.mentions(part, rule))) return null
    const base = terms.or(others)
    return after.length > 0
      ? terms.concat(base, terms.star(terms.or(after)))
      : terms.concat(terms.star(terms.or(before)), base)
  }

  /** Returns whether `term` refers to `rule` directly, not through other rules. */
  private mentions(term: Term, rule: RuleId): boolean {
    const { terms } = this
    return [...terms.within(term)].some((at) => terms.kind(at) === Kind.Rule && terms.at(at, 1) === rule)
  }
}
