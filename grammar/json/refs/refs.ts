/**
 * Schema nodes: what a reference means, with dynamic references resolved by copying.
 *
 * `$dynamicRef` leads to the outermost resource, on the way from the root, that has the anchor. So a node is a location
 * and a scope: for each dynamic anchor name met on the way the first place that has it. Scopes grow only when a resource
 * with a new name is entered, hence there are finitely many and nearly always one, the empty one; leaving a resource is
 * going back to a node that has the smaller scope. `$recursiveAnchor: true` is an anchor whose name is empty.
 *
 * The same location in the same scope is the same node: memoising by `id` is what ends `$ref` cycles.
 */

import { TimeError } from "../../deadline.ts"
import { defaultLimits, GrammarError, type Limits, limitError } from "../../errors.ts"
import { checkOptions } from "../../options.ts"
import { fromValue, type JsonNode, readJson } from "../read/reader.ts"
import { type Dialect, defaultDialect, draftDialectOf, isSchema, subschemas } from "./dialect.ts"
import { type Location, type Resource, Resources } from "./resources.ts"
import { encodeToken } from "./uri.ts"

export interface SchemaNode {
  /** Dense; equal for the same location and scope. */
  readonly id: number
  /** An object or a boolean. */
  readonly value: JsonNode
  /** JSON pointer from the main schema, or `uri#pointer` in another document. For messages. */
  readonly pointer: string
  readonly dialect: Dialect
  readonly resource: Resource
  readonly scope: Scope
}

/** Dynamic anchor names and the outermost place of each. Interned: equal scopes are one object. */
interface Scope {
  readonly places: ReadonlyMap<string, Location>
  /** Nodes of this scope by location. */
  readonly nodes: Map<JsonNode, SchemaNode>
  /** Scopes with one more resource. */
  readonly entered: Map<Resource, Scope>
}

const noPlaces: ReadonlyMap<string, Location> = new Map()

export interface GraphOptions {
  /** Texts of other documents by URI. */
  documents?: Readonly<Record<string, string>>
  /** Draft of schemas without `$schema`: a name such as `draft-07` or the URI of a metaschema. */
  dialect?: string
  /** Receives the URIs of documents that were needed and not found. */
  missing?: Set<string>
  limits?: Limits
}

export class SchemaGraph {
  readonly root: SchemaNode
  private readonly resources: Resources
  /** By the locations of their places; the scope without any is not among them. */
  private readonly scopes = new Map<string, Scope>()
  private readonly limits: Limits
  private readonly locationIds = new Map<JsonNode, number>()
  private count = 0

  /** Walks the main schema once. Throws `unsupported` for dialects, `syntax` when the root is no schema. */
  constructor(root: JsonNode, options: GraphOptions = {}) {
    const dialect = options.dialect === undefined ? defaultDialect : draftDialectOf(options.dialect)
    if (dialect === null) {
      throw new GrammarError(
        "unsupported",
        "",
        `dialect ${options.dialect} is none of the drafts 04 to 2020-12`,
      )
    }
    this.limits = options.limits ?? defaultLimits
    this.resources = new Resources(root, options.documents ?? {}, dialect, options.missing)
    this.root = this.node(this.resources.main, { places: noPlaces, nodes: new Map(), entered: new Map() })
  }

  /** Nodes so far; identities are below it. */
  get nodeCount(): number {
    return this.count
  }

  /** The subschema at the steps below a node, which are keys and indices that exist. */
  child(node: SchemaNode, ...steps: (string | number)[]): SchemaNode {
    let { value, pointer } = node
    for (const step of steps) {
      const next =
        value.kind === "object"
          ? value.members.get(`${step}`)
          : value.kind === "array"
            ? value.items[Number(step)]
            : undefined
      pointer += `/${encodeToken(step)}`
      if (next === undefined) throw new RangeError(`no value at ${pointer}`)
      value = next
    }
    const resource = this.resources.resourceOf(value, node.resource)
    return this.node({ value, resource, pointer }, node.scope)
  }

  /** The subschema `value` of a node, which stands at `pointer`. */
  below(node: SchemaNode, value: JsonNode, pointer: string): SchemaNode {
    return this.node(
      { value, resource: this.resources.resourceOf(value, node.resource), pointer },
      node.scope,
    )
  }

  /** The target of `$ref: text` in `node`. Throws `unsupported` when it cannot be resolved. */
  ref(node: SchemaNode, text: string): SchemaNode {
    return this.node(this.resources.resolve(text, node.resource, `${node.pointer}/$ref`).target, node.scope)
  }

  /** The target of `$dynamicRef: text`: as `$ref`, unless that leads to a dynamic anchor by its name. */
  dynamicRef(node: SchemaNode, text: string): SchemaNode {
    const path = `${node.pointer}/$dynamicRef`
    const { target, fragment } = this.resources.resolve(text, node.resource, path)
    const initial = fragment === "" ? undefined : target.resource.dynamicAnchors.get(fragment)
    const dynamic = initial?.value === target.value ? node.scope.places.get(fragment) : undefined
    return this.node(dynamic ?? target, node.scope)
  }

  /** The target of `$recursiveRef: "#"`. */
  recursiveRef(node: SchemaNode): SchemaNode {
    const { target } = this.resources.resolve("#", node.resource, `${node.pointer}/$recursiveRef`)
    const dynamic = target.resource.dynamicAnchors.has("") ? node.scope.places.get("") : undefined
    return this.node(dynamic ?? target, node.scope)
  }

  private node(location: Location, outer: Scope): SchemaNode {
    const { value, resource, pointer } = location
    const scope = resource.dynamicAnchors.size === 0 ? outer : this.enter(outer, resource)
    let node = scope.nodes.get(value)
    if (node === undefined) {
      if (!isSchema(value)) {
        throw new GrammarError(
          "syntax",
          pointer,
          `a schema is an object or a boolean, got ${describe(value)}`,
        )
      }
      node = { id: this.count++, value, pointer, dialect: resource.dialect, resource, scope }
      scope.nodes.set(value, node)
    }
    return node
  }

  private enter(outer: Scope, resource: Resource): Scope {
    let scope = outer.entered.get(resource)
    if (scope === undefined) {
      const places = new Map(outer.places)
      for (const [name, location] of resource.dynamicAnchors) {
        if (!places.has(name)) places.set(name, location)
      }
      scope = this.scope(places, resource)
      outer.entered.set(resource, scope)
    }
    return scope
  }

  private scope(places: ReadonlyMap<string, Location>, resource: Resource): Scope {
    const key = [...places].map(([name, { value }]) => `${name} ${this.locationId(value)}`).sort()
    let scope = this.scopes.get(key.join("\n"))
    if (scope === undefined) {
      // Scopes are copies of the schema: with n dynamic anchors of different names there can be 2ⁿ.
      if (this.scopes.size >= this.limits.dynamicScopes) {
        throw limitError(this.limits, "dynamicScopes", this.scopes.size + 1, resource.pointer)
      }
      scope = { places, nodes: new Map(), entered: new Map() }
      this.scopes.set(key.join("\n"), scope)
    }
    return scope
  }

  private locationId(value: JsonNode): number {
    const id = this.locationIds.get(value) ?? this.locationIds.size
    this.locationIds.set(value, id)
    return id
  }
}

function describe(value: JsonNode): string {
  return value.kind === "string" ? JSON.stringify(value.value) : value.kind
}

/**
 * The texts of all documents that a schema refers to, by URI, for `documents`: asks `retrieve` for each URI that is
 * neither bundled nor embedded until nothing is missing. `retrieve` answers null for a document that does not exist;
 * compiling then names the reference that needs it. `schema` is a JSON text or a value. Throws `syntax` when it is no JSON.
 */
export async function collectDocuments(
  schema: unknown,
  retrieve: (uri: string) => Promise<string | null> | string | null,
  options: Pick<GraphOptions, "documents" | "dialect"> = {},
): Promise<Record<string, string>> {
  checkOptions(options, { documents: "textmap", dialect: "text" })
  const root = typeof schema === "string" ? readJson(schema) : fromValue(schema)
  const documents: Record<string, string> = { ...options.documents }
  const asked = new Set<string>()
  for (;;) {
    const missing = new Set<string>()
    visitReferences(root, { ...options, documents, missing })
    const unknown = [...missing].filter((uri) => !asked.has(uri))
    if (unknown.length === 0) return documents
    for (const uri of unknown) {
      asked.add(uri)
      const text = await retrieve(uri)
      if (text !== null) documents[uri] = text
    }
  }
}

/** Resolves every reference that is reachable, so that `missing` learns of all that fail. */
function visitReferences(schema: JsonNode, options: GraphOptions): void {
  const attempt = <T>(action: () => T): T | null => {
    try {
      return action()
    } catch (error) {
      // What is wrong for another reason than a missing text is for the compiler to report.
      if (error instanceof GrammarError && !(error instanceof TimeError)) return null
      throw error
    }
  }
  const graph = attempt(() => new SchemaGraph(schema, options))
  if (graph === null) return
  const queue = [graph.root]
  const seen = new Set(queue)
  for (const node of queue) {
    if (node.value.kind !== "object") continue
    const { members } = node.value
    const targets: (SchemaNode | null)[] = []
    const overridden = node.dialect.refOverrides && members.has("$ref")
    if (!overridden) {
      for (const { steps } of subschemas(node.value, node.dialect)) targets.push(graph.child(node, ...steps))
    }
    const ref = members.get("$ref")
    const dynamic = members.get("$dynamicRef")
    if (ref?.kind === "string") targets.push(attempt(() => graph.ref(node, ref.value)))
    if (dynamic?.kind === "string") targets.push(attempt(() => graph.dynamicRef(node, dynamic.value)))
    for (const target of targets) {
      if (target === null || seen.has(target)) continue
      seen.add(target)
      queue.push(target)
    }
  }
}
