/**
 * TypeScript types of JSON Schemas: every value of a schema, written as JSON, is assignable to its
 * type.
 *
 * A type may be wider than its schema, never narrower. So constraints that types cannot express
 * (patterns, bounds, counts, `not`, conditions, references) are left out, and if nothing is known
 * the type is `unknown`. An object that may have names that the schema does not list has an index
 * signature of `unknown`: without one the checker refuses them as excess properties.
 */
import { isObject } from "../options.ts"

type Fields = Readonly<Record<string, unknown>>

/** Returns the type of the values of `schema`. Cost: linear in the schema. */
export function typeOf(schema: unknown): string {
  if (schema === false) return "never"
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return "unknown"
  const fields = schema as Fields
  // In the older drafts all keywords beside a reference are ignored.
  if (fields.$ref !== undefined) return "unknown"
  if ("const" in fields) return literalType(fields.const)
  if (Array.isArray(fields.enum)) return union(fields.enum.map(literalType))
  const parts = [ownType(fields)]
  for (const name of ["anyOf", "oneOf"]) {
    const options = fields[name]
    if (Array.isArray(options)) parts.push(union(options.map(typeOf)))
  }
  if (Array.isArray(fields.allOf)) parts.push(...fields.allOf.map(typeOf))
  return intersection(parts)
}

/** Returns the type for `type`, with the keywords of that type. */
function ownType(fields: Fields): string {
  const { type } = fields
  if (type === undefined) return "unknown"
  const names = Array.isArray(type) ? type : [type]
  return union(names.map((name) => typeOfName(name, fields)))
}

function typeOfName(name: unknown, fields: Fields): string {
  switch (name) {
    case "string":
    case "boolean":
    case "null":
    case "number":
      return name
    case "integer":
      return "number"
    case "array":
      return arrayType(fields)
    case "object":
      return objectType(fields)
    default:
      return "unknown"
  }
}

/** Returns the type of an array. Schemas for items by position are not used. */
function arrayType({ items, prefixItems }: Fields): string {
  const item = prefixItems === undefined && !Array.isArray(items) ? typeOf(items ?? true) : "unknown"
  return /^\w+$/.test(item) ? `${item}[]` : `(${item})[]`
}

function objectType({ properties, required, patternProperties, additionalProperties }: Fields): string {
  const known = isObject(properties) ? properties : {}
  const needed = new Set(Array.isArray(required) ? required.filter((name) => typeof name === "string") : [])
  const isClosed = additionalProperties === false && patternProperties === undefined
  const members = Object.keys(known).map((name) => {
    return `${JSON.stringify(name)}${needed.has(name) ? "" : "?"}: ${typeOf(known[name])}`
  })
  const others = [...needed].filter((name) => !Object.hasOwn(known, name))
  if (!isClosed) {
    for (const name of others) members.push(`${JSON.stringify(name)}: unknown`)
    const isAlike = members.length === 0 && patternProperties === undefined
    members.push(`[key: string]: ${isAlike ? typeOf(additionalProperties ?? true) : "unknown"}`)
  }
  // The type {} accepts anything except null.
  return members.length === 0 ? "{ [key: string]: never }" : `{ ${members.join("; ")} }`
}

/** Returns the type of this value alone. */
function literalType(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literalType).join(", ")}]`
  if (isObject(value)) {
    const members = Object.keys(value).map((name) => `${JSON.stringify(name)}: ${literalType(value[name])}`)
    return members.length === 0 ? "{ [key: string]: never }" : `{ ${members.join("; ")} }`
  }
  return typeof value === "bigint" ? `${value}` : (JSON.stringify(value) ?? "unknown")
}

/**
 * Returns any of `types`. Laws: unknown absorbs all others, never adds nothing, equal types are
 * one.
 */
function union(types: readonly string[]): string {
  const members = new Set(types.filter((type) => type !== "never"))
  if (members.size === 0) return "never"
  if (members.has("unknown")) return "unknown"
  return members.size === 1 ? [...members][0] : `(${[...members].join(" | ")})`
}

/** Returns all of `types`. Laws: unknown adds nothing, equal types are one. */
function intersection(types: readonly string[]): string {
  const members = new Set(types.filter((type) => type !== "unknown"))
  if (members.size === 0) return "unknown"
  return members.size === 1 ? [...members][0] : `(${[...members].join(" & ")})`
}
