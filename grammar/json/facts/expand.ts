/**
 * The consequences of one fact for containers: the facts that it implies, and the clauses that it
 * leaves open.
 *
 * A positive schema implies its `allOf` and `$ref` targets and opens a clause for each choice. A
 * negated one is a single clause, built from duals: required ↔ absent, every property ↔ some
 * property not, items ↔ an item not, and so on (`negate.ts`). The constraints of a positive schema
 * on members stay with the schema: specs read them from its keywords.
 */
import type { Limits } from "../../errors.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import type { Keywords } from "../read/keywords.ts"
import type { SchemaNode } from "../refs/refs.ts"
import { type Alternative, type Conjunctions, type Fact, Infinite, Types, typeBit } from "./conjunction.ts"
import { boundedCoverages, type Coverage, uncoveredNames, unevaluated } from "./coverage.ts"
import { negateContainer } from "./negate.ts"
import { areDisjoint } from "./oneof.ts"

export interface Expansion {
  /** Facts that always hold. */
  readonly facts: readonly number[]
  /** At least one alternative of each clause holds. */
  readonly clauses: readonly (readonly Alternative[])[]
  /** Exactly one schema of each list holds. */
  readonly ones: readonly (readonly SchemaNode[])[]
}

const noOnes: readonly never[] = []
const nothing: Expansion = { facts: [], clauses: [], ones: noOnes }

/** Expands `fact` for values of the container type with bit `type`. */
export function expandFact(
  all: Conjunctions,
  reader: KeywordReader,
  fact: Fact,
  type: number,
  limits: Limits,
): Expansion {
  switch (fact.kind) {
    case "schema":
      return fact.positive
        ? expandSchema(all, reader.of(fact.node), type)
        : { facts: [], clauses: negateSchema(all, reader, fact.node, type, limits), ones: noOnes }
    case "either":
      return fact.positive
        ? { facts: [], clauses: [fact.facts.map((id) => [id])], ones: noOnes }
        : { facts: fact.facts.map((id) => all.negation(id)), clauses: [], ones: noOnes }
    case "equals":
      if (typeBit(fact.value) !== type)
        return fact.positive ? { facts: [all.impossible], clauses: [], ones: noOnes } : nothing
      return fact.positive
        ? nothing
        : { facts: [], clauses: [negateContainer.equals(all, fact.value)], ones: noOnes }
    default:
      return nothing
  }
}

function expandSchema(all: Conjunctions, keywords: Keywords, type: number): Expansion {
  const facts: number[] = []
  const clauses: Alternative[][] = []
  if ((keywords.types & type) === 0) facts.push(all.impossible)
  if (keywords.enum !== null) {
    clauses.push(keywords.enumOf(type).map((value) => [all.fact({ kind: "equals", value, positive: true })]))
  }
  for (const node of keywords.all) facts.push(all.schema(node))
  for (const nodes of keywords.any) clauses.push(nodes.map((node) => [all.schema(node)]))
  for (const node of keywords.not) facts.push(all.schema(node, false))
  const { isObserved, counted } = keywords
  const observe = (node: SchemaNode) =>
    clauses.push([[all.schema(node)], [all.fact({ kind: "uncounted", node })]])
  // These schemas need not hold, but cover members if they do. In a `oneOf`, no other branch holds
  // anyway.
  for (const nodes of keywords.any)
    if (nodes.length > 1) for (const node of nodes) if (isObserved || counted.includes(node)) observe(node)
  if (keywords.conditional !== null) {
    const { test, yes, no } = keywords.conditional
    if (yes !== null || no !== null) {
      const holds = all.schema(test)
      const fails = all.schema(test, false)
      if (isObserved || counted.includes(test) || (yes !== null && no !== null)) {
        clauses.push([
          [holds, ...(yes === null ? [] : [all.schema(yes)])],
          [fails, ...(no === null ? [] : [all.schema(no)])],
        ])
      } else {
        // With one side only, the condition says "`then`, or not `if`". The side that is present
        // need not say which case it belongs to.
        clauses.push(yes === null ? [[holds], [all.schema(no as SchemaNode)]] : [[all.schema(yes)], [fails]])
      }
    } else if (isObserved || counted.includes(test)) observe(test)
  }
  if (type === Types.object) {
    for (const [name, names] of keywords.dependentRequired) {
      for (const other of names)
        clauses.push([[all.fact({ kind: "absent", name })], [all.fact({ kind: "present", name: other })]])
    }
    for (const [name, node] of keywords.dependentSchemas) {
      const present = isObserved || counted.includes(node) ? [all.fact({ kind: "present", name })] : []
      clauses.push([[all.fact({ kind: "absent", name })], [...present, all.schema(node)]])
    }
  }
  return { facts, clauses, ones: keywords.one }
}

/**
 * Returns the clauses of "not this schema". There are none if the schema allows no value of this
 * type.
 */
function negateSchema(
  all: Conjunctions,
  reader: KeywordReader,
  node: SchemaNode,
  type: number,
  limits: Limits,
): Alternative[][] {
  const keywords = reader.of(node)
  if ((keywords.types & type) === 0) return []
  const alternatives: Alternative[] = []
  if (keywords.enum !== null) {
    alternatives.push(
      keywords.enumOf(type).map((value) => all.fact({ kind: "equals", value, positive: false })),
    )
  }
  for (const node of keywords.all) alternatives.push([all.schema(node, false)])
  for (const nodes of keywords.any) alternatives.push(nodes.map((node) => all.schema(node, false)))
  for (const nodes of keywords.one) {
    alternatives.push(nodes.map((node) => all.schema(node, false)))
    for (let i = 0; i < nodes.length; i++) {
      for (let j = i + 1; j < nodes.length; j++) {
        if (!areDisjoint(reader, nodes[i], nodes[j], type))
          alternatives.push([all.schema(nodes[i]), all.schema(nodes[j])])
      }
    }
  }
  for (const node of keywords.not) alternatives.push([all.schema(node)])
  if (keywords.conditional !== null) {
    const { test, yes, no } = keywords.conditional
    if (yes !== null) alternatives.push([all.schema(test), all.schema(yes, false)])
    if (no !== null) alternatives.push([all.schema(test, false), all.schema(no, false)])
  }
  alternatives.push(
    ...(type === Types.object ? negateContainer.object(all, keywords) : negateContainer.array(all, keywords)),
  )
  const rest = unevaluated(keywords, type)
  if (rest !== null) {
    for (const { facts, coverage } of boundedCoverages(all, reader, node, type, limits)) {
      const member = wrongMember(all, rest, coverage, type)
      if (member !== null) alternatives.push([...facts, member])
    }
  }
  return [alternatives]
}

/**
 * Returns the fact that some member that is not covered violates `rest`, or null if all are
 * covered.
 */
function wrongMember(all: Conjunctions, rest: SchemaNode, coverage: Coverage, type: number): number | null {
  if (coverage.everything) return null
  if (type === Types.object)
    return all.fact({ kind: "some", names: uncoveredNames(coverage), fact: all.schema(rest, false) })
  const right = all.either([rest, ...coverage.contains].map((node) => all.schema(node)))
  return all.fact({
    kind: "contains",
    from: coverage.prefix,
    fact: all.negation(right),
    min: 1,
    max: Infinite,
  })
}

/**
 * Returns `oneOf` as a clause: for each i, branch i and none of the others. Branches that are
 * provably disjoint from branch i need not be excluded.
 */
export function exactlyOne(
  all: Conjunctions,
  reader: KeywordReader,
  nodes: readonly SchemaNode[],
  type: number,
): Alternative[] {
  return nodes.map((node, i) => [
    all.schema(node),
    ...nodes
      .filter((other, j) => j !== i && !areDisjoint(reader, node, other, type))
      .map((other) => all.schema(other, false)),
  ])
}
