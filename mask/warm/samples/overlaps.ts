/** Negations and branches that overlap: what is decided by value, not by a tag. */
import type { Dice } from "./dice.ts"
import { fixed, type Shape } from "./shape.ts"

const text = { type: "string" }
const integer = { type: "integer" }

export const overlaps: readonly ((dice: Dice) => Shape)[] = [
  (dice) => {
    const [first, second, third] = dice.names(3)
    const schema = {
      type: "object",
      properties: { [first]: integer, [second]: text, [third]: { type: "boolean" } },
      oneOf: [
        { properties: { [first]: { maximum: dice.from(10, 90) } }, required: [first] },
        { properties: { [second]: { minLength: dice.from(2, 5) } }, required: [second] },
        { required: [first, third] },
      ],
    }
    return fixed(dice, schema, { [first]: 5 }, { [second]: dice.words(3) }, { [first]: 500, [third]: true })
  },
  (dice) => {
    const most = dice.from(20, 60)
    const schema = {
      oneOf: [{ type: "integer", maximum: most }, { type: "number", minimum: most - 10 }, text],
    }
    return fixed(dice, schema, 3, most + 1, most + 0.5, dice.noun())
  },
  (dice) => {
    const schema = {
      type: "integer",
      oneOf: [{ multipleOf: 3 }, { multipleOf: dice.pick([5, 7]) }],
      minimum: 0,
    }
    return fixed(dice, schema, 3, 9, 12)
  },
  (dice) => {
    const [name, other] = dice.names(2)
    const schema = {
      type: "object",
      properties: { [name]: text, [other]: { type: ["integer", "string"] } },
      not: { properties: { [name]: { enum: ["a", dice.noun()] }, [other]: { type: "integer", minimum: 3 } } },
    }
    return fixed(dice, schema, { [name]: "b2 b" }, { [other]: 1 }, { [name]: "c3", [other]: dice.sentence() })
  },
  (dice) => {
    const [name, other] = dice.names(2, "snake")
    const closed = {
      type: "object",
      properties: { [name]: text },
      patternProperties: { "^x-": {} },
      additionalProperties: false,
    }
    return fixed(dice, { type: "object", not: closed }, { [name]: "z", [other]: 1 }, { [other]: null })
  },
  (dice) => {
    const [name, other] = dice.names(2)
    const typed = { additionalProperties: integer, propertyNames: { maxLength: dice.from(20, 40) } }
    const schema = { type: "object", not: typed, maxProperties: 4 }
    return fixed(dice, schema, { [name]: dice.noun() }, { [name]: 1, [other]: null })
  },
  (dice) => {
    const [name, other] = dice.names(2)
    const schema = {
      type: "object",
      properties: { [name]: { type: "string" } },
      if: { properties: { [name]: { pattern: `^${dice.noun()}` } }, minProperties: 2 },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: [other] },
      else: { not: { required: [other] } },
      required: [name],
    }
    return fixed(dice, schema, { [name]: `1 ${dice.words(2)}` }, { [name]: "2", [`${name}2`]: true })
  },
  (dice) => {
    const [name] = dice.names(1)
    const schema = {
      type: "object",
      properties: {
        [name]: { anyOf: [{ not: { type: "integer" }, type: "number" }, { enum: [1, 2, "3"] }] },
      },
      anyOf: [{ required: [name] }, { minProperties: 2 }],
    }
    return fixed(dice, schema, { [name]: 0.5 }, { [name]: 2 }, { a: 1, b: [] })
  },
  (dice) => {
    const items = { type: "array", items: { type: ["integer", "string"] }, minItems: 1 }
    const schema = {
      ...items,
      not: { items: integer },
      anyOf: [{ maxItems: dice.from(3, 6) }, { contains: { const: 1 } }],
    }
    return fixed(dice, schema, [dice.noun()], [1, dice.noun()], [dice.words(2), 7])
  },
  (dice) => {
    const schema = {
      type: "array",
      not: { prefixItems: [integer, text], minItems: 2 },
      maxItems: dice.from(3, 5),
    }
    return fixed(dice, schema, [1], [dice.noun(), 1], [1, 2])
  },
  (dice) => {
    const step = dice.pick([4, 6, 10])
    const schema = {
      allOf: [
        { type: "number", multipleOf: step },
        { multipleOf: step / 2, minimum: -step },
        { enum: [0, step, 3 * step, 1] },
      ],
    }
    return fixed(dice, schema, 0, step, 3 * step)
  },
  (dice) => {
    const schema = { type: "number", not: { multipleOf: dice.from(2, 5) }, minimum: 1, maximum: 1e30 }
    return fixed(dice, schema, 1, 1.5, 61, 121.5)
  },
  (dice) => {
    const nouns = dice.names(6)
    const schema = {
      type: ["string", "integer"],
      enum: ["", ...nouns, 4, 5, null],
      minLength: 3,
      minimum: 5,
      pattern: "^[a-z]",
    }
    return fixed(dice, schema, 5, ...nouns.filter((noun) => noun.length > 2))
  },
  (dice) => {
    const [name, other] = dice.names(2)
    const schema = {
      definitions: {
        "a/b": { properties: { "100%": { type: "integer", minimum: dice.below(9) } } },
        [`${name} ~`]: text,
      },
      type: "object",
      properties: {
        [name]: { $ref: "#/definitions/a~1b/properties/100%25" },
        [other]: { $ref: `#/definitions/${name}%20~0` },
      },
    }
    return fixed(dice, schema, { [name]: 12, [other]: dice.words(2) })
  },
  (dice) => {
    const [name, other] = dice.names(2)
    const bounds = { minimum: 0, maximum: dice.from(50, 90) }
    const schema = {
      allOf: [
        {
          type: "object",
          properties: { [name]: { type: "number" } },
          additionalProperties: { type: ["string", "number"] },
        },
        {
          patternProperties: { [`^${name}`]: bounds, "[0-9]$": text },
          propertyNames: { pattern: "^[a-zA-Z0-9]+$" },
        },
        { properties: { [other]: { minLength: 2 } }, anyOf: [{ required: [name] }, { required: [other] }] },
      ],
    }
    return fixed(dice, schema, { [other]: dice.words(2), x1: "y" }, { [`${other}s`]: "q", [other]: "zz" })
  },
]
