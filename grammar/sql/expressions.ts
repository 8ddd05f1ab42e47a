/**
 * Expressions over the columns of a scope, by kind: operands, aggregates, conditions.
 *
 * Both sides of a comparison are of one kind, so that PostgreSQL finds an operator for it. `level`
 * counts nesting down, and all lists are bounded, because databases bound the depth of an
 * expression. Conditions contain no aggregates, and operands contain no queries. In many scopes,
 * many operands begin in the same way, so the beginnings of an operand are a trie.
 */
import type { RuleId, Rules } from "../ebnf/rules.ts"
import type { Term } from "../ebnf/terms.ts"
import { type ExprId, exprs } from "../lexeme/expr/expr.ts"
import type { Column, Database, Kind } from "./database.ts"
import { type MakeTerm, NamedRules } from "./namedrules.ts"
import type { Scope, Scopes } from "./scopes.ts"
import { bothCases, type SqlWords, sqlWords } from "./words.ts"

/** Most operands in a row, conditions in a row, and members of a list. */
const MaxOperands = 6
const MaxConditions = 8
const MaxMembers = 64

/** A way to begin, and what follows it. */
export type Opening = readonly [text: string, rest: MakeTerm]

export class Expressions {
  readonly words: SqlWords = sqlWords()
  readonly named: NamedRules
  private readonly rules: Rules
  private readonly database: Database
  private readonly scopes: Scopes

  constructor(rules: Rules, database: Database, scopes: Scopes) {
    this.rules = rules
    this.named = new NamedRules(rules)
    this.database = database
    this.scopes = scopes
  }

  phrase(words: string): Term {
    return this.rules.terms.expr(this.words.phrase(words))
  }

  /** Returns one of `openings`, with what follows it. */
  opened(openings: readonly Opening[]): Term {
    return this.rules.terms.choice(openings.map(([text, rest]) => [text, rest()] as const))
  }

  /** Returns both spellings of `word` as openings. */
  openings(word: string, rest: MakeTerm): Opening[] {
    return bothCases(word).map((text) => [text, rest] as const)
  }

  /** Returns the rule of values of `kind`, of any length. */
  operand(scope: Scope, kind: Kind, level: number): RuleId {
    return this.named.of(`${kind} of ${scope.key}, ${level}`, (use) => {
      const chain = this.chain(scope, kind, level, use)
      const openings = this.operandOpenings(scope, kind, level, use)
      return () => {
        const { terms } = this.rules
        const literals = terms.concat(this.literals(this.words.typed(kind)), chain())
        return terms.or([this.opened(openings), literals])
      }
    })
  }

  /** Returns all operands of `kind` that do not begin with a literal. */
  operandOpenings(scope: Scope, kind: Kind, level: number, use: (rule: RuleId) => MakeTerm): Opening[] {
    const chain = this.chain(scope, kind, level, use)
    return this.atoms(scope, kind, level, use).map(([text, rest]) => {
      return [text, () => this.rules.terms.concat(rest(), chain())] as const
    })
  }

  /** Returns one operand without operators. */
  private atom(scope: Scope, kind: Kind, level: number): RuleId {
    return this.named.of(`one ${kind} of ${scope.key}, ${level}`, (use) => {
      const openings = this.atoms(scope, kind, level, use)
      return () => this.rules.terms.or([this.opened(openings), this.literals(this.words.typed(kind))])
    })
  }

  private atoms(scope: Scope, kind: Kind, level: number, use: (rule: RuleId) => MakeTerm): Opening[] {
    const { terms } = this.rules
    const openings: Opening[] = columnsOf(scope, kind).map(({ written }) => [written, () => terms.empty])
    if (level === 0) return openings
    const inner = use(this.operand(scope, kind, level - 1))
    const close = () => terms.concat(inner(), terms.text(")"))
    const called = (name: string, rest: MakeTerm = close) => openings.push(...this.openings(`${name}(`, rest))
    called("coalesce", () => terms.concat(inner(), this.comma(), close()))
    if (kind === "any" || kind === "number" || kind === "text") openings.push(["(", close])
    if (kind === "any" || kind === "number") for (const name of ["abs", "round"]) called(name)
    if (kind === "any" || kind === "text") for (const name of ["upper", "lower", "trim"]) called(name)
    if (kind === "any") called("length")
    if (kind === "number" && scope.kinds.includes("text")) {
      const text = use(this.operand(scope, "text", level - 1))
      called("length", () => terms.concat(text(), terms.text(")")))
    }
    const when = use(this.condition(scope, level - 1, false))
    openings.push(...this.openings("case", () => this.cases(when, inner)))
    return openings
  }

  /** Returns what follows CASE. The results are never all NULL, because they would have no type. */
  private cases(when: MakeTerm, result: MakeTerm): Term {
    const { terms } = this.rules
    const arm = terms.concat(this.phrase(" when "), when(), this.phrase(" then "), result())
    const value = terms.or([result(), this.phrase("null")])
    const otherwise = terms.concat(this.phrase(" else "), value)
    return terms.concat(terms.repeat(arm, 1, 4), terms.or([terms.empty, otherwise]), this.phrase(" end"))
  }

  /** Returns optional operators with their right operands. */
  private chain(scope: Scope, kind: Kind, level: number, use: (rule: RuleId) => MakeTerm): MakeTerm {
    const { terms } = this.rules
    const operators: string[] = []
    if (kind === "any" || kind === "number") operators.push(" + ", " - ", " * ")
    if (kind === "any" || kind === "text") operators.push(" || ")
    if (operators.length === 0) return () => terms.empty
    const atom = use(this.atom(scope, kind, level))
    return () => {
      const operator = terms.expr(exprs.or(operators.map((each) => this.words.phrase(each))))
      const ways = [terms.concat(operator, atom())]
      const divided = exprs.concat(this.words.phrase(" / "), this.words.divisor)
      if (kind !== "text") ways.push(terms.expr(divided))
      return terms.repeat(terms.or(ways), 0, MaxOperands)
    }
  }

  /** Returns a column of `scope`: any, or one that can be compared. */
  column(scope: Scope, isAny: boolean): RuleId {
    return this.named.of(`${isAny ? "column" : "comparable column"} of ${scope.key}`, () => {
      const columns = isAny ? scope.columns : comparable(scope)
      return () => this.opened(columns.map(({ written }) => [written, () => this.rules.terms.empty]))
    })
  }

  /** Returns an aggregate of `scope`. */
  aggregate(scope: Scope, level: number): RuleId {
    return this.named.of(`aggregate of ${scope.key}, ${level}`, (use) => {
      const openings = this.aggregates(scope, null, level, use)
      return () => this.opened(openings)
    })
  }

  /** Returns the aggregates of `scope` whose values are of `kind`; null means any kind. */
  aggregates(scope: Scope, kind: Kind | null, level: number, use: (rule: RuleId) => MakeTerm): Opening[] {
    const { terms } = this.rules
    const openings: Opening[] = []
    const isAny = this.database.dialect === "sqlite"
    const number = isAny ? "any" : "number"
    const add = (name: string, rest: MakeTerm) => openings.push(...this.openings(`${name}(`, rest))
    const close = (make: MakeTerm) => () => terms.concat(make(), terms.text(")"))
    if (kind === null || kind === number) {
      const counted = use(this.counted(scope))
      add("count", counted)
      if (scope.kinds.includes(number)) {
        const operand = use(this.operand(scope, number, level))
        for (const name of ["sum", "avg"]) add(name, close(operand))
      }
    }
    for (const ordered of scope.kinds) {
      // PostgreSQL has no minimum of booleans.
      if ((kind !== null && kind !== ordered) || ordered === "boolean" || ordered === "uuid") continue
      const columns = columnsOf(scope, ordered).map(({ written }) => [written, () => terms.empty] as const)
      const operand =
        ordered === number ? use(this.operand(scope, number, level)) : () => this.opened(columns)
      for (const name of ["min", "max"]) add(name, close(operand))
    }
    return openings
  }

  /** Returns what follows `COUNT(`. */
  private counted(scope: Scope): RuleId {
    return this.named.of(`counted of ${scope.key}`, (use) => {
      const [any, distinct] = [use(this.column(scope, true)), use(this.column(scope, false))]
      return () => {
        const { terms } = this.rules
        const some = terms.concat(this.phrase("distinct "), distinct())
        return terms.concat(terms.or([terms.text("*"), any(), some]), terms.text(")"))
      }
    })
  }

  /** Returns comparisons of aggregates with literals. */
  having(scope: Scope): RuleId {
    return this.named.of(`having of ${scope.key}`, (use) => {
      const kind = this.database.dialect === "sqlite" ? "any" : "number"
      const openings = this.aggregates(scope, kind, 1, use)
      return () => {
        const { terms } = this.rules
        const compared = terms.concat(
          this.opened(openings),
          this.comparison(),
          this.literals([this.words.number]),
        )
        return this.listed(compared, terms.or([this.phrase(" and "), this.phrase(" or ")]), 4)
      }
    })
  }

  /** Returns a condition on the columns of `scope`; `queries` allows queries inside. */
  condition(scope: Scope, level: number, queries: boolean): RuleId {
    return this.named.of(`condition of ${scope.key}, ${level}${queries ? " with queries" : ""}`, (use) => {
      const predicate = use(this.predicate(scope, level, queries))
      return () => {
        const { terms } = this.rules
        const not = terms.expr(exprs.loop(this.words.phrase("not "), 0, 1))
        const one = terms.concat(not, predicate())
        return this.listed(one, terms.or([this.phrase(" and "), this.phrase(" or ")]), MaxConditions)
      }
    })
  }

  private predicate(scope: Scope, level: number, queries: boolean): RuleId {
    return this.named.of(`predicate of ${scope.key}, ${level}${queries ? " with queries" : ""}`, (use) => {
      const { terms } = this.rules
      const isQueried = queries && level > 0
      const kinds = scope.kinds.map((kind) => {
        const left = use(this.operand(scope, kind, level))
        const right = use(this.right(scope, kind, level))
        const inner = isQueried ? this.innerQueries(scope, kind, level, use) : null
        return () => terms.concat(left(), this.tested(kind, right, inner))
      })
      const nested = level > 0 ? use(this.condition(scope, level - 1, queries)) : null
      const exists = isQueried ? this.innerTables(scope, level, use) : null
      return () => {
        const ways = kinds.map((make) => make())
        const unknown = columnsOf(scope, "opaque").map(({ written }) => [written, () => terms.empty] as const)
        ways.push(terms.concat(this.opened(unknown), this.nullTest()))
        ways.push(this.opened(columnsOf(scope, "boolean").map(({ written }) => [written, () => terms.empty])))
        if (nested !== null) ways.push(terms.concat(terms.text("("), nested(), terms.text(")")))
        if (exists !== null) {
          const selected = terms.or([terms.text("1"), terms.text("*")])
          const query = terms.concat(this.phrase("select "), selected, terms.or(exists.map((make) => make())))
          ways.push(terms.concat(this.phrase("exists "), terms.text("("), query, terms.text(")")))
        }
        return terms.or(ways)
      }
    })
  }

  /** Returns the right side of a comparison. */
  private right(scope: Scope, kind: Kind, level: number): RuleId {
    return this.named.of(`${kind} beside ${scope.key}, ${level}`, (use) => {
      const operand = use(this.operand(scope, kind, level))
      return () => this.rules.terms.or([operand(), this.literals(this.words.compared(kind))])
    })
  }

  /** Returns the tests of an operand of `kind`. */
  private tested(kind: Kind, right: MakeTerm, inner: { list: MakeTerm; one: MakeTerm } | null): Term {
    const { terms } = this.rules
    const not = (words: string) => terms.or([this.phrase(` ${words} `), this.phrase(` not ${words} `)])
    const list = this.listed(right(), this.comma(), MaxMembers)
    const members = inner === null ? list : terms.or([list, inner.list()])
    const other = inner === null ? right() : terms.or([right(), inner.one()])
    const ways = [
      terms.concat(this.comparison(), other),
      terms.concat(not("in"), terms.text("("), members, terms.text(")")),
      terms.concat(not("between"), right(), this.phrase(" and "), right()),
      this.nullTest(),
    ]
    if (kind === "any" || kind === "text")
      ways.push(terms.concat(not("like"), terms.expr(this.words.pattern)))
    return terms.or(ways)
  }

  /**
   * Returns queries over one table whose values are of `kind`. `list` returns any number of values;
   * `one` returns a single one, of an aggregate, and is in parentheses.
   */
  private innerQueries(
    scope: Scope,
    kind: Kind,
    level: number,
    use: (rule: RuleId) => MakeTerm,
  ): { list: MakeTerm; one: MakeTerm } {
    const { terms } = this.rules
    const lists: Opening[] = []
    const ones: Opening[] = []
    this.database.tables.forEach((table, index) => {
      const rest = use(this.innerRest(scope, index, level))
      for (const column of table.columns) if (column.kind === kind) lists.push([column.written, rest])
      for (const [text, argument] of this.aggregates(this.scopes.of([index]), kind, 0, use)) {
        ones.push([text, () => terms.concat(argument(), rest())])
      }
    })
    const selected = (openings: readonly Opening[]) => {
      const distinct = terms.or([terms.empty, this.phrase("distinct ")])
      return terms.concat(this.phrase("select "), distinct, this.opened(openings))
    }
    return {
      list: () => selected(lists),
      one: () => terms.concat(terms.text("("), this.phrase("select "), this.opened(ones), terms.text(")")),
    }
  }

  /** Returns, for each table, what follows the SELECT list of an inner query. */
  private innerTables(scope: Scope, level: number, use: (rule: RuleId) => MakeTerm): MakeTerm[] {
    return this.database.tables.map((_, index) => use(this.innerRest(scope, index, level)))
  }

  private innerRest(scope: Scope, table: number, level: number): RuleId {
    return this.named.of(`from ${table} inside ${scope.key}, ${level}`, (use) => {
      const inner = this.scopes.inside(scope, table)
      const condition = use(this.condition(inner, level - 1, true))
      return () => {
        const { terms } = this.rules
        const from = terms.concat(this.phrase(" from "), terms.text(this.database.tables[table].written))
        return terms.concat(from, terms.or([terms.empty, terms.concat(this.phrase(" where "), condition())]))
      }
    })
  }

  /** Returns one to `max` times `term`, separated by `between`. */
  listed(term: Term, between: Term, max: number): Term {
    const { terms } = this.rules
    return terms.concat(term, terms.repeat(terms.concat(between, term), 0, max - 1))
  }

  /** Returns `AS` and a name, or nothing. */
  alias(): Term {
    const { terms } = this.rules
    return terms.or([terms.empty, terms.concat(this.phrase(" as "), terms.expr(this.words.alias))])
  }

  comma(): Term {
    return this.rules.terms.expr(this.words.comma)
  }

  private literals(literals: readonly ExprId[]): Term {
    return this.rules.terms.expr(exprs.or(literals))
  }

  private comparison(): Term {
    const signs = ["=", "<>", "!=", "<", "<=", ">", ">="]
    return this.rules.terms.expr(exprs.or(signs.map((sign) => this.words.phrase(` ${sign} `))))
  }

  private nullTest(): Term {
    return this.rules.terms.or([this.phrase(" is null"), this.phrase(" is not null")])
  }
}

function columnsOf(scope: Scope, kind: Kind): Column[] {
  return scope.columns.filter((column) => column.kind === kind)
}

/** Returns the columns that may be compared, grouped and ordered by. */
export function comparable(scope: Scope): Column[] {
  return scope.columns.filter(({ kind }) => kind !== "opaque")
}
