/**
 * SELECT statements over given tables: the database prepares every text that the grammar accepts
 * without an error.
 *
 * Read `database.ts` (tables, kinds of columns, links), `scopes.ts` (which columns may be named
 * where), `expressions.ts`, `clauses.ts`, `select.ts`, `compound.ts`; `names.ts` and `words.ts`
 * contain the spelling. The subset: columns with their table's name, no aliases of tables; inner
 * and left joins; DISTINCT; arithmetic, functions of both dialects, CASE; comparisons, IN, BETWEEN,
 * LIKE, IS NULL, EXISTS, and queries over one more table inside WHERE; aggregates, GROUP BY,
 * HAVING, ORDER BY, LIMIT, OFFSET; UNION, INTERSECT and EXCEPT of statements over one table each.
 * Lists and nesting are bounded, the length of a statement is not.
 */
import { readLimits } from "../compiler.ts"
import { Rules } from "../ebnf/rules.ts"
import { GrammarError, type Limits } from "../errors.ts"
import { Grammar } from "../grammar.ts"
import { checkOptions, type Fields } from "../options.ts"
import { remembering } from "../remade.ts"
import { shown } from "../tags/fields.ts"
import { Clauses } from "./clauses.ts"
import { CompoundRules } from "./compound.ts"
import { readDatabase, type SqlTable } from "./database.ts"
import { Expressions } from "./expressions.ts"
import type { SqlDialect } from "./names.ts"
import { Scopes } from "./scopes.ts"
import { SelectRules } from "./select.ts"

/** The properties of a database that matter for queries. */
export interface SqlInput {
  dialect: SqlDialect
  tables: readonly SqlTable[]
  /** The most tables that one FROM clause joins. Default 3. */
  maxTables?: number
}

/**
 * Returns the grammar of SELECT statements over `tables` that their database accepts: SQLite or
 * PostgreSQL prepares every text of it. All names exist by construction, and in PostgreSQL types
 * agree wherever it requires that. Throws GrammarError with the pointer to the mistake: unknown
 * dialects, no tables, duplicate names, keys that refer to nothing, too many sets of tables. Cost:
 * the number of sets of tables that can be joined, times their columns.
 */
export function sqlGrammar(input: SqlInput, options: { limits?: Partial<Limits> } = {}): Grammar {
  return remembering(() => ({ grammar: makeGrammar(input, options) })).grammar
}

function makeGrammar(input: SqlInput, options: { limits?: Partial<Limits> }): Grammar {
  checkOptions(input, { dialect: "any", tables: "list", maxTables: "number" } satisfies Fields<SqlInput>)
  checkOptions(options, { limits: "object" })
  const { dialect, maxTables = 3 } = input
  if (dialect !== "sqlite" && dialect !== "postgresql") {
    throw new GrammarError("unsupported", "/dialect", `${shown(dialect)}: use sqlite or postgresql`)
  }
  if (!(Number.isSafeInteger(maxTables) && maxTables >= 1 && maxTables <= 8)) {
    throw new GrammarError(
      "syntax",
      "/maxTables",
      `expected an integer from 1 to 8, found ${shown(maxTables)}`,
    )
  }
  const limits = readLimits(options.limits)
  const database = readDatabase(input.tables, dialect, limits)
  const rules = new Rules(limits)
  const scopes = new Scopes(database, maxTables, limits)
  const expressions = new Expressions(rules, database, scopes)
  const clauses = new Clauses(rules, database, scopes, expressions)
  const compounds = new CompoundRules(rules, database, scopes, expressions, clauses)
  const start = new SelectRules(rules, database, scopes, expressions, clauses, compounds).statement()
  const identity = { key: () => JSON.stringify(["sql", input]), title: `SELECT statements of ${dialect}` }
  return rules.grammar(start, identity) ?? new Grammar([], identity)
}
