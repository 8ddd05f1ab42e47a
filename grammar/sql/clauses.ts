/**
 * The clauses after the SELECT list: FROM with its joins, WHERE, HAVING, ORDER BY, LIMIT. Each
 * begins with a space.
 */
import type { RuleId, Rules } from "../ebnf/rules.ts"
import type { Term } from "../ebnf/terms.ts"
import type { Database, Link } from "./database.ts"
import type { Expressions, Opening } from "./expressions.ts"
import type { MakeTerm } from "./namedrules.ts"
import type { Scope, Scopes } from "./scopes.ts"

/** Most columns in ORDER BY, and most conditions of one join. */
const MaxOrdered = 4
const MaxLinked = 3
/** Deepest nesting of conditions. */
const WhereLevel = 2

export class Clauses {
  private readonly rules: Rules
  private readonly database: Database
  private readonly scopes: Scopes
  private readonly expressions: Expressions

  constructor(rules: Rules, database: Database, scopes: Scopes, expressions: Expressions) {
    this.rules = rules
    this.database = database
    this.scopes = scopes
    this.expressions = expressions
  }

  /**
   * Returns FROM with all tables of `scope`, in any order in which each is joined to earlier ones;
   * then an optional WHERE.
   */
  fromWhere(scope: Scope): RuleId {
    const { expressions } = this
    return expressions.named.of(`from ${scope.key}`, (use) => {
      const rests = scope.tables.map((table) => use(this.joins(scope, [table])))
      const condition = use(expressions.condition(scope, WhereLevel, true))
      return () => {
        const { terms } = this.rules
        const firsts = scope.tables.map((table, i): Opening => [this.written(table), rests[i]])
        const where = terms.concat(expressions.phrase(" where "), condition())
        const tables = terms.concat(expressions.phrase(" from "), expressions.opened(firsts))
        return terms.concat(tables, terms.or([terms.empty, where]))
      }
    })
  }

  /** Returns the joins that remain after the tables `joined`. */
  private joins(scope: Scope, joined: readonly number[]): RuleId {
    const { expressions } = this
    const behind = this.scopes.of(joined)
    return expressions.named.of(`joins of ${scope.key} behind ${behind.key}`, (use) => {
      const nexts = scope.tables.flatMap((table) => {
        const links = joined.includes(table) ? [] : this.scopes.links(joined, table)
        return links.length === 0 ? [] : [{ table, links, rest: use(this.joins(scope, [...joined, table])) }]
      })
      if (joined.length === scope.tables.length) return () => this.rules.terms.empty
      return () => {
        const { terms } = this.rules
        const kinds = [" join ", " inner join ", " left join ", " left outer join "]
        const join = terms.or(kinds.map((kind) => expressions.phrase(kind)))
        const tables = nexts.map(({ table, links, rest }): Opening => {
          return [this.written(table), () => terms.concat(this.on(links), rest())]
        })
        return terms.concat(join, expressions.opened(tables))
      }
    })
  }

  /** Returns ON and some of `links`, each in either direction. */
  private on(links: readonly Link[]): Term {
    const { terms } = this.rules
    const { expressions } = this
    const partners = new Map<string, Opening[]>()
    const add = (left: string, right: string) => {
      const known = partners.get(left)
      const opening: Opening = [right, () => terms.empty]
      if (known === undefined) partners.set(left, [opening])
      else known.push(opening)
    }
    for (const { columns } of links) {
      add(columns[0].written, columns[1].written)
      add(columns[1].written, columns[0].written)
    }
    const equal = expressions.phrase(" = ")
    const link = expressions.opened(
      [...partners].map(([left, rights]): Opening => {
        return [left, () => terms.concat(equal, expressions.opened(rights))]
      }),
    )
    return terms.concat(
      expressions.phrase(" on "),
      expressions.listed(link, expressions.phrase(" and "), MaxLinked),
    )
  }

  having(scope: Scope, use: (rule: RuleId) => MakeTerm): MakeTerm {
    const condition = use(this.expressions.having(scope))
    return () => {
      const { terms } = this.rules
      return terms.or([terms.empty, terms.concat(this.expressions.phrase(" having "), condition())])
    }
  }

  /** Returns ORDER BY with a list of `one`, or nothing. */
  order(one: Term): Term {
    const { terms } = this.rules
    const { expressions } = this
    const direction = terms.or([terms.empty, expressions.phrase(" asc"), expressions.phrase(" desc")])
    const nulls = terms.or([
      terms.empty,
      expressions.phrase(" nulls first"),
      expressions.phrase(" nulls last"),
    ])
    const ordered = terms.concat(one, direction, nulls)
    const list = expressions.listed(ordered, expressions.comma(), MaxOrdered)
    return terms.or([terms.empty, terms.concat(expressions.phrase(" order by "), list)])
  }

  /** Returns LIMIT with an optional OFFSET, or nothing. */
  limit(): Term {
    const { terms } = this.rules
    const { expressions } = this
    const count = terms.expr(expressions.words.rowCount)
    const offset = terms.or([terms.empty, terms.concat(expressions.phrase(" offset "), count)])
    return terms.or([terms.empty, terms.concat(expressions.phrase(" limit "), count, offset)])
  }

  private written(table: number): string {
    return this.database.tables[table].written
  }
}
