/**
 * The tables of a database in the form for the grammar: columns as they are written, their kinds,
 * and the intended joins.
 *
 * A kind is a set of types that may be compared with each other. SQLite compares any value with any
 * other, so all its columns are of one kind. PostgreSQL refuses to compare a text with a number.
 * There, a column of an unknown type is opaque: it may only be selected, counted and compared with
 * NULL.
 */
import { checkLimit, fixedBounds, GrammarError, type Limits, limitError } from "../errors.ts"
import { Fields, type Placed, shown } from "../tags/fields.ts"
import { foldedName, type SqlDialect, writtenName } from "./names.ts"

/**
 * A column, with its type as declared. PostgreSQL needs the type to compare, group and order by the
 * column.
 */
export interface SqlColumn {
  name: string
  type?: string
}

/** A column that contains values of another table's column. */
export interface SqlForeignKey {
  column: string
  references: { table: string; column: string }
}

/** A table or a view. */
export interface SqlTable {
  name: string
  columns: readonly SqlColumn[]
  /**
   * If any table has this list, tables are joined only along foreign keys; otherwise by any two
   * columns that can be compared.
   */
  foreignKeys?: readonly SqlForeignKey[]
}

export type Kind =
  | "any"
  | "number"
  | "text"
  | "boolean"
  | "date"
  | "timestamp"
  | "timestamptz"
  | "uuid"
  | "opaque"

export interface Column {
  /** The name with its table: `orders.total`. */
  readonly written: string
  readonly kind: Kind
}

interface Table {
  readonly written: string
  readonly columns: readonly Column[]
}

/** A condition on which two tables are joined. */
export interface Link {
  /** Indices of the tables. */
  readonly tables: readonly [number, number]
  readonly columns: readonly [Column, Column]
}

export interface Database {
  readonly dialect: SqlDialect
  readonly tables: readonly Table[]
  readonly links: readonly Link[]
}

/** Reads tables. Throws GrammarError with the pointer to the mistake, `/tables/…`. */
export function readDatabase(tables: unknown, dialect: SqlDialect, limits: Limits): Database {
  const fields = new Fields({ value: { tables }, path: "" }, "the input")
  const names = new Map<string, string>()
  let columnCount = 0
  const read = fields.list("tables", "tables", 1).map((placed) => {
    const table = readTable(placed, dialect, names)
    columnCount += table.columns.size
    checkLimit(limits, "sqlColumns", columnCount, "/tables")
    return table
  })
  checkLimit(limits, "choices.columns", columnCount, "/tables")
  const keys = read.flatMap(({ fields }) => fields.list("foreignKeys", "foreign keys"))
  const hasKeys = read.some(({ fields }) => fields.has("foreignKeys"))
  return {
    dialect,
    tables: read.map(({ written, columns }) => ({ written, columns: [...columns.values()] })),
    links: hasKeys ? keys.map((key) => readKey(key, read, dialect)) : allLinks(read, limits),
  }
}

interface ReadTable {
  readonly name: string
  readonly path: string
  readonly written: string
  /** By folded name. */
  readonly columns: ReadonlyMap<string, Column>
  readonly fields: Fields
}

function readTable(placed: Placed, dialect: SqlDialect, names: Map<string, string>): ReadTable {
  const fields = new Fields(placed, "a table")
  const name = readName(fields, dialect, names)
  if (/^(pg|sqlite)_/i.test(name)) {
    const message = `${shown(name)} is a name that the database keeps for itself. Rename the table`
    throw new GrammarError("unsupported", fields.at("name").path, message)
  }
  const written = writtenName(name, dialect)
  const columns = new Map<string, Column>()
  const places = new Map<string, string>()
  for (const column of fields.list("columns", "columns", 1)) {
    const own = new Fields(column, "a column")
    const columnName = readName(own, dialect, places)
    const type = own.has("type") ? own.text("type") : ""
    columns.set(foldedName(columnName, dialect), {
      written: `${written}.${writtenName(columnName, dialect)}`,
      kind: dialect === "sqlite" ? "any" : kindOf(type),
    })
  }
  return { name: foldedName(name, dialect), path: placed.path, written, columns, fields }
}

/**
 * Reads the name of a table or a column. `names` are the names of its neighbours, with their
 * places.
 */
function readName(fields: Fields, dialect: SqlDialect, names: Map<string, string>): string {
  const name = fields.text("name")
  const { path } = fields.at("name")
  if (name === "" || name.includes("\0"))
    throw new GrammarError("syntax", path, `${shown(name)} is no name: at least one character, and no U+0000`)
  const bytes = new TextEncoder().encode(name).length
  if (dialect === "postgresql" && bytes > fixedBounds.sqlNameBytes) {
    throw limitError(fixedBounds, "sqlNameBytes", bytes, path, { name: shown(name) })
  }
  const folded = foldedName(name, dialect)
  const known = names.get(folded)
  if (known !== undefined)
    throw new GrammarError(
      "syntax",
      path,
      `the name ${shown(name)} is already at ${known}. Rename one of them`,
    )
  names.set(folded, path)
  return name
}

const kindPatterns: readonly (readonly [Kind, RegExp])[] = [
  [
    "number",
    /^(small|big)?(int|serial)$|^int[248]$|^serial[248]$|^integer$|^(numeric|decimal)( ?\([\d, ]+\))?$|^real$|^float( ?\(\d+\))?$|^float[48]$|^double precision$/,
  ],
  ["text", /^text$|^(varchar|character varying|char|character|bpchar)( ?\(\d+\))?$/],
  ["boolean", /^bool(ean)?$/],
  ["date", /^date$/],
  ["timestamp", /^timestamp( ?\(\d\))?( without time zone)?$/],
  ["timestamptz", /^timestamptz( ?\(\d\))?$|^timestamp( ?\(\d\))? with time zone$/],
  ["uuid", /^uuid$/],
]

function kindOf(type: string): Kind {
  const name = type.trim().toLowerCase().replaceAll(/\s+/g, " ")
  return kindPatterns.find(([, pattern]) => pattern.test(name))?.[0] ?? "opaque"
}

function readKey(placed: Placed, tables: readonly ReadTable[], dialect: SqlDialect): Link {
  const key = new Fields(placed, "a foreign key")
  const from = tables.findIndex(({ path }) => placed.path.startsWith(`${path}/`))
  const references = new Fields(key.needed("references", "the table and the column"), "a reference")
  const table = references.text("table")
  const to = tables.findIndex(({ name }) => name === foldedName(table, dialect))
  if (to < 0) {
    const message = `no table is named ${shown(table)}. Name it in tables, or leave the key out`
    throw new GrammarError("syntax", references.at("table").path, message)
  }
  const columnOf = (index: number, fields: Fields): Column => {
    const name = fields.text("column")
    const column = tables[index].columns.get(foldedName(name, dialect))
    if (column !== undefined) return column
    const message = `the table ${shown(tables[index].name)} has no column ${shown(name)}`
    throw new GrammarError("syntax", fields.at("column").path, message)
  }
  const [one, other] = [columnOf(from, key), columnOf(to, references)]
  if (one.kind !== other.kind || one.kind === "opaque") {
    const message = `${one.written} and ${other.written} cannot be compared: they are ${one.kind} and ${other.kind}. Declare types alike`
    throw new GrammarError("unsupported", placed.path, message)
  }
  return { tables: [from, to], columns: [one, other] }
}

/**
 * Returns the links if no keys are given: any two columns that can be compared join their tables.
 */
function allLinks(tables: readonly ReadTable[], limits: Limits): Link[] {
  const links: Link[] = []
  for (let i = 0; i < tables.length; i++) {
    for (let j = i + 1; j < tables.length; j++) {
      for (const one of tables[i].columns.values()) {
        for (const other of tables[j].columns.values()) {
          if (one.kind !== other.kind || one.kind === "opaque") continue
          if (links.push({ tables: [i, j], columns: [one, other] }) <= limits.sqlLinks) continue
          throw limitError(limits, "sqlLinks", links.length, "/tables")
        }
      }
    }
  }
  return links
}
