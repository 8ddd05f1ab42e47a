/**
 * Checked values of keywords: each function takes a node and the keyword's pointer, and throws
 * `syntax` if the value has the wrong form.
 */
import { fixedBounds, GrammarError, limitError } from "../../errors.ts"
import { type Decimal, parseDecimal } from "../../lexeme/number/decimal.ts"
import type { JsonNode } from "./reader.ts"
import { decimalOfNode } from "./value.ts"

export type Members = ReadonlyMap<string, JsonNode>

export function malformed(path: string, expected: string, got: JsonNode): GrammarError {
  return new GrammarError("syntax", path, `must be ${expected}, got ${describeValue(got)}`)
}

/** Returns a value as text for a message. */
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

/** Reads a non-negative integer, `2.0` included. A count of 2^53 or more becomes 2^53 - 1. */
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
  // Reading a number digit by digit is quadratic in the significant digits of a bound or divisor.
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
