/**
 * The members that count as evaluated, so that `unevaluatedProperties` and `unevaluatedItems` do
 * not apply to them.
 *
 * Coverage only grows with the in-place schemas that succeed, so nothing needs to be excluded: a
 * branch may rely on any set of schemas that it asserts, and the union over those sets is exact.
 * `allOf` and `$ref` always hold. `anyOf`, `oneOf`, `if` and `dependentSchemas` cover members where
 * the branch asserts them. `not` covers nothing. The schemas beside the one with the `unevaluated*`
 * keyword (cousins) are not seen, because the walk begins at that one. A negation inverts the set:
 * a branch names schemas that fail, and all the others count as covering.
 */
import { checkLimit, type Limits } from "../../errors.ts"
import { type ExprId, exprs } from "../../lexeme/expr/expr.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import type { Keywords } from "../read/keywords.ts"
import type { SchemaNode } from "../refs/refs.ts"
import { type Conjunctions, Types } from "./conjunction.ts"

export interface Coverage {
  /** Every member is covered. */
  everything: boolean
  properties: Map<string, SchemaNode>
  patternProperties: { expr: ExprId; node: SchemaNode }[]
  /** Items before this index. */
  prefix: number
  /** Items that satisfy one of these. */
  contains: SchemaNode[]
}

/** The facts of a branch. */
export interface Asserted {
  holds(node: SchemaNode): boolean
  fails(node: SchemaNode): boolean
  isPresent(name: string): boolean
  isAbsent(name: string): boolean
}

/** Returns the schema of the `unevaluated*` keyword for the type with bit `type`. */
export function unevaluated(keywords: Keywords, type: number): SchemaNode | null {
  return type === Types.object ? keywords.unevaluatedProperties : keywords.unevaluatedItems
}

/**
 * Returns what `root` and the asserted in-place schemas cover, without the `unevaluated*` keyword
 * of `root` itself.
 */
export function coverageOf(reader: KeywordReader, root: SchemaNode, type: number, known: Asserted): Coverage {
  const coverage = noCoverage()
  for (const node of assertedSchemas(reader, [root], known))
    addOwn(coverage, node, reader.of(node), type, node === root)
  return coverage
}

/**
 * Returns `roots` and the asserted in-place schemas below them. `counts` decides whether a branch
 * of a choice that is still open counts.
 */
export function assertedSchemas(
  reader: KeywordReader,
  roots: readonly SchemaNode[],
  known: Asserted,
  counts: (branch: SchemaNode) => boolean = () => false,
): ReadonlySet<SchemaNode> {
  const seen = new Set(roots)
  for (const node of seen) {
    const keywords = reader.of(node)
    for (const child of keywords.all) seen.add(child)
    for (const group of [...keywords.any, ...keywords.one]) {
      const held = group.filter((child) => known.holds(child))
      for (const child of held.length === 0 ? group.filter(counts) : held) seen.add(child)
    }
    if (keywords.conditional !== null) {
      const { test, yes, no } = keywords.conditional
      const [holds, fails] = [known.holds(test), known.fails(test)]
      if (holds) seen.add(test)
      if (yes !== null && (holds || (!fails && counts(yes)))) seen.add(yes)
      if (no !== null && (fails || (!holds && counts(no)))) seen.add(no)
    }
    for (const [name, child] of keywords.dependentSchemas) {
      const isMet = known.isPresent(name) && known.holds(child)
      if (isMet || (!known.isAbsent(name) && counts(child))) seen.add(child)
    }
  }
  return seen
}

/** Facts that bound the coverage from above: given these facts, at most `coverage` is covered. */
export interface BoundedCoverage {
  readonly facts: readonly number[]
  readonly coverage: Coverage
}

/**
 * Returns all ways to bound the coverage of `root` by schemas that fail, for values that satisfy
 * everything else in `root`.
 */
export function boundedCoverages(
  all: Conjunctions,
  reader: KeywordReader,
  root: SchemaNode,
  type: number,
  limits: Limits,
): BoundedCoverage[] {
  return ways(all, reader, root, new Set(), limits).map(({ facts, nodes }) => {
    const coverage = noCoverage()
    for (const node of new Set(nodes)) addOwn(coverage, node, reader.of(node), type, node === root)
    return { facts, coverage }
  })
}

interface Way {
  readonly facts: readonly number[]
  readonly nodes: readonly SchemaNode[]
}

function ways(
  all: Conjunctions,
  reader: KeywordReader,
  node: SchemaNode,
  path: ReadonlySet<SchemaNode>,
  limits: Limits,
): Way[] {
  if (path.has(node)) return [{ facts: [], nodes: [] }]
  const inside = new Set([...path, node])
  const below = (child: SchemaNode | null): Way[] =>
    child === null ? [{ facts: [], nodes: [] }] : ways(all, reader, child, inside, limits)
  const keywords = reader.of(node)
  let result: Way[] = [{ facts: [], nodes: [node] }]
  const times = (choices: Way[]) => {
    checkLimit(limits, "threads.negation", result.length * choices.length, node.pointer)
    result = result.flatMap((a) =>
      choices.map((b) => ({ facts: [...a.facts, ...b.facts], nodes: [...a.nodes, ...b.nodes] })),
    )
  }
  const wrong = (child: SchemaNode) => all.schema(child, false)
  for (const child of keywords.all) times(below(child))
  for (const children of keywords.any)
    for (const child of children) times([{ facts: [wrong(child)], nodes: [] }, ...below(child)])
  for (const children of keywords.one) {
    const others = (child: SchemaNode) => children.filter((other) => other !== child).map(wrong)
    times(children.flatMap((child) => below(child).map((way) => assuming(others(child), way))))
  }
  if (keywords.conditional !== null) {
    const { test, yes, no } = keywords.conditional
    const taken = below(test).flatMap((a) => below(yes).map((b) => assuming(a.facts, b, a.nodes)))
    times([
      ...taken.map((way) => assuming([all.schema(test)], way)),
      ...below(no).map((way) => assuming([wrong(test)], way)),
    ])
  }
  for (const [name, child] of keywords.dependentSchemas) {
    times([
      { facts: [all.fact({ kind: "absent", name })], nodes: [] },
      ...below(child).map((way) => assuming([all.fact({ kind: "present", name })], way)),
    ])
  }
  return result
}

function assuming(facts: readonly number[], way: Way, nodes: readonly SchemaNode[] = []): Way {
  return { facts: [...facts, ...way.facts], nodes: [...nodes, ...way.nodes] }
}

/** Returns the language of the names that are not covered. */
export function uncoveredNames({ everything, properties, patternProperties }: Coverage): ExprId {
  if (everything) return exprs.not(exprs.anyText)
  const names = [...properties.keys()].filter((name) => name.isWellFormed())
  return exprs.not(
    exprs.or([...names.map((name) => exprs.literal(name)), ...patternProperties.map(({ expr }) => expr)]),
  )
}

/**
 * Yields `root` and all in-place schemas below it: an `unevaluated*` keyword depends on whether
 * they hold.
 */
export function* inPlaceSchemas(reader: KeywordReader, root: SchemaNode): Generator<SchemaNode> {
  const seen = new Set([root])
  for (const node of seen) {
    yield node
    const { all, any, one, conditional, dependentSchemas } = reader.of(node)
    for (const child of [...all, ...any.flat(), ...one.flat()]) seen.add(child)
    for (const [, child] of dependentSchemas) seen.add(child)
    if (conditional === null) continue
    for (const child of [conditional.test, conditional.yes, conditional.no])
      if (child !== null) seen.add(child)
  }
}

function noCoverage(): Coverage {
  return { everything: false, properties: new Map(), patternProperties: [], prefix: 0, contains: [] }
}

function addOwn(
  coverage: Coverage,
  node: SchemaNode,
  keywords: Keywords,
  type: number,
  isRoot: boolean,
): void {
  if (!isRoot && unevaluated(keywords, type) !== null) coverage.everything = true
  if (type === Types.object) {
    if (keywords.additional !== null) coverage.everything = true
    for (const [name, child] of keywords.properties) coverage.properties.set(name, child)
    coverage.patternProperties.push(...keywords.patternProperties)
    return
  }
  if (keywords.rest !== null) coverage.everything = true
  coverage.prefix = Math.max(coverage.prefix, keywords.prefix.length)
  if (keywords.contains !== null && node.dialect.containsEvaluates)
    coverage.contains.push(keywords.contains.node)
}
