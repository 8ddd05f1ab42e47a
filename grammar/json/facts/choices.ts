/**
 * How the search for branches goes on where nothing is settled: which choice is made next.
 *
 * The choices prefer what is exclusive and settles many clauses: the value of a property that many
 * of them ask for, then whether a property is there.
 */
import { memberValues } from "../object/objectspec.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import { type Alternative, type Conjunctions, Types } from "./conjunction.ts"
import type { Verdict } from "./verdicts.ts"

/** So many clauses about the value of one property make it worth to go through its values. */
const MinValueClauses = 6

/** What branches ask of values that are not containers; containers are taken on trust. */
export interface ValueTest {
  /** False only when nothing satisfies `conjunction`. */
  mayHaveValue(conjunction: number): boolean
  /** False only when no object satisfies these facts. */
  isPossibleObject(facts: readonly number[]): boolean
  /** Whether this is part of a larger question, whose work counts as a whole. */
  isWithinQuestion(): boolean
  /**
   * The facts "equals this value", one for each value of `conjunction`; null: infinitely many, or
   * containers.
   */
  valuesOf(conjunction: number): readonly number[] | null
  /** Whether the values of which `fact` holds are scalars, or those of which it does not. */
  isCutBy(conjunction: number, fact: number): boolean
  /** Whether `fact` is about a few scalars: it holds of these alone, or of all other values. */
  isListed(fact: number): boolean
  /**
   * The facts of parts of `conjunction`, in each of which each of `facts` holds or does not; null:
   * there are hardly fewer parts than sets of facts, or less than `least` facts are about scalars.
   */
  partsOf(conjunction: number, facts: readonly number[], least: number): readonly (readonly number[])[] | null
}

/** A branch that is not finished: what holds in it, and the clauses that are still to be met. */
export interface Partial {
  readonly facts: readonly number[]
  readonly clauses: readonly (readonly Alternative[])[]
  /** What is counted in the end. */
  readonly verdicts: readonly Verdict[]
}

/**
 * How to go on: whether a property is there, if several clauses ask for the same one, which settles
 * them all at once; else the alternatives of the shortest clause.
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
 * If many clauses ask for the value of one property that has few values, or few kinds of values
 * that they tell apart: each of them, and that it is not there. All those clauses are settled at
 * once, as in `allOf: [{if: {properties: {kind: {const: 1}}}, then: …}, …]`.
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

/** What `clauses` ask of the value of property `name`. */
function askedOf(all: Conjunctions, name: string, clauses: Partial["clauses"]): number[] {
  const asked = new Set<number>()
  for (const id of clauses.flat(2)) {
    const fact = all.facts[id]
    if (fact.kind === "property" && fact.name === name) asked.add(fact.fact)
  }
  return [...asked]
}

/** Whether the fact is that the property `name` equals some value. */
function isValueOf(all: Conjunctions, id: number, name: string): boolean {
  const fact = all.facts[id]
  if (fact.kind === "absent") return fact.name === name
  if (fact.kind !== "property" || fact.name !== name) return false
  const value = all.facts[fact.fact]
  return value.kind === "equals" && value.positive
}
