/** Databases for tests of SQL grammars: what the grammar is told, and the statements that make them. */
import type { SqlDialect, SqlTable } from "../../../grammar/index.ts"

/** Types of every kind; keys say what is joined. */
const shop: readonly SqlTable[] = [
  {
    name: "users",
    columns: [
      { name: "id", type: "integer" },
      { name: "name", type: "text" },
      { name: "email", type: "varchar(200)" },
      { name: "active", type: "boolean" },
      { name: "born", type: "date" },
    ],
  },
  {
    name: "orders",
    columns: [
      { name: "id", type: "bigint" },
      { name: "user_id", type: "integer" },
      { name: "total", type: "numeric(10, 2)" },
      { name: "created_at", type: "timestamp with time zone" },
      { name: "notes", type: "jsonb" },
    ],
    foreignKeys: [{ column: "user_id", references: { table: "users", column: "id" } }],
  },
  {
    name: "products",
    columns: [
      { name: "id", type: "int" },
      { name: "title", type: "character varying" },
      { name: "price", type: "double precision" },
    ],
  },
  {
    name: "order_items",
    columns: [
      { name: "order_id", type: "bigint" },
      { name: "product_id", type: "int" },
      { name: "quantity", type: "smallint" },
    ],
    foreignKeys: [
      { column: "order_id", references: { table: "orders", column: "id" } },
      { column: "product_id", references: { table: "products", column: "id" } },
    ],
  },
]

/** Names that are key words, have spaces, quotes, capitals, and that begin alike. */
const odd: readonly SqlTable[] = [
  {
    name: "order",
    columns: [
      { name: "select", type: "text" },
      { name: "Größe", type: "real" },
      { name: 'a "b"', type: "uuid" },
      { name: "x", type: "timestamp" },
    ],
  },
  {
    name: "orders 2",
    columns: [
      { name: "Id", type: "uuid" },
      { name: "id2", type: "real" },
      { name: "id21", type: "json" },
    ],
  },
]

/** Any two columns of one kind join: no keys are given. */
const loose: readonly SqlTable[] = ["a", "ab", "abc"].map((name) => ({
  name,
  columns: [
    { name: "k", type: "int" },
    { name: "v", type: "text" },
    { name: "w", type: "point" },
  ],
}))

export const databases: readonly (readonly [name: string, tables: readonly SqlTable[]])[] = [
  ["a shop", shop],
  ["odd names", odd],
  ["tables without keys", loose],
]

/** Statements that make `tables`. */
export function createTables(tables: readonly SqlTable[]): string {
  const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
  const table = ({ name, columns }: SqlTable) => {
    const listed = columns.map((column) => `${quoted(column.name)} ${column.type}`)
    return `CREATE TABLE ${quoted(name)} (${listed.join(", ")});`
  }
  return tables.map(table).join("\n")
}

/** What random statements are made of, beside single bytes: key words, names, literals. */
export function piecesOf(tables: readonly SqlTable[], dialect: SqlDialect): string[] {
  const words =
    "SELECT | DISTINCT |COUNT(|*|SUM(|MIN(|MAX(|UPPER(|COALESCE(|CASE| WHEN | THEN | ELSE | END|NULL| AS |n| FROM | JOIN | LEFT JOIN | ON " +
    "| WHERE |NOT | AND | OR | IN (|SELECT | BETWEEN | LIKE | IS NOT NULL| IS NULL|EXISTS (|SELECT 1| GROUP BY | HAVING | ORDER BY | DESC" +
    "| LIMIT | OFFSET | = | <> | < | >= | + | * | \\|\\| |(|)|, |1|12|'a'|'it''s'|TRUE|DATE '2024-02-29'|'2024-02-29'|1, 2|;|.*"
  const written = words.split(/(?<!\\)\|/).map((word) => word.replaceAll("\\", ""))
  const names = tables.flatMap(({ name, columns }) => {
    const forms = (text: string) => [text, `"${text.replaceAll('"', '""')}"`]
    return forms(name).flatMap((table) => [
      table,
      ...columns.flatMap((column) => forms(column.name).map((each) => `${table}.${each}`)),
    ])
  })
  return [...new Set([...written, ...names, dialect === "sqlite" ? "x" : "DATE "])]
}

/** Beginnings of statements: nothing, and what leads to the parts that a random walk seldom comes to. */
export function beginningsOf(
  tables: readonly SqlTable[],
  accepts: (text: string) => boolean,
  begins: (text: string) => boolean,
): string[] {
  const [table, column] = [tables[0].name, `${tables[0].name}.${tables[0].columns[0].name}`].map((name) => {
    const quoted = name.split(".").map((part) => `"${part}"`)
    return accepts(`SELECT * FROM ${quoted[0]}`) ? quoted.join(".") : name
  })
  const where = `SELECT * FROM ${table} WHERE `
  const all = [
    "",
    where,
    `${where}EXISTS (SELECT 1 FROM `,
    `${where}${column} IN (SELECT `,
    `${where}${column} >= (SELECT `,
    `SELECT ${column}, `,
    `SELECT ${column}, COUNT(*) FROM ${table} GROUP BY 1 HAVING `,
    `SELECT ${column}, MAX(${column}) AS m FROM ${table} GROUP BY ${column} ORDER BY `,
    `SELECT DISTINCT ${column}, `,
    `SELECT ${column} FROM ${table} UNION SELECT `,
    `SELECT ${column}, UPPER(${column}) FROM ${table} EXCEPT `,
  ]
  return all.filter(begins)
}
