/** Constraints that the page and Node compare by brute force: one or more for each front end and keyword family. */
import { choices, regexes } from "../support/oracle/languages.ts"
import { choiceCase, type JsonCaseOptions, jsonCase, type OracleCase, regexCase } from "../support/oracle.ts"

const objects: JsonCaseOptions = {
  bound: 9,
  alphabet: { digits: "1", fractions: false, names: ["a", "b"] },
  depth: 7,
}
const escapes: JsonCaseOptions = { alphabet: { characters: ["a", "\\u0061", "\\n"] }, bound: 8, depth: 4 }

const schemas: [schema: unknown, more?: JsonCaseOptions][] = [
  [true, { bound: 5 }],
  [{ type: "boolean" }],
  [{ type: "integer" }],
  [{ type: "number", minimum: 0.5, exclusiveMaximum: 12 }],
  [
    { type: "number", exclusiveMinimum: -2, maximum: 10 },
    { alphabet: { exponents: true }, bound: 5 },
  ],
  [{ type: "number", multipleOf: 0.5 }],
  [{ type: "integer", not: { multipleOf: 2 } }],
  [{ type: "string" }, escapes],
  [{ type: "string", minLength: 1, maxLength: 3 }, escapes],
  [{ type: "string", pattern: "^a*b$" }],
  [{ type: "string", pattern: "^(ab)*$", minLength: 3 }],
  [{ type: "string", not: { pattern: "b" } }],
  [{ enum: ["a", "ab", 1, 12, -1, true, null] }],
  [{ enum: [[1], [1, 2], { a: 1 }, {}] }],
  [{ type: "object", required: ["a"] }, objects],
  [{ type: "object", properties: { a: { type: "integer" }, b: {} }, additionalProperties: false }, objects],
  [{ type: "object", patternProperties: { "^a": { type: "integer" }, b: { minimum: 1 } } }, objects],
  [{ type: "object", propertyNames: { maxLength: 1 }, maxProperties: 1 }, objects],
  [{ type: "object", dependentRequired: { a: ["b"] } }, objects],
  [{ type: "object", allOf: [{ properties: { a: { const: 1 } } }], unevaluatedProperties: false }, objects],
  [{ type: "array", items: { type: "integer" }, maxItems: 2 }],
  [{ type: "array", prefixItems: [{ const: 1 }], items: { const: 2 } }],
  [{ type: "array", contains: { const: 1 }, maxContains: 1 }],
  [{ type: "array", uniqueItems: true, items: { enum: [0, 1, 2] } }],
  [{ type: "array", not: { items: { type: "integer" } } }],
  [{ anyOf: [{ type: "integer" }, { type: "string", maxLength: 1 }] }],
  [{ oneOf: [{ type: "integer" }, { minimum: 2 }] }],
  [{ not: { type: ["object", "array", "number"] } }],
  [{ if: { type: "integer" }, else: { type: "null" } }],
  [{ $defs: { n: { type: "array", items: { $ref: "#/$defs/n" } } }, $ref: "#/$defs/n" }],
]

/** Made anew at each call: the texts of a row are enumerated when it is made. */
export function browserRows(): OracleCase[] {
  return [
    ...schemas.map(([schema, more]) => jsonCase(JSON.stringify(schema), schema, more)),
    // The empty pattern has no prefix to be wrong about.
    ...regexes
      .filter(([pattern]) => pattern !== "")
      .map(([pattern, alphabet, flags]) => regexCase(pattern, { alphabet, flags })),
    ...choices.map((options) => choiceCase(options)),
  ]
}
