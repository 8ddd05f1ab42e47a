/** `type`, and the keywords about numbers: a set of types and one cell of numbers. */
import { meetBounds } from "../../lexeme/number/cell.ts"
import { anyNumber, type NumberCell } from "../../lexeme/number/number.ts"
import { Types } from "../facts/conjunction.ts"
import type { SchemaNode } from "../refs/refs.ts"
import type { Keywords } from "./keywords.ts"
import { type Members, malformed, readNumber } from "./keywordvalue.ts"
import type { JsonNode } from "./reader.ts"

const typeNames = new Map<string, number>([...Object.entries(Types), ["integer", Types.number]])

// Shared, so that equal cells are one object and are recognized by identity.
const integers: NumberCell = { ...anyNumber, form: "integral" }
const lexicalIntegers: NumberCell = { ...anyNumber, form: "lexicalInteger" }

/** A keyword's value, and the schema to which it belongs. */
export interface KeywordPlace {
  readonly keywords: Keywords
  readonly node: SchemaNode
  readonly members: Members
  readonly value: JsonNode
  readonly path: string
}

/** Reads `type`. `lexical`: integers are written without a point or an exponent. */
export function readType(keywords: Keywords, value: JsonNode, path: string, lexical: boolean): undefined {
  const names = value.kind === "array" ? value.items : [value]
  let types = 0
  let isInteger = false
  let isNumber = false
  for (const name of names) {
    const bit = name.kind === "string" ? typeNames.get(name.value) : undefined
    if (bit === undefined) throw malformed(path, `one of ${[...typeNames.keys()].join(", ")}`, name)
    types |= bit
    if (name.kind === "string" && name.value === "integer") isInteger = true
    if (name.kind === "string" && name.value === "number") isNumber = true
  }
  keywords.types = types
  if (!isInteger || isNumber) return
  const all = lexical ? lexicalIntegers : integers
  keywords.number = keywords.number === null ? all : { ...keywords.number, form: all.form }
}

/** Stores a bound or a divisor. Returns the reason if it has no effect here. */
export function readNumeric(
  { keywords, node, members, value, path }: KeywordPlace,
  keyword: string,
): string | undefined {
  const { dialect } = node
  const cell = keywords.number ?? anyNumber
  if (keyword === "multipleOf") {
    const factor = readNumber(value, path)
    if (factor.sign <= 0) throw malformed(path, "a number above 0", value)
    keywords.number = { ...cell, multipleOf: [...cell.multipleOf, factor] }
    return undefined
  }
  const isMin = keyword === "minimum" || keyword === "exclusiveMinimum"
  const isExclusive = keyword.startsWith("exclusive")
  if (isExclusive && (value.kind === "true" || value.kind === "false")) {
    if (!dialect.booleanExclusive) throw malformed(path, "a number", value)
    return members.has(isMin ? "minimum" : "maximum") ? undefined : `no ${isMin ? "minimum" : "maximum"}`
  }
  if (isExclusive && !dialect.numericExclusive) throw malformed(path, "a boolean", value)
  const bound = readNumber(value, path)
  const modifier = members.get(isMin ? "exclusiveMinimum" : "exclusiveMaximum")
  const exclusive = isExclusive || (dialect.booleanExclusive && modifier?.kind === "true")
  const narrower = isMin
    ? { ...anyNumber, min: bound, minExclusive: exclusive }
    : { ...anyNumber, max: bound, maxExclusive: exclusive }
  keywords.number = { ...cell, ...meetBounds(cell, narrower) }
  return undefined
}
