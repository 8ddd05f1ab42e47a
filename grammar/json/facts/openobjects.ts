/**
 * Objects that do not say which names they may have besides the declared ones.
 *
 * Under `openObjects: "declared"` such an object takes its declared names only. The declared names,
 * and whether the schema says anything about other names, are collected from all schemas in force
 * for the object, in the way of `unevaluatedProperties` (`coverage.ts`): the schemas of the object,
 * `allOf`, `$ref`, and the branches of choices that hold. Objects are closed where they are written
 * (`object/closing.ts`), not where schemas are read, so a negation means the same as in the schema,
 * and every text that is written is valid without the policy too.
 *
 * Which branches hold is known where a branch is chosen. Other branches of an `anyOf` may hold
 * beside the chosen one, and a `then` may hold without its `if`. Where that changes which names are
 * possible, the search distinguishes both cases (`counted` of the keywords). Many such choices
 * would make too many cases. Then only the chosen branch of an `anyOf` counts, and both sides of a
 * condition that is left open count.
 */
import { checkTime } from "../../deadline.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import type { Keywords } from "../read/keywords.ts"
import type { SchemaNode } from "../refs/refs.ts"
import { Types } from "./conjunction.ts"
import { type Asserted, assertedSchemas } from "./coverage.ts"
import { areDisjoint } from "./oneof.ts"

/**
 * The greatest number of alternatives of an `anyOf`, and of choices of an object, for which the
 * search distinguishes whether they hold.
 */
const MostAlternatives = 4
const MostChoices = 8

/**
 * Returns the names that the schemas in force declare or require. Returns null if they have no
 * `properties`, or constrain other names. `isOpen`: choices are left to the object, and all their
 * branches count.
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
 * Marks the in-place schemas of an object for which the search must know whether they hold. `nodes`
 * are the reachable schemas, the root schema first. Returns the marked schemas.
 */
export function countBranches(reader: KeywordReader, nodes: readonly SchemaNode[]): SchemaNode[] {
  const marked: SchemaNode[] = []
  for (const root of valueSchemas(reader, nodes)) {
    const choices = choicesOf(reader, root)
    if (choices.length > MostChoices) continue
    for (const { node, schemas } of choices) {
      const keywords = reader.of(node)
      keywords.counted = [...new Set([...keywords.counted, ...schemas])]
      marked.push(...schemas)
    }
  }
  return marked
}

/**
 * Returns the reachable schemas whose `properties` are all the possible names unless a branch in
 * force adds more.
 */
export function closingSchemas(reader: KeywordReader, root: SchemaNode): ReadonlySet<SchemaNode> {
  const nodes = new Set([root])
  for (const node of nodes) for (const child of reader.of(node).below) nodes.add(child)
  const closing = new Set<SchemaNode>()
  // The loop below adds the branches.
  const schemas = new Set(valueSchemas(reader, nodes))
  for (const schema of schemas) {
    const always = inAnyCase(reader, schema)
    const keywords = always.map((node) => reader.of(node))
    if (keywords.some(({ coversOthers }) => coversOthers)) continue
    const names = new Set(keywords.flatMap(({ properties, required }) => [...properties.keys(), ...required]))
    if (keywords.some(({ minProperties }) => minProperties > names.size)) continue
    for (const node of always) {
      if (reader.of(node).declaresNames) closing.add(node)
      for (const branch of branchesOf(reader.of(node))) schemas.add(branch)
    }
  }
  return closing
}

/** Returns the schemas that apply to values, without the in-place schemas below them. */
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

/** In-place schemas of `node` for which the search must know whether they hold. */
interface Choice {
  readonly node: SchemaNode
  readonly schemas: readonly SchemaNode[]
}

/** An in-place schema of an object, and the names that are declared where it applies. */
interface InPlace {
  readonly schema: SchemaNode
  readonly names: ReadonlySet<string>
  readonly isDeclared: boolean
}

/** Returns the choices below `root` that change which names are possible. */
function choicesOf(reader: KeywordReader, root: SchemaNode): Choice[] {
  const choices: Choice[] = []
  const seen = new Set([root])
  const open: InPlace[] = [{ schema: root, names: new Set(), isDeclared: false }]
  for (const { schema, names: before, isDeclared: wasDeclared } of open) {
    const always = inAnyCase(reader, schema)
    const keywords = always.map((node) => reader.of(node))
    if (keywords.some(({ coversOthers }) => coversOthers)) continue
    const own = keywords.flatMap(({ properties }) => [...properties.keys()])
    const names = own.length === 0 ? before : new Set([...before, ...own])
    const isDeclared = wasDeclared || keywords.some(({ declaresNames }) => declaresNames)
    const matters = (branch: SchemaNode | null): branch is SchemaNode =>
      branch !== null && addsNames(reader, branch, names, isDeclared)
    for (const node of always) {
      choices.push(...ownChoices(reader, node, matters))
      for (const branch of branchesOf(reader.of(node))) {
        if (seen.has(branch) || !matters(branch)) continue
        seen.add(branch)
        open.push({ schema: branch, names, isDeclared })
      }
    }
  }
  return choices
}

function* ownChoices(
  reader: KeywordReader,
  node: SchemaNode,
  matters: (branch: SchemaNode | null) => boolean,
): Generator<Choice> {
  const { any, conditional, dependentSchemas } = reader.of(node)
  for (const group of any) {
    const schemas = group.filter(matters)
    if (schemas.length > MostAlternatives) continue
    const mayMeet = schemas.some((a, i) =>
      schemas.some((b, k) => k < i && !areDisjoint(reader, a, b, Types.object)),
    )
    if (mayMeet) yield { node, schemas }
  }
  if (conditional !== null) {
    const { test, yes, no } = conditional
    if ([test, yes, no].some(matters)) yield { node, schemas: [test] }
  }
  for (const [, child] of dependentSchemas) if (matters(child)) yield { node, schemas: [child] }
}

/**
 * Whether a schema, or an in-place schema below it, declares a name that is not in `names`, or
 * constrains other names.
 */
function addsNames(
  reader: KeywordReader,
  root: SchemaNode,
  names: ReadonlySet<string>,
  isDeclared: boolean,
): boolean {
  const seen = new Set([root])
  for (const node of seen) {
    checkTime()
    const keywords = reader.of(node)
    if (keywords.coversOthers || (keywords.declaresNames && !isDeclared)) return true
    for (const name of keywords.properties.keys()) if (!names.has(name)) return true
    for (const child of [...keywords.all, ...branchesOf(keywords)]) seen.add(child)
  }
  return false
}

/** Returns `root` and the schemas that `allOf` and `$ref` add to it. */
function inAnyCase(reader: KeywordReader, root: SchemaNode): SchemaNode[] {
  const seen = new Set([root])
  for (const node of seen) for (const child of reader.of(node).all) seen.add(child)
  return [...seen]
}

/** Returns the in-place schemas that may hold or fail. */
function branchesOf({ any, one, conditional, dependentSchemas }: Keywords): SchemaNode[] {
  const branches = [...any.flat(), ...one.flat(), ...dependentSchemas.map(([, child]) => child)]
  if (conditional === null) return branches
  const { test, yes, no } = conditional
  return [...branches, test, ...[yes, no].filter((side) => side !== null)]
}
