/**
 * Schema documents: which resource a schema belongs to, and what a reference names.
 *
 * A document is walked once along its schema positions. Every schema found gets a `Place`: the node, its resource (the
 * nearest enclosing identifier) and a path for messages. A JSON pointer may lead to any other value, which then becomes
 * a place on demand, but its identifiers count for nobody else.
 */

import { type JsonNode, readJson } from "../../../grammar/json/read/reader.ts"
import { metaschemaText } from "../../../grammar/json/refs/metaschemas.ts"
import { type Dialect, dialectOf, lenientDialect, schemaPlaces } from "./dialect.ts"

export interface Resource {
  /** Base URI, without fragment; "" for a root schema without identifier. */
  readonly uri: string
  readonly dialect: Dialect
  readonly root: JsonNode
  readonly anchors: Map<string, Place>
  readonly dynamicAnchors: Map<string, Place>
  readonly isRecursiveAnchor: boolean
}

export interface Place {
  readonly node: JsonNode
  readonly resource: Resource
  readonly path: string
}

export interface DocumentOptions {
  dialect?: string
  documents?: Readonly<Record<string, string>>
}

const dialectNames: Record<string, string> = {
  "draft-04": "http://json-schema.org/draft-04/schema",
  "draft-06": "http://json-schema.org/draft-06/schema",
  "draft-07": "http://json-schema.org/draft-07/schema",
  "2019-09": "https://json-schema.org/draft/2019-09/schema",
  "2020-12": "https://json-schema.org/draft/2020-12/schema",
}

export class Documents {
  readonly root: Place
  private readonly texts: Readonly<Record<string, string>>
  private readonly places = new Map<JsonNode, Place>()
  /** By identifier. */
  private readonly named = new Map<string, Place>()
  /** By retrieval URI and inherited dialect. */
  private readonly retrieved = new Map<string, Place>()

  constructor(schema: JsonNode, { dialect, documents = {} }: DocumentOptions) {
    this.texts = documents
    const inherited = dialect === undefined ? lenientDialect : this.dialect(dialectNames[dialect] ?? dialect)
    this.root = this.add(schema, "", inherited)
    this.named.set("", this.root)
  }

  /** The subschema at `steps` below a schema. */
  child(place: Place, ...steps: (string | number)[]): Place {
    let { node } = place
    for (const step of steps) node = memberOf(node, `${step}`) as JsonNode
    const path = `${place.path}/${steps.join("/")}`
    return this.places.get(node) ?? this.index(node, place.resource, path, false)
  }

  /** The schema that `reference` names from `place`; throws when there is none. */
  resolve(place: Place, reference: string): { target: Place; anchor: string | null } {
    const [uri, fragment] = splitUri(resolveUri(place.resource.uri, reference))
    const start = uri === place.resource.uri ? this.places.get(place.resource.root) : undefined
    const target = start ?? this.find(uri, place.resource.dialect)
    if (target === null) throw new Error(`${place.path}: cannot resolve ${reference}`)
    if (fragment === "") return { target, anchor: null }
    if (fragment.startsWith("/")) return { target: this.walk(target, fragment, reference), anchor: null }
    const named = target.resource.anchors.get(fragment) ?? target.resource.dynamicAnchors.get(fragment)
    if (named === undefined) throw new Error(`${place.path}: no anchor ${reference}`)
    return { target: named, anchor: fragment }
  }

  private dialect(uri: string): Dialect {
    return dialectOf(uri, (name) => {
      const text = this.text(name)
      return text === null ? null : readJson(text)
    })
  }

  private text(uri: string): string | null {
    if (Object.hasOwn(this.texts, uri)) return this.texts[uri]
    return metaschemaText(uri)
  }

  /** The root of the document or embedded resource with this URI. The retrieval URI goes before identifiers. */
  private find(uri: string, inherited: Dialect): Place | null {
    const key = `${inherited.name} ${uri}`
    const known = this.retrieved.get(key)
    if (known !== undefined) return known
    const text = this.text(uri)
    if (text !== null) {
      const place = this.add(readJson(text), uri, inherited)
      this.retrieved.set(key, place)
      return place
    }
    const named = this.named.get(uri)
    if (named !== undefined) return named
    for (const [other, otherText] of Object.entries(this.texts)) {
      const otherKey = `${inherited.name} ${other}`
      if (this.retrieved.has(otherKey) || !otherText.includes('id"')) continue
      this.retrieved.set(otherKey, this.add(readJson(otherText), other, inherited))
      const place = this.named.get(uri)
      if (place !== undefined) return place
    }
    return null
  }

  private add(root: JsonNode, uri: string, inherited: Dialect): Place {
    const dialect = this.declared(root) ?? inherited
    const outer: Resource = {
      uri,
      dialect,
      root,
      anchors: new Map(),
      dynamicAnchors: new Map(),
      isRecursiveAnchor: memberOf(root, "$recursiveAnchor")?.kind === "true",
    }
    return this.index(root, outer, uri === "" ? "#" : uri, true)
  }

  private declared(node: JsonNode): Dialect | null {
    const schema = memberOf(node, "$schema")
    return schema?.kind === "string" ? this.dialect(schema.value) : null
  }

  /** Makes a place of `node` and of every schema below it. `counts`: its identifiers can be referred to. */
  private index(node: JsonNode, outer: Resource, path: string, counts: boolean): Place {
    const resource = this.resourceOf(node, outer)
    const place: Place = { node, resource, path }
    this.places.set(node, place)
    if (node.kind !== "object") return place
    if (counts && resource !== outer && !this.named.has(resource.uri)) this.named.set(resource.uri, place)
    const { dialect } = resource
    const overridden = dialect.draft <= 7 && node.members.get("$ref")?.kind === "string"
    if (!overridden) addAnchors(place)
    for (const [keyword, value] of node.members) {
      const kind = schemaPlaces.get(keyword)
      if (kind === undefined || !(dialect.has(keyword) || keyword === "definitions")) continue
      if (overridden && keyword !== "definitions") continue
      for (const [step, child] of schemasBelow(value, kind)) {
        if (child.kind === "object" || child.kind === "true" || child.kind === "false")
          this.index(child, resource, `${path}/${keyword}${step}`, counts)
      }
    }
    return place
  }

  private resourceOf(node: JsonNode, outer: Resource): Resource {
    const isRoot = node === outer.root
    const switched = isRoot ? null : this.declared(node)
    const keyword = (switched ?? outer.dialect).draft === 4 ? "id" : "$id"
    const id = memberOf(node, keyword)
    if (id?.kind !== "string") return outer
    const dialect = switched ?? outer.dialect
    const { draft } = dialect
    if (draft <= 7 && (id.value.startsWith("#") || memberOf(node, "$ref")?.kind === "string")) return outer
    const [uri] = splitUri(resolveUri(outer.uri, id.value))
    if (uri === outer.uri) return outer
    return {
      uri,
      dialect,
      root: node,
      anchors: new Map(),
      dynamicAnchors: new Map(),
      isRecursiveAnchor: memberOf(node, "$recursiveAnchor")?.kind === "true",
    }
  }

  private walk(from: Place, pointer: string, reference: string): Place {
    let { node } = from
    let { resource } = from
    for (const token of pointer.slice(1).split("/")) {
      const next = memberOf(node, token.replaceAll("~1", "/").replaceAll("~0", "~"))
      if (next === undefined) throw new Error(`nothing at ${reference}`)
      node = next
      resource = this.places.get(node)?.resource ?? resource
    }
    return this.places.get(node) ?? this.index(node, resource, reference, false)
  }
}

function addAnchors({ node, resource, ...rest }: Place): void {
  const place = { node, resource, ...rest }
  const { dialect } = resource
  if (dialect.draft <= 7) {
    const id = memberOf(node, dialect.draft === 4 ? "id" : "$id")
    const fragment = id?.kind === "string" ? splitUri(id.value)[1] : ""
    if (fragment !== "") resource.anchors.set(fragment, place)
    return
  }
  const anchor = memberOf(node, "$anchor")
  if (anchor?.kind === "string") resource.anchors.set(anchor.value, place)
  const dynamic = dialect.has("$dynamicAnchor") ? memberOf(node, "$dynamicAnchor") : undefined
  if (dynamic?.kind === "string") resource.dynamicAnchors.set(dynamic.value, place)
}

function schemasBelow(value: JsonNode, kind: string): [string, JsonNode][] {
  if (kind === "one") return [["", value]]
  if (kind === "oneOrList" && value.kind !== "array") return [["", value]]
  if (value.kind === "array") return kind.includes("ist") ? value.items.map((item, i) => [`/${i}`, item]) : []
  if (value.kind === "object" && kind.startsWith("map"))
    return [...value.members].map(([name, member]) => [`/${name}`, member])
  return []
}

export function memberOf(node: JsonNode, step: string): JsonNode | undefined {
  if (node.kind === "object") return node.members.get(step)
  return node.kind === "array" && /^(0|[1-9]\d*)$/.test(step) ? node.items[Number(step)] : undefined
}

/** URI and decoded fragment. */
function splitUri(uri: string): [string, string] {
  const at = uri.indexOf("#")
  if (at < 0) return [uri, ""]
  return [uri.slice(0, at), decodeURIComponent(uri.slice(at + 1))]
}

/** RFC 3986, section 5.2, with the fragment kept. */
function resolveUri(base: string, reference: string): string {
  const split = (uri: string) =>
    (
      /^(?:([A-Za-z][\w+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(uri) as RegExpExecArray
    ).slice(1)
  const [scheme, host, path, query = "", fragment = ""] = split(reference)
  if (scheme !== undefined) return reference
  const [baseScheme, baseHost, basePath, baseQuery = ""] = split(base)
  const prefix = baseScheme === undefined ? "" : `${baseScheme}:`
  if (host !== undefined) return `${prefix}//${host}${path}${query}${fragment}`
  const authority = baseHost === undefined ? "" : `//${baseHost}`
  if (path === "") return `${prefix}${authority}${basePath}${query === "" ? baseQuery : query}${fragment}`
  const merged = path.startsWith("/") ? path : mergePaths(baseHost, basePath, path)
  return `${prefix}${authority}${removeDots(merged)}${query}${fragment}`
}

function mergePaths(baseHost: string | undefined, basePath: string, path: string): string {
  if (baseHost !== undefined && basePath === "") return `/${path}`
  return basePath.slice(0, basePath.lastIndexOf("/") + 1) + path
}

function removeDots(path: string): string {
  const kept: string[] = []
  const segments = path.split("/")
  for (const [i, segment] of segments.entries()) {
    const isLast = i === segments.length - 1
    if (segment === "..") {
      if (kept.length > 1 || (kept.length === 1 && kept[0] !== "")) kept.pop()
      if (isLast) kept.push("")
    } else if (segment !== ".") kept.push(segment)
    else if (isLast) kept.push("")
  }
  return kept.join("/")
}
