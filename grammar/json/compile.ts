/**
 * `compileJsonSchema`: from the text of a schema to a grammar. Reads the schema without loss,
 * resolves references, reads every reachable keyword, tests satisfiability, and starts the language
 * at the root.
 */
import { checkTime, TimeError } from "../deadline.ts"
import { checkLimit, fixedBounds, GrammarError, type Limits, limitError } from "../errors.ts"
import { type Expectation, Frame, type Step } from "../frame.ts"
import { Grammar } from "../grammar.ts"
import { MaxCount } from "../lexeme/expr/nodes.ts"
import { type KeywordNote, makeReport, type Report } from "../report.ts"
import type { IsPossible } from "./contradiction.ts"
import { checkCopies } from "./facts/copies.ts"
import { inPlaceSchemas } from "./facts/coverage.ts"
import { closingSchemas, countBranches } from "./facts/openobjects.ts"
import { JsonLanguage } from "./language.ts"
import { admittedBy, checkLeast, FirstSight } from "./least.ts"
import { type Guidance, type JsonParts, partOf } from "./parts.ts"
import { checkReach } from "./reach.ts"
import { KeywordReader, type OpenObjects } from "./read/keywordreader.ts"
import { GuidanceKey } from "./read/keywords.ts"
import { fromValue, type JsonNode, readJson } from "./read/reader.ts"
import { whyEmpty } from "./reason.ts"
import { SchemaGraph, type SchemaNode } from "./refs/refs.ts"
import { separatedSteps } from "./separators.ts"
import type { SurfacePolicy } from "./spelling.ts"
import { expectRoot } from "./words.ts"

export interface JsonOptions {
  policy: SurfacePolicy
  limits: Limits
  /** How patterns and formats are read. */
  parts: JsonParts
  formats: "assert" | "annotate" | "vocabulary"
  unknownKeywords: "ignore" | "error"
  unsatisfiable: "error" | "empty"
  openObjects?: OpenObjects
  dialect?: string
  documents?: Readonly<Record<string, string>>
  /** Texts that no string and no property name may contain. */
  excludes?: readonly string[]
  /** See `ReadOptions`. */
  keepsMost?: boolean
  /** The text that copied strings quote. */
  source?: string
  /**
   * Whether an equal schema was compiled before with these options, so that the checks can be
   * skipped.
   */
  isChecked?: boolean
  /** Whether the values are read back as JSON, and so must be written as JSON. */
  isArguments?: boolean
  /** Returns the identity of input and options. */
  key: () => string
}

/** A completely read schema, and its language. */
export interface OpenSchema {
  readonly language: JsonLanguage
  readonly root: SchemaNode
  /** The conjunction that is equivalent to the schema. */
  readonly value: number
  /** All reachable schemas. */
  readonly nodes: readonly SchemaNode[]
  /** Decides whether schemas of this dialect have a common value. */
  readonly isPossible: IsPossible
}

/**
 * Reads a schema and all that it reaches. Throws for keywords that cannot be honoured, but not for
 * unsatisfiable schemas.
 */
export function openSchema(schema: unknown, options: Omit<JsonOptions, "key" | "unsatisfiable">): OpenSchema {
  const { limits } = options
  const text = readSchema(schema, limits)
  const graph = new SchemaGraph(text, {
    documents: options.documents,
    dialect: options.dialect,
    limits,
    parts: options.parts,
  })
  const { policy, excludes } = guidanceIn(text, options)
  const said =
    excludes.length === 0 ? options : { ...options, excludes: [...(options.excludes ?? []), ...excludes] }
  const reader = new KeywordReader(graph, said)
  const language = new JsonLanguage(reader, policy, limits)
  const nodes = readReachable(reader, graph.root, limits)
  if (!language.tokens.isJson) checkSeparators(reader, nodes, options.isArguments === true)
  if (options.isChecked !== true) {
    checkCopies(reader, nodes)
    for (const node of nodes) checkAlternatives(language, node)
    const keywordsOf = (node: SchemaNode) => reader.of(node)
    if (!new FirstSight(keywordsOf).areShort(nodes, limits)) {
      // White space around the text is a level of its own.
      const around = language.tokens.outer === null ? 0 : 1
      checkLeast(admittedBy(graph.root, keywordsOf), around, keywordsOf, limits)
    }
  }
  const value = language.all.of([language.all.schema(graph.root)])
  const isPossible = possibleParts(graph.root, options)
  return { language, root: graph.root, value, nodes, isPossible }
}

/** Returns the spelling that a schema asks for: that of the options, if it does not say. */
function guidanceIn(
  schema: JsonNode,
  { policy, parts, limits }: Omit<JsonOptions, "key" | "unsatisfiable">,
): Guidance {
  const value = schema.kind === "object" ? schema.members.get(GuidanceKey) : undefined
  if (value === undefined) return { policy, excludes: [] }
  return partOf(parts, "patterns", `/${GuidanceKey}`).guidance(value, policy, limits)
}

/**
 * Compiles a schema. `schema` is a JSON text (which keeps the spelling of numbers and the key
 * order) or a value.
 */
export function compileJsonSchema(
  schema: unknown,
  options: JsonOptions,
): { grammar: Grammar; report: Report } {
  const { limits, policy } = options
  const open = openSchema(schema, options)
  const { language, root, value } = open
  const isChecked = options.isChecked === true
  const isSatisfiable = isChecked || language.isProductive(value)
  if (!isSatisfiable) checkIdleMost(schema, language.reader, options)
  const reason = isSatisfiable ? undefined : whyEmpty(language, root, open.isPossible)
  if (reason !== undefined && options.unsatisfiable === "error") {
    throw new GrammarError(
      "unsatisfiable",
      reason.path,
      `${reason.message}. Remove the keywords that contradict each other`,
    )
  }
  const title = `JSON Schema, ${policy.order} order, ${policy.whitespace} white space`
  if (isSatisfiable && !isChecked) {
    language.checkKeys(value)
    checkReach(open)
  }
  const start = isSatisfiable ? startSteps(language, value) : []
  return {
    grammar: new Grammar(start, {
      ...{ key: options.key, title, limits },
      expect: (sample, lexeme) => expectRoot(language, value, { sample, lexeme }),
    }),
    report: makeReport(() => keywordNotes(language, root), reason),
  }
}

/** Returns a function that decides whether schemas of the dialect of `root` have a common value. */
function possibleParts(root: SchemaNode, options: Omit<JsonOptions, "key" | "unsatisfiable">): IsPossible {
  const said = root.value.kind === "object" ? root.value.members.get("$schema") : undefined
  const dialect = said?.kind === "string" ? `"$schema":${JSON.stringify(said.value)},` : ""
  return (schemas) => {
    try {
      const { language, value } = openSchema(`{${dialect}"allOf":[${schemas.join(",")}]}`, options)
      return language.isProductive(value)
    } catch (error) {
      // A bound that these keywords are above says nothing about them.
      if (!(error instanceof GrammarError) || error instanceof TimeError) throw error
      return true
    }
  }
}

/** Returns the notes on every keyword that was read. */
export function keywordNotes({ reader }: JsonLanguage, root: SchemaNode): KeywordNote[] {
  return reader.notes(reader.closesObjects ? closingSchemas(reader, root) : new Set())
}

function readSchema(schema: unknown, limits: Limits): JsonNode {
  if (typeof schema !== "string") return fromValue(schema, { maxDepth: limits.schemaDepth })
  checkLimit(limits, "schemaBytes", schema.length)
  return readJson(schema, { maxDepth: limits.schemaDepth })
}

/**
 * Reads every keyword below `root`, so that unsupported ones are refused now. Returns all reachable
 * schemas.
 */
function readReachable(reader: KeywordReader, root: SchemaNode, limits: Limits): readonly SchemaNode[] {
  const queue = [root]
  /** By node id. */
  const isQueued: boolean[] = []
  isQueued[root.id] = true
  const add = (node: SchemaNode) => {
    if (isQueued[node.id]) return
    isQueued[node.id] = true
    checkLimit(limits, "nodes", queue.push(node), node.pointer)
  }
  const read = (node: SchemaNode) => {
    checkTime()
    const keywords = reader.of(node)
    for (const child of keywords.below) add(child)
    if (keywords.unevaluatedProperties !== null || keywords.unevaluatedItems !== null) {
      for (const child of inPlaceSchemas(reader, node)) {
        reader.of(child).isObserved = true
        add(child)
      }
    }
  }
  for (const node of queue) read(node)
  const { length } = queue
  if (reader.closesObjects) for (const child of countBranches(reader, queue)) add(child)
  // An `if` without `then` and `else` is read only if it counts for `openObjects`.
  for (let i = length; i < queue.length; i++) read(queue[i])
  return queue
}

/**
 * Throws `limit` if a schema is unsatisfiable only because an upper bound too large for any text
 * was ignored: its negation asks for values that are longer than any text.
 */
function checkIdleMost(schema: unknown, { idleMost }: KeywordReader, options: JsonOptions): void {
  if (idleMost === null) return
  const { language, value } = openSchema(schema, { ...options, keepsMost: true })
  if (!language.isProductive(value)) return
  throw limitError(fixedBounds, "witnessUnits.above", MaxCount, idleMost.path, { least: idleMost.value })
}

/**
 * Throws `unsupported` where a value that is written with other separators would be read again as
 * JSON.
 */
function checkSeparators(reader: KeywordReader, nodes: readonly SchemaNode[], isArguments: boolean): void {
  if (isArguments) {
    const message = "arguments are read as JSON: write separators that are a comma and a colon"
    throw new GrammarError("unsupported", `/${GuidanceKey}`, message)
  }
  const compared = nodes.find((node) => reader.of(node).unique)
  if (compared === undefined) return
  const message =
    "items are compared as JSON: leave this out, or write separators that are a comma and a colon"
  throw new GrammarError("unsupported", `${compared.pointer}/uniqueItems`, message)
}

/**
 * Throws `limit` if an object has more alternatives than may be open. Otherwise a text would end in
 * that error only when it comes to the object.
 */
function checkAlternatives(language: JsonLanguage, node: SchemaNode): void {
  const { any, one } = language.reader.of(node)
  const isLong = (nodes: readonly SchemaNode[]) => nodes.length > language.limits.threads
  if (any.some(isLong) || one.some(isLong))
    language.checkObjects(language.all.of([language.all.schema(node)]))
}

function startSteps(language: JsonLanguage, value: number): readonly Step[] {
  const { outer, written } = language.tokens
  if (written !== null) return separatedSteps(language.valueSteps(value), written)
  if (outer === null) return language.valueSteps(value)
  return [{ lexeme: outer, frames: [new OuterFrame(language, value, outer)] }]
}

/** White space around the whole text, if the policy allows any. */
class OuterFrame extends Frame {
  private readonly language: JsonLanguage
  private readonly value: number
  private readonly end: Frame

  constructor(language: JsonLanguage, value: number, outer: number) {
    super()
    this.language = language
    this.value = value
    this.end = new EndFrame(outer, (sample, lexeme) => expectRoot(language, value, { sample, lexeme }))
  }

  follow(): readonly Step[] {
    return this.language
      .valueSteps(this.value)
      .map(({ lexeme, frames }) => ({ lexeme, frames: [this.end, ...frames] }))
  }

  finish(): string {
    return this.language.witness(this.value)
  }
}

class EndFrame extends Frame {
  private readonly outer: number
  private readonly value: NonNullable<Grammar["expect"]>

  /** `value` describes the value in front of the white space. */
  constructor(outer: number, value: NonNullable<Grammar["expect"]>) {
    super()
    this.outer = outer
    this.value = value
  }

  override expect(sample: string, lexeme: number): Expectation | null {
    return this.value(sample, lexeme)
  }

  follow(): readonly Step[] {
    return [{ lexeme: this.outer, frames: [] }]
  }

  finish(): string {
    return ""
  }
}
