/**
 * Terms: the right-hand sides of rules, hash-consed.
 *
 * A term is a regular expression over what a rule may contain: lexemes, references to rules, whole grammars. Equal terms
 * are one integer, and the constructors simplify while building, so there is no pass that could be forgotten. Their most
 * important law is fusion: what is regular as a whole is one expression over bytes (`expr/`), and so one lexeme, whatever
 * way the notation put it together. What remains of a term once its first symbol has been read is a term again: that is
 * what frames are made of (`steps.ts`). Antimirov, Partial Derivatives of Regular Expressions (1996), over symbols.
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

/** First symbol → what remains behind it. */
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
  /** [4, rule, 1 without its empty text] */
  Rule: 4,
  /** [5, head, tail]; the head is no concatenation */
  Concat: 5,
  /** [6, …terms] ascending, at least two */
  Or: 6,
  /** [7, body] any number of times */
  Star: 7,
  /** [8, body, min, max] */
  Repeat: 8,
  /** [9, branch] */
  Branch: 9,
  /** [10, grammar, 1 without its empty text] */
  Nested: 10,
  /** [11, name, body] */
  Capture: 11,
  /** [12, body, tokens] */
  Budget: 12,
  /** [13, expression]; not among the rules that are read, see `greedy.ts` */
  Greedy: 13,
} as const

/** Upper bound of a repetition without one, in its tuple. */
const Unbounded = 0x7fffffff

/** The upper bound that stands for `max` in the tuple of a repetition. */
export function maxOf(max: number): number {
  return max === Unbounded ? Number.POSITIVE_INFINITY : max
}

/** Room of a new table of terms: most grammars have some hundred. */
const FirstRoom = 1 << 10

/** Larger budgets never bind. */
const MaxBudget = 0x3fffffff
/** Nodes of an expression that still fuses with its neighbours. */
const MaxFused = MaxSize

/** A lexeme whose tag decides what follows. */
export interface Branch {
  readonly lexeme: number
  /** By tag. Every tag that the lexeme can end with is here. */
  readonly rests: ReadonlyMap<number, Term>
  /** The lexeme that ends with these tags alone. */
  readonly narrow: (tags: ReadonlySet<number>) => number
  /** A short text by tag; default: each is asked for by itself. */
  readonly ends?: () => ReadonlyMap<number, Uint8Array>
}

// Tuples that are looked for.
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
  /** Whether something is read by the id of a token. */
  readsTokens = false
  /** Whether a part of it has a budget of tokens. */
  hasBudgets = false
  /** Whether it has greedy lexemes, see `greedy.ts`. */
  hasGreedy = false
  private readonly limits: Limits
  private readonly grammarIds = new Map<Grammar, number>()
  private readonly table = new TupleTable(FirstRoom)
  private ownRules = 0
  /** Loops that begin with a run of an expression. */
  private readonly loops = new Set<Term>()
  /** The text of a term that is exactly one text. */
  private readonly texts = new Map<Term, Uint8Array>()
  /** The expression of a term that is a lexeme of its own. */
  private readonly wholes = new Map<Term, ExprId>()

  constructor(limits: Limits) {
    this.limits = limits
    this.table.intern([Kind.Never])
    this.table.intern([Kind.Empty])
  }

  get count(): number {
    return this.table.count
  }

  /** Whether some part is captured, here or in a grammar that is nested. */
  get hasCaptures(): boolean {
    return this.names.length > 0 || this.grammars.some(({ captures }) => captures !== null)
  }

  kind(term: Term): number {
    return this.table.at(term, 0)
  }

  /** Value `index` of the tuple; 0 is the kind. */
  at(term: Term, index: number): number {
    return this.table.at(term, index)
  }

  /** Length of the tuple, its kind included. */
  length(term: Term): number {
    return this.table.length(term)
  }

  /** The alternatives of an `or`. */
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

  /** Whether `test` holds of an alternative of an `or`. */
  someMember(term: Term, test: (member: Term) => boolean): boolean {
    for (let i = 1; i < this.table.length(term); i++) if (test(this.table.at(term, i))) return true
    return false
  }

  /** The texts of `expr`. Fuses with what stands beside it. */
  expr(expr: ExprId): Term {
    if (exprs.isNever(expr)) return this.never
    return expr === Empty ? this.empty : this.one(Kind.Expr, expr)
  }

  /** Exactly this text, or these bytes, which must be text. */
  text(text: string | Uint8Array): Term {
    const bytes = typeof text === "string" ? utf8(text) : text
    const term = this.expr(typeof text === "string" ? knownLiteral(text) : exprs.literal(text))
    this.texts.set(term, bytes)
    return term
  }

  /** The text of a term that is known to be exactly one. */
  textOf(term: Term): Uint8Array | undefined {
    return this.texts.get(term)
  }

  /** The texts of `expr` as a lexeme of its own. */
  whole(expr: ExprId): Term {
    if (exprs.isNever(expr)) return this.never
    const term = this.lexeme(exprLexeme(expr))
    this.wholes.set(term, expr)
    return term
  }

  /** The texts of a state of the lexeme table, whatever the tags that they end with. */
  lexeme(lexemeState: number): Term {
    return lexemeState === Dead ? this.never : this.one(Kind.Lexeme, lexemeState)
  }

  /** Exactly one token out of `ids`, whatever it spells. */
  token(ids: readonly number[]): Term {
    this.readsTokens = true
    return this.lexeme(tokenLexeme(ids))
  }

  /** The id of a rule that no notation wrote. */
  ownRule(): number {
    this.ownRules++
    return -this.ownRules
  }

  /** Rule `rule`; `nonEmpty`: without its empty text. */
  rule(rule: number, nonEmpty = false): Term {
    return this.two(Kind.Rule, rule, nonEmpty ? 1 : 0)
  }

  /** The texts of `grammar`; `nonEmpty`: without the empty one. */
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
   * Reads `lexemeState`; the tag with which it ends says what follows. Every tag that it can end with is in `rests`. `narrow`
   * answers the lexeme that ends with some of the tags alone; it is asked where what follows the others has no text.
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

  /** One of many texts, each with what follows it. Texts that stand twice have both. Linear in their bytes, but for sorting. */
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

  /** Marks what `term` reads as the capture `name`. The language stays as it is. */
  capture(name: string, term: Term): Term {
    if (term === this.never) return term
    const known = this.names.indexOf(name)
    return this.intern([Kind.Capture, known >= 0 ? known : this.names.push(name) - 1, term])
  }

  /** The shortest beginnings of `expr` that it accepts: the lexeme ends at the first point where it can. */
  lazy(expr: ExprId): Term {
    return this.whole(lazyExpr(expr))
  }

  /** The texts of `expr`, each of which may not end before a byte with which it could go on. */
  greedy(expr: ExprId): Term {
    // Where no text is the beginning of another, every text is as long as it can be.
    const longer = exprs.and([expr, exprs.concat(expr, exprs.concat(exprs.anyChar, exprs.anyText))])
    if (exprs.isNever(longer)) return this.whole(expr)
    this.hasGreedy = true
    return this.one(Kind.Greedy, expr)
  }

  /**
   * `term` in at most `maxTokens` tokens, those with a byte of it. `name`, for messages: the rule that asks for it. Law: a
   * budget of a budget is the smaller one.
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

  /** `term` in at most `maxChars` characters. Throws `unsupported` where it is not regular as a whole. */
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
   * All of `terms` in a row. Laws: ∅·t = t·∅ = ∅; ε·t = t·ε = t; (a·b)·c = a·(b·c); neighbours that are expressions are one
   * expression; t*·t* = t*.
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

  /** Any of `terms`. Laws: ∅ is dropped, alternatives are a set, all that are expressions are one, many texts are a trie. */
  or(terms: readonly Term[]): Term {
    const members = distinct(this.membersOf(terms))
    // Thousands of alternatives take as long as thousands of questions.
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

  /** The alternatives of all of `terms`, in a list of their own. */
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

  /** `term` any number of times. Laws: ∅* = ε* = ε; t** = t*; (x | t)* = x*·(t·x*)* for an expression x: a run of it is one lexeme. */
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

  /** Any of `members`, at least one of them no expression, any number of times. */
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

  /** Whether `term` is a loop: two texts of it in a row are one, and the empty one is its. */
  isLoop(term: Term): boolean {
    return this.kind(term) === Kind.Star || this.loops.has(term)
  }

  /** `min` to `max` times `term`; `max` may be Infinity. Counted, never unrolled. */
  repeat(term: Term, min: number, max: number): Term {
    if (max < min) return this.never
    if (max === 0) return this.empty
    if (max === 1) return min === 1 ? term : this.or([this.empty, term])
    if (term === this.never) return min === 0 ? this.empty : this.never
    if (term === this.empty) return this.empty
    if (this.kind(term) === Kind.Expr) return this.expr(exprs.loop(this.at(term, 1), min, max))
    // Counts that no text reaches: a tuple keeps 31 bits of each.
    const [least, most] = [Math.min(min, Unbounded - 1), Math.min(max, Unbounded)]
    if (most < Unbounded) return this.intern([Kind.Repeat, term, least, most])
    if (min === 0) return this.star(term)
    return min === 1 ? this.concat(term, this.star(term)) : this.intern([Kind.Repeat, term, least, Unbounded])
  }

  /** Returns `term` and all terms that it is made of, without the bodies of rules. */
  within(term: Term): ReadonlySet<Term> {
    const all = new Set([term])
    // What is added meanwhile is visited too.
    for (const each of all) for (const part of this.parts(each)) all.add(part)
    return all
  }

  /** The terms that `term` is made of. */
  parts(term: Term): Term[] {
    const parts: Term[] = []
    this.addParts(parts, term)
    return parts
  }

  /** Adds the terms that `term` is made of. */
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

  /** Returns `term` made of `map` of its parts; `term` itself if it has none. */
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

  /** What is left of `min` to `max` times once one has been read. */
  oneLess(term: Term): Term {
    return this.repeat(this.at(term, 1), Math.max(0, this.at(term, 2) - 1), maxOf(this.at(term, 3)) - 1)
  }

  /** The expression of a term that is regular as a whole, else null. */
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

/** The texts of `expr` but the empty one. */
export function nonEmptyExpr(expr: ExprId): ExprId {
  return exprs.nullable(expr) ? exprs.and([expr, exprs.not(Empty)]) : expr
}

/** The texts of `expr` of which no shorter beginning is one. */
export function lazyExpr(expr: ExprId): ExprId {
  return exprs.and([expr, exprs.not(exprs.concat(expr, exprs.concat(exprs.anyChar, exprs.anyText)))])
}
