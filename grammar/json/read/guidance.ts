/**
 * `x-guidance` at the root of a schema: instructions to llguidance for the spelling of the values.
 * It is not a keyword of a draft; each of its keys is honoured, or refused by name.
 *
 * As in llguidance, separators and white space are regular expressions. Between two marks there is
 * at most one run of white space, in every gap but not at the ends of the text. `coerce_one_of` and
 * `lenient` allow llguidance to accept more than the schema where it cannot be exact. This engine
 * is exact, so they change nothing.
 */
import { GrammarError, type Limits } from "../../errors.ts"
import { Empty, type ExprId, exprs } from "../../lexeme/expr/expr.ts"
import { parseRegex } from "../../regex/parse.ts"
import type { Guidance } from "../parts.ts"
import type { SurfacePolicy } from "../spelling.ts"
import { GuidanceKey } from "./keywords.ts"
import { describeValue } from "./keywordvalue.ts"
import type { JsonNode } from "./reader.ts"

const keys = [
  "item_separator",
  "key_separator",
  "whitespace_flexible",
  "whitespace_pattern",
  "coerce_one_of",
  "lenient",
  "json_allowed_escapes",
  "json_allow_general_unicode_escapes",
]

/** Characters with a JSON escape of one letter. */
const lettered: Readonly<Record<string, string>> = {
  n: "\n",
  r: "\r",
  b: "\b",
  t: "\t",
  f: "\f",
  "\\": "\\",
  '"': '"',
}

/** Returns a note for the report if a key is set that only permits inexactness. */
export function guidanceNote(value: JsonNode): string | undefined {
  if (value.kind !== "object") return undefined
  const idle = ["coerce_one_of", "lenient"].filter((name) => value.members.get(name)?.kind === "true")
  return idle.length === 0 ? undefined : `${idle.join(", ")}: nothing is coerced, every keyword is exact`
}

/**
 * Returns the guidance of a schema, whose value of `x-guidance` is `value`. `policy` applies where
 * it does not say. Throws a GrammarError with the pointer of the key.
 */
export function guidanceOf(value: JsonNode, policy: SurfacePolicy, limits: Limits): Guidance {
  const path = `/${GuidanceKey}`
  if (value.kind !== "object")
    throw new GrammarError(
      "syntax",
      path,
      `expected an object with keys of llguidance, found ${describeValue(value)}`,
    )
  const unknown = value.keys.find((key) => !keys.includes(key))
  if (unknown !== undefined) {
    const message = `${GuidanceKey} has no key ${JSON.stringify(unknown)}. It has ${keys.join(", ")}`
    throw new GrammarError("unsupported", path, message)
  }
  const at = new Members(value.members, path)
  const match = (pattern: string, place: string) =>
    parseRegex(pattern, { mode: "match", path: place, limits })
  const comma = separator(at, "item_separator", match)
  const colon = separator(at, "key_separator", match)
  at.isSet("coerce_one_of")
  at.isSet("lenient")
  const gap = gapOf(at, match)
  const isGeneral = at.isSet("json_allow_general_unicode_escapes") === true
  const letters = at.text("json_allowed_escapes")
  const marks = { ...policy.marks, ...definedOf({ comma, colon, gap }) }
  return {
    policy: {
      ...policy,
      ...(Object.keys(marks).length === 0 ? {} : { marks }),
      escapes: isGeneral ? "json" : letters === null ? policy.escapes : "canonical",
    },
    excludes: letters === null ? [] : unwritable(letters, `${path}/json_allowed_escapes`),
  }
}

function definedOf<T extends object>(values: T): { [Key in keyof T]?: NonNullable<T[Key]> } {
  const defined = Object.entries(values).filter(([, value]) => value !== null)
  return Object.fromEntries(defined) as { [Key in keyof T]?: NonNullable<T[Key]> }
}

type Match = (pattern: string, path: string) => ExprId

function separator(at: Members, key: string, match: Match): ExprId | null {
  const pattern = at.text(key)
  if (pattern === null) return null
  const path = at.pathOf(key)
  const expr = match(pattern, path)
  if (!exprs.nullable(expr)) return expr
  throw new GrammarError(
    "unsupported",
    path,
    `${JSON.stringify(pattern)} matches the empty text, which separates nothing`,
  )
}

function gapOf(at: Members, match: Match): ExprId | null {
  const pattern = at.text("whitespace_pattern")
  const isFlexible = at.isSet("whitespace_flexible")
  if (pattern !== null) {
    const expr = match(pattern, at.pathOf("whitespace_pattern"))
    return exprs.loop(expr, 0, 1)
  }
  if (isFlexible === null) return null
  return isFlexible
    ? exprs.loop(exprs.codePoints([9, 10, 13, 13, 0x20, 0x20]), 0, Number.POSITIVE_INFINITY)
    : Empty
}

/** Returns the characters that need an escape outside `letters`. */
function unwritable(letters: string, path: string): string[] {
  const wrong = [...letters].find((letter) => letter !== "u" && !Object.hasOwn(lettered, letter))
  if (wrong !== undefined) {
    const message = `${JSON.stringify(wrong)} is not an escape letter. Use n, r, b, t, f, u, \\ or "`
    throw new GrammarError("unsupported", path, message)
  }
  const missing = Object.entries(lettered).filter(([letter]) => !letters.includes(letter))
  const excludes = missing.map(([, character]) => character)
  if (letters.includes("u")) return excludes
  const named = Object.values(lettered)
  const controls = Array.from({ length: 0x20 }, (_, point) => String.fromCharCode(point))
  return [...excludes, ...controls.filter((character) => !named.includes(character))]
}

/** The members of the object, by type. A member that is null counts as absent. */
class Members {
  private readonly members: ReadonlyMap<string, JsonNode>
  private readonly path: string

  constructor(members: ReadonlyMap<string, JsonNode>, path: string) {
    this.members = members
    this.path = path
  }

  pathOf(key: string): string {
    return `${this.path}/${key}`
  }

  text(key: string): string | null {
    const value = this.members.get(key)
    if (value === undefined || value.kind === "null") return null
    if (value.kind === "string") return value.value
    throw new GrammarError("syntax", this.pathOf(key), `expected a string, found ${describeValue(value)}`)
  }

  isSet(key: string): boolean | null {
    const value = this.members.get(key)
    if (value === undefined || value.kind === "null") return null
    if (value.kind === "true" || value.kind === "false") return value.kind === "true"
    throw new GrammarError(
      "syntax",
      this.pathOf(key),
      `expected true or false, found ${describeValue(value)}`,
    )
  }
}
