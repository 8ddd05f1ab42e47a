/** Objects as applications have them: small and wide, nested, closed and open, with lists in them and annotations. */
import type { Dice, NameStyle } from "./dice.ts"
import { nameStyles } from "./dice.ts"
import { anyNumber } from "./numbers.ts"
import { also, fixed, type Shape } from "./shape.ts"
import { anyString, enumerated, freeText, unknownFormat } from "./strings.ts"

/** A property's shape; objects and lists nest at most `depth` deep. */
export function anyShape(dice: Dice, depth: number): Shape {
  const roll = dice.below(100)
  const shape =
    roll < 40
      ? anyString(dice)
      : roll < 55
        ? anyNumber(dice)
        : roll < 67
          ? { schema: { type: "boolean" }, value: () => dice.is(50) }
          : roll < 70
            ? unknownFormat(dice)
            : roll < 73
              ? fixed(dice, { type: "null" }, null)
              : roll < 76
                ? anyValue(dice)
                : depth === 0
                  ? freeText(dice)
                  : roll < 87
                    ? anyObject(dice, depth - 1, dice.from(1, 7))
                    : plainList(dice, depth)
  return dice.is(45) ? also(shape, annotations(dice)) : shape
}

/** A value of any type, or of a few. */
function anyValue(dice: Dice): Shape {
  const schema = dice.pick([
    true,
    {},
    { description: dice.sentence() },
    { type: ["object", "string", "array"] },
  ])
  return fixed(dice, schema, dice.noun(), [1, [dice.noun()]], {
    [dice.name()]: { [dice.name()]: dice.sentence() },
  })
}

/** Keywords without an effect, as generators of schemas and editors leave them. */
function annotations(dice: Dice): { readonly [keyword: string]: unknown } {
  const all: Record<string, unknown> = {
    title: dice.words(2),
    description: dice.is(25) ? Array.from({ length: 6 }, () => dice.sentence()).join(" ") : dice.sentence(),
    default: dice.pick([null, "", 0, dice.noun(), [], {}]),
    examples: [dice.noun(), dice.below(99)],
    $comment: dice.words(4),
    readOnly: true,
    deprecated: dice.is(50),
    "x-order": dice.below(40),
    markdownDescription: `**${dice.noun()}**: ${dice.sentence()}`,
    enumDescriptions: [dice.words(2), dice.words(3)],
  }
  return Object.fromEntries(dice.some(Object.entries(all), dice.pick([10, 20, 40])))
}

/** How an object treats the names that it does not list. */
type Openness = "open" | "closed" | "typed"

/** An object of `width` properties, of which some are required and each comes with a chance. */
export function anyObject(dice: Dice, depth: number, width: number, openness?: Openness): Shape {
  const style = dice.pick<NameStyle>(nameStyles)
  const kind = openness ?? dice.pick(["open", "open", "closed", "closed", "typed"] as const)
  const names = dice.names(width, style)
  if (dice.is(6)) names.push("größe", 'a "quoted" name', "back\\slash")
  const shapes = names.map((name) => [name, anyShape(dice, depth)] as const)
  const required = dice.some(names, dice.pick([0, 20, 50, 100]))
  const more: Shape =
    kind === "typed"
      ? dice.pick([anyNumber, anyString])(dice)
      : { schema: kind === "open", value: () => dice.words(2) }
  const says = kind === "closed" || kind === "typed" || dice.is(20)
  const schema = {
    ...(dice.is(95) && { type: "object" }),
    ...(dice.is(25) && annotations(dice)),
    properties: Object.fromEntries(shapes.map(([name, shape]) => [name, shape.schema])),
    ...(required.length > 0 && { required }),
    ...(says && { additionalProperties: more.schema }),
  }
  const chance = width > 25 ? 40 : 75
  const value = () => {
    const chosen = shapes.filter(([name]) => required.includes(name) || dice.is(chance))
    const members = chosen.map(([name, shape]) => [name, shape.value()] as const)
    const extra = kind !== "closed" && dice.is(40) ? [[`${dice.name(style)}_x`, more.value()] as const] : []
    return Object.fromEntries([...members, ...extra])
  }
  return { schema, value }
}

/** Names as keys with values of one shape. */
export function dictionary(dice: Dice, depth: number): Shape {
  const item = anyShape(dice, depth)
  const entries = () => Object.fromEntries(dice.names(dice.from(1, 4)).map((name) => [name, item.value()]))
  const type = "object"
  switch (dice.below(6)) {
    case 0:
      return { schema: { type, additionalProperties: item.schema, minProperties: 1 }, value: entries }
    case 1: {
      const schema = {
        type,
        patternProperties: { "^[a-zA-Z0-9]+$": item.schema },
        additionalProperties: false,
      }
      return { schema, value: entries }
    }
    case 2: {
      const schema = {
        type,
        propertyNames: { pattern: `^[a-z][A-Za-z0-9]{0,${dice.from(40, 60)}}$` },
        additionalProperties: item.schema,
        maxProperties: dice.from(4, 20),
      }
      return { schema, value: entries }
    }
    case 3: {
      const prefix = `${dice.noun()}_`
      const schema = {
        type,
        patternProperties: { [`^${prefix}`]: item.schema, _at$: { type: "string", format: "date" } },
      }
      return {
        schema,
        value: () => ({ [`${prefix}${dice.noun()}`]: item.value(), [`${dice.noun()}s_at`]: "2024-05-06" }),
      }
    }
    case 4: {
      const names = dice.names(dice.from(3, 9))
      const schema = { type, propertyNames: { enum: names }, additionalProperties: item.schema }
      return {
        schema,
        value: () => Object.fromEntries(dice.some(names, 50).map((name) => [name, item.value()])),
      }
    }
    default: {
      const schema = {
        type,
        propertyNames: { minLength: 1, maxLength: dice.from(60, 90) },
        additionalProperties: item.schema,
      }
      return { schema, value: entries }
    }
  }
}

/** Many properties whose names begin alike. */
export function wideObject(dice: Dice, width: number): Shape {
  const style = dice.pick<NameStyle>(["camel", "snake", "kebab"])
  const heads = dice.names(dice.from(3, 8), style)
  const join = style === "camel" ? "" : style === "snake" ? "_" : "-"
  const names = new Set(dice.names(Math.floor(width / 4), style))
  while (names.size < width) names.add(`${dice.pick(heads)}${join}${dice.name(style)}`)
  const shapes = [...names].map((name) => [name, anyShape(dice, dice.is(15) ? 1 : 0)] as const)
  const required = dice.some([...names], dice.pick([0, 10, 30]))
  return {
    schema: {
      type: "object",
      properties: Object.fromEntries(shapes.map(([name, shape]) => [name, shape.schema])),
      ...(required.length > 0 && { required }),
      ...(dice.is(60) && { additionalProperties: false }),
    },
    value: () => {
      const chosen = shapes.filter(([name]) => required.includes(name) || dice.is(35))
      return Object.fromEntries(chosen.map(([name, shape]) => [name, shape.value()]))
    },
  }
}

/** Objects in objects, and lists of them, `depth` levels. */
export function deepObject(dice: Dice, depth: number): Shape {
  if (depth === 0) return anyObject(dice, 0, 2)
  const inner = deepObject(dice, depth - 1)
  const [name, other] = dice.names(2)
  const isList = dice.is(30)
  const leaf = dice.is(50) ? enumerated(dice, 3) : anyNumber(dice)
  const below = isList ? { type: "array", items: inner.schema } : inner.schema
  return {
    schema: { type: "object", properties: { [other]: leaf.schema, [name]: below }, required: [name] },
    value: () => ({
      ...(dice.is(50) && { [other]: leaf.value() }),
      [name]: isList ? [inner.value()] : inner.value(),
    }),
  }
}

/** A list as most schemas have them: of strings, numbers or objects. */
function plainList(dice: Dice, depth: number): Shape {
  const roll = dice.below(10)
  const item =
    depth > 0 && roll < 4
      ? anyObject(dice, depth - 1, dice.from(2, 6))
      : roll < 8
        ? anyString(dice)
        : anyNumber(dice)
  const bounds = dice.is(50)
    ? {}
    : dice.is(50)
      ? { minItems: dice.below(2) }
      : { minItems: 1, maxItems: dice.pick([3, 4, 5, 8, 10, 20, 50, 100, 1000]) + dice.below(3) }
  return {
    schema: { type: "array", items: item.schema, ...bounds },
    value: () => Array.from({ length: dice.from(1, 3) }, () => item.value()),
  }
}
