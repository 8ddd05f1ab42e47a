/**
 * How deep and how long the least value of a schema is at the least: what every one of its values holds, items and required
 * properties, and what those hold. A text that is longer, or nests deeper, than the bounds can never be finished; it is
 * refused before it is begun. Read off the keywords: what several schemas say together, and what only one of some
 * branches says, is left out, so that nothing is refused that has a shorter value.
 */
import { checkTime } from "../deadline.ts"
import { type Limits, limitError } from "../errors.ts"
import { Types } from "./facts/conjunction.ts"
import type { Keywords } from "./read/keywords.ts"
import type { SchemaNode } from "./refs/refs.ts"
import { checkWitness } from "./witnesslength.ts"

interface Least {
  /** Containers within each other. */
  readonly depth: number
  /** Characters. */
  readonly length: number
}

/** What every value of a schema has: parts, each so many times, and characters beside them; and other schemas that it satisfies. */
interface Shape {
  readonly parts: readonly (readonly [node: SchemaNode, count: number])[]
  readonly depth: number
  readonly length: number
  readonly all: readonly SchemaNode[]
}

const scalar: Least = { depth: 0, length: 1 }
const noParts: readonly never[] = []

/** Throws `limit` where every value of `root`, within so many levels, is too deep or too long. O(schemas of parts that each value has). */
export function checkLeast(
  root: SchemaNode,
  around: number,
  keywordsOf: (node: SchemaNode) => Keywords,
  limits: Limits,
): void {
  const shapes = new Map<SchemaNode, Shape>()
  const known = new Map<SchemaNode, Least>()
  // A stack of its own: references lead ten thousand levels down.
  const open = [root]
  while (open.length > 0) {
    const next = open[open.length - 1]
    const shape = shapes.get(next)
    if (shape !== undefined) {
      open.pop()
      if (!known.has(next)) known.set(next, leastOf(shape, known))
      continue
    }
    checkTime()
    const made = shapeOf(keywordsOf(next))
    shapes.set(next, made)
    for (const [node] of made.parts) if (!shapes.has(node)) open.push(node)
    for (const node of made.all) if (!shapes.has(node)) open.push(node)
  }
  const { depth } = known.get(root) as Least
  if (depth + around > limits.stackDepth) {
    throw limitError(
      limits,
      "stackDepth",
      depth + around,
      deepest(root, limits.stackDepth - around, shapes, known).pointer,
      (value, bound) => `each value nests at least ${value} levels deep, above the bound of ${bound}`,
      "leave out some of the required levels",
    )
  }
  // Of the whole text only what is left is ever written down; of the values in it each as a whole, to complete the text before it.
  for (const { parts } of shapes.values())
    for (const [node] of parts) checkWitness((known.get(node) as Least).length, node.pointer)
}

function shapeOf(keywords: Keywords): Shape {
  const { types, all } = keywords
  if (keywords.enum !== null) return { parts: noParts, ...scalar, all }
  if (types === Types.array) {
    const { prefix, rest, minItems } = keywords
    const parts: [node: SchemaNode, count: number][] = []
    for (let i = 0; i < prefix.length && i < minItems; i++) parts.push([prefix[i], 1])
    if (rest !== null && minItems > prefix.length) parts.push([rest, minItems - prefix.length])
    // Brackets and commas, and a character for each item that nothing is said of.
    const unsaid = rest === null ? Math.max(0, minItems - prefix.length) : 0
    return { parts, depth: 1, length: 2 + Math.max(0, minItems - 1) + unsaid, all }
  }
  if (types === Types.object) {
    const { properties, required } = keywords
    const parts: [node: SchemaNode, count: number][] = []
    let length = 2
    for (const name of new Set(required)) {
      const node = properties.get(name)
      if (node !== undefined) parts.push([node, 1])
      // Quotes, a colon, and a comma before all but the first one; a character where nothing is said of the value.
      length += name.length + 3 + (length === 2 ? 0 : 1) + (node === undefined ? 1 : 0)
    }
    return { parts, depth: 1, length, all }
  }
  return { parts: noParts, ...scalar, all }
}

/** What is not known yet lies around itself: then nothing is told of it. */
function leastOf({ parts, depth: own, length, all }: Shape, known: ReadonlyMap<SchemaNode, Least>): Least {
  let [depth, sum] = [own, length]
  for (const [node, count] of parts) {
    const part = known.get(node) ?? scalar
    depth = Math.max(depth, part.depth + 1)
    sum += count * part.length
  }
  for (const node of all) {
    const other = known.get(node) ?? scalar
    depth = Math.max(depth, other.depth)
    sum = Math.max(sum, other.length)
  }
  return { depth, length: sum }
}

/** The schema of a value so many levels below `root`, along the deepest parts. */
function deepest(
  root: SchemaNode,
  levels: number,
  shapes: ReadonlyMap<SchemaNode, Shape>,
  known: ReadonlyMap<SchemaNode, Least>,
): SchemaNode {
  let at = root
  for (let level = 0; level < levels; ) {
    const { parts, all } = shapes.get(at) as Shape
    const { depth } = known.get(at) as Least
    const depthOf = (node: SchemaNode) => known.get(node)?.depth ?? 0
    const same = all.find((node) => depthOf(node) === depth)
    const part = parts.find(([node]) => depthOf(node) === depth - 1)
    if (part !== undefined) level++
    const next = part?.[0] ?? same
    if (next === undefined) break
    at = next
  }
  return at
}
