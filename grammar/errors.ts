/**
 * What can go wrong before the first token, and the bounds that keep it from going wrong later.
 *
 * A constraint is honoured exactly or refused: every refusal is a `GrammarError` that says what, where, the value, the
 * bound and the way out. `limits.ts` has every bound; `limitError` alone makes a refusal of one. Time is no count, so its
 * refusal has a class of its own (`deadline.ts`).
 */
import { defaultLimits } from "./limits.ts"

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

/** What is above its bound: what was counted, or a clause that holds the value and the bound. */
type Excess = string | ((value: number, bound: number) => string)

/** Where a bound stands: in the limits of a constraint, among those without an option, or in the options of one function. */
type Bounds<B> = B & { readonly [Name in keyof B]: number }

/**
 * The refusal of `value`, which is above the bound `name` of `bounds`. The way out is the option of `limits` that raises the
 * bound, and `simplify`, a clause; an option has none where null is given. A caller that compares by itself makes no text
 * unless it throws.
 */
export function limitError<B extends object>(
  bounds: Bounds<B>,
  name: keyof B & string,
  value: number,
  path: string,
  what: Excess,
  simplify: string | null = "make the input smaller",
): GrammarError {
  const bound: number = bounds[name]
  const excess =
    typeof what === "string" ? `${what}: ${value} is above the bound of ${bound}` : what(value, bound)
  const ways = [
    ...(name in defaultLimits ? [`raise limits.${name}`] : []),
    ...(simplify === null ? [] : [simplify]),
  ]
  const wayOut = ways.join(" or ")
  return new GrammarError("limit", path, `${excess}. ${wayOut[0].toUpperCase()}${wayOut.slice(1)}`)
}

/** Throws `limitError` when `value` is above the bound `name`. */
export function checkLimit<B extends object>(
  bounds: Bounds<B>,
  name: keyof B & string,
  value: number,
  path: string,
  what: string,
  simplify?: string | null,
): void {
  if (value > bounds[name]) throw limitError(bounds, name, value, path, what, simplify)
}
