/**
 * The choice that the search for branches makes next when no clause is settled.
 *
 * It prefers choices that are exclusive and settle many clauses: first the value of a property that
 * many clauses test, then whether a property is present.
 */
import { memberValues } from "../object/objectspec.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import { type Alternative, type Conjunctions, Types } from "./conjunction.ts"
import type { Verdict } from "./verdicts.ts"

/**
 * With at least this many clauses about the value of one property, a choice among its values pays.
 */
const MinValueClauses = 6

/** Questions of the search about values. Nested containers are assumed to be satisfiable. */
export interface ValueTest {
  /** Returns false only if no value satisfies `conjunction`. */
  mayHaveValue(conjunction: number): boolean
  /** Returns false only if no object satisfies these facts. */
  isPossibleObject(facts: readonly number[]): boolean
  /**
   * Whether this question is part of a larger one. The work of a larger question is counted as a
   * whole.
   */
  isWithinQuestion(): boolean
  /**
   * Returns the facts "equals this value", one for each value of `conjunction`, or null if there
   * are infinitely many values, or containers among them.
   */
  valuesOf(conjunction: number): readonly number[] | null
  /**
   * Whether `fact` holds only of scalars, or fails only for scalars, among the values of
   * `conjunction`.
   */
  isCutBy(conjunction: number, fact: number): boolean
  /** Whether `fact` is about a few scalars: it holds of exactly these, or of all other values. */
  isListed(fact: number): boolean
  /**
   * Splits `conjunction` into parts in each of which every one of `facts` either holds or fails,
   * and returns the facts of each part. Returns null if this hardly saves anything over all sets of
   * facts, or if fewer than `least` facts are about scalars.
   */
  partsOf(conjunction: number, facts: readonly number[], least: number): readonly (readonly number[])[] | null
}

/** An unfinished branch: the facts that hold in it, and the clauses that are still to be met. */
export interface Partial {
  readonly facts: readonly number[]
  readonly clauses: readonly (readonly Alternative[])[]
  /** Conditions that are evaluated when the object ends. */
  readonly verdicts: readonly Verdict[]
}

/**
 * Returns the alternatives to continue with. If several clauses ask for the same property, they are
 * "present" and "absent", which settles all these clauses at once. Otherwise they are the
 * alternatives of the shortest clause.
 */
export function choices(
  all: Conjunctions,
  reader: KeywordReader,
  test: ValueTest,
  partial: Partial,
  type: number,
): readonly Alternative[] {
  const { clauses } = partial
  if (type === Types.object && clauses.length > 1) {
    const values = valueChoices(all, reader, test, partial)
    if (values !== null) return values
    const counts = new Map<string, number>()
    const facts = new Set(partial.facts)
    for (const clause of clauses) {
      const names = new Set<string>()
      for (const id of clause.flat()) {
        const fact = all.facts[id]
        if ((fact.kind === "present" || fact.kind === "absent") && !facts.has(id)) names.add(fact.name)
      }
      for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
    }
    let best: string | null = null
    for (const [name, count] of counts) {
      if (count > 1 && (best === null || count > (counts.get(best) as number))) best = name
    }
    if (best !== null) {
      return [[all.fact({ kind: "present", name: best })], [all.fact({ kind: "absent", name: best })]]
    }
  }
  return clauses.reduce((best, clause) => (clause.length < best.length ? clause : best))
}

/**
 * Returns a choice among the values of one property, if many clauses ask for its value and there
 * are few values, or few classes of values that the clauses distinguish. One more alternative is
 * that the property is absent. This settles all those clauses at once, as in `allOf: [{if:
 * {properties: {kind: {const: 1}}}, then: …}, …]`.
 */
function valueChoices(
  all: Conjunctions,
  reader: KeywordReader,
  test: ValueTest,
  { facts, clauses }: Partial,
): readonly Alternative[] | null {
  if (clauses.length < MinValueClauses) return null
  const counts = new Map<string, number>()
  for (const clause of clauses) {
    const names = new Set<string>()
    for (const id of clause.flat()) {
      const fact = all.facts[id]
      if (fact.kind === "property") names.add(fact.name)
    }
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  let best: string | null = null
  for (const [name, count] of counts) {
    if (count < MinValueClauses || (best !== null && count <= (counts.get(best) as number))) continue
    if (!facts.some((id) => isValueOf(all, id, name))) best = name
  }
  if (best === null) return null
  const name: string = best
  const value = memberValues(all, reader, facts)(name)
  const values = test.valuesOf(value)
  const parts =
    values?.map((fact) => [fact]) ?? test.partsOf(value, askedOf(all, name, clauses), MinValueClauses)
  if (parts === null) return null
  const present = all.fact({ kind: "present", name })
  return [
    ...parts.map((part) => [present, ...part.map((fact) => all.fact({ kind: "property", name, fact }))]),
    [all.fact({ kind: "absent", name })],
  ]
}

/** Returns the facts that `clauses` test on the value of property `name`. */
function askedOf(all: Conjunctions, name: string, clauses: Partial["clauses"]): number[] {
  const asked = new Set<number>()
  for (const id of clauses.flat(2)) {
    const fact = all.facts[id]
    if (fact.kind === "property" && fact.name === name) asked.add(fact.fact)
  }
  return [...asked]
}

/** Whether the fact says that the property `name` equals some value, or is absent. */
function isValueOf(all: Conjunctions, id: number, name: string): boolean {
  const fact = all.facts[id]
  if (fact.kind === "absent") return fact.name === name
  if (fact.kind !== "property" || fact.name !== name) return false
  const value = all.facts[fact.fact]
  return value.kind === "equals" && value.positive
}
