/**
 * Cheap proofs that two schemas exclude each other, so that `oneOf` may be read as `anyOf` between
 * them.
 *
 * Three rules, which follow `allOf` and `$ref`: the schemas have no common type; a property that
 * one of them requires has disjoint values in both (types, enum, const); one requires a name that
 * the other, closed, does not declare. A schema with alternatives excludes what each of them
 * excludes. A missing proof does no harm: the exact form excludes the other branches by their
 * negation.
 */
import { checkTime } from "../../deadline.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import type { Keywords } from "../read/keywords.ts"
import { valueKey } from "../read/value.ts"
import type { SchemaNode } from "../refs/refs.ts"
import { AllTypes, Types, typeBit } from "./conjunction.ts"

/** The constraints that a schema always imposes, including those of its `allOf` and `$ref`. */
interface Profile {
  types: number
  /** Keys of the values that it allows, or null if they are not listed. */
  values: ReadonlySet<string> | null
  /** The schema itself, and the schemas that always hold with it. */
  readonly parts: readonly Keywords[]
  /**
   * Memoized proofs that the alternatives exclude another schema, since the same pairs are compared
   * many times. Maps the other schema to bits of types.
   */
  proofs: Map<SchemaNode, { asked: number; proven: number }> | null
}

/** Proofs follow properties and alternatives down to this depth. */
const MaxDepth = 4

/**
 * Whether no value of the type with bit `type` satisfies both schemas. Returns false if there is no
 * cheap proof.
 */
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
    for (const { required } of one.parts) {
      for (const name of required) {
        if (other.parts.some((part) => isClosedTo(part, name))) return true
        for (const mine of valuesOf(one, name)) {
          for (const theirs of valuesOf(other, name)) {
            if (depth < MaxDepth && excludeEachOther(reader, mine, theirs, depth + 1)) return true
          }
        }
      }
    }
  }
  return (
    depth < MaxDepth &&
    (excludeEach(reader, a, b, type, depth + 1) || excludeEach(reader, b, a, type, depth + 1))
  )
}

/** Whether `a` has a list of alternatives all of which are disjoint from `b`. */
function excludeEach(
  reader: KeywordReader,
  a: SchemaNode,
  b: SchemaNode,
  type: number,
  depth: number,
): boolean {
  const profile = profileOf(reader, a)
  if (!profile.parts.some(({ any, one }) => any.length + one.length > 0)) return false
  profile.proofs ??= new Map()
  const known = profile.proofs.get(b) ?? { asked: 0, proven: 0 }
  if ((known.asked & type) === 0) {
    checkTime()
    profile.proofs.set(b, known)
    // The mark precedes the proof: a proof that leads back to the same question proves nothing.
    known.asked |= type
    try {
      const excludeAll = (nodes: readonly SchemaNode[]) =>
        nodes.every((node) => areDisjoint(reader, node, b, type, depth))
      if (profile.parts.some(({ any, one }) => any.some(excludeAll) || one.some(excludeAll)))
        known.proven |= type
    } catch (error) {
      known.asked &= ~type
      throw error
    }
  }
  return (known.proven & type) !== 0
}

/** Like `areDisjoint`, for values of any type. */
export function excludeEachOther(reader: KeywordReader, a: SchemaNode, b: SchemaNode, depth = 0): boolean {
  const types = profileOf(reader, a).types & profileOf(reader, b).types
  for (const type of Object.values(Types)) {
    if ((types & type) !== 0 && !areDisjoint(reader, a, b, type, depth)) return false
  }
  return true
}

/** Returns the JSON types that `node` allows, considering its `enum`, `allOf` and `$ref`. */
export function typesOf(reader: KeywordReader, node: SchemaNode): number {
  return profileOf(reader, node).types
}

function isDisjoint(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  for (const value of a) if (b.has(value)) return false
  return true
}

/** Whether an object schema is closed and does not declare `name`. */
function isClosedTo({ additional, patternProperties, properties }: Keywords, name: string): boolean {
  return additional?.value.kind === "false" && patternProperties.length === 0 && !properties.has(name)
}

/** Yields the schemas of the property `name`. */
function* valuesOf({ parts }: Profile, name: string): Generator<SchemaNode> {
  for (const { properties } of parts) {
    const node = properties.get(name)
    if (node !== undefined) yield node
  }
}

/** By node id. */
const profiles = new WeakMap<KeywordReader, (Profile | undefined)[]>()

function profileOf(reader: KeywordReader, root: SchemaNode): Profile {
  let known = profiles.get(reader)
  if (known === undefined) {
    known = []
    profiles.set(reader, known)
  }
  known[root.id] ??= makeProfile(reader, root)
  return known[root.id] as Profile
}

function makeProfile(reader: KeywordReader, root: SchemaNode): Profile {
  const profile: Profile = {
    types: AllTypes,
    values: null,
    parts: reader.inAnyCase(root).map((node) => reader.of(node)),
    proofs: null,
  }
  for (const keywords of profile.parts) {
    profile.types &= keywords.types
    if (keywords.enum === null) continue
    const keys = new Set(keywords.enum.map(valueKey))
    const before: ReadonlySet<string> | null = profile.values
    profile.values = before === null ? keys : new Set([...before].filter((key) => keys.has(key)))
    profile.types &= keywords.enum.reduce((types, value) => types | typeBit(value), 0)
  }
  return profile
}
