/**
 * The locations of schemas: documents, the resources (`$id`) embedded in them, and their anchors.
 *
 * A location is a `JsonNode` of a document that is read once, so its identity is the object itself.
 * Reading a document walks its schema positions in one pass and records the resource of each;
 * identifiers elsewhere are data. A location that only a JSON pointer reaches is walked when the
 * pointer is resolved, and its identifiers are private: they change the base of the schemas below,
 * but no reference finds them by name.
 *
 * Documents are read when a reference needs them. A document without `$schema` takes the dialect of
 * its first referrer of each kind: it is read once for each dialect that it inherits.
 */
import { checkTime } from "../../deadline.ts"
import { GrammarError } from "../../errors.ts"
import { type JsonParts, partOf } from "../parts.ts"
import { type JsonNode, readJson, toText } from "../read/reader.ts"
import { type Dialect, dialectOf, isSchema, subschemas } from "./dialect.ts"
import { decodeFragment, decodeToken, encodeToken, resolveUri, splitFragment } from "./uri.ts"

/** URIs of metaschemas begin so. */
const isMetaschema = /^https?:\/\/json-schema\.org\//

/** A schema with an identity of its own: a document or a subschema with `$id`. */
export interface Resource {
  /** Absolute if the document has a name; without fragment. */
  readonly uri: string
  readonly root: JsonNode
  readonly dialect: Dialect
  /** Pointer of the root for messages: `/a/b`, or `uri#/a/b` outside the main document. */
  readonly pointer: string
  readonly anchors: Map<string, Location>
  /** Names of `$dynamicAnchor`s; `""` stands for `$recursiveAnchor: true`. */
  readonly dynamicAnchors: Map<string, Location>
}

export interface Location {
  readonly value: JsonNode
  readonly resource: Resource
  readonly pointer: string
}

export class Resources {
  readonly main: Location
  private readonly documents = new Map<string, string>()
  /**
   * Documents read so far, by URI. A document without a dialect of its own is stored once for each
   * dialect that it has inherited.
   */
  private readonly read = new Map<string, Location | Map<Dialect, Location>>()
  private readonly dialects = new Map<string, Dialect>()
  private readonly byId = new Map<string, Location[]>()
  private readonly homes = new Map<JsonNode, Resource>()
  /** Roots of documents without identifiers: everything in them belongs to the one resource. */
  private readonly plain = new Set<JsonNode>()
  private allRead = false

  private readonly missing: Set<string>
  private readonly parts: JsonParts

  /**
   * `dialect` applies to schemas that name none. `missing` receives the URIs that are not found.
   */
  constructor(
    root: JsonNode,
    documents: Readonly<Record<string, string>>,
    dialect: Dialect,
    { missing = new Set(), parts = {} }: { missing?: Set<string>; parts?: JsonParts },
  ) {
    this.missing = missing
    this.parts = parts
    for (const uri of Object.keys(documents)) this.documents.set(splitFragment(uri)[0], documents[uri])
    this.main = this.addDocument(root, "", "", dialect)
  }

  /** Returns the resource of a schema position below `parent`. */
  resourceOf(value: JsonNode, parent: Resource): Resource {
    return this.homes.get(value) ?? parent
  }

  /** Resolves a reference written at `path` in `from`. Throws `unsupported` if it has no target. */
  resolve(reference: string, from: Resource, path: string): { target: Location; fragment: string } {
    // Most references stay in the document, and most documents have no name.
    const absolute = reference.startsWith("#") ? from.uri + reference : resolveUri(from.uri, reference)
    const [uri, rawFragment] = splitFragment(absolute)
    const resource = this.find(uri, from, path)
    if (resource === null) {
      this.missing.add(uri)
      throw new GrammarError("unsupported", path, `cannot resolve ${uri}. Pass its text in documents`)
    }
    const fragment = decodeFragment(rawFragment)
    if (fragment === "") return { target: resource, fragment }
    const target = fragment.startsWith("/")
      ? this.enter(resource, fragment)
      : (resource.resource.anchors.get(fragment) ?? null)
    if (target === null) {
      const what = fragment.startsWith("/") ? "nothing is there" : "no anchor has that name"
      throw new GrammarError("unsupported", path, `cannot resolve ${absolute}: ${what}. Define it there`)
    }
    return { target, fragment }
  }

  /** Returns null if no document or resource has that URI. */
  private find(uri: string, from: Resource, path: string): Location | null {
    if (uri === from.uri) return { value: from.root, resource: from, pointer: from.pointer }
    const retrieved = this.retrieve(uri, from.dialect)
    if (retrieved !== null) return retrieved
    let named = this.byId.get(uri)
    if (named === undefined && !this.allRead) {
      this.allRead = true
      for (const other of this.documents.keys()) this.retrieve(other, from.dialect)
      named = this.byId.get(uri)
    }
    if (named !== undefined) return this.single(named, uri, path)
    if (!isMetaschema.test(uri)) return null
    const bundled = partOf(this.parts, "metaschemas", path)(uri)
    return bundled === null ? null : this.addDocument(readJson(bundled), uri, uri, from.dialect)
  }

  private single(named: readonly Location[], uri: string, path: string): Location {
    const [first, ...others] = named
    const text = others.length === 0 ? "" : toText(first.value)
    if (others.some(({ value }) => toText(value) !== text)) {
      throw new GrammarError("syntax", path, `${uri} names ${named.length} different schemas`)
    }
    return first
  }

  private retrieve(uri: string, dialect: Dialect): Location | null {
    const copies = this.read.get(uri)
    const known = copies instanceof Map ? copies.get(dialect) : copies
    if (known !== undefined) return known
    const text = this.documents.get(uri)
    if (text === undefined) return null
    let root: JsonNode
    try {
      root = readJson(text)
    } catch (error) {
      if (!(error instanceof GrammarError)) throw error
      const path = error.path === "" ? uri : `${uri}, ${error.path}`
      throw new GrammarError(
        error.kind,
        path,
        error.message.slice(error.path === "" ? 0 : error.path.length + 2),
      )
    }
    return this.addDocument(root, uri, uri, dialect)
  }

  private addDocument(root: JsonNode, uri: string, name: string, inherited: Dialect): Location {
    const own = this.ownDialect(root, name)
    const resource = makeResource(uri, root, own ?? inherited, name === "" ? "" : `${name}#`)
    if (hasIdentifier(root)) this.walk(root, resource, resource.pointer, true)
    else this.plain.add(root)
    // The walk has read the root's own `$id`. A document that is found by its retrieval URI is that
    // resource as well.
    const location = {
      value: root,
      resource: this.resourceOf(root, resource),
      pointer: resource.pointer,
    }
    if (name === "") return location
    if (own !== null) this.read.set(uri, location)
    else {
      const copies = this.read.get(uri)
      if (copies instanceof Map) copies.set(inherited, location)
      else this.read.set(uri, new Map([[inherited, location]]))
    }
    return location
  }

  /** Returns the dialect that `$schema` of a resource's root selects, or null without `$schema`. */
  private ownDialect(schema: JsonNode, pointer: string): Dialect | null {
    const uri = schema.kind === "object" ? schema.members.get("$schema") : undefined
    if (uri?.kind !== "string") return null
    const known = this.dialects.get(uri.value)
    const dialect = known ?? dialectOf(uri.value, `${pointer}/$schema`, this.findMetaschema)
    this.dialects.set(uri.value, dialect)
    return dialect
  }

  private readonly findMetaschema = (uri: string): JsonNode | null => {
    const text = this.documents.get(splitFragment(uri)[0])
    if (text === undefined) this.missing.add(splitFragment(uri)[0])
    return text === undefined ? null : readJson(text)
  }

  /**
   * Records the resource of each schema position from `schema` down. `found`: whether references
   * may use the identifiers.
   */
  private walk(schema: JsonNode, parent: Resource, pointer: string, found: boolean): void {
    const resource = schema.kind === "object" ? this.identify(schema, parent, pointer, found) : parent
    this.homes.set(schema, resource)
    for (const { pointer: below, value } of subschemas(schema, resource.dialect))
      this.walk(value, resource, pointer + below, found)
  }

  private identify(
    schema: JsonNode & { kind: "object" },
    parent: Resource,
    pointer: string,
    found: boolean,
  ): Resource {
    const text = (keyword: string): string | null => {
      const value = schema.members.get(keyword)
      return value?.kind === "string" && resource.dialect.keywords.has(keyword) ? value.value : null
    }
    let resource = parent
    let { dialect } = parent
    // The surrounding dialect defines what an identifier is. A `$schema` beside an identifier
    // applies from there down.
    const id = schema.members.get(dialect.idKeyword)
    if (dialect.refOverrides && schema.members.has("$ref")) return parent
    if (id?.kind === "string" && dialect.keywords.has(dialect.idKeyword)) {
      if (schema !== parent.root) dialect = this.ownDialect(schema, pointer) ?? dialect
      const [uri, fragment] = splitFragment(resolveUri(parent.uri, id.value))
      if (uri !== parent.uri || !id.value.startsWith("#")) {
        resource = makeResource(uri, schema, dialect, pointer)
        if (found) {
          const named = this.byId.get(uri) ?? []
          named.push({ value: schema, resource, pointer })
          this.byId.set(uri, named)
        }
      }
      if (dialect.fragmentIds && fragment !== "") {
        resource.anchors.set(decodeFragment(fragment), { value: schema, resource, pointer })
      }
    }
    const location = { value: schema, resource, pointer }
    const anchor = text("$anchor")
    if (anchor !== null) resource.anchors.set(anchor, location)
    const dynamic = text("$dynamicAnchor")
    if (dynamic !== null) {
      resource.anchors.set(dynamic, location)
      resource.dynamicAnchors.set(dynamic, location)
    }
    const recursive = schema.members.get("$recursiveAnchor")
    if (recursive?.kind === "true" && schema === resource.root && dialect.keywords.has("$recursiveAnchor")) {
      resource.dynamicAnchors.set("", location)
    }
    return resource
  }

  /**
   * Returns the location that a JSON pointer names, relative to a resource. Crossing an embedded
   * resource changes the base.
   */
  private enter(from: Location, fragment: string): Location | null {
    let { value, resource, pointer } = from
    for (const written of fragment.slice(1).split("/")) {
      const token = decodeToken(written)
      const next = step(value, token)
      if (next === null) return null
      value = next
      pointer += `/${encodeToken(token)}`
      resource = this.homes.get(value) ?? resource
    }
    if (isSchema(value) && !this.homes.has(value) && !this.plain.has(resource.root)) {
      this.walk(value, resource, pointer, false)
      resource = this.homes.get(value) as Resource
    }
    return { value, resource, pointer }
  }
}

const identifiers = new Set(["id", "$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor"])

/** Whether some key in `value` looks like an identifier, at any depth. */
function hasIdentifier(value: JsonNode): boolean {
  if (value.kind === "array") return value.items.some(hasIdentifier)
  if (value.kind !== "object") return false
  checkTime()
  for (const key of value.keys) {
    if (key !== "id" && key[0] !== "$") continue
    const { kind } = value.members.get(key) as JsonNode
    if ((kind === "string" || kind === "true") && identifiers.has(key)) return true
  }
  for (const member of value.members.values()) if (hasIdentifier(member)) return true
  return false
}

function step(value: JsonNode, token: string): JsonNode | null {
  if (value.kind === "object") return value.members.get(token) ?? null
  if (value.kind !== "array" || !/^(0|[1-9][0-9]*)$/.test(token)) return null
  return value.items[Number(token)] ?? null
}

function makeResource(uri: string, root: JsonNode, dialect: Dialect, pointer: string): Resource {
  return { uri, root, dialect, pointer, anchors: new Map(), dynamicAnchors: new Map() }
}
