/**
 * Anthropic's structured outputs (`output_config.format`, `strict` tools), from their published
 * documentation.
 *
 * The documentation lists what is supported, and says that another feature gets status 400.
 */
import { hasBackreference, hasLookaround, hasWordBoundary } from "../patterns.ts"
import type { Position } from "../position.ts"
import type { LintSource, Table } from "../rules.ts"
import { closed, listedItems, open } from "./common.ts"

const page: LintSource = {
  name: "Structured outputs, JSON Schema limitations, 2026-03",
  url: "https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations",
}
const formats = new Set("date-time time date duration email hostname uri ipv4 ipv6 uuid".split(" "))

/** The number of properties that may be left out. */
function optionals(at: Position): number {
  const required = new Set(at.names("required"))
  return at.names("properties").filter((name) => !required.has(name)).length
}

export const anthropic: Table = {
  title: "Anthropic structured outputs",
  source: page,
  readsBesideRef: true,
  rules: [
    closed,
    open,
    {
      id: "numbers",
      keywords: "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
      verdict: "refused",
      note: "numerical constraints are not supported",
    },
    {
      id: "lengths",
      keywords: "minLength maxLength",
      verdict: "refused",
      note: "string constraints are not supported",
    },
    {
      id: "minItems",
      keywords: "minItems",
      when: (at) => (at.number("minItems") ?? 0) > 1,
      verdict: "refused",
      note: "only 0 and 1 are supported",
    },
    {
      id: "arrays",
      keywords:
        "maxItems uniqueItems contains minContains maxContains unevaluatedItems additionalItems prefixItems",
      verdict: "refused",
      note: "array constraints other than minItems are not supported",
    },
    listedItems,
    {
      id: "unlisted",
      keywords:
        "oneOf not if then else patternProperties propertyNames minProperties maxProperties unevaluatedProperties dependencies dependentRequired dependentSchemas $dynamicRef $recursiveRef",
      verdict: "refused",
      note: "not among the supported keywords",
    },
    {
      id: "allOfRef",
      keywords: "allOf",
      when: (at) => at.list("allOf").some((branch) => branch.has("$ref")),
      verdict: "refused",
      note: "allOf with $ref is not supported",
    },
    {
      id: "enum",
      keywords: "enum",
      when: (at) => at.items("enum").some(({ kind }) => kind === "array" || kind === "object"),
      verdict: "refused",
      note: "only strings, numbers, booleans and null",
    },
    {
      id: "recursion",
      keywords: "$ref",
      when: (at) => at.isRecursive,
      verdict: "refused",
      note: "recursive schemas are not supported",
    },
    {
      id: "reference",
      keywords: "$ref",
      when: (at) => at.target === null || !(at.text("$ref") ?? "").startsWith("#"),
      verdict: "refused",
      note: "external references are not supported",
    },
    {
      id: "format",
      keywords: "format",
      when: (at) => !formats.has(at.text("format") ?? ""),
      verdict: "refused",
      note: `only the formats ${[...formats].join(", ")}`,
    },
    {
      id: "pattern",
      keywords: "pattern",
      when: (at) =>
        [hasLookaround, hasBackreference, hasWordBoundary].some((has) => has(at.text("pattern") ?? "")),
      verdict: "refused",
      note: "lookaround, backreferences and word boundaries are not supported",
    },
    {
      id: "order",
      keywords: "properties",
      when: (at) => at.names("properties").length > 1,
      once: true,
      verdict: "narrowed",
      note: "required properties are written first, then the others, each in the order of the schema",
    },
  ],
  totals: [
    {
      id: "optional",
      keyword: "properties",
      bound: 24,
      measure: optionals,
      note: "at most 24 properties of a request may be optional",
    },
    {
      id: "unions",
      keyword: "anyOf",
      bound: 16,
      measure: (at) => (at.has("anyOf") || (at.types ?? []).length > 1 ? 1 : 0),
      note: "at most 16 schemas of a request may use anyOf or a list of types",
    },
  ],
}
