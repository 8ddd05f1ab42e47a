/**
 * UNION, INTERSECT and EXCEPT of statements over one table each.
 *
 * All parts have as many columns, of the same kinds. What the first part selects is remembered as the list of its kinds, so there
 * is a rule for each list that may be: up to four columns where all are of one kind, up to two where PostgreSQL tells kinds apart.
 */
import type { RuleId, Rules } from "../ebnf/rules.ts"
import type { Term } from "../ebnf/terms.ts"
import type { Clauses } from "./clauses.ts"
import type { Database, Kind } from "./database.ts"
import type { Expressions, Opening } from "./expressions.ts"
import type { Scope, Scopes } from "./scopes.ts"

/** Parts behind the first. */
const MaxParts = 4
/** Nesting of operands among what is selected. */
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

  /** Behind columns of `kinds`, the first that the first part over `scope` selects. */
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

  /** The other parts, with ORDER BY and LIMIT of the whole. */
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

  /** What a part may select, but for literals. */
  private value(scope: Scope, kind: Kind): RuleId {
    return this.expressions.named.of(`${kind} value of ${scope.key}`, (use) => {
      const openings = this.expressions.operandOpenings(scope, kind, SelectLevel, use)
      return () => this.expressions.opened(openings)
    })
  }
}
