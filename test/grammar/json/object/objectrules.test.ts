/** Order of properties: declared names as `properties` lists them, and behind them all other names in any order. */
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { compile } from "../../../../grammar/index.ts"
import { Matcher } from "../../../../mask/index.ts"
import { byteMachine, TextChecker } from "../../../../server/suite/checker.ts"

const reader = (schema: unknown, options: { order?: "schema" | "any" } = {}) => {
  const { grammar } = compile({ kind: "json", schema: JSON.stringify(schema) }, options)
  const checker = new TextChecker(byteMachine(grammar))
  return (text: string) => checker.check(text).accepted
}
const objectOf = (names: readonly string[]) =>
  `{${names.map((name) => `${JSON.stringify(name)}:1`).join(",")}}`

const cases: [name: string, schema: object, accept: string[], reject: string[]][] = [
  [
    "a pattern with few texts beside an open rest",
    { patternProperties: { "^[0-9]$": { type: "integer" } } },
    ['{"5":1,"3":2,"x":"y"}', '{"x":"y","5":1,"3":2}', '{"9":1,"x":"y","0":1}'],
    ['{"5":"a"}', '{"5":1,"5":2}'],
  ],
  [
    "propertyNames with an enum, all of them required as zod's records are",
    { propertyNames: { enum: ["zh", "en", "de"] }, required: ["zh", "en", "de"], type: "object" },
    ['{"zh":1,"en":2,"de":3}', '{"de":1,"zh":2,"en":3}'],
    ['{"zh":1,"en":2}', '{"zh":1,"en":2,"de":3,"fr":4}'],
  ],
  [
    "a const, and constants as alternatives",
    { type: "object", propertyNames: { anyOf: [{ const: "b" }, { const: "a" }, { enum: ["c", "d"] }] } },
    ['{"d":1,"b":1,"a":1,"c":1}', "{}"],
    ['{"e":1}', '{"a":1,"a":1}'],
  ],
  [
    "a class beside declared names, which come first",
    {
      type: "object",
      properties: { id: {}, name: {} },
      required: ["id"],
      patternProperties: { "^x_[ab]$": { type: "boolean" } },
      additionalProperties: false,
    },
    ['{"id":1,"x_b":true,"x_a":true}', '{"id":1,"name":1,"x_a":true}'],
    ['{"x_a":true,"id":1}', '{"id":1,"x_a":true,"name":1}', '{"name":1,"id":1}', '{"x_a":true}'],
  ],
  [
    "a required name of a class that has no end",
    { type: "object", patternProperties: { "^x_": {} }, required: ["x_b"], additionalProperties: false },
    ['{"x_a":1,"x_b":1,"x_0":1}', '{"x_b":1}'],
    ['{"x_a":1}', '{"x_b":1,"x_b":1}'],
  ],
  [
    "required names that no keyword declares",
    { type: "object", required: ["b", "a"], additionalProperties: { type: "integer" } },
    ['{"a":1,"x":1,"b":1}', '{"b":1,"a":1}'],
    ['{"a":1}', '{"a":1,"x":1}'],
  ],
  [
    "at least and at most so many names of a class",
    {
      type: "object",
      patternProperties: { "^[a-e]$": {} },
      additionalProperties: false,
      ...{ minProperties: 2, maxProperties: 3, required: ["c"] },
    },
    ['{"e":1,"c":1}', '{"c":1,"b":1}', '{"d":1,"e":1,"c":1}'],
    ['{"c":1}', '{"a":1,"b":1}', '{"e":1,"d":1,"a":1}', '{"a":1,"b":1,"c":1,"d":1}'],
  ],
  [
    "all names of a class, beside an optional declared one that was passed over",
    {
      type: "object",
      properties: { a: {} },
      patternProperties: { "^[xy]$": {} },
      additionalProperties: false,
      minProperties: 2,
    },
    ['{"a":1,"y":1}', '{"y":1,"x":1}', '{"a":1,"y":1,"x":1}'],
    ['{"y":1}', '{"y":1,"a":1}'],
  ],
  [
    "unevaluatedProperties over a class",
    {
      allOf: [{ properties: { id: {} } }, { patternProperties: { "^[xy]$": { type: "integer" } } }],
      type: "object",
      unevaluatedProperties: false,
    },
    ['{"id":1,"y":1,"x":1}', '{"y":1,"x":1}'],
    ['{"id":1,"z":1}', '{"y":1,"id":1}'],
  ],
  [
    "names that depend on each other and are not declared",
    { type: "object", dependentRequired: { card: ["billing"] }, properties: { name: {} } },
    ['{"name":1,"billing":1,"card":1}', '{"card":1,"x":1,"billing":1}', '{"billing":1}'],
    ['{"card":1}', '{"card":1,"x":1}', '{"billing":1,"name":1}'],
  ],
  [
    "names of then and else keep their order",
    {
      type: "object",
      properties: { kind: { enum: ["a", "b"] } },
      required: ["kind"],
      if: { properties: { kind: { const: "a" } } },
      then: { properties: { n: { type: "integer" }, m: { type: "integer" } }, required: ["n"] },
    },
    ['{"kind":"a","n":1,"m":2}', '{"kind":"b","x":1}'],
    ['{"kind":"a","m":2,"n":1}', '{"kind":"a"}'],
  ],
]

test.each(cases)("%s: completed from each beginning", (_, schema, accept) => {
  const { grammar } = compile({ kind: "json", schema: JSON.stringify(schema) })
  const machine = byteMachine(grammar)
  for (const text of accept) {
    for (let length = 0; length < text.length; length++) {
      const matcher = new Matcher(machine)
      expect(matcher.acceptBytes(Buffer.from(text.slice(0, length)))).toBe(true)
      expect(matcher.acceptBytes(matcher.shortest()), text.slice(0, length)).toBe(true)
      expect(matcher.isAccepting(), text.slice(0, length)).toBe(true)
    }
  }
})

describe.each(cases)("%s", (_, schema, accept, reject) => {
  const accepts = reader(schema)
  test.each(accept)("accepts %s", (text) => expect(accepts(text)).toBe(true))
  test.each(reject)("rejects %s", (text) => expect(accepts(text)).toBe(false))
})

test("order any, and of other names the place alone: that is order schema", () => {
  const letters = ["a", "b", "c", "d", "e"]
  const some = (of: readonly string[]) => fc.subarray([...of])
  const shape = fc.record({
    declared: some(letters),
    named: some(letters),
    required: some(letters),
    rest: fc.constantFrom(undefined, false, { type: "integer" }),
    min: fc.nat(3),
    room: fc.nat(4),
    not: fc.option(some(letters.slice(0, 3)), { nil: undefined }),
  })
  const names = fc.shuffledSubarray([...letters, "other"])
  fc.assert(
    fc.property(shape, fc.array(names, { minLength: 4, maxLength: 4 }), (parts, texts) => {
      const { declared, named, required, rest, min, room, not } = parts
      const schema = {
        properties: Object.fromEntries(declared.map((name) => [name, {}])),
        ...(named.length > 0 && { patternProperties: { [`^[${named.join("")}]$`]: { type: "integer" } } }),
        ...{ required, minProperties: min, maxProperties: min + room, type: "object" },
        ...(rest !== undefined && { additionalProperties: rest }),
        ...(not !== undefined && not.length > 0 && { not: { required: not } }),
      }
      const [ordered, free] = (["schema", "any"] as const).map((order) => {
        try {
          return reader(schema, { order })
        } catch {
          return () => false
        }
      })
      for (const text of texts) {
        const places = text.map((name) => {
          const place = declared.indexOf(name)
          return place < 0 ? declared.length : place
        })
        const isInOrder = places.every((place, i) => i === 0 || places[i - 1] <= place)
        expect(ordered(objectOf(text)), `${JSON.stringify(schema)} ${text}`).toBe(
          isInOrder && free(objectOf(text)),
        )
      }
    }),
    { seed: 11, numRuns: 120 },
  )
})

test("thousands of names in any order: a step for each key, whatever was read before", () => {
  const names = Array.from({ length: 3_000 }, (_, i) => `name ${(i * 1_237) % 3_000}`)
  const accepts = reader({ type: "object", propertyNames: { enum: names }, required: names.slice(0, 200) })
  expect(accepts(objectOf(names.slice(0, 250).reverse()))).toBe(true)
  expect(accepts(objectOf(names.slice(1, 250)))).toBe(false)
  expect(accepts(objectOf([...names.slice(0, 250), names[7]]))).toBe(false)
})
