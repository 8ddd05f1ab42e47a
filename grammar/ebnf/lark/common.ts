/**
 * The library `common` of Lark: the terminals that `%import` can import. Their letters and digits
 * are ASCII.
 *
 * They match complete texts: a comment of C ends with its first end mark, and terminals that run to
 * the end of a line do not include the line end.
 */
import type { ExprId } from "../../lexeme/expr/expr.ts"
import { parseRegex } from "../../regex/parse.ts"
import { owned } from "../../tables.ts"

const int = "[0-9]+"
const exp = `[eE][+-]?${int}`
const decimal = `(?:${int}\\.[0-9]*|\\.${int})`
const float = `(?:${int}${exp}|${decimal}(?:${exp})?)`
const number = `(?:${float}|${int})`

const patterns: ReadonlyMap<string, string> = new Map([
  ["DIGIT", "[0-9]"],
  ["HEXDIGIT", "[0-9a-fA-F]"],
  ["INT", int],
  ["SIGNED_INT", `[+-]?${int}`],
  ["DECIMAL", decimal],
  ["_EXP", exp],
  ["FLOAT", float],
  ["SIGNED_FLOAT", `[+-]?${float}`],
  ["NUMBER", number],
  ["SIGNED_NUMBER", `[+-]?${number}`],
  ["LCASE_LETTER", "[a-z]"],
  ["UCASE_LETTER", "[A-Z]"],
  ["LETTER", "[A-Za-z]"],
  ["WORD", "[A-Za-z]+"],
  ["CNAME", "[_A-Za-z][_A-Za-z0-9]*"],
  ["ESCAPED_STRING", '"(?:[^"\\\\\\n]|\\\\[^\\n])*"'],
  ["WS_INLINE", "[ \\t]+"],
  ["WS", "[ \\t\\f\\r\\n]+"],
  ["CR", "\\r"],
  ["LF", "\\n"],
  ["NEWLINE", "(?:\\r?\\n)+"],
  ["SH_COMMENT", "#[^\\n]*"],
  ["CPP_COMMENT", "\\/\\/[^\\n]*"],
  ["C_COMMENT", "\\/\\*(?:[^*]|\\*+[^*\\/])*\\*+\\/"],
  ["SQL_COMMENT", "--[^\\n]*"],
])

const known = owned("common terminals", { terminals: new Map<string, ExprId>() })

/** Returns the terminal `name` of the library; null if it has none of that name. */
export function commonTerminal(name: string): ExprId | null {
  const pattern = patterns.get(name)
  if (pattern === undefined) return null
  let expr = known.terminals.get(name)
  if (expr === undefined) {
    expr = parseRegex(pattern, { mode: "match", path: "" })
    known.terminals.set(name, expr)
  }
  return expr
}

/** Names of the library's terminals, for messages. */
export const commonNames: readonly string[] = [...patterns.keys()]
