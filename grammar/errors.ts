/**
 * What can go wrong before the first token, and the bounds that keep it from going wrong later.
 *
 * A constraint is honoured exactly or refused: every refusal is a `GrammarError` that says what, where, the value, the
 * bound and the way out. Every bound has a default here, an option `limits`, and one check that throws.
 */

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
 * Expressions and lexemes are shared by all constraints and know no places. The message stays, behind the path.
 */
export function placed(error: unknown, path: string): unknown {
  // Other classes stay what they are: where a compilation was when its time was over says nothing about the schema.
  const isBare = error instanceof GrammarError && error.constructor === GrammarError && error.path === ""
  return isBare && path !== "" ? new GrammarError(error.kind, path, error.message) : error
}

/**
 * What one constraint may cost. Each bound is an inclusive maximum; above it a `GrammarError` of kind `limit`
 * is thrown.
 */
export interface Limits {
  /** Schema text with its documents, in UTF-16 units. */
  schemaBytes: number
  /** Nesting of a schema text. */
  schemaDepth: number
  /** Schema nodes with their dynamic copies. */
  nodes: number
  /** Steps of the satisfiability test, at compile time and in residues together. */
  satSteps: number
  /** Finite sets of values that are enumerated. */
  finiteValues: number
  /** Threads in one state. */
  threads: number
  /** Frames on one stack. */
  stackDepth: number
  /** Options of a choice. */
  choices: number
  /** Source of one regular expression, in UTF-16 units. */
  regexBytes: number
  /** Text of a grammar in a notation, in UTF-16 units. */
  grammarBytes: number
  /** Nesting of groups in a grammar's text. */
  grammarDepth: number
  /** Bound of one repetition in a grammar. */
  maxRepeat: number
  /** Rules of a grammar, those that it takes in from others included. */
  rules: number
  /** Terms that the rules of a grammar consist of, once they are simplified. */
  symbols: number
  /** Uses of templates of a grammar with different values. */
  templates: number
  /** Chunks of which a substring is a run. */
  chunks: number
  /** Tags of a structural tag, nested ones included. */
  tags: number
  /** Triggers of one free text, and what it excludes. */
  triggers: number
  /** Wall time of one compilation, in milliseconds, see `deadline.ts`. Infinity by default: all other bounds are counts. */
  compileMs: number
}

/** The bounds that hold where a caller gives no others. */
export const defaultLimits: Readonly<Limits> = {
  schemaBytes: 8 << 20,
  schemaDepth: 512,
  nodes: 500_000,
  satSteps: 1_000_000,
  finiteValues: 65_536,
  threads: 1_024,
  stackDepth: 1_024,
  choices: 200_000,
  regexBytes: 64 << 10,
  grammarBytes: 8 << 20,
  grammarDepth: 512,
  maxRepeat: 1_000_000,
  rules: 50_000,
  symbols: 500_000,
  templates: 10_000,
  chunks: 200_000,
  tags: 4_096,
  triggers: 1_024,
  compileMs: Number.POSITIVE_INFINITY,
}

/** Throws a `limit` error when `value` is above the bound `name`. */
export function checkLimit(
  limits: Limits,
  name: keyof Limits,
  value: number,
  path: string,
  what: string,
): void {
  const bound = limits[name]
  if (value > bound) {
    throw new GrammarError(
      "limit",
      path,
      `${what}: ${value} is above the bound of ${bound}. Raise limits.${name} or make the input smaller`,
    )
  }
}
