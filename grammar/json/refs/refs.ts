/**
 * Schema nodes: the targets of references. Dynamic references are resolved by copying.
 *
 * `$dynamicRef` leads to the outermost resource, on the path from the root, that has the anchor. So
 * a node is a location and a scope. A scope maps each dynamic anchor name met on the path to the
 * first location that has it. Scopes grow only when a resource with a new name is entered, hence
 * there are finitely many, and nearly always one, the empty scope. Leaving a resource means
 * returning to a node with the smaller scope. `$recursiveAnchor: true` is an anchor whose name is
 * empty.
 *
 * The same location in the same scope is the same node: memoizing by `id` ends `$ref` cycles.
 */

import { defaultLimits, GrammarError, type Limits, limitError } from "../../errors.ts"
import type { JsonParts } from "../parts.ts"
import type { JsonNode } from "../read/reader.ts"
import { type Dialect, defaultDialect, draftDialectOf, isSchema } from "./dialect.ts"
import { type Location, type Resource, Resources } from "./resources.ts"

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

/**
 * Dynamic anchor names and the outermost location of each. Interned: equal scopes are one object.
 */
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
  /** Those with `metaschemas` can refer to the metaschemas of the drafts. */
  parts?: JsonParts
  /** Draft of schemas without `$schema`: a name such as `draft-07` or the URI of a metaschema. */
  dialect?: string
  /** Receives the URIs of documents that were needed and not found. */
  missing?: Set<string>
  limits?: Limits
}

export class SchemaGraph {
  readonly root: SchemaNode
  private readonly resources: Resources
  /** By the locations of their anchors, without the empty scope. */
  private readonly scopes = new Map<string, Scope>()
  private readonly limits: Limits
  private readonly locationIds = new Map<JsonNode, number>()
  private count = 0

  /**
   * Walks the main schema once. Throws `unsupported` for dialects, `syntax` if the root is not a
   * schema.
   */
  constructor(root: JsonNode, options: GraphOptions = {}) {
    const dialect = options.dialect === undefined ? defaultDialect : draftDialectOf(options.dialect)
    if (dialect === null) {
      throw new GrammarError(
        "unsupported",
        "",
        `dialect ${options.dialect} is not one of the drafts 04 to 2020-12`,
      )
    }
    this.limits = options.limits ?? defaultLimits
    this.resources = new Resources(root, options.documents ?? {}, dialect, options)
    this.root = this.node(this.resources.main, { places: noPlaces, nodes: new Map(), entered: new Map() })
  }

  /** Number of nodes so far. All ids are less than this. */
  get nodeCount(): number {
    return this.count
  }

  /** Returns the node of the subschema `value` of a node, with the pointer `pointer`. */
  below(node: SchemaNode, value: JsonNode, pointer: string): SchemaNode {
    const resource = this.resources.resourceOf(value, node.resource)
    return this.node({ value, resource, pointer }, node.scope)
  }

  /**
   * Returns the target of `$ref: text` in `node`. Throws `unsupported` if it cannot be resolved.
   */
  ref(node: SchemaNode, text: string): SchemaNode {
    return this.node(this.resources.resolve(text, node.resource, `${node.pointer}/$ref`).target, node.scope)
  }

  /**
   * Returns the target of `$dynamicRef: text`. It is the target of `$ref`, unless that is a dynamic
   * anchor with its name.
   */
  dynamicRef(node: SchemaNode, text: string): SchemaNode {
    const path = `${node.pointer}/$dynamicRef`
    const { target, fragment } = this.resources.resolve(text, node.resource, path)
    const initial = fragment === "" ? undefined : target.resource.dynamicAnchors.get(fragment)
    const dynamic = initial?.value === target.value ? node.scope.places.get(fragment) : undefined
    return this.node(dynamic ?? target, node.scope)
  }

  /** Returns the target of `$recursiveRef: "#"`. */
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
