/**
 * One schema object that an engine reads, with the questions that the rules ask about it.
 */
import type { JsonNode } from "../json/read/reader.ts"
import { isSchema, type Keyword } from "../json/refs/dialect.ts"
import type { SchemaGraph, SchemaNode } from "../json/refs/refs.ts"
import { encodeToken } from "../json/refs/uri.ts"

const noMembers: ReadonlyMap<string, JsonNode> = new Map()

/** The JSON types that keywords are about. Other keywords are about all types. */
const keywordsOfTypes: readonly (readonly [types: string, keywords: string])[] = [
  ["object", "properties patternProperties additionalProperties required propertyNames minProperties"],
  ["object", "maxProperties dependencies dependentRequired dependentSchemas unevaluatedProperties"],
  ["array", "items prefixItems additionalItems unevaluatedItems contains minContains maxContains"],
  ["array", "minItems maxItems uniqueItems"],
  ["string", "minLength maxLength pattern format"],
  ["number integer", "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"],
]
const typesOfKeyword: ReadonlyMap<string, readonly string[]> = new Map(
  keywordsOfTypes.flatMap(([types, keywords]) =>
    keywords.split(" ").map((keyword) => [keyword, types.split(" ")] as const),
  ),
)

export class Position {
  readonly node: SchemaNode
  readonly members: ReadonlyMap<string, JsonNode>
  /** The keyword under which the schema stands. Empty for the root. */
  readonly under: string
  /** The position that contains or references it. Null for the root. */
  readonly parent: Position | null
  /** Types that `type` allows. Null without `type`. */
  readonly types: readonly string[] | null
  readonly graph: SchemaGraph

  constructor(graph: SchemaGraph, node: SchemaNode, under: string, parent: Position | null) {
    this.graph = graph
    this.node = node
    this.under = under
    this.parent = parent
    this.members = node.value.kind === "object" ? node.value.members : noMembers
    this.types = typesOf(this.members.get("type"))
  }

  /** Number of schemas between this one and the root. */
  get depth(): number {
    let depth = 0
    for (let at = this.parent; at !== null; at = at.parent) depth++
    return depth
  }

  has(keyword: string): boolean {
    return this.members.has(keyword)
  }

  /** Whether one of these keywords is here. */
  hasAny(...keywords: string[]): boolean {
    return keywords.some((keyword) => this.members.has(keyword))
  }

  get(keyword: string): JsonNode | undefined {
    return this.members.get(keyword)
  }

  text(keyword: string): string | null {
    const value = this.members.get(keyword)
    return value?.kind === "string" ? value.value : null
  }

  number(keyword: string): number | null {
    const value = this.members.get(keyword)
    return value?.kind === "number" ? Number(value.text) : null
  }

  /** The items of a list. Empty if the keyword is missing or no list. */
  items(keyword: string): readonly JsonNode[] {
    const value = this.members.get(keyword)
    return value?.kind === "array" ? value.items : []
  }

  /** The names in a list of names, or of a map. */
  names(keyword: string): readonly string[] {
    const value = this.members.get(keyword)
    if (value?.kind === "object") return value.keys
    return this.items(keyword).flatMap((item) => (item.kind === "string" ? [item.value] : []))
  }

  /** Whether `type` allows values of this type. */
  allows(type: string): boolean {
    return this.types === null || this.types.includes(type)
  }

  /** What the dialect says about a keyword. Undefined if the dialect does not have it. */
  known(keyword: string): Keyword | undefined {
    return this.node.dialect.keywords.get(keyword)
  }

  /** Whether the standard ignores the keywords beside `$ref` here. */
  get isOverridden(): boolean {
    return this.node.dialect.refOverrides && this.members.has("$ref")
  }

  /** Whether `type` excludes all values that the keyword is about. */
  isIdle(keyword: string): boolean {
    const types = typesOfKeyword.get(keyword)
    return types !== undefined && !types.some((type) => this.allows(type))
  }

  /** JSON pointer of a keyword, or of the schema if the keyword is missing. */
  path(keyword: string): string {
    return this.members.has(keyword) ? `${this.node.pointer}/${encodeToken(keyword)}` : this.node.pointer
  }

  /** The position of a subschema. */
  below(value: JsonNode, keyword: string, pointer: string): Position {
    return new Position(this.graph, this.graph.below(this.node, value, pointer), keyword, this)
  }

  /** The subschemas in a list. */
  list(keyword: string): Position[] {
    return this.items(keyword).flatMap((item, index) =>
      isSchema(item) ? [this.below(item, keyword, `${this.path(keyword)}/${index}`)] : [],
    )
  }

  /** The subschemas in a map, with their names. */
  map(keyword: string): [string, Position][] {
    const value = this.members.get(keyword)
    if (value?.kind !== "object") return []
    return [...value.members].flatMap(([name, member]) =>
      isSchema(member)
        ? [
            [name, this.below(member, keyword, `${this.path(keyword)}/${encodeToken(name)}`)] as [
              string,
              Position,
            ],
          ]
        : [],
    )
  }

  /** The schema that a keyword holds, or null. */
  one(keyword: string): Position | null {
    const value = this.members.get(keyword)
    return value !== undefined && isSchema(value) ? this.below(value, keyword, this.path(keyword)) : null
  }

  /** The target of `$ref`. Null if it cannot be resolved in this document. */
  get target(): Position | null {
    const text = this.text("$ref")
    if (text === null) return null
    try {
      return new Position(this.graph, this.graph.ref(this.node, text), "$ref", this)
    } catch {
      return null
    }
  }

  /** Whether `$ref` leads back to a schema that contains it. */
  get isRecursive(): boolean {
    const id = this.target?.node.id
    for (let at: Position | null = this; at !== null; at = at.parent) if (at.node.id === id) return true
    return false
  }
}

function typesOf(value: JsonNode | undefined): readonly string[] | null {
  if (value?.kind === "string") return [value.value]
  if (value?.kind !== "array") return null
  return value.items.flatMap((item) => (item.kind === "string" ? [item.value] : []))
}
