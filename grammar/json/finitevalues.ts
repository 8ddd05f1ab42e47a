/**
 * The values of a conjunction, where there are finitely many. Unique items must know when they run out.
 *
 * Scalars are spelled out by their own languages; containers are products of their parts. Anything with more than `cap`
 * values counts as infinite: more than that many items are never needed to notice.
 */
import { GrammarError } from "../errors.ts"
import type { ArraySpec } from "./arrayspec.ts"
import type { ObjectSpec } from "./objectspec.ts"
import type { JsonNode } from "./reader.ts"

/** The values of a part, or null for infinitely many. */
export type Values = (conjunction: number) => readonly JsonNode[] | null

const range = { start: 0, end: 0 }

export function arrayValues(spec: ArraySpec, values: Values, cap: number): JsonNode[] | null {
  if (spec.max > 64) return null
  const result: JsonNode[] = []
  let rows: JsonNode[][] = [[]]
  for (let length = 0; ; length++) {
    if (length >= spec.min) for (const items of rows) result.push({ kind: "array", items, ...range })
    if (length === spec.max || rows.length === 0) return result
    const items = values(spec.items[Math.min(length, spec.items.length - 1)])
    if (items === null || rows.length * items.length > cap || result.length > cap) return null
    rows = rows.flatMap((row) => items.map((item) => [...row, item]))
  }
}

export function objectValues(spec: ObjectSpec, values: Values, cap: number): JsonNode[] | null {
  if (spec.classes.length > 0 && spec.max > 0 && spec.names.length < spec.max) return null
  let rows: [string, JsonNode][][] = [[]]
  for (const { name, value, isRequired } of spec.names) {
    const members = values(value)
    if (members === null || rows.length * (members.length + 1) > cap) return null
    rows = rows.flatMap((row) => [
      ...(isRequired ? [] : [row]),
      ...members.map((member): [string, JsonNode][] => [...row, [name, member]]),
    ])
  }
  if (spec.obligationCount > 0) {
    throw new GrammarError(
      "limit",
      "",
      "unique items that are objects with finitely many values under a negation. Simplify the not or oneOf around them",
    )
  }
  return rows
    .filter((row) => row.length >= spec.min && row.length <= spec.max)
    .map((row) => ({ kind: "object", keys: row.map(([name]) => name), members: new Map(row), ...range }))
}
