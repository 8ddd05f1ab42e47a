/**
 * `compilerOf(frontEnds)`: makes a compiler from a table of front ends.
 *
 * This file imports none of them: `frontends/` has one file a front end, and `compile.ts` the table
 * with all of them. Here are the options, which all share, and how one front end compiles a
 * constraint inside another.
 */
import { withinTime } from "./deadline.ts"
import type { TokenNames } from "./ebnf/tokennames.ts"
import { defaultLimits, GrammarError, type Limits } from "./errors.ts"
import { Grammar } from "./grammar.ts"
import { checkInput, type GrammarInput } from "./input.ts"
import type { JsonOptions } from "./json/compile.ts"
import type { JsonParts } from "./json/parts.ts"
import { checkOptions, type Fields, OptionError } from "./options.ts"
import { type PolicyWord, policyWord } from "./policies.ts"
import { remembering } from "./remade.ts"
import type { KeywordNote, Report } from "./report.ts"

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

/** A compiled constraint: its grammar, and what became of each keyword. */
export interface Compiled {
  grammar: Grammar
  report: Report
}

/** What a constraint is compiled with. */
export interface Context {
  readonly frontEnds: FrontEnds
  readonly options: CompileOptions
  readonly limits: Limits
  /** Options for the JSON Schemas in the constraint. */
  readonly json: JsonOptions
  /** Makers of notes on the keywords of the schemas inside. */
  readonly notes: (() => KeywordNote[])[]
}

/**
 * The table of what a compiler can read: a function for each kind of constraint, and the parts of
 * JSON Schema that may be left out.
 */
export type FrontEnds = {
  readonly [Kind in GrammarInput["kind"]]?: (
    input: Extract<GrammarInput, { kind: Kind }>,
    context: Context,
  ) => Compiled
} & JsonParts

/** A part of a table: the front ends with these names. */
export type FrontEnd<Name extends keyof FrontEnds> = Required<Pick<FrontEnds, Name>>

/** The constraints that a compiler with this table takes. */
export type InputOf<Table> = Extract<GrammarInput, { kind: keyof Table }>

/**
 * Returns the compiler of the constraints that a table of front ends reads:
 * `compilerOf({ ...json, ...regex })`. A program that names few front ends loads few. A constraint
 * that needs another one is refused, with a GrammarError of kind `unsupported` that names it. The
 * compiler throws as `compile` does.
 */
export function compilerOf<Table extends FrontEnds>(
  frontEnds: Table,
): (input: InputOf<Table>, options?: CompileOptions) => Compiled {
  return (input, options = {}) => {
    checkOptions(options, compileFields)
    const limits = readLimits(options.limits)
    const compileHere = () => compileWithin(input, options, { frontEnds, limits })
    return remembering(() => withinTime(limits.compileMs, compileHere))
  }
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

type Shared = Pick<Context, "frontEnds" | "limits">

function compileWithin(input: GrammarInput, options: CompileOptions, shared: Shared): Compiled {
  checkInput(input)
  const context = { ...shared, options, json: jsonOptions(input, options, shared), notes: [] }
  return frontEndOf(input, context)(input as never, context)
}

/** Returns the front end of a constraint. Throws `unsupported` if the table has none. */
function frontEndOf(
  { kind }: GrammarInput,
  { frontEnds }: Shared,
): (input: never, context: Context) => Compiled {
  const compile = frontEnds[kind]
  if (compile !== undefined) return compile
  const message = `this compiler has no front end of kind ${kind}. Add it to the table of compilerOf`
  throw new GrammarError("unsupported", "", message)
}

/** Compiles a constraint inside another one. Its errors are errors of the whole. */
export function compileInner(input: GrammarInput, { options, json, ...shared }: Context): Compiled {
  return compileWithin(input, innerOptions(options, json), shared)
}

function innerOptions(options: CompileOptions, { documents }: JsonOptions): CompileOptions {
  return { ...options, documents, unsatisfiable: "error" }
}

/**
 * Compiles a JSON Schema inside another constraint. `isChecked`: whether an equal one was compiled
 * before.
 */
export function compileInnerSchema(schema: string, isChecked: boolean, context: Context): Grammar {
  const input = { kind: "json", schema } as const
  const options = innerOptions(context.options, context.json)
  const json = { ...jsonOptions(input, options, context), isChecked }
  return frontEndOf(input, context)(input as never, { ...context, options, json }).grammar
}

/** Returns the options for all JSON in a constraint, from the presets and `options`. */
function jsonOptions(
  input: GrammarInput,
  options: CompileOptions,
  { frontEnds, limits }: Pick<Context, "frontEnds" | "limits">,
): JsonOptions {
  const preset = options.surface === "conform" ? conform : generate
  return {
    policy: {
      order: policyWord("order", options.order) ?? preset.order,
      whitespace: policyWord("whitespace", options.whitespace) ?? preset.whitespace,
      escapes: policyWord("escapes", options.escapes) ?? preset.escapes,
      numbers: policyWord("numbers", options.numbers) ?? preset.numbers,
    },
    limits,
    parts: frontEnds,
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
