/**
 * A refusal: the error that a constraint is not honoured, with the bound that it is above. This is
 * the part of `errors.ts` that masks need; that file hands in the texts of all refusals.
 */
import type { refusals } from "./limits.ts"

/**
 * Why a constraint is refused: it is malformed, it needs what is not supported, nothing satisfies
 * it, or it is above a bound.
 */
export type GrammarErrorKind = "syntax" | "unsupported" | "unsatisfiable" | "limit"

/**
 * A refused constraint. `path` is a JSON pointer in schemas, `line L, column C` in texts, an offset
 * in a bare regular expression.
 */
export class GrammarError extends Error {
  readonly kind: GrammarErrorKind
  readonly path: string

  constructor(kind: GrammarErrorKind, path: string, message: string) {
    super(path === "" ? message : `${path}: ${message}`)
    this.name = "GrammarError"
    this.kind = kind
    this.path = path
  }
}

/**
 * Returns `error`, or the same refusal at `path` if it has no path, for a caller to throw.
 * Expressions and lexemes are shared by all constraints and know no paths. The message follows the
 * path. A path that has to be searched for is a function.
 */
export function placed(error: unknown, path: string | (() => string)): unknown {
  // Other classes are returned as they are: the place at which a compilation ran out of time says
  // nothing about the schema.
  const isBare = error instanceof GrammarError && error.constructor === GrammarError && error.path === ""
  if (!isBare) return error
  const place = typeof path === "string" ? path : path()
  return place === "" ? error : new GrammarError(error.kind, place, error.message)
}

/** A refusal by a bound; it starts with the name of the bound. */
export type Refusal = keyof typeof refusals
type BoundOf<R extends Refusal> = R extends `${infer Name}.${string}` ? Name : R

/**
 * The object that has the bound: the limits of a constraint, the bounds without an option, or the
 * options of one function.
 */
type Bounds<R extends Refusal> = { readonly [Name in BoundOf<R>]: number }

/** Words that fill in a text of `refusals`; `limitError` adds the value and the bound. */
export type Words = Readonly<Record<string, string | number>>

/** Returns the message of a refusal by the bound `name`. */
type Wording = (refusal: Refusal, name: string, words: Words) => string

let wording: Wording = (refusal, _name, words) => `${refusal}: ${words.value} is above ${words.bound}`
let boundNames: Readonly<Record<string, string>> = {}

/** Sets how refusals by a bound are worded, and the bound of each: checks are too many to split. */
export function setWording(words: Wording, names: typeof boundNames): void {
  wording = words
  boundNames = names
}

/**
 * Returns the refusal of `value`, which is above the bound of `refusal`. Callers that compare by
 * themselves make no text unless they throw.
 */
export function limitError<R extends Refusal>(
  bounds: Bounds<R>,
  refusal: R,
  value: number,
  path = "",
  words: Words = {},
): GrammarError {
  const name = boundName(refusal)
  return new GrammarError("limit", path, wording(refusal, name, { ...words, value, bound: bounds[name] }))
}

/** Throws `limitError` if `value` is above its bound. */
export function checkLimit<R extends Refusal>(
  bounds: Bounds<R>,
  refusal: R,
  value: number,
  path = "",
  words: Words = {},
): void {
  if (value > bounds[boundName(refusal)]) throw limitError(bounds, refusal, value, path, words)
}

function boundName<R extends Refusal>(refusal: R): BoundOf<R> {
  return (boundNames[refusal] ?? refusal.split(".")[0]) as BoundOf<R>
}
