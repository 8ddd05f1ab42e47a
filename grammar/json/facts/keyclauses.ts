/**
 * Clauses whose alternatives are schemas, as obligations: constraints on single keys need not be
 * chosen before a key is read.
 *
 * `if`, `dependencies` and `anyOf` mostly choose between schemas that only constrain some
 * properties and require others. Such a schema is a conjunction of obligations (`obligations.ts`),
 * and so is each choice between them, by distribution: A ∨ (B ∧ C) gives the obligations A ∨ B and
 * A ∨ C. Twenty conditions then cost an object twenty bits, where a choice for each of them costs a
 * million branches. If two alternatives have several requirements each, the clause is shorter than
 * its obligations and stays a clause. The exception is (A ∧ X) ∨ (¬A ∧ Y), the form of an `if` with
 * both sides, which is (¬A ∨ X) and (A ∨ Y). Schemas with patterns for names, with counts, or with
 * conditions on evaluated members cannot be written as obligations.
 */
import { exprs } from "../../lexeme/expr/expr.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import type { Keywords } from "../read/keywords.ts"
import type { SchemaNode } from "../refs/refs.ts"
import { type Alternative, type Conjunctions, Infinite, Types } from "./conjunction.ts"
import { type Expansion, exactlyOne } from "./expand.ts"
import { distinctEvents, type Event, type Obligation } from "./obligations.ts"
import { excludeEachOther } from "./oneof.ts"

/** The greatest number of obligations that one clause becomes. */
const MaxObligations = 8

/** The greatest number of alternatives of a `oneOf` that are compared with each other. */
const MostAlternatives = 64

/**
 * Obligations that all hold, or null if there are no equivalent obligations. An obligation without
 * events never holds.
 */
type Formula = readonly Obligation[] | null

const never: readonly Obligation[] = [[]]

/** A case and its negation as obligations, and the names that they are about. */
interface Cases {
  readonly holds: readonly Obligation[]
  readonly fails: readonly Obligation[]
  readonly yes: Alternative
  readonly no: Alternative
  readonly names: ReadonlySet<string>
}

export class KeyClauses {
  private readonly all: Conjunctions
  private readonly reader: KeywordReader
  private readonly expand: (fact: number) => Expansion
  private readonly isListed: (fact: number) => boolean
  /**
   * By fact. Also null while the fact is being examined, so a fact that depends on itself has no
   * obligations.
   */
  private readonly known = new Map<number, Formula>()

  /**
   * `expand` expands a fact for values of the type object. `isListed` returns whether a fact is
   * about a few scalars.
   */
  constructor(
    all: Conjunctions,
    reader: KeywordReader,
    expand: (fact: number) => Expansion,
    isListed: (fact: number) => boolean,
  ) {
    this.all = all
    this.reader = reader
    this.expand = expand
    this.isListed = isListed
  }

  /**
   * Returns the names whose values distinguish the cases of `clause`. A case is a schema that lists
   * values, together with the facts that hold in it. The other alternative is the negation of the
   * case, which may have further cases, as in a chain of `else`. Returns null for other clauses.
   */
  discriminatorsOf(clause: readonly Alternative[]): ReadonlySet<string> | null {
    const names = new Set<string>()
    for (let rest: readonly Alternative[] | null = clause; rest !== null; ) {
      const cases = this.casesOf(rest)
      if (cases === null) return names.size === 0 ? null : names
      for (const name of cases.names) names.add(name)
      rest = this.onlyClause(cases.no)
    }
    return names
  }

  /** Returns the number of cases of `clause`, including those of a chain of `else`. */
  lengthOf(clause: readonly Alternative[]): number {
    let length = 0
    for (let rest: readonly Alternative[] | null = clause; rest !== null; length++) {
      const cases = this.casesOf(rest)
      rest = cases === null ? null : this.onlyClause(cases.no)
    }
    return length
  }

  /**
   * Returns obligations that together are equivalent to a clause of cases, or null if there are
   * none. The obligations of a later case hold only if none of the earlier cases does.
   */
  ofCases(clause: readonly Alternative[]): Formula {
    const parts: Obligation[] = []
    /** The events of the earlier cases. */
    const before: Event[] = []
    for (let rest: readonly Alternative[] | null = clause; rest !== null; ) {
      const cases = this.casesOf(rest)
      if (cases === null) return null
      const { holds, fails, yes, no } = cases
      const left = eachOf(fails, this.ofAll(yes))
      if (left === null) return null
      for (const obligation of left) parts.push(this.shortened([...before, ...obligation]))
      rest = holds.length === 1 ? this.onlyClause(no) : null
      if (rest !== null && this.casesOf(rest) !== null) {
        before.push(...holds[0])
        continue
      }
      const right = eachOf(holds, this.ofAll(no))
      if (right === null) return null
      for (const obligation of right) parts.push(this.shortened([...before, ...obligation]))
      rest = null
    }
    return parts
  }

  /**
   * Returns the first case of a clause, its negation, and the further facts of each. Returns null
   * for other clauses.
   */
  private casesOf(clause: readonly Alternative[]): Cases | null {
    if (clause.length !== 2) return null
    const [[test, ...yes], [other, ...no]] = clause
    const fact = this.all.facts[test]
    if (fact?.kind !== "schema" || !fact.positive || yes.length === 0 || no.length === 0) return null
    if (this.all.negation(test) !== other) return null
    const holds = this.ofAll([test])
    const fails = this.ofAll([other])
    if (holds === null || fails === null) return null
    const names = new Set<string>()
    for (const formula of [holds, fails]) {
      let isTold = false
      for (const event of formula.flat()) {
        if (event.kind === "some") return null
        names.add(event.name)
        if (event.kind === "absent") continue
        // Dozens of cases that depend on which names are present would make the plan of the keys
        // hard to find.
        if (event.fact !== this.all.anything && !this.isListed(event.fact)) return null
        isTold ||= event.fact !== this.all.anything
      }
      if (!isTold) return null
    }
    return { holds, fails, yes, no, names }
  }

  /** Returns the one clause that these facts are equivalent to, or null if there is none. */
  private onlyClause([id, ...others]: Alternative): readonly Alternative[] | null {
    const fact = this.all.facts[id]
    if (fact?.kind !== "schema" || !fact.positive || others.length > 0) return null
    const keywords = this.reader.of(fact.node)
    const { facts, clauses, ones } = this.expand(id)
    const isAll =
      facts.length + ones.length + keywords.properties.size + keywords.required.length === 0 &&
      clauses.length === 1 &&
      !saysMore(keywords)
    return isAll ? clauses[0] : null
  }

  /**
   * Returns each event once, without values that another event includes: "other than b" includes a.
   */
  private shortened(events: Obligation): Obligation {
    const excluded = new Map<string, SchemaNode[]>()
    for (const event of events) {
      if (event.kind !== "value") continue
      const fact = this.all.facts[event.fact]
      if (fact.kind !== "schema" || fact.positive) continue
      excluded.set(event.name, [...(excluded.get(event.name) ?? []), fact.node])
    }
    if (excluded.size === 0) return distinctEvents(events)
    const isLeft = (event: Event): boolean => {
      const others = event.kind === "value" ? excluded.get(event.name) : undefined
      const fact = event.kind === "value" && others !== undefined ? this.all.facts[event.fact] : null
      if (fact?.kind !== "schema" || !fact.positive) return true
      return !others?.some((node) => excludeEachOther(this.reader, fact.node, node))
    }
    return distinctEvents(events.filter(isLeft))
  }

  /** Returns obligations that together are equivalent to `clause`, or null if there are none. */
  of(clause: readonly Alternative[]): Formula {
    const before: Event[] = []
    const after: Event[] = []
    /** The one alternative that has several requirements, or none. */
    let several: readonly Obligation[] | null = null
    for (const alternative of clause) {
      const formula = this.ofMore(alternative, clause) ?? this.ofAll(alternative)
      if (formula === null || formula.length > MaxObligations) return null
      if (formula.length === 1)
        for (const event of formula[0]) (several === null ? before : after).push(event)
      else if (several === null || formula.length === 0) several = formula
      else if (several.length > 0) return null
    }
    return (several ?? never).map((obligation) => distinctEvents([...before, ...obligation, ...after]))
  }

  /**
   * Returns the alternative "more keys than these", if the other alternatives say that one of these
   * keys is absent or wrong, as where an object must differ from another. If none of the others
   * holds, some key has another name. Returns null for other alternatives.
   */
  private ofMore([id, ...others]: Alternative, clause: readonly Alternative[]): Formula {
    const fact = this.all.facts[id]
    if (others.length > 0 || fact?.kind !== "size" || fact.max !== Infinite) return null
    const names = new Set<string>()
    for (const alternative of clause) {
      const [first] = alternative
      const asked = this.all.facts[first]
      if (alternative.length === 1 && asked.kind === "property") names.add(asked.name)
    }
    if (names.size !== fact.min - 1) return null
    const taken = [...names].filter((name) => name.isWellFormed()).map((name) => exprs.literal(name))
    return [[{ kind: "some", names: exprs.not(exprs.or(taken)), fact: this.all.anything }]]
  }

  private ofAll(facts: readonly number[]): Formula {
    const parts: Obligation[] = []
    for (const id of facts) {
      const formula = this.ofFact(id)
      if (formula === null) return null
      parts.push(...formula)
    }
    return withoutAbsence(this.all, parts)
  }

  private ofFact(id: number): Formula {
    const known = this.known.get(id)
    if (known !== undefined) return known
    this.known.set(id, null)
    const formula = this.make(id)
    this.known.set(id, formula)
    return formula
  }

  private make(id: number): Formula {
    const fact = this.all.facts[id]
    switch (fact.kind) {
      case "never":
        return never
      case "absent":
        return [[{ kind: "absent", name: fact.name }]]
      case "present":
        return [[{ kind: "value", name: fact.name, fact: this.all.anything }]]
      case "property":
        return [
          [
            { kind: "absent", name: fact.name },
            { kind: "value", name: fact.name, fact: fact.fact },
          ],
        ]
      case "some":
        return [[fact]]
      case "schema":
        return fact.positive ? this.ofKeywords(id, this.reader.of(fact.node)) : this.ofExpansion(id)
      case "equals":
        return fact.positive && fact.value.kind === "object" ? null : this.ofExpansion(id)
      case "either":
        return this.ofExpansion(id)
      default:
        return null
    }
  }

  private ofKeywords(id: number, keywords: Keywords): Formula {
    if (saysMore(keywords)) return null
    const rest = this.ofExpansion(id)
    if (rest === null) return null
    const members: Obligation[] = []
    for (const name of keywords.required) members.push([{ kind: "value", name, fact: this.all.anything }])
    for (const [name, node] of keywords.properties) {
      if (node.value.kind === "true") continue
      members.push([
        { kind: "absent", name },
        { kind: "value", name, fact: this.all.schema(node) },
      ])
    }
    return [...members, ...rest]
  }

  private ofExpansion(id: number): Formula {
    const { facts, clauses, ones } = this.expand(id)
    const formula = this.ofAll(facts)
    if (formula === null || ones.some(({ length }) => length > MostAlternatives)) return null
    const parts = [...formula]
    const counted = ones.map((nodes) => exactlyOne(this.all, this.reader, nodes, Types.object))
    for (const clause of [...clauses, ...counted]) {
      const choice = this.of(clause)
      if (choice === null) return null
      parts.push(...choice)
    }
    return parts
  }
}

/**
 * Returns the obligations of (all of `left`) ∨ (all of `right`), or null if `right` is null or
 * there would be too many.
 */
function eachOf(left: readonly Obligation[], right: Formula): Formula {
  if (right === null) return null
  if (Math.min(left.length, right.length) > 1 && left.length * right.length > MaxObligations) return null
  return left.flatMap((one) => right.map((other) => [...one, ...other]))
}

/** Whether a schema constrains objects by more than their single keys. */
function saysMore(keywords: Keywords): boolean {
  return (
    keywords.isObserved ||
    saysSomething(keywords.unevaluatedProperties) ||
    keywords.patternProperties.some(({ node }) => saysSomething(node)) ||
    saysSomething(keywords.additional) ||
    saysSomething(keywords.propertyNames) ||
    keywords.minProperties > 0 ||
    keywords.maxProperties !== Infinite
  )
}

/** Whether a keyword is present and not `true`. */
function saysSomething(node: SchemaNode | null): boolean {
  return node !== null && node.value.kind !== "true"
}

/** Returns `formula` without the events "absent" of names that it requires. */
function withoutAbsence(all: Conjunctions, formula: readonly Obligation[]): readonly Obligation[] {
  const present = new Set<string>()
  for (const obligation of formula) {
    const [event] = obligation
    if (obligation.length === 1 && event.kind === "value") present.add(event.name)
  }
  if (present.size === 0) return formula
  const rest = formula.map((obligation) =>
    obligation.filter((event) => event.kind !== "absent" || !present.has(event.name)),
  )
  // An obligation for a value requires the name as well.
  const asked = new Set<string>()
  for (const obligation of rest) {
    const [event] = obligation
    if (obligation.length === 1 && event.kind === "value" && event.fact !== all.anything)
      asked.add(event.name)
  }
  return rest.filter(
    ([event, ...others]) =>
      others.length > 0 || event?.kind !== "value" || event.fact !== all.anything || !asked.has(event.name),
  )
}
