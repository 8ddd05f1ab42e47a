/** Arrays: lists with and without bounds, tuples, contains, unique items. */

import type { Dice } from "./dice.ts"
import { anyNumber } from "./numbers.ts"
import { fixed, type Shape } from "./shape.ts"
import { enumerated, formatted, freeText } from "./strings.ts"

const many = (count: number, item: Shape) => Array.from({ length: count }, () => item.value())
const text = { type: "string" }

export const lists: readonly ((dice: Dice) => Shape)[] = [
  (dice) => {
    const item = anyNumber(dice)
    return { schema: { type: "array", items: item.schema }, value: () => many(dice.from(0, 40), item) }
  },
  (dice) => {
    const item = dice.is(60) ? enumerated(dice, dice.from(5, 30)) : { schema: text, value: () => dice.noun() }
    const schema = { type: "array", items: item.schema, uniqueItems: true, minItems: 1 }
    return { schema, value: () => distinct(many(dice.from(1, 3), item)) }
  },
  (dice) => {
    const schema = {
      type: "array",
      uniqueItems: true,
      items: { type: "integer", minimum: 1, maximum: dice.from(5, 9) },
    }
    return fixed(dice, schema, [1, 5], [3], [])
  },
  (dice) => {
    const [id, name] = dice.names(2)
    const properties = { [id]: { type: "integer" }, [name]: { enum: ["a", dice.noun()] } }
    const items = { type: "object", properties, required: [id], additionalProperties: false }
    return fixed(dice, { type: "array", uniqueItems: true, items }, [{ [id]: 1 }, { [id]: 2, [name]: "a" }])
  },
  (dice) => {
    const count = dice.from(2, 4)
    const schema = { type: "array", items: { type: "number" }, minItems: count, maxItems: count }
    return { schema, value: () => Array.from({ length: count }, () => dice.from(-900, 900) / 8) }
  },
  (dice) => {
    const pair = {
      type: "array",
      items: { type: "number", minimum: -dice.from(90, 180) },
      minItems: 2,
      maxItems: 2,
    }
    const schema = { type: "array", items: { type: "array", items: pair, minItems: 4 } }
    return fixed(
      dice,
      schema,
      [
        [
          [0, 0],
          [1.5, 2],
          [3, -4.25],
          [0, 0],
        ],
      ],
      [],
    )
  },
  (dice) => {
    const parts = [anyNumber(dice), freeText(dice), formatted(dice)]
    const schema = {
      type: "array",
      prefixItems: parts.map((part) => part.schema),
      minItems: 2,
      items: dice.is(50) ? false : text,
    }
    return { schema, value: () => parts.slice(0, dice.from(2, 3)).map((part) => part.value()) }
  },
  (dice) => {
    const parts = [formatted(dice), anyNumber(dice)]
    const rest = anyNumber(dice)
    const schema = {
      type: "array",
      prefixItems: parts.map((part) => part.schema),
      items: rest.schema,
      maxItems: dice.from(5, 9),
    }
    return { schema, value: () => [...parts.map((part) => part.value()), ...many(dice.below(3), rest)] }
  },
  (dice) => {
    const name = dice.name()
    const schema = { type: "array", items: { type: "object" }, contains: { required: [name] }, minItems: 1 }
    return { schema, value: () => [{ [name]: dice.noun() }, { [dice.name()]: dice.below(9) }] }
  },
  (dice) => {
    const noun = dice.noun()
    const schema = {
      type: "array",
      contains: { const: noun },
      minContains: 1,
      maxContains: dice.from(2, 3),
      items: text,
    }
    return { schema, value: () => [`${dice.noun()}2`, noun, `${dice.noun()}3`] }
  },
  (dice) => {
    const least = dice.from(1, 20)
    const schema = {
      type: "array",
      contains: { type: "integer", minimum: least },
      maxItems: dice.from(6, 12),
    }
    return { schema, value: () => [dice.noun(), least + dice.below(99), null, 0.5] }
  },
  (dice) => {
    const schema = {
      type: "array",
      prefixItems: [{ enum: ["add", "sub", dice.noun()] }],
      unevaluatedItems: { type: "integer" },
    }
    return { schema, value: () => ["add", ...Array.from({ length: dice.below(6) }, () => dice.below(500))] }
  },
  (dice) => {
    const schema = {
      type: "array",
      allOf: [{ prefixItems: [text, { type: "integer" }] }, { maxItems: dice.from(3, 8) }],
      anyOf: [{ prefixItems: [true, true, { type: "boolean" }] }, { minItems: 4 }],
      unevaluatedItems: false,
    }
    return fixed(dice, schema, [dice.noun(), 3, true])
  },
  (dice) => {
    const schema = {
      type: "array",
      items: { type: ["string", "number", "boolean", "null"] },
      minItems: dice.below(3),
    }
    return fixed(dice, schema, [dice.noun(), 1.25, true, null], [false, false, dice.words(3)])
  },
  (dice) => {
    const schema = { type: "array", items: {}, minItems: 1, maxItems: dice.from(20, 90) }
    return fixed(dice, schema, [[], {}, [[1]], { [dice.noun()]: { [dice.noun()]: [null, "x"] } }])
  },
  (dice) => {
    const schema = {
      type: "array",
      not: { contains: { const: dice.noun() } },
      items: { type: "string", maxLength: dice.from(12, 40) },
    }
    return { schema, value: () => [`${dice.from(1, 9)} ${dice.noun()}`.slice(0, 12), "-"] }
  },
]

function distinct(values: unknown[]): unknown[] {
  const seen = new Set<string>()
  return values.filter((value) => {
    const text = JSON.stringify(value)
    return !seen.has(text) && seen.add(text)
  })
}
