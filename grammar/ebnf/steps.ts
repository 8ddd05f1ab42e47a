/**
 * The frames of rules: a frame is the remainder of a term.
 *
 * A frame waits below a symbol that is being read, and holds the term after it. When the symbol
 * ends, the steps of that term follow: its first lexemes, each with the frames of all that remains,
 * innermost last. An empty remainder pushes no frame, so a rule at the end of another leaves no
 * trace: the stacks of a grammar that only iterates do not grow.
 */

import { budgetFrame, EmptyLexeme } from "../budget.ts"
import { Frame, type SharedSteps, type Step } from "../frame.ts"
import { nonEmptyLexeme } from "../lexeme/nonempty.ts"
import { exprLexeme } from "../lexeme/raw.ts"
import { factored } from "./factored.ts"
import type { NormalRules } from "./normal.ts"
import { nothing, StepSharing } from "./sharedsteps.ts"
import { ShortestTexts } from "./shortest.ts"
import { Kind, type Term, type Terms } from "./terms.ts"

export class RuleLanguage {
  readonly terms: Terms
  private readonly normal: NormalRules
  private readonly frames = new Map<Term, RuleFrame>()
  private readonly branchFrames = new Map<number, BranchFrame>()
  private readonly termSteps = new Map<Term, readonly Step[]>()
  private readonly ruleSteps = new Map<number, readonly Step[]>()
  /** The text of each lexeme that reads exactly one text. */
  private readonly texts = new Map<number, Uint8Array>()
  private readonly sharing: StepSharing
  private readonly ends: ShortestTexts

  /** Steps are shared instead of listed above `maxSteps` and `times`, see `StepSharing`. */
  constructor(normal: NormalRules, maxSteps?: number, times?: number) {
    this.terms = normal.terms
    this.normal = normal
    const parts = {
      below: (rest: Term) => this.below(rest),
      stepsOf: (firsts: Iterable<readonly [Term, Term]>) => this.stepsOf(firsts),
    }
    this.sharing = new StepSharing(normal, parts, maxSteps, times)
    this.ends = new ShortestTexts(normal)
  }

  /**
   * Returns the ways to begin a text of `rule`. If there are too many, this is one step with a
   * frame that shares the steps of its non-empty texts.
   */
  start(rule: number): readonly Step[] {
    const { terms, normal } = this
    const term = terms.rule(rule)
    if (this.shared(term) === null) return this.steps(term)
    const isNullable = normal.isNullable(term)
    const start = { lexeme: EmptyLexeme, frames: [this.frame(terms.rule(rule, isNullable))] }
    return isNullable ? [start, nothing] : [start]
  }

  /**
   * Returns what `steps` would return in shared form, if it is too long to list; null otherwise.
   */
  shared(term: Term): SharedSteps | null {
    return this.sharing.of(term)
  }

  /**
   * Returns the ways to begin `term`. One of them reads nothing if `term` may be empty. The list is
   * empty if `term` has no text.
   */
  steps(term: Term): readonly Step[] {
    let steps = this.termSteps.get(term)
    if (steps === undefined) {
      const isRule = this.terms.kind(term) === Kind.Rule
      if (isRule && !this.normal.isProductive(this.terms.at(term, 1))) return []
      steps = this.stepsOf(this.normal.linear(term), this.normal.isNullable(term))
      this.termSteps.set(term, steps)
    }
    return steps
  }

  /** Returns a shortest text of `term`. Throws `limit` if it is too long. */
  shortest(term: Term): Uint8Array {
    return this.ends.shortest(term)
  }

  /** Returns whether `term` matches the empty text and any concatenation of its texts. */
  isIdempotent(term: Term): boolean {
    return this.normal.isIdempotent(term)
  }

  /**
   * Returns the ways to begin one of `firsts`: first symbols, each with what remains after it.
   * `isNullable` adds the way that reads nothing.
   */
  private stepsOf(
    firsts: Iterable<readonly [symbol: Term, rest: Term]>,
    isNullable = false,
  ): readonly Step[] {
    const steps: Step[] = []
    for (const [symbol, rest] of firsts) this.addSteps(steps, symbol, rest)
    if (isNullable) steps.push(nothing)
    // A budget counts for a single reading, so each reading needs a thread of its own.
    return this.terms.hasBudgets ? steps : factored(steps, this.texts)
  }

  private addSteps(steps: Step[], symbol: Term, rest: Term): void {
    const { terms } = this
    const below = this.below(rest)
    switch (terms.kind(symbol)) {
      case Kind.Expr: {
        const lexeme = exprLexeme(terms.at(symbol, 1))
        const text = terms.textOf(symbol)
        if (text !== undefined) this.texts.set(lexeme, text)
        steps.push({ lexeme, frames: below })
        return
      }
      case Kind.Lexeme:
        steps.push({ lexeme: terms.at(symbol, 1), frames: below })
        return
      case Kind.Branch: {
        const branch = terms.at(symbol, 1)
        steps.push({ lexeme: terms.branches[branch].lexeme, frames: [...below, this.branchFrame(branch)] })
        return
      }
      case Kind.Nested: {
        const isNonEmpty = terms.at(symbol, 2) === 1
        for (const { lexeme, frames } of terms.grammars[terms.at(symbol, 1)].start) {
          const first = isNonEmpty && frames.length === 0 ? nonEmptyLexeme(lexeme) : lexeme
          if (first !== 0) steps.push({ lexeme: first, frames: [...below, ...frames] })
        }
        return
      }
      case Kind.Rule:
        for (const { lexeme, frames } of this.stepsOfRule(terms.at(symbol, 1))) {
          steps.push({ lexeme, frames: below.length === 0 ? frames : [...below, ...frames] })
        }
        return
      case Kind.Budget: {
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

  /** Returns the ways to begin a non-empty text of `rule`. */
  private stepsOfRule(rule: number): readonly Step[] {
    let steps = this.ruleSteps.get(rule)
    if (steps === undefined) {
      steps = this.stepsOf(this.normal.form(rule))
      this.ruleSteps.set(rule, steps)
    }
    return steps
  }

  /** Returns the frames that wait for `rest`. */
  private below(rest: Term): readonly Frame[] {
    return rest === this.terms.empty ? [] : [this.frame(rest)]
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
}

/** The remainder of a rule. */
class RuleFrame extends Frame {
  override readonly isIdempotent: boolean
  private readonly language: RuleLanguage
  private readonly term: Term
  private text: Uint8Array | null = null

  constructor(language: RuleLanguage, term: Term) {
    super()
    this.language = language
    this.term = term
    this.isIdempotent = language.isIdempotent(term)
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
}

/** The frame below a lexeme whose tag decides what follows. */
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
}
