/**
 * Generators of nasty schemas: a random source and a size, from 0 up, make a schema. The same seed makes the same one.
 *
 * A string `RAW…` in a schema stands for that number, digit by digit, since a number of JavaScript forgets its spelling.
 */
export type Random = () => number

export type Generators = Record<string, (random: Random, size: number) => unknown>

export const repeat = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

/** An integer below `bound`. */
export const whole = (random: Random, bound: number): number => Math.floor(random() * bound)

export const among = <T>(random: Random, values: readonly T[]): T => values[whole(random, values.length)]

export const letter = (random: Random): string => "abcdefgh"[whole(random, 8)]

export const letters = (random: Random, count: number): string[] => [
  ...new Set(repeat(count, () => letter(random))),
]

/** `around` an integer, `depth` times. */
export function nested(depth: number, around: (inner: unknown) => unknown): unknown {
  let schema: unknown = { type: "integer" }
  for (let i = 0; i < depth; i++) schema = around(schema)
  return schema
}

/** Definitions d0, d1, … of which each may refer to those a number of steps behind it, in a circle. */
export function chain(
  count: number,
  make: (i: number, next: (steps: number) => { $ref: string }) => unknown,
): Record<string, unknown> {
  const reference = (i: number) => ({ $ref: `#/$defs/d${i % count}` })
  return Object.fromEntries(repeat(count, (i) => [`d${i}`, make(i, (steps) => reference(i + steps))]))
}

/** JSON text of a schema. */
export const schemaText = (schema: unknown): string =>
  JSON.stringify(schema).replace(/"RAW([-+.\deE]+)"/g, "$1")
