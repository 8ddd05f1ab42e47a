/**
 * Strings and regular expressions of a Lark text: what their spelling means.
 *
 * A string has the escapes of JSON and `\xHH`. A regular expression is ECMAScript's; of what Rust and Python write otherwise
 * the common forms are translated, and the others are refused with what to write, because ECMAScript would read many of them
 * as something else (`\h` as the letter h, `[[:alpha:]]` as a class of punctuation and letters).
 */
import { GrammarError, type GrammarErrorKind, type Limits } from "../../errors.ts"
import { type ExprId, exprs } from "../../lexeme/expr/expr.ts"
import { KnownPatterns } from "../../regex/knownpatterns.ts"
import { parseRegex } from "../../regex/parse.ts"
import { foldClosure } from "../../regex/unicode.ts"
import type { Literal, Pattern } from "./tree.ts"

/** Told of what is wrong, at an offset into the text of the grammar. */
export type Refuse = (kind: GrammarErrorKind, offset: number, message: string) => void

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

/** The characters of a string, and whether it has the suffix `i`. */
export function readLiteral(
  { text, start }: Literal,
  refuse: Refuse,
): { value: string; ignoresCase: boolean } {
  const ignoresCase = text.endsWith("i")
  const inner = text.slice(1, ignoresCase ? -2 : -1)
  // Most have nothing to escape.
  if (/^[ -[\]-~]*$/.test(inner)) return { value: inner, ignoresCase }
  const value = jsonText(inner) ?? decoded(inner, start, refuse)
  if (!value.isWellFormed()) refuse("syntax", start, "the string holds half a surrogate pair")
  return { value, ignoresCase }
}

/** What `inner` is between the quotes of a JSON string; null: it has other escapes, or is none. */
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

/** The texts that fold like `text`. */
export function foldedText(text: string): ExprId {
  let expr = exprs.literal("")
  for (const character of [...text].reverse()) {
    const point = character.codePointAt(0) as number
    expr = exprs.concat(exprs.codePoints(foldClosure([point, point])), expr)
  }
  return expr
}

const known = new KnownPatterns()

/** The texts of a regular expression; ∅ after a refusal. */
export function readRegex(pattern: Pattern, limits: Limits, refuse: Refuse): ExprId {
  return known.of(pattern.text, limits, () => parsePattern(pattern, limits, refuse)) ?? exprs.or([])
}

/** Null after a refusal. */
function parsePattern({ text, start }: Pattern, limits: Limits, refuse: Refuse): ExprId | null {
  const end = text.lastIndexOf("/")
  const given = text.slice(1, end)
  const refused = { count: 0 }
  const { pattern, flags } = toEcmaScript(given, text.slice(end + 1), (message, at) => {
    refused.count++
    refuse("syntax", start + 1 + at, message)
  })
  if (refused.count > 0) return null
  try {
    return parseRegex(pattern, { flags, mode: "match", path: "", dot: "lineFeed", limits })
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error
    const offset = pattern === given ? Number(/^offset (\d+)$/.exec(error.path)?.[1] ?? 0) : 0
    const message = error.path === "" ? error.message : error.message.slice(error.path.length + 2)
    refuse(error.kind, start + (offset === 0 ? 0 : 1 + offset), message)
    return null
  }
}

/** Letters that ECMAScript escapes, with what must follow some of them. */
const knownEscape =
  /\\(?:[bBdDfnrsStvwW0-9]|c[A-Za-z]|x[0-9a-fA-F]{2}|u(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]+\})|[pPqk](?=[{<]))/y
/** What may stand behind `(?`. */
const knownGroup = /\(\?(?:[:=!]|<[=!]|<[\p{L}_$][\p{L}\p{N}_$]*>|[ims]*(?:-[ims]+)?:)/uy

/** The pattern with Rust's and Python's spellings in ECMAScript's, and its flags with those at its beginning. */
function toEcmaScript(
  given: string,
  flags: string,
  refuse: (message: string, at: number) => void,
): { pattern: string; flags: string } {
  const leading = /^\(\?([a-zA-Z]+)\)/.exec(given)
  const other = leading === null ? undefined : /[^imsu]/.exec(leading[1])?.[0]
  if (other !== undefined) refuse(`flag ${JSON.stringify(other)} is unknown. Use i, m or s`, 0)
  // Only with the flag v classes hold classes.
  const nests = flags.includes("v")
  let pattern = ""
  let depth = 0
  let startsWithBracket = false
  for (let at = leading?.[0].length ?? 0; at < given.length; ) {
    const part = partAt(given, at, depth > 0, nests, refuse)
    if (part.text === "[" && (depth === 0 || nests)) {
      depth++
      startsWithBracket ||= /^\[\^?\]/.test(given.slice(at, at + 3))
    } else if (part.text === "]") {
      if (depth === 0 && startsWithBracket) refuse('a "]" at the beginning of a class is written \\]', at)
      depth = Math.max(0, depth - 1)
    }
    pattern += part.text
    at += part.length
  }
  return { pattern, flags: [...new Set(flags + (leading?.[1] ?? ""))].join("") }
}

/** What the characters at `at` become, and how many they are. */
function partAt(
  given: string,
  at: number,
  isClass: boolean,
  nests: boolean,
  refuse: (message: string, at: number) => void,
): { text: string; length: number } {
  const rest = given.slice(at, at + 80)
  if (rest[0] === "\\") return escapeAt(given, at, isClass, refuse)
  if (isClass) {
    const posix = /^\[[:.=][a-z^]*[:.=]\]/.exec(rest)
    if (posix !== null && !nests) refuse(`${posix[0]} is no class here: write its ranges, or \\p{…}`, at)
    else if (!nests && /^(?:&&|--\[|~~)/.test(rest))
      refuse(`"${rest.slice(0, 2)}" in a class needs the flag v, or terminals put together with & and ~`, at)
  } else if (rest.startsWith("(?")) {
    const python = /^\(\?P<[\p{L}_][\p{L}\p{N}_]*>/u.exec(rest)
    if (python !== null) return { text: python[0].replace("P", ""), length: python[0].length }
    knownGroup.lastIndex = at
    if (!knownGroup.test(given)) refuse(groupHint(rest), at)
  } else if (/^\{,\d+\}/.test(rest)) refuse(`write {0${rest.slice(1, rest.indexOf("}") + 1)}`, at)
  return { text: rest[0], length: 1 }
}

function escapeAt(
  given: string,
  at: number,
  isClass: boolean,
  refuse: (message: string, at: number) => void,
): { text: string; length: number } {
  const letter = String.fromCodePoint(given.codePointAt(at + 1) ?? 0x5c)
  if (!isClass && letter === "A") return { text: "(?-m:^)", length: 2 }
  if (!isClass && (letter === "z" || letter === "Z")) return { text: "(?-m:$)", length: 2 }
  if (/[a-zA-Z]/.test(letter)) {
    knownEscape.lastIndex = at
    if (!knownEscape.test(given)) refuse(escapeHint(letter), at)
  }
  return { text: `\\${letter}`, length: 1 + letter.length }
}

function escapeHint(letter: string): string {
  switch (letter) {
    case "p":
    case "P":
      return `write \\${letter}{…}`
    case "x":
    case "u":
    case "U":
      return `\\${letter} is written \\xHH, \\uHHHH or \\u{H…}`
    default:
      return `unknown escape \\${letter}: write the characters as a class, or as \\u{…}`
  }
}

function groupHint(rest: string): string {
  const flags = /^\(\?[a-zA-Z-]*[):]/.exec(rest)
  if (flags !== null)
    return `${flags[0]}: flags stand behind the pattern, or as (?i:…), (?m:…), (?s:…) around a part of it`
  return `unknown group ${rest.slice(0, 4)}: use (…), (?:…), (?<name>…), (?=…), (?!…), (?<=…) or (?<!…)`
}
