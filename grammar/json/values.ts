/**
 * How the parts of a schema's language ask for each other: an array for the values of its items, an
 * object for those of its members, a witness for all of them. `language.ts` is what answers; nobody
 * else needs to know it.
 */
import type { Limits } from "../errors.ts"
import type { Step } from "../frame.ts"
import type { Conjunctions } from "./facts/conjunction.ts"
import type { Lookup } from "./facts/satisfiable.ts"
import type { Chance } from "./object/objectspec.ts"
import type { ListedParts } from "./scalar/listed.ts"
import type { Scalars } from "./scalar/scalars.ts"
import type { Punctuation, SurfacePolicy } from "./spelling.ts"

/** No value: what `scalarPart` answers of an empty part. */
export const NoPart = -1

/** How what is asked of one value is put together. */
export interface Demands {
  /** `conjunction` and these facts. */
  and(conjunction: number, facts: readonly number[]): number
  /** False only where nothing satisfies `conjunction`, nor what asks for more. */
  canBeMet(conjunction: number): boolean
  /**
   * The part of a conjunction of which `fact` holds, or does not: a conjunction, or `NoPart`. Null
   * where containers may belong to it, or nothing is known of it.
   */
  scalarPart(conjunction: number, fact: number, holds: boolean): number | null
  /** The fact that holds where `fact` does not; null for facts about parts of containers. */
  negation(fact: number): number | null
  /**
   * The parts of a conjunction that many of `chances` tell apart by lists of scalars; null where
   * few do. Memoised by `chances`.
   */
  listedParts(conjunction: number, chances: readonly Chance[]): ListedParts | null
}

/**
 * The demands of a language, but for which can be met: no value is cut into parts by facts that are
 * no lists.
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

/** The values of conjunctions. */
export interface Values extends Demands {
  readonly limits: Limits
  readonly policy: SurfacePolicy
  readonly tokens: Punctuation
  readonly all: Conjunctions
  readonly scalars: Scalars
  /** Whether some value satisfies `conjunction`. */
  isProductive(conjunction: number): boolean
  /** The ways to begin a value of `conjunction`; none if nothing satisfies it. */
  valueSteps(conjunction: number): readonly Step[]
  /** The same where they have been asked for; else none. */
  knownSteps(conjunction: number): readonly Step[]
  /** A short text of `conjunction`, which must be productive. Throws `limit`. */
  witness(conjunction: number): string
  /** What array rules need to know of values, where `isProductive` says which have any. */
  itemValues(isProductive: Lookup): ItemValues
}

/** What array rules need to know of values. */
export interface ItemValues {
  readonly limits: Limits
  and(conjunction: number, facts: readonly number[]): number
  isProductive: Lookup
  /**
   * For each value of a finite conjunction, the fact "differs from it"; null: infinitely many
   * values.
   */
  differences(conjunction: number): readonly number[] | null
}

/**
 * The pointer of the one among these values that has begun as a lexeme of which `beganAs` is true;
 * null: none, as far as is known.
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
