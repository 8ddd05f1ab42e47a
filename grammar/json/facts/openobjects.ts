/**
 * Objects that leave it unsaid which names they may have beside those that they declare.
 *
 * Under `openObjects: "declared"` such an object takes its declared names alone. Who declares, and whether something is said, is
 * counted over all schemas in force for the object, as `unevaluatedProperties` counts them (`coverage.ts`): the schemas of the
 * object, `allOf`, `$ref`, and the branches of choices that hold. Objects are closed where they are written
 * (`object/closing.ts`), not where schemas are read, so a negation means what it means in the schema, and every text that is
 * written is valid without the policy too.
 *
 * Which branches hold is known where a branch is chosen. Those of `anyOf` may hold beside the chosen one, and a `then` may hold
 * without its `if`: where that changes which names there may be, both cases are told apart (`counted` of the keywords). For many
 * such choices that would be too many cases. Then of an `anyOf` the chosen branch counts alone, and of a condition that
 * is left open both sides do.
 */
import type { KeywordReader } from "../read/keywordreader.ts"
import type { Keywords } from "../read/keywords.ts"
import type { SchemaNode } from "../refs/refs.ts"
import { Types } from "./conjunction.ts"
import { type Asserted, assertedSchemas } from "./coverage.ts"
import { areDisjoint } from "./oneof.ts"

/** So many alternatives of an `anyOf`, and so many conditions of a schema, are told apart by whether they hold. */
const MostAlternatives = 4
const MostConditions = 8

/**
 * The names that the schemas in force declare or require; null: they have no `properties`, or speak of others. `isOpen`: choices are
 * left to the object, and all their branches count.
 */
export function declaredInForce(
  reader: KeywordReader,
  roots: readonly SchemaNode[],
  known: Asserted,
  isOpen: boolean,
): ReadonlySet<string> | null {
  const names = new Set<string>()
  let isDeclared = false
  for (const node of assertedSchemas(reader, roots, known, (branch) => isOpen || known.holds(branch))) {
    const keywords = reader.of(node)
    if (keywords.coversOthers) return null
    isDeclared ||= keywords.declaresNames
    for (const name of [...keywords.properties.keys(), ...keywords.required]) names.add(name)
    for (const [, required] of keywords.dependentRequired) for (const name of required) names.add(name)
  }
  return isDeclared ? names : null
}

/**
 * Marks the in-place schemas of an object of which it must be known whether they hold. `nodes`: schemas that can be reached, the
 * first of them that of the whole. Returns those that are marked.
 */
export function countBranches(reader: KeywordReader, nodes: readonly SchemaNode[]): SchemaNode[] {
  const marked: SchemaNode[] = []
  for (const root of valueSchemas(reader, nodes)) {
    const choices = [...choicesOf(reader, root, new Set(), false, new Set())]
    const conditions = choices.filter(({ isCondition }) => isCondition).length
    for (const { node, schemas, isCondition } of choices) {
      if (isCondition && conditions > MostConditions) continue
      const keywords = reader.of(node)
      keywords.counted = [...new Set([...keywords.counted, ...schemas])]
      marked.push(...schemas)
    }
  }
  return marked
}

/** Of the schemas that can be reached, those whose `properties` are all the names there may be unless a branch in force says more. */
export function closingSchemas(reader: KeywordReader, root: SchemaNode): ReadonlySet<SchemaNode> {
  const nodes = new Set([root])
  for (const node of nodes) for (const child of reader.of(node).below) nodes.add(child)
  const closing = new Set<SchemaNode>()
  const seen = new Set<SchemaNode>()
  const look = (schema: SchemaNode) => {
    if (seen.has(schema)) return
    seen.add(schema)
    const always = inAnyCase(reader, schema)
    const keywords = always.map((node) => reader.of(node))
    if (keywords.some(({ coversOthers }) => coversOthers)) return
    const names = new Set(keywords.flatMap(({ properties, required }) => [...properties.keys(), ...required]))
    if (keywords.some(({ minProperties }) => minProperties > names.size)) return
    for (const node of always) {
      if (reader.of(node).declaresNames) closing.add(node)
      for (const branch of branchesOf(reader.of(node))) look(branch)
    }
  }
  for (const each of valueSchemas(reader, nodes)) look(each)
  return closing
}

/** The schemas that values are held to, not those in place below them. */
function valueSchemas(reader: KeywordReader, nodes: Iterable<SchemaNode>): ReadonlySet<SchemaNode> {
  const [first] = nodes
  const roots = new Set([first])
  for (const node of nodes) {
    const keywords = reader.of(node)
    if (keywords.below.length === 0) continue
    const { properties, patternProperties, additional, unevaluatedProperties } = keywords
    const { prefix, rest, contains, unevaluatedItems } = keywords
    for (const child of properties.values()) roots.add(child)
    for (const { node: child } of patternProperties) roots.add(child)
    for (const child of prefix) roots.add(child)
    for (const child of [additional, unevaluatedProperties, rest, unevaluatedItems, contains?.node])
      if (child != null) roots.add(child)
  }
  return roots
}

/** Schemas of `node` that hold if it is to be known which names there may be. */
interface Choice {
  readonly node: SchemaNode
  readonly schemas: readonly SchemaNode[]
  /** Whether they are of an `if` or a dependency. */
  readonly isCondition: boolean
}

/** The choices below `root` that change which names there may be, where `declared` are declared in any case. */
function* choicesOf(
  reader: KeywordReader,
  root: SchemaNode,
  declared: ReadonlySet<string>,
  hasNames: boolean,
  path: ReadonlySet<SchemaNode>,
): Generator<Choice> {
  if (path.has(root)) return
  const always = inAnyCase(reader, root)
  const keywords = always.map((node) => reader.of(node))
  if (keywords.some(({ coversOthers }) => coversOthers)) return
  const names = new Set(declared)
  for (const { properties } of keywords) for (const name of properties.keys()) names.add(name)
  const isDeclared = hasNames || keywords.some(({ declaresNames }) => declaresNames)
  const matters = (branch: SchemaNode | null) =>
    branch !== null && addsNames(reader, branch, names, isDeclared)
  for (const node of always) {
    const { any, conditional, dependentSchemas } = reader.of(node)
    for (const group of any) {
      const schemas = group.filter(matters)
      const mayMeet = schemas.some((a, i) =>
        schemas.some((b, k) => k < i && !areDisjoint(reader, a, b, Types.object)),
      )
      if (mayMeet && schemas.length <= MostAlternatives) yield { node, schemas, isCondition: false }
    }
    if (conditional !== null) {
      const { test, yes, no } = conditional
      if ([test, yes, no].some(matters)) yield { node, schemas: [test], isCondition: true }
    }
    for (const [, child] of dependentSchemas)
      if (matters(child)) yield { node, schemas: [child], isCondition: true }
    const below = new Set([...path, ...always])
    for (const branch of branchesOf(reader.of(node)))
      if (matters(branch)) yield* choicesOf(reader, branch, names, isDeclared, below)
  }
}

/** Whether a schema, or one in place below it, declares a name that is not in `names`, or speaks of others. */
function addsNames(
  reader: KeywordReader,
  root: SchemaNode,
  names: ReadonlySet<string>,
  isDeclared: boolean,
): boolean {
  const seen = new Set([root])
  for (const node of seen) {
    const keywords = reader.of(node)
    if (keywords.coversOthers || (keywords.declaresNames && !isDeclared)) return true
    for (const name of keywords.properties.keys()) if (!names.has(name)) return true
    for (const child of [...keywords.all, ...branchesOf(keywords)]) seen.add(child)
  }
  return false
}

/** `root` and what `allOf` and `$ref` add to it. */
function inAnyCase(reader: KeywordReader, root: SchemaNode): SchemaNode[] {
  const seen = new Set([root])
  for (const node of seen) for (const child of reader.of(node).all) seen.add(child)
  return [...seen]
}

/** The in-place schemas that may hold or fail. */
function branchesOf({ any, one, conditional, dependentSchemas }: Keywords): SchemaNode[] {
  const branches = [...any.flat(), ...one.flat(), ...dependentSchemas.map(([, child]) => child)]
  if (conditional === null) return branches
  const { test, yes, no } = conditional
  return [...branches, test, ...[yes, no].filter((side) => side !== null)]
}
