/**
 * Rewrites rules with greedy lexemes into rules without them that read the same texts.
 *
 * A rule may end in a greedy lexeme and be empty itself, so guards travel (`guards.ts`). The idea
 * is that of Bar-Hillel, Perles and Shamir (1961) for intersections: each rule has a version for
 * each guard before it and each set of guards that it may leave behind, chosen so that what follows
 * can be read. Then what follows begins with other bytes by itself, the usual search for rules
 * without texts is exact, and nothing needs to be checked while reading.
 *
 * There are few versions: most parts begin with none of the bytes of a guard, and then they do not
 * change.
 */
import { checkTime } from "../deadline.ts"
import { checkLimit, type Limits } from "../errors.ts"
import { Grammar } from "../grammar.ts"
import { NoBytes, sharedBytes, uniteBytes } from "../lexeme/bytesets.ts"
import { bytesOn, type Ends, firstNotLexeme, tagOf } from "../lexeme/greedy.ts"
import { exprLexeme } from "../lexeme/raw.ts"
import { lexemes } from "../lexeme/table.ts"
import { firstNotSteps, Guards, sorted } from "./guards.ts"
import { Kind, nonEmptyExpr, type Term, type Terms } from "./terms.ts"

/** Guards that may be left behind; null stands for all possible ones. */
type After = ReadonlySet<number> | null

/**
 * The texts that a made rule reads: those of `term` after the guard `before` that leave one of
 * `after` behind.
 */
interface Version {
  readonly term: Term
  readonly before: number
  readonly after: After
}

export class GreedyRules {
  private readonly terms: Terms
  private readonly limits: Limits
  private readonly originalOf: (rule: number) => Term
  private readonly base: number
  private readonly guards: Guards
  private readonly versions: Version[] = []
  private readonly versionRules = new Map<string, number>()
  private readonly bodies = new Map<number, Term>()
  private readonly made = new Map<string, Term>()

  /** Rules have ids below `ruleCount`; the rules made here have higher ids. */
  constructor(terms: Terms, originalOf: (rule: number) => Term, ruleCount: number, limits: Limits) {
    this.terms = terms
    this.originalOf = originalOf
    this.base = ruleCount
    this.limits = limits
    this.guards = new Guards(terms, originalOf, limits)
  }

  /** Returns the body of a rule. */
  readonly bodyOf = (rule: number): Term => {
    if (rule < this.base) return this.originalOf(rule)
    let body = this.bodies.get(rule)
    if (body === undefined) {
      checkTime()
      const { term, before, after } = this.versions[rule - this.base]
      body =
        this.terms.kind(term) === Kind.Rule
          ? this.version(this.originalOf(this.terms.at(term, 1)), before, after)
          : this.unrolled(term, before, after)
      this.bodies.set(rule, body)
    }
    return body
  }

  /**
   * Returns the rule that reads `term` after the guard `before` and leaves one of `after` behind.
   */
  versionRule(term: Term, before: number, after: After): number {
    const key = keyOf(term, before, after)
    let rule = this.versionRules.get(key)
    if (rule === undefined) {
      rule = this.base + this.versions.push({ term, before, after }) - 1
      checkLimit(this.limits, "rules.greedy", rule + 1)
      this.versionRules.set(key, rule)
    }
    return rule
  }

  /**
   * Returns the guards that `term` may leave behind after the guard `before`. Empty if `term` has
   * no text there.
   */
  leaves(term: Term, before: number): ReadonlySet<number> {
    return this.guards.leaves(term, before)
  }

  /**
   * Returns `term` after the guard `before`, restricted to texts that leave one of `after` behind.
   * The result has no greedy lexemes.
   */
  version(term: Term, before: number, after: After): Term {
    const all = this.leaves(term, before)
    const some = after === null ? all : new Set([...all].filter((guard) => after.has(guard)))
    if (some.size === 0) return this.terms.never
    const guard =
      before !== NoBytes && this.guards.isNeverEmpty(term)
        ? sharedBytes(before, this.guards.first(term))
        : before
    const allowed = some.size === all.size ? null : some
    if (guard === NoBytes && allowed === null && this.guards.isPlain(term)) return term
    const key = keyOf(term, guard, allowed)
    let version = this.made.get(key)
    if (version === undefined) {
      version = this.make(term, guard, allowed)
      this.made.set(key, version)
    }
    return version
  }

  /** Makes the version for `version`, if it has a text and `before` or `after` matters. */
  private make(term: Term, before: number, after: After): Term {
    const { terms } = this
    this.guards.count()
    switch (terms.kind(term)) {
      case Kind.Empty:
        return term
      case Kind.Expr:
        return this.makeLexeme(term, exprLexeme(terms.at(term, 1)), before, after)
      case Kind.Lexeme:
        return this.makeLexeme(term, terms.at(term, 1), before, after)
      case Kind.Greedy:
        return this.makeGreedy(term, before, after)
      case Kind.Rule:
        return terms.rule(this.versionRule(term, before, after))
      case Kind.Concat:
        return this.makeConcat(terms.at(term, 1), terms.at(term, 2), before, after)
      case Kind.Or:
      case Kind.Capture:
        return terms.map(term, (part) => this.version(part, before, after))
      case Kind.Star:
      case Kind.Repeat: {
        const same = after === null ? this.sameEachTime(terms.at(term, 1), before) : null
        return same === null ? terms.rule(this.versionRule(term, before, after)) : terms.map(term, () => same)
      }
      case Kind.Budget:
        if (terms.at(term, 2) === 0) return terms.empty
        return terms.map(term, (body) => this.version(body, before, after))
      case Kind.Branch:
        return this.makeBranch(term, before, after)
      case Kind.Nested:
        return this.makeNested(terms.grammars[terms.at(term, 1)], before, after)
      default:
        throw new Error(`internal: term ${term} has no version`)
    }
  }

  private makeLexeme(term: Term, lexemeState: number, before: number, after: After): Term {
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
    if (!isWhole || terms.kind(term) !== Kind.Expr) return terms.lexeme(firstNotLexeme(lexemeState, before))
    return terms.expr(nonEmptyExpr(terms.at(term, 1)))
  }

  private makeGreedy(term: Term, before: number, after: After): Term {
    const { terms } = this
    const ends = this.guards.endsOf(term)
    const isEmpty =
      this.guards.isNullable(term) && (after === null || after.has(uniteBytes(before, ends.emptyGuard)))
    const read = terms.lexeme(this.greedyLexeme(ends, before, after))
    return terms.or(isEmpty ? [terms.empty, read] : [read])
  }

  /**
   * Returns the lexeme of the non-empty texts of a greedy lexeme after `before` that leave one of
   * `after` behind.
   */
  private greedyLexeme(ends: Ends, before: number, after: After): number {
    const reached = ends.reached(before)
    const allowed = new Set([...reached].filter((guard) => after === null || after.has(guard)))
    // If all ends are allowed, the lexeme needs no tags and shares its masks with all that read it.
    const lexeme = allowed.size === reached.size ? ends.start : ends.lexeme(allowed)
    return firstNotLexeme(lexeme, before)
  }

  /**
   * Makes `head` and then `tail`. Guards between them are grouped by the version of `tail` that
   * they lead to.
   */
  private makeConcat(head: Term, tail: Term, before: number, after: After): Term {
    const { terms } = this
    const groups = new Map<Term, Set<number>>()
    for (const guard of this.leaves(head, before)) {
      const rest = this.version(tail, guard, after)
      if (rest === terms.never) continue
      const group = groups.get(rest)
      if (group === undefined) groups.set(rest, new Set([guard]))
      else group.add(guard)
    }
    if (terms.kind(head) === Kind.Greedy && groups.size > 1)
      return this.makeGreedyConcat(head, before, groups)
    return terms.or(
      [...groups].map(([rest, guards]) => terms.concat(this.version(head, before, guards), rest)),
    )
  }

  /** Makes a greedy lexeme, whose end decides what follows, so that it is read only once. */
  private makeGreedyConcat(head: Term, before: number, groups: ReadonlyMap<Term, ReadonlySet<number>>): Term {
    const { terms } = this
    const ends = this.guards.endsOf(head)
    const emptyGuard = this.guards.isNullable(head) ? uniteBytes(before, ends.emptyGuard) : null
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

  private makeBranch(term: Term, before: number, after: After): Term {
    const { terms } = this
    const { lexeme, rests, narrow, ends } = terms.branches[terms.at(term, 1)]
    const isNullable = lexemes.tags[lexeme] !== 0
    const isWhole = before === NoBytes || (!isNullable && sharedBytes(before, bytesOn(lexeme)) === NoBytes)
    const versions = new Map<number, Term>()
    for (const tag of isWhole ? rests.keys() : this.guards.tagsOf(term, before))
      versions.set(tag, this.version(rests.get(tag) as Term, NoBytes, after))
    if (isWhole) return terms.branch(lexeme, versions, narrow, ends)
    const firstNot = (tags: ReadonlySet<number>) => firstNotLexeme(narrow(tags), before)
    const read =
      versions.size === 0 ? terms.never : terms.branch(firstNot(new Set(versions.keys())), versions, firstNot)
    return isNullable
      ? terms.or([read, this.version(rests.get(lexemes.tags[lexeme]) as Term, before, after)])
      : read
  }

  private makeNested(grammar: Grammar, before: number, after: After): Term {
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

  /**
   * Returns the version of `body` that is the same in each round of a repetition, whatever guard is
   * before it; null if there are several versions.
   */
  private sameEachTime(body: Term, before: number): Term | null {
    let same: Term | null = null
    for (const guard of this.guards.boundariesOf(body, before)) {
      const version = this.version(body, guard, null)
      if (same !== null && same !== version) return null
      same = version
    }
    return same
  }

  /** Returns a repetition whose first round is written out. */
  private unrolled(term: Term, before: number, after: After): Term {
    const { terms } = this
    const isStar = terms.kind(term) === Kind.Star
    const ways = [this.makeConcat(terms.at(term, 1), isStar ? term : terms.oneLess(term), before, after)]
    const mayBeNone = isStar || terms.at(term, 2) === 0
    if (mayBeNone && (after === null || after.has(before))) ways.push(terms.empty)
    return terms.or(ways)
  }
}

function keyOf(term: Term, before: number, after: After): string {
  return `${term} ${before} ${after === null ? "" : sorted(after).join()}`
}
