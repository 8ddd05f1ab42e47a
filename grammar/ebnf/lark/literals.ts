/**
 * Decodes the strings and regular expressions of a Lark text.
 *
 * A string has the escapes of JSON and `\xHH`. A regular expression is read as everywhere else
 * (`regex/read.ts`).
 */
import { GrammarError, type Limits } from "../../errors.ts"
import { type ExprId, exprs } from "../../lexeme/expr/expr.ts"
import { KnownPatterns } from "../../regex/knownpatterns.ts"
import { parseRegex } from "../../regex/parse.ts"
import { foldClosure } from "../../regex/unicode.ts"
import { owned } from "../../tables.ts"
import type { Refuse } from "../notation/source.ts"
import type { Literal, Pattern } from "../notation/tree.ts"

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
}

/** Returns the characters of a string, and whether it has the suffix `i`. */
export function readLiteral(
  { text, start }: Literal,
  refuse: Refuse,
): { value: string; ignoresCase: boolean } {
  const ignoresCase = text.endsWith("i")
  const inner = text.slice(1, ignoresCase ? -2 : -1)
  // Most strings have no escapes.
  if (/^[ -[\]-~]*$/.test(inner)) return { value: inner, ignoresCase }
  const value = jsonText(inner) ?? decoded(inner, start, refuse)
  if (!value.isWellFormed()) refuse("syntax", start, "the string holds half a surrogate pair")
  return { value, ignoresCase }
}

/**
 * Returns the value of `inner` between the quotes of a JSON string; null if that is not valid JSON.
 */
function jsonText(inner: string): string | null {
  if (inner.includes("\\x")) return null
  try {
    return JSON.parse(`"${inner}"`)
  } catch {
    return null
  }
}

function decoded(inner: string, start: number, refuse: Refuse): string {
  return inner.replace(
    /\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))|\p{Cc}/gu,
    (all, u, x, letter, at) => {
      const hex: string | undefined = u ?? x
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
      const offset = start + 1 + at
      if (letter === undefined && all >= "\x7f") return all
      if (letter === undefined)
        refuse("syntax", offset, `control character ${JSON.stringify(all)} in a string: escape it`)
      else if (Object.hasOwn(escapes, letter)) return escapes[letter]
      else if (letter === "u") refuse("syntax", offset, "expected four hexadecimal digits behind \\u")
      else if (letter === "x") refuse("syntax", offset, "expected two hexadecimal digits behind \\x")
      else refuse("syntax", offset, `unknown escape ${all}`)
      return ""
    },
  )
}

/** Returns the texts that are equal to `text` after case folding. */
export function foldedText(text: string): ExprId {
  let expr = exprs.literal("")
  for (const character of [...text].reverse()) {
    const point = character.codePointAt(0) as number
    expr = exprs.concat(exprs.codePoints(foldClosure([point, point])), expr)
  }
  return expr
}

const known = owned("patterns", new KnownPatterns(), { entryBytes: 60 })

/** Returns the texts of a regular expression; ∅ after a refusal. */
export function readRegex(pattern: Pattern, limits: Limits, refuse: Refuse): ExprId {
  return known.of(pattern.text, limits, () => parsePattern(pattern, limits, refuse)) ?? exprs.or([])
}

/** Returns the pattern between the slashes and the flags after them. */
export function regexOf({ text }: Pattern): { pattern: string; flags: string } {
  const end = text.lastIndexOf("/")
  return { pattern: text.slice(1, end), flags: text.slice(end + 1) }
}

/** Returns null after a refusal. */
function parsePattern(regex: Pattern, limits: Limits, refuse: Refuse): ExprId | null {
  const { pattern, flags } = regexOf(regex)
  const { start } = regex
  try {
    return parseRegex(pattern, { flags, mode: "match", path: "", dot: "lineFeed", limits })
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error
    const offset = Number(/^offset (\d+)$/.exec(error.path)?.[1] ?? 0)
    const message = error.path === "" ? error.message : error.message.slice(error.path.length + 2)
    refuse(error.kind, start + (offset === 0 ? 0 : 1 + offset), message)
    return null
  }
}
