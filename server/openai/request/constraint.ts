/**
 * Reads all the ways in which a client asks for structured output into one constraint.
 *
 * OpenAI has `response_format`, vLLM `structured_outputs` and formerly `guided_*`, llama.cpp and
 * SGLang top-level keys. Each of them is read into the same type `Constraint`. Some clients send
 * one constraint under two names. Two different constraints are refused by name, since applying one
 * would ignore the other. Inside a constraint object an unknown key is refused too, because it
 * might have been meant to constrain.
 *
 * Schemas and structural tags are taken from the text of the body, not from its parsed view (see
 * body.ts).
 */
import { type GrammarInput, readJson, toText } from "../../../runtime/index.ts"
import { invalid, missing, Refusal } from "../../errors.ts"
import type { RequestBody } from "../../http/body.ts"
import { quote } from "../../http/quote.ts"
import { type Policies, policyKeys, readPolicies } from "./policies.ts"
import { refuseHalfPairs } from "./surrogates.ts"
import { isFields } from "./wire.ts"

export interface Constraint {
  /**
   * The path of the constraint in the request, for error messages:
   * `response_format.json_schema.schema`.
   */
  field: string
  input: GrammarInput
  isSchema: boolean
}

export interface ConstraintRequest {
  constraint: Constraint | null
  policies: Policies
}

/**
 * Top-level keys that constrain. Keys of the request that resemble one of them are refused as
 * misspelt.
 */
export const constraintKeys: ReadonlySet<string> = new Set([
  ...["response_format", "structured_outputs", "json_schema", "grammar", "regex", "ebnf", "structural_tag"],
  ...["guided_json", "guided_regex", "guided_choice", "guided_grammar", "guided_json_object"],
  ...["guided_whitespace_pattern", "guided_decoding_backend"],
  ...["tools", "tool_choice", "parallel_tool_calls", "tokenrail"],
])

/**
 * Returns the request's constraint and policies. `formatPaths` are the paths of the answer format
 * in requests of the endpoint. Throws `Refusal`. The grammar is compiled elsewhere.
 */
export function readConstraint(
  body: RequestBody,
  ...formatPaths: readonly (readonly string[])[]
): ConstraintRequest {
  const formats = (formatPaths.length > 0 ? formatPaths : [["response_format"]]).flatMap((path) =>
    readFormat(body, path),
  )
  return onlyConstraint(body, formats)
}

/**
 * Returns the constraint and the policies of a request whose `format` is the schema itself, or
 * "json". Throws `Refusal`.
 */
export function readBareFormat(body: RequestBody): ConstraintRequest {
  const { format } = body.value
  const isNone = format === undefined || format === null || format === ""
  if (!isNone && format !== "json" && !isFields(format)) {
    throw invalid("format", `: ${quote(format)} is not "json" or a JSON Schema, which is an object`)
  }
  if (isNone) return onlyConstraint(body, [])
  return onlyConstraint(body, [format === "json" ? anyObject("format") : schemaAt(body, ["format"])])
}

/** Adds the constraints that every endpoint knows. Throws `Refusal` if two of them differ. */
function onlyConstraint(body: RequestBody, formats: readonly Constraint[]): ConstraintRequest {
  const found = [...formats, ...readStructuredOutputs(body), ...readAliases(body)]
  const [first, ...others] = found
  const other = others.find(({ input }) => canonical(input) !== canonical(first.input))
  if (other !== undefined) throw differ(first.field, other.field)
  return { constraint: first ?? null, policies: readPolicies(body.value) }
}

/** Returns the refusal of two different constraints. */
function differ(first: string, second: string): Refusal {
  const message = `${first} and ${second} both constrain the text, and differ`
  return new Refusal("invalid_value", message, { param: second, hint: "Send one of them" })
}

/** Returns equal keys for equal constraints: JSON without white space, and choices in any order. */
function canonical(input: GrammarInput): string {
  switch (input.kind) {
    case "json":
      return `json ${canonicalJson(input.schema as string)}`
    case "tag":
      return `tag ${canonicalJson(input.format as string)}`
    case "choice":
      return `choice ${JSON.stringify([...new Set(input.options)].sort())}`
    default:
      return JSON.stringify(input)
  }
}

function canonicalJson(text: string): string {
  try {
    return toText(readJson(text))
  } catch {
    // The compiler reports the error.
    return text
  }
}

// ---- spellings

function readFormat(body: RequestBody, path: readonly string[]): Constraint[] {
  const format = objectAt(body, path)
  if (format === null) return []
  const field = path.join(".")
  switch (format.type) {
    case "text":
      onlyKeys(format, field, ["type"])
      return []
    case "json_object":
      onlyKeys(format, field, ["type", "schema"])
      return format.schema == null ? [anyObject(field)] : [schemaAt(body, [...path, "schema"])]
    case "json_schema": {
      if (format.json_schema === undefined) {
        onlyKeys(format, field, ["type", ...schemaKeys])
        return [strictly(schemaAt(body, [...path, "schema"]), format.strict)]
      }
      onlyKeys(format, field, ["type", "json_schema"])
      const inner = objectAt(body, [...path, "json_schema"])
      if (inner === null) throw missing(`${field}.json_schema`)
      onlyKeys(inner, `${field}.json_schema`, schemaKeys)
      return [strictly(schemaAt(body, [...path, "json_schema", "schema"]), inner.strict)]
    }
    case "grammar":
      onlyKeys(format, field, ["type", "grammar"])
      return [readKind(body, "grammar", [...path, "grammar"])]
    case "regex": {
      const key = format.pattern === undefined ? "regex" : "pattern"
      onlyKeys(format, field, ["type", key])
      return [readKind(body, "regex", [...path, key])]
    }
    case "structural_tag":
      return [readKind(body, "structural_tag", path)]
    default:
      throw invalid(
        `${field}.type`,
        `is ${format.type === undefined ? "missing" : quote(format.type)}, it must be text, json_object, json_schema, grammar, regex or structural_tag`,
        "For a choice use structured_outputs",
      )
  }
}

const schemaKeys = ["name", "description", "schema", "strict"]
const structuredKinds = ["json", "regex", "choice", "grammar", "json_object", "structural_tag"]

function readStructuredOutputs(body: RequestBody): Constraint[] {
  const name = "structured_outputs"
  const outputs = objectAt(body, [name])
  if (outputs === null) return []
  onlyKeys(outputs, name, [...structuredKinds, ...policyKeys])
  // `json_object: false` asks for no constraint; for the other kinds, false is a schema or an
  // error.
  const given = structuredKinds.filter(
    (kind) => outputs[kind] != null && (kind !== "json_object" || outputs[kind] !== false),
  )
  if (given.length !== 1) {
    throw invalid(
      name,
      `holds ${given.join(" and ") || "no constraint"}`,
      `Give exactly one of ${structuredKinds.join(", ")}`,
    )
  }
  return [readKind(body, given[0], [name, given[0]])]
}

function readAliases(body: RequestBody): Constraint[] {
  const aliases: Record<string, string> = {
    guided_json: "json",
    guided_regex: "regex",
    guided_choice: "choice",
    guided_grammar: "grammar",
    guided_json_object: "json_object",
    json_schema: "json",
    grammar: "grammar",
    regex: "regex",
    ebnf: "grammar",
    structural_tag: "structural_tag",
  }
  // llama.cpp treats an empty grammar as none; false is a valid schema.
  const isGiven = (key: string, value: unknown) =>
    value != null && (value !== false || aliases[key] === "json") && !(key === "grammar" && value === "")
  return Object.entries(aliases)
    .filter(([key]) => isGiven(key, body.value[key]))
    .map(([key, kind]) => readKind(body, kind, [key]))
}

function readKind(body: RequestBody, kind: string, path: readonly string[]): Constraint {
  const field = path.join(".")
  const value = valueAt(body.value, path)
  switch (kind) {
    case "json":
      return schemaAt(body, path)
    case "json_object":
      return anyObject(field)
    case "regex":
      return { field, isSchema: false, input: { kind: "regex", pattern: textAt(value, field) } }
    case "grammar":
      return { field, isSchema: false, input: { kind: "grammar", text: textAt(value, field) } }
    case "structural_tag":
      if (typeof value === "string")
        return { field, isSchema: false, input: { kind: "tag", format: textAt(value, field) } }
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        throw invalid(field, "must be a structural tag: an object or its JSON text")
      }
      return { field, isSchema: false, input: { kind: "tag", format: body.text(path)! } }
    case "choice": {
      if (!isTexts(value)) throw invalid(field, "must be a list of at least one string")
      refuseHalfPairs(value, field)
      return { field, isSchema: false, input: { kind: "choice", options: value } }
    }
    default:
      throw new Error(`internal: a constraint of kind ${kind}`)
  }
}

// ---- schemas

function schemaAt(body: RequestBody, path: readonly string[]): Constraint {
  const field = path.join(".")
  const value = valueAt(body.value, path)
  if (value == null) throw missing(field)
  if (typeof value === "string") return { field, isSchema: true, input: { kind: "json", schema: value } }
  if (typeof value !== "boolean" && (typeof value !== "object" || Array.isArray(value))) {
    throw invalid(field, "must be a JSON Schema: an object, a boolean or their JSON text")
  }
  return { field, isSchema: true, input: { kind: "json", schema: body.text(path)! } }
}

/** Applies `strict: true` to a schema: objects allow only the names that they declare. */
function strictly(constraint: Constraint, strict: unknown): Constraint {
  const { input } = constraint
  return strict === true && input.kind === "json"
    ? { ...constraint, input: { ...input, strict } }
    : constraint
}

function anyObject(field: string): Constraint {
  return { field, isSchema: true, input: { kind: "json", schema: '{"type":"object"}' } }
}

// ---- small readers

function textAt(value: unknown, field: string): string {
  if (typeof value !== "string") throw invalid(field, "must be a string")
  refuseHalfPairs(value, field)
  return value
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === "string")
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<string, unknown> | null | undefined)?.[key], value)
}

/** Returns the object at `path`, or null if there is none or it is null. */
function objectAt(body: RequestBody, path: readonly string[]): Record<string, unknown> | null {
  const value = valueAt(body.value, path)
  if (value == null) return null
  if (typeof value !== "object" || Array.isArray(value)) throw invalid(path.join("."), "must be an object")
  return value as Record<string, unknown>
}

function onlyKeys(value: Record<string, unknown>, field: string, known: string[]): void {
  const unknown = Object.keys(value).find((key) => !known.includes(key))
  if (unknown === undefined) return
  throw new Refusal("unsupported_parameter", `unknown key ${quote(unknown)} in ${field}`, {
    param: `${field}.${unknown}`,
    hint: `Known keys: ${known.join(", ")}`,
  })
}
