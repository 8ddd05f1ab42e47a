/**
 * Rules in the form that the pushdown needs: parts without a text are removed, it is known which
 * parts may be empty, and no rule begins with itself.
 *
 * The linear form of a term lists its first symbols, each with what remains after it. A frame needs
 * only the linear form of its own term, not those of the remainders. A symbol never matches the
 * empty text: if a part may be empty, the list also has the symbols of what follows it. Left
 * recursion, whether direct, indirect or behind parts that may be empty, is solved on these forms
 * (`leftcorners.ts`): A = A·c | b is b·c* (Arden 1961, mirrored). This keeps the language and costs
 * nothing while reading.
 */
import { checkTime } from "../deadline.ts"
import { grown } from "../intern.ts"
import { exprs } from "../lexeme/expr/expr.ts"
import { nonEmptyLexeme } from "../lexeme/nonempty.ts"
import { lexemes } from "../lexeme/table.ts"
import { components } from "./components.ts"
import { LeftCorners } from "./leftcorners.ts"
import { Kind, type LinearForm, maxOf, nonEmptyExpr, type Term, type Terms } from "./terms.ts"

/**
 * First symbol → all that may remain after it. The lists are joined at the end: adding thousands
 * one by one would be quadratic.
 */
type Rests = Map<Term, Term[]>

export class NormalRules {
  readonly terms: Terms
  private readonly bodyOf: (rule: number) => Term
  /** Rules that have a text, and rules that may be empty. */
  private readonly productive = new Set<number>()
  private readonly nullable = new Set<number>()
  private readonly bodies = new Map<number, Term>()
  private readonly pruned = new Map<Term, Term>()
  private readonly linears = new Map<Term, LinearForm>()
  private readonly forms = new Map<number, LinearForm>()
  /**
   * By left-recursive rule: the group of rules that begin with each other and that it belongs to.
   */
  private readonly corners = new Map<number, LeftCorners>()
  private readonly idempotent = new Set<number>()
  /**
   * Whether a loop is being unfolded. The loops that it begins with are not unfolded: it might be
   * among them, and their unfoldings would multiply.
   */
  private isUnfolding = false

  constructor(terms: Terms, bodyOf: (rule: number) => Term) {
    this.terms = terms
    this.bodyOf = bodyOf
  }

  /** Returns whether `rule` has a text. */
  isProductive(rule: number): boolean {
    if (!this.bodies.has(rule)) this.explore(rule)
    return this.productive.has(rule)
  }

  /** Returns the term of `rule` without alternatives that have no text. */
  body(rule: number): Term {
    if (!this.bodies.has(rule)) this.explore(rule)
    return this.bodies.get(rule) as Term
  }

  /** Returns whether the empty text satisfies `term`. */
  isNullable(term: Term): boolean {
    return this.holds(term, this.isNullablePart)
  }

  private readonly isNullablePart = (part: Term): boolean => {
    const { terms } = this
    switch (terms.kind(part)) {
      case Kind.Empty:
      case Kind.Star:
        return true
      case Kind.Expr:
        return exprs.nullable(terms.at(part, 1))
      case Kind.Lexeme:
        return lexemes.tags[terms.at(part, 1)] !== 0
      case Kind.Rule:
        return terms.at(part, 2) === 0 && this.nullable.has(terms.at(part, 1))
      case Kind.Branch: {
        const { lexeme, rests } = terms.branches[terms.at(part, 1)]
        const rest = rests.get(lexemes.tags[lexeme])
        return rest !== undefined && this.isNullable(rest)
      }
      case Kind.Nested:
        return terms.at(part, 2) === 0 && terms.grammars[terms.at(part, 1)].isNullable
      case Kind.Budget:
        return this.isNullable(terms.at(part, 1))
      default:
        return false
    }
  }

  /**
   * Returns whether `test` holds for all parts of a concatenation, for one of the alternatives, and
   * for a body that must come at least once.
   */
  private holds(term: Term, test: (part: Term) => boolean): boolean {
    const { terms } = this
    for (let at = term; ; ) {
      switch (terms.kind(at)) {
        case Kind.Concat:
          if (!this.holds(terms.at(at, 1), test)) return false
          at = terms.at(at, 2)
          continue
        case Kind.Or:
          return terms.someMember(at, (member) => this.holds(member, test))
        case Kind.Repeat:
          if (terms.at(at, 2) === 0) return true
          at = terms.at(at, 1)
          continue
        case Kind.Capture:
          at = terms.at(at, 2)
          continue
        default:
          return test(at)
      }
    }
  }

  /** Returns `term` without alternatives that have no text. */
  prune(term: Term): Term {
    const known = this.pruned.get(term)
    if (known !== undefined) return known
    const pruned = this.rebuilt(term)
    this.pruned.set(term, pruned)
    return pruned
  }

  /** Returns the first symbols of a pruned `term`, each with what remains after it. */
  linear(term: Term): LinearForm {
    const known = this.linears.get(term)
    if (known !== undefined) return known
    const rests: Rests = new Map()
    this.addLinear(rests, term, this.terms.empty)
    const form = new Map<Term, Term>()
    for (const [symbol, list] of rests) form.set(symbol, list.length === 1 ? list[0] : this.terms.or(list))
    this.linears.set(term, form)
    return form
  }

  /**
   * Returns the first symbols of the non-empty texts of `rule`. There are no cycles of rules along
   * first symbols.
   */
  form(rule: number): LinearForm {
    if (!this.isSolved(rule)) this.solve(rule)
    let form = this.forms.get(rule)
    if (form === undefined) {
      form = (this.corners.get(rule) as LeftCorners).form(rule)
      this.forms.set(rule, form)
    }
    return form
  }

  /** Returns the first symbols of the non-empty texts of `rule`, as its body has them. */
  firsts(rule: number): LinearForm {
    return this.linear(this.body(rule))
  }

  /**
   * Adds rules by their bodies. Each of them has a text. The rule `idempotent` matches the empty
   * text and any concatenation of its texts.
   */
  add(bodies: ReadonlyMap<number, Term>, idempotent: number): void {
    for (const [rule, body] of bodies) {
      this.bodies.set(rule, body)
      this.productive.add(rule)
    }
    this.idempotent.add(idempotent)
    this.fixpoint([...bodies.keys()], this.nullable, (rule) => this.isNullable(bodies.get(rule) as Term))
  }

  /** Returns whether `term` matches the empty text and any concatenation of its texts. */
  isIdempotent(term: Term): boolean {
    const { terms } = this
    if (terms.isLoop(term)) return true
    return terms.kind(term) === Kind.Rule && this.idempotent.has(terms.at(term, 1))
  }

  private addLinear(rests: Rests, term: Term, behind: Term): void {
    const { terms } = this
    for (let at = term; ; ) {
      switch (terms.kind(at)) {
        case Kind.Never:
        case Kind.Empty:
          return
        case Kind.Expr:
          this.addSymbol(rests, terms.expr(nonEmptyExpr(terms.at(at, 1))), behind)
          return
        case Kind.Lexeme:
          this.addSymbol(rests, terms.lexeme(nonEmptyLexeme(terms.at(at, 1))), behind)
          return
        case Kind.Rule:
          this.addSymbol(rests, terms.rule(terms.at(at, 1), this.nullable.has(terms.at(at, 1))), behind)
          return
        case Kind.Nested: {
          const grammar = terms.grammars[terms.at(at, 1)]
          this.addSymbol(rests, terms.nested(grammar, grammar.isNullable), behind)
          return
        }
        case Kind.Branch: {
          const { lexeme, rests: after } = terms.branches[terms.at(at, 1)]
          const tag = lexemes.tags[lexeme]
          if (tag === 0) {
            this.addSymbol(rests, at, behind)
            return
          }
          this.addSymbol(rests, this.nonEmptyBranch(at), behind)
          const rest = after.get(tag)
          if (rest === undefined) return
          at = rest
          continue
        }
        case Kind.Concat:
          this.addLinear(rests, terms.at(at, 1), terms.concat(terms.at(at, 2), behind))
          if (!this.isNullable(terms.at(at, 1))) return
          at = terms.at(at, 2)
          continue
        case Kind.Or:
          checkTime()
          for (const member of terms.members(at)) this.addLinear(rests, member, behind)
          return
        case Kind.Star:
          this.addLoop(rests, at, behind)
          return
        case Kind.Repeat: {
          const body = terms.at(at, 1)
          const rest = this.isNullable(body) ? this.atLeastNone(terms.oneLess(at)) : terms.oneLess(at)
          this.addLinear(rests, body, terms.concat(rest, behind))
          return
        }
        case Kind.Capture:
          at = terms.at(at, 2)
          continue
        case Kind.Budget:
          this.addSymbol(rests, at, behind)
          return
        default:
          return
      }
    }
  }

  private addLoop(rests: Rests, star: Term, behind: Term): void {
    const { terms } = this
    const loop = this.isUnfolding ? star : this.unfolded(star)
    if (loop === star) {
      this.addLinear(rests, terms.at(star, 1), terms.concat(star, behind))
      return
    }
    this.isUnfolding = true
    try {
      this.addLinear(rests, terms.concat(loop, behind), terms.empty)
    } finally {
      this.isUnfolding = false
    }
  }

  private addSymbol(rests: Rests, symbol: Term, behind: Term): void {
    if (symbol === this.terms.never) return
    const known = rests.get(symbol)
    if (known === undefined) rests.set(symbol, [behind])
    else known.push(behind)
  }

  /**
   * Replaces a loop over a rule by a loop over the rule's alternatives, if one of them is an
   * expression and the others begin with one. Then a run of the expression is one lexeme.
   */
  private unfolded(star: Term): Term {
    const { terms } = this
    const rule = terms.at(star, 1)
    if (terms.kind(rule) !== Kind.Rule) return star
    const body = this.body(terms.at(rule, 1))
    if (terms.kind(body) !== Kind.Or) return star
    const isExpr = (member: Term) => terms.kind(member) === Kind.Expr
    const others = terms.members(body).filter((member) => !isExpr(member))
    const beginsWithExpr = (other: Term) => {
      const whole = terms.kind(other) === Kind.Rule ? this.body(terms.at(other, 1)) : other
      return terms.kind(whole) === Kind.Concat && isExpr(terms.at(whole, 1))
    }
    const isUnfolded = others.length === terms.members(body).length - 1 && others.every(beginsWithExpr)
    return isUnfolded ? terms.star(body) : star
  }

  /** Drops the lower bound of a repetition: a body that may be empty needs none. */
  private atLeastNone(term: Term): Term {
    const { terms } = this
    if (terms.kind(term) !== Kind.Repeat) return term
    const max = terms.at(term, 3)
    return terms.repeat(terms.at(term, 1), 0, maxOf(max))
  }

  private readonly nonEmptyBranches = new Map<Term, Term>()

  private nonEmptyBranch(term: Term): Term {
    let branch = this.nonEmptyBranches.get(term)
    if (branch === undefined) {
      const { lexeme, rests, narrow, ends } = this.terms.branches[this.terms.at(term, 1)]
      branch = this.terms.branch(nonEmptyLexeme(lexeme), rests, narrow, ends)
      this.nonEmptyBranches.set(term, branch)
    }
    return branch
  }

  /**
   * Finds the rules that `rule` reaches, those of them that have texts, and those that may be
   * empty. The last two are least fixpoints.
   */
  private explore(rule: number): void {
    const { terms } = this
    const reached: number[] = []
    const seen = new Set([rule])
    // A `Set` of thousands of terms takes three times as long. Bodies may be made only now, and
    // terms with them, so the array may have to grow.
    let isSeen = new Int32Array(2 * terms.count)
    const open = [rule]
    let isWhole = true
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      reached.push(at)
      const parts = [this.bodyOf(at)]
      for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
        if (part >= isSeen.length) isSeen = grown(isSeen, 2 * terms.count)
        if (isSeen[part] === 1) continue
        isSeen[part] = 1
        if (terms.kind(part) === Kind.Rule) {
          const callee = terms.at(part, 1)
          if (this.bodies.has(callee)) isWhole &&= this.productive.has(callee)
          else if (!seen.has(callee)) {
            seen.add(callee)
            open.push(callee)
          }
        } else if (terms.kind(part) === Kind.Budget) isWhole = false
        terms.addParts(parts, part)
      }
    }
    reached.reverse()
    this.fixpoint(reached, this.nullable, (rule) => this.isNullable(this.bodyOf(rule)))
    this.fixpoint(reached, this.productive, (rule) => this.hasText(this.bodyOf(rule)))
    // Usually all rules have texts, and nothing needs to be pruned.
    isWhole &&= reached.every((each) => this.productive.has(each))
    for (const each of reached)
      this.bodies.set(each, isWhole ? this.bodyOf(each) : this.prune(this.bodyOf(each)))
  }

  /** Adds rules to `set` until `test` finds no more. */
  private fixpoint(rules: readonly number[], set: Set<number>, test: (rule: number) => boolean): void {
    for (let isChanged = true; isChanged; ) {
      isChanged = false
      for (const rule of rules) {
        checkTime()
        if (set.has(rule) || !test(rule)) continue
        set.add(rule)
        isChanged = true
      }
    }
  }

  private hasText(term: Term): boolean {
    return this.holds(term, this.hasTextPart)
  }

  private readonly hasTextPart = (part: Term): boolean => {
    const { terms } = this
    switch (terms.kind(part)) {
      case Kind.Never:
        return false
      case Kind.Rule:
        return this.productive.has(terms.at(part, 1))
      case Kind.Budget: {
        const body = terms.at(part, 1)
        return terms.at(part, 2) === 0 ? this.isNullable(body) : this.hasText(body)
      }
      case Kind.Branch:
        return [...terms.branches[terms.at(part, 1)].rests.values()].some((rest) => this.hasText(rest))
      default:
        return true
    }
  }

  private rebuilt(term: Term): Term {
    const { terms } = this
    const isRule = terms.kind(term) === Kind.Rule
    if (isRule) return this.productive.has(terms.at(term, 1)) ? term : terms.never
    if (terms.kind(term) === Kind.Budget && terms.at(term, 2) === 0)
      return this.isNullable(terms.at(term, 1)) ? terms.empty : terms.never
    return terms.map(term, (part) => this.prune(part))
  }

  /**
   * Finds left recursion among `rule` and all rules that it can begin with, and prepares its
   * solution.
   */
  private solve(rule: number): void {
    const unsolved = (at: number) => this.firstRules(this.firsts(at)).filter((first) => !this.isSolved(first))
    for (const members of components(rule, unsolved)) {
      checkTime()
      const [first] = members
      if (members.length === 1 && !this.firstRules(this.firsts(first)).includes(first)) {
        this.forms.set(first, this.firsts(first))
        continue
      }
      const corners = new LeftCorners(this, members)
      for (const member of members) this.corners.set(member, corners)
    }
  }

  private isSolved(rule: number): boolean {
    return this.forms.has(rule) || this.corners.has(rule)
  }

  /** Returns the rules among the first symbols, the last one first. */
  private firstRules(form: LinearForm): number[] {
    const rules: number[] = []
    for (const symbol of form.keys()) {
      if (this.terms.kind(symbol) === Kind.Rule) rules.push(this.terms.at(symbol, 1))
    }
    return rules.reverse()
  }
}
