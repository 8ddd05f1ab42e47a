/** Schemas that combine others: all, any, one, not, conditions, dependencies, what is left over. */
import type { Dice } from "./dice.ts"
import { anyNumber } from "./numbers.ts"
import { anyObject, anyShape } from "./records.ts"
import { also, fixed, type Shape, without } from "./shape.ts"
import { anyString, enumerated, formatted, patterned } from "./strings.ts"

const text = { type: "string" }
const integer = { type: "integer" }

/** Variants told apart by a member. */
function tagged(dice: Dice, union: "anyOf" | "oneOf", count: number, isClosed: boolean): Shape {
  const [tag, ...kinds] = dice.names(count + 1)
  const variants = kinds.map((kind, i) => {
    const body = anyObject(dice, 1, dice.from(2, 5), isClosed ? "closed" : "open")
    const { properties, required = [], ...rest } = body.schema as Record<string, Record<string, unknown>>
    const is = i === 0 && dice.is(30) ? { enum: [kind, `${kind}2`] } : { const: kind }
    const schema = {
      ...rest,
      type: "object",
      properties: { [tag]: is, ...properties },
      required: [tag, ...(required as unknown as string[])],
    }
    return { schema, value: () => ({ [tag]: kind, ...(body.value() as object) }) }
  })
  return {
    schema: { [union]: variants.map((variant) => variant.schema) },
    value: () => dice.pick(variants).value(),
  }
}

export const logic: readonly ((dice: Dice) => Shape)[] = [
  (dice) => tagged(dice, "anyOf", 2, false),
  (dice) => tagged(dice, "anyOf", dice.from(3, 8), true),
  (dice) => tagged(dice, "oneOf", 2, true),
  (dice) => tagged(dice, "oneOf", dice.from(3, 6), false),
  (dice) => {
    const parts = [anyString(dice), anyNumber(dice), anyObject(dice, 0, 3)]
    return { schema: { anyOf: parts.map((part) => part.schema) }, value: () => dice.pick(parts).value() }
  },
  (dice) => {
    const item = also(anyObject(dice, 0, 3, "closed"), { type: "object" })
    const schema = {
      oneOf: [item.schema, { type: "array", items: item.schema, minItems: 1 }, { type: "null" }],
    }
    return { schema, value: () => dice.pick([item.value(), [item.value()], null]) }
  },
  (dice) => {
    const schema = {
      oneOf: [formatted(dice, "uri").schema, { type: "integer", minimum: dice.below(9) }, { const: false }],
    }
    return {
      schema,
      value: () => dice.pick([`https://example.org/${dice.noun()}`, dice.from(9, 999), false]),
    }
  },
  (dice) => {
    const [first, second] = [anyObject(dice, 1, dice.from(2, 5), "open"), anyObject(dice, 0, 3, "open")]
    return {
      schema: { allOf: [first.schema, second.schema] },
      value: () => ({ ...(first.value() as object), ...(second.value() as object) }),
    }
  },
  (dice) => {
    const base = anyObject(dice, 0, 3, "open")
    const [name, other] = dice.names(2, "pascal")
    const schema = {
      type: "object",
      allOf: [base.schema, { properties: { [name]: text }, required: [name] }],
      properties: {
        [other]: { allOf: [{ type: "string" }, { minLength: 1 }, { maxLength: dice.from(20, 60) }] },
      },
      unevaluatedProperties: false,
    }
    return { schema, value: () => ({ [name]: dice.words(2), [other]: dice.noun(), ...known(base) }) }
  },
  (dice) => {
    const [mode, limit, reason] = dice.names(3)
    const schema = {
      type: "object",
      properties: { [mode]: { enum: ["fast", "slow", "off"] }, [limit]: integer, [reason]: text },
      required: [mode],
      if: { properties: { [mode]: { const: "fast" } }, required: [mode] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: [limit], properties: { [limit]: { minimum: dice.from(1, 9) } } },
      else: { required: [reason] },
    }
    return {
      schema,
      value: () =>
        dice.is(50)
          ? { [mode]: "fast", [limit]: dice.from(9, 99) }
          : { [mode]: "off", [limit]: dice.below(4), [reason]: dice.sentence() },
    }
  },
  (dice) => {
    const [kind, ...fields] = dice.names(4)
    const kinds = dice.names(3, "snake")
    const cases = kinds.map((each, i) => ({
      if: { properties: { [kind]: { const: each } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: [fields[i]] },
    }))
    const schema = {
      type: "object",
      properties: { [kind]: { enum: kinds }, ...Object.fromEntries(fields.map((field) => [field, text])) },
      required: [kind],
      allOf: cases,
    }
    return {
      schema,
      value: () => {
        const i = dice.below(3)
        return { [kind]: kinds[i], [fields[i]]: dice.words(2) }
      },
    }
  },
  (dice) => {
    const [name, card, street] = dice.names(3)
    const schema = {
      type: "object",
      properties: { [name]: text, [card]: integer, [street]: text },
      dependentRequired: { [card]: [street], [street]: [name] },
      minProperties: 1,
    }
    return fixed(dice, schema, { [name]: dice.noun() }, { [name]: "x", [card]: 4, [street]: dice.words(2) })
  },
  (dice) => {
    const [flag, other] = dice.names(2, "snake")
    const schema = {
      type: "object",
      properties: { [flag]: { type: "boolean" } },
      dependentSchemas: {
        [flag]: { properties: { [other]: { type: "number", minimum: dice.below(9) } }, required: [other] },
      },
    }
    return fixed(dice, schema, { [flag]: true, [other]: 12.5 }, { [dice.name()]: [1] })
  },
  (dice) => {
    const names = dice.names(4)
    const shapes = names.map((name) => [name, anyString(dice)] as const)
    const properties = Object.fromEntries(shapes.map(([name, shape]) => [name, shape.schema]))
    const schema = {
      type: "object",
      properties,
      anyOf: [{ required: names.slice(0, 2) }, { required: [names[2]] }],
    }
    return {
      schema,
      value: () => {
        const chosen = dice.is(50) ? shapes.slice(0, 2) : shapes.slice(1)
        return Object.fromEntries(chosen.map(([name, shape]) => [name, shape.value()]))
      },
    }
  },
  (dice) => {
    const [first, second] = dice.names(2)
    const schema = {
      type: "object",
      properties: { [first]: text, [second]: integer },
      oneOf: [{ required: [first] }, { required: [second] }],
      additionalProperties: false,
    }
    return fixed(dice, schema, { [first]: dice.words(3) }, { [second]: dice.below(99) })
  },
  (dice) => {
    const [name, banned] = dice.names(2)
    const schema = {
      type: "object",
      properties: { [name]: { type: "string", not: { enum: ["", dice.noun()] } } },
      not: { required: [banned] },
    }
    return { schema, value: () => ({ [name]: `${dice.words(2)}.`, [dice.name("snake")]: dice.below(9) }) }
  },
  (dice) => {
    const schema = {
      not: { type: ["object", "array", "null"] },
      anyOf: [{ type: "string", minLength: 1 }, { type: ["number", "boolean"] }],
    }
    return fixed(dice, schema, dice.words(2), dice.below(99), true)
  },
  (dice) => {
    const schema = { type: "string", not: { pattern: `^${dice.noun()}` }, maxLength: dice.from(50, 90) }
    return { schema, value: () => `1 ${dice.words(2)}` }
  },
  (dice) => {
    const shape = patterned(dice)
    const keywords = shape.schema as object
    return {
      schema: { allOf: [keywords, { type: "string", minLength: 0 }, { not: { const: dice.words(3) } }] },
      value: shape.value,
    }
  },
  (dice) => {
    const [point, other] = dice.names(2)
    const options = [
      { [point]: 1, [other]: "a" },
      { [point]: 2 },
      [1, 2],
      dice.noun(),
      null,
      dice.from(1, 99),
      true,
      2.5,
    ]
    return fixed(dice, { enum: options }, ...options)
  },
  (dice) => {
    const value = { [dice.name()]: [1, { [dice.name()]: dice.sentence() }], [dice.name("snake")]: null }
    return fixed(dice, { const: value }, value)
  },
  (dice) => {
    const [id, ...names] = dice.names(4)
    const shapes = names.map(() => anyShape(dice, 0))
    const schema = {
      type: "object",
      required: [id],
      properties: { [id]: text, [names[0]]: shapes[0].schema },
      patternProperties: { [`^${names[1]}`]: shapes[1].schema, "^x-": true },
      additionalProperties: shapes[2].schema,
      minProperties: 2,
      maxProperties: dice.from(5, 12),
    }
    return {
      schema,
      value: () => ({
        [id]: dice.noun(),
        [`${names[1]}1`]: shapes[1].value(),
        [`x-${dice.noun()}`]: [null],
        [`zz${names[2]}`]: shapes[2].value(),
      }),
    }
  },
  (dice) => {
    const [type, size] = dice.names(2, "snake")
    const options = enumerated(dice, dice.from(30, 200))
    const schema = {
      type: "object",
      properties: {
        [type]: options.schema,
        [size]: { anyOf: [integer, { type: "string", pattern: `^\\d+(px|em|%)$` }, { type: "null" }] },
      },
      required: [type, size],
      additionalProperties: false,
    }
    return {
      schema,
      value: () => ({
        [type]: options.value(),
        [size]: dice.pick([dice.below(99), `${dice.below(99)}px`, null]),
      }),
    }
  },
]

/** A value of an open object without the names that it does not list. */
function known(shape: Shape): object {
  const listed = Object.keys((shape.schema as { properties: object }).properties)
  const value = shape.value() as object
  return without(value, ...Object.keys(value).filter((name) => !listed.includes(name))) as object
}
