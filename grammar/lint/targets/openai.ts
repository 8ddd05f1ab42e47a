/**
 * OpenAI's Structured Outputs with `strict: true`, from their published guide.
 *
 * The guide lists what is supported, and some of what is not. Whatever it does not list is refused
 * here, because the service answers an unknown constraint with status 400.
 */
import type { Position } from "../position.ts"
import type { LintSource, Table } from "../rules.ts"
import { closed, isObject, listedItems, open } from "./common.ts"

const guide: LintSource = {
  name: "Structured Outputs guide, 2026-02",
  url: "https://platform.openai.com/docs/guides/structured-outputs#supported-schemas",
}
const formats = new Set("date-time time date duration email hostname ipv4 ipv6 uuid".split(" "))

/** The number of objects around a schema, itself included. */
function objectDepth(at: Position): number {
  let depth = 0
  for (let outer: Position | null = at; outer !== null; outer = outer.parent) if (isObject(outer)) depth++
  return depth
}

function lengthOf(names: readonly string[]): number {
  return names.reduce((sum, name) => sum + [...name].length, 0)
}

export const openai: Table = {
  title: "OpenAI Structured Outputs (strict)",
  source: guide,
  readsBesideRef: true,
  rules: [
    {
      id: "root",
      keywords: "type",
      missing: true,
      when: (at) => at.parent === null && !isObject(at) && !at.hasAny("anyOf", "$ref"),
      verdict: "refused",
      note: "the root must be an object",
    },
    {
      id: "rootType",
      keywords: "type",
      when: (at) => at.parent === null && !isObject(at),
      verdict: "refused",
      note: "the root must be an object",
    },
    {
      id: "rootUnion",
      keywords: "anyOf",
      when: (at) => at.parent === null,
      verdict: "refused",
      note: "the root must not be anyOf",
    },
    closed,
    open,
    {
      id: "optional",
      keywords: "properties",
      when: (at) => {
        const required = new Set(at.names("required"))
        return at.names("properties").some((name) => !required.has(name))
      },
      verdict: "refused",
      note: "every property must be in required. Write an optional one as a union with null",
    },
    {
      id: "composition",
      keywords: "allOf not if then else dependentRequired dependentSchemas",
      verdict: "refused",
      note: "not supported",
    },
    {
      id: "oneOf",
      keywords: "oneOf",
      verdict: "refused",
      note: "not permitted. Write anyOf if no value satisfies two branches",
      source: {
        name: "can1357/oh-my-pi#920, 2026-05",
        url: "https://github.com/can1357/oh-my-pi/issues/920",
      },
    },
    {
      id: "unlisted",
      keywords:
        "patternProperties propertyNames minProperties maxProperties unevaluatedProperties dependencies prefixItems additionalItems unevaluatedItems contains minContains maxContains uniqueItems minLength maxLength $dynamicRef $recursiveRef",
      verdict: "refused",
      note: "not among the supported keywords",
    },
    listedItems,
    {
      id: "format",
      keywords: "format",
      when: (at) => !formats.has(at.text("format") ?? ""),
      verdict: "refused",
      note: `only the formats ${[...formats].join(", ")}`,
    },
    {
      id: "reference",
      keywords: "$ref",
      when: (at) => at.target === null || !(at.text("$ref") ?? "").startsWith("#"),
      verdict: "refused",
      note: "only references into the schema itself",
    },
    {
      id: "depth",
      keywords: "properties",
      when: (at) => objectDepth(at) > 10,
      verdict: "refused",
      note: "objects nest at most 10 levels deep",
    },
    {
      id: "longEnum",
      keywords: "enum",
      when: (at) => at.items("enum").length > 250 && lengthOf(at.names("enum")) > 15_000,
      verdict: "refused",
      note: "the strings of an enum with more than 250 values have at most 15,000 characters together",
    },
    {
      id: "order",
      keywords: "properties",
      when: (at) => at.names("properties").length > 1,
      once: true,
      verdict: "narrowed",
      note: "keys are written in the order of the schema",
    },
  ],
  totals: [
    {
      id: "properties",
      keyword: "properties",
      bound: 5_000,
      measure: (at) => at.names("properties").length,
      note: "a schema has at most 5,000 properties",
    },
    {
      id: "enumValues",
      keyword: "enum",
      bound: 1_000,
      measure: (at) => at.items("enum").length,
      note: "a schema has at most 1,000 enum values",
    },
    {
      id: "characters",
      keyword: "properties",
      bound: 120_000,
      measure: (at) =>
        ["properties", "$defs", "enum"].reduce((sum, name) => sum + lengthOf(at.names(name)), 0),
      note: "names of properties and definitions, enum and const values have at most 120,000 characters together",
    },
  ],
}
