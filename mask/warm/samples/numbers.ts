/** Numbers: integers, decimals, bounds of all sizes, multiples, in all spellings. */
import type { Dice } from "./dice.ts"
import { fixed, type Shape, Spelt } from "./shape.ts"

export function anyNumber(dice: Dice): Shape {
  return numbers[dice.below(numbers.length)](dice)
}

const spelt = (...texts: readonly string[]) => texts.map((text) => new Spelt(text))

export const numbers: readonly ((dice: Dice) => Shape)[] = [
  (dice) => ({ schema: { type: "integer" }, value: () => dice.from(-999, 99_999) }),
  (dice) => ({
    schema: { type: "number" },
    value: () => dice.from(-999, 99_999) / dice.pick([1, 10, 100, 1000]),
  }),
  (dice) => fixed(dice, { type: "number" }, ...spelt("0", "-0.5", "3.1400", "120", "0.00001", "-17")),
  (dice) => ({ schema: { type: "integer", minimum: dice.below(2) }, value: () => dice.from(1, 9_999_999) }),
  (dice) => {
    const least = dice.from(0, 20)
    const most = least + dice.pick([1, 5, 9, 60, 100, 365, 1000, 65_535, 86_400])
    return { schema: { type: "integer", minimum: least, maximum: most }, value: () => dice.from(least, most) }
  },
  (dice) => {
    const most = dice.from(30, 50_000)
    return { schema: { type: "integer", minimum: -most, maximum: most }, value: () => dice.from(-most, most) }
  },
  (dice) => {
    const most = dice.pick([2_147_483_647, 4_294_967_295, 9_007_199_254_740_991]) - dice.below(3)
    return {
      schema: { type: "integer", minimum: 0, maximum: most },
      value: () => dice.from(0, 2_000_000_000),
    }
  },
  (dice) => {
    const least = dice.from(-500, -3)
    return { schema: { type: "integer", exclusiveMinimum: least }, value: () => dice.from(least + 1, 5000) }
  },
  (dice) => {
    const most = dice.from(10, 900)
    const schema = { type: "integer", exclusiveMinimum: 0, exclusiveMaximum: most }
    return { schema, value: () => dice.from(1, most - 1) }
  },
  (dice) => {
    const step = dice.pick([2, 3, 5, 7, 10, 12, 15, 25, 60, 100, 250])
    return { schema: { type: "integer", multipleOf: step }, value: () => step * dice.from(-20, 900) }
  },
  (dice) => {
    const step = dice.pick([4, 5, 8, 10, 50])
    const most = step * dice.from(20, 400)
    const schema = { type: "integer", minimum: step, maximum: most, multipleOf: step }
    return { schema, value: () => step * dice.from(1, most / step) }
  },
  (dice) => {
    const schema = {
      type: "number",
      multipleOf: 0.01,
      minimum: 0,
      ...(dice.is(50) && { maximum: dice.from(1000, 9000) }),
    }
    return { schema, value: () => new Spelt((dice.from(0, 99_000) / 100).toFixed(2)) }
  },
  (dice) => ({
    schema: { type: "number", multipleOf: dice.pick([0.5, 0.25, 0.1, 0.05]) },
    value: () => dice.pick([1.5, 0.5, 12, -2.5, 100]),
  }),
  (dice) => ({
    schema: { type: "number", minimum: 0, maximum: 1 },
    value: () => dice.pick([0, 1, 0.5, 0.25, dice.below(1000) / 1000]),
  }),
  (dice) => {
    const most = dice.from(1, 400) + dice.below(100) / 100
    return {
      schema: { type: "number", minimum: -most, maximum: most },
      value: () => dice.from(-100, 100) / 100,
    }
  },
  (dice) => ({
    schema: { type: "number", exclusiveMinimum: 0, ...(dice.is(50) && { maximum: dice.from(50, 999) }) },
    value: () => dice.pick([0.001, 1, 2.5, 49.99, 17]),
  }),
  (dice) => {
    const most = dice.from(5, 60) + 0.5
    return { schema: { type: "number", exclusiveMaximum: most }, value: () => dice.pick([-1e3, 0, 4.25, 3]) }
  },
  (dice) => {
    const least = dice.from(1, 90)
    return { schema: { type: "number", minimum: least }, value: () => least + dice.below(5000) / 100 }
  },
  (dice) => {
    const most = dice.from(40, 9000)
    return { schema: { maximum: most, type: "number" }, value: () => most - dice.below(4000) / 10 }
  },
  (dice) => fixed(dice, { enum: [1, 2, 3, 5, 8, dice.from(9, 99)] }, 1, 3, 8),
  (dice) => fixed(dice, { type: "integer", enum: [0, 90, 180, 270, dice.from(300, 400)] }, 0, 90, 270),
  (dice) => fixed(dice, { type: "number", enum: [0.5, 1, 1.5, dice.from(2, 99)] }, 0.5, 1, 1.5),
  (dice) => {
    const version = dice.from(1, 40)
    return fixed(dice, { const: version }, version)
  },
  (dice) => ({
    schema: { type: ["integer", "null"], minimum: 1 },
    value: () => (dice.is(30) ? null : dice.from(1, 99)),
  }),
  (dice) => ({
    schema: { type: ["number", "string"] },
    value: () => (dice.is(50) ? dice.noun() : dice.below(99) / 4),
  }),
]

/** Spellings that only `numbers: "json"` reads. */
export const spellings: readonly ((dice: Dice) => Shape)[] = [
  (dice) => fixed(dice, { type: "number" }, ...spelt("1e3", "2.50E-7", "-0.0", "6.02e+23", "1E400")),
  (dice) => {
    const schema = { type: "number", minimum: -dice.from(1000, 9000), maximum: dice.from(5000, 90_000) }
    return fixed(dice, schema, ...spelt("1.5e2", "-9E2", "0e0", "12.50", "4e-9"))
  },
  (dice) => fixed(dice, { type: "integer" }, ...spelt("1.0", "2e2", "-30.00", "1.5e1", "700E-2")),
  (dice) => {
    const schema = { type: "integer", minimum: dice.from(-50, 0), maximum: dice.from(2000, 9000) }
    return fixed(dice, schema, ...spelt("1e3", "12.0", "0.5e1"))
  },
  (dice) =>
    fixed(dice, { type: "number", multipleOf: dice.pick([0.5, 0.25]) }, ...spelt("1.5e1", "250e-2", "2.50")),
  (dice) => fixed(dice, { enum: [10, 2.5, dice.from(20, 90)] }, ...spelt("1e1", "2.50", "10.0")),
]
