/** `compile(input, options)`: compiles any constraint to an immutable grammar and a report. */
import { withinTime } from "./deadline.ts"
import { gbnfRule } from "./ebnf/gbnf/gbnf.ts"
import { type LarkGrammar, larkRule } from "./ebnf/lark/lark.ts"
import { notationOf } from "./ebnf/notation/notation.ts"
import { type RuleId, Rules } from "./ebnf/rules.ts"
import { chunksOf, substringExpr } from "./ebnf/substring.ts"
import type { TokenNames } from "./ebnf/tokennames.ts"
import { checkLimit, defaultLimits, fixedBounds, GrammarError, type Limits } from "./errors.ts"
import { Grammar } from "./grammar.ts"
import { checkInput, type GrammarInput } from "./input.ts"
import { compileJsonSchema, type JsonOptions } from "./json/compile.ts"
import { compareNames } from "./json/read/value.ts"
import { exprLexeme, rawLexeme } from "./lexeme/raw.ts"
import { NoContent, namesContent } from "./lexeme/string/content.ts"
import { buildNames } from "./lexeme/string/names.ts"
import { Dead, PlainTag } from "./lexeme/table.ts"
import { checkOptions, type Fields, OptionError } from "./options.ts"
import { type PolicyWord, policyWord } from "./policies.ts"
import { type PlacedPattern, patternNotes } from "./regex/foreign.ts"
import { parseRegex } from "./regex/parse.ts"
import { inThisWorld, remembering } from "./remade.ts"
import { type KeywordNote, makeReport, type Report } from "./report.ts"
import { toolsRule } from "./tags/styles/turn.ts"
import { tagRule } from "./tags/tags.ts"

export type { GrammarInput } from "./input.ts"

/** How the texts of a constraint may be spelt, what is refused, and what a compilation may cost. */
export interface CompileOptions {
  /**
   * Presets of the spelling policies: what a model should write, or everything that RFC 8259
   * allows. Default generate.
   */
  surface?: "generate" | "conform"
  /**
   * Order of names. generate: the declared `properties` in their order, then all others in any.
   * conform: any order.
   */
  order?: PolicyWord<"order">
  /** White space between tokens: bounded (generate), any (conform), spaced, none. */
  whitespace?: PolicyWord<"whitespace">
  /** String escapes: canonical, as JSON.stringify writes (generate), or json, all (conform). */
  escapes?: PolicyWord<"escapes">
  /** Number spellings: plain decimals (generate), or json, all of them (conform). */
  numbers?: PolicyWord<"numbers">
  /** `format`: assert (default), annotate, or as the metaschema's vocabularies say. */
  formats?: PolicyWord<"formats">
  /**
   * Names of objects whose schema has `properties` and does not mention others (by
   * `additionalProperties`, `patternProperties`, `unevaluatedProperties` or `propertyNames`, also
   * in `allOf`, `$ref` and the branches in force): only the declared ones, or any. Default declared
   * for arguments of tools and for strict schemas, otherwise always.
   */
  openObjects?: PolicyWord<"openObjects">
  /** Whether keywords that no draft defines are ignored (default) or refused. */
  unknownKeywords?: "ignore" | "error"
  /** An unsatisfiable constraint: throw (generate), or compile to the empty language (conform). */
  unsatisfiable?: "error" | "empty"
  /** Draft of schemas without `$schema`. */
  dialect?: string
  /** Texts of other documents to which references may point, by URI. */
  documents?: Readonly<Record<string, string>>
  limits?: Partial<Limits>
  /**
   * The vocabulary whose control tokens grammars and tags may name. Each name then means that token
   * only. Without a vocabulary, its spelling is read as text.
   */
  tokens?: TokenNames
}

/** The fields of `CompileOptions`. The table of policies checks their words. */
export const compileFields = {
  surface: { words: ["generate", "conform"] },
  order: "any",
  whitespace: "any",
  escapes: "any",
  numbers: "any",
  formats: "any",
  openObjects: "any",
  unknownKeywords: { words: ["ignore", "error"] },
  unsatisfiable: { words: ["error", "empty"] },
  dialect: "text",
  documents: "textmap",
  limits: "object",
  tokens: "object",
} as const satisfies Fields<CompileOptions>

const generate = {
  order: "schema",
  whitespace: "bounded",
  escapes: "canonical",
  numbers: "plain",
  unsatisfiable: "error",
} as const
const conform = {
  order: "any",
  whitespace: "any",
  escapes: "json",
  numbers: "json",
  unsatisfiable: "empty",
} as const

/**
 * Compiles a constraint. Throws GrammarError: `syntax`, `unsupported`, `unsatisfiable` (unless
 * `"empty"` is set) or `limit`, each with its place and the way out.
 */
export function compile(
  input: GrammarInput,
  options: CompileOptions = {},
): { grammar: Grammar; report: Report } {
  checkOptions(options, compileFields)
  const limits = readLimits(options.limits)
  return remembering(() => withinTime(limits.compileMs, () => compileWithin(input, options, limits)))
}

const limitFields = Object.fromEntries(Object.keys(defaultLimits).map((name) => [name, "number"] as const))

/**
 * Returns the bounds of one constraint: the given ones, and the defaults of all others. Throws
 * OptionError for a name that is not a bound.
 */
export function readLimits(given: Partial<Limits> | undefined): Readonly<Limits> {
  if (given === undefined || given === null) return defaultLimits
  checkOptions(given, limitFields, { within: "limits" })
  const limits = { ...defaultLimits }
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue
    if (!(value >= 0))
      throw new OptionError(`limits.${name}`, `${value} is no bound: give a number from 0 on, or Infinity`)
    limits[name as keyof Limits] = value
  }
  return limits
}

function compileWithin(
  input: GrammarInput,
  options: CompileOptions,
  limits: Limits,
): { grammar: Grammar; report: Report } {
  checkInput(input)
  const json = jsonOptions(input, options, limits)
  if (input.kind === "json") return compileJsonSchema(input.schema, json)
  const compileNotation: (input: never, context: Context) => Compiled = compilers[input.kind]
  return compileNotation(input as never, { options, limits, json, notes: [] })
}

/** Returns the options for all JSON in a constraint, from the presets and `options`. */
function jsonOptions(input: GrammarInput, options: CompileOptions, limits: Limits): JsonOptions {
  const preset = options.surface === "conform" ? conform : generate
  return {
    policy: {
      order: policyWord("order", options.order) ?? preset.order,
      whitespace: policyWord("whitespace", options.whitespace) ?? preset.whitespace,
      escapes: policyWord("escapes", options.escapes) ?? preset.escapes,
      numbers: policyWord("numbers", options.numbers) ?? preset.numbers,
    },
    limits,
    formats: policyWord("formats", options.formats) ?? "assert",
    unknownKeywords: options.unknownKeywords ?? "ignore",
    openObjects:
      policyWord("openObjects", options.openObjects) ??
      (input.kind === "json" && input.strict ? "declared" : "always"),
    unsatisfiable: options.unsatisfiable ?? preset.unsatisfiable,
    dialect: options.dialect,
    ...(input.kind === "json" && input.source !== undefined && { source: input.source }),
    // This is a copy, since the schemas inside a grammar may be compiled again when a text reaches
    // them.
    documents: options.documents && { ...options.documents },
    key: () => constraintKey(input, options),
  }
}

interface Compiled {
  grammar: Grammar
  report: Report
}

/** What the compilers of all kinds but JSON Schema share. */
interface Context {
  readonly options: CompileOptions
  readonly limits: Limits
  /** Options for the schemas inside. */
  readonly json: JsonOptions
  /** Keyword notes of the schemas inside. */
  readonly notes: (() => KeywordNote[])[]
}

type Notation = Exclude<GrammarInput, { kind: "json" }>

const compilers: {
  readonly [Kind in Notation["kind"]]: (
    input: Extract<Notation, { kind: Kind }>,
    context: Context,
  ) => Compiled
} = {
  regex({ pattern, flags }, context) {
    const { limits, json } = context
    checkLimit(limits, "regexBytes", pattern.length)
    const { unsatisfiable } = json
    const expr = parseRegex(pattern, { flags, mode: "match", path: "", unsatisfiable, limits })
    return fromLexeme(exprLexeme(expr), context, {
      title: `regular expression ${pattern}`,
      emptiness: "no text matches the pattern",
      patterns: [{ path: "", pattern, flags }],
    })
  },

  choice({ options }, context) {
    checkLimit(context.limits, "choices", options.length)
    if (options.length === 0) throw new GrammarError("syntax", "", "a choice needs at least one option")
    return fromLexeme(rawLexeme(choiceContent(options)), context, {
      title: `choice of ${options.length}`,
      emptiness: "no option is a text",
    })
  },

  substring(input, context) {
    const chunks = "chunks" in input ? input.chunks : chunksOf(input.text, input.unit ?? "chars")
    checkTexts(
      chunks.map((chunk) => chunk.length),
      "a chunk",
    )
    const lexeme = exprLexeme(substringExpr(chunks, "", context.limits))
    return fromLexeme(lexeme, context, { title: `substring of ${chunks.length} chunks`, emptiness: "" })
  },

  gbnf({ text, root }, context) {
    return fromRules("GBNF grammar", context, (rules) => gbnfRule(text, rules, { root }))
  },

  lark({ text, start, named = {} }, context) {
    const others = Object.entries(named).map(([name, other]) => {
      return [name, typeof other === "string" ? other : compileInner(other, context).grammar] as const
    })
    return fromRules("Lark grammar", context, (rules) => {
      const schema = schemaCompiler(rules, context)
      return larkRule(text, rules, { start, named: Object.fromEntries(others), schema })
    })
  },

  grammar({ text, root }, context) {
    if (notationOf(text, context.limits) === "gbnf")
      return fromRules("GBNF grammar", context, (rules) => gbnfRule(text, rules, { root }))
    return fromRules("Lark grammar", context, (rules) =>
      larkRule(text, rules, { start: root, schema: schemaCompiler(rules, context) }),
    )
  },

  tag({ format }, context) {
    return fromRules("structural tag", context, (rules) => tagRule(format, rules, context.json))
  },

  tools(input, context) {
    const { options, json, notes } = context
    const lark = (text: string) => compileInner({ kind: "lark", text }, context).grammar
    const { response_format: format = null } = input
    const compileFormat = (nested: GrammarInput) => {
      const { grammar, report } = compileInner(nested, context)
      notes.push(() => report.keywords.map((note) => ({ ...note, path: `response_format${note.path}` })))
      return grammar
    }
    const answer =
      format instanceof Grammar
        ? inThisWorld(format)
        : format === null
          ? null
          : answerOf(() => compileFormat(format))
    return fromRules(`turn in the style ${input.style}`, context, (rules) => {
      const openObjects = options.openObjects ?? "declared"
      const note = (make: () => KeywordNote[]) => notes.push(make)
      return toolsRule({ ...input, response_format: answer }, rules, { ...json, openObjects, lark, note })
    })
  },
}

/** Compiles a constraint inside another one. Its errors are errors of the whole. */
function compileInner(input: GrammarInput, { options, limits, json }: Context): Compiled {
  const own = { ...options, documents: json.documents, unsatisfiable: "error" } as const
  return compileWithin(input, own, limits)
}

/** Returns the compiler of the JSON Schemas inside a grammar. */
function schemaCompiler(rules: Rules, { options, limits, json }: Context): (text: string) => Grammar {
  const own = { ...options, documents: json.documents, unsatisfiable: "error" } as const
  const compileText = (schema: string, isChecked: boolean) => {
    const schemaOptions = { ...jsonOptions({ kind: "json", schema }, own, limits), isChecked }
    return compileJsonSchema(schema, schemaOptions).grammar
  }
  return (text) => rules.schemas.of(text, compileText, (schema) => schema)
}

/**
 * Returns the grammar of an answer without calls. Marks its errors, to distinguish them from those
 * of the tools.
 */
function answerOf(compileFormat: () => Grammar): Grammar {
  try {
    return compileFormat()
  } catch (error) {
    // The place at which a compilation ran out of time says nothing about the answer.
    if (!(error instanceof GrammarError) || error.constructor !== GrammarError) throw error
    const message = error.path === "" ? error.message : error.message.slice(error.path.length + 2)
    throw new GrammarError(error.kind, `response_format${error.path}`, message)
  }
}

/** Kinds whose texts may name tokens. */
const namesTokens: ReadonlySet<GrammarInput["kind"]> = new Set(["gbnf", "lark", "grammar", "tag", "tools"])

/**
 * Returns the identity of (input, options): the key of the grammar that they compile to. A
 * vocabulary is represented by its hash.
 */
export function constraintKey(input: GrammarInput, options: CompileOptions): string {
  const said = (value: unknown) =>
    JSON.stringify(value, (_, part) => {
      if (part instanceof Grammar) return part.key
      return typeof part === "bigint" ? `${part}n` : part
    })
  const { tokens, ...others } = options
  // The text of a schema is included as it is: quoting takes longer than compiling many schemas.
  if (input.kind === "json" && typeof input.schema === "string") {
    const { strict, source } = input
    const own = { ...(strict && { strict }), ...(source !== undefined && { source }) }
    return `${said({ ...others, ...own })} ${input.schema}`
  }
  return said([input, namesTokens.has(input.kind) && tokens ? { ...others, tokens: tokens.hash } : others])
}

/** Compiles rules. `read` declares them and returns the rule with which a text begins. */
function fromRules(
  title: string,
  { options, limits, json, notes }: Context,
  read: (rules: Rules) => RuleId | LarkGrammar,
): Compiled {
  const rules = new Rules(limits, options.tokens)
  const identity = { key: json.key, title }
  const begin = read(rules)
  const grammar =
    typeof begin === "number"
      ? rules.grammar(begin, identity)
      : rules.grammar(begin.rule, { ...identity, isForced: !begin.noForcing })
  const allNotes = () => [...notes.flatMap((make) => make()), ...patternNotes(rules.patterns, limits)]
  const emptiness = "no text satisfies the grammar: each of its rules needs another that never ends"
  const wayOut = "Give one an alternative that ends"
  return compiled(grammar ?? new Grammar([], { ...identity, limits }), json, allNotes, {
    emptiness: grammar === null ? emptiness : null,
    wayOut,
  })
}

/**
 * Compiles a constraint that is one lexeme. `emptiness` says why no text satisfies it, if none
 * does.
 */
function fromLexeme(
  lexeme: number,
  { limits, json }: Context,
  text: { title: string; emptiness: string; patterns?: readonly PlacedPattern[] },
): Compiled {
  const { title, emptiness, patterns = [] } = text
  const isEmpty = lexeme === Dead
  const grammar = new Grammar(isEmpty ? [] : [{ lexeme, frames: [] }], { key: json.key, title, limits })
  return compiled(grammar, json, () => patternNotes(patterns, limits), {
    emptiness: isEmpty ? emptiness : null,
    wayOut: "Loosen it",
  })
}

/**
 * Returns the grammar with its report. Throws `unsatisfiable` if `emptiness` says that it has no
 * text.
 */
function compiled(
  grammar: Grammar,
  { unsatisfiable }: JsonOptions,
  notes: () => KeywordNote[],
  { emptiness, wayOut }: { emptiness: string | null; wayOut: string },
): Compiled {
  if (emptiness === null) return { grammar, report: makeReport(notes) }
  if (unsatisfiable === "error") throw new GrammarError("unsatisfiable", "", `${emptiness}. ${wayOut}`)
  return { grammar, report: makeReport(notes, { path: "", message: emptiness }) }
}

/** Throws `limit` if a text of one of these lengths in bytes could be begun but not be finished. */
function checkTexts(lengths: readonly number[], what: string): void {
  for (const length of lengths) checkLimit(fixedBounds, "shortestBytes.text", length, "", { what })
}

function choiceContent(options: readonly string[]): number {
  const encoder = new TextEncoder()
  const texts = new Set(options)
  for (const text of texts) {
    if (!text.isWellFormed())
      throw new GrammarError("syntax", "", `the option ${JSON.stringify(text)} holds half a surrogate pair`)
  }
  const entries = [...texts].map((text) => ({ bytes: encoder.encode(text), tag: PlainTag }))
  checkTexts(
    entries.map(({ bytes }) => bytes.length),
    "an option of the choice",
  )
  return namesContent(buildNames(entries.sort((a, b) => compareNames(a.bytes, b.bytes))), NoContent)
}
