/**
 * outlines-core 0.2.14, which writes a schema as one regular expression.
 *
 * It looks for these keywords in this order: `properties`, `allOf`, `anyOf`, `oneOf`,
 * `prefixItems`, `enum`, `const`, `$ref`, `type`. It reads the first that a schema has, and ignores
 * the others. It refuses a schema with none of them, except the empty one.
 */
import { hasAlternatives, hasBackreference, hasLookaround, isAnchored } from "../patterns.ts"
import type { Position } from "../position.ts"
import type { Table } from "../rules.ts"
import { besideConstant } from "./beside.ts"
import { integers, keyOrder, oneOfAsAnyOf, patternQuote, undeclared } from "./common.ts"

const order = ["properties", "allOf", "anyOf", "oneOf", "prefixItems", "enum", "const", "$ref", "type"]
const formats = new Set("date-time date time uuid uri email".split(" "))
/** References deeper than this are cut. */
const MaxReferences = 4

/** The keyword that decides. */
function decisive(at: Position): string | undefined {
  return order.find((keyword) => at.has(keyword))
}

/** The keywords that outlines-core looks at. */
function read(at: Position): readonly string[] {
  const first = decisive(at)
  if (first === "properties") return ["properties", "required"]
  if (first !== "type") return first === undefined ? [] : [first]
  return ["type", ...(at.types ?? []).flatMap((type) => ofType(at, type))]
}

function ofType(at: Position, type: string): readonly string[] {
  switch (type) {
    case "string":
      if (at.hasAny("minLength", "maxLength")) return ["minLength", "maxLength"]
      return [at.has("pattern") ? "pattern" : "format"]
    case "array":
      return ["items", "minItems", "maxItems"]
    case "object":
      return ["additionalProperties", "minProperties", "maxProperties"]
    default:
      return []
  }
}

/** The number of references around a schema, itself included. */
function references(at: Position): number {
  let count = 0
  for (let outer: Position | null = at; outer !== null; outer = outer.parent) if (outer.has("$ref")) count++
  return count
}

/** Whether every value that the schema's keywords describe has one of its types anyway. */
function isPlainType(at: Position): boolean {
  const first = decisive(at)
  if (first === "properties") return at.types?.length === 1 && at.types[0] === "object"
  if (first === "prefixItems") return at.types?.length === 1 && at.types[0] === "array"
  return (first === "enum" || first === "const") && !besideConstant(at)
}

function isPlainPointer(at: Position): boolean {
  const text = at.text("$ref") ?? ""
  return at.target !== null && text.startsWith("#") && !/[~%]/.test(text) && !/^#[^/]/.test(text)
}

/** The keywords that hold a schema, a list or a map where `true` or `false` may stand. */
function hasBoolean(at: Position, keyword: string): boolean {
  const value = at.get(keyword)
  const isBoolean = ({ kind }: { kind: string }) => kind === "true" || kind === "false"
  if (value === undefined) return false
  if (keyword === "properties" && value.kind === "object") return [...value.members.values()].some(isBoolean)
  if (value.kind === "array") return value.items.some(isBoolean)
  return keyword === "additionalProperties" ? value.kind === "false" : isBoolean(value)
}

/** Whether a reference leads back without a property on the way, where the cut could be made. */
function isCutNowhere(at: Position): boolean {
  if (!at.isRecursive) return false
  const id = at.target?.node.id
  for (let outer: Position | null = at; outer !== null && outer.node.id !== id; outer = outer.parent)
    if (outer.under === "properties") return false
  return true
}

export const outlines: Table = {
  title: "outlines-core",
  source: { name: "outlines-core 0.2.14", url: "https://github.com/dottxt-ai/outlines-core" },
  readsBesideRef: false,
  rules: [
    {
      id: "nothing",
      keywords: "type",
      missing: true,
      when: (at) => at.members.size > 0 && decisive(at) === undefined,
      verdict: "refused",
      note: "a schema needs type, properties, allOf, anyOf, oneOf, prefixItems, enum, const or $ref",
    },
    {
      id: "any",
      keywords: "type",
      missing: true,
      when: (at) => at.node.value.kind === "object" && at.members.size === 0,
      verdict: "wrong",
      note: "an empty schema is written without a group, so parts of the text around it may be missing",
    },
    {
      id: "boolean",
      keywords: "properties items prefixItems oneOf anyOf allOf additionalProperties",
      when: (at, keyword) => read(at).includes(keyword) && hasBoolean(at, keyword),
      verdict: "refused",
      note: "true and false are not read as schemas",
    },
    {
      id: "tuple",
      keywords: "items",
      when: (at) => read(at).includes("items") && at.get("items")?.kind === "array",
      verdict: "refused",
      note: "a list of schemas in items is not read",
    },
    {
      id: "reference",
      keywords: "$ref",
      when: (at) => read(at).includes("$ref") && !isPlainPointer(at),
      verdict: "refused",
      note: "only pointers into the document, `#/…` without ~ and %",
    },
    {
      id: "format",
      keywords: "format",
      when: (at) => read(at).includes("format") && !formats.has(at.text("format") ?? ""),
      verdict: "refused",
      note: `only the formats ${[...formats].join(", ")}`,
    },
    {
      id: "plainType",
      keywords: "type",
      when: (at) => !read(at).includes("type") && !isPlainType(at),
      verdict: "wrong",
      note: "ignored beside the keyword that decides",
    },
    {
      id: "closed",
      keywords: "properties",
      when: (at) => decisive(at) === "properties" && !at.has("additionalProperties"),
      verdict: "narrowed",
      note: "keys that are not declared are rejected",
    },
    {
      id: "others",
      keywords: "additionalProperties",
      when: (at) => decisive(at) === "properties" && at.get("additionalProperties")?.kind !== "false",
      ends: true,
      verdict: "narrowed",
      note: "keys that are not declared are rejected",
    },
    {
      id: "besideConstant",
      keywords: "*",
      when: (at, keyword) =>
        !["type", "enum", "const"].includes(keyword) &&
        ["enum", "const"].includes(decisive(at) ?? "") &&
        besideConstant(at),
      verdict: "dropped",
      note: "ignored beside enum and const",
    },
    {
      id: "beside",
      keywords: "*",
      when: (at, keyword) =>
        keyword !== "type" &&
        !(keyword === "additionalProperties" && decisive(at) === "properties") &&
        !read(at).includes(keyword),
      verdict: "dropped",
      note: "ignored beside the keyword that decides",
    },
    {
      id: "allOf",
      keywords: "allOf",
      when: (at) => at.items("allOf").length > 1,
      verdict: "wrong",
      note: "the branches are written one after the other, not intersected",
    },
    oneOfAsAnyOf,
    {
      id: "untyped",
      keywords: "properties",
      when: (at) => at.types?.length !== 1 || at.types[0] !== "object",
      verdict: "narrowed",
      note: "values that are no objects are rejected",
    },
    undeclared,
    {
      id: "tupleLength",
      keywords: "prefixItems",
      verdict: "narrowed",
      note: "exactly the listed items, not fewer and not more",
    },
    {
      id: "recursion",
      keywords: "$ref",
      when: isCutNowhere,
      verdict: "refused",
      note: "a reference back to a schema around it, with no property on the way",
    },
    {
      id: "depth",
      keywords: "$ref",
      when: (at) => at.isRecursive || references(at) > MaxReferences,
      verdict: "wrong",
      note: "references nest at most four deep, and a property below is left out",
    },
    {
      id: "patternSyntax",
      keywords: "pattern",
      when: (at) => [hasLookaround, hasBackreference].some((has) => has(at.text("pattern") ?? "")),
      verdict: "refused",
      note: "lookaround and backreferences are not supported",
    },
    patternQuote,
    {
      id: "patternAlternatives",
      keywords: "pattern",
      when: (at) => hasAlternatives(at.text("pattern") ?? ""),
      verdict: "wrong",
      note: "alternatives are not grouped: each of them has one quote only",
    },
    {
      id: "patternAnchor",
      keywords: "pattern",
      when: (at) => !isAnchored(at.text("pattern") ?? ""),
      verdict: "narrowed",
      note: "the whole string must match, and a single ^ or $ matches nothing",
    },
    {
      id: "formatSyntax",
      keywords: "format",
      when: (at) => ["date", "date-time", "time", "uri"].includes(at.text("format") ?? ""),
      verdict: "wrong",
      note: "every month has 31 days, the time zone may be missing, and other than Z is rejected; a URI is http, ftp or urn, of any characters",
    },
    {
      id: "formatCase",
      keywords: "format",
      when: (at) => ["email", "uuid"].includes(at.text("format") ?? ""),
      verdict: "narrowed",
      note: "lower case only, and e-mail addresses without a quoted local part",
    },
    {
      id: "propertyCount",
      keywords: "minProperties maxProperties",
      when: (at, keyword) => (at.number(keyword) ?? 0) > (keyword === "minProperties" ? 1 : 0),
      verdict: "dropped",
      note: "only “at least one” and “none” are enforced",
    },
    {
      id: "deepObject",
      keywords: "type",
      when: (at) =>
        at.allows("object") && decisive(at) === "type" && at.get("additionalProperties")?.kind !== "object",
      verdict: "narrowed",
      note: "values without a schema nest two levels deep",
    },
    {
      id: "deepArray",
      keywords: "type",
      when: (at) => at.allows("array") && decisive(at) === "type" && !at.has("items"),
      verdict: "narrowed",
      note: "values without a schema nest two levels deep",
    },
    integers,
    {
      id: "number",
      keywords: "type",
      when: (at) => at.types?.includes("number") === true,
      verdict: "narrowed",
      note: "an exponent needs a sign",
    },
    {
      id: "string",
      keywords: "type",
      when: (at) => at.types?.includes("string") === true,
      verdict: "narrowed",
      note: "strings have no \\u escapes and no control characters",
    },
    keyOrder,
  ],
}
