/**
 * SELECT statements over one scope: plain ones, those whose result is one row of aggregates, and
 * grouped ones.
 *
 * The columns of GROUP BY come first in the SELECT list. A single column is grouped by its name or
 * its position, several by their positions, `GROUP BY 1, 2`, which both dialects accept. So no rule
 * must remember which columns were selected, only how many. Everything that may come first is one
 * trie for each scope, since the scopes are read side by side there.
 */
import type { RuleId, Rules } from "../ebnf/rules.ts"
import type { Term } from "../ebnf/terms.ts"
import type { Clauses } from "./clauses.ts"
import type { CompoundRules } from "./compound.ts"
import type { Database } from "./database.ts"
import { comparable, type Expressions, type Opening } from "./expressions.ts"
import type { MakeTerm } from "./namedrules.ts"
import type { Scope, Scopes } from "./scopes.ts"

/** Most columns of a result, and most columns of GROUP BY. */
const MaxSelected = 64
const MaxGrouped = 4
/**
 * Most columns of a result that PostgreSQL and SQLite accept; their defaults are 1,664 and 2,000.
 */
const MaxResult = 1_600
/** Deepest nesting of operands in the SELECT list, and inside aggregates. */
const SelectLevel = 2
const AggregateLevel = 1

export class SelectRules {
  private readonly rules: Rules
  private readonly database: Database
  private readonly scopes: Scopes
  private readonly expressions: Expressions
  private readonly clauses: Clauses
  private readonly compounds: CompoundRules

  constructor(
    rules: Rules,
    database: Database,
    scopes: Scopes,
    expressions: Expressions,
    clauses: Clauses,
    compounds: CompoundRules,
  ) {
    this.rules = rules
    this.database = database
    this.scopes = scopes
    this.expressions = expressions
    this.clauses = clauses
    this.compounds = compounds
  }

  /** Returns one statement over any family, with or without a semicolon. */
  statement(): RuleId {
    return this.expressions.named.of("statement", (use) => {
      const heads = this.scopes.families.map((scope) => use(this.selected(scope)))
      return () => {
        const { terms } = this.rules
        const head = terms.or(heads.map((make) => make()))
        const end = terms.or([terms.empty, terms.text(";")])
        return terms.concat(this.expressions.phrase("select "), head, end)
      }
    })
  }

  /** Returns what follows SELECT. */
  private selected(scope: Scope): RuleId {
    const { expressions } = this
    const { terms } = this.rules
    return expressions.named.of(`selected of ${scope.key}`, (use) => {
      const plain = use(this.plain(scope))
      const plainEnd = use(this.plainEnd(scope))
      const aggregated = use(this.aggregated(scope))
      const distinct = use(this.distinct(scope))
      const behind = (openings: readonly Opening[], next: MakeTerm) =>
        openings.map(([text, rest]): Opening => {
          return [text, () => terms.concat(rest(), this.expressions.alias(), next())]
        })
      const groups = comparable(scope).map(({ written }): Opening => {
        const grouped = use(this.grouped(scope, 1, written))
        return [written, () => terms.concat(this.expressions.alias(), grouped())]
      })
      const compounds = scope.kinds.flatMap((kind) => {
        if (scope.tables.length > 1) return []
        const next = use(this.compounds.behind(scope, [kind]))
        return behind(expressions.operandOpenings(scope, kind, SelectLevel, use), next)
      })
      const openings = [
        ...groups,
        ...compounds,
        ...behind(this.plainItems(scope, use), plain),
        ...this.wholeTables(scope).map(([text]): Opening => [text, plain]),
        ...behind(this.aggregates(scope, use), aggregated),
        ...expressions.openings("distinct", () =>
          terms.concat(terms.expr(expressions.words.gap), distinct()),
        ),
      ]
      if (scope.columns.length <= MaxResult) openings.push(["*", plainEnd])
      return () => expressions.opened(openings)
    })
  }

  /** Returns what follows the first item of a plain statement. */
  private plain(scope: Scope): RuleId {
    return this.expressions.named.of(`plain of ${scope.key}`, (use) => {
      const { terms } = this.rules
      const value = use(this.plainItem(scope))
      const whole = this.wholeTables(scope)
      const widest = Math.max(...scope.tables.map((table) => this.database.tables[table].columns.length))
      const end = use(this.plainEnd(scope))
      return () => {
        const item = terms.or([
          terms.concat(value(), this.expressions.alias()),
          this.expressions.opened(whole),
        ])
        const most = Math.min(MaxSelected, Math.floor(MaxResult / widest))
        const more = terms.repeat(terms.concat(this.expressions.comma(), item), 0, Math.max(most, 1) - 1)
        return terms.concat(more, end())
      }
    })
  }

  private plainItem(scope: Scope): RuleId {
    return this.expressions.named.of(`plain item of ${scope.key}`, (use) => {
      const items = this.plainItems(scope, use)
      return () => this.expressions.opened(items)
    })
  }

  private plainEnd(scope: Scope): RuleId {
    return this.expressions.named.of(`end of plain of ${scope.key}`, (use) => {
      const from = use(this.clauses.fromWhere(scope))
      const column = use(this.expressions.column(scope, false))
      return () => {
        const order = this.clauses.order(column())
        return this.rules.terms.concat(from(), order, this.clauses.limit())
      }
    })
  }

  /**
   * Returns what follows DISTINCT. PostgreSQL orders such rows only by selected items: here by the
   * first position.
   */
  private distinct(scope: Scope): RuleId {
    return this.expressions.named.of(`distinct of ${scope.key}`, (use) => {
      const items = this.values(scope, use)
      const from = use(this.clauses.fromWhere(scope))
      return () => {
        const { terms } = this.rules
        const item = terms.concat(this.expressions.opened(items), this.expressions.alias())
        const list = this.expressions.listed(item, this.expressions.comma(), MaxSelected)
        return terms.concat(list, from(), this.clauses.order(terms.text("1")), this.clauses.limit())
      }
    })
  }

  /** Returns what follows the first aggregate of a statement whose result is one row. */
  private aggregated(scope: Scope): RuleId {
    return this.expressions.named.of(`aggregated of ${scope.key}`, (use) => {
      const aggregate = use(this.expressions.aggregate(scope, AggregateLevel))
      const from = use(this.clauses.fromWhere(scope))
      return () => this.rules.terms.concat(this.more(aggregate()), from(), this.clauses.limit())
    })
  }

  /** Returns what follows the `count` columns of GROUP BY; `name` is the name of a single one. */
  private grouped(scope: Scope, count: number, name: string | null): RuleId {
    const { expressions, clauses } = this
    return expressions.named.of(`${count} groups of ${scope.key}, ${name ?? ""}`, (use) => {
      const { terms } = this.rules
      const aggregate = use(expressions.aggregate(scope, AggregateLevel))
      const column = use(expressions.column(scope, false))
      const from = use(clauses.fromWhere(scope))
      const having = clauses.having(scope, use)
      const next = count < MaxGrouped ? use(this.grouped(scope, count + 1, null)) : null
      return () => {
        const places = Array.from({ length: count }, (_, i) => terms.text(`${i + 1}`))
        const listed = places.reduce((all, place) => terms.concat(all, expressions.comma(), place))
        const names = name === null ? [] : [terms.text(name)]
        const by = terms.or([listed, ...names])
        const order = clauses.order(terms.or([...names, ...places, aggregate()]))
        const group = terms.concat(expressions.phrase(" group by "), by, having(), order, clauses.limit())
        const own = terms.concat(this.more(aggregate()), from(), group)
        if (next === null) return own
        return terms.or([own, terms.concat(expressions.comma(), column(), this.expressions.alias(), next())])
      }
    })
  }

  /** Returns what a plain statement may select, except whole tables. */
  private plainItems(scope: Scope, use: (rule: RuleId) => MakeTerm): Opening[] {
    const opaque = scope.columns.filter(({ kind }) => kind === "opaque")
    return [
      ...opaque.map(({ written }): Opening => [written, () => this.rules.terms.empty]),
      ...this.values(scope, use),
    ]
  }

  /** Returns operands of all kinds that can be compared. */
  private values(scope: Scope, use: (rule: RuleId) => MakeTerm): Opening[] {
    const { expressions } = this
    return scope.kinds.flatMap((kind) => expressions.operandOpenings(scope, kind, SelectLevel, use))
  }

  private aggregates(scope: Scope, use: (rule: RuleId) => MakeTerm): Opening[] {
    return this.expressions.aggregates(scope, null, AggregateLevel, use)
  }

  private wholeTables({ tables }: Scope): Opening[] {
    return tables.map((table) => [`${this.database.tables[table].written}.*`, () => this.rules.terms.empty])
  }

  /** Returns any number of further `item`s, each after a comma. */
  private more(item: Term): Term {
    const { terms } = this.rules
    const next = terms.concat(this.expressions.comma(), item, this.expressions.alias())
    return terms.repeat(next, 0, MaxSelected - MaxGrouped)
  }
}
