/**
 * Shared steps: a compact form of the steps of terms that have too many to list.
 *
 * Rules with greedy lexemes exist in several versions, and ten levels of operators in all
 * combinations of these versions: a hundred thousand steps over fifty lexemes. But the levels
 * themselves are few. So each rule that can begin a text is a place, and is reached from the rules
 * that begin with it.
 */
import { EmptyLexeme } from "../budget.ts"
import type { Frame, SharedSteps, Step } from "../frame.ts"
import type { NormalRules } from "./normal.ts"
import { Kind, type LinearForm, type Term } from "./terms.ts"

/** Steps up to this number are listed. */
const ManySteps = 2_048
/**
 * Steps are also listed if their number is at most this many times the size of the shared form.
 * Thousands of tools are as many steps in either form, and listed steps become one lexeme.
 */
const ManyTimes = 8
/** Counts saturate here. */
const MaxCount = 1 << 30

/** The functions that build the places of shared steps. */
export interface StepParts {
  /** Returns the frames that wait for `rest`: none if it is empty. */
  below(rest: Term): readonly Frame[]
  /** Returns the ways to begin one of `firsts`: first symbols, each with what remains after it. */
  stepsOf(firsts: Iterable<readonly [symbol: Term, rest: Term]>): readonly Step[]
}

/** The step that reads nothing. */
export const nothing: Step = { lexeme: EmptyLexeme, frames: [] }

export class StepSharing {
  private readonly normal: NormalRules
  private readonly parts: StepParts
  private readonly maxSteps: number
  private readonly times: number
  private readonly shared = new Map<Term, SharedSteps | null>()
  /** By rule: how many steps it has. */
  private readonly counts = new Map<number, number>()

  /**
   * Steps are shared if their number is greater than `maxSteps`, and greater than `times` the size
   * of the shared form, which is the number of its steps and edges.
   */
  constructor(normal: NormalRules, parts: StepParts, maxSteps = ManySteps, times = ManyTimes) {
    this.normal = normal
    this.parts = parts
    this.maxSteps = maxSteps
    this.times = times
  }

  /** Returns the steps of `term` in shared form; null if they can be listed. */
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
    // A budget counts for a single reading, so its steps are listed.
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

  /** Makes a place for each rule that can begin a text of `term`. */
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

  /**
   * Returns the rules that can begin a text of `term`. A rule comes after the rules that lead to
   * it.
   */
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

/** Returns the number of steps and of edges between places. */
function sizeOf({ places, steps }: SharedSteps): number {
  return places.reduce((size, from) => size + from.length, steps.length)
}
