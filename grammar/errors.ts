/**
 * What can go wrong before the first token, and the bounds that keep it from going wrong later.
 *
 * A constraint is honoured exactly or refused: every refusal is a `GrammarError` that says what,
 * where, the value, the bound and the way out. `limits.ts` has every bound and its text;
 * `limitError` alone makes a refusal of one. Time is no count, so its refusal has a class of its
 * own (`deadline.ts`).
 */
import { defaultLimits, refusals } from "./limits.ts"

export { defaultLimits, fixedBounds, type Limits } from "./limits.ts"

/**
 * Why a constraint is refused: it is malformed, it asks for what is not supported, nothing satisfies it, or
 * it is above a bound.
 */
export type GrammarErrorKind = "syntax" | "unsupported" | "unsatisfiable" | "limit"

/** `path` is a JSON pointer in schemas, `line L, column C` in texts, an offset in a bare regular expression. */
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
 * What a caller that knows the place throws on: `error` itself, or the same refusal at `path` where it names none.
 * Expressions and lexemes are shared by all constraints and know no places. The message stays, behind the path. A place that is
 * searched for comes as a function.
 */
export function placed(error: unknown, path: string | (() => string)): unknown {
  // Other classes stay what they are: where a compilation was when its time was over says nothing about the schema.
  const isBare = error instanceof GrammarError && error.constructor === GrammarError && error.path === ""
  if (!isBare) return error
  const place = typeof path === "string" ? path : path()
  return place === "" ? error : new GrammarError(error.kind, place, error.message)
}

/** A refusal by a bound, and the name of that bound. */
type Refusal = keyof typeof refusals
type BoundOf<R extends Refusal> = R extends `${infer Name}.${string}` ? Name : R

/** The bound of each refusal. Looked up, not cut out of the name: checks are frequent. */
const boundNames = Object.fromEntries(
  Object.keys(refusals).map((refusal) => [refusal, refusal.split(".")[0]]),
) as { readonly [R in Refusal]: BoundOf<R> }

/**
 * Where the bound stands: in the limits of a constraint, among those without an option, or in the
 * options of one function.
 */
type Bounds<R extends Refusal> = { readonly [Name in BoundOf<R>]: number }

/** Words that a text of `refusals` holds beside the value and the bound. */
type Words = Readonly<Record<string, string | number>>

/**
 * The refusal of `value`, which is above the bound that `refusal` begins with: its text in
 * `limits.ts` with the option that raises the bound. A caller that compares by itself makes no text
 * unless it throws.
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

/** Throws `limitError` when `value` is above its bound. */
export function checkLimit<R extends Refusal>(
  bounds: Bounds<R>,
  refusal: R,
  value: number,
  path = "",
  words: Words = {},
): void {
  if (value > bounds[boundNames[refusal]]) throw limitError(bounds, refusal, value, path, words)
}
