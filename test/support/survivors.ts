/** Constraints of all kinds with a text of each: what has to survive an error in the middle of any other. */
import type { CompileOptions, GrammarInput } from "../../grammar/index.ts"
import type { Vocabulary } from "../../mask/index.ts"
import type { Engine } from "./failures.ts"

export interface Survivor {
  readonly input: GrammarInput
  readonly options?: CompileOptions
  /** Read as far as it goes. */
  readonly text: string
}

function json(schema: unknown, text: string, options?: CompileOptions): Survivor {
  return { input: { kind: "json", schema }, text, options }
}

const name = { type: "string", pattern: "^[A-Z][a-z]*$", maxLength: 9 }
const conform: CompileOptions = { surface: "conform" }

/** More than small tables have room for. */
const words = Array.from({ length: 90 }, (_, i) => `${i % 7}word${i}`)

/** So many that what is the same in them is read once. */
const manyObjects = Array.from({ length: 40 }, (_, i) => ({
  type: "object",
  properties: { [`k${i}`]: { const: i } },
  minProperties: 1 + (i % 2),
}))

/** Objects that have a name of their own, and exclude each other by a number. */
const eventsOf = (event: string) =>
  [1, 12].map((id) => ({
    type: "object",
    properties: { [event]: { const: id }, name: {} },
    required: [event],
    additionalProperties: false,
  }))

export const survivors: readonly Survivor[] = [
  json({ type: "string", pattern: "^[a-z]*x[0-9]+$", maxLength: 12 }, '"abx12"'),
  json({ type: "string", pattern: "^(a{4}|b{6})*$", minLength: 10, maxLength: 300 }, '"aaaabbbbbb"'),
  json({ type: "string", pattern: "^(?!the|an?$)[a-zé]+\\b", minLength: 2 }, '"thé"'),
  json({ type: "string", pattern: "\\p{Lu}\\p{L}*$", maxLength: 5 }, '"Éab"'),
  json({ type: "string", minLength: 2, maxLength: 40 }, '"a\\n💩"', conform),
  json({ type: "string", not: { enum: ["ab", "a", ""] } }, '"abc"'),
  json({ enum: ["ab", "abc", 12, null, { a: [1] }] }, '{"a": [1]}'),
  json({ type: "integer", multipleOf: 7, minimum: -40, not: { multipleOf: 3 } }, "-28"),
  json({ type: "number", multipleOf: 0.25, exclusiveMaximum: 30 }, "12.75", conform),
  json({ type: "number", minimum: 1.5, maximum: 1e3, not: { enum: [2, 3, 400] } }, "40.1"),
  json(
    { oneOf: [{ required: ["a"] }, { properties: { b: { type: "integer" } }, required: ["b"] }] },
    '{"a": 1, "b": "x"}',
  ),
  json({ anyOf: manyObjects }, '{"a": "ab", "xyz": 12'),
  json({ oneOf: [{ oneOf: eventsOf("ab") }, { anyOf: eventsOf("xyz") }] }, '{"ab": 1, "name": 12'),
  json({ oneOf: [{ type: "integer" }, { type: "number", minimum: 4 }, { const: "ab" }] }, "3"),
  json({ type: "array", uniqueItems: true, items: { enum: ["a", "ab", 1, null] }, minItems: 2 }, '["a", 1]'),
  json({ type: "array", uniqueItems: true, items: name }, '["Ab", "A"]'),
  json(
    {
      type: "array",
      uniqueItems: true,
      items: { type: "string", pattern: "^(?=.*a)[abc]{1,3}$" },
      minItems: 7,
    },
    '["a", "ab", "ba", "ca", "ac"',
  ),
  json({ type: "array", uniqueItems: true, items: { type: "string", pattern: "^[ab]$" } }, '["a", "b"]'),
  json(
    { type: "array", uniqueItems: true, items: { type: "string", pattern: "^(?=.*a)[abc]+$" }, minItems: 7 },
    '["a", "ab", "ba", "ca", "ac"',
  ),
  json({ contains: { type: "integer", multipleOf: 3 }, minContains: 2, maxItems: 4 }, "[3, 1, 6]"),
  json({ prefixItems: [{ type: "boolean" }, name], unevaluatedItems: false }, '[true, "Ab"]'),
  json(
    {
      type: "object",
      properties: { name, age: { type: "integer", minimum: 0, maximum: 150 }, nick: { type: "null" } },
      required: ["name"],
    },
    '{"name": "Ab", "age": 12, "other": [1]}',
  ),
  json(
    {
      type: "object",
      properties: { a: { type: "integer" }, abc: { type: "string" } },
      patternProperties: { "^a": {}, b$: { type: "integer" } },
      additionalProperties: { type: "null" },
      minProperties: 2,
    },
    '{"ab": 1, "a": 2, "c": null}',
    conform,
  ),
  json({ type: "object", propertyNames: { pattern: "^[ab]$", not: { const: "b" } } }, '{"a": 1}'),
  json({ if: { properties: { a: { const: 1 } } }, then: { required: ["b"] } }, '{"a": 1, "b": 2}'),
  json({ not: { properties: { a: { type: "string" } }, required: ["a"] }, type: "object" }, '{"a": 12}'),
  json(
    {
      $defs: {
        tree: { properties: { next: { $ref: "#/$defs/tree" }, id: { type: "integer" } }, type: "object" },
      },
      $ref: "#/$defs/tree",
    },
    '{"next": {"id": 12}}',
  ),
  json({ type: "object", properties: { a: false }, required: ["a"] }, ""),
  json({ format: "date-time" }, '"2024-02-29T1'),
  json({ format: "email" }, '"a.b@c.de"'),
  json({ format: "hostname", maxLength: 20 }, '"a-b.c"'),
  json({ format: "regex" }, '"(?<a>[a-c])'),
  json({ pattern: "^(a", type: "string" }, ""),
  { input: { kind: "regex", pattern: "(?=.*1)[a-c1]{2,6}|É+", flags: "iu" }, text: "aB1" },
  { input: { kind: "choice", options: ["ab", "abc", "é", "12.75"] }, text: "abc" },
  { input: { kind: "choice", options: words }, text: words[40] },
]

const tokens = [
  '{"',
  '": ',
  '", ',
  '"a',
  "ab",
  "abc",
  "aab",
  "é",
  "É",
  "12",
  "1.5",
  "true",
  "nul",
  "}]",
  "]}",
  "Ab",
  "xyz",
  "a-b",
  "\\n",
  "\\u00",
  "  ",
  "name",
  "next",
]

/** All bytes, and tokens of several. */
export function vocabularyIn({ Vocabulary }: Engine): Vocabulary {
  const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
  for (const token of [...tokens, "ab"]) bytes.push(new TextEncoder().encode(token))
  return Vocabulary.fromBytes(bytes, { endIds: [bytes.length] })
}
