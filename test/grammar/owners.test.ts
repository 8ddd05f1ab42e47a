import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { ts } from "@ts-morph/common"
import { expect, test } from "vitest"

/** Module-level state that grows outside the registry of `grammar/tables.ts`, and what bounds it. */
const allowed: Readonly<Record<string, string>> = {
  "grammar/tables.ts owners": "the registry itself",
  "grammar/lexeme/expr/derivative.ts rules": "one entry a kind of expression, set when modules load",
  "grammar/lexeme/expr/rows.ts wanted": "empty between calls",
  "grammar/lexeme/number/decimal.ts powers": "powers of ten up to the longest number that is compiled",
  "grammar/lexeme/respelled.ts spellings": "one entry a spelling, set when modules load",
  "grammar/format/pattern/patternplaces.ts blocksWithNames": "one entry a Unicode block that a pattern names",
  "grammar/json/refs/dialect.ts byName": "one entry a draft, set when modules load",
  "grammar/lexeme/string/content.ts sequencesOf": "one entry a range of characters that an escape spells",
  "grammar/regex/unicode.ts properties": "one entry a Unicode property that a pattern names",
  "grammar/tags/schemas.ts argumentStyles": "one entry a style, set when modules load",
  "grammar/worlds.ts base": "one entry a table",
  "mask/fast/unions.ts marks": "one byte a token of the largest vocabulary, 0 between calls",
  "mask/fast/unions.ts unions": "MaxUnions entries",
  "mask/sha256.ts primes": "64 numbers, set when the module loads",
}

/** Methods after whose call an array, a map, a set or a table may be larger. */
const growing = new Set(["add", "append", "intern", "of", "push", "set", "splice", "unshift"])
/** Constructors of tables that grow. Scratch maps that are cleared for each call are no tables. */
const tables =
  /^new (?:Map|Set|TupleTable|QuadTable|PairMap|ExprMemo|KnownPatterns|WideRows|Numbers|LexemeTable)\b/

const isAssignment = (kind: ts.SyntaxKind) =>
  kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment

/** Files of a floor. */
function filesOf(floor: string): string[] {
  return readdirSync(floor, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(floor, name))
}

/** The identifier at the left of `a.b[c]`; null if there is none. */
function rootOf(node: ts.Node): string | null {
  if (ts.isIdentifier(node)) return node.text
  if (
    ts.isElementAccessExpression(node) ||
    ts.isPropertyAccessExpression(node) ||
    ts.isNonNullExpression(node)
  )
    return rootOf(node.expression)
  return null
}

/** Names of module-level variables of `code` that are tables, or hold one that is replaced when it grows. */
function tablesIn(code: string): string[] {
  const file = ts.createSourceFile("x.ts", code, ts.ScriptTarget.Latest, true)
  const initial = new Map<string, string>()
  const found = new Set<string>()
  for (const statement of file.statements) {
    if (!ts.isVariableStatement(statement)) continue
    for (const { name, initializer } of statement.declarationList.declarations)
      if (ts.isIdentifier(name)) initial.set(name.text, initializer?.getText(file) ?? "")
  }
  const isList = (name: string) => (initial.get(name) ?? "").startsWith("[")
  const visit = (node: ts.Node, isInFunction: boolean): void => {
    const isIn = isInFunction || ts.isFunctionLike(node)
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const { expression, name } = node.expression
      if (
        ts.isIdentifier(expression) &&
        growing.has(name.text) &&
        tables.test(initial.get(expression.text) ?? "")
      )
        found.add(expression.text)
      if (ts.isIdentifier(expression) && name.text === "push" && isList(expression.text))
        found.add(expression.text)
    }
    // `let table = new Int32Array(…)` that is replaced by a larger one, and `list[id] = …`.
    if (isIn && ts.isBinaryExpression(node) && isAssignment(node.operatorToken.kind)) {
      const name = rootOf(node.left)
      const text = initial.get(name ?? "") ?? ""
      const isReplaced =
        ts.isIdentifier(node.left) && /^new \w*Array\b|^new (?:TupleTable|ExprMemo|Map|Set)\b/.test(text)
      const isEntry =
        ts.isElementAccessExpression(node.left) && ts.isIdentifier(node.left.expression) && text === "[]"
      if (name !== null && (isReplaced || isEntry)) found.add(name)
    }
    ts.forEachChild(node, (child) => visit(child, isIn))
  }
  visit(file, false)
  return [...found]
}

test("the search finds each kind of table, and none that is constant or registered", () => {
  const cases: [code: string, found: string[]][] = [
    ["const known = new Map<string, number>()\nfunction f() { known.set('a', 1) }", ["known"]],
    ["const list: number[] = []\nfunction f() { list.push(1) }", ["list"]],
    ["const list: number[] = []\nfunction f() { list[3] ??= 1 }", ["list"]],
    ["let room = new Int32Array(4)\nfunction f() { room = grown(room, 8) }", ["room"]],
    ["const table = new TupleTable()\nfunction f() { table.intern([1]) }", ["table"]],
    ["const known = owned('known', { map: new Map() })\nfunction f() { known.map.set('a', 1) }", []],
    ["const words = new Set(['a'])\nfunction f() { return words.has('a') }", []],
    ["const cache = new WeakMap()\nfunction f(o) { cache.set(o, 1) }", []],
    ["const row = new Int32Array(4)\nfunction f() { row[0] = 1 }", []],
  ]
  for (const [code, found] of cases) expect(tablesIn(code), code).toEqual(found)
})

test("every table of grammar/ and mask/ that a module keeps is in the registry", () => {
  const found = ["grammar", "mask"].flatMap(filesOf).flatMap((file) => {
    return tablesIn(readFileSync(file, "utf8")).map((name) => `${file.replaceAll("\\", "/")} ${name}`)
  })
  expect(found.sort()).toEqual(Object.keys(allowed).sort())
})
