/**
 * A schema node, read: every keyword checked and put where the compiler looks for it.
 *
 * Each keyword ends in one of three ways: it constrains (`exact` in the report), it has no effect by the standard
 * (`annotation`, with the reason), or it is refused with its pointer. Nothing is skipped in silence.
 */
import { GrammarError, type Limits } from "../errors.ts"
import { compare as compareDecimals } from "../lexeme/decimal.ts"
import type { ExprId } from "../lexeme/expr.ts"
import { anyNumber, type NumberCell } from "../lexeme/number.ts"
import { parseRegex } from "../regex/parse.ts"
import type { KeywordNote } from "../report.ts"
import { AllTypes, Infinite, Types, typeBit } from "./conjunction.ts"
import { isKeywordSomewhere } from "./dialect.ts"
import { formatExpr, PlainHostname } from "./format.ts"
import {
  describeValue,
  escapePointer,
  type Members,
  malformed,
  mapOf,
  readCount,
  readNumber,
  readString,
  readStrings,
  schemaList,
} from "./keywordvalue.ts"
import type { JsonNode } from "./reader.ts"
import type { SchemaGraph, SchemaNode } from "./refs.ts"
import { valueKey } from "./value.ts"

export interface Keywords {
  /** Bit set of the JSON types that are allowed. */
  types: number
  enum: readonly JsonNode[] | null
  /** Members of `enum` with this type bit. */
  enumOf(type: number): readonly JsonNode[]
  /** In place: all of these hold, one of each list, exactly one of each list, none of these. */
  all: SchemaNode[]
  any: SchemaNode[][]
  one: SchemaNode[][]
  not: SchemaNode[]
  conditional: { test: SchemaNode; yes: SchemaNode | null; no: SchemaNode | null } | null
  minLength: number
  maxLength: number
  /** Languages of the decoded text: `pattern` and `format`. */
  patterns: ExprId[]
  number: NumberCell | null
  properties: Map<string, SchemaNode>
  patternProperties: { expr: ExprId; node: SchemaNode }[]
  /** For names that neither of the two matches; null: anything. */
  additional: SchemaNode | null
  required: string[]
  minProperties: number
  maxProperties: number
  propertyNames: SchemaNode | null
  /** Language of the names that `node` accepts. */
  namesOf(node: SchemaNode): ExprId
  dependentRequired: [name: string, names: string[]][]
  dependentSchemas: [name: string, node: SchemaNode][]
  prefix: SchemaNode[]
  /** For items after `prefix`; null: anything. */
  rest: SchemaNode | null
  minItems: number
  maxItems: number
  contains: { node: SchemaNode; min: number; max: number } | null
  unique: boolean
  /** For members that nothing else evaluates (`coverage.ts`); null: anything. */
  unevaluatedProperties: SchemaNode | null
  unevaluatedItems: SchemaNode | null
  /** Whether some `unevaluated*` needs to know if the in-place schemas here hold. */
  isObserved: boolean
}

export interface ReadOptions {
  limits: Limits
  formats: "assert" | "annotate" | "vocabulary"
  unknownKeywords: "ignore" | "error"
}

const typeNames = new Map<string, number>([...Object.entries(Types), ["integer", Types.number]])

/** Reads nodes once each, and keeps a note of every keyword that it has seen. */
export class KeywordReader {
  readonly graph: SchemaGraph
  readonly notes: KeywordNote[] = []
  private readonly options: ReadOptions
  private readonly known = new Map<number, Keywords>()
  private names: (node: SchemaNode) => ExprId = () => {
    throw new Error("internal: the language of names is not bound yet")
  }

  constructor(graph: SchemaGraph, options: ReadOptions) {
    this.graph = graph
    this.options = options
  }

  /** Where the string language of a schema comes from. */
  bindNames(names: (node: SchemaNode) => ExprId): void {
    this.names = names
  }

  of(node: SchemaNode): Keywords {
    let keywords = this.known.get(node.id)
    if (keywords === undefined) {
      keywords = this.read(node)
      this.known.set(node.id, keywords)
    }
    return keywords
  }

  private read(node: SchemaNode): Keywords {
    const keywords = this.empty()
    const { value } = node
    if (value.kind === "true") return keywords
    if (value.kind === "false") return { ...keywords, types: 0 }
    if (value.kind !== "object") {
      throw new GrammarError(
        "syntax",
        node.pointer,
        `a schema must be an object or a boolean, not ${describeValue(value)}`,
      )
    }
    const ref = value.members.get("$ref")
    const overridden = node.dialect.refOverrides && ref?.kind === "string"
    for (const keyword of value.keys) {
      const path = `${node.pointer}/${escapePointer(keyword)}`
      if (overridden && keyword !== "$ref" && keyword !== "definitions") {
        this.note(path, keyword, "annotation", "ignored beside $ref")
        continue
      }
      const known = node.dialect.keywords.get(keyword)
      if (known === undefined) {
        if (this.options.unknownKeywords === "error" && !isKeywordSomewhere(keyword)) {
          throw new GrammarError(
            "unsupported",
            path,
            'unknown keyword. Remove it, or pass unknownKeywords: "ignore"',
          )
        }
        this.note(
          path,
          keyword,
          "annotation",
          isKeywordSomewhere(keyword) ? `not in ${node.dialect.name}` : "unknown keyword",
        )
      } else if (known.role === "annotation" || known.role === "identifier") {
        this.note(path, keyword, "annotation")
      } else {
        const note = this.readKeyword(
          keywords,
          node,
          value.members,
          keyword,
          value.members.get(keyword) as JsonNode,
          path,
        )
        this.note(path, keyword, note === undefined ? "exact" : "annotation", note)
      }
    }
    return keywords
  }

  private empty(): Keywords {
    const byType = new Map<number, JsonNode[]>()
    const keywords: Keywords = {
      types: AllTypes,
      enum: null,
      enumOf: (type) => {
        if (byType.size === 0) {
          for (const bit of Object.values(Types)) byType.set(bit, [])
          for (const value of keywords.enum ?? []) byType.get(typeBit(value))?.push(value)
        }
        return byType.get(type) as JsonNode[]
      },
      all: [],
      any: [],
      one: [],
      not: [],
      conditional: null,
      minLength: 0,
      maxLength: Infinite,
      patterns: [],
      number: null,
      properties: new Map(),
      patternProperties: [],
      additional: null,
      required: [],
      minProperties: 0,
      maxProperties: Infinite,
      propertyNames: null,
      namesOf: (node) => this.names(node),
      dependentRequired: [],
      dependentSchemas: [],
      prefix: [],
      rest: null,
      minItems: 0,
      maxItems: Infinite,
      contains: null,
      unique: false,
      unevaluatedProperties: null,
      unevaluatedItems: null,
      isObserved: false,
    }
    return keywords
  }

  /** Puts one keyword in its place. Returns a note when it has no effect here. */
  private readKeyword(
    keywords: Keywords,
    node: SchemaNode,
    members: Members,
    keyword: string,
    value: JsonNode,
    path: string,
  ): string | undefined {
    const { graph } = this
    const { dialect } = node
    const child = (...steps: (string | number)[]) => graph.child(node, keyword, ...steps)
    const list = () => schemaList(value, path).map((_, index) => child(index))
    const count = () => readCount(value, path)
    switch (keyword) {
      case "type":
        readType(keywords, value, path, dialect.lexicalIntegers)
        return
      case "enum":
        if (value.kind !== "array") throw malformed(path, "an array", value)
        keywords.enum = keywords.enum === null ? value.items : intersect(keywords.enum, value.items)
        return
      case "const":
        keywords.enum = keywords.enum === null ? [value] : intersect(keywords.enum, [value])
        return
      case "$ref":
        keywords.all.push(graph.ref(node, readString(value, path)))
        return
      case "$dynamicRef":
        keywords.all.push(graph.dynamicRef(node, readString(value, path)))
        return
      case "$recursiveRef":
        keywords.all.push(graph.recursiveRef(node))
        return
      case "allOf":
        keywords.all.push(...list())
        return
      case "anyOf":
        keywords.any.push(list())
        return
      case "oneOf":
        keywords.one.push(list())
        return
      case "not":
        keywords.not.push(child())
        return
      case "if": {
        const yes = members.has("then") && dialect.keywords.has("then") ? graph.child(node, "then") : null
        const no = members.has("else") && dialect.keywords.has("else") ? graph.child(node, "else") : null
        keywords.conditional = { test: child(), yes, no }
        return yes === null && no === null ? "no then or else" : undefined
      }
      case "then":
      case "else":
        return members.has("if") ? undefined : "no if"
      case "minLength":
        keywords.minLength = count()
        return
      case "maxLength":
        keywords.maxLength = count()
        return
      case "pattern":
        keywords.patterns.push(
          parseRegex(readString(value, path), { mode: "search", path, limits: this.options.limits }),
        )
        return
      case "format":
        return this.readFormat(keywords, node, readString(value, path))
      case "minimum":
      case "maximum":
      case "exclusiveMinimum":
      case "exclusiveMaximum":
      case "multipleOf":
        return readNumeric(keywords, node, members, keyword, value, path)
      case "properties":
        for (const name of mapOf(value, path).keys()) keywords.properties.set(name, child(name))
        return
      case "patternProperties":
        for (const pattern of mapOf(value, path).keys()) {
          const expr = parseRegex(pattern, {
            mode: "search",
            path: `${path}/${escapePointer(pattern)}`,
            limits: this.options.limits,
          })
          keywords.patternProperties.push({ expr, node: child(pattern) })
        }
        return
      case "additionalProperties":
        keywords.additional = child()
        return
      case "required":
        keywords.required = readStrings(value, path)
        return
      case "minProperties":
        keywords.minProperties = count()
        return
      case "maxProperties":
        keywords.maxProperties = count()
        return
      case "propertyNames":
        keywords.propertyNames = child()
        return
      case "dependentRequired":
        for (const [name, names] of mapOf(value, path)) {
          keywords.dependentRequired.push([name, readStrings(names, `${path}/${escapePointer(name)}`)])
        }
        return
      case "dependentSchemas":
        for (const name of mapOf(value, path).keys()) keywords.dependentSchemas.push([name, child(name)])
        return
      case "dependencies":
        for (const [name, dependency] of mapOf(value, path)) {
          if (dependency.kind === "array") {
            keywords.dependentRequired.push([name, readStrings(dependency, `${path}/${escapePointer(name)}`)])
          } else {
            keywords.dependentSchemas.push([name, child(name)])
          }
        }
        return
      case "prefixItems":
        keywords.prefix = list()
        return
      case "items":
        if (value.kind === "array") {
          if (members.has("prefixItems") && dialect.keywords.has("prefixItems")) {
            throw new GrammarError(
              "syntax",
              path,
              "an array of schemas beside prefixItems. Use one spelling of tuples",
            )
          }
          keywords.prefix = value.items.map((_, index) => child(index))
        } else {
          keywords.rest = child()
        }
        return
      case "additionalItems":
        if (members.get("items")?.kind !== "array") return "no tuple in items"
        keywords.rest = child()
        return
      case "minItems":
        keywords.minItems = count()
        return
      case "maxItems":
        keywords.maxItems = count()
        return
      case "contains": {
        const bound = (name: string, otherwise: number) => {
          const bounding = dialect.keywords.has(name) ? members.get(name) : undefined
          return bounding === undefined ? otherwise : readCount(bounding, `${node.pointer}/${name}`)
        }
        keywords.contains = {
          node: child(),
          min: bound("minContains", 1),
          max: bound("maxContains", Infinite),
        }
        return
      }
      case "minContains":
      case "maxContains":
        readCount(value, path)
        return members.has("contains") ? undefined : "no contains"
      case "uniqueItems":
        if (value.kind !== "true" && value.kind !== "false") throw malformed(path, "a boolean", value)
        keywords.unique = value.kind === "true"
        return
      case "unevaluatedProperties":
        keywords.unevaluatedProperties = child()
        return
      case "unevaluatedItems":
        keywords.unevaluatedItems = child()
        return
      default:
        throw unsupported(path, keyword)
    }
  }

  private readFormat(keywords: Keywords, node: SchemaNode, name: string): string | undefined {
    const { formats } = this.options
    if (formats === "annotate" || (formats === "vocabulary" && !node.dialect.formatAssertion))
      return "formats are not asserted"
    // Until draft-06 an A-label was any label that begins with "xn--".
    const isOld = node.dialect.name === "draft-04" || node.dialect.name === "draft-06"
    const expr = formatExpr(name === "hostname" && isOld ? PlainHostname : name)
    if (expr === null) return "unknown format"
    keywords.patterns.push(expr)
    return undefined
  }

  private note(path: string, keyword: string, status: KeywordNote["status"], note?: string): void {
    this.notes.push(note === undefined ? { path, keyword, status } : { path, keyword, status, note })
  }
}

function readType(keywords: Keywords, value: JsonNode, path: string, lexical: boolean): void {
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
  if (isInteger && !isNumber)
    keywords.number = { ...(keywords.number ?? anyNumber), form: lexical ? "lexicalInteger" : "integral" }
}

function readNumeric(
  keywords: Keywords,
  node: SchemaNode,
  members: Members,
  keyword: string,
  value: JsonNode,
  path: string,
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
  keywords.number = meetBounds(cell, narrower)
  return undefined
}

/** `minimum` beside `exclusiveMinimum`: both hold. */
function meetBounds(cell: NumberCell, bound: NumberCell): NumberCell {
  let result = cell
  if (bound.min !== null) {
    const order = cell.min === null ? 1 : compareDecimals(bound.min, cell.min)
    if (order > 0) result = { ...result, min: bound.min, minExclusive: bound.minExclusive }
    else if (order === 0 && bound.minExclusive) result = { ...result, minExclusive: true }
  }
  if (bound.max !== null) {
    const order = cell.max === null ? -1 : compareDecimals(bound.max, cell.max)
    if (order < 0) result = { ...result, max: bound.max, maxExclusive: bound.maxExclusive }
    else if (order === 0 && bound.maxExclusive) result = { ...result, maxExclusive: true }
  }
  return result
}

/** Values in both lists, by value. */
function intersect(a: readonly JsonNode[], b: readonly JsonNode[]): JsonNode[] {
  const keys = new Set(b.map(valueKey))
  return a.filter((value) => keys.has(valueKey(value)))
}

function unsupported(path: string, keyword: string): GrammarError {
  return new GrammarError(
    "unsupported",
    path,
    `${keyword} is not supported. Remove it, or check it after generation`,
  )
}
