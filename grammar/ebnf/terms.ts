/**
 * Terms: the right-hand sides of rules, hash-consed.
 *
 * A term is a regular expression over what a rule may contain: lexemes, references to rules, whole
 * grammars. Equal terms are one integer, and the constructors simplify while building, so no pass
 * can be forgotten. Their most important law is fusion: a part that is regular as a whole is one
 * expression over bytes (`expr/`), and so one lexeme, however the notation put it together. What
 * remains of a term once its first symbol has been read is a term again, and frames are made of
 * these remainders (`steps.ts`). Antimirov, Partial Derivatives of Regular Expressions (1996), over
 * symbols.
 */
import { concatenate } from "../bytes.ts"
import { checkTime } from "../deadline.ts"
import { checkLimit, fixedBounds, GrammarError, type Limits } from "../errors.ts"
import type { Grammar } from "../grammar.ts"
import { TupleTable } from "../intern.ts"
import { type ExprId, exprs } from "../lexeme/expr/expr.ts"
import { knownLiteral } from "../lexeme/expr/literal.ts"
import { Empty, Never } from "../lexeme/expr/nodes.ts"
import { exprSize, MaxSize } from "../lexeme/expr/size.ts"
import { exprLexeme } from "../lexeme/raw.ts"
import { Dead } from "../lexeme/table.ts"
import { tokenLexeme } from "../lexeme/token.ts"
import { utf8 } from "../utf8.ts"
import { ascending, distinct } from "./smallsets.ts"
import { compareBytes, FirstTag, MinChoice, shortestByTag, textsLexeme } from "./texts.ts"

/** Dense id of a term in its table; 0 = no text, 1 = the empty text. */
export type Term = number

/** First symbol → what remains after it. */
export type LinearForm = ReadonlyMap<Term, Term>

/** Kinds of terms, with the layout of their tuples. */
export const Kind = {
  /** [0] */
  Never: 0,
  /** [1] */
  Empty: 1,
  /** [2, expression] */
  Expr: 2,
  /** [3, lexeme state] */
  Lexeme: 3,
  /** [4, rule, 1 if without its empty text] */
  Rule: 4,
  /** [5, head, tail]; the head is not a concatenation */
  Concat: 5,
  /** [6, …terms] ascending, at least two */
  Or: 6,
  /** [7, body] any number of times */
  Star: 7,
  /** [8, body, min, max] */
  Repeat: 8,
  /** [9, branch] */
  Branch: 9,
  /** [10, grammar, 1 if without its empty text] */
  Nested: 10,
  /** [11, name, body] */
  Capture: 11,
  /** [12, body, tokens] */
  Budget: 12,
  /** [13, expression]; does not occur in rules that are read, see `greedy.ts` */
  Greedy: 13,
} as const

/** The upper bound of an unbounded repetition, in its tuple. */
const Unbounded = 0x7fffffff

/** Returns the upper bound that `max` in the tuple of a repetition stands for. */
export function maxOf(max: number): number {
  return max === Unbounded ? Number.POSITIVE_INFINITY : max
}

/** Capacity of a new table of terms. Most grammars have some hundred. */
const FirstRoom = 1 << 10

/** Larger budgets never bind. */
const MaxBudget = 0x3fffffff
/** Most nodes of an expression that still fuses with its neighbours. */
const MaxFused = MaxSize

/** A lexeme whose tag decides what follows. */
export interface Branch {
  readonly lexeme: number
  /** By tag. Contains every tag that the lexeme can end with. */
  readonly rests: ReadonlyMap<number, Term>
  /** Returns the lexeme restricted to texts that end with these tags. */
  readonly narrow: (tags: ReadonlySet<number>) => number
  /** Returns a short text for each tag. By default, each is computed by itself. */
  readonly ends?: () => ReadonlyMap<number, Uint8Array>
}

// Scratch tuples for lookups.
const pair = [0, 0]
const triple = [0, 0, 0]

export class Terms {
  readonly never: Term = Kind.Never
  readonly empty: Term = Kind.Empty
  readonly branches: Branch[] = []
  readonly grammars: Grammar[] = []
  /** Names of captures. */
  readonly names: string[] = []
  /** Names of budgets, for messages. By term. */
  readonly budgets = new Map<Term, string>()
  /** Whether any part is read by token id. */
  readsTokens = false
  /** Whether any part has a budget of tokens. */
  hasBudgets = false
  /** Whether any part is a greedy lexeme, see `greedy.ts`. */
  hasGreedy = false
  private readonly limits: Limits
  private readonly grammarIds = new Map<Grammar, number>()
  private readonly table = new TupleTable(FirstRoom)
  private ownRules = 0
  /** Loops that begin with a run of an expression, see `starOf`. */
  private readonly loops = new Set<Term>()
  /** The text of each term that is exactly one text. */
  private readonly texts = new Map<Term, Uint8Array>()
  /** The expression of each term that is a lexeme of its own. */
  private readonly wholes = new Map<Term, ExprId>()

  constructor(limits: Limits) {
    this.limits = limits
    this.table.intern([Kind.Never])
    this.table.intern([Kind.Empty])
  }

  get count(): number {
    return this.table.count
  }

  /** Whether some part is captured, here or in a nested grammar. */
  get hasCaptures(): boolean {
    return this.names.length > 0 || this.grammars.some(({ captures }) => captures !== null)
  }

  kind(term: Term): number {
    return this.table.at(term, 0)
  }

  /** Returns value `index` of the tuple; 0 is the kind. */
  at(term: Term, index: number): number {
    return this.table.at(term, index)
  }

  /** Returns the length of the tuple, its kind included. */
  length(term: Term): number {
    return this.table.length(term)
  }

  /** Returns the alternatives of an `or`. */
  members(term: Term): Term[] {
    const members: Term[] = []
    for (let i = 1; i < this.table.length(term); i++) members.push(this.table.at(term, i))
    return members
  }

  /** Returns the parts of a concatenation in order, or the term alone. */
  row(term: Term): Term[] {
    const row: Term[] = []
    let rest = term
    for (; this.kind(rest) === Kind.Concat; rest = this.at(rest, 2)) row.push(this.at(rest, 1))
    row.push(rest)
    return row
  }

  /** Returns whether `test` holds for an alternative of an `or`. */
  someMember(term: Term, test: (member: Term) => boolean): boolean {
    for (let i = 1; i < this.table.length(term); i++) if (test(this.table.at(term, i))) return true
    return false
  }

  /** Returns the term of the texts of `expr`. It fuses with its neighbours. */
  expr(expr: ExprId): Term {
    if (exprs.isNever(expr)) return this.never
    return expr === Empty ? this.empty : this.one(Kind.Expr, expr)
  }

  /** Returns the term of exactly this text, or of these bytes, which must be valid text. */
  text(text: string | Uint8Array): Term {
    const bytes = typeof text === "string" ? utf8(text) : text
    const term = this.expr(typeof text === "string" ? knownLiteral(text) : exprs.literal(text))
    this.texts.set(term, bytes)
    return term
  }

  /** Returns the text of a term that is known to be exactly one text. */
  textOf(term: Term): Uint8Array | undefined {
    return this.texts.get(term)
  }

  /** Returns the term of the texts of `expr` as a lexeme of its own. */
  whole(expr: ExprId): Term {
    if (exprs.isNever(expr)) return this.never
    const term = this.lexeme(exprLexeme(expr))
    this.wholes.set(term, expr)
    return term
  }

  /** Returns the term of the texts of a state of the lexeme table, whatever tags they end with. */
  lexeme(lexemeState: number): Term {
    return lexemeState === Dead ? this.never : this.one(Kind.Lexeme, lexemeState)
  }

  /** Returns the term of exactly one token out of `ids`, whatever it spells. */
  token(ids: readonly number[]): Term {
    this.readsTokens = true
    return this.lexeme(tokenLexeme(ids))
  }

  /** Returns the id of a new rule that is not from any notation. */
  ownRule(): number {
    this.ownRules++
    return -this.ownRules
  }

  /** Returns a reference to `rule`; with `nonEmpty` without its empty text. */
  rule(rule: number, nonEmpty = false): Term {
    return this.two(Kind.Rule, rule, nonEmpty ? 1 : 0)
  }

  /** Returns the term of the texts of `grammar`; with `nonEmpty` without the empty one. */
  nested(grammar: Grammar, nonEmpty = false): Term {
    if (grammar.isEmpty) return this.never
    let id = this.grammarIds.get(grammar)
    if (id === undefined) {
      id = this.grammars.push(grammar) - 1
      if (grammar.readsTokens) this.readsTokens = true
      if (grammar.budgets.length > 0) this.hasBudgets = true
      if (grammar.guards !== null) this.hasGreedy = true
      this.grammarIds.set(grammar, id)
    }
    return this.two(Kind.Nested, id, nonEmpty ? 1 : 0)
  }

  /**
   * Returns the term that reads `lexemeState` and goes on by the tag with which it ends. `rests`
   * has every tag that it can end with. `narrow` returns the lexeme restricted to some of the tags;
   * it is called if what follows the other tags has no text.
   */
  branch(
    lexemeState: number,
    rests: ReadonlyMap<number, Term>,
    narrow: Branch["narrow"],
    ends?: Branch["ends"],
  ): Term {
    const possible = new Map([...rests].filter(([, rest]) => rest !== this.never))
    const lexeme = possible.size === rests.size ? lexemeState : narrow(new Set(possible.keys()))
    if (lexeme === Dead || possible.size === 0) return this.never
    return this.intern([Kind.Branch, this.branches.push({ lexeme, rests: possible, narrow, ends }) - 1])
  }

  /**
   * Returns the term of one of many texts, each with what follows it. A text that occurs twice can
   * be followed by either. Linear in the bytes of the texts, apart from sorting.
   */
  choice(options: readonly (readonly [text: string | Uint8Array, rest: Term])[]): Term {
    const byText = new Map<string, { bytes: Uint8Array; rests: Term[] }>()
    for (const [text, rest] of options) {
      if (rest === this.never) continue
      const bytes = typeof text === "string" ? utf8(text) : text
      const key = typeof text === "string" ? text : String.fromCharCode(0xdc00, ...bytes)
      const known = byText.get(key)
      if (known === undefined) byText.set(key, { bytes, rests: [rest] })
      else known.rests.push(rest)
    }
    const tags = new Map<Term, number>()
    const rests = new Map<number, Term>()
    const entries = [...byText.values()].map(({ bytes, rests: after }) => {
      checkLimit(fixedBounds, "shortestBytes.alternative", bytes.length)
      const rest = this.or(after)
      let tag = tags.get(rest)
      if (tag === undefined) {
        tag = FirstTag + tags.size
        tags.set(rest, tag)
        rests.set(tag, rest)
      }
      return { bytes, tag }
    })
    if (entries.length === 0) return this.never
    entries.sort((a, b) => compareBytes(a.bytes, b.bytes))
    const lexeme = textsLexeme(entries)
    if (rests.size > 1) {
      const narrow = (kept: ReadonlySet<number>) => textsLexeme(entries.filter(({ tag }) => kept.has(tag)))
      return this.branch(lexeme, rests, narrow, () => shortestByTag(entries))
    }
    return this.concat(this.lexeme(lexeme), rests.get(FirstTag) as Term)
  }

  /** Marks what `term` reads as the capture `name`. The language does not change. */
  capture(name: string, term: Term): Term {
    if (term === this.never) return term
    const known = this.names.indexOf(name)
    return this.intern([Kind.Capture, known >= 0 ? known : this.names.push(name) - 1, term])
  }

  /**
   * Returns the term of the shortest prefixes that `expr` accepts: the lexeme ends at the first
   * point where it can.
   */
  lazy(expr: ExprId): Term {
    return this.whole(lazyExpr(expr))
  }

  /**
   * Returns the term of the texts of `expr`, each of which may end only where the next byte cannot
   * continue it.
   */
  greedy(expr: ExprId): Term {
    // If no text is a prefix of another, every text is as long as it can be.
    const longer = exprs.and([expr, exprs.concat(expr, exprs.concat(exprs.anyChar, exprs.anyText))])
    if (exprs.isNever(longer)) return this.whole(expr)
    this.hasGreedy = true
    return this.one(Kind.Greedy, expr)
  }

  /**
   * Returns `term` in at most `maxTokens` tokens, counting those with a byte of it. `name` is the
   * rule with the budget, for messages. Law: a budget of a budget is the smaller one.
   */
  budget(term: Term, maxTokens: number, name = ""): Term {
    if (term === this.never || term === this.empty) return term
    let [body, max] = [term, Math.min(maxTokens, MaxBudget)]
    if (this.kind(term) === Kind.Budget) {
      body = this.at(term, 1)
      max = Math.min(max, this.at(term, 2))
      if (max === this.at(term, 2)) return term
    }
    this.hasBudgets = true
    const budget = this.two(Kind.Budget, body, max)
    if (!this.budgets.has(budget)) this.budgets.set(budget, name)
    return budget
  }

  /**
   * Returns `term` in at most `maxChars` characters. Throws `unsupported` if it is not regular as a
   * whole.
   */
  maxChars(term: Term, maxChars: number): Term {
    const short = (expr: ExprId) => exprs.and([expr, exprs.loop(exprs.anyChar, 0, maxChars)])
    const expr = this.exprOf(term)
    if (expr !== null) return this.expr(short(expr))
    const whole = this.wholes.get(term)
    if (whole !== undefined) return this.whole(short(whole))
    if (this.kind(term) === Kind.Greedy) return this.greedy(short(this.at(term, 1)))
    throw new GrammarError(
      "unsupported",
      "",
      `max_chars=${maxChars} counts the characters of a part that is no regular expression as a whole. Take recursion, control tokens, other grammars and options out of it, or bound its tokens by max_tokens`,
    )
  }

  /**
   * Returns the concatenation of `terms`. Laws: ∅·t = t·∅ = ∅; ε·t = t·ε = t; (a·b)·c = a·(b·c);
   * neighbours that are expressions are one expression; t*·t* = t*.
   */
  concat(...terms: readonly Term[]): Term {
    let tail = this.empty
    for (let i = terms.length - 1; i >= 0; i--) tail = this.pair(terms[i], tail)
    return tail
  }

  private pair(head: Term, tail: Term): Term {
    if (head === this.never || tail === this.never) return this.never
    if (head === this.empty) return tail
    if (tail === this.empty) return head
    if (this.kind(head) === Kind.Concat)
      return this.row(head).reduceRight((rest, part) => this.pair(part, rest), tail)
    const first = this.kind(tail) === Kind.Concat ? this.at(tail, 1) : tail
    if (head === first && this.kind(head) === Kind.Star) return tail
    if (this.kind(head) === Kind.Expr && this.kind(first) === Kind.Expr) {
      const size = this.sizeOf(head) + this.sizeOf(first)
      if (size <= MaxFused) {
        const fused = this.expr(exprs.concat(this.at(head, 1), this.at(first, 1)))
        const [one, two] = [this.texts.get(head), this.texts.get(first)]
        if (one !== undefined && two !== undefined && !this.texts.has(fused))
          this.texts.set(fused, concatenate([one, two]))
        return first === tail ? fused : this.pair(fused, this.at(tail, 2))
      }
    }
    return this.two(Kind.Concat, head, tail)
  }

  /**
   * Returns any of `terms`. Laws: ∅ is dropped; alternatives are a set; all expressions among them
   * are one; many texts are a trie.
   */
  or(terms: readonly Term[]): Term {
    const members = distinct(this.membersOf(terms))
    // Building thousands of alternatives takes as long as thousands of steps of a search.
    checkTime(members.length >>> 4)
    if (members.length === 1) return members[0]
    if (!members.some((term) => term === this.empty || this.kind(term) === Kind.Expr))
      return members.length === 0 ? this.never : this.intern([Kind.Or, ...ascending(members)])
    const regular: Term[] = []
    const others: Term[] = []
    const texts: Term[] = []
    let hasEmpty = false
    for (const term of members) {
      if (term === this.empty) hasEmpty = true
      else if (this.kind(term) !== Kind.Expr) others.push(term)
      else if (this.texts.has(term)) texts.push(term)
      else regular.push(term)
    }
    if (texts.length < MinChoice) regular.push(...texts)
    else
      others.push(this.choice(texts.map((term) => [this.texts.get(term) as Uint8Array, this.empty] as const)))
    let size = 0
    for (const term of regular) size += this.sizeOf(term)
    if (regular.length > 0 && (regular.length === 1 || size <= MaxFused)) {
      const alternatives = regular.map((term) => this.at(term, 1))
      others.push(this.expr(exprs.or(hasEmpty ? [...alternatives, Empty] : alternatives)))
    } else {
      others.push(...regular)
      if (hasEmpty) others.push(this.empty)
    }
    if (others.length < 2) return others[0] ?? this.never
    const sorted = ascending(distinct(others))
    return sorted.length === 1 ? sorted[0] : this.intern([Kind.Or, ...sorted])
  }

  /** Returns the alternatives of all of `terms`, in a new list. */
  private membersOf(terms: readonly Term[]): Term[] {
    if (!terms.some((term) => term === this.never || this.kind(term) === Kind.Or)) return terms.slice()
    const members: Term[] = []
    for (const term of terms) this.addMembers(members, term)
    return members
  }

  /** Adds the alternatives of `term` that have texts. */
  private addMembers(members: Term[], term: Term): void {
    if (term === this.never) return
    if (this.kind(term) !== Kind.Or) members.push(term)
    else for (let i = 1; i < this.table.length(term); i++) this.addMembers(members, this.table.at(term, i))
  }

  /**
   * Returns `term` any number of times. Laws: ∅* = ε* = ε; t** = t*; (x | t)* = x*·(t·x*)* for an
   * expression x, so that a run of x is one lexeme.
   */
  star(term: Term): Term {
    switch (this.kind(term)) {
      case Kind.Never:
      case Kind.Empty:
        return this.empty
      case Kind.Star:
        return term
      case Kind.Concat:
        return this.loops.has(term) ? term : this.one(Kind.Star, term)
      case Kind.Expr:
        return this.expr(exprs.loop(this.at(term, 1), 0, Number.POSITIVE_INFINITY))
      case Kind.Or:
        return this.starOf(this.members(term).filter((member) => member !== this.empty))
      default:
        return this.one(Kind.Star, term)
    }
  }

  /** Returns any of `members`, any number of times. At least one of them is not an expression. */
  private starOf(members: readonly Term[]): Term {
    const isExpr = (member: Term) => this.kind(member) === Kind.Expr
    const [expr, ...more] = members.filter(isExpr)
    if (expr === undefined || more.length > 0 || members.length === 1)
      return this.one(Kind.Star, this.or(members))
    const run = this.star(expr)
    const others = members.filter((member) => !isExpr(member))
    const loop = this.concat(run, this.star(this.or(others.map((other) => this.concat(other, run)))))
    this.loops.add(loop)
    return loop
  }

  /**
   * Returns whether `term` is a loop, which matches the empty text and any concatenation of its
   * texts.
   */
  isLoop(term: Term): boolean {
    return this.kind(term) === Kind.Star || this.loops.has(term)
  }

  /** Returns `min` to `max` times `term`; `max` may be Infinity. Counted, never unrolled. */
  repeat(term: Term, min: number, max: number): Term {
    if (max < min) return this.never
    if (max === 0) return this.empty
    if (max === 1) return min === 1 ? term : this.or([this.empty, term])
    if (term === this.never) return min === 0 ? this.empty : this.never
    if (term === this.empty) return this.empty
    if (this.kind(term) === Kind.Expr) return this.expr(exprs.loop(this.at(term, 1), min, max))
    // Greater counts are never reached by a text: a tuple keeps 31 bits of each.
    const [least, most] = [Math.min(min, Unbounded - 1), Math.min(max, Unbounded)]
    if (most < Unbounded) return this.intern([Kind.Repeat, term, least, most])
    if (min === 0) return this.star(term)
    return min === 1 ? this.concat(term, this.star(term)) : this.intern([Kind.Repeat, term, least, Unbounded])
  }

  /** Returns `term` and all terms that it is made of, without the bodies of rules. */
  within(term: Term): ReadonlySet<Term> {
    const all = new Set([term])
    // A set's loop also visits members that are added meanwhile.
    for (const each of all) for (const part of this.parts(each)) all.add(part)
    return all
  }

  /** Returns the direct parts of `term`. */
  parts(term: Term): Term[] {
    const parts: Term[] = []
    this.addParts(parts, term)
    return parts
  }

  /** Adds the direct parts of `term`. */
  addParts(parts: Term[], term: Term): void {
    switch (this.kind(term)) {
      case Kind.Concat:
        parts.push(this.at(term, 1), this.at(term, 2))
        return
      case Kind.Or:
        for (let i = 1; i < this.table.length(term); i++) parts.push(this.at(term, i))
        return
      case Kind.Star:
      case Kind.Repeat:
      case Kind.Budget:
        parts.push(this.at(term, 1))
        return
      case Kind.Capture:
        parts.push(this.at(term, 2))
        return
      case Kind.Branch:
        for (const rest of this.branches[this.at(term, 1)].rests.values()) parts.push(rest)
    }
  }

  /** Returns `term` with `map` applied to its parts; `term` itself if it has none. */
  map(term: Term, map: (part: Term) => Term): Term {
    switch (this.kind(term)) {
      case Kind.Concat:
        return this.concat(...this.row(term).map(map))
      case Kind.Or:
        return this.or(this.members(term).map(map))
      case Kind.Star:
        return this.star(map(this.at(term, 1)))
      case Kind.Repeat:
        return this.repeat(map(this.at(term, 1)), this.at(term, 2), maxOf(this.at(term, 3)))
      case Kind.Capture:
        return this.capture(this.names[this.at(term, 1)], map(this.at(term, 2)))
      case Kind.Budget:
        return this.budget(map(this.at(term, 1)), this.at(term, 2), this.budgets.get(term))
      case Kind.Branch: {
        const { lexeme, rests, narrow, ends } = this.branches[this.at(term, 1)]
        const mapped = new Map([...rests].map(([tag, rest]) => [tag, map(rest)] as const))
        const isSame = [...mapped].every(([tag, rest]) => rest === rests.get(tag))
        return isSame ? term : this.branch(lexeme, mapped, narrow, ends)
      }
      default:
        return term
    }
  }

  /** Returns what remains of a repetition once its body has been read one more time. */
  oneLess(term: Term): Term {
    return this.repeat(this.at(term, 1), Math.max(0, this.at(term, 2) - 1), maxOf(this.at(term, 3)) - 1)
  }

  /** Returns the expression of a term that is regular as a whole, else null. */
  exprOf(term: Term): ExprId | null {
    if (term === this.never) return Never
    if (term === this.empty) return Empty
    return this.kind(term) === Kind.Expr ? this.at(term, 1) : null
  }

  /** [kind, a] */
  private one(kind: number, a: number): Term {
    pair[0] = kind
    pair[1] = a
    return this.intern(pair)
  }

  /** [kind, a, b] */
  private two(kind: number, a: number, b: number): Term {
    triple[0] = kind
    triple[1] = a
    triple[2] = b
    return this.intern(triple)
  }

  private intern(tuple: readonly number[]): Term {
    const term = this.table.intern(tuple)
    if (term >= this.limits.symbols) checkLimit(this.limits, "symbols", term + 1)
    return term
  }

  private sizeOf(term: Term): number {
    return this.texts.get(term)?.length ?? exprSize(this.at(term, 1))
  }
}

/** Returns the texts of `expr` without the empty one. */
export function nonEmptyExpr(expr: ExprId): ExprId {
  return exprs.nullable(expr) ? exprs.and([expr, exprs.not(Empty)]) : expr
}

/** Returns the texts of `expr` that have no shorter prefix among them. */
export function lazyExpr(expr: ExprId): ExprId {
  return exprs.and([expr, exprs.not(exprs.concat(expr, exprs.concat(exprs.anyChar, exprs.anyText)))])
}
