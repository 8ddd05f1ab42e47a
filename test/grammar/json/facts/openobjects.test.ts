/** Objects that do not say which names they may have beside those they declare, under both policies. */
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { compile } from "../../../../grammar/index.ts"
import { byteMachine, TextChecker } from "../../../../server/suite/checker.ts"

const reader = (schema: unknown, openObjects: "declared" | "always") => {
  const options = { order: "any", openObjects } as const
  const { grammar, report } = compile({ kind: "json", schema: JSON.stringify(schema) }, options)
  const checker = new TextChecker(byteMachine(grammar))
  return { accepts: (text: string) => checker.check(text).accepted, report }
}

const a = { properties: { a: {} } }
const b = { properties: { b: {} } }
const kinds = { properties: { kind: { enum: ["a", "b"] } }, required: ["kind"] }
const isA = { properties: { kind: { const: "a" } } }

/** All texts are valid by the schema itself; the policy takes the first, and not the others. */
const cases: [name: string, schema: object, kept: string[], left: string[]][] = [
  ["declared names", a, ["{}", '{"a":1}', "1"], ['{"b":1}', '{"a":1,"b":1}']],
  ["no names at all", { type: "object", properties: {} }, ["{}"], ['{"a":1}']],
  ["no properties", { type: "object" }, ["{}", '{"a":1}'], []],
  ["no properties, and names that are required", { required: ["a"] }, ['{"a":1,"b":1}'], []],
  [
    "a required name counts as declared",
    { ...a, required: ["b"] },
    ['{"b":1}', '{"a":1,"b":1}'],
    ['{"b":1,"c":1}'],
  ],
  ["additionalProperties: true", { ...a, additionalProperties: true }, ['{"b":1}'], []],
  ["additionalProperties: a schema", { ...a, additionalProperties: { type: "integer" } }, ['{"b":1}'], []],
  ["patternProperties", { ...a, patternProperties: {} }, ['{"b":1}'], []],
  ["propertyNames", { ...a, propertyNames: { maxLength: 1 } }, ['{"b":1}'], []],
  ["unevaluatedProperties", { ...a, unevaluatedProperties: true }, ['{"b":1}'], []],
  ["allOf", { allOf: [a, b] }, ['{"a":1,"b":1}'], ['{"c":1}']],
  [
    "allOf in allOf, beside properties",
    { allOf: [{ allOf: [a] }], ...b },
    ['{"a":1,"b":1}'],
    ['{"a":1,"c":1}'],
  ],
  ["a part of allOf that says something", { allOf: [a, { additionalProperties: true }] }, ['{"c":1}'], []],
  ["$ref with siblings", { $ref: "#/$defs/x", ...b, $defs: { x: a } }, ['{"a":1,"b":1}'], ['{"c":1}']],
  [
    "$ref alone in draft-07, where its siblings say nothing",
    {
      $schema: "http://json-schema.org/draft-07/schema#",
      ...{ $ref: "#/definitions/x", additionalProperties: true, definitions: { x: a } },
    },
    ['{"a":1}'],
    ['{"b":1}'],
  ],
  [
    "a $ref that leads back to itself",
    { $ref: "#/$defs/x", $defs: { x: { properties: { next: { $ref: "#/$defs/x" } } } } },
    ['{"next":{"next":{}}}', '{"next":1}'],
    ['{"next":{"a":1}}'],
  ],
  [
    "values, each for itself",
    { properties: { x: a, y: { type: "object" }, z: { items: b }, w: { ...a, additionalProperties: true } } },
    ['{"x":{"a":{"c":1}},"y":{"c":1},"z":[{"b":1}],"w":{"c":1}}'],
    ['{"x":{"c":1}}', '{"z":[{},{"a":1}]}'],
  ],
  ["values of other names", { additionalProperties: a }, ['{"x":{"a":1}}'], ['{"x":{"b":1}}']],
  [
    "a value that two schemas speak of",
    { allOf: [{ properties: { x: a } }, { properties: { x: b } }] },
    ['{"x":{"a":1,"b":1}}'],
    ['{"x":{"c":1}}'],
  ],
  ["anyOf", { anyOf: [a, b] }, ['{"a":1}', '{"b":1}', '{"a":1,"b":1}'], ['{"c":1}', '{"a":1,"c":1}']],
  [
    "anyOf of objects that exclude each other",
    {
      anyOf: [
        { properties: { kind: { const: "a" }, x: {} }, required: ["kind"] },
        { properties: { kind: { const: "b" }, y: {} }, required: ["kind"] },
      ],
    },
    ['{"kind":"a","x":1}', '{"kind":"b","y":1}'],
    ['{"kind":"a","y":1}', '{"kind":"b","x":1}'],
  ],
  [
    "oneOf of objects, one of which is open",
    {
      oneOf: [
        { properties: { kind: { const: "a" }, x: {} }, required: ["kind"] },
        { properties: { kind: { const: "b" } }, required: ["kind"], additionalProperties: true },
      ],
    },
    ['{"kind":"a","x":1}', '{"kind":"b","x":1}'],
    ['{"kind":"a","y":1}'],
  ],
  [
    "anyOf beside properties that are required",
    { properties: { a: {}, b: {} }, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
    ['{"a":1}', '{"b":1,"a":1}', "1"],
    ['{"a":1,"c":1}'],
  ],
  [
    "if, then and else",
    { ...kinds, if: isA, then: { properties: { n: {} } }, else: { properties: { m: {} } } },
    ['{"kind":"a","n":1}', '{"kind":"b","m":1}', '{"kind":"b"}'],
    ['{"kind":"a","m":1}', '{"kind":"b","n":1}', '{"kind":"a","n":1,"c":1}'],
  ],
  [
    "then alone",
    { ...kinds, if: isA, then: { properties: { n: { type: "integer" } }, required: ["n"] } },
    ['{"kind":"a","n":1}', '{"kind":"b"}'],
    ['{"kind":"b","n":1}', '{"kind":"a","n":1,"c":1}'],
  ],
  [
    "a then that says something",
    { ...kinds, if: isA, then: { additionalProperties: true } },
    ['{"kind":"a","n":1}', '{"kind":"b"}'],
    ['{"kind":"b","n":1}'],
  ],
  [
    "dependentSchemas",
    { properties: { card: {} }, dependentSchemas: { card: { properties: { billing: {} } } } },
    ['{"card":1,"billing":1}', '{"card":1}', "{}"],
    ['{"billing":1}', '{"card":1,"c":1}'],
  ],
  [
    "dependentRequired",
    { properties: { card: {} }, dependentRequired: { card: ["billing"] } },
    ['{"card":1,"billing":1}', "{}"],
    ['{"card":1,"billing":1,"c":1}', '{"c":1}'],
  ],
  [
    "not, which declares nothing",
    { ...a, not: { properties: { b: { type: "string" } }, required: ["b"] } },
    ['{"a":1}', "{}"],
    ['{"b":1}', '{"c":1}'],
  ],
  [
    "not of an object that would be closed",
    { not: { properties: { a: { type: "string" } } } },
    ['{"a":1,"c":1}'],
    [],
  ],
  ["a double negation declares nothing", { not: { not: a }, type: "object" }, ['{"c":1}'], []],
  [
    "a negation that needs another name",
    { ...a, not: { propertyNames: { maxLength: 1 } } },
    ['{"bb":1}'],
    [],
  ],
  ["more names than are declared", { ...a, minProperties: 2 }, ['{"a":1,"c":1}'], []],
  [
    "as many names as are declared",
    { properties: { a: {}, b: {} }, minProperties: 2 },
    ['{"a":1,"b":1}'],
    ['{"a":1,"c":1}'],
  ],
  ["a constant", { const: { a: 1, c: 2 } }, ['{"c":2,"a":1}'], []],
  [
    "a list of constants beside properties",
    { ...a, enum: [{ a: 1, c: 2 }, {}] },
    ['{"c":2,"a":1}', "{}"],
    [],
  ],
  [
    "items that differ",
    { items: { type: "object", properties: {} }, uniqueItems: true },
    ["[{}]", "[]"],
    ['[{},{"a":1}]'],
  ],
]

describe.each(cases)("%s", (_, schema, kept, left) => {
  const closed = reader(schema, "declared").accepts
  const open = reader(schema, "always").accepts
  test.each(kept)("takes %s", (text) => expect([open(text), closed(text)]).toEqual([true, true]))
  test.each(left)("leaves out %s", (text) => expect([open(text), closed(text)]).toEqual([true, false]))
})

describe("not satisfied by more than before", () => {
  test.each<[name: string, schema: object, text: string]>([
    ["not", { not: { properties: { a: { type: "string" } } } }, '{"a":"x","b":1}'],
    [
      "oneOf",
      {
        oneOf: [
          { type: "object", ...a, required: ["a"] },
          { ...b, type: "object" },
        ],
      },
      '{"a":1}',
    ],
    ["if", { if: a, then: { required: ["x"] } }, '{"b":1}'],
    ["contains", { not: { contains: a } }, '[{"b":1}]'],
  ])("%s", (_, schema, text) => {
    expect(reader(schema, "always").accepts(text)).toBe(false)
    expect(reader(schema, "declared").accepts(text)).toBe(false)
  })
})

test("what the policy takes is what unevaluatedProperties: false takes, where all is silent", () => {
  const letters = ["a", "b", "c", "d"]
  const names = fc.subarray(letters)
  const value = fc.constantFrom({}, { type: "integer" }, { const: 1 })
  const plain = fc.record({
    properties: fc.dictionary(fc.constantFrom(...letters), value, { maxKeys: 2 }),
    ...{ required: fc.subarray(["a", "b"], { maxLength: 1 }) },
  })
  const schemas = fc.record(
    {
      allOf: fc.array(plain, { minLength: 1, maxLength: 2 }),
      anyOf: fc.array(plain, { minLength: 1, maxLength: 3 }),
      oneOf: fc.array(plain, { minLength: 1, maxLength: 2 }),
      if: plain,
      then: plain,
      else: plain,
      dependentSchemas: fc.dictionary(fc.constantFrom(...letters), plain, { maxKeys: 1 }),
    },
    { requiredKeys: [] },
  )
  const texts = fc.array(fc.tuple(names, fc.boolean()), { minLength: 8, maxLength: 8 })
  fc.assert(
    fc.property(names, schemas, texts, (declared, parts, objects) => {
      const everything = Object.fromEntries(declared.map((name) => [name, {}]))
      // Required names count as declared, which is the one difference: here they are.
      const schema = { type: "object", ...parts, properties: { a: {}, b: {}, ...everything } }
      const compiled = [
        [schema, "declared"],
        [{ ...schema, unevaluatedProperties: false }, "always"],
        [schema, "always"],
      ] as const
      const [closed, same, open] = compiled.map(([of, policy]) => {
        try {
          return reader(of, policy).accepts
        } catch {
          return () => false
        }
      })
      // Of more choices it is not told apart which of them hold.
      const isExact = Object.keys(parts).filter((key) => key !== "allOf" && key !== "then").length <= 2
      for (const [members, isText] of objects) {
        const text = `{${members.map((name) => `"${name}":${isText ? '"x"' : 1}`).join()}}`
        const said = `${JSON.stringify(schema)} ${text}`
        if (isExact) expect(closed(text), said).toBe(same(text))
        if (same(text)) expect(closed(text), said).toBe(true)
        if (closed(text)) expect(open(text), said).toBe(true)
      }
    }),
    { seed: 5, numRuns: 40 },
  )
})

test("the report names the places, and who says something is not among them", () => {
  const schema = {
    properties: { x: a, y: { ...a, additionalProperties: true }, z: { anyOf: [a, { type: "null" }] } },
    $defs: { unused: a },
  }
  const places = (openObjects: "declared" | "always") =>
    reader(schema, openObjects)
      .report.keywords.filter(({ note }) => note?.includes("openObjects"))
      .map(({ path }) => path)
  expect(places("declared")).toEqual([
    "/properties",
    "/properties/x/properties",
    "/properties/z/anyOf/0/properties",
  ])
  expect(places("always")).toEqual([])
})

test("many alternatives and many conditions cost no more than they did", () => {
  const models = Array.from({ length: 40 }, (_, i) => ({ properties: { [`n${i}`]: {} } }))
  const union = reader({ anyOf: models }, "declared")
  expect([union.accepts('{"n7":1}'), union.accepts('{"n7":1,"x":1}')]).toEqual([true, false])
  const conditions = Array.from({ length: 40 }, (_, i) => ({
    if: { properties: { kind: { const: i } }, required: ["kind"] },
    then: { properties: { [`n${i}`]: {} }, required: [`n${i}`] },
  }))
  const many = reader({ type: "object", properties: { kind: {} }, allOf: conditions }, "declared")
  expect(many.accepts('{"kind":7,"n7":1}')).toBe(true)
  expect([many.accepts('{"kind":7}'), many.accepts('{"kind":7,"n7":1,"x":1}')]).toEqual([false, false])
})

test("choices within choices take no time that grows with their paths", () => {
  const depth = 8
  const levels = Array.from({ length: depth }, (_, i) => {
    const next = { $ref: `#/$defs/l${i + 1}` }
    return [`l${i}`, { anyOf: [next, { allOf: [next] }], properties: { [`n${i}`]: {} } }] as const
  })
  const $defs = { ...Object.fromEntries(levels), [`l${depth}`]: { properties: { last: {} } } }
  const schema = { $ref: "#/$defs/l0", $defs }
  const { accepts } = reader(schema, "declared")
  expect([accepts('{"n0":1,"n7":1,"last":1}'), accepts('{"x":1}')]).toEqual([true, false])
})
