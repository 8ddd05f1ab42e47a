/**
 * The definition of JSON Schema, keyword by keyword, as the specification says it: a schema applied to a value gives a
 * verdict and the names and indices that it has evaluated.
 *
 * No preparation, no canonical form, no sharing: whoever wants to know what a schema means can read it here.
 */
import type { JsonNode } from "../../../grammar/json/read/reader.ts"
import { type Documents, memberOf, type Place, type Resource } from "./documents.ts"
import { isFormat } from "./formats.ts"
import { compare, exact, exactKey, isIntegral, isMultiple } from "./number.ts"
import { hostRegExp } from "./pattern.ts"

export interface ValidationError {
  /** JSON pointer into the instance. */
  path: string
  keyword: string
  message: string
}

export type FormatMode = "assert" | "annotate" | "vocabulary"

/** What a schema that holds has looked at: the annotations of unevaluatedProperties and unevaluatedItems. */
class Evaluated {
  isValid = true
  readonly names = new Set<string>()
  readonly indices = new Set<number>()
}

/** The resources entered so far, outermost first, without repetitions: all that dynamic references ask for. */
type Scope = readonly Resource[]

type Applied = "child" | "same" | "branch"

interface Active {
  place: Place
  value: JsonNode
  scope: string
  applied: Applied
}

export class Evaluator {
  readonly errors: ValidationError[] = []
  private readonly documents: Documents
  private readonly formats: FormatMode
  private readonly active: Active[] = []
  private quiet = 0

  constructor(documents: Documents, formats: FormatMode) {
    this.documents = documents
    this.formats = formats
  }

  run(value: JsonNode): boolean {
    return this.apply(this.documents.root, value, [], "", "child").isValid
  }

  private apply(place: Place, value: JsonNode, outer: Scope, path: string, applied: Applied): Evaluated {
    const scope = outer.includes(place.resource) ? outer : [...outer, place.resource]
    const result = new Evaluated()
    const { node } = place
    if (node.kind === "true") return result
    if (node.kind === "false") {
      this.fail(result, path, "false", "nothing is allowed here")
      return result
    }
    if (node.kind !== "object") throw new Error(`${place.path}: not a schema`)
    const scopeKey = scope.map(({ uri }) => uri).join(" ")
    const since = this.active.findIndex(
      (other) => other.place.node === node && other.value === value && other.scope === scopeKey,
    )
    if (since >= 0) {
      if (applied === "same" && this.active.slice(since + 1).every((other) => other.applied === "same"))
        return result
      throw new Error(`${place.path}: refers to itself without descending into the value`)
    }
    this.active.push({ place, value, scope: scopeKey, applied })
    const at = new Application(this, place, node.members, value, scope, path, result)
    at.run()
    this.active.pop()
    return result
  }

  fail(result: Evaluated, path: string, keyword: string, message: string): void {
    result.isValid = false
    if (this.quiet === 0) this.errors.push({ path, keyword, message })
  }

  child(place: Place, ...steps: (string | number)[]): Place {
    return this.documents.child(place, ...steps)
  }

  resolve(place: Place, reference: string): { target: Place; anchor: string | null } {
    return this.documents.resolve(place, reference)
  }

  assertsFormat(place: Place): boolean {
    if (this.formats === "vocabulary") return place.resource.dialect.assertsFormat
    return this.formats === "assert"
  }

  descend(place: Place, value: JsonNode, scope: Scope, path: string): boolean {
    return this.apply(place, value, scope, path, "child").isValid
  }

  /** Applies in place; errors count. */
  same(place: Place, value: JsonNode, scope: Scope, path: string): Evaluated {
    return this.apply(place, value, scope, path, "same")
  }

  /** Applies without keeping errors: one of several, or the opposite, is asked for. */
  branch(place: Place, value: JsonNode, scope: Scope, path: string): Evaluated {
    this.quiet++
    const result = this.apply(place, value, scope, path, "branch")
    this.quiet--
    return result
  }

  matches(place: Place, value: JsonNode, scope: Scope, path: string): boolean {
    this.quiet++
    const isValid = this.descend(place, value, scope, path)
    this.quiet--
    return isValid
  }
}

/** One schema object applied to one value. */
class Application {
  private readonly owner: Evaluator
  private readonly place: Place
  private readonly members: ReadonlyMap<string, JsonNode>
  private readonly value: JsonNode
  private readonly scope: Scope
  private readonly path: string
  private readonly result: Evaluated

  constructor(
    owner: Evaluator,
    place: Place,
    members: ReadonlyMap<string, JsonNode>,
    value: JsonNode,
    scope: Scope,
    path: string,
    result: Evaluated,
  ) {
    this.owner = owner
    this.place = place
    this.members = members
    this.value = value
    this.scope = scope
    this.path = path
    this.result = result
  }

  run(): void {
    const { value } = this
    const ref = this.get("$ref")
    if (ref?.kind === "string") {
      this.merge(this.applySame(this.owner.resolve(this.place, ref.value).target))
      if (this.place.resource.dialect.draft <= 7) return
    }
    this.dynamicReferences()
    this.combinators()
    this.general()
    if (value.kind === "number") this.number(value.text)
    if (value.kind === "string") this.string(value.value)
    if (value.kind === "object") this.object(value.keys, value.members)
    if (value.kind === "array") this.array(value.items)
  }

  /** The keyword's value, when the dialect has the keyword. */
  private get(keyword: string): JsonNode | undefined {
    return this.place.resource.dialect.has(keyword) ? this.members.get(keyword) : undefined
  }

  private list(keyword: string): readonly JsonNode[] | null {
    const list = this.get(keyword)
    return list?.kind === "array" ? list.items : null
  }

  private map(keyword: string): ReadonlyMap<string, JsonNode> {
    const map = this.get(keyword)
    return map?.kind === "object" ? map.members : new Map()
  }

  private text(keyword: string): string | null {
    const text = this.get(keyword)
    return text?.kind === "string" ? text.value : null
  }

  private check(holds: boolean, keyword: string, message: string): void {
    if (!holds) this.owner.fail(this.result, this.path, keyword, message)
  }

  private applySame(place: Place): Evaluated {
    return this.owner.same(place, this.value, this.scope, this.path)
  }

  private applyBranch(...steps: (string | number)[]): Evaluated {
    return this.owner.branch(this.child(...steps), this.value, this.scope, this.path)
  }

  private child(...steps: (string | number)[]): Place {
    return this.owner.child(this.place, ...steps)
  }

  private descend(place: Place, value: JsonNode, step: string | number): void {
    if (!this.owner.descend(place, value, this.scope, `${this.path}/${step}`)) this.result.isValid = false
  }

  /** Takes over verdict and annotations of a schema that must hold here. */
  private merge(other: Evaluated): void {
    if (!other.isValid) this.result.isValid = false
    this.annotate(other)
  }

  private annotate(other: Evaluated): void {
    if (!other.isValid) return
    for (const name of other.names) this.result.names.add(name)
    for (const index of other.indices) this.result.indices.add(index)
  }

  private dynamicReferences(): void {
    const recursive = this.text("$recursiveRef")
    if (recursive !== null) {
      let { target } = this.owner.resolve(this.place, recursive)
      if (target.resource.isRecursiveAnchor) {
        const outermost = this.scope.find(({ isRecursiveAnchor }) => isRecursiveAnchor)
        if (outermost !== undefined)
          target = { node: outermost.root, resource: outermost, path: outermost.uri }
      }
      this.merge(this.applySame(target))
    }
    const dynamic = this.text("$dynamicRef")
    if (dynamic !== null) {
      let { target, anchor } = this.owner.resolve(this.place, dynamic)
      if (anchor !== null && target.resource.dynamicAnchors.get(anchor)?.node === target.node) {
        for (const { dynamicAnchors } of this.scope) {
          const outermost = dynamicAnchors.get(anchor)
          if (outermost === undefined) continue
          target = outermost
          break
        }
      }
      this.merge(this.applySame(target))
    }
  }

  private combinators(): void {
    for (const [i] of (this.list("allOf") ?? []).entries()) this.merge(this.applySame(this.child("allOf", i)))
    const anyOf = this.list("anyOf")
    if (anyOf !== null) {
      const branches = anyOf.map((_, i) => this.applyBranch("anyOf", i))
      this.check(
        branches.some(({ isValid }) => isValid),
        "anyOf",
        "no branch holds",
      )
      for (const branch of branches) this.annotate(branch)
    }
    const oneOf = this.list("oneOf")
    if (oneOf !== null) {
      const holding = oneOf.map((_, i) => this.applyBranch("oneOf", i)).filter(({ isValid }) => isValid)
      this.check(holding.length === 1, "oneOf", `${holding.length} branches hold, not 1`)
      for (const branch of holding) this.annotate(branch)
    }
    if (this.get("not") !== undefined)
      this.check(!this.applyBranch("not").isValid, "not", "the schema holds that must not")
    if (this.get("if") !== undefined) {
      const test = this.applyBranch("if")
      this.annotate(test)
      const next = test.isValid ? "then" : "else"
      if (this.get(next) !== undefined)
        this.merge(this.owner.same(this.child(next), this.value, this.scope, this.path))
    }
  }

  private general(): void {
    const { value } = this
    const type = this.get("type")
    if (type !== undefined) {
      const names = type.kind === "array" ? type.items : [type]
      this.check(
        names.some((name) => name.kind === "string" && this.hasType(name.value)),
        "type",
        `${value.kind} is not of the type`,
      )
    }
    const options = this.list("enum")
    if (options !== null) {
      const key = keyOf(value)
      this.check(
        options.some((option) => keyOf(option) === key),
        "enum",
        "not one of the values",
      )
    }
    const constant = this.get("const")
    if (constant !== undefined) this.check(keyOf(constant) === keyOf(value), "const", "not the value")
  }

  private hasType(name: string): boolean {
    const { value } = this
    if (name === "boolean") return value.kind === "true" || value.kind === "false"
    if (name !== "integer") return value.kind === name
    if (value.kind !== "number") return false
    if (this.place.resource.dialect.draft === 4) return /^-?\d+$/.test(value.text)
    return isIntegral(exact(value.text))
  }

  private number(text: string): void {
    const value = exact(text)
    const { dialect } = this.place.resource
    const bound = (keyword: string) => {
      const node = this.get(keyword)
      return node?.kind === "number" ? exact(node.text) : null
    }
    const modified = (keyword: string) =>
      (dialect.draft === 4 || dialect.isLenient) && this.get(keyword)?.kind === "true"
    const minimum = bound("minimum")
    if (minimum !== null) {
      const order = compare(value, minimum)
      this.check(modified("exclusiveMinimum") ? order > 0 : order >= 0, "minimum", `${text} is too small`)
    }
    const maximum = bound("maximum")
    if (maximum !== null) {
      const order = compare(value, maximum)
      this.check(modified("exclusiveMaximum") ? order < 0 : order <= 0, "maximum", `${text} is too large`)
    }
    const above = bound("exclusiveMinimum")
    if (above !== null) this.check(compare(value, above) > 0, "exclusiveMinimum", `${text} is too small`)
    const below = bound("exclusiveMaximum")
    if (below !== null) this.check(compare(value, below) < 0, "exclusiveMaximum", `${text} is too large`)
    const divisor = bound("multipleOf")
    if (divisor !== null) this.check(isMultiple(value, divisor), "multipleOf", `${text} is no multiple`)
  }

  /** Whether a count keyword holds. Bounds may be written 2.0 and exceed every count. */
  private counts(count: number, min: string, max: string): void {
    const compareTo = (keyword: string) => {
      const node = this.get(keyword)
      return node?.kind === "number" ? compare(exact(`${count}`), exact(node.text)) : 0
    }
    this.check(compareTo(min) >= 0, min, `${count} are too few`)
    this.check(compareTo(max) <= 0, max, `${count} are too many`)
  }

  private string(text: string): void {
    this.counts([...text].length, "minLength", "maxLength")
    const pattern = this.text("pattern")
    if (pattern !== null) this.check(hostRegExp(pattern).test(text), "pattern", `does not match ${pattern}`)
    const format = this.text("format")
    if (format !== null && this.owner.assertsFormat(this.place)) {
      const { draft } = this.place.resource.dialect
      this.check(isFormat(format, text, draft), "format", `is no ${format}`)
    }
  }

  private object(keys: readonly string[], members: ReadonlyMap<string, JsonNode>): void {
    this.counts(keys.length, "minProperties", "maxProperties")
    for (const name of this.list("required") ?? []) {
      if (name.kind === "string")
        this.check(members.has(name.value), "required", `${JSON.stringify(name.value)} is missing`)
    }
    this.dependencies(members)
    const nameSchema = this.get("propertyNames") && this.child("propertyNames")
    if (nameSchema !== undefined) {
      for (const key of keys) this.descend(nameSchema, { kind: "string", value: key, start: 0, end: 0 }, key)
    }
    const { names } = this.result
    const declared = this.map("properties")
    const patterns = [...this.map("patternProperties").keys()]
    for (const key of keys) {
      const value = members.get(key) as JsonNode
      let isCovered = false
      if (declared.has(key)) {
        isCovered = true
        this.descend(this.child("properties", key), value, key)
      }
      for (const pattern of patterns) {
        if (!hostRegExp(pattern).test(key)) continue
        isCovered = true
        this.descend(this.child("patternProperties", pattern), value, key)
      }
      if (!isCovered && this.get("additionalProperties") !== undefined) {
        isCovered = true
        this.descend(this.child("additionalProperties"), value, key)
      }
      if (isCovered) names.add(key)
    }
    if (this.get("unevaluatedProperties") === undefined) return
    for (const key of keys) {
      if (names.has(key)) continue
      this.descend(this.child("unevaluatedProperties"), members.get(key) as JsonNode, key)
      names.add(key)
    }
  }

  private dependencies(members: ReadonlyMap<string, JsonNode>): void {
    for (const keyword of ["dependencies", "dependentRequired", "dependentSchemas"]) {
      for (const [trigger, needed] of this.map(keyword)) {
        if (!members.has(trigger)) continue
        if (needed.kind !== "array") this.merge(this.applySame(this.child(keyword, trigger)))
        else {
          for (const name of needed.items)
            this.check(
              name.kind === "string" && members.has(name.value),
              keyword,
              `${trigger} needs ${keyOf(name)}`,
            )
        }
      }
    }
  }

  private array(items: readonly JsonNode[]): void {
    this.counts(items.length, "minItems", "maxItems")
    const { indices } = this.result
    const { prefix, rest } = this.itemSchemas()
    for (const [i, item] of items.entries()) {
      const place = i < prefix.length ? prefix[i] : rest
      if (place === null) continue
      this.descend(place, item, i)
      indices.add(i)
    }
    if (this.get("contains") !== undefined) this.contains(items)
    if (this.get("uniqueItems")?.kind === "true")
      this.check(new Set(items.map(keyOf)).size === items.length, "uniqueItems", "an item is there twice")
    if (this.get("unevaluatedItems") === undefined) return
    for (const [i, item] of items.entries()) {
      if (indices.has(i)) continue
      this.descend(this.child("unevaluatedItems"), item, i)
      indices.add(i)
    }
  }

  private itemSchemas(): { prefix: Place[]; rest: Place | null } {
    const whole = this.get("items")
    const tuple = this.list("prefixItems")
    if (tuple !== null) {
      return {
        prefix: tuple.map((_, i) => this.child("prefixItems", i)),
        rest: whole === undefined || whole.kind === "array" ? null : this.child("items"),
      }
    }
    if (whole?.kind === "array") {
      return {
        prefix: whole.items.map((_, i) => this.child("items", i)),
        rest: this.get("additionalItems") === undefined ? null : this.child("additionalItems"),
      }
    }
    return { prefix: [], rest: whole === undefined ? null : this.child("items") }
  }

  private contains(items: readonly JsonNode[]): void {
    const place = this.child("contains")
    let count = 0
    for (const [i, item] of items.entries()) {
      if (!this.owner.matches(place, item, this.scope, `${this.path}/${i}`)) continue
      count++
      if (this.place.resource.dialect.draft === 2020) this.result.indices.add(i)
    }
    if (this.get("minContains") === undefined) this.check(count >= 1, "contains", "no item matches")
    this.counts(count, "minContains", "maxContains")
  }
}

/** Equal JSON values have equal keys: numbers by value, objects whatever their order. */
export function keyOf(value: JsonNode): string {
  switch (value.kind) {
    case "number":
      return exactKey(exact(value.text))
    case "string":
      return JSON.stringify(value.value)
    case "array":
      return `[${value.items.map(keyOf).join()}]`
    case "object": {
      const keys = [...value.keys].sort()
      return `{${keys.map((key) => `${JSON.stringify(key)}:${keyOf(memberOf(value, key) as JsonNode)}`).join()}}`
    }
    default:
      return value.kind
  }
}
