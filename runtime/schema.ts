/**
 * Converts a caller's constraint options into one compile input, and a text into a typed value.
 *
 * A schema is a raw JSON Schema (object, boolean, or text, which keeps number spelling and key
 * order) or an object with `~standard` (the Standard Schema and Standard JSON Schema interfaces,
 * standardschema.dev). Of the latter the *input* schema is used: the model writes what the
 * validator reads, and converting the *output* schema throws if there are transforms.
 */

import { compileFields } from "../grammar/compiler.ts"
import type { CompileOptions, Grammar, GrammarInput } from "../grammar/index.ts"
import { type Fields, OptionError } from "../grammar/options.ts"
import { isPolicyName, policyWord } from "../grammar/policies.ts"
import type { Stored } from "../mask/index.ts"
import { IncompleteError, RequestError, ValidationError, type ValidationIssue } from "./errors.ts"

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
  /** A JSON Schema as value or text, or any object with `~standard`. */
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

/** The type of `value` that a generation with these options yields. */
export type ValueOf<Options> = Options extends { schema: StandardSchema<infer Output> }
  ? Output
  : Options extends { choice: readonly (infer Option)[] }
    ? Option
    : Options extends { schema: unknown } | { jsonObject: true } | { constraint: unknown }
      ? unknown
      : Options extends { regex: string | RegExp } | { grammar: string } | { structuralTag: unknown }
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

/**
 * Returns the one constraint of these options, or null. Throws RequestError if there are two;
 * OptionError for one that is present but undefined or of another type, and for an unknown policy;
 * TypeError if a schema has no converter.
 */
export function readConstraint(options: ConstraintOptions): Constraint | null {
  const given = (Object.keys(constraintKinds) as (keyof typeof constraintKinds)[]).filter((name) => {
    const value = options[name]
    // An undefined option may come from a misspelled import: ignoring it would remove the
    // constraint.
    if (name in options && (value === undefined || value === null))
      throw new OptionError(name, `it is ${value}. Give a constraint, or leave ${name} out for free text`)
    return name in options && !(name === "jsonObject" && value === false)
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
  if (!isStandard(schema)) return make({ kind: "json", schema }, parseJson)
  const standard = schema["~standard"]
  if (!standard.jsonSchema) {
    throw new TypeError(
      `schema: the ${standard.vendor} schema cannot be written as JSON Schema; pass { "~standard": { ...schema["~standard"], jsonSchema: { input: () => <JSON Schema> } } }, made by the library's JSON Schema converter`,
    )
  }
  const input = standard.jsonSchema.input({ target: "draft-2020-12" })
  return make({ kind: "json", schema: input }, parseJson, (text) => validateStandard(schema, text))
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

function plainIssue({ message, path }: StandardIssue): ValidationIssue {
  const keys = path?.map((part) =>
    typeof part === "object" && part !== null && "key" in part ? part.key : part,
  )
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

function parseJson(text: string): unknown {
  return JSON.parse(text)
}
