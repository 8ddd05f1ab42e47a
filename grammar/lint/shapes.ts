/**
 * Whether two schemas are disjoint by what is easy to see: types, constants, and required
 * properties.
 *
 * Some engines read `oneOf` as `anyOf`. That is right if no value satisfies two branches. The
 * answer here is conservative: "disjoint" is certain, and everything else counts as an overlap. A
 * schema is a list of shapes, one for each way to satisfy it. All comparisons of one schema text
 * share a bound, above which everything counts as an overlap.
 *
 * llguidance makes the same test, and refuses a `oneOf` that does not pass it. It sees less: it
 * follows a reference only where it meets other keywords, and forgets a constant that meets
 * another.
 */
import type { JsonNode } from "../json/read/reader.ts"
import type { SchemaGraph } from "../json/refs/refs.ts"
import type { Position } from "./position.ts"

interface ObjectShape {
  readonly kind: "object"
  readonly properties: ReadonlyMap<string, readonly Shape[]>
  readonly required: ReadonlySet<string>
  /** For names that `properties` lacks. */
  readonly others: readonly Shape[]
}

type Shape =
  | { readonly kind: "any" | "null" | "number" | "array" }
  /** A reference that is not followed yet. */
  | { readonly kind: "reference"; readonly target: Position | null }
  | { readonly kind: "boolean" | "string"; readonly value: string | null }
  | ObjectShape

const any: readonly Shape[] = [{ kind: "any" }]
const MaxDepth = 6
const MaxShapes = 256
/** Comparisons of shapes in one schema text: some 0.1 s. */
const MaxSteps = 1_000_000
/** How deep a constant is looked into. */
const MaxConstantDepth = 64

const validating = ["properties", "patternProperties", "additionalProperties", "required"].concat(
  ["minProperties", "maxProperties", "items", "prefixItems", "additionalItems", "minItems", "maxItems"],
  ["minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum"],
  ["exclusiveMaximum", "multipleOf"],
)

/** By whose rules two schemas are compared: those of JSON Schema, or those that llguidance uses. */
export type Reader = "standard" | "llguidance"

/**
 * Whether no value satisfies two schemas of the list `keyword`, each taken with the keywords beside
 * it and the `allOf` around it.
 */
export function areDisjoint(at: Position, keyword: string, reader: Reader): boolean {
  const shapes = shapesOf(at.graph, reader)
  if (shapes.isSpent()) return false
  const beside = shapes.both(shapes.of(at, MaxDepth, keyword), shapes.around(at), MaxDepth)
  const branches = at
    .list(keyword)
    .map((branch) => shapes.both(beside, shapes.of(branch, MaxDepth), MaxDepth))
  for (const [index, one] of branches.entries())
    for (let i = 0; i < index; i++) if (!shapes.disjoint(one, branches[i])) return false
  return true
}

const known = {
  standard: new WeakMap<SchemaGraph, Shapes>(),
  llguidance: new WeakMap<SchemaGraph, Shapes>(),
}

/** Returns the shapes of a schema text that were found so far. */
function shapesOf(graph: SchemaGraph, reader: Reader): Shapes {
  const shapes = known[reader].get(graph) ?? new Shapes(reader)
  known[reader].set(graph, shapes)
  return shapes
}

class Shapes {
  private readonly reader: Reader
  private readonly memo = new Map<string, readonly Shape[]>()
  private steps = 0

  constructor(reader: Reader) {
    this.reader = reader
  }

  /** Counts a step. Returns whether there were more than the bound. */
  isSpent(): boolean {
    return ++this.steps > MaxSteps
  }

  /** The ways to satisfy a schema, with `keyword` left out. Each is found once for each depth. */
  of(at: Position, depth: number, keyword = ""): readonly Shape[] {
    const key = `${at.node.id} ${depth} ${keyword}`
    const shapes = this.memo.get(key) ?? this.find(at, depth, keyword)
    this.memo.set(key, shapes)
    return shapes
  }

  private find(at: Position, depth: number, keyword: string): readonly Shape[] {
    if (at.node.value.kind === "false") return []
    if (depth === 0 || this.isSpent()) return any
    let shapes = this.ofType(at, depth)
    const reference = keyword === "$ref" ? undefined : at.get("$ref")
    if (reference !== undefined) {
      const read = this.ofReference(at, depth)
      if (at.isOverridden && this.reader === "standard") return read
      shapes = this.both(shapes, read, depth)
    }
    if (at.has("enum")) shapes = this.both(shapes, ofValues(at.items("enum")), depth)
    const constant = at.get("const")
    if (constant !== undefined) shapes = this.both(shapes, [constantShape(constant)], depth)
    for (const branch of keyword === "allOf" ? [] : at.list("allOf"))
      shapes = this.both(shapes, this.of(branch, depth - 1), depth)
    for (const list of ["anyOf", "oneOf"]) {
      if (list === keyword || !at.has(list)) continue
      const branches = at.list(list).flatMap((branch) => this.of(branch, depth - 1))
      shapes = this.both(shapes, branches.length > MaxShapes ? any : branches, depth)
    }
    return shapes
  }

  /** What the schemas around `at` require of the same value. */
  around(at: Position): readonly Shape[] {
    let shapes = any
    for (let inner = at; inner.parent !== null; inner = inner.parent) {
      const { parent, under } = inner
      if (under !== "allOf" && under !== "$ref") break
      shapes = this.both(shapes, this.of(parent, 2, under), 2)
      if (under !== "allOf") continue
      if (this.isSpent()) return any
      for (const branch of parent.list("allOf"))
        if (branch.node !== inner.node) shapes = this.both(shapes, this.of(branch, 2), 2)
    }
    return shapes
  }

  private ofReference(at: Position, depth: number): readonly Shape[] {
    const { target } = at
    if (this.reader === "llguidance") return [{ kind: "reference", target }]
    return target === null ? any : this.of(target, depth - 1)
  }

  /** The shapes that `type` and the keywords of one type leave. */
  private ofType(at: Position, depth: number): readonly Shape[] {
    const isTyped =
      this.reader === "standard" ? at.hasAny("type", ...validating) : [...at.members.keys()].some(isApplied)
    if (!isTyped) return any
    const types = at.types ?? ["null", "boolean", "number", "string", "array", "object"]
    return types.map((type): Shape => {
      switch (type) {
        case "string":
        case "boolean":
          return { kind: type, value: null }
        case "object":
          return this.ofObject(at, depth)
        case "null":
        case "array":
          return { kind: type }
        default:
          return { kind: "number" }
      }
    })
  }

  private ofObject(at: Position, depth: number): Shape {
    const properties = at
      .map("properties")
      .map(([name, member]) => [name, this.of(member, depth - 1)] as const)
    const others = at.has("patternProperties") ? null : at.one("additionalProperties")
    return {
      kind: "object",
      properties: new Map(properties),
      required: new Set(at.names("required")),
      others: others === null ? any : this.of(others, depth - 1),
    }
  }

  /** The ways to satisfy both. */
  both(a: readonly Shape[], b: readonly Shape[], depth: number): readonly Shape[] {
    if (a === any) return b
    if (b === any) return a
    if (depth === 0 || this.isSpent()) return any
    const shapes = a.flatMap((one) => b.flatMap((other) => this.meet(one, other, depth)))
    return shapes.length > MaxShapes ? any : shapes
  }

  private meet(a: Shape, b: Shape, depth: number): readonly Shape[] {
    if (this.isSpent()) return any
    if (a.kind === "any") return [b]
    if (b.kind === "any") return [a]
    if (a.kind === "reference") return this.both(this.followed(a.target, depth), [b], depth - 1)
    if (b.kind === "reference") return this.both([a], this.followed(b.target, depth), depth - 1)
    if (a.kind === "object" && b.kind === "object") return this.meetObjects(a, b, depth)
    if (!("value" in a) || !("value" in b) || a.kind !== b.kind) return a.kind === b.kind ? [a] : []
    if (a.value === null || b.value === null) return [a.value === null ? b : a]
    if (this.reader === "llguidance" && a.kind === "string") return [{ kind: "string", value: null }]
    return a.value === b.value ? [a] : []
  }

  private followed(target: Position | null, depth: number): readonly Shape[] {
    return target === null ? any : this.of(target, depth - 1)
  }

  private meetObjects(a: ObjectShape, b: ObjectShape, depth: number): readonly Shape[] {
    const names = new Set([...a.properties.keys(), ...b.properties.keys()])
    const properties = [...names].map(
      (name) => [name, this.both(memberOf(a, name), memberOf(b, name), depth - 1)] as const,
    )
    return [
      {
        kind: "object",
        properties: new Map(properties),
        required: new Set([...a.required, ...b.required]),
        others: this.both(a.others, b.others, depth - 1),
      },
    ]
  }

  /** Whether no value has a shape of both lists. */
  disjoint(a: readonly Shape[], b: readonly Shape[]): boolean {
    return !this.isSpent() && a.every((one) => b.every((other) => this.apart(one, other)))
  }

  private apart(a: Shape, b: Shape): boolean {
    if (this.isSpent() || isOpen(a) || isOpen(b)) return false
    if (a.kind === "object" && b.kind === "object") {
      const names = new Set([...a.required, ...b.required])
      return [...names].some((name) => this.disjoint(memberOf(a, name), memberOf(b, name)))
    }
    if ("value" in a && "value" in b && a.kind === b.kind)
      return a.value !== null && b.value !== null && a.value !== b.value
    return a.kind !== b.kind
  }
}

/** Keywords that llguidance takes for annotations. */
const annotations = new Set(
  "$anchor $defs definitions $schema $id id $comment title description default readOnly writeOnly examples contentMediaType contentEncoding".split(
    " ",
  ),
)
const inPlace = new Set(["const", "enum", "allOf", "anyOf", "oneOf", "$ref"])

/** Whether llguidance splits a schema by types because of this keyword. */
function isApplied(keyword: string): boolean {
  return !annotations.has(keyword) && !inPlace.has(keyword)
}

/** The shapes of listed values. */
function ofValues(values: readonly JsonNode[]): readonly Shape[] {
  return values.length > MaxShapes ? any : values.map((value) => constantShape(value))
}

function constantShape(value: JsonNode, depth = MaxConstantDepth): Shape {
  if (depth === 0) return { kind: "any" }
  switch (value.kind) {
    case "string":
      return { kind: "string", value: value.value }
    case "true":
    case "false":
      return { kind: "boolean", value: value.kind }
    case "object":
      return {
        kind: "object",
        properties: new Map(
          [...value.members].map(([name, member]) => [name, [constantShape(member, depth - 1)]]),
        ),
        required: new Set(value.keys),
        others: [],
      }
    default:
      return { kind: value.kind }
  }
}

function memberOf(shape: ObjectShape, name: string): readonly Shape[] {
  return shape.properties.get(name) ?? shape.others
}

function isOpen({ kind }: Shape): boolean {
  return kind === "any" || kind === "reference"
}
