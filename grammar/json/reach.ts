/**
 * Checks before a text is begun what it may come to: values of optional properties, of items, of
 * names behind a pattern.
 *
 * The language of a schema is made as a text reaches its parts. A part with too many alternatives
 * or too large counts would end an answer with a `limit` in the middle of the text. So each part
 * that combines schemas is made once when the schema is compiled. Parts that only constrain their
 * own members need no check, and most schemas have no others. Constraints that depend on the values
 * read so far (items that must differ, obligations that are met) are known only while reading.
 */
import { weighed } from "../deadline.ts"
import type { ExprId } from "../lexeme/expr/expr.ts"
import { flags, Searched } from "../lexeme/expr/nodes.ts"
import { ArrayFrame } from "./array/arrayframe.ts"
import { Types } from "./facts/conjunction.ts"
import type { JsonLanguage } from "./language.ts"
import type { Keywords } from "./read/keywords.ts"
import type { SchemaNode } from "./refs/refs.ts"

/**
 * The work that the check may take, in the weight of `checkTime`: some milliseconds, or more if a
 * single part takes more.
 */
const MostWork = 4_000

/**
 * Up to this share of the threads that a state may have, the ways to combine the alternatives of
 * one value are surely few.
 */
const FewBranches = 1 / 8
/** Up to this many overlapping patterns of names, and names that require others, need no check. */
const FewPatterns = 4
const FewDependents = 8
/** The greatest depth of schemas for one value when their alternatives are counted. */
const MaxNesting = 200

/** A schema, its language and all schemas that it reaches. */
export interface Reach {
  readonly language: JsonLanguage
  /** The conjunction that is equivalent to the schema. */
  readonly value: number
  readonly nodes: readonly SchemaNode[]
}

/** Throws `limit` if some value that a text may come to cannot be made. */
export function checkReach({ language, value: root, nodes }: Reach): void {
  const keywordsOf = (node: SchemaNode) => language.reader.of(node)
  const fewBranches = FewBranches * language.limits.threads
  const suspects = nodes.filter((node) => isSuspect(keywordsOf(node), fewBranches))
  if (suspects.length === 0) return
  const isRelevant = leadsToRisk(nodes, suspects, keywordsOf, fewBranches)
  if (isRelevant === null) return
  const { all } = language
  const seen = new Set([root])
  const open = [root]
  const add = (conjunction: number) => {
    if (seen.has(conjunction)) return
    seen.add(conjunction)
    const mayFail = all.factsOf(conjunction).some((id) => {
      const fact = all.facts[id]
      return fact.kind !== "schema" || isRelevant[fact.node.id] === true
    })
    if (mayFail) open.push(conjunction)
  }
  let work = 0
  for (let at = open.pop(); at !== undefined && work < MostWork; at = open.pop()) {
    const conjunction = at
    const alone = schemaOf(language, conjunction)
    const keywords = alone === null ? null : keywordsOf(alone)
    if (keywords !== null && saysItsParts(keywords)) {
      for (const child of partsOf(keywords)) add(all.of([all.schema(child)]))
      continue
    }
    work += weighed(() => make(language, conjunction, add)).weight
  }
}

/** Makes the beginnings of a value of `conjunction`, and adds the conjunctions of its parts. */
function make(language: JsonLanguage, conjunction: number, add: (part: number) => void): void {
  if (!language.isProductive(conjunction)) return
  // `follow` computes what may come after the opening bracket. It throws if too many counts
  // combine.
  for (const { frames } of language.valueSteps(conjunction))
    for (const frame of frames) if (frame instanceof ArrayFrame) frame.follow(0, null)
  language.checkKeys(conjunction)
  for (const { names, classes } of language.objectsOf(conjunction)) {
    for (const { value } of names) add(value)
    for (const { value } of classes) add(value)
  }
  for (const { items } of language.arraysOf(conjunction)) for (const item of items) add(item)
}

/** Returns the schema that `conjunction` consists of, or null if it has other facts. */
function schemaOf(language: JsonLanguage, conjunction: number): SchemaNode | null {
  const { all } = language
  const facts = all.factsOf(conjunction)
  if (facts.length !== 1) return null
  const fact = all.facts[facts[0]]
  return fact.kind === "schema" && fact.positive ? fact.node : null
}

/** Whether a schema alone determines the constraint on each part. */
function saysItsParts(keywords: Keywords): boolean {
  return (
    !keywords.isCombined &&
    keywords.patternProperties.length === 0 &&
    keywords.propertyNames === null &&
    keywords.dependentSchemas.length === 0 &&
    keywords.dependentRequired.length <= FewDependents &&
    keywords.unevaluatedProperties === null &&
    keywords.unevaluatedItems === null &&
    keywords.contains === null &&
    !keywords.unique
  )
}

/** Yields the schemas of members and of items, for the types that are allowed. */
function* partsOf({ types, properties, additional, prefix, rest }: Keywords): Generator<SchemaNode> {
  if ((types & Types.object) !== 0) {
    yield* properties.values()
    if (additional !== null) yield additional
  }
  if ((types & Types.array) !== 0) {
    yield* prefix
    if (rest !== null) yield rest
  }
}

/** Whether a schema has a feature that might be risky; most have none. */
function isSuspect(keywords: Keywords, fewBranches: number): boolean {
  return (
    !saysItsParts(keywords) ||
    keywords.patterns.length > 0 ||
    keywords.dependentRequired.length > FewDependents ||
    (keywords.enum !== null && keywords.enum.length > fewBranches)
  )
}

/**
 * Returns, by node id, whether the values of a schema may contain some that combine many schemas.
 * Returns null if none do. `suspects` are the schemas that might.
 */
function leadsToRisk(
  nodes: readonly SchemaNode[],
  suspects: readonly SchemaNode[],
  keywordsOf: (node: SchemaNode) => Keywords,
  fewBranches: number,
): readonly boolean[] | null {
  /** By node id; 1 while they are being counted, for schemas that contain themselves. */
  const branches: number[] = []
  let nesting = 0
  const branchesOf = (node: SchemaNode): number => {
    const known = branches[node.id]
    if (known !== undefined) return known
    branches[node.id] = 1
    const keywords = keywordsOf(node)
    if (!keywords.isCombined) {
      branches[node.id] = ownBranches(keywords, fewBranches)
      return branches[node.id]
    }
    // Deeper schemas count as risky.
    if (nesting === MaxNesting) return fewBranches + 1
    nesting++
    branches[node.id] = countBranches(keywords, branchesOf)
    nesting--
    return branches[node.id]
  }
  const risky = suspects.filter((node) => isRisky(keywordsOf(node), branchesOf, fewBranches))
  if (risky.length === 0) return null
  const above: SchemaNode[][] = []
  for (const node of nodes) {
    for (const child of keywordsOf(node).below) {
      above[child.id] ??= []
      above[child.id].push(node)
    }
  }
  const leads: boolean[] = []
  for (const node of risky) leads[node.id] = true
  // The loop also visits the schemas that are added meanwhile.
  for (const node of risky) {
    for (const parent of above[node.id] ?? []) {
      if (leads[parent.id]) continue
      leads[parent.id] = true
      risky.push(parent)
    }
  }
  return leads
}

/** Whether making a value of a schema may exceed a limit. */
function isRisky(keywords: Keywords, branchesOf: (node: SchemaNode) => number, fewBranches: number): boolean {
  const { patterns, patternProperties, dependentRequired, dependentSchemas } = keywords
  // Searches and counts are rare, and their cost is known only afterwards.
  if (keywords.contains !== null || patterns.length > 1 || patterns.some(isSearched)) return true
  if (keywords.unevaluatedProperties !== null || keywords.unevaluatedItems !== null) return true
  if (patternProperties.length > FewPatterns) return true
  if (dependentRequired.length + dependentSchemas.length > FewDependents) return true
  return (
    containersOf(keywords) > fewBranches ||
    (keywords.isCombined && countBranches(keywords, branchesOf) > fewBranches)
  )
}

/** Returns roughly the number of ways to combine the in-place schemas. */
function countBranches(keywords: Keywords, branchesOf: (node: SchemaNode) => number): number {
  const { any, one, all, not, conditional } = keywords
  let branches = keywords.patterns.length > 0 ? 2 : 1
  if (conditional !== null) {
    const { test, yes, no } = conditional
    for (const node of [test, yes, no]) if (node !== null) branches *= 1 + branchesOf(node)
  }
  const sumOf = (nodes: readonly SchemaNode[]) => nodes.reduce((sum, node) => sum + branchesOf(node), 0)
  for (const nodes of any) branches *= sumOf(nodes)
  for (const nodes of one) branches *= sumOf(nodes)
  for (const node of all) branches *= branchesOf(node)
  for (const node of not) branches *= 1 + branchesOf(node)
  return branches
}

/** Returns the number of listed containers; each is an alternative. */
function containersOf({ enum: values }: Keywords): number {
  return values === null
    ? 0
    : values.reduce((sum, { kind }) => sum + (kind === "array" || kind === "object" ? 1 : 0), 0)
}

/**
 * Returns roughly the number of ways to satisfy or to violate a schema without in-place schemas.
 */
function ownBranches(keywords: Keywords, fewBranches: number): number {
  const { properties, required, patternProperties, patterns } = keywords
  const isDenied = properties.size + required.length + patternProperties.length > fewBranches
  return Math.max(1, containersOf(keywords)) * (patterns.length > 0 ? 2 : 1) * (isDenied ? 2 : 1)
}

/** Whether a pattern may have no text, or only a long one. */
function isSearched(pattern: ExprId): boolean {
  return (flags(pattern) & Searched) !== 0
}
