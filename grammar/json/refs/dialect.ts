/**
 * The meaning of keywords in a dialect of JSON Schema: the drafts 04, 06, 07, 2019-09 and 2020-12,
 * the default without `$schema`, and metaschemas that combine the vocabularies of the last two.
 *
 * One table lists for each keyword its role, the drafts that have it, its vocabulary and the places
 * of subschemas in it. A keyword outside its drafts is an annotation like any unknown one. All
 * other differences are fields of `Dialect`.
 */
import { GrammarError } from "../../errors.ts"
import type { JsonNode } from "../read/reader.ts"
import { encodeToken } from "./uri.ts"

/**
 * `constraint`: constrains the value itself; `applicator`: applies subschemas; `reference`: applies
 * another schema.
 */
type KeywordRole = "constraint" | "applicator" | "reference" | "identifier" | "annotation"

/**
 * The form of a keyword's value: a schema, a list of schemas, a map to schemas, or either of two
 * forms.
 */
type SchemaPlace = "none" | "one" | "list" | "map" | "oneOrList" | "mapOrStrings"

export interface Keyword {
  readonly role: KeywordRole
  readonly place: SchemaPlace
}

type DraftName = "draft-04" | "draft-06" | "draft-07" | "2019-09" | "2020-12"

export interface Dialect {
  /** The draft whose rules apply; `none` reads schemas without `$schema`. */
  readonly name: DraftName | "none"
  /** Keywords that have an effect or a known meaning in this dialect. */
  readonly keywords: ReadonlyMap<string, Keyword>
  readonly idKeyword: "id" | "$id"
  /** `"$id": "#x"` names a location (through draft-07). */
  readonly fragmentIds: boolean
  /** `$ref` disables its siblings (through draft-07). */
  readonly refOverrides: boolean
  /** `integer` depends on the spelling: digits only (draft-04). */
  readonly lexicalIntegers: boolean
  /** `exclusiveMinimum: true` modifies `minimum`. */
  readonly booleanExclusive: boolean
  /** `exclusiveMinimum: 5` is a bound. */
  readonly numericExclusive: boolean
  /** `true` and `false` are schemas everywhere (not in draft-04). */
  readonly booleanSchemas: boolean
  /** Items that `contains` matches count as evaluated. */
  readonly containsEvaluates: boolean
  /** A vocabulary requires `format` to be asserted. */
  readonly formatAssertion: boolean
}

const drafts: readonly DraftName[] = ["draft-04", "draft-06", "draft-07", "2019-09", "2020-12"]

type Vocabulary =
  | "core"
  | "applicator"
  | "unevaluated"
  | "validation"
  | "meta-data"
  | "format-annotation"
  | "content"

// role, place, first draft, last draft (as indices of `drafts`), vocabulary, names
type Row = [KeywordRole, SchemaPlace, number, number, Vocabulary, string]

const rows: readonly Row[] = [
  ["identifier", "none", 0, 4, "core", "$schema"],
  ["identifier", "none", 0, 0, "core", "id"],
  ["identifier", "none", 1, 4, "core", "$id"],
  ["identifier", "none", 3, 4, "core", "$anchor $vocabulary"],
  ["identifier", "none", 3, 3, "core", "$recursiveAnchor"],
  ["identifier", "none", 4, 4, "core", "$dynamicAnchor"],
  ["identifier", "map", 0, 4, "core", "definitions"],
  ["identifier", "map", 3, 4, "core", "$defs"],
  ["annotation", "none", 2, 4, "core", "$comment"],
  ["reference", "none", 0, 4, "core", "$ref"],
  ["reference", "none", 3, 3, "core", "$recursiveRef"],
  ["reference", "none", 4, 4, "core", "$dynamicRef"],
  ["applicator", "list", 0, 4, "applicator", "allOf anyOf oneOf"],
  ["applicator", "one", 0, 4, "applicator", "not additionalProperties"],
  ["applicator", "map", 0, 4, "applicator", "properties patternProperties"],
  ["applicator", "oneOrList", 0, 4, "applicator", "items"],
  ["applicator", "one", 0, 3, "applicator", "additionalItems"],
  ["applicator", "mapOrStrings", 0, 4, "applicator", "dependencies"],
  ["applicator", "one", 1, 4, "applicator", "contains propertyNames"],
  ["applicator", "one", 2, 4, "applicator", "if then else"],
  ["applicator", "map", 3, 4, "applicator", "dependentSchemas"],
  ["applicator", "list", 4, 4, "applicator", "prefixItems"],
  ["applicator", "one", 3, 4, "unevaluated", "unevaluatedItems unevaluatedProperties"],
  ["constraint", "none", 0, 4, "validation", "type enum multipleOf maximum exclusiveMaximum minimum"],
  [
    "constraint",
    "none",
    0,
    4,
    "validation",
    "exclusiveMinimum maxLength minLength pattern maxItems minItems",
  ],
  ["constraint", "none", 0, 4, "validation", "uniqueItems maxProperties minProperties required"],
  ["constraint", "none", 1, 4, "validation", "const"],
  ["constraint", "none", 3, 4, "validation", "dependentRequired maxContains minContains"],
  ["constraint", "none", 0, 4, "format-annotation", "format"],
  ["annotation", "none", 0, 4, "meta-data", "title description default"],
  ["annotation", "none", 1, 4, "meta-data", "examples"],
  ["annotation", "none", 2, 4, "meta-data", "readOnly writeOnly"],
  ["annotation", "none", 3, 4, "meta-data", "deprecated"],
  ["annotation", "none", 2, 4, "content", "contentMediaType contentEncoding"],
  ["annotation", "one", 3, 4, "content", "contentSchema"],
]

function keywordsOf(takes: (first: number, last: number, vocabulary: Vocabulary) => boolean) {
  const keywords = new Map<string, Keyword>()
  for (const [role, place, first, last, vocabulary, names] of rows) {
    if (!takes(first, last, vocabulary)) continue
    for (const name of names.split(" ")) keywords.set(name, { role, place })
  }
  return keywords
}

const allKeywords: ReadonlyMap<string, Keyword> = keywordsOf(() => true)

/**
 * Whether some draft has the keyword. Reports use it to distinguish "not in draft-04" from "unknown
 * keyword".
 */
export function isKeywordSomewhere(keyword: string): boolean {
  return allKeywords.has(keyword)
}

function draftDialect(index: number): Dialect {
  return {
    name: drafts[index],
    keywords: keywordsOf((first, last) => first <= index && index <= last),
    idKeyword: index === 0 ? "id" : "$id",
    fragmentIds: index <= 2,
    refOverrides: index <= 2,
    lexicalIntegers: index === 0,
    booleanExclusive: index === 0,
    numericExclusive: index > 0,
    booleanSchemas: index > 0,
    containsEvaluates: index === 4,
    formatAssertion: false,
  }
}

const byDraft = new Map<string, Dialect>(drafts.map((name, index) => [name, draftDialect(index)]))

/**
 * The dialect without `$schema`: 2020-12 with array `items`, `additionalItems` and boolean
 * exclusive bounds.
 */
export const defaultDialect: Dialect = {
  ...(byDraft.get("2020-12") as Dialect),
  name: "none",
  keywords: keywordsOf((first, last) => last === 4 || (first === 0 && last === 3)),
  booleanExclusive: true,
}

const metaschemaUri = /^https?:\/\/json-schema\.org\/(?:draft\/(2019-09|2020-12)|(draft-0[3467]))\/schema#?$/

/** Memoized dialects by name. Few names have one, so the map stays small. */
const byName = new Map<string, Dialect>()

/**
 * Returns the draft with this name (`draft-07`, `07`, `2020-12`) or this URI of its metaschema, or
 * null if there is none.
 */
export function draftDialectOf(name: string): Dialect | null {
  const known = byName.get(name)
  if (known !== undefined) return known
  const dialect = namedDialect(name)
  if (dialect !== null) byName.set(name, dialect)
  return dialect
}

function namedDialect(name: string): Dialect | null {
  const match = metaschemaUri.exec(name)
  if (match !== null) return byDraft.get(match[1] ?? match[2]) ?? null
  if (/^https?:\/\/json-schema\.org\/schema#?$/.test(name)) return defaultDialect
  if (/^https?:\/\/spec\.openapis\.org\/oas\/3\.1\/dialect\/base#?$/.test(name)) {
    return byDraft.get("2020-12") as Dialect
  }
  const draft = /^(?:draft-?)?0?([467])$/.exec(name)
  return (
    byDraft.get(draft === null ? name : `draft-0${draft[1]}`) ?? (name === "none" ? defaultDialect : null)
  )
}

/**
 * Returns the dialect that `$schema: uri` selects. `find` returns another metaschema, parsed, or
 * null. Throws `unsupported` for draft-03, unknown URIs and unknown vocabularies that are required.
 */
export function dialectOf(uri: string, path: string, find: (uri: string) => JsonNode | null): Dialect {
  return follow(uri, path, find, [])
}

function follow(
  uri: string,
  path: string,
  find: (uri: string) => JsonNode | null,
  seen: readonly string[],
): Dialect {
  const draft = draftDialectOf(uri)
  if (draft !== null) return draft
  if (metaschemaUri.test(uri)) {
    throw new GrammarError("unsupported", path, "draft-03 is not read. Rewrite the schema for a later draft")
  }
  const metaschema = find(uri)
  if (metaschema === null || seen.includes(uri)) {
    throw new GrammarError("unsupported", path, `cannot resolve ${uri}. Pass its text in documents`)
  }
  if (metaschema.kind !== "object") {
    throw new GrammarError("syntax", path, `${uri} is a ${metaschema.kind}, not a metaschema`)
  }
  const parent = metaschema.members.get("$schema")
  const base = parent?.kind === "string" ? follow(parent.value, path, find, [...seen, uri]) : defaultDialect
  const vocabularies = metaschema.members.get("$vocabulary")
  if (vocabularies?.kind !== "object" || base.idKeyword === "id") return base
  return combine(base, vocabularies.members, path)
}

const vocabularyUri = /^https?:\/\/json-schema\.org\/draft\/(2019-09|2020-12)\/vocab\/([a-z-]+)$/

function combine(base: Dialect, members: ReadonlyMap<string, JsonNode>, path: string): Dialect {
  const names = new Set<string>(["core"])
  let draft: Dialect = base
  for (const [uri, value] of members) {
    const match = vocabularyUri.exec(uri)
    if (match !== null) {
      draft = byDraft.get(match[1]) as Dialect
      names.add(match[2])
    } else if (value.kind === "true") {
      throw new GrammarError(
        "unsupported",
        path,
        `the metaschema requires the unknown vocabulary ${uri}. Mark it false there if it may be ignored`,
      )
    }
  }
  if (names.has("format") || names.has("format-assertion")) names.add("format-annotation")
  if (draft.name === "2019-09" && names.has("applicator")) names.add("unevaluated")
  const enabled = keywordsOf((_, __, vocabulary) => names.has(vocabulary))
  const keywords = new Map([...draft.keywords].filter(([name]) => enabled.has(name)))
  return { ...draft, keywords, formatAssertion: names.has("format-assertion") }
}

/**
 * Yields the schemas directly below an object, each with the JSON pointer from there. Malformed
 * keywords are skipped.
 */
export function* subschemas(
  schema: JsonNode,
  dialect: Dialect,
): Generator<{ pointer: string; value: JsonNode }> {
  if (schema.kind !== "object") return
  for (const keyword of schema.keys) {
    const place = dialect.keywords.get(keyword)?.place
    if (place === undefined || place === "none") continue
    const value = schema.members.get(keyword) as JsonNode
    // Keywords with subschemas belong to a draft, so their names need no escapes.
    const pointer = `/${keyword}`
    if (value.kind === "array" && (place === "list" || place === "oneOrList")) {
      for (const [i, item] of value.items.entries()) yield { pointer: `${pointer}/${i}`, value: item }
    } else if (value.kind === "object" && (place === "map" || place === "mapOrStrings")) {
      for (const [key, member] of value.members)
        if (isSchema(member)) yield { pointer: `${pointer}/${encodeToken(key)}`, value: member }
    } else if ((place === "one" || place === "oneOrList") && isSchema(value)) yield { pointer, value }
  }
}

/** Objects and booleans may be schemas. */
export function isSchema(value: JsonNode): boolean {
  return value.kind === "object" || value.kind === "true" || value.kind === "false"
}
