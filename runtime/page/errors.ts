/**
 * Errors as plain data, for messages between a page and its worker, which drop classes. The classes
 * are those that callers of an engine may handle.
 */

import { OptionError } from "../../grammar/options.ts"
import { GrammarError } from "../../grammar/refusal.ts"
import { SamplingError } from "../../sampler/ranges.ts"
import { AbortError, IncompleteError, ModelError, RequestError, ValidationError } from "../errors.ts"

export { checkOptions, type Fields, OptionError } from "../../grammar/options.ts"
export { GrammarError } from "../../grammar/refusal.ts"
export { SamplingError } from "../../sampler/ranges.ts"

/** An error as plain data. */
export interface PackedError {
  /** The name of its class below; undefined for any other. */
  readonly name: string | undefined
  readonly message: string
  readonly fields: Readonly<Record<string, unknown>>
}

const classes: Readonly<Record<string, { readonly prototype: Error }>> = {
  ...{ AbortError, GrammarError, IncompleteError, ModelError, OptionError },
  ...{ RequestError, SamplingError, ValidationError, RangeError, TypeError },
}

export function packError(error: unknown): PackedError {
  if (!(error instanceof Error)) return { name: undefined, message: String(error), fields: {} }
  const { message } = error
  const name = Object.keys(classes).find((each) =>
    Object.prototype.isPrototypeOf.call(classes[each].prototype, error),
  )
  if (name === undefined) return { name, message, fields: { name: error.name } }
  return { name, message, fields: { ...error } }
}

export function unpackError({ name, message, fields }: PackedError): Error {
  const error = new Error(message)
  if (name !== undefined && Object.hasOwn(classes, name))
    Object.setPrototypeOf(error, classes[name].prototype)
  return Object.assign(error, fields)
}
