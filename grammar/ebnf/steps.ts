/**
 * The frames of rules: what remains of a term is what follows.
 *
 * A frame waits below a symbol that is being read and holds the term behind it. When the symbol ends, the steps of that
 * term follow: its first lexemes, each with the frames of all that remains, innermost last. What remains as the empty text
 * pushes no frame, so a rule at the end of another leaves no trace: stacks of a grammar that only iterates stay as they are.
 */

import { budgetFrame, EmptyLexeme } from "../budget.ts"
import { concatenate } from "../bytes.ts"
import { Completions } from "../completions.ts"
import { fixedBounds, limitError } from "../errors.ts"
import { describeSample, type Expectation, Frame, type SharedSteps, type Step } from "../frame.ts"
import { nonEmptyLexeme } from "../lexeme/nonempty.ts"
import { exprLexeme } from "../lexeme/raw.ts"
import { lexemes } from "../lexeme/table.ts"
import { States } from "../state.ts"
import { factored } from "./factored.ts"
import type { LinearForm, NormalRules } from "./normal.ts"
import {
  BranchTerm,
  BudgetTerm,
  CaptureTerm,
  ConcatTerm,
  ExprTerm,
  LexemeTerm,
  NestedTerm,
  NeverTerm,
  OrTerm,
  RepeatTerm,
  RuleTerm,
  StarTerm,
  type Term,
  type Terms,
} from "./terms.ts"

const noBytes = new Uint8Array(0)
/** More steps are not listed: rules of greedy lexemes come in versions, and ten levels of operators in the product of theirs. */
const ManySteps = 2_048
/** Nor are they shared where that would save less: thousands of tools are as many steps either way, and listed they become one lexeme. */
const ManyTimes = 8
/** Counts end here. */
const MaxCount = 1 << 30

export class RuleLanguage {
  readonly terms: Terms
  private readonly normal: NormalRules
  private readonly frames = new Map<Term, RuleFrame>()
  private readonly branchFrames = new Map<number, BranchFrame>()
  private readonly termSteps = new Map<Term, readonly Step[]>()
  private readonly ruleSteps = new Map<number, readonly Step[]>()
  private readonly maxSteps: number
  private readonly times: number
  private readonly sharedSteps = new Map<Term, SharedSteps | null>()
  /** How many steps a rule has. */
  private readonly counts = new Map<number, number>()
  /** The text of a lexeme that reads exactly one. */
  private readonly texts = new Map<number, Uint8Array>()
  /** A shortest text by rule; found for all rules together when the first one is asked for. */
  private witnesses: Map<number, Uint8Array> | null = null

  /** More steps than `maxSteps` are not listed where they are `times` as many as those that share what lies below. */
  constructor(normal: NormalRules, maxSteps = ManySteps, times = ManyTimes) {
    this.maxSteps = maxSteps
    this.times = times
    this.terms = normal.terms
    this.normal = normal
  }

  /** The ways to begin a text of `rule`: where they are too many, the frame that knows those of its texts that are not empty. */
  start(rule: number): readonly Step[] {
    const { terms, normal } = this
    const term = terms.rule(rule)
    if (this.shared(term) === null) return this.steps(term)
    const isNullable = normal.isNullable(term)
    const start = { lexeme: EmptyLexeme, frames: [this.frame(terms.rule(rule, isNullable))] }
    return isNullable ? [start, { lexeme: EmptyLexeme, frames: [] }] : [start]
  }

  /** What `steps` answers, where that is too much to be listed; null where it is not. */
  shared(term: Term): SharedSteps | null {
    let shared = this.sharedSteps.get(term)
    if (shared === undefined) {
      const count = this.countOfTerm(term)
      const made = count > this.maxSteps ? this.makeShared(term) : null
      shared = made !== null && count > this.times * sizeOf(made) ? made : null
      this.sharedSteps.set(term, shared)
    }
    return shared
  }

  /** How many steps `term` has. */
  private countOfTerm(term: Term): number {
    const { terms, normal } = this
    // A budget counts for one reading alone.
    if (terms.hasBudgets || (terms.kind(term) === RuleTerm && !normal.isProductive(terms.at(term, 1))))
      return 0
    return this.countOf(normal.linear(term))
  }

  private countOf(form: LinearForm): number {
    let count = 0
    for (const symbol of form.keys())
      count += this.terms.kind(symbol) === RuleTerm ? this.countOfRule(this.terms.at(symbol, 1)) : 1
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

  /** A place for each rule with which a text may begin. */
  private makeShared(term: Term): SharedSteps {
    const { terms, normal } = this
    const rulesOf = (form: LinearForm) =>
      [...form.keys()]
        .filter((symbol) => terms.kind(symbol) === RuleTerm)
        .map((symbol) => terms.at(symbol, 1))
    const order: number[] = []
    const met = new Set<number>()
    const visit = (rule: number) => {
      if (met.has(rule)) return
      met.add(rule)
      for (const next of rulesOf(normal.form(rule))) visit(next)
      order.push(rule)
    }
    for (const rule of rulesOf(normal.linear(term))) visit(rule)
    // Whatever leads to a rule comes before it.
    order.reverse()
    const placeOf = new Map(order.map((rule, i) => [rule, i + 1]))
    const places: { place: number; frames: readonly Frame[] }[][] = [[], ...order.map(() => [])]
    const steps: { place: number; step: Step }[] = []
    const add = (place: number, form: LinearForm) => {
      const own: Step[] = []
      for (const [symbol, rest] of form) {
        if (terms.kind(symbol) !== RuleTerm) this.addSteps(own, symbol, rest)
        else {
          const frames = rest === terms.empty ? [] : [this.frame(rest)]
          places[placeOf.get(terms.at(symbol, 1)) as number].push({ place, frames })
        }
      }
      for (const step of this.factored(own)) steps.push({ place, step })
    }
    add(0, normal.linear(term))
    for (const [i, rule] of order.entries()) add(i + 1, normal.form(rule))
    if (normal.isNullable(term)) steps.push({ place: 0, step: { lexeme: EmptyLexeme, frames: [] } })
    return { places, steps }
  }

  /** The ways to begin `term`; one of them reads nothing if it may be empty. None: it has no text. */
  steps(term: Term): readonly Step[] {
    let steps = this.termSteps.get(term)
    if (steps === undefined) {
      const isRule = this.terms.kind(term) === RuleTerm
      if (isRule && !this.normal.isProductive(this.terms.at(term, 1))) return []
      const found: Step[] = []
      for (const [symbol, rest] of this.normal.linear(term)) this.addSteps(found, symbol, rest)
      if (this.normal.isNullable(term)) found.push({ lexeme: EmptyLexeme, frames: [] })
      steps = this.factored(found)
      this.termSteps.set(term, steps)
    }
    return steps
  }

  private addSteps(steps: Step[], symbol: Term, rest: Term): void {
    const { terms } = this
    const below = rest === terms.empty ? [] : [this.frame(rest)]
    switch (terms.kind(symbol)) {
      case ExprTerm: {
        const lexeme = exprLexeme(terms.at(symbol, 1))
        const text = terms.textOf(symbol)
        if (text !== undefined) this.texts.set(lexeme, text)
        steps.push({ lexeme, frames: below })
        return
      }
      case LexemeTerm:
        steps.push({ lexeme: terms.at(symbol, 1), frames: below })
        return
      case BranchTerm: {
        const branch = terms.at(symbol, 1)
        steps.push({ lexeme: terms.branches[branch].lexeme, frames: [...below, this.branchFrame(branch)] })
        return
      }
      case NestedTerm: {
        const isNonEmpty = terms.at(symbol, 2) === 1
        for (const { lexeme, frames } of terms.grammars[terms.at(symbol, 1)].start) {
          const first = isNonEmpty && frames.length === 0 ? nonEmptyLexeme(lexeme) : lexeme
          if (first !== 0) steps.push({ lexeme: first, frames: [...below, ...frames] })
        }
        return
      }
      case RuleTerm:
        for (const { lexeme, frames } of this.stepsOfRule(terms.at(symbol, 1))) {
          steps.push({ lexeme, frames: below.length === 0 ? frames : [...below, ...frames] })
        }
        return
      case BudgetTerm: {
        const inner: Step[] = []
        for (const [first, after] of this.normal.linear(terms.at(symbol, 1)))
          this.addSteps(inner, first, after)
        const budget = budgetFrame(terms.at(symbol, 2))
        for (const { lexeme, frames } of inner) steps.push({ lexeme, frames: [...below, budget, ...frames] })
        return
      }
      default:
        throw new Error(`internal: term ${symbol} is no symbol`)
    }
  }

  /** The ways to begin a text of `rule` that is not empty. */
  private stepsOfRule(rule: number): readonly Step[] {
    let steps = this.ruleSteps.get(rule)
    if (steps === undefined) {
      const found: Step[] = []
      for (const [symbol, rest] of this.normal.form(rule)) this.addSteps(found, symbol, rest)
      steps = this.factored(found)
      this.ruleSteps.set(rule, steps)
    }
    return steps
  }

  /** A budget counts for one reading alone, so there each has a thread of its own. */
  private factored(steps: Step[]): readonly Step[] {
    return this.terms.hasBudgets ? steps : factored(steps, this.texts)
  }

  private frame(term: Term): RuleFrame {
    let frame = this.frames.get(term)
    if (frame === undefined) {
      frame = new RuleFrame(this, term)
      this.frames.set(term, frame)
    }
    return frame
  }

  private branchFrame(branch: number): BranchFrame {
    let frame = this.branchFrames.get(branch)
    if (frame === undefined) {
      frame = new BranchFrame(this, branch)
      this.branchFrames.set(branch, frame)
    }
    return frame
  }

  /** A shortest text of `term`. Throws `limit` when it is too long. */
  shortest(term: Term): Uint8Array {
    this.witnesses ??= new Map()
    const { witnesses } = this
    for (;;) {
      let isChanged = false
      const missing = new Set<number>()
      const text = this.shortestKnown(term, witnesses, missing)
      if (text !== null && missing.size === 0) return text
      // Rules that have no witness yet, and all below them, are improved until nothing changes (Knuth 1977, by iteration).
      const rules = this.rulesBelow(term)
      for (const rule of rules) {
        const known = witnesses.get(rule)
        const found = this.shortestKnown(this.normal.body(rule), witnesses, missing)
        if (found !== null && (known === undefined || found.length < known.length)) {
          witnesses.set(rule, found)
          isChanged = true
        }
      }
      if (!isChanged) {
        const settled = this.shortestKnown(term, witnesses, missing)
        if (settled === null) throw new Error(`internal: term ${term} has no text`)
        return settled
      }
    }
  }

  private rulesBelow(term: Term): number[] {
    const { terms } = this
    const rules = new Set<number>()
    const seen = new Set<Term>()
    const open = [term]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (seen.has(at)) continue
      seen.add(at)
      if (terms.kind(at) === RuleTerm) {
        rules.add(terms.at(at, 1))
        open.push(this.normal.body(terms.at(at, 1)))
      }
      open.push(...terms.parts(at))
    }
    return [...rules].reverse()
  }

  /** A shortest text of `term` out of the witnesses known so far; null: none is known. Rules without one go to `missing`. */
  private shortestKnown(
    term: Term,
    witnesses: ReadonlyMap<number, Uint8Array>,
    missing: Set<number>,
  ): Uint8Array | null {
    const { terms } = this
    switch (terms.kind(term)) {
      case NeverTerm:
        return null
      case ExprTerm:
        return lexemes.shortest(exprLexeme(terms.at(term, 1))).bytes
      case LexemeTerm:
        return lexemes.shortest(terms.at(term, 1)).bytes
      case RuleTerm: {
        if (terms.at(term, 2) === 0 && this.normal.isNullable(term)) return noBytes
        const known = witnesses.get(terms.at(term, 1))
        if (known === undefined) missing.add(terms.at(term, 1))
        return known ?? null
      }
      case ConcatTerm: {
        const parts: Uint8Array[] = []
        let rest = term
        for (; terms.kind(rest) === ConcatTerm; rest = terms.at(rest, 2)) {
          const part = this.shortestKnown(terms.at(rest, 1), witnesses, missing)
          if (part === null) return null
          parts.push(part)
        }
        const last = this.shortestKnown(rest, witnesses, missing)
        if (last === null) return null
        return this.checked(concatenate([...parts, last]))
      }
      case OrTerm: {
        let best: Uint8Array | null = null
        for (const member of terms.members(term)) {
          const text = this.shortestKnown(member, witnesses, missing)
          if (text !== null && (best === null || text.length < best.length)) best = text
        }
        return best
      }
      case RepeatTerm: {
        const min = terms.at(term, 2)
        if (min === 0) return noBytes
        const body = this.shortestKnown(terms.at(term, 1), witnesses, missing)
        if (body === null) return null
        if (body.length * min > fixedBounds.shortestBytes) this.refuse(body.length * min)
        return concatenate(new Array(min).fill(body))
      }
      case CaptureTerm:
        return this.shortestKnown(terms.at(term, 2), witnesses, missing)
      case BudgetTerm:
        return this.shortestKnown(terms.at(term, 1), witnesses, missing)
      case BranchTerm: {
        const { rests, narrow, ends } = terms.branches[terms.at(term, 1)]
        const known = ends?.()
        const ways = Array.from(rests, ([tag, rest]) => {
          const before = known?.get(tag) ?? lexemes.shortest(narrow(new Set([tag]))).bytes
          return { before, rest, least: before.length + this.least(rest) }
        })
        const textOf = ({ before, rest }: (typeof ways)[number]) => {
          const after = this.shortestKnown(rest, witnesses, missing)
          return after === null ? null : concatenate([before, after])
        }
        // What is surely longer than another one is not spelled out: a hundred tools have a hundred shortest calls.
        const nearest = ways.reduce((a, b) => (b.least < a.least ? b : a), ways[0])
        const near = nearest === undefined ? null : textOf(nearest)
        const bound = near?.length ?? Number.POSITIVE_INFINITY
        let best: Uint8Array | null = null
        for (const way of ways) {
          if (way.least > bound || (best !== null && way.least >= best.length)) continue
          const text = way === nearest ? near : textOf(way)
          if (text !== null && (best === null || text.length < best.length)) best = text
        }
        return best === null ? null : this.checked(best)
      }
      case NestedTerm: {
        const states = new States(terms.grammars[terms.at(term, 1)])
        return new Completions(states).shortest(states.start)
      }
      default:
        return noBytes
    }
  }

  /** At most as many bytes as any text of `term`. Cost: its parts, but those of the rules that it names. */
  private least(term: Term): number {
    const { terms } = this
    switch (terms.kind(term)) {
      case ExprTerm:
        return lexemes.least(exprLexeme(terms.at(term, 1)))
      case LexemeTerm:
        return lexemes.least(terms.at(term, 1))
      case ConcatTerm: {
        let bytes = 0
        let rest = term
        for (; terms.kind(rest) === ConcatTerm; rest = terms.at(rest, 2))
          bytes += this.least(terms.at(rest, 1))
        return bytes + this.least(rest)
      }
      case NestedTerm: {
        const starts = terms.grammars[terms.at(term, 1)].start.map(leastOfStep)
        return starts.length === 0 ? 0 : Math.min(...starts)
      }
      default:
        return 0
    }
  }

  private checked(text: Uint8Array): Uint8Array {
    if (text.length > fixedBounds.shortestBytes) this.refuse(text.length)
    return text
  }

  private refuse(length: number): never {
    throw limitError(
      fixedBounds,
      "shortestBytes",
      length,
      "",
      (value, bound) =>
        `the shortest text of a rule has at least ${value} bytes, above the bound of ${bound}`,
      "lower its repetitions",
    )
  }
}

/** How many steps there are, and ways from place to place. */
function sizeOf({ places, steps }: SharedSteps): number {
  return places.reduce((size, from) => size + from.length, steps.length)
}

/** At most as many bytes as any text that begins by a step. */
function leastOfStep({ lexeme, frames }: Step): number {
  return frames.reduce(
    (sum, frame) => sum + frame.leastBytes,
    lexeme === EmptyLexeme ? 0 : lexemes.least(lexeme),
  )
}

/** What remains of a rule. */
class RuleFrame extends Frame {
  override readonly isIdempotent: boolean
  private readonly language: RuleLanguage
  private readonly term: Term
  private text: Uint8Array | null = null

  constructor(language: RuleLanguage, term: Term) {
    super()
    this.language = language
    this.term = term
    this.isIdempotent = language.terms.kind(term) === StarTerm
  }

  follow(): readonly Step[] {
    return this.language.steps(this.term)
  }

  override followShared(): SharedSteps | null {
    return this.language.shared(this.term)
  }

  finish(): Uint8Array {
    this.text ??= this.language.shortest(this.term)
    return this.text
  }

  expect(sample: string): Expectation {
    return { what: describeSample(sample), example: sample, path: "" }
  }
}

/** Below a lexeme whose tag decides what follows. */
class BranchFrame extends Frame {
  override readonly readsTag = true
  private readonly language: RuleLanguage
  private readonly rests: ReadonlyMap<number, Term>

  constructor(language: RuleLanguage, branch: number) {
    super()
    this.language = language
    this.rests = language.terms.branches[branch].rests
  }

  follow(tag: number): readonly Step[] {
    const rest = this.rests.get(tag)
    return rest === undefined ? [] : this.language.steps(rest)
  }

  override followShared(tag: number): SharedSteps | null {
    const rest = this.rests.get(tag)
    return rest === undefined ? null : this.language.shared(rest)
  }

  finish(tag: number): Uint8Array {
    return this.language.shortest(this.rests.get(tag) as Term)
  }

  expect(sample: string): Expectation {
    return { what: describeSample(sample), example: sample, path: "" }
  }
}
