/**
 * Gemini's `responseJsonSchema`, from the reference of the API.
 *
 * The reference lists the keywords that are supported. The guide says that others may be ignored.
 */
import type { Position } from "../position.ts"
import type { LintSource, Table } from "../rules.ts"
import { noTarget, oneOfAsAnyOf } from "./common.ts"

const reference: LintSource = {
  name: "GenerationConfig.responseJsonSchema, 2026-10",
  url: "https://ai.google.dev/api/generate-content#FIELDS.response_json_schema",
}
const formats = new Set("date-time date time".split(" "))

/** Whether a value must contain another value of the same schema. */
function isNeeded(at: Position): boolean {
  if (!at.isRecursive) return false
  const id = at.target?.node.id
  for (let inner: Position = at; inner.parent !== null; inner = inner.parent) {
    const { parent, under } = inner
    if (under === "properties") {
      const names = new Map(parent.map("properties").map(([name, { node }]) => [node, name]))
      if (!parent.names("required").includes(names.get(inner.node) ?? "")) return false
    } else if (under !== "$ref" && under !== "allOf" && under !== "anyOf" && under !== "oneOf") return false
    if (parent.node.id === id) return true
  }
  return true
}

export const gemini: Table = {
  title: "Gemini responseJsonSchema",
  source: reference,
  readsBesideRef: true,
  rules: [
    {
      id: "besideRef",
      keywords: "$ref",
      when: (at) => [...at.members.keys()].some((keyword) => !keyword.startsWith("$")),
      verdict: "refused",
      note: "no other keyword may stand beside $ref, but those that begin with $",
    },
    {
      id: "recursion",
      keywords: "$ref",
      when: isNeeded,
      verdict: "refused",
      note: "cyclic references may be used in properties that are not required only",
    },
    {
      id: "unrolled",
      keywords: "$ref",
      when: (at) => at.isRecursive,
      verdict: "narrowed",
      note: "cyclic references are unrolled to a limited degree",
    },
    noTarget,
    oneOfAsAnyOf,
    {
      id: "enum",
      keywords: "enum",
      when: (at) => at.items("enum").some(({ kind }) => kind !== "string" && kind !== "number"),
      verdict: "dropped",
      note: "supported for strings and numbers",
    },
    {
      id: "tuple",
      keywords: "items",
      when: (at) => at.get("items")?.kind === "array",
      verdict: "dropped",
      note: "a list of schemas is written as prefixItems",
    },
    {
      id: "format",
      keywords: "format",
      when: (at) => !formats.has(at.text("format") ?? ""),
      verdict: "dropped",
      note: `only the formats ${[...formats].join(", ")}`,
      source: {
        name: "Structured outputs guide, 2026-10",
        url: "https://ai.google.dev/gemini-api/docs/structured-output#json_schema_support",
      },
    },
    {
      id: "unlisted",
      keywords:
        "const allOf not if then else pattern minLength maxLength exclusiveMinimum exclusiveMaximum multipleOf patternProperties propertyNames minProperties maxProperties unevaluatedProperties dependencies dependentRequired dependentSchemas additionalItems unevaluatedItems contains minContains maxContains uniqueItems $dynamicRef $recursiveRef",
      verdict: "dropped",
      note: "not among the supported keywords",
    },
    {
      id: "order",
      keywords: "properties",
      when: (at) => at.names("properties").length > 1,
      once: true,
      verdict: "narrowed",
      note: "keys are written in the order of the schema, or of propertyOrdering",
    },
  ],
}
