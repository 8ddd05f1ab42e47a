/**
 * JSON values compared by value, with the equality of JSON Schema: numbers by their exact value,
 * objects in any key order.
 */
import { type Decimal, parseDecimal } from "../../lexeme/number/decimal.ts"
import type { JsonNode } from "./reader.ts"

/** Returns the exact value of a number node. */
export function decimalOfNode(node: JsonNode): Decimal {
  if (node.kind !== "number") throw new Error(`internal: ${node.kind} is not a number`)
  return parseDecimal(node.text)
}

/**
 * Returns a key of the value; equal values have equal keys. Linear in the value at any depth,
 * except for sorting names.
 */
export function valueKey(node: JsonNode): string {
  if (node.kind !== "array" && node.kind !== "object") return scalarKey(node)
  const parts: string[] = []
  writeKey(node, parts)
  return parts.join("")
}

function writeKey(node: JsonNode, parts: string[]): void {
  switch (node.kind) {
    case "array":
      parts.push("[")
      for (const item of node.items) {
        writeKey(item, parts)
        parts.push(",")
      }
      parts.push("]")
      return
    case "object":
      parts.push("{")
      for (const key of [...node.keys].sort()) {
        parts.push(JSON.stringify(key), ":")
        writeKey(node.members.get(key) as JsonNode, parts)
        parts.push(",")
      }
      parts.push("}")
      return
    default:
      parts.push(scalarKey(node))
  }
}

function scalarKey(node: JsonNode): string {
  switch (node.kind) {
    case "number": {
      const { sign, digits, exponent } = parseDecimal(node.text)
      return sign === 0 ? "0" : `${sign < 0 ? "-" : ""}${digits}e${exponent}`
    }
    case "string":
      return JSON.stringify(node.value)
    default:
      return node.kind
  }
}

/** Compares names by their UTF-8 bytes. */
export function compareNames(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return a[i] - b[i]
  return a.length - b.length
}
