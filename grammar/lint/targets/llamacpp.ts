/**
 * llama.cpp's schema converter and its grammar engine, measured without a model.
 *
 * Its converter looks for these keywords in this order: `$ref`, `oneOf`, `anyOf`, `const`, `enum`,
 * then those of the type. It reads the first that a schema has, and ignores the others.
 */
import { hasAlternatives, hasInnerAnchor, isAnchored, llamaCannotRead } from "../patterns.ts"
import type { Position } from "../position.ts"
import type { Table } from "../rules.ts"
import { besideConstant, hasContainer } from "./beside.ts"
import { oneOfAsAnyOf, patternQuote, undeclared } from "./common.ts"

const formats = new Set("date time date-time uuid".split(" "))
const lists = ["items", "prefixItems", "minItems", "maxItems"]
const members = ["properties", "required", "additionalProperties"]
const MaxRepetition = 2_000

/** Whether the converter takes an object for an object with members. */
function hasMembers(at: Position): boolean {
  const others = at.get("additionalProperties")
  return at.has("properties") || (others !== undefined && others.kind !== "true")
}

/** The keywords that the converter looks at. */
function read(at: Position): readonly string[] {
  const first = ["$ref", "oneOf", "anyOf"].find((keyword) => at.has(keyword))
  if (first !== undefined) return [first]
  if (at.has("const")) return ["const"]
  if (at.has("enum")) return ["enum"]
  const types = at.types ?? [untyped(at)]
  return ["type", ...types.flatMap((type) => ofType(at, type))]
}

/** The type that the converter assumes without `type`. */
function untyped(at: Position): string {
  if (hasMembers(at)) return "object"
  if (at.has("allOf")) return "allOf"
  if (at.hasAny("items", "prefixItems")) return "array"
  const isText = at.hasAny("pattern", "minLength", "maxLength") || formats.has(at.text("format") ?? "")
  return isText ? "string" : "any"
}

function ofType(at: Position, type: string): readonly string[] {
  switch (type) {
    case "allOf":
      return ["allOf"]
    case "object":
      return !hasMembers(at) && at.has("allOf") ? ["allOf"] : members
    case "string":
      if (at.has("allOf")) return ["allOf"]
      if (at.has("pattern")) return ["pattern"]
      return formats.has(at.text("format") ?? "") ? ["format"] : ["minLength", "maxLength"]
    case "array": {
      const key = at.has("items") ? "items" : "prefixItems"
      return at.get(key)?.kind === "array" ? [key] : lists
    }
    case "integer":
      return ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]
    default:
      return []
  }
}

/** Whether a keyword holds `true` or `false` where the converter wants an object. */
function hasBoolean(at: Position, keyword: string): boolean {
  const value = at.get(keyword)
  if (value === undefined) return false
  const isBoolean = ({ kind }: { kind: string }) => kind === "true" || kind === "false"
  if (value.kind === "object" && (keyword === "properties" || keyword === "patternProperties"))
    return [...value.members.values()].some(isBoolean)
  if (value.kind === "array") return value.items.some(isBoolean)
  return isBoolean(value) && keyword !== "additionalProperties"
}

/** Whether the converter finds the target: it knows plain pointers into the document only. */
function isPlainPointer(at: Position): boolean {
  const text = at.text("$ref") ?? ""
  return at.target !== null && text.startsWith("#/") && !/[~%]/.test(text)
}

/** Whether a branch of `allOf` contains itself with no reference outside of `allOf` on the way. */
function isEndless(at: Position): boolean {
  if (at.under !== "allOf" || !at.isRecursive) return false
  const id = at.target?.node.id
  for (let inner: Position = at; inner.node.id !== id && inner.parent !== null; inner = inner.parent)
    if (inner.under === "$ref" && inner.parent.under !== "allOf") return false
  return true
}

function isWholeBound(at: Position, keyword: string): boolean {
  return at.get(keyword)?.kind === "number"
}

export const llamacpp: Table = {
  title: "llama.cpp",
  source: {
    name: "llama.cpp 0c1e57098, in llama-cpp-python 0.3.36",
    url: "https://github.com/ggml-org/llama.cpp",
  },
  readsBesideRef: false,
  rules: [
    {
      id: "boolean",
      keywords: "properties items prefixItems oneOf anyOf allOf",
      when: (at, keyword) => read(at).includes(keyword) && hasBoolean(at, keyword),
      verdict: "refused",
      note: "true and false are not read as schemas",
    },
    {
      id: "reference",
      keywords: "$ref",
      when: (at) => !isPlainPointer(at),
      verdict: "refused",
      note: "only pointers into the document, `#/…` without ~ and %",
    },
    {
      id: "crash",
      keywords: "$ref",
      when: isEndless,
      verdict: "refused",
      note: "the process ends: the properties of a branch are written out within themselves without end",
    },
    {
      id: "digits",
      keywords: "minimum exclusiveMinimum",
      when: (at, keyword) => read(at).includes(keyword) && (at.number(keyword) ?? 0) >= 1e16,
      verdict: "refused",
      note: "the conversion of a lower bound with more than 16 digits does not end",
    },
    {
      id: "empty",
      keywords: "enum oneOf anyOf allOf",
      when: (at, keyword) => read(at).includes(keyword) && at.items(keyword).length === 0,
      verdict: "refused",
      note: "an empty list",
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
      when: (at, keyword) => !read(at).includes(keyword) && besideConstant(at),
      verdict: "dropped",
      note: "ignored beside enum and const",
    },
    {
      id: "beside",
      keywords: "*",
      when: (at, keyword) =>
        !read(at).includes(keyword) && at.hasAny("$ref", "oneOf", "anyOf") && keyword !== "type",
      verdict: "dropped",
      note: "ignored beside $ref, oneOf and anyOf",
    },
    {
      id: "besideType",
      keywords: "type",
      when: (at) => at.hasAny("$ref", "oneOf", "anyOf"),
      verdict: "dropped",
      note: "ignored beside $ref, oneOf and anyOf",
    },
    {
      id: "patterns",
      keywords: "patternProperties",
      when: (at) => read(at).includes("properties") && hasMembers(at),
      ends: true,
      verdict: "wrong",
      note: "ignored: names that match are rejected, or read as additional ones",
    },
    {
      id: "unread",
      keywords: "*",
      when: (at, keyword) => !at.hasAny("enum", "const") && !read(at).includes(keyword),
      verdict: "dropped",
      note: "ignored here",
    },
    oneOfAsAnyOf,
    {
      id: "allOf",
      keywords: "allOf",
      verdict: "wrong",
      note: "the properties of the branches become one closed object and are all required; other keywords of the branches are ignored",
    },
    {
      id: "untyped",
      keywords: "properties additionalProperties items prefixItems pattern minLength maxLength format",
      when: (at) => at.types === null,
      verdict: "narrowed",
      note: "without type, values of other types are rejected",
    },
    {
      id: "closed",
      keywords: "properties",
      when: (at) => !at.has("additionalProperties"),
      verdict: "narrowed",
      note: "without additionalProperties, other keys are rejected",
    },
    undeclared,
    {
      id: "tuple",
      keywords: "items prefixItems",
      when: (at, keyword) => at.get(keyword)?.kind === "array",
      verdict: "narrowed",
      note: "exactly the listed items, not fewer and not more",
    },
    {
      id: "exclusive",
      keywords: "exclusiveMinimum exclusiveMaximum",
      when: (at, keyword) => at.has(keyword === "exclusiveMinimum" ? "minimum" : "maximum"),
      verdict: "dropped",
      note: "ignored beside minimum or maximum",
    },
    {
      id: "exclusiveType",
      keywords: "exclusiveMinimum exclusiveMaximum",
      when: (at, keyword) => !isWholeBound(at, keyword),
      verdict: "refused",
      note: "must be a number",
    },
    {
      id: "numberBounds",
      keywords: "minimum maximum exclusiveMinimum exclusiveMaximum",
      when: (at) => at.types?.includes("number") === true,
      verdict: "dropped",
      note: "enforced for integers only",
    },
    {
      id: "integer",
      keywords: "type",
      when: (at) => at.types?.includes("integer") === true,
      verdict: "narrowed",
      note: "integers have at most 16 digits and no fraction or exponent",
    },
    {
      id: "number",
      keywords: "type",
      when: (at) => at.types?.includes("number") === true,
      verdict: "narrowed",
      note: "numbers have at most 16 digits before and 16 after the point",
    },
    {
      id: "patternSyntax",
      keywords: "pattern",
      when: (at) => !isAnchored(at.text("pattern") ?? "") || llamaCannotRead(at.text("pattern") ?? ""),
      verdict: "dropped",
      note: "any string is accepted: only ^…$ with literals, classes, groups and counts is converted, without escapes such as \\d, \\w, \\s",
    },
    {
      id: "patternAlternatives",
      keywords: "pattern",
      when: (at) => hasAlternatives(at.text("pattern") ?? "") || hasInnerAnchor(at.text("pattern") ?? ""),
      verdict: "wrong",
      note: "^ and $ are taken as the ends of all alternatives",
    },
    patternQuote,
    {
      id: "format",
      keywords: "format",
      when: (at) => ["date", "date-time"].includes(at.text("format") ?? ""),
      verdict: "wrong",
      note: "every month has 31 days",
    },
    {
      id: "time",
      keywords: "format",
      when: (at) => ["time", "date-time"].includes(at.text("format") ?? ""),
      verdict: "narrowed",
      note: "a fraction of a second has three digits, and there is no second 60",
    },
    {
      id: "minimum",
      keywords: "minLength minItems",
      when: (at, keyword) => (at.number(keyword) ?? 0) > MaxRepetition + (keyword === "minItems" ? 1 : 0),
      verdict: "refused",
      note: "the grammar engine repeats at most 2,000 times",
    },
    {
      id: "maximum",
      keywords: "maxLength maxItems",
      when: (at, keyword) => (at.number(keyword) ?? 0) > MaxRepetition + (keyword === "maxItems" ? 1 : 0),
      verdict: "dropped",
      note: "more than 2,000 repetitions are taken as unbounded",
    },
    {
      id: "order",
      keywords: "properties",
      when: (at) => at.names("properties").length > 1,
      once: true,
      verdict: "narrowed",
      note: "required keys come first, then the others, each in the order of the schema",
    },
  ],
}
