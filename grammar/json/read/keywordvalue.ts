/**
 * The values of keywords, checked: each function takes a node and the keyword's pointer, and throws
 * `syntax`.
 */
import { fixedBounds, GrammarError, limitError } from "../../errors.ts"
import { type Decimal, parseDecimal } from "../../lexeme/number/decimal.ts"
import type { JsonNode } from "./reader.ts"
import { decimalOfNode } from "./value.ts"

/**
 * Significant digits of a bound or divisor: reading a number digit by digit is quadratic in them.
 */

export type Members = ReadonlyMap<string, JsonNode>

export function malformed(path: string, expected: string, got: JsonNode): GrammarError {
  return new GrammarError("syntax", path, `must be ${expected}, got ${describeValue(got)}`)
}

/** A value in a message. */
export function describeValue(value: JsonNode): string {
  switch (value.kind) {
    case "number":
      return value.text
    case "string":
      return JSON.stringify(value.value.length > 40 ? `${value.value.slice(0, 40)}…` : value.value)
    case "array":
    case "object":
      return `an ${value.kind}`
    default:
      return value.kind
  }
}

/** A non-negative integer, `2.0` included. Counts from 2^53 on are taken for the one before it. */
export function readCount(value: JsonNode, path: string): number {
  if (value.kind === "number") {
    if (/^[0-9]{1,15}$/.test(value.text)) return Number(value.text)
    const decimal = decimalOfNode(value)
    if (decimal.sign >= 0 && decimal.exponent >= 0) {
      if (decimal.exponent > 15) return Number.MAX_SAFE_INTEGER
      return Math.min(Number(decimal.digits) * 10 ** decimal.exponent, Number.MAX_SAFE_INTEGER)
    }
  }
  throw malformed(path, "a non-negative integer", value)
}

export function readNumber(value: JsonNode, path: string): Decimal {
  if (value.kind !== "number") throw malformed(path, "a number", value)
  const decimal = parseDecimal(value.text)
  if (value.text.length > fixedBounds.digits) {
    const count = decimal.digits.toString().length
    if (count > fixedBounds.digits) {
      throw limitError(fixedBounds, "digits", count, path)
    }
  }
  return decimal
}

export function readString(value: JsonNode, path: string): string {
  if (value.kind !== "string") throw malformed(path, "a string", value)
  return value.value
}

export function readStrings(value: JsonNode, path: string): string[] {
  if (value.kind !== "array") throw malformed(path, "an array of strings", value)
  return value.items.map((item, index) => {
    if (item.kind !== "string") throw malformed(`${path}/${index}`, "a string", item)
    return item.value
  })
}

export function mapOf(value: JsonNode, path: string): Members {
  if (value.kind !== "object") throw malformed(path, "an object", value)
  return value.members
}

export function schemaList(value: JsonNode, path: string): readonly JsonNode[] {
  if (value.kind !== "array" || value.items.length === 0)
    throw malformed(path, "a non-empty array of schemas", value)
  return value.items
}
