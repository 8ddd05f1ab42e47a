/**
 * llguidance 1.9.1, measured through its Python package.
 *
 * It refuses what it cannot enforce and drops nothing. It knows which keywords a draft has, and
 * ignores others. Source of the facts: the package itself, asked by `test/lint/`.
 */
import type { JsonNode } from "../../json/read/reader.ts"
import { anyOverlap, hasBackreference, hasInnerAnchor, hasLookaround, hasWordBoundary } from "../patterns.ts"
import type { Position } from "../position.ts"
import type { Table } from "../rules.ts"
import { areDisjoint } from "../shapes.ts"
import { integers, keyOrder, noTarget } from "./common.ts"

const formats = new Set("date-time time date duration email hostname ipv4 ipv6 uuid uri unknown".split(" "))

/** Whether the bounds on the number of properties are a case that llguidance can enforce. */
function countsProperties(at: Position): boolean {
  const declared = at.names("properties")
  const required = new Set(at.names("required"))
  const optional = declared.filter((name) => !required.has(name)).length
  const least = Math.max(0, (at.number("minProperties") ?? 0) - required.size)
  const most = at.number("maxProperties")
  if (optional === 0 || (least === 0 && most === null)) return true
  const rest = most === null ? 1 : Math.max(0, most - required.size)
  const isClosed = at.get("additionalProperties")?.kind === "false" && !at.has("patternProperties")
  return isClosed && least <= 1 && rest === 1
}

/** Whether two of the patterns of `patternProperties` match the same name. */
function patternsOverlap(at: Position): boolean {
  return anyOverlap(at.names("patternProperties"), at.graph) ?? false
}

function isForeign(pattern: string): boolean {
  return [hasLookaround, hasBackreference, hasInnerAnchor, hasWordBoundary].some((has) => has(pattern))
}

/**
 * Whether a reference leads back to a schema that is not finished, and other keywords stand beside
 * it.
 */
function isKnotted(at: Position): boolean {
  if (!at.isRecursive) return false
  const beside = [...at.members.keys()].some(
    (keyword) => keyword !== "$ref" && at.known(keyword)?.role !== "annotation",
  )
  return beside || (at.under === "allOf" && at.parent !== null && at.parent.items("allOf").length > 1)
}

/** Whether a required key is one that the schema forbids. */
function needsForbidden(at: Position): boolean {
  if (at.get("additionalProperties")?.kind !== "false" || at.has("patternProperties")) return false
  const declared = new Set(at.names("properties"))
  const isNeeded = at.under === "" || at.under === "$ref"
  return isNeeded && at.names("required").some((name) => !declared.has(name))
}

/** Whether a whole number has no exact double. */
function isRounded(value: JsonNode | undefined): boolean {
  if (value?.kind !== "number" || !/^-?[0-9]+$/.test(value.text)) return false
  const double = Number(value.text)
  return !Number.isFinite(double) || BigInt(value.text) !== BigInt(double)
}

export const llguidance: Table = {
  title: "llguidance",
  source: { name: "llguidance 1.9.1", url: "https://github.com/guidance-ai/llguidance" },
  readsBesideRef: true,
  rules: [
    {
      id: "keyword",
      keywords:
        "not if then else contains minContains maxContains uniqueItems propertyNames dependencies dependentRequired dependentSchemas unevaluatedProperties unevaluatedItems $dynamicRef $recursiveRef",
      verdict: "refused",
      note: "not implemented",
    },
    {
      id: "format",
      keywords: "format",
      when: (at) => !formats.has(at.text("format") ?? ""),
      verdict: "refused",
      note: "unknown format",
    },
    {
      id: "calendar",
      keywords: "format",
      when: (at) => ["date", "date-time", "time", "hostname"].includes(at.text("format") ?? ""),
      verdict: "wrong",
      note: "29 February exists in every year, a second 60 in every minute, and host names may be longer than 253 characters",
    },
    {
      id: "address",
      keywords: "format",
      when: (at) => ["email", "ipv6"].includes(at.text("format") ?? ""),
      verdict: "narrowed",
      note: "e-mail addresses with a quoted local part, and some mixed IPv6 addresses, are rejected",
    },
    {
      id: "oneOf",
      keywords: "oneOf",
      when: (at) => !areDisjoint(at, "oneOf", "llguidance"),
      verdict: "refused",
      note: "two branches are not disjoint by their types, constants or required properties",
    },
    {
      id: "propertyCount",
      keywords: "minProperties maxProperties",
      when: (at) => !countsProperties(at),
      verdict: "refused",
      note: "enforced only if every property is required, or as “at least one” and “at most one” of a closed object",
    },
    noTarget,
    {
      id: "circular",
      keywords: "$ref",
      when: isKnotted,
      verdict: "refused",
      note: "a reference back to a schema around it, with other keywords beside it",
    },
    {
      id: "pattern",
      keywords: "pattern",
      when: (at) => isForeign(at.text("pattern") ?? ""),
      verdict: "refused",
      note: "lookaround, backreferences, `\\b`, and anchors inside the pattern are not supported",
    },
    {
      id: "patternNames",
      keywords: "patternProperties",
      when: (at) => at.names("patternProperties").some(isForeign),
      verdict: "refused",
      note: "lookaround, backreferences, `\\b`, and anchors inside the pattern are not supported",
    },
    {
      id: "patternOverlap",
      keywords: "patternProperties",
      when: patternsOverlap,
      verdict: "refused",
      note: "two patterns match the same name",
    },
    {
      id: "required",
      keywords: "required",
      when: needsForbidden,
      verdict: "refused",
      note: "a required key is not declared, and additionalProperties is false: no value satisfies the schema",
    },
    {
      id: "large",
      keywords: "const enum minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
      when: (at, keyword) => [...at.items(keyword), at.get(keyword)].some(isRounded),
      verdict: "wrong",
      note: "numbers are rounded to double precision",
    },
    integers,
    keyOrder,
  ],
}
