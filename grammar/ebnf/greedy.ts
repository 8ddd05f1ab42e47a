/**
 * Rules without greedy lexemes that read the same texts.
 *
 * Where a greedy lexeme ends it leaves a guard behind: the bytes with which it could have gone on, of which none may come
 * next. A rule may end in such a lexeme and be empty itself, so guards travel. The idea is that of Bar-Hillel, Perles and
 * Shamir (1961) for intersections: each rule comes in a version for the guard before it and for those that it may leave
 * behind, chosen so that what follows can be read. What follows then begins with other bytes by itself, the usual search for
 * rules without texts is exact, and nothing need be looked at while reading.
 *
 * Versions are few: most of what may follow begins with none of the bytes of a guard, and then it is as it was.
 */
import { checkTime } from "../deadline.ts"
import { checkLimit, GrammarError, type Limits } from "../errors.ts"
import type { Step } from "../frame.ts"
import { Grammar } from "../grammar.ts"
import { PairMap } from "../intern.ts"
import { AllBytes, NoBytes, sharedBytes, uniteBytes } from "../lexeme/bytesets.ts"
import { exprs } from "../lexeme/expr/expr.ts"
import { bytesOn, type Ends, endsOf, firstNotLexeme, tagOf, tagsReached } from "../lexeme/greedy.ts"
import { exprLexeme } from "../lexeme/raw.ts"
import { Dead, lexemes } from "../lexeme/table.ts"
import {
  BranchTerm,
  BudgetTerm,
  CaptureTerm,
  ConcatTerm,
  EmptyTerm,
  ExprTerm,
  GreedyTerm,
  LexemeTerm,
  maxOf,
  NestedTerm,
  NeverTerm,
  OrTerm,
  RepeatTerm,
  RuleTerm,
  StarTerm,
  type Term,
  type Terms,
} from "./terms.ts"

/** Guards, each a set of bytes; null stands for all that there can be. */
type Guards = ReadonlySet<number> | null

/** What a rule of its own is made for: `term` behind the guard `before`, such that it leaves one of `after` behind. */
interface Version {
  readonly term: Term
  readonly before: number
  readonly after: Guards
}

const noGuards: ReadonlySet<number> = new Set()
const noBudget = "max_tokens=0 on a part with greedy lexemes. Leave the part out"

export class GreedyRules {
  private readonly terms: Terms
  private readonly limits: Limits
  private readonly originalOf: (rule: number) => Term
  private readonly base: number
  private steps = 0
  /** (term, guard before) → index of what `leaves` answers. */
  private readonly termPairs = new PairMap()
  private readonly termLeaves: ReadonlySet<number>[] = []
  /** (rule, guard before) → index of what is known of it. */
  private readonly rulePairs = new PairMap()
  private readonly ruleLeaves: ReadonlySet<number>[] = []
  /** Rules, each with a guard before it, of which not all is known. */
  private open: { readonly index: number; readonly rule: number; readonly before: number }[] = []
  private isSearching = false
  private isChanged = false
  /** Whether there is no greedy lexeme in a term. */
  private readonly plain = new Map<Term, boolean>()
  /** First bytes of the texts of a rule. */
  private readonly firsts = new Map<number, number>()
  private readonly versions: Version[] = []
  private readonly versionRules = new Map<string, number>()
  private readonly bodies = new Map<number, Term>()
  private readonly made = new Map<string, Term>()

  /** Rules have ids below `ruleCount`; those that are made here come above. */
  constructor(terms: Terms, originalOf: (rule: number) => Term, ruleCount: number, limits: Limits) {
    this.terms = terms
    this.originalOf = originalOf
    this.base = ruleCount
    this.limits = limits
  }

  /** The body of a rule. */
  readonly bodyOf = (rule: number): Term => {
    if (rule < this.base) return this.originalOf(rule)
    let body = this.bodies.get(rule)
    if (body === undefined) {
      checkTime()
      const { term, before, after } = this.versions[rule - this.base]
      body =
        this.terms.kind(term) === RuleTerm
          ? this.version(this.originalOf(this.terms.at(term, 1)), before, after)
          : this.unrolled(term, before, after)
      this.bodies.set(rule, body)
    }
    return body
  }

  /** The rule that reads `term` behind the guard `before`, such that it leaves one of `after` behind. */
  versionRule(term: Term, before: number, after: Guards): number {
    const key = keyOf(term, before, after)
    let rule = this.versionRules.get(key)
    if (rule === undefined) {
      rule = this.base + this.versions.push({ term, before, after }) - 1
      checkLimit(
        this.limits,
        "rules",
        rule + 1,
        "",
        "rules of the grammar, as often as greedy lexemes need them",
      )
      this.versionRules.set(key, rule)
    }
    return rule
  }

  /** The guards that `term` may leave behind where `before` is the one before it. None: there is no text. */
  leaves(term: Term, before: number): ReadonlySet<number> {
    const known = this.termPairs.get(term, before)
    if (known >= 0) return this.termLeaves[known]
    if (this.isSearching) return this.find(term, before)
    this.isSearching = true
    // Where a search was given up, what it began is still open.
    this.isChanged = this.open.length > 0
    try {
      let all = this.find(term, before)
      // A least fixpoint: rules leave nothing at first, and are asked again until none leaves more; those that others use first.
      while (this.isChanged) {
        this.isChanged = false
        for (let i = this.open.length - 1; i >= 0; i--) {
          const { index, rule, before: guard } = this.open[i]
          const more = this.find(this.originalOf(rule), guard)
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

  /** `leaves`, as far as it is known of rules. */
  private find(term: Term, before: number): ReadonlySet<number> {
    const { terms } = this
    this.count()
    switch (terms.kind(term)) {
      case NeverTerm:
        return noGuards
      case EmptyTerm:
        return new Set([before])
      case ExprTerm:
        return this.leavesOfLexeme(exprLexeme(terms.at(term, 1)), before)
      case LexemeTerm:
        return this.leavesOfLexeme(terms.at(term, 1), before)
      case GreedyTerm: {
        const ends = this.endsOf(term)
        const guards = ends.reached(before)
        return this.isNullable(term) ? new Set([...guards, uniteBytes(before, ends.emptyGuard)]) : guards
      }
      case RuleTerm:
        return this.leavesOfRule(terms.at(term, 1), before)
      case ConcatTerm: {
        let guards = this.find(terms.at(term, 1), before)
        let rest = terms.at(term, 2)
        for (; terms.kind(rest) === ConcatTerm; rest = terms.at(rest, 2))
          guards = this.findBehind(guards, terms.at(rest, 1))
        return this.findBehind(guards, rest)
      }
      case OrTerm: {
        const guards = new Set<number>()
        for (const member of terms.members(term)) addAll(guards, this.leaves(member, before))
        return guards
      }
      case StarTerm:
        return this.boundaries(terms.at(term, 1), before)
      case RepeatTerm:
        return this.findRepeated(terms.at(term, 1), before, terms.at(term, 2), maxOf(terms.at(term, 3)))
      case CaptureTerm:
        return this.find(terms.at(term, 2), before)
      case BudgetTerm:
        if (terms.at(term, 2) > 0) return this.find(terms.at(term, 1), before)
        if (!this.isPlain(terms.at(term, 1))) throw new GrammarError("unsupported", "", noBudget)
        return this.find(terms.at(term, 1), AllBytes).size > 0 ? new Set([before]) : noGuards
      case BranchTerm: {
        const { lexeme, rests } = terms.branches[terms.at(term, 1)]
        const guards = new Set<number>()
        for (const tag of this.tagsOf(term, before))
          addAll(guards, this.find(rests.get(tag) as Term, NoBytes))
        const empty = rests.get(lexemes.tags[lexeme])
        if (empty !== undefined) addAll(guards, this.find(empty, before))
        return guards
      }
      case NestedTerm:
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

  /** The guards before and behind any number of times `body`. */
  private boundaries(body: Term, before: number): Set<number> {
    const guards = new Set([before])
    for (const guard of guards) addAll(guards, this.find(body, guard))
    return guards
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
      // From a round that changes nothing on, all are alike.
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

  /** The tags with which a branch may end, behind `before`, when it reads something. */
  private tagsOf(term: Term, before: number): number[] {
    const { lexeme, rests } = this.terms.branches[this.terms.at(term, 1)]
    const isAny = lexemes.tags[lexeme] === 0 && sharedBytes(bytesOn(lexeme), before) === NoBytes
    if (isAny) return [...rests.keys()]
    const tags = tagsReached(lexeme, before, this.count)
    return [...rests.keys()].filter((tag) => tags.has(tag))
  }

  private endsOf(greedy: Term): Ends {
    return endsOf(exprLexeme(this.terms.at(greedy, 1)), this.count)
  }

  private isNullable(greedy: Term): boolean {
    return exprs.nullable(this.terms.at(greedy, 1))
  }

  private readonly count = (): void => {
    checkLimit(
      this.limits,
      "satSteps",
      ++this.steps,
      "",
      "steps of the search for what may follow greedy lexemes",
    )
  }

  /** `term` behind the guard `before`, such that it leaves one of `after` behind. It has no greedy lexemes. */
  version(term: Term, before: number, after: Guards): Term {
    const all = this.leaves(term, before)
    const some = after === null ? all : new Set([...all].filter((guard) => after.has(guard)))
    if (some.size === 0) return this.terms.never
    const guard =
      before !== NoBytes && this.isNeverEmpty(term) ? sharedBytes(before, this.first(term)) : before
    const allowed = some.size === all.size ? null : some
    if (guard === NoBytes && allowed === null && this.isPlain(term)) return term
    const key = keyOf(term, guard, allowed)
    let version = this.made.get(key)
    if (version === undefined) {
      version = this.make(term, guard, allowed)
      this.made.set(key, version)
    }
    return version
  }

  /** As `version`, where there is such a text, and `before` or `after` matters. */
  private make(term: Term, before: number, after: Guards): Term {
    const { terms } = this
    this.count()
    switch (terms.kind(term)) {
      case EmptyTerm:
        return term
      case ExprTerm:
        return this.makeLexeme(term, exprLexeme(terms.at(term, 1)), before, after)
      case LexemeTerm:
        return this.makeLexeme(term, terms.at(term, 1), before, after)
      case GreedyTerm:
        return this.makeGreedy(term, before, after)
      case RuleTerm:
        return terms.rule(this.versionRule(term, before, after))
      case ConcatTerm:
        return this.makeConcat(terms.at(term, 1), terms.at(term, 2), before, after)
      case OrTerm:
        return terms.or(terms.members(term).map((member) => this.version(member, before, after)))
      case StarTerm:
      case RepeatTerm: {
        const same = after === null ? this.sameEachTime(terms.at(term, 1), before) : null
        if (same === null) return terms.rule(this.versionRule(term, before, after))
        return terms.kind(term) === StarTerm
          ? terms.star(same)
          : terms.repeat(same, terms.at(term, 2), maxOf(terms.at(term, 3)))
      }
      case CaptureTerm:
        return terms.capture(terms.names[terms.at(term, 1)], this.version(terms.at(term, 2), before, after))
      case BudgetTerm: {
        if (terms.at(term, 2) === 0) return terms.empty
        const body = this.version(terms.at(term, 1), before, after)
        return terms.budget(body, terms.at(term, 2), terms.budgets.get(term))
      }
      case BranchTerm:
        return this.makeBranch(term, before, after)
      case NestedTerm:
        return this.makeNested(terms.grammars[terms.at(term, 1)], before, after)
      default:
        throw new Error(`internal: term ${term} has no version`)
    }
  }

  private makeLexeme(term: Term, lexemeState: number, before: number, after: Guards): Term {
    const { terms } = this
    const isWhole = before === NoBytes || sharedBytes(before, bytesOn(lexemeState)) === NoBytes
    if (after === null && isWhole) return term
    if (lexemes.tags[lexemeState] !== 0 && (after === null || after.has(before))) {
      const isRead = after === null || after.has(NoBytes)
      return isRead ? terms.or([terms.empty, this.makeRead(term, lexemeState, before)]) : terms.empty
    }
    return this.makeRead(term, lexemeState, before)
  }

  private makeRead(term: Term, lexemeState: number, before: number): Term {
    const { terms } = this
    const isWhole = sharedBytes(before, bytesOn(lexemeState)) === NoBytes
    if (!isWhole || terms.kind(term) !== ExprTerm) return terms.lexeme(firstNotLexeme(lexemeState, before))
    return terms.expr(exprs.and([terms.at(term, 1), exprs.not(exprs.literal(""))]))
  }

  private makeGreedy(term: Term, before: number, after: Guards): Term {
    const { terms } = this
    const ends = this.endsOf(term)
    const isEmpty =
      this.isNullable(term) && (after === null || after.has(uniteBytes(before, ends.emptyGuard)))
    const read = terms.lexeme(this.greedyLexeme(ends, before, after))
    return terms.or(isEmpty ? [terms.empty, read] : [read])
  }

  /** The texts of a greedy lexeme, not empty, behind `before` that leave one of `after` behind. */
  private greedyLexeme(ends: Ends, before: number, after: Guards): number {
    const reached = ends.reached(before)
    const allowed = new Set([...reached].filter((guard) => after === null || after.has(guard)))
    // Where each end is as good as the other, the lexeme needs no tags, and shares its masks with all that read it.
    const lexeme = allowed.size === reached.size ? ends.start : ends.lexeme(allowed)
    return firstNotLexeme(lexeme, before)
  }

  /** `head` and then `tail`: for all guards between them behind which `tail` is the same, at once. */
  private makeConcat(head: Term, tail: Term, before: number, after: Guards): Term {
    const { terms } = this
    const groups = new Map<Term, Set<number>>()
    for (const guard of this.leaves(head, before)) {
      const rest = this.version(tail, guard, after)
      if (rest === terms.never) continue
      const group = groups.get(rest)
      if (group === undefined) groups.set(rest, new Set([guard]))
      else group.add(guard)
    }
    if (terms.kind(head) === GreedyTerm && groups.size > 1) return this.makeGreedyConcat(head, before, groups)
    return terms.or(
      [...groups].map(([rest, guards]) => terms.concat(this.version(head, before, guards), rest)),
    )
  }

  /** A greedy lexeme whose end decides what follows is read once. */
  private makeGreedyConcat(head: Term, before: number, groups: ReadonlyMap<Term, ReadonlySet<number>>): Term {
    const { terms } = this
    const ends = this.endsOf(head)
    const emptyGuard = this.isNullable(head) ? uniteBytes(before, ends.emptyGuard) : null
    const reached = ends.reached(before)
    const rests = new Map<number, Term>()
    const ways: Term[] = []
    for (const [rest, guards] of groups) {
      for (const guard of guards) if (reached.has(guard)) rests.set(tagOf(guard), rest)
      if (emptyGuard !== null && guards.has(emptyGuard)) ways.push(rest)
    }
    const narrow = (tags: ReadonlySet<number>) =>
      firstNotLexeme(ends.lexeme(new Set([...reached].filter((guard) => tags.has(tagOf(guard))))), before)
    if (rests.size > 0) ways.push(terms.branch(narrow(new Set(rests.keys())), rests, narrow))
    return terms.or(ways)
  }

  private makeBranch(term: Term, before: number, after: Guards): Term {
    const { terms } = this
    const { lexeme, rests, narrow, ends } = terms.branches[terms.at(term, 1)]
    const isNullable = lexemes.tags[lexeme] !== 0
    const isWhole = before === NoBytes || (!isNullable && sharedBytes(before, bytesOn(lexeme)) === NoBytes)
    const versions = new Map<number, Term>()
    for (const tag of isWhole ? rests.keys() : this.tagsOf(term, before))
      versions.set(tag, this.version(rests.get(tag) as Term, NoBytes, after))
    if (isWhole) return terms.branch(lexeme, versions, narrow, ends)
    const firstNot = (tags: ReadonlySet<number>) => firstNotLexeme(narrow(tags), before)
    const read =
      versions.size === 0 ? terms.never : terms.branch(firstNot(new Set(versions.keys())), versions, firstNot)
    return isNullable
      ? terms.or([read, this.version(rests.get(lexemes.tags[lexeme]) as Term, before, after)])
      : read
  }

  private makeNested(grammar: Grammar, before: number, after: Guards): Term {
    const { terms } = this
    if (grammar.guards !== null) {
      const version = grammar.guards.version(before, after)
      return version === null ? terms.never : terms.nested(version)
    }
    const steps = after === null || after.has(NoBytes) ? firstNotSteps(grammar, before) : []
    const isEmpty = grammar.isNullable && (after === null || after.has(before))
    const { key, title, limits, readsTokens, budgets, captures } = grammar
    const more = { key: () => `${key} behind ${before}`, title, limits, readsTokens, budgets, captures }
    const read = terms.nested(new Grammar(steps, more))
    return terms.or(isEmpty ? [terms.empty, read] : [read])
  }

  /** The version of `body` that comes each time of any number, behind whatever guard; null where there are several. */
  private sameEachTime(body: Term, before: number): Term | null {
    let same: Term | null = null
    for (const guard of this.boundariesOf(body, before)) {
      const version = this.version(body, guard, null)
      if (same !== null && same !== version) return null
      same = version
    }
    return same
  }

  private boundariesOf(body: Term, before: number): Set<number> {
    const guards = new Set([before])
    for (const guard of guards) addAll(guards, this.leaves(body, guard))
    return guards
  }

  /** A repetition whose first time is written out. */
  private unrolled(term: Term, before: number, after: Guards): Term {
    const { terms } = this
    const isStar = terms.kind(term) === StarTerm
    const ways = [this.makeConcat(terms.at(term, 1), isStar ? term : terms.oneLess(term), before, after)]
    const mayBeNone = isStar || terms.at(term, 2) === 0
    if (mayBeNone && (after === null || after.has(before))) ways.push(terms.empty)
    return terms.or(ways)
  }

  /** Whether the empty text is none of `term`, whatever the guards. */
  private isNeverEmpty(term: Term): boolean {
    return this.leaves(term, AllBytes).size === 0
  }

  /** Whether there is no greedy lexeme in `term`. */
  private isPlain(term: Term): boolean {
    const { terms, plain } = this
    let isPlain = plain.get(term)
    if (isPlain !== undefined) return isPlain
    isPlain = true
    const met = new Set<Term>([term])
    for (const at of met) {
      const known = plain.get(at)
      const kind = terms.kind(at)
      const isGuarded = kind === NestedTerm && terms.grammars[terms.at(at, 1)].guards !== null
      if (kind === GreedyTerm || isGuarded || known === false) isPlain = false
      if (!isPlain) break
      if (known === true) continue
      if (kind === RuleTerm) met.add(this.originalOf(terms.at(at, 1)))
      for (const part of terms.parts(at)) met.add(part)
    }
    if (isPlain) for (const at of met) plain.set(at, true)
    else plain.set(term, false)
    return isPlain
  }

  /** The first bytes of the texts of `term`, or some more. */
  private first(term: Term): number {
    const rules = this.rulesBelow(term)
    for (const rule of rules) this.firsts.set(rule, NoBytes)
    for (let isChanged = rules.size > 0; isChanged; ) {
      isChanged = false
      for (const rule of rules) {
        const bytes = this.firstOf(this.originalOf(rule))
        isChanged ||= bytes !== this.firsts.get(rule)
        this.firsts.set(rule, bytes)
      }
    }
    return this.firstOf(term)
  }

  /** The rules that `term` reaches and whose first bytes are not known. */
  private rulesBelow(term: Term): Set<number> {
    const { terms } = this
    const rules = new Set<number>()
    const met = new Set<Term>([term])
    for (const at of met) {
      if (terms.kind(at) === RuleTerm && !this.firsts.has(terms.at(at, 1))) {
        rules.add(terms.at(at, 1))
        met.add(this.originalOf(terms.at(at, 1)))
      }
      for (const part of terms.parts(at)) met.add(part)
    }
    return rules
  }

  private firstOf(term: Term): number {
    const { terms } = this
    this.count()
    switch (terms.kind(term)) {
      case ExprTerm:
      case GreedyTerm:
        return bytesOn(exprLexeme(terms.at(term, 1)))
      case LexemeTerm:
        return bytesOn(terms.at(term, 1))
      case RuleTerm:
        return this.firsts.get(terms.at(term, 1)) ?? NoBytes
      case ConcatTerm: {
        const bytes = this.firstOf(terms.at(term, 1))
        return this.isNeverEmpty(terms.at(term, 1))
          ? bytes
          : uniteBytes(bytes, this.firstOf(terms.at(term, 2)))
      }
      case BranchTerm: {
        const { lexeme, rests } = terms.branches[terms.at(term, 1)]
        const empty = rests.get(lexemes.tags[lexeme])
        return uniteBytes(bytesOn(lexeme), empty === undefined ? NoBytes : this.firstOf(empty))
      }
      case NestedTerm: {
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

/** `steps`, and what follows those that may be empty. */
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

/** The ways to begin a text of `grammar`, not empty, whose first byte is not in `before`. */
function firstNotSteps(grammar: Grammar, before: number): Step[] {
  const steps: Step[] = []
  for (const { lexeme, frames } of reading(grammar.start)) {
    const first = firstNotLexeme(lexeme, before)
    if (first !== Dead) steps.push({ lexeme: first, frames })
  }
  return steps
}

function keyOf(term: Term, before: number, after: Guards): string {
  return `${term} ${before} ${after === null ? "" : sorted(after).join()}`
}

function sorted(guards: ReadonlySet<number>): number[] {
  return [...guards].sort((a, b) => a - b)
}

/** `set`, with all of `more`. */
function addAll(set: Set<number>, more: Iterable<number>): Set<number> {
  for (const each of more) set.add(each)
  return set
}
