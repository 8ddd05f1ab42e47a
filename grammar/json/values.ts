/**
 * The interface through which the parts of a schema's language use each other: an array asks for
 * the values of its items, an object for those of its members, a witness for all of them.
 * `language.ts` implements it, and no other file depends on that one.
 */
import type { Limits } from "../errors.ts"
import type { Step } from "../frame.ts"
import type { Conjunctions } from "./facts/conjunction.ts"
import type { Lookup } from "./facts/satisfiable.ts"
import type { Chance } from "./object/objectspec.ts"
import type { KeywordReader } from "./read/keywordreader.ts"
import type { ListedParts } from "./scalar/listed.ts"
import type { Scalars } from "./scalar/scalars.ts"
import type { Punctuation, SurfacePolicy } from "./spelling.ts"

/** The result of `scalarPart` for an empty part. */
export const NoPart = -1

/** Operations that combine the constraints on one value. */
export interface Demands {
  /** Returns the conjunction of `conjunction` and these facts. */
  and(conjunction: number, facts: readonly number[]): number
  /**
   * Returns false only if `conjunction`, and every conjunction with more facts, is unsatisfiable.
   */
  canBeMet(conjunction: number): boolean
  /**
   * Returns the part of a conjunction for which `fact` holds, or does not: a conjunction, or
   * `NoPart`. Returns null if containers may belong to it, or if it is unknown.
   */
  scalarPart(conjunction: number, fact: number, holds: boolean): number | null
  /**
   * Returns the fact that holds where `fact` does not, or null for facts about parts of containers.
   */
  negation(fact: number): number | null
  /**
   * Returns the parts into which many of `chances` split a conjunction by lists of scalars, or null
   * if few do. Memoized by `chances`.
   */
  listedParts(conjunction: number, chances: readonly Chance[]): ListedParts | null
}

/**
 * Returns the demands of a language with another `canBeMet`. No value is cut into parts, except by
 * lists of scalars.
 */
export function wholeValues(demands: Demands, canBeMet: Demands["canBeMet"]): Demands {
  return {
    and: (conjunction, facts) => demands.and(conjunction, facts),
    canBeMet,
    scalarPart: () => null,
    negation: (fact) => demands.negation(fact),
    listedParts: (conjunction, chances) => demands.listedParts(conjunction, chances),
  }
}

/** Operations on the values of conjunctions. */
export interface Values extends Demands {
  readonly limits: Limits
  readonly policy: SurfacePolicy
  readonly tokens: Punctuation
  readonly all: Conjunctions
  readonly scalars: Scalars
  readonly reader: KeywordReader
  /** Whether some value satisfies `conjunction`. */
  isProductive(conjunction: number): boolean
  /** Returns the ways to begin a value of `conjunction`; empty if it is unsatisfiable. */
  valueSteps(conjunction: number): readonly Step[]
  /** Returns the memoized result of `valueSteps`; empty if it was not called before. */
  knownSteps(conjunction: number): readonly Step[]
  /** Returns a short text of `conjunction`, which must be productive. Throws `limit`. */
  witness(conjunction: number): string
  /** Returns the operations for array rules, with `isProductive` as the test for values. */
  itemValues(isProductive: Lookup): ItemValues
}

/** The operations on values that array rules need. */
export interface ItemValues {
  readonly limits: Limits
  and(conjunction: number, facts: readonly number[]): number
  isProductive: Lookup
  /**
   * Returns the fact "differs from it" for each value of a conjunction, or null if there are
   * infinitely many values.
   */
  differences(conjunction: number): readonly number[] | null
}

/**
 * Returns the pointer of the candidate whose value began with a lexeme for which `beganAs` returns
 * true, or null if none is known.
 */
export function pathOfBegun(
  values: Values,
  candidates: readonly number[],
  beganAs: (lexeme: number) => boolean,
): string | null {
  const begun = candidates.find((value) =>
    values.knownSteps(value).some(({ lexeme, frames }) => frames.length === 0 && beganAs(lexeme)),
  )
  return begun === undefined ? null : values.all.pathOf(begun)
}
