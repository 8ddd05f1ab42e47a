/**
 * Converts a caller's constraint options into one compile input, and a text into a typed value.
 *
 * A schema is a raw JSON Schema (object, boolean, or text, which keeps number spelling and key
 * order), an object with `~standard` (the Standard Schema and Standard JSON Schema interfaces,
 * standardschema.dev), or a pair of a JSON Schema and a validator, such as the schemas of the AI
 * SDK. Of a Standard Schema the *input* schema is used: the model writes what the validator reads,
 * and converting the *output* schema throws if there are transforms.
 */

import { compileFields } from "../grammar/compiler.ts"
import type { CompileOptions, Grammar, GrammarInput } from "../grammar/index.ts"
import { type Fields, OptionError } from "../grammar/options.ts"
import { isPolicyName, policyWord } from "../grammar/policies.ts"
import type { Stored } from "../mask/index.ts"
import { IncompleteError, RequestError, ValidationError, type ValidationIssue } from "./errors.ts"
import type { FromSchema } from "./fromschema.ts"

/** The members of a Standard Schema that are used here. */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate?: (value: unknown) => Validated<Output> | Promise<Validated<Output>>
    readonly jsonSchema?: { readonly input: (options: { target: string }) => unknown }
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined
  }
}

type Validated<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

/**
 * A JSON Schema with the validator of its values: a Standard Schema that has no JSON Schema of its
 * own, or a function that returns `{ value }` or `{ issues }`, or, as in the AI SDK, `{ success:
 * true, value }` or `{ success: false, error }`.
 */
export interface SchemaPair<Output = unknown> {
  readonly jsonSchema: unknown
  readonly validate?:
    | StandardSchema<Output>
    | ((value: unknown) => PairResult<Output> | PromiseLike<PairResult<Output>>)
    | undefined
}

type PairResult<Output> =
  | Validated<Output>
  | { readonly success: true; readonly value: Output }
  | { readonly success: false; readonly error: Error }

interface StandardIssue {
  readonly message: string
  readonly path?: readonly unknown[] | undefined
}

/** The forms of a constraint. An already compiled one yields texts, not values. */
export type ConstraintInput = GrammarInput | Grammar | Stored

/**
 * At most one constraint, and the compiler's policies for it. Control tokens are those of the
 * model.
 */
export interface ConstraintOptions extends Omit<CompileOptions, "surface" | "unsatisfiable" | "tokens"> {
  /**
   * A JSON Schema as value or text, any object with `~standard`, or a pair `{ jsonSchema, validate
   * }`.
   */
  schema?: unknown
  /** A regular expression that the whole output must match. */
  regex?: string | RegExp
  choice?: readonly string[]
  /**
   * A grammar in GBNF or Lark that the whole output must satisfy. Its first definition shows which
   * of the two it is.
   */
  grammar?: string
  /**
   * A structural tag as a value or its JSON text: free text, and the constraints that it switches
   * to.
   */
  structuralTag?: unknown
  /** If true, the output is any JSON object. */
  jsonObject?: boolean
  /** A compile input, or the result of `compile` or `deserialize`. */
  constraint?: ConstraintInput
}

/** The type of a validated value of a schema in any of its forms. */
export type SchemaValue<Schema> = unknown extends Schema
  ? unknown
  : Schema extends StandardSchema<infer Output> | SchemaPair<infer Output>
    ? Output
    : FromSchema<Schema>

/** The type of a value of a schema as it is written, before a validator changes it. */
export type WrittenValue<Schema> = unknown extends Schema
  ? unknown
  : Schema extends { readonly "~standard": { readonly types?: { readonly input: infer Input } | undefined } }
    ? Input
    : Schema extends SchemaPair
      ? unknown
      : FromSchema<Schema>

/** The type of `value` that a generation with these options yields. */
export type ValueOf<Options> = Options extends { readonly schema: infer Schema }
  ? SchemaValue<Schema>
  : TextValueOf<Options>

/** The type of the whole value that a stream with these options writes. */
export type WrittenOf<Options> = Options extends { readonly schema: infer Schema }
  ? WrittenValue<Schema>
  : TextValueOf<Options>

type TextValueOf<Options> = Options extends { readonly choice: readonly (infer Option)[] }
  ? Option
  : Options extends { readonly jsonObject: true }
    ? Record<string, unknown>
    : Options extends { readonly constraint: unknown }
      ? unknown
      : Options extends
            | { readonly regex: string | RegExp }
            | { readonly grammar: string }
            | { readonly structuralTag: unknown }
        ? string
        : undefined

/**
 * Makes the compiler reject `Options` if it has a field that `Known` does not have: a type
 * parameter would otherwise accept such fields.
 */
export type NoMore<Options, Known> = { readonly [Name in Exclude<keyof Options, keyof Known>]: never }

export interface Constraint {
  readonly input: ConstraintInput
  readonly policies: CompileOptions
  /** The option that the constraint came from. */
  readonly title: string
  /** Whether the text is a JSON text. */
  readonly isJson: boolean
  /** Returns the value of a complete text. */
  parse(text: string): unknown
  /** Returns the value after the schema's own validator. Throws ValidationError. */
  validate(text: string): Promise<unknown>
}

const { surface: _, unsatisfiable: __, tokens: ___, ...policyFields } = compileFields

/** Names of the compiler's options that apply to a constraint. */
const policyNames = Object.keys(policyFields) as readonly (keyof typeof policyFields)[]

const constraintKinds = {
  schema: "any",
  regex: "any",
  choice: "texts",
  grammar: "text",
  structuralTag: "any",
  jsonObject: "boolean",
  constraint: "object",
} as const

export const constraintFields = {
  ...policyFields,
  ...constraintKinds,
} as const satisfies Fields<ConstraintOptions>

const constraintNames = Object.keys(constraintKinds) as readonly (keyof typeof constraintKinds)[]

function isGiven(name: keyof typeof constraintKinds, options: ConstraintOptions): boolean {
  return name in options && !(name === "jsonObject" && options[name] === false)
}

/** Returns `options` over `defaults`; a constraint of the options replaces that of the defaults. */
export function withDefaults<Options extends ConstraintOptions>(
  defaults: Options,
  options: Options,
): Options {
  const names: readonly string[] = constraintNames
  if (!constraintNames.some((name) => isGiven(name, options))) return { ...defaults, ...options }
  const others = Object.entries(defaults).filter(([name]) => !names.includes(name))
  return { ...Object.fromEntries(others), ...options }
}

/**
 * Returns the one constraint of these options, or null. Throws RequestError if there are two;
 * OptionError for one that is present but undefined or of another type, and for an unknown policy;
 * TypeError if a schema has no converter.
 */
export function readConstraint(options: ConstraintOptions): Constraint | null {
  const given = constraintNames.filter((name) => {
    const value = options[name]
    // An undefined option may come from a misspelled import: ignoring it would remove the
    // constraint.
    if (name in options && (value === undefined || value === null))
      throw new OptionError(name, `it is ${value}. Give a constraint, or leave ${name} out for free text`)
    return isGiven(name, options)
  })
  if (given.length > 1) {
    const names = given.join(" and ")
    throw new RequestError("invalid_value", `${names}: at most one constraint a request; leave one out`)
  }
  const policies = readPolicies(options)
  if (given.length === 0) return null
  const asText = (text: string): unknown => text
  const make = (
    input: ConstraintInput,
    parse: (text: string) => unknown,
    validate = async (text: string) => parse(text),
  ): Constraint => ({ input, policies, title: given[0], isJson: parse === parseJson, parse, validate })
  if (options.regex !== undefined) {
    const { regex } = options
    if (typeof regex !== "string" && !isRegExp(regex))
      throw new OptionError("regex", "it is neither a string nor a RegExp")
    if (typeof regex === "string") return make({ kind: "regex", pattern: regex }, asText)
    return make({ kind: "regex", pattern: regex.source, flags: regex.flags }, asText)
  }
  if (options.choice) return make({ kind: "choice", options: [...options.choice] }, asText)
  if (typeof options.grammar === "string") return make({ kind: "grammar", text: options.grammar }, asText)
  if (options.structuralTag != null) return make({ kind: "tag", format: options.structuralTag }, asText)
  if (options.jsonObject) return make({ kind: "json", schema: { type: "object" } }, parseJson)
  if (options.constraint) {
    const isJson = "kind" in options.constraint && options.constraint.kind === "json"
    return make(options.constraint, isJson ? parseJson : asText)
  }
  const { schema } = options
  if (isPair(schema)) {
    return make({ kind: "json", schema: pairedSchema(schema) }, parseJson, (text) =>
      validatePair(schema, text),
    )
  }
  if (!isStandard(schema)) return make({ kind: "json", schema }, parseJson)
  const standard = schema["~standard"]
  if (!standard.jsonSchema) throw noConverter(standard.vendor)
  const input = standard.jsonSchema.input({ target: "draft-2020-12" })
  return make({ kind: "json", schema: input }, parseJson, (text) => validateStandard(schema, text))
}

/** Functions that make the JSON Schema of a library's schemas, by the library's name. */
const converters: Readonly<Record<string, string>> = {
  zod: "zodToJsonSchema(schema) of zod-to-json-schema, or import Zod 4, whose schemas convert themselves",
  valibot: "toJsonSchema(schema) of @valibot/to-json-schema, or toStandardJsonSchema(schema) alone",
}

function noConverter(vendor: string): TypeError {
  const converter = converters[vendor] ?? "the library's converter to JSON Schema"
  const way = "Pass { jsonSchema: <JSON Schema>, validate: schema }, with the JSON Schema from"
  return new TypeError(`schema: the ${vendor} schema has no JSON Schema of its own. ${way} ${converter}`)
}

/** Returns the JSON Schema of a pair. Throws TypeError for one that is not there yet. */
function pairedSchema({ jsonSchema }: SchemaPair): unknown {
  if (typeof jsonSchema !== "object" || jsonSchema === null || !("then" in jsonSchema)) return jsonSchema
  throw new TypeError("schema.jsonSchema: it is a promise. Await it, and pass its value")
}

/** Returns the compiler's options for any constraint. Throws OptionError for an unknown word. */
export function readPolicies(options: CompileOptions): CompileOptions {
  const policies: CompileOptions = {}
  for (const name of policyNames) {
    const value = options[name]
    if (value === undefined || value === null) continue
    Object.assign(policies, { [name]: isPolicyName(name) ? policyWord(name, value) : value })
  }
  return policies
}

/** Throws IncompleteError with the text if an answer does not complete its constraint. */
export function checkComplete(text: string, finishReason: string, what: string): void {
  if (finishReason === "stop") return
  throw new IncompleteError(
    text,
    finishReason,
    `the answer ended by ${finishReason} before its ${what} was complete: raise maxTokens`,
  )
}

async function validateStandard(schema: StandardSchema, text: string): Promise<unknown> {
  const value = parseJson(text)
  const { validate } = schema["~standard"]
  if (!validate) return value
  const result = await validate(value)
  if (result.issues) throw new ValidationError(text, value, result.issues.map(plainIssue))
  return result.value
}

async function validatePair({ validate }: SchemaPair, text: string): Promise<unknown> {
  if (isStandard(validate)) return validateStandard(validate, text)
  const value = parseJson(text)
  if (validate === undefined) return value
  const result = await validate(value)
  if (typeof result === "object" && result !== null) {
    if ("success" in result && !result.success)
      throw new ValidationError(text, value, [{ message: result.error.message }])
    if ("issues" in result && result.issues)
      throw new ValidationError(text, value, result.issues.map(plainIssue))
    if ("value" in result) return result.value
  }
  throw new TypeError("schema.validate: it returned neither { value } nor { issues }")
}

function plainIssue({ message, path }: StandardIssue): ValidationIssue {
  // ArkType's paths are a class of their own, which `map` would keep.
  const keys =
    path &&
    Array.from(path, (part) => (typeof part === "object" && part !== null && "key" in part ? part.key : part))
  return keys ? { message, path: keys } : { message }
}

/** Returns whether it is a RegExp, possibly one of another realm. */
function isRegExp(value: unknown): value is RegExp {
  return Object.prototype.toString.call(value) === "[object RegExp]"
}

function isStandard(schema: unknown): schema is StandardSchema {
  return (
    (typeof schema === "object" || typeof schema === "function") && schema !== null && "~standard" in schema
  )
}

/** Keys of a pair. The last one is a type of the AI SDK that is never set. */
const pairKeys: readonly string[] = ["jsonSchema", "validate", "_type"]

/** Returns whether it is a pair: a JSON Schema has keywords beside one of the name `jsonSchema`. */
function isPair(schema: unknown): schema is SchemaPair {
  if (typeof schema !== "object" || schema === null || !("jsonSchema" in schema)) return false
  return Object.keys(schema).every((key) => pairKeys.includes(key))
}

function parseJson(text: string): unknown {
  return JSON.parse(text)
}
