/** SQL over given tables: what is accepted and refused, and SQLite itself on random walks. */
import initSqlJs from "sql.js"
import { describe, expect, test } from "vitest"
import { GrammarError, type Limits, type SqlInput, sqlGrammar } from "../../../grammar/index.ts"
import { DeadState, States } from "../../../grammar/state.ts"
import { utf8 } from "../../../grammar/utf8.ts"
import { randomOf } from "../../support/oracle.ts"
import { randomText } from "../../support/randomtext.ts"
import { beginningsOf, createTables, databases, piecesOf } from "../../support/sql/databases.ts"

const walkCount = 700

const cases: readonly [name: string, tables: number, both: string[], sqlite: string[], reject: string[]][] = [
  [
    "columns come from FROM",
    0,
    [
      "SELECT users.name FROM users",
      "select users.name, users.email from users;",
      "SELECT * FROM users",
      "SELECT users.*, orders.total\nFROM orders\nJOIN users ON orders.user_id = users.id",
      "SELECT users.name AS who FROM users LEFT JOIN orders ON users.id = orders.user_id LIMIT 10 OFFSET 20",
      "SELECT order_items.quantity * 2 + 1 FROM order_items INNER JOIN orders ON orders.id = order_items.order_id",
      "SELECT orders.notes FROM orders WHERE orders.notes IS NOT NULL",
    ],
    [],
    [
      "SELECT orders.total FROM users",
      "SELECT name FROM users",
      "SELECT users.nam FROM users",
      "SELECT users.name FROM users JOIN products ON users.id = products.id",
      "SELECT users.name FROM users JOIN orders ON users.name = orders.total",
      "SELECT users.name FROM users JOIN orders ON users.id = products.id",
      "SELECT users.name AS order FROM users",
      "SELECT users.name FROM users; SELECT 1",
      "Select users.name FROM users",
      "",
    ],
  ],
  [
    "conditions",
    0,
    [
      "SELECT users.name FROM users WHERE users.id = 1 AND NOT users.name LIKE 'it''s%'",
      "SELECT users.name FROM users WHERE users.id IN (1, 2, 3) OR (users.id NOT BETWEEN 4 AND 6 AND users.name <> '')",
      "SELECT users.name FROM users WHERE UPPER(users.name) = 'A' AND LENGTH(users.email) > 3",
      "SELECT users.name FROM users WHERE users.id IN (SELECT orders.user_id FROM orders WHERE orders.total > 100.50)",
      "SELECT users.name FROM users WHERE EXISTS (SELECT 1 FROM orders WHERE orders.user_id = users.id)",
      "SELECT products.title FROM products WHERE products.price >= (SELECT AVG(products.price) FROM products)",
      "SELECT users.name FROM users WHERE users.born > '2000-02-29'",
      "SELECT CASE WHEN users.id < 10 THEN 'few' ELSE NULL END FROM users",
    ],
    ["SELECT users.name FROM users WHERE users.name > 1"],
    [
      "SELECT users.name FROM users WHERE orders.total > 1",
      "SELECT users.name FROM users WHERE COUNT(*) > 1",
      "SELECT users.name FROM users WHERE users.name = 'it's'",
      'SELECT users.name FROM users WHERE users.name = "a"',
      "SELECT users.name FROM users WHERE users.name = NULL",
      "SELECT users.name FROM users WHERE EXISTS (SELECT 1 FROM products WHERE products.id = users.id)",
      "SELECT users.name FROM users WHERE users.id - -1--2 = 1",
    ],
  ],
  [
    "groups and order",
    0,
    [
      "SELECT COUNT(*) FROM orders",
      "SELECT COUNT(DISTINCT orders.user_id), MAX(orders.total) FROM orders WHERE orders.total > 0",
      "SELECT users.name, COUNT(*) AS n FROM users JOIN orders ON orders.user_id = users.id GROUP BY users.name HAVING COUNT(*) > 3 ORDER BY COUNT(*) DESC, users.name LIMIT 5",
      "SELECT users.name, users.born, SUM(orders.total) FROM users JOIN orders ON orders.user_id = users.id GROUP BY 1, 2 ORDER BY SUM(orders.total) DESC NULLS LAST, 1",
      "SELECT SUM(CASE WHEN orders.total > 10 THEN 1 ELSE 0 END) FROM orders",
      "SELECT DISTINCT users.name FROM users ORDER BY 1 DESC",
      "SELECT users.name FROM users ORDER BY users.born, users.id ASC",
    ],
    ["SELECT COUNT(DISTINCT orders.notes) FROM orders", "SELECT SUM(users.name) FROM users"],
    [
      "SELECT users.name, COUNT(*) FROM users",
      "SELECT users.name, COUNT(*) FROM users GROUP BY users.email",
      "SELECT users.name, users.email, COUNT(*) FROM users GROUP BY 1",
      "SELECT users.name, COUNT(*) FROM users GROUP BY 1, 2",
      "SELECT SUM(COUNT(*)) FROM users",
      "SELECT COUNT(*) FROM users GROUP BY COUNT(*)",
      "SELECT DISTINCT users.name FROM users ORDER BY users.id",
      "SELECT users.name FROM users ORDER BY 'a'",
      "SELECT users.name FROM users LIMIT -1",
    ],
  ],
  [
    "several statements in one",
    0,
    [
      "SELECT users.id FROM users UNION SELECT orders.user_id FROM orders WHERE orders.total > 3 ORDER BY 1 LIMIT 3",
      "SELECT users.id, users.name AS n FROM users UNION ALL SELECT products.id, products.title FROM products",
      "SELECT orders.id FROM orders INTERSECT SELECT order_items.order_id FROM order_items EXCEPT SELECT users.id FROM users;",
    ],
    ["SELECT users.id FROM users UNION SELECT users.name FROM users"],
    [
      "SELECT users.id FROM users UNION SELECT users.id, users.id FROM users",
      "SELECT users.id, users.name FROM users UNION SELECT products.id FROM products",
      "SELECT users.id FROM users UNION SELECT users.id FROM users ORDER BY users.id",
      "SELECT users.id FROM users ORDER BY 1 UNION SELECT users.id FROM users",
    ],
  ],
  [
    "names in quotes",
    1,
    [
      'SELECT "order"."select" FROM "order"',
      'SELECT "order"."a ""b""" FROM "order" JOIN "orders 2" ON "order"."a ""b""" = "orders 2"."Id"',
    ],
    [],
    [
      "SELECT order.select FROM order",
      'SELECT "ORDER"."select" FROM "ORDER"',
      "SELECT orders 2.id2 FROM orders 2",
    ],
  ],
]

describe.each(["sqlite", "postgresql"] as const)("%s", (dialect) => {
  test.each(cases)("%s", (_, index, both, sqlite, reject) => {
    const states = new States(sqlGrammar({ dialect, tables: databases[index][1] }))
    const accepts = (text: string) => states.isAccepting(states.advance(states.start, utf8(text)))
    const spelled = (text: string) =>
      dialect === "sqlite" ? text.replaceAll('"orders 2"."Id"', '"orders 2".Id') : text
    expect(both.map(spelled).filter((text) => !accepts(text))).toEqual([])
    expect(sqlite.filter(accepts)).toEqual(dialect === "sqlite" ? sqlite : [])
    expect(reject.filter(accepts)).toEqual([])
  })
})

test("a result has no more columns than the database takes", () => {
  const tables = [{ name: "t", columns: Array.from({ length: 400 }, (_, i) => ({ name: `c${i}` })) }]
  const states = new States(sqlGrammar({ dialect: "sqlite", tables }))
  const accepts = (count: number) => {
    const text = `SELECT ${Array.from({ length: count }, () => "t.*").join(", ")} FROM t`
    return states.isAccepting(states.advance(states.start, utf8(text)))
  }
  expect([1, 4, 5].map(accepts)).toEqual([true, true, false])
})

describe("SQLite", async () => {
  const engine = await initSqlJs()

  test("is asked for real", () => {
    const database = new engine.Database()
    database.exec(createTables(databases[0][1]))
    expect(() => database.prepare("SELECT orders.total FROM users")).toThrow("no such column")
    expect(() => database.prepare("SELECT users.id FROM users WHERE COUNT(*) > 1")).toThrow(
      "misuse of aggregate",
    )
    database.close()
  })

  test.each(databases)("prepares random statements over %s", (_, tables) => {
    const database = new engine.Database()
    database.exec(createTables(tables))
    const states = new States(sqlGrammar({ dialect: "sqlite", tables }))
    const pieces = piecesOf(tables, "sqlite")
    const accepts = (text: string) => states.isAccepting(states.advance(states.start, utf8(text)))
    const begins = (text: string) => states.advance(states.start, utf8(text)) !== DeadState
    const beginnings = beginningsOf(tables, accepts, begins)
    expect(beginnings.length).toBeGreaterThan(8)
    const random = randomOf(1)
    const refused: string[] = []
    for (let i = 0; i < walkCount; i++) {
      const text = randomText(states, random, 250, { pieces, begin: beginnings[i % beginnings.length] })
      try {
        database.prepare(text).free()
      } catch (error) {
        refused.push(`${(error as Error).message}: ${text}`)
      }
    }
    expect(refused).toEqual([])
    database.close()
  })
})

const users = { name: "users", columns: [{ name: "id", type: "int" }] }
const key = (column: string, table: string, other: string) => [
  { column, references: { table, column: other } },
]
const mistakes: readonly [name: string, input: object, kind: string, path: string][] = [
  ["an unknown dialect", { dialect: "mysql", tables: [users] }, "unsupported", "/dialect"],
  ["no tables", { tables: [] }, "syntax", "/tables"],
  ["a table without columns", { tables: [{ name: "t", columns: [] }] }, "syntax", "/tables/0/columns"],
  ["two tables of one name", { tables: [users, users] }, "syntax", "/tables/1/name"],
  ["names that differ in case", { tables: [users, { ...users, name: "Users" }] }, "syntax", "/tables/1/name"],
  [
    "two columns of one name",
    { tables: [{ name: "t", columns: [{ name: "a" }, { name: "a" }] }] },
    "syntax",
    "/tables/0/columns/1/name",
  ],
  ["an empty name", { tables: [{ ...users, name: "" }] }, "syntax", "/tables/0/name"],
  ["a name of the database's", { tables: [{ ...users, name: "sqlite_x" }] }, "unsupported", "/tables/0/name"],
  [
    "a name that would be cut",
    { dialect: "postgresql", tables: [{ ...users, name: "x".repeat(64) }] },
    "limit",
    "/tables/0/name",
  ],
  [
    "a key to no table",
    { tables: [{ ...users, foreignKeys: key("id", "orders", "id") }] },
    "syntax",
    "/tables/0/foreignKeys/0/references/table",
  ],
  [
    "a key of no column",
    { tables: [{ ...users, foreignKeys: key("idd", "users", "id") }] },
    "syntax",
    "/tables/0/foreignKeys/0/column",
  ],
  [
    "a key between types",
    {
      dialect: "postgresql",
      tables: [
        users,
        { name: "t", columns: [{ name: "u", type: "text" }], foreignKeys: key("u", "users", "id") },
      ],
    },
    "unsupported",
    "/tables/1/foreignKeys/0",
  ],
  [
    "too many sets of tables",
    { tables: Array.from({ length: 30 }, (_, i) => ({ ...users, name: `t${i}` })) },
    "limit",
    "/tables",
  ],
  ["half a table", { tables: [users], maxTables: 0.5 }, "syntax", "/maxTables"],
]

const twoColumns = (name: string) => ({ name, columns: [{ name: "a" }, { name: "b" }] })
const bounded: [limit: keyof Limits, input: Partial<SqlInput>][] = [
  ["sqlColumns", { tables: [twoColumns("t")] }],
  ["sqlLinks", { tables: [twoColumns("t"), twoColumns("u")] }],
  ["sqlScopes", { tables: [twoColumns("t"), twoColumns("u")] }],
  ["sqlScopes", { tables: [twoColumns("t"), twoColumns("u")], maxTables: 1 }],
]

test.each(bounded)("%s is an option", (limit, input) => {
  const grammar = (limits: Partial<Limits>) =>
    sqlGrammar({ dialect: "sqlite", ...input } as SqlInput, { limits })
  expect(() => grammar({ [limit]: 1 })).toThrow(`above the bound of 1. Raise limits.${limit} or `)
  expect(() => grammar({})).not.toThrow()
})

test.each(mistakes)("%s is refused", (_, input, kind, path) => {
  let error: unknown
  try {
    sqlGrammar({ dialect: "sqlite", ...input } as SqlInput)
  } catch (thrown) {
    error = thrown
  }
  expect(error).toBeInstanceOf(GrammarError)
  expect([(error as GrammarError).kind, (error as GrammarError).path]).toEqual([kind, path])
})
