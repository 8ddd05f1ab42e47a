/**
 * UNION, INTERSECT and EXCEPT of statements over one table each.
 *
 * All parts have the same number of columns, with the same kinds. The kinds that the first part
 * selects are remembered as a list, so there is a rule for each possible list: up to four columns
 * if all are of one kind, up to two in PostgreSQL, which distinguishes kinds.
 */
import type { RuleId, Rules } from "../ebnf/rules.ts"
import type { Term } from "../ebnf/terms.ts"
import type { Clauses } from "./clauses.ts"
import type { Database, Kind } from "./database.ts"
import type { Expressions, Opening } from "./expressions.ts"
import type { Scope, Scopes } from "./scopes.ts"

/** Most parts after the first. */
const MaxParts = 4
/** Deepest nesting of operands in the SELECT list. */
const SelectLevel = 1

export class CompoundRules {
  private readonly rules: Rules
  private readonly scopes: readonly Scope[]
  private readonly maxColumns: number
  private readonly expressions: Expressions
  private readonly clauses: Clauses

  constructor(rules: Rules, database: Database, scopes: Scopes, expressions: Expressions, clauses: Clauses) {
    this.rules = rules
    this.scopes = database.tables.map((_, table) => scopes.of([table]))
    this.maxColumns = database.dialect === "sqlite" ? 4 : 2
    this.expressions = expressions
    this.clauses = clauses
  }

  /**
   * Returns what follows the first columns of the first part, which selects from `scope`. `kinds`
   * are the kinds of these columns.
   */
  behind(scope: Scope, kinds: readonly Kind[]): RuleId {
    const { expressions } = this
    return expressions.named.of(`compound of ${scope.key} behind ${kinds}`, (use) => {
      const { terms } = this.rules
      const from = use(this.clauses.fromWhere(scope))
      const parts = use(this.parts(kinds))
      const openings =
        kinds.length === this.maxColumns
          ? []
          : scope.kinds.flatMap((kind) => {
              const next = use(this.behind(scope, [...kinds, kind]))
              const values = expressions.operandOpenings(scope, kind, SelectLevel, use)
              return values.map(([text, rest]): Opening => {
                return [text, () => terms.concat(rest(), expressions.alias(), next())]
              })
            })
      return () => {
        const more = terms.concat(expressions.comma(), expressions.opened(openings))
        return terms.or([terms.concat(from(), parts()), more])
      }
    })
  }

  /** Returns the other parts, with ORDER BY and LIMIT of the whole. */
  private parts(kinds: readonly Kind[]): RuleId {
    const { expressions } = this
    return expressions.named.of(`parts of ${kinds}`, (use) => {
      const fitting = this.scopes.filter((scope) => kinds.every((kind) => scope.kinds.includes(kind)))
      const parts = fitting.map((scope) => use(this.part(scope, kinds)))
      return () => {
        const { terms } = this.rules
        const operators = [" union ", " union all ", " intersect ", " except "]
        const operator = terms.or(operators.map((words) => expressions.phrase(words)))
        const select = terms.concat(operator, expressions.phrase("select "))
        const part = terms.concat(select, terms.or(parts.map((make) => make())))
        const order = this.clauses.order(terms.text("1"))
        return terms.concat(terms.repeat(part, 1, MaxParts), order, this.clauses.limit())
      }
    })
  }

  private part(scope: Scope, kinds: readonly Kind[]): RuleId {
    const { expressions } = this
    return expressions.named.of(`part of ${scope.key}, ${kinds}`, (use) => {
      const operands = kinds.map((kind) => use(this.value(scope, kind)))
      const from = use(this.clauses.fromWhere(scope))
      return () => {
        const { terms } = this.rules
        const items: Term[] = operands.map((make, i) => {
          return terms.concat(i > 0 ? expressions.comma() : terms.empty, make(), expressions.alias())
        })
        return terms.concat(...items, from())
      }
    })
  }

  /** Returns what a part may select, except literals. */
  private value(scope: Scope, kind: Kind): RuleId {
    return this.expressions.named.of(`${kind} value of ${scope.key}`, (use) => {
      const openings = this.expressions.operandOpenings(scope, kind, SelectLevel, use)
      return () => this.expressions.opened(openings)
    })
  }
}
