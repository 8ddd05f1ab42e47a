/**
 * References by what they reach. The suite's reference files are run through a validator of a page that knows only
 * what their schemas say around the references; numbers and formats are not its business.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { isDeepStrictEqual } from "node:util"
import { describe, expect, test } from "vitest"
import { type JsonNode, readJson, toText } from "../../../../grammar/json/read/reader.ts"
import { collectDocuments } from "../../../../grammar/json/refs/documents.ts"
import { metaschemaText } from "../../../../grammar/json/refs/metaschemas.ts"
import { type GraphOptions, SchemaGraph, type SchemaNode } from "../../../../grammar/json/refs/refs.ts"
import { encodeToken } from "../../../../grammar/json/refs/uri.ts"

const graphOf = (schema: unknown, options: GraphOptions = {}) =>
  new SchemaGraph(readJson(JSON.stringify(schema)), { parts: { metaschemas: metaschemaText }, ...options })

/** The subschema at the steps below a node, which are keys and indices that exist. */
function child(graph: SchemaGraph, node: SchemaNode, ...steps: (string | number)[]): SchemaNode {
  let { value, pointer } = node
  for (const step of steps) {
    if (value.kind === "object") value = value.members.get(`${step}`) as JsonNode
    else if (value.kind === "array") value = value.items[Number(step)]
    pointer += `/${encodeToken(step)}`
  }
  return graph.below(node, value, pointer)
}

describe("places", () => {
  test("the same location and scope is the same node", () => {
    const graph = graphOf({
      properties: { a: { $ref: "#" } },
      $defs: { "x/y": {}, "%": {}, "": { "": true } },
    })
    const a = child(graph, graph.root, "properties", "a")
    expect(a.pointer).toBe("/properties/a")
    expect(graph.ref(a, "#")).toBe(graph.root)
    expect(child(graph, graph.root, "properties", "a")).toBe(a)
    expect(graph.ref(graph.root, "#/properties/a").id).toBe(a.id)
    expect(graph.ref(a, "#/$defs/x~1y").pointer).toBe("/$defs/x~1y")
    expect(graph.ref(a, "#/%24defs/%25")).toBe(child(graph, graph.root, "$defs", "%"))
    expect(graph.ref(a, "#/$defs//").value.kind).toBe("true")
    expect(graph.nodeCount).toBe(5)
  })

  test("what is no schema is no target", () => {
    const graph = graphOf({ $defs: { a: 5 }, enum: ["x"] })
    expect(() => graph.ref(graph.root, "#/$defs/a")).toThrow(
      "/$defs/a: a schema is an object or a boolean, got number",
    )
    expect(() => graph.ref(graph.root, "#/enum/0")).toThrow('got "x"')
    expect(() => graphOf("text")).toThrow("a schema is an object or a boolean")
  })

  test("unresolved references name themselves and the way out", () => {
    const graph = graphOf({ $id: "http://example.com/root.json", properties: { a: { $ref: "a.json" } } })
    const a = child(graph, graph.root, "properties", "a")
    expect(() => graph.ref(a, "a.json")).toThrow(
      "/properties/a/$ref: cannot resolve http://example.com/a.json. Pass its text in documents",
    )
    expect(() => graph.ref(a, "#/nowhere")).toThrow("cannot resolve http://example.com/root.json#/nowhere")
    expect(() => graph.ref(a, "#name")).toThrow("no anchor has that name")
    expect(() => graphOf({}, { dialect: "draft-99" })).toThrow("dialect draft-99 is not one of")
    expect(() => graphOf({ $schema: "http://example.com/m" })).toThrow("/$schema: cannot resolve")
  })

  test("errors inside a document name it", () => {
    const graph = graphOf({ $ref: "x.json" }, { documents: { "x.json": "{" } })
    expect(() => graph.ref(graph.root, "x.json")).toThrow("x.json")
  })

  test("a document inherits the dialect of its referrer, each in its own copy", () => {
    const graph = graphOf(
      {
        $defs: {
          old: { $id: "http://o/", $schema: "http://json-schema.org/draft-04/schema#" },
          other: { id: "http://i/", $schema: "http://json-schema.org/draft-04/schema#", $defs: {} },
          new: { $id: "http://n/", $schema: "https://json-schema.org/draft/2020-12/schema" },
        },
      },
      { documents: { "http://shared": "{}" } },
    )
    const modern = child(graph, graph.root, "$defs", "new")
    expect(modern.dialect.name).toBe("2020-12")
    expect(child(graph, graph.root, "$defs", "old").dialect.name).toBe("draft-04")
    // Around here identifiers are `$id`s: `id` names nothing, so `$schema` stands at no resource's root.
    expect(child(graph, graph.root, "$defs", "other").dialect.name).toBe("none")
    expect(graph.ref(modern, "http://shared").dialect.name).toBe("2020-12")
    expect(graph.ref(graph.root, "http://shared").dialect.name).toBe("none")
    expect(graph.ref(graph.root, "http://shared")).not.toBe(graph.ref(modern, "http://shared"))
  })

  test("repeated identifiers are harmless until somebody refers to them", () => {
    const graph = graphOf({
      $defs: { a: { $id: "http://x/", type: "string" }, b: { $id: "http://x/", type: "number" } },
      properties: { same: { $id: "http://y/" }, again: { $id: "http://y/" } },
    })
    expect(child(graph, graph.root, "$defs", "b").value).not.toBe(
      child(graph, graph.root, "$defs", "a").value,
    )
    expect(() => graph.ref(graph.root, "http://x/")).toThrow("http://x/ names 2 different schemas")
    expect(graph.ref(graph.root, "http://y/").pointer).toBe("/properties/same")
  })

  test("bundled metaschemas are found by either scheme and know themselves", () => {
    for (const draft of ["draft-04", "draft-06", "draft-07", "draft/2019-09", "draft/2020-12"]) {
      const graph = graphOf({})
      const node = graph.ref(graph.root, `https://json-schema.org/${draft}/schema#`)
      expect(node.dialect.name).toBe(draft.replace("draft/", ""))
    }
    expect(metaschemaText("http://json-schema.org/draft-03/schema")).toBeNull()
  })
})

describe("dynamic scope", () => {
  const tree = {
    $id: "http://x/strict",
    $dynamicAnchor: "node",
    $ref: "tree",
    $defs: {
      tree: { $id: "tree", $dynamicAnchor: "node", properties: { child: { $dynamicRef: "#node" } } },
    },
  }

  test("a dynamic reference leads to the outermost resource", () => {
    const graph = graphOf(tree)
    const inner = graph.ref(graph.root, "tree")
    expect(graph.dynamicRef(child(graph, inner, "properties", "child"), "#node")).toBe(graph.root)
    expect(graph.dynamicRef(child(graph, inner, "properties", "child"), "#/properties/child").pointer).toBe(
      "/$defs/tree/properties/child",
    )
  })

  test("the same place reached by itself has a scope of its own", () => {
    const graph = graphOf({
      $defs: { t: tree },
      anyOf: [{ $ref: "http://x/tree" }, { $ref: "http://x/strict" }],
    })
    const alone = graph.ref(graph.root, "http://x/tree")
    expect(graph.dynamicRef(child(graph, alone, "properties", "child"), "#node")).toBe(alone)
    const strict = graph.ref(graph.root, "http://x/strict")
    const within = graph.ref(strict, "tree")
    expect(within.value).toBe(alone.value)
    expect(within.id).not.toBe(alone.id)
    expect(graph.dynamicRef(child(graph, within, "properties", "child"), "#node")).toBe(strict)
  })
})

test("documents are collected until nothing is missing", async () => {
  const texts: Record<string, string> = {
    "http://x/a.json": '{"$ref": "b.json#/$defs/c"}',
    "http://x/b.json": '{"$defs": {"c": {"items": {"$ref": "http://x/none.json"}}, "d": {"$ref": "e.json"}}}',
    "http://x/e.json": "true",
    "http://x/meta": '{"$schema": "https://json-schema.org/draft/2020-12/schema"}',
  }
  const asked: string[] = []
  const retrieve = (uri: string) => {
    asked.push(uri)
    return Promise.resolve(texts[uri] ?? null)
  }
  const schema =
    '{"$schema": "http://x/meta", "$ref": "http://x/a.json", "not": {"$ref": "http://json-schema.org/draft-07/schema"}}'
  const documents = await collectDocuments(schema, retrieve)
  expect(Object.keys(documents).sort()).toEqual(["http://x/a.json", "http://x/b.json", "http://x/meta"])
  expect(asked).toEqual(["http://x/meta", "http://x/a.json", "http://x/b.json", "http://x/none.json"])
  expect(await collectDocuments(JSON.parse(schema), retrieve)).toEqual(documents)
})

// What follows runs the suite.

type Verdict = { valid: boolean; names: Set<string>; items: number }

const kindOf = (value: unknown) => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value)

function plain(node: JsonNode): unknown {
  return JSON.parse(toText(node))
}

/** Which keys and how many leading items were evaluated, besides the verdict. */
function check(graph: SchemaGraph, node: SchemaNode, value: unknown): Verdict {
  const verdict: Verdict = { valid: true, names: new Set(), items: 0 }
  const { value: schema, dialect } = node
  if (schema.kind !== "object") return { ...verdict, valid: schema.kind === "true" }
  const apply = (to: SchemaNode, on: unknown) => check(graph, to, on).valid
  const cover = (other: Verdict) => {
    if (!other.valid) return
    for (const name of other.names) verdict.names.add(name)
    verdict.items = Math.max(verdict.items, other.items)
  }
  const demand = (valid: boolean) => {
    if (!valid) verdict.valid = false
  }
  const inPlace = (to: SchemaNode) => {
    const result = check(graph, to, value)
    cover(result)
    return result.valid
  }
  const text = (keyword: string) => {
    const member = schema.members.get(keyword)
    return member?.kind === "string" && dialect.keywords.has(keyword) ? member.value : null
  }
  const at = (keyword: string) => {
    const member = dialect.keywords.has(keyword) ? schema.members.get(keyword) : undefined
    return member === undefined ? undefined : plain(member)
  }
  const below = (keyword: string) => child(graph, node, keyword)
  const ref = text("$ref")
  if (ref !== null) {
    demand(inPlace(graph.ref(node, ref)))
    if (dialect.refOverrides) return verdict
  }
  const dynamic = text("$dynamicRef")
  if (dynamic !== null) demand(inPlace(graph.dynamicRef(node, dynamic)))
  if (text("$recursiveRef") !== null) demand(inPlace(graph.recursiveRef(node)))
  const list = (keyword: string) =>
    ((at(keyword) ?? []) as unknown[]).map((_, i) => inPlace(child(graph, node, keyword, i)))
  demand(list("allOf").every(Boolean))
  if (at("anyOf") !== undefined) demand(list("anyOf").some(Boolean))
  if (at("oneOf") !== undefined) demand(list("oneOf").filter(Boolean).length === 1)
  if (at("not") !== undefined) demand(!apply(below("not"), value))
  if (at("if") !== undefined) {
    const branch = inPlace(below("if")) ? "then" : "else"
    if (at(branch) !== undefined) demand(inPlace(below(branch)))
  }
  const types = [at("type") ?? []].flat() as string[]
  if (types.length > 0) {
    demand(types.some((type) => type === kindOf(value) || (type === "integer" && Number.isInteger(value))))
  }
  const allowed = at("enum") as unknown[] | undefined
  if (allowed !== undefined) demand(allowed.some((one) => isDeepStrictEqual(one, value)))
  if (at("const") !== undefined) demand(isDeepStrictEqual(at("const"), value))
  const bound = (keyword: string, size: number | null, least: boolean) => {
    const limit = at(keyword)
    if (size !== null && typeof limit === "number") demand(least ? size >= limit : size <= limit)
  }
  const number = typeof value === "number" ? value : null
  bound("minimum", number, true)
  bound("maximum", number, false)
  bound("minLength", typeof value === "string" ? value.length : null, true)
  bound("maxLength", typeof value === "string" ? value.length : null, false)
  bound("minItems", Array.isArray(value) ? value.length : null, true)
  bound("maxItems", Array.isArray(value) ? value.length : null, false)
  const pattern = text("pattern")
  if (pattern !== null && typeof value === "string") demand(new RegExp(pattern, "u").test(value))
  if (Array.isArray(value)) {
    const items = at("items")
    const tuple = Array.isArray(items) ? "items" : "prefixItems"
    const length = ((Array.isArray(items) ? items : at("prefixItems")) as unknown[] | undefined)?.length ?? 0
    for (const [i, item] of value.slice(0, length).entries())
      demand(apply(child(graph, node, tuple, i), item))
    verdict.items = Math.max(verdict.items, Math.min(length, value.length))
    const rest = Array.isArray(items) ? "additionalItems" : "items"
    const apart = (keyword: string, from: number) => {
      if (at(keyword) === undefined) return
      for (const item of value.slice(from)) demand(apply(below(keyword), item))
      verdict.items = value.length
    }
    apart(rest, length)
    apart("unevaluatedItems", verdict.items)
  }
  if (kindOf(value) === "object") {
    const object = value as Record<string, unknown>
    for (const name of (at("required") ?? []) as string[]) demand(Object.hasOwn(object, name))
    for (const [name, needed] of Object.entries(
      (at("dependentRequired") ?? {}) as Record<string, string[]>,
    )) {
      if (Object.hasOwn(object, name)) demand(needed.every((other) => Object.hasOwn(object, other)))
    }
    const own = new Set<string>()
    for (const name of Object.keys(object)) {
      if (at("propertyNames") !== undefined) demand(apply(below("propertyNames"), name))
      if (Object.hasOwn((at("properties") ?? {}) as object, name)) {
        own.add(name)
        demand(apply(child(graph, node, "properties", name), object[name]))
      }
      for (const source of Object.keys((at("patternProperties") ?? {}) as object)) {
        if (!new RegExp(source, "u").test(name)) continue
        own.add(name)
        demand(apply(child(graph, node, "patternProperties", source), object[name]))
      }
      if (!own.has(name) && at("additionalProperties") !== undefined) {
        own.add(name)
        demand(apply(below("additionalProperties"), object[name]))
      }
    }
    for (const name of own) verdict.names.add(name)
    if (at("unevaluatedProperties") !== undefined) {
      for (const name of Object.keys(object)) {
        if (!verdict.names.has(name)) demand(apply(below("unevaluatedProperties"), object[name]))
        verdict.names.add(name)
      }
    }
  }
  return verdict
}

const suite = "../shared/data/json-schema-test-suite"
const files = [
  "ref",
  "refRemote",
  "anchor",
  "id",
  "dynamicRef",
  "recursiveRef",
  "defs",
  "definitions",
  "infinite-loop-detection",
  "vocabulary",
  "unknownKeyword",
  "optional/cross-draft",
  "optional/refOfUnknownKeyword",
  "optional/id",
  "optional/anchor",
  "optional/unknownKeyword",
  "optional/dynamicRef",
]

function remotes(): Record<string, string> {
  const documents: Record<string, string> = {}
  for (const name of readdirSync(`${suite}/remotes`, { recursive: true, encoding: "utf8" })) {
    if (name.endsWith(".json")) {
      documents[`http://localhost:1234/${name}`] = readFileSync(`${suite}/remotes/${name}`, "utf8")
    }
  }
  return documents
}

// Skipped when ../shared is absent.
describe.skipIf(!existsSync(suite))("the reference files of the suite", () => {
  const documents = existsSync(suite) ? remotes() : {}
  describe.each(["draft4", "draft6", "draft7", "draft2019-09", "draft2020-12"])("%s", (draft) => {
    const dialect = draft.replace(/^draft([467])$/, "draft-0$1").replace(/^draft2/, "2")
    const present = files.filter((file) => existsSync(`${suite}/tests/${draft}/${file}.json`))
    test.each(present)("%s", (file) => {
      const groups = JSON.parse(readFileSync(`${suite}/tests/${draft}/${file}.json`, "utf8"))
      const wrong: string[] = []
      for (const { description, schema, tests } of groups) {
        for (const { description: title, data, valid } of tests) {
          let verdict: boolean | string
          try {
            const graph = graphOf(schema, { documents, dialect })
            verdict = check(graph, graph.root, data).valid
          } catch (error) {
            verdict = (error as Error).message
          }
          if (verdict !== valid) wrong.push(`${description} / ${title}: ${verdict}`)
        }
      }
      expect(wrong).toEqual([])
    })
  })
})
