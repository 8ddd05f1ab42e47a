/**
 * Scopes: the sets of tables whose columns may be named in a place.
 *
 * A query names columns before it names the tables that they come from. So there is one family of
 * rules for each set of tables that a FROM clause may join, and while a text fits several families,
 * all of them are read side by side. The tables of a set are connected by links, or the set is a
 * single table.
 */
import { checkLimit, type Limits, limitError } from "../errors.ts"
import type { Column, Database, Kind, Link } from "./database.ts"

/** A set of tables. Equal sets are one object, with its own `key`. */
export interface Scope {
  /** Ascending. */
  readonly tables: readonly number[]
  readonly key: string
  /** Columns of all its tables. */
  readonly columns: readonly Column[]
  /** Kinds of those columns that can be compared. */
  readonly kinds: readonly Kind[]
}

export class Scopes {
  /** The sets that a FROM clause may join, fewest tables first. */
  readonly families: readonly Scope[]
  private readonly database: Database
  private readonly known = new Map<string, Scope>()
  private readonly familyKeys: ReadonlySet<string>

  /** `maxTables` is the most tables that one FROM clause may join. Throws `limit`. */
  constructor(database: Database, maxTables: number, limits: Limits) {
    this.database = database
    let newest = database.tables.map((_, table) => this.of([table]))
    const all = new Set(newest)
    for (let size = 2; size <= maxTables; size++) {
      const next = new Set<Scope>()
      for (const scope of newest) {
        for (const table of this.joinable(scope.tables)) next.add(this.of([...scope.tables, table]))
      }
      newest = [...next]
      for (const scope of newest) all.add(scope)
      if (all.size <= limits.sqlScopes) continue
      throw limitError(limits, "sqlScopes.joined", all.size, "/tables", { maxTables })
    }
    checkLimit(limits, "sqlScopes", all.size, "/tables")
    this.families = [...all]
    this.familyKeys = new Set(this.families.map(({ key }) => key))
  }

  of(tables: readonly number[]): Scope {
    const sorted = [...tables].sort((a, b) => a - b)
    const key = sorted.join(" ")
    let scope = this.known.get(key)
    if (scope === undefined) {
      const columns = sorted.flatMap((table) => this.database.tables[table].columns)
      const kinds = [...new Set(columns.map(({ kind }) => kind))].filter((kind) => kind !== "opaque")
      scope = { tables: sorted, key, columns, kinds }
      this.known.set(key, scope)
    }
    return scope
  }

  /**
   * Returns the scope of a query over `table` inside one over `outer`: both if they could be
   * joined, else only the table. A table that both have is the inner one.
   */
  inside(outer: Scope, table: number): Scope {
    if (outer.tables.includes(table)) return this.of([table])
    const both = this.of([...outer.tables, table])
    return this.familyKeys.has(both.key) ? both : this.of([table])
  }

  /** Returns the tables that can be joined to `tables`. */
  joinable(tables: readonly number[]): number[] {
    return this.database.tables.flatMap((_, table) => {
      return !tables.includes(table) && this.links(tables, table).length > 0 ? [table] : []
    })
  }

  /** Returns the links between `tables` and `table`. */
  links(tables: readonly number[], table: number): Link[] {
    return this.database.links.filter(({ tables: [one, other] }) => {
      return (tables.includes(one) && other === table) || (tables.includes(other) && one === table)
    })
  }
}
