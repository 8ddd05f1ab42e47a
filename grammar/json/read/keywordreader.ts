/**
 * Reads schema nodes: checks every keyword and stores it where the compiler looks for it.
 *
 * Each keyword ends in one of three ways: it constrains (`exact` in the report), it has no effect
 * by the standard (`annotation`, with the reason), or it is refused with its pointer. No keyword is
 * skipped silently.
 */
import { GrammarError, type Limits, placed } from "../../errors.ts"
import { PlainHostname } from "../../format/names.ts"
import { type ExprId, exprs } from "../../lexeme/expr/expr.ts"
import { MaxCount } from "../../lexeme/expr/nodes.ts"
import { freeTextExpr } from "../../lexeme/freetext.ts"
import type { KeywordNote } from "../../report.ts"
import { Infinite } from "../facts/conjunction.ts"
import { formatOf, type JsonParts, partOf } from "../parts.ts"
import { isKeywordSomewhere, type Keyword } from "../refs/dialect.ts"
import type { SchemaGraph, SchemaNode } from "../refs/refs.ts"
import { encodeToken } from "../refs/uri.ts"
import { CopiedKey, Copies } from "./copied.ts"
import { GuidanceKey, Keywords } from "./keywords.ts"
import {
  describeValue,
  malformed,
  mapOf,
  readCount,
  readString,
  readStrings,
  schemaList,
} from "./keywordvalue.ts"
import type { JsonNode } from "./reader.ts"
import { type KeywordPlace, readNumeric, readType } from "./typekeywords.ts"
import { valueKey } from "./value.ts"

export interface ReadOptions {
  limits: Limits
  parts: JsonParts
  formats: "assert" | "annotate" | "vocabulary"
  unknownKeywords: "ignore" | "error"
  /**
   * The names that an object may have if its schema does not say (`openobjects.ts`). The default is
   * "always": any name.
   */
  openObjects?: OpenObjects
  /** Texts that no string and no property name may contain. */
  excludes?: readonly string[]
  /**
   * Whether upper bounds too large for any value are kept, as the largest bound that is counted.
   */
  keepsMost?: boolean
  /** The text that copied strings quote (`copied.ts`). */
  source?: string
}

/** Any names, or only those that the schema declares. */
export type OpenObjects = "declared" | "always"

/** The form of a keyword's value: a count, an upper bound, names, a schema or schemas. */
type Holding = "count" | "most" | "names" | "schema" | "schemas"

/** The keywords whose value becomes a field of `Keywords`. */
const fields: ReadonlyMap<string, { name: keyof Keywords; holds: Holding }> = new Map([
  ["minLength", { name: "minLength", holds: "count" }],
  ["maxLength", { name: "maxLength", holds: "most" }],
  ["minItems", { name: "minItems", holds: "count" }],
  ["maxItems", { name: "maxItems", holds: "most" }],
  ["minProperties", { name: "minProperties", holds: "count" }],
  ["maxProperties", { name: "maxProperties", holds: "most" }],
  ["required", { name: "required", holds: "names" }],
  ["prefixItems", { name: "prefix", holds: "schemas" }],
  ["additionalProperties", { name: "additional", holds: "schema" }],
  ["propertyNames", { name: "propertyNames", holds: "schema" }],
  ["unevaluatedProperties", { name: "unevaluatedProperties", holds: "schema" }],
  ["unevaluatedItems", { name: "unevaluatedItems", holds: "schema" }],
])

/** The keywords among them that are about names not declared by `properties`. */
const namesOthers = new Set(["additionalProperties", "propertyNames", "unevaluatedProperties"])

const closedNote = "only these names: the schema does not mention others, and openObjects is declared"

/** Reads each node once. */
export class KeywordReader {
  readonly graph: SchemaGraph
  readonly limits: Limits
  /** The language of all strings and property names that are allowed in any schema. */
  readonly allowedText: ExprId
  /**
   * Whether an object takes its declared names only, if its schema does not constrain other names.
   */
  readonly closesObjects: boolean
  /** The first upper bound that is too large for any value. */
  idleMost: { readonly path: string; readonly value: string } | null = null
  readonly copies: Copies
  private readonly excludes: readonly string[]
  private readonly options: ReadOptions
  /** By node id. */
  private readonly known: (Keywords | undefined)[] = []
  /** Nodes in the order in which they were read. */
  private readonly nodes: SchemaNode[] = []
  /** By node and keyword: the reason why a keyword has no effect that could have one. */
  private readonly remarks = new Map<SchemaNode, Map<string, string>>()
  private names: (node: SchemaNode) => ExprId = () => {
    throw new Error("internal: the language of names is not bound yet")
  }
  private readonly namesOf = (node: SchemaNode): ExprId => this.names(node)

  constructor(graph: SchemaGraph, options: ReadOptions) {
    this.graph = graph
    this.limits = options.limits
    this.options = options
    this.closesObjects = options.openObjects === "declared"
    this.copies = new Copies(options.source, options)
    this.excludes = options.excludes ?? []
    this.allowedText = this.excludes.length === 0 ? exprs.anyText : freeTextExpr(this.excludes)
  }

  /** Whether `text` may be a string or a property name in any schema. */
  allows(text: string): boolean {
    return text.isWellFormed() && !this.excludes.some((exclude) => text.includes(exclude))
  }

  /** Sets the function that returns the string language of a schema. */
  bindNames(names: (node: SchemaNode) => ExprId): void {
    this.names = names
  }

  of(node: SchemaNode): Keywords {
    let keywords = this.known[node.id]
    if (keywords === undefined) {
      keywords = this.read(node)
      this.nodes.push(node)
      this.known[node.id] = keywords
    }
    return keywords
  }

  /**
   * Returns the schema that `node` stands for: if `node` is only a reference, or an `allOf` with
   * one member, the target. So a definition is one schema wherever it is used.
   */
  meant(node: SchemaNode): SchemaNode {
    let meant = node
    for (let hops = 0; hops < MaxHops; hops++) {
      if (!isReference(meant)) return meant
      const { all } = this.of(meant)
      if (all.length !== 1) return meant
      meant = all[0]
    }
    return node
  }

  /**
   * Returns `node` and the schemas that its `allOf` and `$ref` add: all of them hold for each of
   * its values.
   */
  inAnyCase(node: SchemaNode): readonly SchemaNode[] {
    if (this.of(node).all.length === 0) return [node]
    const nodes = new Set([node])
    for (const each of nodes) for (const other of this.of(each).all) nodes.add(other)
    return [...nodes]
  }

  /**
   * Reads an upper bound of lengths or counts. A bound too large for any value constrains nothing.
   */
  private readMost(value: JsonNode, path: string): number {
    const most = readCount(value, path)
    if (most <= MaxCount) return most
    this.idleMost ??= { path, value: describeValue(value) }
    return this.options.keepsMost === true ? MaxCount : Infinite
  }

  /**
   * Returns one note for every keyword that was read. `closing` are the schemas whose properties
   * are the only names allowed.
   */
  notes(closing: ReadonlySet<SchemaNode>): KeywordNote[] {
    const notes: KeywordNote[] = []
    for (const node of this.nodes) {
      if (node.value.kind !== "object") continue
      const overridden = isOverridden(node)
      for (const keyword of node.value.keys) {
        const path = `${node.pointer}/${encodeToken(keyword)}`
        const known = node.dialect.keywords.get(keyword)
        const isGuidance = keyword === GuidanceKey && node === this.graph.root
        const isOwn = isGuidance || keyword === CopiedKey
        const remark =
          isOwn && !overridden
            ? undefined
            : overridden && !besideRef.has(keyword)
              ? "ignored beside $ref"
              : known === undefined
                ? isKeywordSomewhere(keyword)
                  ? `not in ${node.dialect.name}`
                  : "unknown keyword"
                : this.remarks.get(node)?.get(keyword)
        if (remark !== undefined) notes.push({ path, keyword, status: "annotation", note: remark })
        else if (isGuidance) {
          const value = node.value.members.get(keyword) as JsonNode
          const note = this.options.parts.patterns?.guidanceNote(value)
          notes.push({ path, keyword, status: "exact", ...(note === undefined ? {} : { note }) })
        } else if (isOwn) notes.push({ path, keyword, status: "exact" })
        else if (!constrains(known as Keyword)) notes.push({ path, keyword, status: "annotation" })
        else {
          const note =
            keyword === "properties" && closing.has(node)
              ? closedNote
              : this.patternNote(keyword, node.value.members.get(keyword) as JsonNode, path)
          notes.push({ path, keyword, status: "exact", ...(note === undefined ? {} : { note }) })
        }
      }
    }
    return notes
  }

  private patternNote(keyword: string, value: JsonNode, path: string): string | undefined {
    const patterns =
      keyword === "pattern" && value.kind === "string"
        ? [value.value]
        : keyword === "patternProperties" && value.kind === "object"
          ? value.keys
          : []
    const { parts, limits } = this.options
    return patterns.length === 0 ? undefined : parts.patterns?.note(patterns, path, limits)
  }

  private read(node: SchemaNode): Keywords {
    const keywords = new Keywords(this.namesOf)
    const { value } = node
    if (value.kind === "true") return keywords
    if (value.kind === "false") {
      keywords.types = 0
      return keywords
    }
    if (value.kind !== "object") {
      throw new GrammarError(
        "syntax",
        node.pointer,
        `a schema must be an object or a boolean, not ${describeValue(value)}`,
      )
    }
    const overridden = isOverridden(node)
    for (const keyword of value.keys) {
      if (overridden && !besideRef.has(keyword)) continue
      const known = node.dialect.keywords.get(keyword)
      if (known === undefined) {
        const isOwn = keyword === CopiedKey || (keyword === GuidanceKey && node === this.graph.root)
        if (this.options.unknownKeywords === "error" && !isKeywordSomewhere(keyword) && !isOwn) {
          throw new GrammarError(
            "unsupported",
            `${node.pointer}/${encodeToken(keyword)}`,
            'unknown keyword. Remove it, or pass unknownKeywords: "ignore"',
          )
        }
      } else if (constrains(known)) {
        const { members } = value
        const member = members.get(keyword) as JsonNode
        // Constraining keywords belong to a draft, so their names need no escapes.
        const place = { keywords, node, members, value: member, path: `${node.pointer}/${keyword}` }
        try {
          const remark = this.readKeyword(place, keyword)
          if (remark !== undefined) this.remark(node, keyword, remark)
        } catch (error) {
          throw placed(error, place.path)
        }
      }
    }
    const copied = overridden ? null : this.copies.of(node, value.members, keywords)
    if (copied !== null) keywords.patterns = append(keywords.patterns, copied)
    return keywords
  }

  private remark(node: SchemaNode, keyword: string, remark: string): void {
    let remarks = this.remarks.get(node)
    if (remarks === undefined) {
      remarks = new Map()
      this.remarks.set(node, remarks)
    }
    remarks.set(keyword, remark)
  }

  /** Stores one keyword. Returns the reason if it has no effect here. */
  private readKeyword(place: KeywordPlace, keyword: string): string | undefined {
    const { keywords, node, members, value, path } = place
    const field = fields.get(keyword)
    if (field !== undefined) {
      if (namesOthers.has(keyword)) keywords.coversOthers = true
      const record: Partial<Record<keyof Keywords, unknown>> = keywords
      record[field.name] = this.valueOf(place, field.holds)
      return undefined
    }
    switch (keyword) {
      case "type":
        return readType(keywords, value, path, node.dialect.lexicalIntegers)
      case "enum":
      case "const": {
        if (keyword === "enum" && value.kind !== "array") throw malformed(path, "an array", value)
        const values = keyword === "enum" && value.kind === "array" ? value.items : [value]
        keywords.enum = keywords.enum === null ? values : intersect(keywords.enum, values)
        return undefined
      }
      case "minimum":
      case "maximum":
      case "exclusiveMinimum":
      case "exclusiveMaximum":
      case "multipleOf":
        return readNumeric(place, keyword)
      case "pattern": {
        const expr = this.readPattern(readString(value, path), path)
        keywords.patterns = append(keywords.patterns, expr)
        return undefined
      }
      case "format":
        return this.readFormat(place, readString(value, path))
      case "uniqueItems":
        if (value.kind !== "true" && value.kind !== "false") throw malformed(path, "a boolean", value)
        keywords.unique = value.kind === "true"
        return undefined
      case "minContains":
      case "maxContains":
        readCount(value, path)
        return members.has("contains") ? undefined : "no contains"
      default:
        return this.readApplicator(place, keyword)
    }
  }

  /** Returns the value of a keyword in `fields`. */
  private valueOf(place: KeywordPlace, holds: Holding): unknown {
    const { value, path } = place
    switch (holds) {
      case "count":
        return readCount(value, path)
      case "most":
        return this.readMost(value, path)
      case "names":
        return readStrings(value, path)
      case "schema":
        return this.child(place)
      default:
        return this.list(place)
    }
  }

  /**
   * Stores one keyword that contains schemas or refers to one. Returns the reason if it has no
   * effect here.
   */
  private readApplicator(place: KeywordPlace, keyword: string): string | undefined {
    const { graph } = this
    const { keywords, node, members, value, path } = place
    switch (keyword) {
      case "$ref":
        keywords.all = append(keywords.all, below(keywords, graph.ref(node, readString(value, path))))
        return undefined
      case "$dynamicRef":
        keywords.all = append(keywords.all, below(keywords, graph.dynamicRef(node, readString(value, path))))
        return undefined
      case "$recursiveRef":
        keywords.all = append(keywords.all, below(keywords, graph.recursiveRef(node)))
        return undefined
      case "allOf":
        keywords.all = [...keywords.all, ...this.list(place)]
        return undefined
      case "anyOf":
        keywords.any = [this.list(place)]
        return undefined
      case "oneOf":
        keywords.one = [this.list(place)]
        return undefined
      case "not":
        keywords.not = [this.child(place)]
        return undefined
      case "if":
        return this.readIf(place)
      case "then":
      case "else":
        return members.has("if") ? undefined : "no if"
      case "properties":
      case "patternProperties":
      case "dependentRequired":
      case "dependentSchemas":
      case "dependencies":
        this.readNamed(place, keyword)
        return undefined
      case "items":
        this.readItems(place)
        return undefined
      case "additionalItems":
        if (members.get("items")?.kind !== "array") return "no tuple in items"
        keywords.rest = this.child(place)
        return undefined
      case "contains":
        this.readContains(place)
        return undefined
      default:
        throw new GrammarError(
          "unsupported",
          path,
          `${keyword} is not supported. Remove it, or check it after generation`,
        )
    }
  }

  /** Reads a keyword whose value is a map by names or patterns. */
  private readNamed(place: KeywordPlace, keyword: string): void {
    const { keywords, value, path } = place
    const entries = mapOf(value, path)
    if (keyword === "properties") {
      keywords.declaresNames = true
      if (entries.size === 0) return
      keywords.properties = new Map([...entries].map(([name, item]) => [name, this.named(place, name, item)]))
    } else if (keyword === "patternProperties") {
      keywords.coversOthers = true
      keywords.patternProperties = [...entries].map(([pattern, item]) => {
        const expr = this.readPattern(pattern, `${path}/${encodeToken(pattern)}`)
        return { expr, node: this.named(place, pattern, item) }
      })
    } else {
      for (const [name, item] of entries) {
        if (keyword === "dependentRequired" || (keyword === "dependencies" && item.kind === "array")) {
          const entry = [name, readStrings(item, `${path}/${encodeToken(name)}`)] as const
          keywords.dependentRequired = append(keywords.dependentRequired, entry)
        } else {
          const entry = [name, this.named(place, name, item)] as const
          keywords.dependentSchemas = append(keywords.dependentSchemas, entry)
        }
      }
    }
  }

  private readItems(place: KeywordPlace): void {
    const { keywords, node, members, value, path } = place
    if (value.kind !== "array") keywords.rest = this.child(place)
    else if (members.has("prefixItems") && node.dialect.keywords.has("prefixItems")) {
      const message = "is an array beside prefixItems. Describe the tuple by one of the two"
      throw new GrammarError("syntax", path, message)
    } else keywords.prefix = value.items.length === 0 ? [] : this.list(place)
  }

  private readContains(place: KeywordPlace): void {
    const { keywords, node, members } = place
    const bound = (name: string) => (node.dialect.keywords.has(name) ? members.get(name) : undefined)
    const [min, max] = [bound("minContains"), bound("maxContains")]
    keywords.contains = {
      node: this.child(place),
      min: min === undefined ? 1 : readCount(min, `${node.pointer}/minContains`),
      max: max === undefined ? Infinite : this.readMost(max, `${node.pointer}/maxContains`),
    }
  }

  /** Returns the schema in the keyword's value. */
  private child({ keywords, node, value, path }: KeywordPlace): SchemaNode {
    return below(keywords, this.graph.below(node, value, path))
  }

  private list({ keywords, node, value, path }: KeywordPlace): SchemaNode[] {
    return schemaList(value, path).map((item, i) =>
      below(keywords, this.graph.below(node, item, `${path}/${i}`)),
    )
  }

  private named({ keywords, node, path }: KeywordPlace, name: string, item: JsonNode): SchemaNode {
    return below(keywords, this.graph.below(node, item, `${path}/${encodeToken(name)}`))
  }

  private readIf({ keywords, node, members, value, path }: KeywordPlace): string | undefined {
    const side = (keyword: string): SchemaNode | null => {
      const member = node.dialect.keywords.has(keyword) ? members.get(keyword) : undefined
      return member === undefined
        ? null
        : below(keywords, this.graph.below(node, member, `${node.pointer}/${keyword}`))
    }
    const [yes, no] = [side("then"), side("else")]
    const test = this.graph.below(node, value, path)
    keywords.conditional = { test, yes, no }
    // An `if` alone matters only to an `unevaluated*`.
    if (yes === null && no === null) return "no then or else"
    below(keywords, test)
    return undefined
  }

  private readPattern(pattern: string, path: string): ExprId {
    const { parts, limits } = this.options
    return partOf(parts, "patterns", path).search(pattern, path, limits)
  }

  private readFormat({ keywords, node, path }: KeywordPlace, name: string): string | undefined {
    const { formats, parts } = this.options
    if (formats === "annotate" || (formats === "vocabulary" && !node.dialect.formatAssertion))
      return "formats are not asserted"
    // Until draft-06 every label with the prefix "xn--" was an A-label.
    const isOld = node.dialect.name === "draft-04" || node.dialect.name === "draft-06"
    const expr = formatOf(parts, name === "hostname" && isOld ? PlainHostname : name, path)
    if (expr === null) return "unknown format"
    keywords.patterns = append(keywords.patterns, expr)
    return undefined
  }
}

/** The keywords that are read beside a `$ref` that disables its siblings. */
const besideRef = new Set(["$ref", "definitions"])

function isOverridden({ value, dialect }: SchemaNode): boolean {
  return dialect.refOverrides && value.kind === "object" && value.members.get("$ref")?.kind === "string"
}

function constrains({ role }: Keyword): boolean {
  return role !== "annotation" && role !== "identifier"
}

/** Adds `target` to the schemas below, and returns it. */
function below(keywords: Keywords, target: SchemaNode): SchemaNode {
  keywords.below = append(keywords.below, target)
  return target
}

/**
 * Appends to a list. An empty list may be shared, so it is copied; from then on the list grows in
 * place.
 */
function append<T>(list: readonly T[], entry: T): readonly T[] {
  if (list.length === 0) return [entry]
  ;(list as T[]).push(entry)
  return list
}

/** Returns the values that are in both lists, compared by value. */
function intersect(a: readonly JsonNode[], b: readonly JsonNode[]): JsonNode[] {
  const keys = new Set(b.map(valueKey))
  return a.filter((value) => keys.has(valueKey(value)))
}

/** The greatest number of references in a chain that is followed, since a chain may be a cycle. */
const MaxHops = 16

/** Whether a reference or an `allOf` is the only constraint in `node`. */
function isReference({ value, dialect }: SchemaNode): boolean {
  if (value.kind !== "object" || !(value.members.has("$ref") || value.members.has("allOf"))) return false
  return value.keys.every((key) => {
    const known = dialect.keywords.get(key)
    if (key === CopiedKey) return false
    return key === "$ref" || key === "allOf" || known === undefined || !constrains(known)
  })
}
