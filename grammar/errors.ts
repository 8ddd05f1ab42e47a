/**
 * What can go wrong before the first token, and the bounds that keep it from going wrong later.
 *
 * A constraint is honoured exactly or refused. Every refusal is a `GrammarError` that says what is
 * wrong, where, the value, the bound and the way out. `limits.ts` has every bound and its text;
 * only `limitError` makes refusals by a bound. Time is not a count, so its refusal has its own
 * class (`deadline.ts`).
 */
import { defaultLimits, refusals } from "./limits.ts"

export { defaultLimits, fixedBounds, type Limits } from "./limits.ts"

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
type Refusal = keyof typeof refusals
type BoundOf<R extends Refusal> = R extends `${infer Name}.${string}` ? Name : R

/** The bound of each refusal. A look-up, since checks are too frequent to split names. */
const boundNames = Object.fromEntries(
  Object.keys(refusals).map((refusal) => [refusal, refusal.split(".")[0]]),
) as { readonly [R in Refusal]: BoundOf<R> }

/**
 * The object that has the bound: the limits of a constraint, the bounds without an option, or the
 * options of one function.
 */
type Bounds<R extends Refusal> = { readonly [Name in BoundOf<R>]: number }

/** Words that fill in a text of `refusals` beside the value and the bound. */
type Words = Readonly<Record<string, string | number>>

/**
 * Returns the refusal of `value`, which is above the bound of `refusal`: its text in `limits.ts`
 * with the option that raises the bound. Callers that compare by themselves make no text unless
 * they throw.
 */
export function limitError<R extends Refusal>(
  bounds: Bounds<R>,
  refusal: R,
  value: number,
  path = "",
  words: Words = {},
): GrammarError {
  const name = boundNames[refusal]
  const all: Words = { ...words, value, bound: bounds[name] }
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, word) => `${all[word]}`)
  const [excess, wayOut = ""] = refusals[refusal].split(". ").map(fill)
  const option = name in defaultLimits ? `Raise limits.${name}` : ""
  const ways = option === "" || wayOut === "" ? option + wayOut : `${option} or ${uncapitalized(wayOut)}`
  return new GrammarError("limit", path, `${excess}. ${ways}`)
}

function uncapitalized(text: string): string {
  return text[0].toLowerCase() + text.slice(1)
}

/** Throws `limitError` if `value` is above its bound. */
export function checkLimit<R extends Refusal>(
  bounds: Bounds<R>,
  refusal: R,
  value: number,
  path = "",
  words: Words = {},
): void {
  if (value > bounds[boundNames[refusal]]) throw limitError(bounds, refusal, value, path, words)
}
