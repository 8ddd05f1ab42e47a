/**
 * Random JSON Schemas for property tests: every keyword family, in-place applicators, references and recursion, sizes
 * kept small. Most are satisfiable, none is malformed, and nothing is refused but by a limit.
 *
 * A schema comes with instances near it: values drawn along the schema, some of them valid, so that mutations of them
 * meet both verdicts.
 */
import { randomOf } from "./oracle.ts"

export type SchemaValue = boolean | { [keyword: string]: unknown }
type Random = () => number

export interface RandomSchemaOptions {
  /** Nesting of subschemas. Default 3. */
  depth?: number
  /** Keyword families to leave out, e.g. ["unevaluated"]. */
  without?: readonly Family[]
}

export type Family =
  | "not"
  | "oneOf"
  | "if"
  | "contains"
  | "unique"
  | "unevaluated"
  | "dependent"
  | "pattern"
  | "format"
  | "recursion"

interface Context {
  random: Random
  has(family: Family): boolean
  canRecurse: boolean
}

/** The schema of `seed`: always the same one. */
export function randomSchema(
  seed: number,
  { depth = 3, without = [] }: RandomSchemaOptions = {},
): SchemaValue {
  const random = randomOf(seed)
  const context = {
    random,
    has: (family: Family) => !without.includes(family),
    canRecurse: !without.includes("recursion") && random() < 0.25,
  }
  const schema = schemaOf(context, depth)
  if (!context.canRecurse || typeof schema === "boolean") return schema
  const node = {
    type: ["object", "null"],
    properties: { next: { $ref: "#/$defs/node" }, v: scalarOf(context) },
  }
  return { ...schema, $defs: { node } }
}

/** Instances near `schema`, as JSON texts: some valid, some not. */
export function randomInstances(schema: SchemaValue, seed: number, count = 8): string[] {
  const random = randomOf(seed)
  return Array.from({ length: count }, () => JSON.stringify(instanceOf(schema, random, 4)))
}

const names = ["a", "b", "c", "ab", "x1", "größe", ""]
const texts = ["", "a", "ab", "abc", "b1", "ä", "💩", "x-1", "2024-02-29", "10.0.0.1"]
const values = [null, true, false, 0, 1, -1, 2.5, 10, "", "a", "ab", [], [1], {}, { a: 1 }]
const patterns = ["^a", "b$", "^[a-z]*$", "^(ab|c)+$", "\\d", "^.{2,3}$", "^(?!a)", "ä|é"]
const formats = [
  "date",
  "time",
  "date-time",
  "ipv4",
  "uuid",
  "email",
  "uri",
  "json-pointer",
  "duration",
  "hostname",
]

function schemaOf(context: Context, depth: number): SchemaValue {
  const { random } = context
  if (random() < 0.05) return random() < 0.8
  if (depth === 0 || random() < 0.25) return scalarOf(context)
  const kind = random()
  if (kind < 0.4) return objectOf(context, depth)
  if (kind < 0.6) return arrayOf(context, depth)
  return combinedOf(context, depth)
}

function scalarOf({ random, has, canRecurse }: Context): SchemaValue {
  if (canRecurse && random() < 0.15) return { $ref: "#/$defs/node" }
  switch (below(random, 8)) {
    case 0:
      return { type: some(random, ["null", "boolean", "integer", "number", "string"], 2) }
    case 1:
      return { enum: some(random, values, 4) }
    case 2:
      return { const: pick(random, values) }
    case 3: {
      const low = below(random, 20) - 10
      return { type: "integer", minimum: low, exclusiveMaximum: low + 1 + below(random, 30) }
    }
    case 4:
      return { type: pick(random, ["number", "integer"]), multipleOf: pick(random, [2, 3, 0.5, 0.1, 10]) }
    case 5: {
      const low = below(random, 3)
      return { type: "string", minLength: low, maxLength: low + below(random, 6) }
    }
    case 6:
      return has("pattern") ? { type: "string", pattern: pick(random, patterns) } : { type: "string" }
    default:
      return has("format") ? { type: "string", format: pick(random, formats) } : { type: "boolean" }
  }
}

function objectOf(context: Context, depth: number): SchemaValue {
  const { random, has } = context
  const own = some(random, names, 4)
  const schema: SchemaValue = {
    ...(random() < 0.8 ? { type: "object" } : {}),
    properties: Object.fromEntries(own.map((name) => [name, schemaOf(context, depth - 1)])),
  }
  if (random() < 0.5) schema.required = own.filter(() => random() < 0.5)
  const rest = random()
  if (rest < 0.3) schema.additionalProperties = false
  else if (rest < 0.45) schema.additionalProperties = schemaOf(context, depth - 1)
  else if (rest < 0.55 && has("unevaluated")) {
    schema.unevaluatedProperties = random() < 0.5 ? false : scalarOf(context)
    if (random() < 0.5) schema.anyOf = [objectOf(context, 1), objectOf(context, 1)]
  }
  if (random() < 0.15 && has("pattern"))
    schema.patternProperties = { [pick(random, patterns)]: schemaOf(context, depth - 1) }
  if (random() < 0.1)
    schema.propertyNames = pick<SchemaValue>(random, [{ maxLength: 2 }, { enum: names.slice(1) }])
  if (random() < 0.15) schema.minProperties = below(random, 3)
  if (random() < 0.15) schema.maxProperties = 1 + below(random, 3)
  if (random() < 0.15 && has("dependent"))
    schema.dependentRequired = { [pick(random, names)]: some(random, names, 2) }
  if (random() < 0.1 && has("dependent"))
    schema.dependentSchemas = { [pick(random, names)]: schemaOf(context, Math.min(1, depth - 1)) }
  return schema
}

function arrayOf(context: Context, depth: number): SchemaValue {
  const { random, has } = context
  const schema: SchemaValue = random() < 0.8 ? { type: "array" } : {}
  if (random() < 0.3)
    schema.prefixItems = Array.from({ length: 1 + below(random, 3) }, () => schemaOf(context, depth - 1))
  if (random() < 0.7) schema.items = random() < 0.15 ? false : schemaOf(context, depth - 1)
  else if (random() < 0.3 && has("unevaluated")) schema.unevaluatedItems = scalarOf(context)
  const low = below(random, 3)
  if (random() < 0.3) schema.minItems = low
  if (random() < 0.4) schema.maxItems = low + below(random, 4)
  if (random() < 0.2 && has("contains")) {
    schema.contains = scalarOf(context)
    if (random() < 0.4) schema.minContains = below(random, 3)
    if (random() < 0.4) schema.maxContains = 1 + below(random, 3)
  }
  if (random() < 0.15 && has("unique")) schema.uniqueItems = true
  return schema
}

function combinedOf(context: Context, depth: number): SchemaValue {
  const { random, has } = context
  const list = (most: number) =>
    Array.from({ length: 1 + below(random, most) }, () => schemaOf(context, depth - 1))
  switch (below(random, 6)) {
    case 0:
      return { allOf: list(2) }
    case 1:
      return { anyOf: list(3) }
    case 2:
      return has("oneOf") ? { oneOf: list(3) } : { anyOf: list(3) }
    case 3:
      return has("not") ? { not: schemaOf(context, depth - 1) } : true
    case 4:
      if (!has("if")) return { anyOf: list(2) }
      return Object.fromEntries([
        ["if", schemaOf(context, depth - 1)],
        ...(random() < 0.8 ? [["then", schemaOf(context, depth - 1)]] : []),
        ...(random() < 0.8 ? [["else", schemaOf(context, depth - 1)]] : []),
      ])
    default: {
      const base = schemaOf(context, depth - 1)
      return typeof base === "boolean" ? base : { ...base, anyOf: list(2) }
    }
  }
}

/** A value that follows the schema's positive keywords loosely. */
function instanceOf(schema: unknown, random: Random, depth: number): unknown {
  if (depth === 0 || typeof schema !== "object" || schema === null || random() < 0.08)
    return pick(random, values)
  const parts = schema as Record<string, unknown>
  for (const keyword of ["const", "enum", "anyOf", "oneOf", "allOf"]) {
    const part = parts[keyword]
    if (part === undefined || random() < 0.3) continue
    if (keyword === "const") return part
    const member = pick(random, part as unknown[])
    return keyword === "enum" ? member : instanceOf(member, random, depth - 1)
  }
  if (parts.properties !== undefined || parts.additionalProperties !== undefined || parts.type === "object")
    return objectValue(parts, random, depth)
  if (parts.items !== undefined || parts.prefixItems !== undefined || parts.type === "array")
    return arrayValue(parts, random, depth)
  return scalarValue(parts, random)
}

function objectValue(parts: Record<string, unknown>, random: Random, depth: number): unknown {
  const properties = (parts.properties ?? {}) as Record<string, unknown>
  const required = (parts.required ?? []) as string[]
  const value: Record<string, unknown> = {}
  for (const name of [...Object.keys(properties), ...required]) {
    if (required.includes(name) || random() < 0.5)
      value[name] = instanceOf(properties[name] ?? true, random, depth - 1)
  }
  if (random() < 0.2)
    value[pick(random, names)] = instanceOf(parts.additionalProperties ?? true, random, depth - 1)
  return value
}

function arrayValue(parts: Record<string, unknown>, random: Random, depth: number): unknown {
  const tuple = (parts.prefixItems ?? []) as unknown[]
  const least = (parts.minItems ?? 0) as number
  return Array.from({ length: least + below(random, 3) }, (_, i) =>
    instanceOf(i < tuple.length ? tuple[i] : (parts.items ?? parts.contains ?? true), random, depth - 1),
  )
}

function scalarValue(parts: Record<string, unknown>, random: Random): unknown {
  const type = pick(random, [parts.type].flat())
  if (type === "string") return pick(random, texts)
  if (type === "boolean") return random() < 0.5
  if (type === "null") return null
  if (type !== "integer" && type !== "number") return pick(random, values)
  const low = (parts.minimum ?? 0) as number
  const step = (parts.multipleOf ?? 1) as number
  return Number((low + below(random, 20) * step).toPrecision(12))
}

const below = (random: Random, bound: number) => Math.floor(random() * bound)
const pick = <T>(random: Random, list: readonly T[]): T => list[below(random, list.length)]

/** One to `most` different elements. */
function some<T>(random: Random, list: readonly T[], most: number): T[] {
  return [...new Set(Array.from({ length: 1 + below(random, most) }, () => pick(random, list)))]
}
