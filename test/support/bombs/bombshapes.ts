/** Shapes that the bombs are made of. */
export const n = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))
export const o = (count: number, make: (i: number) => [string, unknown]) => Object.fromEntries(n(count, make))
export function nest(depth: number, around: (inner: unknown) => unknown): unknown {
  let schema: unknown = { type: "integer" }
  for (let i = 0; i < depth; i++) schema = around(schema)
  return schema
}
/** `around` a reference, `depth` times: doubling that no text shows. */
export function chain(depth: number, around: (next: unknown) => object): unknown {
  const $defs = o(depth, (i) => [
    `d${i}`,
    i === depth - 1 ? { type: "integer" } : around({ $ref: `#/$defs/d${i + 1}` }),
  ])
  return { $ref: "#/$defs/d0", $defs }
}
