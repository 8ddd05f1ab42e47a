/**
 * Steps that are too many to be listed, by what they share.
 *
 * Rules of greedy lexemes come in versions, and ten levels of operators in the product of theirs: a hundred thousand steps over fifty
 * lexemes. Their levels alone are few: each rule with which a text may begin is a place, reached from the rules that begin with it.
 */
import { EmptyLexeme } from "../budget.ts"
import type { Frame, SharedSteps, Step } from "../frame.ts"
import type { NormalRules } from "./normal.ts"
import { Kind, type LinearForm, type Term } from "./terms.ts"

/** More steps are not listed. */
const ManySteps = 2_048
/** Nor are they shared where that would save less: thousands of tools are as many steps either way, and listed they become one lexeme. */
const ManyTimes = 8
/** Counts end here. */
const MaxCount = 1 << 30

/** What the places of shared steps are made of. */
export interface StepParts {
  /** The frames that wait for `rest`, none where it is empty. */
  below(rest: Term): readonly Frame[]
  /** The ways to begin what is listed: first symbols, each with what remains behind it. */
  stepsOf(firsts: Iterable<readonly [symbol: Term, rest: Term]>): readonly Step[]
}

/** The way that reads nothing. */
export const nothing: Step = { lexeme: EmptyLexeme, frames: [] }

export class StepSharing {
  private readonly normal: NormalRules
  private readonly parts: StepParts
  private readonly maxSteps: number
  private readonly times: number
  private readonly shared = new Map<Term, SharedSteps | null>()
  /** How many steps a rule has. */
  private readonly counts = new Map<number, number>()

  /** More steps than `maxSteps` are shared where they are `times` as many as their places and the ways between them. */
  constructor(normal: NormalRules, parts: StepParts, maxSteps = ManySteps, times = ManyTimes) {
    this.normal = normal
    this.parts = parts
    this.maxSteps = maxSteps
    this.times = times
  }

  /** The steps of `term` as they are shared; null where they can be listed. */
  of(term: Term): SharedSteps | null {
    let shared = this.shared.get(term)
    if (shared === undefined) {
      const count = this.countOfTerm(term)
      const made = count > this.maxSteps ? this.make(term) : null
      shared = made !== null && count > this.times * sizeOf(made) ? made : null
      this.shared.set(term, shared)
    }
    return shared
  }

  private countOfTerm(term: Term): number {
    const { normal } = this
    const { terms } = normal
    // A budget counts for one reading alone.
    if (terms.hasBudgets || (terms.kind(term) === Kind.Rule && !normal.isProductive(terms.at(term, 1))))
      return 0
    return this.countOf(normal.linear(term))
  }

  private countOf(form: LinearForm): number {
    const { terms } = this.normal
    let count = 0
    for (const symbol of form.keys())
      count += terms.kind(symbol) === Kind.Rule ? this.countOfRule(terms.at(symbol, 1)) : 1
    return Math.min(count, MaxCount)
  }

  private countOfRule(rule: number): number {
    let count = this.counts.get(rule)
    if (count === undefined) {
      count = this.countOf(this.normal.form(rule))
      this.counts.set(rule, count)
    }
    return count
  }

  /** A place for each rule with which a text of `term` may begin. */
  private make(term: Term): SharedSteps {
    const { normal, parts } = this
    const { terms } = normal
    const order = this.rulesBefore(term)
    const placeOf = new Map(order.map((rule, i) => [rule, i + 1]))
    const places: { place: number; frames: readonly Frame[] }[][] = [[], ...order.map(() => [])]
    const steps: { place: number; step: Step }[] = []
    const add = (place: number, form: LinearForm) => {
      const own: [Term, Term][] = []
      for (const [symbol, rest] of form) {
        if (terms.kind(symbol) !== Kind.Rule) own.push([symbol, rest])
        else places[placeOf.get(terms.at(symbol, 1)) as number].push({ place, frames: parts.below(rest) })
      }
      for (const step of parts.stepsOf(own)) steps.push({ place, step })
    }
    add(0, normal.linear(term))
    for (const [i, rule] of order.entries()) add(i + 1, normal.form(rule))
    if (normal.isNullable(term)) steps.push({ place: 0, step: nothing })
    return { places, steps }
  }

  /** The rules with which a text of `term` may begin; whatever leads to a rule comes before it. */
  private rulesBefore(term: Term): number[] {
    const { normal } = this
    const order: number[] = []
    const met = new Set<number>()
    const visit = (form: LinearForm) => {
      for (const symbol of form.keys()) {
        if (normal.terms.kind(symbol) !== Kind.Rule) continue
        const rule = normal.terms.at(symbol, 1)
        if (met.has(rule)) continue
        met.add(rule)
        visit(normal.form(rule))
        order.push(rule)
      }
    }
    visit(normal.linear(term))
    return order.reverse()
  }
}

/** How many steps there are, and ways from place to place. */
function sizeOf({ places, steps }: SharedSteps): number {
  return places.reduce((size, from) => size + from.length, steps.length)
}
