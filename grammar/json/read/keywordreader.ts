/**
 * Reading schema nodes: every keyword checked and put where the compiler looks for it.
 *
 * Each keyword ends in one of three ways: it constrains (`exact` in the report), it has no effect by the standard
 * (`annotation`, with the reason), or it is refused with its pointer. Nothing is skipped in silence.
 */
import { GrammarError, type Limits, placed } from "../../errors.ts"
import { formatExpr, PlainHostname } from "../../format/format.ts"
import { type ExprId, exprs } from "../../lexeme/expr/expr.ts"
import { MaxCount } from "../../lexeme/expr/nodes.ts"
import { freeTextExpr } from "../../lexeme/freetext.ts"
import type { KeywordNote } from "../../report.ts"
import { Infinite } from "../facts/conjunction.ts"
import { isKeywordSomewhere, type Keyword } from "../refs/dialect.ts"
import type { SchemaGraph, SchemaNode } from "../refs/refs.ts"
import { encodeToken } from "../refs/uri.ts"
import { GuidanceKey, guidanceNote } from "./guidance.ts"
import { Keywords } from "./keywords.ts"
import {
  describeValue,
  type Members,
  malformed,
  mapOf,
  readCount,
  readString,
  readStrings,
  schemaList,
} from "./keywordvalue.ts"
import { dialectNote, patternExpr } from "./pattern.ts"
import type { JsonNode } from "./reader.ts"
import { readNumeric, readType } from "./typekeywords.ts"
import { valueKey } from "./value.ts"

export interface ReadOptions {
  limits: Limits
  formats: "assert" | "annotate" | "vocabulary"
  unknownKeywords: "ignore" | "error"
  /** Names that an object may have where its schema does not say (`openobjects.ts`). Default always: any. */
  openObjects?: OpenObjects
  /** Texts that no string and no name of a property may hold. */
  excludes?: readonly string[]
  /** Whether an upper bound that no value comes up to is kept, as the largest one that is counted. */
  keepsMost?: boolean
}

/** Any names, or those alone that the schema declares. */
export type OpenObjects = "declared" | "always"

/** A keyword's value, and what it is said about. */
interface KeywordPlace {
  readonly keywords: Keywords
  readonly node: SchemaNode
  readonly members: Members
  readonly value: JsonNode
  readonly path: string
}

const closedNote = "only these names: the schema says nothing of others, and openObjects is declared"

/** Reads nodes once each. */
export class KeywordReader {
  readonly graph: SchemaGraph
  readonly limits: Limits
  /** What strings and names of properties may be, whatever the schema says. */
  readonly allowedText: ExprId
  /** Whether an object whose schema says nothing of other names takes the declared ones alone. */
  readonly closesObjects: boolean
  /** The first upper bound that no value comes up to. */
  idleMost: { readonly path: string; readonly value: string } | null = null
  private readonly excludes: readonly string[]
  private readonly options: ReadOptions
  /** By node id. */
  private readonly known: (Keywords | undefined)[] = []
  /** Nodes in the order in which they were read. */
  private readonly nodes: SchemaNode[] = []
  /** Why keywords that could have an effect have none, by node and keyword. */
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
    this.excludes = options.excludes ?? []
    this.allowedText = this.excludes.length === 0 ? exprs.anyText : freeTextExpr(this.excludes)
  }

  /** Whether a string or a name of a property may be `text`, whatever the schema says. */
  allows(text: string): boolean {
    return text.isWellFormed() && !this.excludes.some((exclude) => text.includes(exclude))
  }

  /** Where the string language of a schema comes from. */
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
   * The schema that `node` stands for: where it is a reference, or an `allOf` of one, and says nothing besides, what that leads to. So a
   * definition is one schema wherever it is used.
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

  /** An upper bound of lengths or of counts. Those that no value comes up to say nothing. */
  private readMost(value: JsonNode, path: string): number {
    const most = readCount(value, path)
    if (most <= MaxCount) return most
    this.idleMost ??= { path, value: describeValue(value) }
    return this.options.keepsMost === true ? MaxCount : Infinite
  }

  /** A note of every keyword that was read, once. `closing`: schemas whose properties are all there may be. */
  notes(closing: ReadonlySet<SchemaNode>): KeywordNote[] {
    const notes: KeywordNote[] = []
    for (const node of this.nodes) {
      if (node.value.kind !== "object") continue
      const overridden = isOverridden(node)
      for (const keyword of node.value.keys) {
        const path = `${node.pointer}/${encodeToken(keyword)}`
        const known = node.dialect.keywords.get(keyword)
        const isGuidance = keyword === GuidanceKey && node === this.graph.root
        const remark = isGuidance
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
          const note = guidanceNote(node.value.members.get(keyword) as JsonNode)
          notes.push({ path, keyword, status: "exact", ...(note === undefined ? {} : { note }) })
        } else if (!constrains(known as Keyword)) notes.push({ path, keyword, status: "annotation" })
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
    return patterns.length === 0 ? undefined : dialectNote(patterns, path, this.options.limits)
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
        const isGuidance = keyword === GuidanceKey && node === this.graph.root
        if (this.options.unknownKeywords === "error" && !isKeywordSomewhere(keyword) && !isGuidance) {
          throw new GrammarError(
            "unsupported",
            `${node.pointer}/${encodeToken(keyword)}`,
            'unknown keyword. Remove it, or pass unknownKeywords: "ignore"',
          )
        }
      } else if (constrains(known)) {
        const { members } = value
        const member = members.get(keyword) as JsonNode
        // What constrains is a keyword of a draft: nothing in it is escaped.
        const place = { keywords, node, members, value: member, path: `${node.pointer}/${keyword}` }
        try {
          const remark = this.readKeyword(place, keyword)
          if (remark !== undefined) this.remark(node, keyword, remark)
        } catch (error) {
          throw placed(error, place.path)
        }
      }
    }
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

  /** Puts one keyword in its place. Returns the reason when it has no effect here. */
  private readKeyword(place: KeywordPlace, keyword: string): string | undefined {
    const { graph } = this
    const { keywords, node, members, value, path } = place
    const { dialect } = node
    switch (keyword) {
      case "type":
        readType(keywords, value, path, dialect.lexicalIntegers)
        return
      case "enum":
        if (value.kind !== "array") throw malformed(path, "an array", value)
        keywords.enum = keywords.enum === null ? value.items : intersect(keywords.enum, value.items)
        return
      case "const":
        keywords.enum = keywords.enum === null ? [value] : intersect(keywords.enum, [value])
        return
      case "$ref":
        keywords.all = append(keywords.all, below(keywords, graph.ref(node, readString(value, path))))
        return
      case "$dynamicRef":
        keywords.all = append(keywords.all, below(keywords, graph.dynamicRef(node, readString(value, path))))
        return
      case "$recursiveRef":
        keywords.all = append(keywords.all, below(keywords, graph.recursiveRef(node)))
        return
      case "allOf":
        keywords.all = [...keywords.all, ...this.list(place)]
        return
      case "anyOf":
        keywords.any = [this.list(place)]
        return
      case "oneOf":
        keywords.one = [this.list(place)]
        return
      case "not":
        keywords.not = [this.child(place)]
        return
      case "if":
        return this.readIf(place)
      case "then":
      case "else":
        return members.has("if") ? undefined : "no if"
      case "minLength":
        keywords.minLength = readCount(value, path)
        return
      case "maxLength":
        keywords.maxLength = this.readMost(value, path)
        return
      case "pattern":
        keywords.patterns = append(
          keywords.patterns,
          patternExpr(readString(value, path), path, this.options.limits),
        )
        return
      case "format":
        return this.readFormat(keywords, node, readString(value, path))
      case "minimum":
      case "maximum":
      case "exclusiveMinimum":
      case "exclusiveMaximum":
      case "multipleOf":
        return readNumeric(keywords, node, members, keyword, value, path)
      case "properties": {
        const properties = new Map<string, SchemaNode>()
        for (const [name, item] of mapOf(value, path)) properties.set(name, this.named(place, name, item))
        if (properties.size > 0) keywords.properties = properties
        keywords.declaresNames = true
        return
      }
      case "patternProperties":
        keywords.coversOthers = true
        keywords.patternProperties = [...mapOf(value, path)].map(([pattern, item]) => {
          const expr = patternExpr(pattern, `${path}/${encodeToken(pattern)}`, this.options.limits)
          return { expr, node: this.named(place, pattern, item) }
        })
        return
      case "additionalProperties":
        keywords.coversOthers = true
        keywords.additional = this.child(place)
        return
      case "required":
        keywords.required = readStrings(value, path)
        return
      case "minProperties":
        keywords.minProperties = readCount(value, path)
        return
      case "maxProperties":
        keywords.maxProperties = this.readMost(value, path)
        return
      case "propertyNames":
        keywords.coversOthers = true
        keywords.propertyNames = this.child(place)
        return
      case "dependentRequired":
      case "dependentSchemas":
      case "dependencies":
        for (const [name, item] of mapOf(value, path)) {
          const isList =
            keyword === "dependentRequired" || (keyword === "dependencies" && item.kind === "array")
          if (isList) {
            const names = readStrings(item, `${path}/${encodeToken(name)}`)
            keywords.dependentRequired = append(keywords.dependentRequired, [name, names] as const)
          } else {
            keywords.dependentSchemas = append(keywords.dependentSchemas, [
              name,
              this.named(place, name, item),
            ] as const)
          }
        }
        return
      case "prefixItems":
        keywords.prefix = this.list(place)
        return
      case "items":
        if (value.kind === "array") {
          if (members.has("prefixItems") && dialect.keywords.has("prefixItems")) {
            throw new GrammarError(
              "syntax",
              path,
              "an array of schemas beside prefixItems. Use one spelling of tuples",
            )
          }
          keywords.prefix = value.items.length === 0 ? [] : this.list(place)
        } else {
          keywords.rest = this.child(place)
        }
        return
      case "additionalItems":
        if (members.get("items")?.kind !== "array") return "no tuple in items"
        keywords.rest = this.child(place)
        return
      case "minItems":
        keywords.minItems = readCount(value, path)
        return
      case "maxItems":
        keywords.maxItems = this.readMost(value, path)
        return
      case "contains": {
        const bound = (name: string) => (dialect.keywords.has(name) ? members.get(name) : undefined)
        const [min, max] = [bound("minContains"), bound("maxContains")]
        keywords.contains = {
          node: this.child(place),
          min: min === undefined ? 1 : readCount(min, `${node.pointer}/minContains`),
          max: max === undefined ? Infinite : this.readMost(max, `${node.pointer}/maxContains`),
        }
        return
      }
      case "minContains":
      case "maxContains":
        readCount(value, path)
        return members.has("contains") ? undefined : "no contains"
      case "uniqueItems":
        if (value.kind !== "true" && value.kind !== "false") throw malformed(path, "a boolean", value)
        keywords.unique = value.kind === "true"
        return
      case "unevaluatedProperties":
        keywords.coversOthers = true
        keywords.unevaluatedProperties = this.child(place)
        return
      case "unevaluatedItems":
        keywords.unevaluatedItems = this.child(place)
        return
      default:
        throw new GrammarError(
          "unsupported",
          path,
          `${keyword} is not supported. Remove it, or check it after generation`,
        )
    }
  }

  /** The schema that the keyword holds. */
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
    // An `if` alone only matters to an `unevaluated*`.
    if (yes === null && no === null) return "no then or else"
    below(keywords, test)
    return undefined
  }

  private readFormat(keywords: Keywords, node: SchemaNode, name: string): string | undefined {
    const { formats } = this.options
    if (formats === "annotate" || (formats === "vocabulary" && !node.dialect.formatAssertion))
      return "formats are not asserted"
    // Until draft-06 an A-label was any label that begins with "xn--".
    const isOld = node.dialect.name === "draft-04" || node.dialect.name === "draft-06"
    const expr = formatExpr(name === "hostname" && isOld ? PlainHostname : name)
    if (expr === null) return "unknown format"
    keywords.patterns = append(keywords.patterns, expr)
    return undefined
  }
}

/** What is read beside a `$ref` that makes its siblings meaningless. */
const besideRef = new Set(["$ref", "definitions"])

function isOverridden({ value, dialect }: SchemaNode): boolean {
  return dialect.refOverrides && value.kind === "object" && value.members.get("$ref")?.kind === "string"
}

function constrains({ role }: Keyword): boolean {
  return role !== "annotation" && role !== "identifier"
}

/** Notes that `target` is below, and returns it. */
function below(keywords: Keywords, target: SchemaNode): SchemaNode {
  keywords.below = append(keywords.below, target)
  return target
}

/** A list of one's own, which grows in place from its second entry on. */
function append<T>(list: readonly T[], entry: T): readonly T[] {
  if (list.length === 0) return [entry]
  ;(list as T[]).push(entry)
  return list
}

/** Values in both lists, by value. */
function intersect(a: readonly JsonNode[], b: readonly JsonNode[]): JsonNode[] {
  const keys = new Set(b.map(valueKey))
  return a.filter((value) => keys.has(valueKey(value)))
}

/** References that lead to references are followed so far: they may lead back. */
const MaxHops = 16

/** Whether nothing but a reference or an `allOf` says anything in `node`. */
function isReference({ value, dialect }: SchemaNode): boolean {
  if (value.kind !== "object" || !(value.members.has("$ref") || value.members.has("allOf"))) return false
  return value.keys.every((key) => {
    const known = dialect.keywords.get(key)
    return key === "$ref" || key === "allOf" || known === undefined || !constrains(known)
  })
}
