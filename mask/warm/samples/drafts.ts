/** Definitions, references and recursion, each draft in its own spelling. */
import type { Dice } from "./dice.ts"
import { logic } from "./logic.ts"
import { anyNumber } from "./numbers.ts"
import { anyObject, anyShape } from "./records.ts"
import { fixed, type Shape } from "./shape.ts"
import { anyString, formatted, freeText } from "./strings.ts"

const text = { type: "string" }

const draft4 = "http://json-schema.org/draft-04/schema#"
const draft6 = "http://json-schema.org/draft-06/schema#"
const draft7 = "http://json-schema.org/draft-07/schema#"
const draft2019 = "https://json-schema.org/draft/2019-09/schema"
const draft2020 = "https://json-schema.org/draft/2020-12/schema"

/** An object whose properties refer to definitions, which refer to each other. */
function referring(dice: Dice, $schema: string | undefined, home: "definitions" | "$defs"): Shape {
  const names = dice.names(dice.from(4, 8))
  const leaves = names.map((_, i) =>
    i < 2 ? anyString(dice) : i === 2 ? anyNumber(dice) : anyObject(dice, 1, 3, "open"),
  )
  const definitions = Object.fromEntries(names.map((name, i) => [name, leaves[i].schema]))
  const list = `${names[0]}List`
  const refer = (name: string) => ({ $ref: `#/${home}/${name}` })
  const keys = dice.names(names.length, "snake")
  const schema = {
    ...($schema !== undefined && { $schema }),
    title: dice.words(2),
    [home]: { ...definitions, [list]: { type: "array", items: refer(names[3]) }, alias: refer(list) },
    type: "object",
    properties: {
      ...Object.fromEntries(keys.map((key, i) => [key, refer(names[i])])),
      all: refer("alias"),
      one: { anyOf: [refer(names[2]), { type: "null" }] },
    },
    ...(dice.is(50) && { additionalProperties: false }),
  }
  const value = () => {
    const chosen = keys.map((key, i) => [key, leaves[i]] as const).filter(() => dice.is(60))
    const members = Object.fromEntries(chosen.map(([key, leaf]) => [key, leaf.value()]))
    return {
      ...members,
      all: [leaves[3].value(), leaves[3].value()],
      one: dice.is(50) ? null : leaves[2].value(),
    }
  }
  return { schema, value }
}

/** A tree of objects, `home` as the draft calls it. */
function tree(dice: Dice, home: "definitions" | "$defs"): Shape {
  const [value, children, node] = dice.names(3)
  const leaf = anyShape(dice, 0)
  const schema = {
    $ref: `#/${home}/${node}`,
    [home]: {
      [node]: {
        type: "object",
        properties: {
          [value]: leaf.schema,
          [children]: { type: "array", items: { $ref: `#/${home}/${node}` } },
        },
        required: [value],
        additionalProperties: dice.is(50),
      },
    },
  }
  const grow = (depth: number): object => ({
    [value]: leaf.value(),
    ...(depth > 0 && { [children]: Array.from({ length: dice.from(0, 2) }, () => grow(depth - 1)) }),
  })
  return { schema, value: () => grow(3) }
}

/** A schema of some hundred places, most of them below definitions that others refer to. */
export function library(dice: Dice): Shape {
  const names = dice.names(dice.from(10, 16), dice.pick(["camel", "pascal", "kebab"]))
  const parts = names.map((name, i) => {
    const shape = i % 3 === 0 ? dice.pick(logic)(dice) : anyObject(dice, 2, dice.from(3, 10))
    return { name, key: `${name}${i}`, shape }
  })
  const refer = (name: string) => ({ $ref: `#/definitions/${name}` })
  const properties = parts.map(({ name, key }, i) => [
    key,
    i % 4 === 0
      ? { allOf: [refer(name)], description: dice.sentence() }
      : i % 4 === 1
        ? { anyOf: [refer(name), { type: "array", items: refer(name) }] }
        : refer(name),
  ])
  const schema = {
    $schema: draft7,
    title: dice.words(3),
    type: "object",
    definitions: Object.fromEntries(parts.map(({ name, shape }) => [name, shape.schema])),
    properties: Object.fromEntries(properties),
    ...(dice.is(50) && { required: [parts[0].key], additionalProperties: false }),
  }
  return { schema, value: () => ({ [parts[0].key]: parts[0].shape.value() }) }
}

export const drafts: readonly ((dice: Dice) => Shape)[] = [
  (dice) => referring(dice, dice.pick([undefined, draft7]), "definitions"),
  (dice) => referring(dice, dice.pick([draft6, draft7]), "definitions"),
  (dice) => referring(dice, dice.pick([undefined, draft2019, draft2020]), "$defs"),
  (dice) => tree(dice, "definitions"),
  (dice) => tree(dice, "$defs"),
  (dice) => {
    const [name, next] = dice.names(2)
    const schema = {
      $schema: draft7,
      type: "object",
      properties: { [name]: anyNumber(dice).schema, [next]: { oneOf: [{ $ref: "#" }, { type: "null" }] } },
    }
    const { value } = fixed(dice, true, {}, { [next]: null })
    return { schema, value: () => ({ [next]: { [next]: dice.is(50) ? value() : null } }) }
  },
  (dice) => {
    const [low, high, list] = dice.names(3)
    const least = dice.from(0, 50)
    const schema = {
      $schema: draft4,
      id: `http://example.org/${dice.noun()}/${dice.from(1, 99)}.json#`,
      type: "object",
      properties: {
        [low]: { type: "number", minimum: least, exclusiveMinimum: true },
        [high]: { type: "integer", maximum: least + dice.from(60, 900), exclusiveMaximum: dice.is(50) },
        [list]: {
          type: "array",
          items: [text, { type: "integer" }],
          additionalItems: dice.pick([false, { type: "boolean" }]),
        },
      },
      dependencies: { [low]: [high], [list]: { required: [low] } },
      required: [high],
    }
    return {
      schema,
      value: () => ({
        [low]: least + 0.5 + dice.below(9),
        [high]: least + dice.below(50),
        [list]: [dice.noun(), 3],
      }),
    }
  },
  (dice) => {
    const [place, where] = dice.names(2)
    const shape = formatted(dice)
    const schema = {
      $schema: draft2020,
      $id: `https://example.org/schemas/${dice.noun()}-${dice.from(1, 999)}`,
      $defs: {
        [place]: { $anchor: place, ...(shape.schema as object) },
        other: { $id: "other", type: "integer", minimum: dice.below(9) },
      },
      type: "object",
      properties: {
        [where]: { $ref: `#${place}` },
        count: { $ref: "other" },
        again: { $ref: `#/properties/${where}` },
      },
    }
    return {
      schema,
      value: () => ({ [where]: shape.value(), count: dice.from(9, 99), again: shape.value() }),
    }
  },
  (dice) => {
    const [place, where] = dice.names(2)
    const shape = anyObject(dice, 0, 2, "open")
    const schema = {
      $schema: draft7,
      definitions: { [place]: { $id: `#${place}`, ...(shape.schema as object) } },
      type: ["object", "array"],
      properties: { [where]: { $ref: `#${place}`, description: dice.sentence() } },
      items: { $ref: `#/definitions/${place}` },
    }
    return { schema, value: () => (dice.is(50) ? { [where]: shape.value() } : [shape.value()]) }
  },
  (dice) => {
    const [name, left, right] = dice.names(3)
    const schema = {
      $schema: draft2020,
      $id: `https://example.org/trees/${dice.noun()}-${dice.from(1, 999)}`,
      $dynamicAnchor: "node",
      type: "object",
      properties: { [name]: text, [left]: { $dynamicRef: "#node" }, [right]: { $dynamicRef: "#node" } },
      unevaluatedProperties: false,
    }
    return { schema, value: () => ({ [name]: dice.noun(), [left]: { [right]: { [name]: dice.words(2) } } }) }
  },
  (dice) => {
    const [operator, operands] = dice.names(2)
    const schema = {
      definitions: {
        expression: {
          oneOf: [
            { type: "number" },
            { type: "string", pattern: "^\\$[a-z]+$" },
            {
              type: "object",
              required: [operator, operands],
              properties: {
                [operator]: { enum: ["add", "mul", dice.noun()] },
                [operands]: {
                  type: "array",
                  items: { $ref: "#/definitions/expression" },
                  minItems: 1,
                  maxItems: dice.from(3, 6),
                },
              },
              additionalProperties: false,
            },
          ],
        },
      },
      $ref: "#/definitions/expression",
    }
    const grow = (depth: number): unknown =>
      depth === 0
        ? dice.pick([dice.below(99), `$${dice.noun()}`])
        : { [operator]: "add", [operands]: [grow(depth - 1), grow(0)] }
    return { schema, value: () => grow(dice.from(1, 4)) }
  },
  (dice) => {
    const list = anyObject(dice, 0, 3, "open")
    const [name, other] = dice.names(2)
    const schema = {
      $defs: { [name]: list.schema },
      type: "object",
      properties: { [name]: { $ref: `#/$defs/${name}`, description: dice.sentence() } },
      if: { required: [other] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: {
        properties: { [other]: { type: "array", items: { $ref: `#/$defs/${name}` } } },
        required: [name],
      },
      unevaluatedProperties: freeText(dice).schema,
    }
    return {
      schema,
      value: () =>
        dice.is(50) ? { [name]: list.value() } : { [name]: list.value(), [other]: [list.value()] },
    }
  },
]
