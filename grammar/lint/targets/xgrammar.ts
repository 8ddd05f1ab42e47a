/**
 * XGrammar 0.2.8, measured through its Python package with `any_whitespace=True` and
 * `strict_mode=False`.
 *
 * It looks for these keywords in this order: `$ref`, `const`, `enum`, `anyOf`, `oneOf`, `allOf`,
 * `type`. It reads the first that a schema has, and ignores the others. If a schema has none of
 * them, its keywords of objects or arrays show what it is about.
 */

import type { JsonNode } from "../../json/read/reader.ts"
import { hasInnerAnchor, hasLookaround, isAnchored } from "../patterns.ts"
import type { Position } from "../position.ts"
import type { Table } from "../rules.ts"
import { besideConstant, hasContainer } from "./beside.ts"
import { integers, keyOrder, oneOfAsAnyOf, undeclared } from "./common.ts"

const order = ["$ref", "const", "enum", "anyOf", "oneOf", "allOf"]
const formats = new Set(
  "email date time date-time duration ipv4 ipv6 hostname uuid uri uri-reference uri-template json-pointer relative-json-pointer".split(
    " ",
  ),
)
const ofObjects = [
  ...["properties", "required", "patternProperties", "propertyNames", "additionalProperties"],
  ...["unevaluatedProperties", "minProperties", "maxProperties"],
]
const ofArrays = ["items", "prefixItems", "unevaluatedItems", "minItems", "maxItems"]
const ofNumbers = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]

/** The keywords that XGrammar looks at. */
function read(at: Position): readonly string[] {
  const first = order.find((keyword) => at.has(keyword))
  if (first !== undefined) return [first]
  if (at.types !== null) return ["type", ...at.types.flatMap((type) => ofType(at, type))]
  if (at.under === "propertyNames") return ofType(at, "string")
  if (at.hasAny("properties", "additionalProperties", "unevaluatedProperties")) return ofObjects
  return at.hasAny("items", "prefixItems", "unevaluatedItems") ? ofArrays : []
}

function ofType(at: Position, type: string): readonly string[] {
  switch (type) {
    case "object":
      return ofObjects
    case "array":
      return ofArrays
    case "string":
      if (formats.has(at.text("format") ?? "")) return ["format"]
      return at.has("pattern") ? ["pattern"] : ["minLength", "maxLength"]
    case "integer":
    case "number":
      return ofNumbers
    default:
      return []
  }
}

function isFalse(at: Position, keyword: string): boolean {
  const value = at.get(keyword)
  if (value === undefined) return false
  const values =
    value.kind === "array" ? value.items : value.kind === "object" ? [...value.members.values()] : [value]
  return values.some(({ kind }) => kind === "false")
}

function isPlainPointer(at: Position): boolean {
  const text = at.text("$ref") ?? ""
  return text === "#" || (text.startsWith("#/") && at.target !== null && !/[~%]/.test(text))
}

function isRemote(at: Position): boolean {
  const text = at.text("$ref") ?? ""
  return text !== "#" && !text.startsWith("#/")
}

function isFractional(at: Position, keyword: string): boolean {
  return !Number.isInteger(at.number(keyword) ?? 0)
}

/** Whether a whole number does not fit in 64 bits. */
function isLarge(value: JsonNode | undefined): boolean {
  if (value?.kind !== "number" || !/^-?[0-9]+$/.test(value.text)) return false
  const number = BigInt(value.text)
  return number !== BigInt.asIntN(64, number)
}

export const xgrammar: Table = {
  title: "XGrammar",
  source: { name: "xgrammar 0.2.8", url: "https://github.com/mlc-ai/xgrammar" },
  readsBesideRef: false,
  rules: [
    {
      id: "false",
      keywords: "properties patternProperties anyOf oneOf allOf prefixItems",
      when: (at, keyword) => read(at).includes(keyword) && isFalse(at, keyword),
      verdict: "refused",
      note: "false is not read as a schema here",
    },
    {
      id: "tuple",
      keywords: "items",
      when: (at) => read(at).includes("items") && at.get("items")?.kind === "array",
      verdict: "refused",
      note: "a list of schemas in items is not read",
    },
    {
      id: "true",
      keywords: "prefixItems",
      when: (at) =>
        read(at).includes("prefixItems") && at.items("prefixItems").some(({ kind }) => kind !== "object"),
      verdict: "refused",
      note: "true is not read as a schema here",
    },
    {
      id: "bound",
      keywords: "exclusiveMinimum exclusiveMaximum",
      when: (at, keyword) => read(at).includes(keyword) && at.get(keyword)?.kind !== "number",
      verdict: "refused",
      note: "must be a number",
    },
    {
      id: "fraction",
      keywords: "minimum maximum exclusiveMinimum exclusiveMaximum",
      when: (at, keyword) =>
        read(at).includes(keyword) && at.types?.includes("integer") === true && isFractional(at, keyword),
      verdict: "refused",
      note: "a bound of an integer must be a whole number",
    },
    {
      id: "large",
      keywords: "minimum maximum exclusiveMinimum exclusiveMaximum",
      when: (at, keyword) =>
        read(at).includes(keyword) && at.types?.includes("integer") === true && isLarge(at.get(keyword)),
      verdict: "refused",
      note: "a bound of an integer must fit in 64 bits",
    },
    {
      id: "empty",
      keywords: "enum",
      when: (at) => read(at).includes("enum") && at.items("enum").length === 0,
      verdict: "refused",
      note: "an empty list",
    },
    {
      id: "remote",
      keywords: "$ref",
      when: isRemote,
      verdict: "dropped",
      note: "anything is accepted: only # and `#/…` are resolved",
    },
    {
      id: "reference",
      keywords: "$ref",
      when: (at) => !isPlainPointer(at),
      verdict: "refused",
      note: "only pointers into the document, `#/…` without ~, % and list indices",
    },
    {
      id: "compact",
      keywords: "enum const",
      when: (at, keyword) => read(at).includes(keyword) && hasContainer(at),
      verdict: "narrowed",
      note: "arrays and objects are written without spaces, with their keys in the order of the schema",
    },
    {
      id: "besideConstant",
      keywords: "*",
      when: (at, keyword) =>
        !read(at).includes(keyword) && at.hasAny("enum", "const") && !at.has("$ref") && besideConstant(at),
      verdict: "dropped",
      note: "ignored beside enum and const",
    },
    {
      id: "beside",
      keywords: "*",
      when: (at, keyword) => !read(at).includes(keyword) && (at.has("$ref") || !at.hasAny("enum", "const")),
      verdict: "dropped",
      note: "ignored here",
    },
    {
      id: "allOf",
      keywords: "allOf",
      when: (at) => at.items("allOf").length > 1,
      verdict: "dropped",
      note: "with more than one branch, anything is accepted",
    },
    oneOfAsAnyOf,
    {
      id: "untyped",
      keywords: "properties patternProperties additionalProperties items prefixItems",
      when: (at) => at.types === null,
      verdict: "narrowed",
      note: "without type, values of other types are rejected",
    },
    undeclared,
    {
      id: "patternRest",
      keywords: "patternProperties",
      when: (at) => !at.has("properties") && at.get("additionalProperties")?.kind !== "false",
      verdict: "narrowed",
      note: "without properties, names that match no pattern are rejected",
    },
    {
      id: "patternNames",
      keywords: "patternProperties",
      when: (at) =>
        at.names("patternProperties").some((pattern) => !isAnchored(pattern) || hasInnerAnchor(pattern)),
      verdict: "narrowed",
      note: "the whole name must match",
    },
    {
      id: "patternOverlap",
      keywords: "patternProperties",
      when: (at) => at.has("properties") || at.names("patternProperties").length > 1,
      verdict: "wrong",
      note: "a name that matches is also taken as a declared or an additional one, with the schema of that",
    },
    {
      id: "names",
      keywords: "propertyNames",
      when: (at) => at.hasAny("properties", "patternProperties"),
      verdict: "wrong",
      note: "declared names and those of patternProperties are not tested",
    },
    {
      id: "numberMultiple",
      keywords: "multipleOf",
      when: (at) => at.types?.includes("number") === true,
      verdict: "dropped",
      note: "enforced for integers only",
    },
    {
      id: "integerMultiple",
      keywords: "multipleOf",
      when: (at) =>
        isFractional(at, "multipleOf") ||
        at.hasAny("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
      verdict: "dropped",
      note: "ignored if it is no whole number, and beside bounds that do not enclose a small range",
    },
    {
      id: "numberBounds",
      keywords: "minimum maximum exclusiveMinimum exclusiveMaximum",
      when: (at) => at.types?.includes("number") === true,
      verdict: "narrowed",
      note: "with bounds, numbers have at most six decimals and no exponent",
    },
    integers,
    {
      id: "patternSyntax",
      keywords: "pattern",
      when: (at) => hasLookaround(at.text("pattern") ?? ""),
      verdict: "wrong",
      note: "lookaround is ignored",
    },
    {
      id: "patternAnchor",
      keywords: "pattern",
      when: (at) => !isAnchored(at.text("pattern") ?? "") || hasInnerAnchor(at.text("pattern") ?? ""),
      verdict: "narrowed",
      note: "the whole string must match",
    },
    {
      id: "lengths",
      keywords: "minLength maxLength",
      verdict: "narrowed",
      note: "with a bound, strings have no escapes",
    },
    {
      id: "format",
      keywords: "format",
      when: (at) => ["date", "date-time", "time", "hostname", "ipv6"].includes(at.text("format") ?? ""),
      verdict: "wrong",
      note: "every month has 31 days, every minute a second 60; labels and host names have any length; IPv4 in IPv6 may have leading zeros",
    },
    {
      id: "address",
      keywords: "format",
      when: (at) => ["email", "uri", "uri-reference", "uri-template"].includes(at.text("format") ?? ""),
      verdict: "narrowed",
      note: "address literals in brackets, and some other valid addresses, are rejected",
    },
    keyOrder,
  ],
}
