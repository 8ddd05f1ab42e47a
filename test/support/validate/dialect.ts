/**
 * Which keywords a schema's dialect has, and where schemas sit below them.
 *
 * A keyword outside its dialect is an annotation. Without `$schema` all keywords of 2020-12 hold, and tuples and
 * boolean exclusive bounds of older drafts too.
 */
import type { JsonNode } from "../../../grammar/json/read/reader.ts"

export type Draft = 4 | 6 | 7 | 2019 | 2020

export interface Dialect {
  readonly name: string
  /** The draft whose rules hold beside the keywords. */
  readonly draft: Draft
  /** Read without `$schema`. */
  readonly isLenient: boolean
  readonly assertsFormat: boolean
  has(keyword: string): boolean
}

/** What hangs below a keyword. */
export const schemaPlaces: ReadonlyMap<string, "one" | "list" | "map" | "oneOrList" | "mapOrStrings"> =
  new Map([
    ...["not", "additionalProperties", "propertyNames", "contains", "if", "then", "else"].map(one),
    ...["additionalItems", "unevaluatedItems", "unevaluatedProperties", "contentSchema"].map(one),
    ...["allOf", "anyOf", "oneOf", "prefixItems"].map((name) => [name, "list"] as const),
    ...["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"].map(map),
    ["items", "oneOrList"] as const,
    ["dependencies", "mapOrStrings"] as const,
  ])
function one(name: string) {
  return [name, "one"] as const
}
function map(name: string) {
  return [name, "map"] as const
}

const order: readonly Draft[] = [4, 6, 7, 2019, 2020]

/** First and last draft of the keywords that not all drafts have. */
const spans: Record<string, [Draft, Draft]> = Object.assign(Object.create(null), {
  id: [4, 4],
  $id: [6, 2020],
  $anchor: [2019, 2020],
  $recursiveRef: [2019, 2019],
  $recursiveAnchor: [2019, 2019],
  $dynamicRef: [2020, 2020],
  $dynamicAnchor: [2020, 2020],
  $defs: [2019, 2020],
  const: [6, 2020],
  contains: [6, 2020],
  propertyNames: [6, 2020],
  if: [7, 2020],
  then: [7, 2020],
  else: [7, 2020],
  dependentRequired: [2019, 2020],
  dependentSchemas: [2019, 2020],
  unevaluatedItems: [2019, 2020],
  unevaluatedProperties: [2019, 2020],
  minContains: [2019, 2020],
  maxContains: [2019, 2020],
  prefixItems: [2020, 2020],
  additionalItems: [4, 2019],
})

const inDraft = (keyword: string, draft: Draft) => {
  const [first, last] = spans[keyword] ?? [4, 2020]
  return order.indexOf(first) <= order.indexOf(draft) && order.indexOf(draft) <= order.indexOf(last)
}

function draftDialect(draft: Draft): Dialect {
  return {
    name: `draft ${draft}`,
    draft,
    isLenient: false,
    assertsFormat: false,
    has: (keyword) => inDraft(keyword, draft),
  }
}

const drafts = new Map(order.map((draft) => [draft, draftDialect(draft)]))

export const lenientDialect: Dialect = {
  name: "without $schema",
  draft: 2020,
  isLenient: true,
  assertsFormat: false,
  has: (keyword) => keyword === "additionalItems" || inDraft(keyword, 2020),
}

const vocabularies: Record<string, string[]> = {
  applicator: [
    ...["prefixItems", "items", "additionalItems", "contains", "additionalProperties", "properties"],
    ...["patternProperties", "dependentSchemas", "dependencies", "propertyNames", "if", "then", "else"],
    ...["allOf", "anyOf", "oneOf", "not"],
  ],
  unevaluated: ["unevaluatedItems", "unevaluatedProperties"],
  validation: [
    ...["type", "const", "enum", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"],
    ...["maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxContains"],
    ...["minContains", "maxProperties", "minProperties", "required", "dependentRequired"],
  ],
  "format-annotation": ["format"],
  "format-assertion": ["format"],
  format: ["format"],
  content: ["contentEncoding", "contentMediaType", "contentSchema"],
  "meta-data": ["title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples"],
}

/** The dialect named by `$schema`. `find` gives the text of other metaschemas. */
export function dialectOf(uri: string, find: (uri: string) => JsonNode | null): Dialect {
  const plain = uri.replace(/#$/, "").replace(/^http:/, "https:")
  if (plain === "https://json-schema.org/schema") return lenientDialect
  if (plain === "https://spec.openapis.org/oas/3.1/dialect/base") return drafts.get(2020) as Dialect
  const standard = /^https:\/\/json-schema\.org\/(?:draft-0(4|6|7)|draft\/(20\d\d)-\d\d)\/schema$/.exec(plain)
  if (standard !== null) {
    const known = drafts.get(Number(standard[1] ?? standard[2]) as Draft)
    if (known !== undefined) return known
  }
  const metaschema = find(uri.replace(/#$/, ""))
  if (metaschema?.kind !== "object") throw new Error(`unknown dialect ${uri}`)
  return vocabularyDialect(uri, metaschema)
}

function vocabularyDialect(uri: string, metaschema: JsonNode & { kind: "object" }): Dialect {
  const list = metaschema.members.get("$vocabulary")
  const keywords = new Set<string>()
  let draft: Draft = 2020
  let assertsFormat = false
  if (list?.kind === "object") {
    for (const [name, needed] of list.members) {
      const [, year, vocabulary] =
        /^https:\/\/json-schema\.org\/draft\/(20\d\d)-\d\d\/vocab\/(.+)$/.exec(name) ?? []
      if (vocabulary === undefined || !(vocabulary === "core" || Object.hasOwn(vocabularies, vocabulary))) {
        if (needed.kind === "true") throw new Error(`unknown vocabulary ${name}`)
        continue
      }
      draft = Number(year) as Draft
      for (const keyword of vocabularies[vocabulary] ?? []) keywords.add(keyword)
      // 2019-09 bundles unevaluated* with the applicators, and "format": true asks for the assertion.
      if (year === "2019" && vocabulary === "applicator") {
        for (const keyword of vocabularies.unevaluated) keywords.add(keyword)
      }
      if (vocabulary === "format-assertion" || (vocabulary === "format" && needed.kind === "true"))
        assertsFormat = true
    }
  }
  const all = new Set(Object.values(vocabularies).flat())
  return {
    name: uri,
    draft,
    isLenient: false,
    assertsFormat,
    has: (keyword) => inDraft(keyword, draft) && (!all.has(keyword) || keywords.has(keyword)),
  }
}
