/**
 * Cheap proofs that two schemas exclude each other, so that `oneOf` may be read as `anyOf` between them.
 *
 * Three rules, looked up through `allOf` and `$ref`: no common type; a property that one of them requires has disjoint
 * values in both (types, enum, const); one requires a name that the other, closed, does not know. A schema with alternatives
 * excludes what each of them excludes. No proof is no harm: the exact form excludes the other branches by their negation.
 */
import { checkTime } from "../../deadline.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import { valueKey } from "../read/value.ts"
import type { SchemaNode } from "../refs/refs.ts"
import { Types, typeBit } from "./conjunction.ts"

/** What a schema says in any case, its `allOf` and `$ref` included. */
interface Profile {
  types: number
  /** Keys of the values that it allows, or null. */
  values: Set<string> | null
  required: Set<string>
  properties: Map<string, SchemaNode[]>
  /** Names allowed by each closed object schema among the parts. */
  closed: Set<string>[]
  /** Of each list some schema holds. */
  alternatives: (readonly SchemaNode[])[]
  /** What is known of its alternatives beside another schema: those of both meet again and again. By schema, bits of types. */
  proofs: Map<SchemaNode, { asked: number; proven: number }>
}

/** Proofs look so many levels down, through properties and alternatives. */
const MaxDepth = 4

/** Whether no value of the type with bit `type` satisfies both; false when there is no cheap proof. */
export function areDisjoint(
  reader: KeywordReader,
  a: SchemaNode,
  b: SchemaNode,
  type: number,
  depth = 0,
): boolean {
  const left = profileOf(reader, a)
  const right = profileOf(reader, b)
  if ((left.types & right.types & type) === 0) return true
  if (left.values !== null && right.values !== null && isDisjoint(left.values, right.values)) return true
  if (type !== Types.object) return false
  for (const [one, other] of [
    [left, right],
    [right, left],
  ]) {
    for (const name of one.required) {
      if (other.closed.some((names) => !names.has(name))) return true
      for (const mine of one.properties.get(name) ?? []) {
        for (const theirs of other.properties.get(name) ?? []) {
          if (depth < MaxDepth && excludeEachOther(reader, mine, theirs, depth + 1)) return true
        }
      }
    }
  }
  return (
    depth < MaxDepth &&
    (excludeEach(reader, a, b, type, depth + 1) || excludeEach(reader, b, a, type, depth + 1))
  )
}

/** Whether one of the lists of alternatives of `a` has only such as are disjoint from `b`. */
function excludeEach(
  reader: KeywordReader,
  a: SchemaNode,
  b: SchemaNode,
  type: number,
  depth: number,
): boolean {
  const { alternatives, proofs } = profileOf(reader, a)
  if (alternatives.length === 0) return false
  const known = proofs.get(b) ?? { asked: 0, proven: 0 }
  if ((known.asked & type) === 0) {
    checkTime()
    proofs.set(b, known)
    // Before it is answered: what leads back to the same question proves nothing.
    known.asked |= type
    try {
      if (alternatives.some((nodes) => nodes.every((node) => areDisjoint(reader, node, b, type, depth))))
        known.proven |= type
    } catch (error) {
      known.asked &= ~type
      throw error
    }
  }
  return (known.proven & type) !== 0
}

/** As `areDisjoint`, for values of any type. */
function excludeEachOther(reader: KeywordReader, a: SchemaNode, b: SchemaNode, depth: number): boolean {
  const types = profileOf(reader, a).types & profileOf(reader, b).types
  for (const type of Object.values(Types)) {
    if ((types & type) !== 0 && !areDisjoint(reader, a, b, type, depth)) return false
  }
  return true
}

/** The JSON types that `node` allows, its `enum`, `allOf` and `$ref` taken into account. */
export function typesOf(reader: KeywordReader, node: SchemaNode): number {
  return profileOf(reader, node).types
}

function isDisjoint(a: Set<string>, b: Set<string>): boolean {
  for (const value of a) if (b.has(value)) return false
  return true
}

const profiles = new WeakMap<SchemaNode, Profile>()

function profileOf(reader: KeywordReader, root: SchemaNode): Profile {
  const known = profiles.get(root)
  if (known !== undefined) return known
  const profile: Profile = {
    ...{ types: 63, values: null, required: new Set(), properties: new Map(), closed: [] },
    ...{ alternatives: [], proofs: new Map() },
  }
  const seen = new Set<SchemaNode>([root])
  for (const node of seen) {
    const keywords = reader.of(node)
    profile.types &= keywords.types
    if (keywords.enum !== null) {
      const keys = new Set(keywords.enum.map(valueKey))
      const before: Set<string> | null = profile.values
      profile.values = before === null ? keys : new Set([...before].filter((key) => keys.has(key)))
      profile.types &= keywords.enum.reduce((types, value) => types | typeBit(value), 0)
    }
    for (const name of keywords.required) profile.required.add(name)
    for (const [name, child] of keywords.properties) {
      profile.properties.set(name, [...(profile.properties.get(name) ?? []), child])
    }
    if (keywords.additional?.value.kind === "false" && keywords.patternProperties.length === 0) {
      profile.closed.push(new Set(keywords.properties.keys()))
    }
    profile.alternatives.push(...keywords.any, ...keywords.one)
    for (const other of keywords.all) seen.add(other)
  }
  profiles.set(root, profile)
  return profile
}
