/**
 * Lower bounds on the depth and the length of every value of a schema: the required properties and
 * items that every value contains, and their contents. If every value is longer or deeper than the
 * limits, no text can be finished, so the schema is refused before a text is begun, wherever a text
 * may come to such a value. The bounds are read off the keywords. Constraints that follow only from
 * several schemas together, or that hold in one branch only, are left out, so no schema with a
 * shorter value is refused.
 */
import { checkTime } from "../deadline.ts"
import { checkLimit, fixedBounds, type Limits, limitError } from "../errors.ts"
import { rawTexts } from "../lexeme/expr/shortest.ts"
import { Types } from "./facts/conjunction.ts"
import type { Keywords } from "./read/keywords.ts"
import type { JsonNode } from "./read/reader.ts"
import type { SchemaNode } from "./refs/refs.ts"

interface Least {
  /** Number of nested containers. */
  readonly depth: number
  /** Number of characters. */
  readonly length: number
}

/**
 * A way to write a value of one type: its parts with their counts, and the characters besides them.
 */
interface Way extends Least {
  readonly parts: readonly (readonly [node: SchemaNode, count: number])[]
}

/** The ways to write a value of a schema, and the other schemas that it satisfies. */
interface Shape {
  readonly ways: readonly Way[]
  readonly all: readonly SchemaNode[]
}

/** Characters of a member without its name. */
const LeastMember = 5
/** The greatest depth of recursion of the first look. */
const MaxNesting = 200

const noParts: readonly never[] = []
const scalar: Way = { depth: 0, length: 1, parts: noParts }

/**
 * Whether each of `nodes`, a schema with all that it reaches, surely has a value that can be
 * finished. The test takes the least values like `checkLeast`, or longer and deeper ones, in one
 * pass with two numbers per schema.
 */
export class FirstSight {
  private readonly keywordsOf: (node: SchemaNode) => Keywords
  /** By node id. */
  private readonly lengths: number[] = []
  private readonly depths: number[] = []
  private nesting = 0

  constructor(keywordsOf: (node: SchemaNode) => Keywords) {
    this.keywordsOf = keywordsOf
  }

  areShort(nodes: readonly SchemaNode[], limits: Limits): boolean {
    for (const node of nodes) {
      if (this.lengthOf(node) > fixedBounds.witnessUnits) return false
      if (this.depths[node.id] >= limits.stackDepth) return false
    }
    return true
  }

  private lengthOf(node: SchemaNode): number {
    const known = this.lengths[node.id]
    if (known !== undefined) return known
    // `checkLeast` decides deeper schemas.
    if (this.nesting === MaxNesting) return Number.POSITIVE_INFINITY
    this.lengths[node.id] = 1
    this.depths[node.id] = 1
    this.nesting++
    const length = this.measure(node)
    this.nesting--
    this.lengths[node.id] = length
    return length
  }

  private measure(node: SchemaNode): number {
    const keywords = this.keywordsOf(node)
    if (keywords.enum !== null) return keywords.enum.reduce((most, value) => Math.max(most, sizeOf(value)), 1)
    const { required, properties, prefix, rest, minItems, contains } = keywords
    let length = 2 + keywords.minLength + LeastMember * keywords.minProperties
    let depth = 0
    for (const pattern of keywords.patterns) length += rawTexts.least(pattern)
    for (const name of required) {
      const value = properties.get(name)
      length += LeastMember + name.length
      if (value === undefined) continue
      length += this.lengthOf(value)
      depth = Math.max(depth, this.depths[value.id] ?? 0)
    }
    if (minItems > 0) {
      let item = 1
      for (const one of prefix) {
        item += this.lengthOf(one)
        depth = Math.max(depth, this.depths[one.id] ?? 0)
      }
      if (rest !== null) {
        item += this.lengthOf(rest)
        depth = Math.max(depth, this.depths[rest.id] ?? 0)
      }
      length += minItems * (1 + item)
    }
    if (contains !== null) length += 2 * contains.min
    depth++
    for (const other of keywords.all) {
      length += this.lengthOf(other)
      depth = Math.max(depth, this.depths[other.id] ?? 0)
    }
    this.depths[node.id] = depth
    return length
  }
}

/**
 * Returns the schemas of `root` that a value may have to satisfy: all except those that occur only
 * under `not` or as a condition.
 */
export function admittedBy(
  root: SchemaNode,
  keywordsOf: (node: SchemaNode) => Keywords,
): ReadonlySet<SchemaNode> {
  const nodes = new Set([root])
  const add = (node: SchemaNode | null | undefined) => {
    if (node !== null && node !== undefined) nodes.add(node)
  }
  // The loop also visits the schemas that are added meanwhile.
  for (const node of nodes) {
    const keywords = keywordsOf(node)
    const { types, conditional } = keywords
    for (const list of [keywords.all, ...keywords.any, ...keywords.one]) for (const other of list) add(other)
    add(conditional?.yes)
    add(conditional?.no)
    if ((types & Types.object) !== 0) {
      for (const [, other] of keywords.dependentSchemas) add(other)
      for (const { node: other } of keywords.patternProperties) add(other)
      for (const other of keywords.properties.values()) add(other)
      for (const other of [keywords.additional, keywords.propertyNames, keywords.unevaluatedProperties])
        add(other)
    }
    if ((types & Types.array) !== 0) {
      for (const other of keywords.prefix) add(other)
      for (const other of [keywords.rest, keywords.contains?.node, keywords.unevaluatedItems]) add(other)
    }
  }
  return nodes
}

/**
 * Throws `limit` if every value of one of `nodes` is too long, or too deep inside `around` levels.
 * Linear in the schemas and their parts.
 */
export function checkLeast(
  nodes: Iterable<SchemaNode>,
  around: number,
  keywordsOf: (node: SchemaNode) => Keywords,
  limits: Limits,
): void {
  const shapes = new Map<SchemaNode, Shape>()
  const known = new Map<SchemaNode, Least>()
  const bound = limits.stackDepth - around
  for (const root of nodes) {
    measure(root, shapes, known, keywordsOf)
    const { depth } = known.get(root) as Least
    if (depth <= bound) continue
    throw limitError(limits, "stackDepth.value", depth + around, deepest(root, bound, shapes, known).pointer)
  }
}

/** Computes the least value of `root`, and of all schemas on which it depends. */
function measure(
  root: SchemaNode,
  shapes: Map<SchemaNode, Shape>,
  known: Map<SchemaNode, Least>,
  keywordsOf: (node: SchemaNode) => Keywords,
): void {
  // An explicit stack, since chains of references can be ten thousand levels deep.
  const open = [root]
  while (open.length > 0) {
    const next = open[open.length - 1]
    const shape = shapes.get(next)
    if (shape !== undefined) {
      open.pop()
      if (!known.has(next)) known.set(next, leastOf(next, shape, known))
      continue
    }
    checkTime()
    const made = shapeOf(next, keywordsOf(next))
    shapes.set(next, made)
    for (const { parts } of made.ways) for (const [node] of parts) if (!shapes.has(node)) open.push(node)
    for (const node of made.all) if (!shapes.has(node)) open.push(node)
  }
}

function shapeOf(node: SchemaNode, keywords: Keywords): Shape {
  const { types, all } = keywords
  if (keywords.enum !== null) return { ways: keywords.enum.map(wayOf), all }
  const ways: Way[] = []
  if ((types & ~(Types.string | Types.array | Types.object)) !== 0) ways.push(scalar)
  const { minLength, maxLength, minItems, maxItems, minProperties, maxProperties } = keywords
  if ((types & Types.string) !== 0 && minLength <= maxLength) ways.push(textOf(node, keywords))
  if ((types & Types.array) !== 0 && minItems <= maxItems) ways.push(arrayOf(node, keywords))
  if ((types & Types.object) !== 0 && minProperties <= maxProperties) ways.push(objectOf(node, keywords))
  return { ways, all }
}

function wayOf(value: JsonNode): Way {
  return { depth: 0, length: sizeOf(value), parts: noParts }
}

/**
 * Returns a lower bound on the characters of a value, exact or nearly so. It is higher only for
 * values that are surely short.
 */
function sizeOf(value: JsonNode): number {
  switch (value.kind) {
    case "string":
      return value.value.length
    case "array":
    case "object": {
      const written = value.end - value.start
      if (written > 0 && written <= fixedBounds.witnessUnits) return written
      // White space between the parts does not count.
      const parts = value.kind === "array" ? value.items : [...value.members.values()]
      const names = value.kind === "array" ? [] : value.keys
      return parts.reduce((sum, part) => sum + sizeOf(part), 2) + names.join("").length
    }
    default:
      return 1
  }
}

function textOf(node: SchemaNode, { minLength, patterns }: Keywords): Way {
  checkCount(node, "minLength", minLength, "a string", "characters")
  let length = minLength
  for (const pattern of patterns) length = Math.max(length, rawTexts.least(pattern))
  return length === 0 ? scalar : { depth: 0, length: 2 + length, parts: noParts }
}

function arrayOf(node: SchemaNode, keywords: Keywords): Way {
  const { prefix, rest, minItems, contains } = keywords
  checkCount(node, "minItems", minItems, "an array", "items")
  if (contains !== null && contains.min <= contains.max)
    checkCount(node, "minContains", contains.min, "an array", "items")
  const parts: [node: SchemaNode, count: number][] = []
  for (let i = 0; i < prefix.length && i < minItems; i++) parts.push([prefix[i], 1])
  if (rest !== null && minItems > prefix.length) parts.push([rest, minItems - prefix.length])
  // Brackets and commas, and one character for each item without a schema.
  const unsaid = rest === null ? Math.max(0, minItems - prefix.length) : 0
  return { parts, depth: 1, length: 2 + Math.max(0, minItems - 1) + unsaid }
}

function objectOf(node: SchemaNode, keywords: Keywords): Way {
  const { properties, required, minProperties } = keywords
  checkCount(node, "minProperties", minProperties, "an object", "properties")
  const parts: [node: SchemaNode, count: number][] = []
  let length = 2
  const names = new Set(required)
  for (const name of names) {
    const value = properties.get(name)
    if (value !== undefined) parts.push([value, 1])
    // Quotes, a colon, and a comma before all but the first member; one character for a value
    // without a schema.
    length += name.length + 3 + (length === 2 ? 0 : 1) + (value === undefined ? 1 : 0)
  }
  // Further members have at least five characters each.
  return { parts, depth: 1, length: length + LeastMember * Math.max(0, minProperties - names.size) }
}

/** Throws `limit` if a keyword requires more than any text can hold. */
function checkCount(node: SchemaNode, keyword: string, min: number, what: string, unit: string): void {
  if (min <= fixedBounds.witnessUnits) return
  throw limitError(fixedBounds, "witnessUnits.count", min, `${node.pointer}/${keyword}`, {
    what,
    unit,
    keyword,
  })
}

/**
 * Returns the least value. A part whose least value is unknown contains this schema; it counts as a
 * scalar.
 */
function leastOf(schema: SchemaNode, { ways, all }: Shape, known: ReadonlyMap<SchemaNode, Least>): Least {
  let [depth, length] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (const { parts, ...own } of ways) {
    let [deep, long] = [own.depth, own.length]
    for (const [node, count] of parts) {
      const part = known.get(node) ?? scalar
      deep = Math.max(deep, part.depth + 1)
      long += count * part.length
    }
    checkLimit(fixedBounds, "witnessUnits", long, schema.pointer)
    depth = Math.min(depth, deep)
    length = Math.min(length, long)
  }
  for (const node of all) {
    const other = known.get(node) ?? scalar
    depth = Math.max(depth, other.depth)
    length = Math.max(length, other.length)
  }
  return ways.length === 0 ? scalar : { depth, length }
}

/** Returns the schema of a value `levels` levels below `root`, along the deepest parts. */
function deepest(
  root: SchemaNode,
  levels: number,
  shapes: ReadonlyMap<SchemaNode, Shape>,
  known: ReadonlyMap<SchemaNode, Least>,
): SchemaNode {
  let at = root
  for (let level = 0; level < levels; ) {
    const { ways, all } = shapes.get(at) as Shape
    const { depth } = known.get(at) as Least
    const depthOf = (node: SchemaNode) => known.get(node)?.depth ?? 0
    const same = all.find((node) => depthOf(node) === depth)
    const part = ways.flatMap(({ parts }) => parts).find(([node]) => depthOf(node) === depth - 1)
    if (part !== undefined) level++
    const next = part?.[0] ?? same
    if (next === undefined) break
    at = next
  }
  return at
}
