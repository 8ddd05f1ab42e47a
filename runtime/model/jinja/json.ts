/**
 * Reads and writes JSON as Python does. Reading preserves the kind of numbers: `1.0` is a float,
 * and integers of any size are exact; keys keep their order. Writing follows `json.dumps`: spaces
 * after separators, `1.0`, `NaN`.
 */
import { type JsonNode, readJson } from "../../../grammar/json/read/reader.ts"
import {
  checkUnits,
  compareTexts,
  Float,
  floatText,
  Generator,
  isTrue,
  TemplateError,
  Tuple,
  typeName,
  type Value,
} from "./value.ts"

/** Returns the value of a JSON text. Throws GrammarError if the text is malformed. */
export function readValue(text: string): Value {
  return valueOfNode(readJson(text, { duplicateKeys: "last" }))
}

function valueOfNode(node: JsonNode): Value {
  switch (node.kind) {
    case "null":
      return null
    case "true":
    case "false":
      return node.kind === "true"
    case "string":
      return node.value
    case "number": {
      const number = Number(node.text)
      if (/[.eE]/.test(node.text)) return new Float(number)
      return Number.isSafeInteger(number) ? number : BigInt(node.text)
    }
    case "array":
      return node.items.map(valueOfNode)
    case "object":
      return new Map(node.keys.map((key) => [key, valueOfNode(node.members.get(key)!)]))
    default:
      return node satisfies never
  }
}

export interface JsonLayout {
  ensureAscii?: Value
  /** Number of spaces per level, or the text per level; null: everything is on one line. */
  indent?: Value
  /** The texts between items and after keys. */
  separators?: Value
  sortKeys?: Value
}

/** Returns the JSON of a value. Throws if Python's would, for example for undefined values. */
export function jsonText(value: Value, layout: JsonLayout = {}): string {
  const { indent = null } = layout
  if (typeof indent === "number") checkUnits(indent)
  const step = typeof indent === "number" ? " ".repeat(indent) : typeof indent === "string" ? indent : null
  const given = layout.separators ?? null
  const separators = given instanceof Tuple ? given.items : given
  const [between, behindKey] = (separators as readonly string[] | null) ?? [step === null ? ", " : ",", ": "]
  const ascii = isTrue(layout.ensureAscii ?? false)
  const sorts = isTrue(layout.sortKeys ?? false)

  const quoted = (text: string): string => {
    const json = JSON.stringify(text)
    if (!ascii) return json
    return json.replace(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
  }
  const wrapped = (open: string, parts: readonly string[], close: string, level: string): string => {
    if (parts.length === 0) return open + close
    if (step === null) return open + parts.join(between) + close
    const line = `\n${level}${step}`
    return `${open}${line}${parts.join(between + line)}\n${level}${close}`
  }
  const keyText = (key: Value): string => {
    if (typeof key === "string") return key
    if (key === null || typeof key === "number" || typeof key === "boolean" || key instanceof Float)
      return write(key, "")
    throw new TemplateError(`keys must be str, int, float, bool or None, not ${typeName(key)}`)
  }
  const write = (each: Value, level: string): string => {
    if (each === null || ["number", "bigint", "boolean"].includes(typeof each)) return String(each)
    if (typeof each === "string") return quoted(each)
    if (each instanceof Float) return floatText(each.value, "Infinity", "NaN")
    const inner = level + (step ?? "")
    if (each instanceof Map) {
      const entries = [...each].map(([key, member]): [string, Value] => [keyText(key), member])
      if (sorts) entries.sort(([a], [b]) => compareTexts(a, b))
      const parts = entries.map(([key, member]) => quoted(key) + behindKey + write(member, inner))
      return wrapped("{", parts, "}", level)
    }
    // Python refuses generators, but some templates for other programs write the result of `map`.
    const items = each instanceof Tuple ? each.items : each instanceof Generator ? each.take() : each
    if (!Array.isArray(items))
      throw new TemplateError(`Object of type ${typeName(each)} is not JSON serializable`)
    const parts = items.map((item) => write(item, inner))
    return wrapped("[", parts, "]", level)
  }
  return write(value, "")
}
