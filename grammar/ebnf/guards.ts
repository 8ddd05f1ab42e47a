/**
 * Guards: what greedy lexemes forbid after them.
 *
 * Where a greedy lexeme ends it leaves a guard behind: the bytes that could have continued it, none
 * of which may come next. Where a part is empty the guard before it stays. So what a rule leaves
 * behind depends on the guard before it, and all guards that it may leave are a least fixpoint over
 * pairs of a rule and a guard.
 */
import { checkLimit, GrammarError, type Limits } from "../errors.ts"
import type { Step } from "../frame.ts"
import type { Grammar } from "../grammar.ts"
import { PairMap } from "../intern.ts"
import { AllBytes, NoBytes, sharedBytes, uniteBytes } from "../lexeme/bytesets.ts"
import { exprs } from "../lexeme/expr/expr.ts"
import { bytesOn, type Ends, endsOf, firstNotLexeme, tagsReached } from "../lexeme/greedy.ts"
import { exprLexeme } from "../lexeme/raw.ts"
import { Dead, lexemes } from "../lexeme/table.ts"
import { Kind, maxOf, type Term, type Terms } from "./terms.ts"

const noGuards: ReadonlySet<number> = new Set()
const noBudget = "max_tokens=0 on a part with greedy lexemes. Leave the part out"

export class Guards {
  private readonly terms: Terms
  private readonly limits: Limits
  private readonly bodyOf: (rule: number) => Term
  private steps = 0
  /** (term, guard before) → index of the result of `leaves`. */
  private readonly termPairs = new PairMap()
  private readonly termLeaves: ReadonlySet<number>[] = []
  /** (rule, guard before) → index of the guards known so far. */
  private readonly rulePairs = new PairMap()
  private readonly ruleLeaves: ReadonlySet<number>[] = []
  /** Pairs of a rule and a guard before it whose guards are not all known yet. */
  private open: { readonly index: number; readonly rule: number; readonly before: number }[] = []
  private isSearching = false
  private isChanged = false
  /** By term: whether it contains no greedy lexeme. */
  private readonly plain = new Map<Term, boolean>()
  /** By rule: the first bytes of its texts. */
  private readonly firsts = new Map<number, number>()

  constructor(terms: Terms, bodyOf: (rule: number) => Term, limits: Limits) {
    this.terms = terms
    this.bodyOf = bodyOf
    this.limits = limits
  }

  /**
   * Returns the guards that `term` may leave behind after the guard `before`. Empty if `term` has
   * no text there.
   */
  leaves(term: Term, before: number): ReadonlySet<number> {
    const known = this.termPairs.get(term, before)
    if (known >= 0) return this.termLeaves[known]
    if (this.isSearching) return this.find(term, before)
    this.isSearching = true
    // If a search was aborted, the rules that it had begun are still open.
    this.isChanged = this.open.length > 0
    try {
      let all = this.find(term, before)
      // A least fixpoint: rules leave nothing at first, and are evaluated again until none leaves
      // more. Rules that others use come first.
      while (this.isChanged) {
        this.isChanged = false
        for (let i = this.open.length - 1; i >= 0; i--) {
          const { index, rule, before: guard } = this.open[i]
          const more = this.find(this.bodyOf(rule), guard)
          if (more.size === this.ruleLeaves[index].size) continue
          this.ruleLeaves[index] = more
          this.isChanged = true
        }
      }
      if (this.open.length > 0) all = this.find(term, before)
      this.open = []
      this.termPairs.set(term, before, this.termLeaves.push(all) - 1)
      return all
    } finally {
      this.isSearching = false
    }
  }

  private leavesOfRule(rule: number, before: number): ReadonlySet<number> {
    const known = this.rulePairs.get(rule, before)
    if (known >= 0) return this.ruleLeaves[known]
    const index = this.ruleLeaves.push(noGuards) - 1
    this.rulePairs.set(rule, before, index)
    this.open.push({ index, rule, before })
    this.isChanged = true
    return noGuards
  }

  /** Computes `leaves` from the guards of rules known so far. */
  private find(term: Term, before: number): ReadonlySet<number> {
    const { terms } = this
    this.count()
    switch (terms.kind(term)) {
      case Kind.Never:
        return noGuards
      case Kind.Empty:
        return new Set([before])
      case Kind.Expr:
        return this.leavesOfLexeme(exprLexeme(terms.at(term, 1)), before)
      case Kind.Lexeme:
        return this.leavesOfLexeme(terms.at(term, 1), before)
      case Kind.Greedy: {
        const ends = this.endsOf(term)
        const guards = ends.reached(before)
        return this.isNullable(term) ? new Set([...guards, uniteBytes(before, ends.emptyGuard)]) : guards
      }
      case Kind.Rule:
        return this.leavesOfRule(terms.at(term, 1), before)
      case Kind.Concat: {
        const [first, ...others] = terms.row(term)
        return others.reduce((guards, part) => this.findBehind(guards, part), this.find(first, before))
      }
      case Kind.Or: {
        const guards = new Set<number>()
        for (const member of terms.members(term)) addAll(guards, this.leaves(member, before))
        return guards
      }
      case Kind.Star:
        return this.boundariesOf(terms.at(term, 1), before)
      case Kind.Repeat:
        return this.findRepeated(terms.at(term, 1), before, terms.at(term, 2), maxOf(terms.at(term, 3)))
      case Kind.Capture:
        return this.find(terms.at(term, 2), before)
      case Kind.Budget:
        if (terms.at(term, 2) > 0) return this.find(terms.at(term, 1), before)
        if (!this.isPlain(terms.at(term, 1))) throw new GrammarError("unsupported", "", noBudget)
        return this.find(terms.at(term, 1), AllBytes).size > 0 ? new Set([before]) : noGuards
      case Kind.Branch: {
        const { lexeme, rests } = terms.branches[terms.at(term, 1)]
        const guards = new Set<number>()
        for (const tag of this.tagsOf(term, before))
          addAll(guards, this.find(rests.get(tag) as Term, NoBytes))
        const empty = rests.get(lexemes.tags[lexeme])
        if (empty !== undefined) addAll(guards, this.find(empty, before))
        return guards
      }
      case Kind.Nested:
        return this.leavesOfGrammar(terms.grammars[terms.at(term, 1)], before)
      default:
        throw new Error(`internal: term ${term} has no kind`)
    }
  }

  private findBehind(guards: ReadonlySet<number>, term: Term): ReadonlySet<number> {
    const behind = new Set<number>()
    for (const guard of guards) addAll(behind, this.leaves(term, guard))
    return behind
  }

  private findRepeated(body: Term, before: number, min: number, max: number): ReadonlySet<number> {
    const all = new Set<number>()
    const met = new Set<string>()
    let guards: ReadonlySet<number> = new Set([before])
    for (let round = 0; ; round++) {
      if (round >= min) addAll(all, guards)
      const key = sorted(guards).join()
      if (round === max || guards.size === 0 || met.has(key)) return all
      if (round >= min) met.add(key)
      const next = this.findBehind(guards, body)
      // All rounds after one that changes nothing are alike.
      if (sorted(next).join() === key) return addAll(all, guards)
      guards = next
    }
  }

  private leavesOfLexeme(lexemeState: number, before: number): ReadonlySet<number> {
    const guards = new Set<number>()
    if (firstNotLexeme(lexemeState, before) !== Dead) guards.add(NoBytes)
    if (lexemes.tags[lexemeState] !== 0) guards.add(before)
    return guards
  }

  private leavesOfGrammar(grammar: Grammar, before: number): ReadonlySet<number> {
    if (grammar.guards !== null) return grammar.guards.leaves(before)
    const guards = new Set<number>()
    if (firstNotSteps(grammar, before).length > 0) guards.add(NoBytes)
    if (grammar.isNullable) guards.add(before)
    return guards
  }

  /** Returns the tags with which a branch may end after `before`, if it reads something. */
  tagsOf(term: Term, before: number): number[] {
    const { lexeme, rests } = this.terms.branches[this.terms.at(term, 1)]
    const isAny = lexemes.tags[lexeme] === 0 && sharedBytes(bytesOn(lexeme), before) === NoBytes
    if (isAny) return [...rests.keys()]
    const tags = tagsReached(lexeme, before, this.count)
    return [...rests.keys()].filter((tag) => tags.has(tag))
  }

  /** Returns the ends of a greedy lexeme. */
  endsOf(greedy: Term): Ends {
    return endsOf(exprLexeme(this.terms.at(greedy, 1)), this.count)
  }

  /** Returns whether a greedy lexeme may be empty. */
  isNullable(greedy: Term): boolean {
    return exprs.nullable(this.terms.at(greedy, 1))
  }

  /** Counts one more step of the search. Throws `limit`. */
  readonly count = (): void => {
    checkLimit(this.limits, "satSteps.greedy", ++this.steps)
  }

  /** Returns the guards before, between and after any number of rounds of `body`. */
  boundariesOf(body: Term, before: number): Set<number> {
    const guards = new Set([before])
    for (const guard of guards) addAll(guards, this.leaves(body, guard))
    return guards
  }

  /** Returns whether `term` never matches the empty text, whatever the guards. */
  isNeverEmpty(term: Term): boolean {
    return this.leaves(term, AllBytes).size === 0
  }

  /** Returns whether `term` contains no greedy lexeme. */
  isPlain(term: Term): boolean {
    const { terms, plain } = this
    let isPlain = plain.get(term)
    if (isPlain !== undefined) return isPlain
    isPlain = true
    const met = new Set<Term>([term])
    for (const at of met) {
      const known = plain.get(at)
      const kind = terms.kind(at)
      const isGuarded = kind === Kind.Nested && terms.grammars[terms.at(at, 1)].guards !== null
      if (kind === Kind.Greedy || isGuarded || known === false) isPlain = false
      if (!isPlain) break
      if (known === true) continue
      if (kind === Kind.Rule) met.add(this.bodyOf(terms.at(at, 1)))
      for (const part of terms.parts(at)) met.add(part)
    }
    if (isPlain) for (const at of met) plain.set(at, true)
    else plain.set(term, false)
    return isPlain
  }

  /** Returns a superset of the first bytes of the texts of `term`. */
  first(term: Term): number {
    const rules = this.rulesBelow(term)
    for (const rule of rules) this.firsts.set(rule, NoBytes)
    for (let isChanged = rules.size > 0; isChanged; ) {
      isChanged = false
      for (const rule of rules) {
        const bytes = this.firstOf(this.bodyOf(rule))
        isChanged ||= bytes !== this.firsts.get(rule)
        this.firsts.set(rule, bytes)
      }
    }
    return this.firstOf(term)
  }

  /** Returns the rules that `term` reaches and whose first bytes are unknown. */
  private rulesBelow(term: Term): Set<number> {
    const { terms } = this
    const rules = new Set<number>()
    const met = new Set<Term>([term])
    for (const at of met) {
      if (terms.kind(at) === Kind.Rule && !this.firsts.has(terms.at(at, 1))) {
        rules.add(terms.at(at, 1))
        met.add(this.bodyOf(terms.at(at, 1)))
      }
      for (const part of terms.parts(at)) met.add(part)
    }
    return rules
  }

  private firstOf(term: Term): number {
    const { terms } = this
    this.count()
    switch (terms.kind(term)) {
      case Kind.Expr:
      case Kind.Greedy:
        return bytesOn(exprLexeme(terms.at(term, 1)))
      case Kind.Lexeme:
        return bytesOn(terms.at(term, 1))
      case Kind.Rule:
        return this.firsts.get(terms.at(term, 1)) ?? NoBytes
      case Kind.Concat: {
        const bytes = this.firstOf(terms.at(term, 1))
        return this.isNeverEmpty(terms.at(term, 1))
          ? bytes
          : uniteBytes(bytes, this.firstOf(terms.at(term, 2)))
      }
      case Kind.Branch: {
        const { lexeme, rests } = terms.branches[terms.at(term, 1)]
        const empty = rests.get(lexemes.tags[lexeme])
        return uniteBytes(bytesOn(lexeme), empty === undefined ? NoBytes : this.firstOf(empty))
      }
      case Kind.Nested: {
        let bytes = NoBytes
        for (const { lexeme } of reading(terms.grammars[terms.at(term, 1)].start))
          bytes = uniteBytes(bytes, bytesOn(lexeme))
        return bytes
      }
      default: {
        let bytes = NoBytes
        for (const part of terms.parts(term)) bytes = uniteBytes(bytes, this.firstOf(part))
        return bytes
      }
    }
  }
}

/** Yields `steps`, and the steps that follow those that may be empty. */
function* reading(steps: readonly Step[]): Generator<Step> {
  for (const step of steps) {
    yield step
    const { lexeme, frames } = step
    const tag = lexemes.tags[lexeme]
    const top = frames[frames.length - 1]
    if (tag === 0 || top === undefined) continue
    const below = frames.slice(0, -1)
    const next = top.follow(tag, top.needsText ? new Uint8Array(0) : null)
    yield* reading(next.map((after) => ({ lexeme: after.lexeme, frames: [...below, ...after.frames] })))
  }
}

/** Returns the ways to begin a non-empty text of `grammar` whose first byte is not in `before`. */
export function firstNotSteps(grammar: Grammar, before: number): Step[] {
  const steps: Step[] = []
  for (const { lexeme, frames } of reading(grammar.start)) {
    const first = firstNotLexeme(lexeme, before)
    if (first !== Dead) steps.push({ lexeme: first, frames })
  }
  return steps
}

export function sorted(guards: ReadonlySet<number>): number[] {
  return [...guards].sort((a, b) => a - b)
}

/** Adds all of `more` to `set` and returns it. */
function addAll(set: Set<number>, more: Iterable<number>): Set<number> {
  for (const each of more) set.add(each)
  return set
}
