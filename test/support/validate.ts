/**
 * An exact reference validator of JSON Schema, drafts 04 to 2020-12: the naive definition, against which the compiler
 * is tested. It shares the lossless reader and the text of the metaschemas with `grammar/`, and nothing else.
 *
 * Numbers are exact, patterns are the host's, formats are hand-written predicates. Clarity goes before speed.
 */
import { type JsonNode, readJson } from "../../grammar/json/read/reader.ts"
import { type DocumentOptions, Documents } from "./validate/documents.ts"
import { Evaluator, type FormatMode, type ValidationError } from "./validate/evaluate.ts"

export type { ValidationError } from "./validate/evaluate.ts"

export interface ValidateOptions extends DocumentOptions {
  /** Default assert. */
  formats?: FormatMode
}

const deep = { maxDepth: 10_000, duplicateKeys: "last" } as const

export class Validator {
  private readonly documents: Documents
  private readonly formats: FormatMode

  /** `schema` is a JSON text or a node. */
  constructor(schema: JsonNode | string, options: ValidateOptions = {}) {
    this.documents = new Documents(typeof schema === "string" ? readJson(schema) : schema, options)
    this.formats = options.formats ?? "assert"
  }

  /** Throws SyntaxError-like errors when a text is no JSON. */
  validate(instance: JsonNode | string): { valid: boolean; errors: ValidationError[] } {
    const value = typeof instance === "string" ? readJson(instance, deep) : instance
    const evaluator = new Evaluator(this.documents, this.formats)
    const valid = evaluator.run(value)
    return { valid, errors: evaluator.errors }
  }

  /** Whether a text is JSON without duplicate keys and lone surrogates, and valid: what a grammar should accept. */
  accepts(text: string): boolean {
    let value: JsonNode
    try {
      value = readJson(text, { maxDepth: 10_000 })
    } catch {
      return false
    }
    return !hasLoneSurrogate(value) && this.validate(value).valid
  }
}

export function validate(
  schema: JsonNode | string,
  instance: JsonNode | string,
  options: ValidateOptions = {},
): { valid: boolean; errors: ValidationError[] } {
  return new Validator(schema, options).validate(instance)
}

function hasLoneSurrogate(value: JsonNode): boolean {
  switch (value.kind) {
    case "string":
      return !value.value.isWellFormed()
    case "array":
      return value.items.some(hasLoneSurrogate)
    case "object":
      return (
        value.keys.some((key) => !key.isWellFormed()) || [...value.members.values()].some(hasLoneSurrogate)
      )
    default:
      return false
  }
}
