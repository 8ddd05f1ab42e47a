/**
 * One JSON Schema as a language of texts: the ways to begin a value that satisfies a conjunction,
 * and whether there are any.
 *
 * Scalars are one lexeme each, whatever mix of keywords they come from. Containers are one frame
 * per branch of the conjunction. Unsatisfiable branches are never entered.
 */
import { checkTime } from "../deadline.ts"
import { type Limits, placed } from "../errors.ts"
import { noFrames, type Step } from "../frame.ts"
import { arrayLanguage, isPossibleArray } from "./array/array.ts"
import { type ArraySpec, arraySpec } from "./array/arrayspec.ts"
import { Branches } from "./facts/branches.ts"
import { AllTypes, Conjunctions, Types, typeBit } from "./facts/conjunction.ts"
import { typesOf } from "./facts/oneof.ts"
import { PlainSchemas } from "./facts/plain.ts"
import { type Lookup, Satisfiability } from "./facts/satisfiable.ts"
import { FiniteValues } from "./finitevalues.ts"
import { closeObjects } from "./object/closing.ts"
import { checkKeyReadings, mayLeaveMany } from "./object/keyreadings.ts"
import { ObjectLanguage } from "./object/object.ts"
import { ObjectRules } from "./object/objectrules.ts"
import { type Chance, type ObjectSpec, objectSpec } from "./object/objectspec.ts"
import type { KeywordReader } from "./read/keywordreader.ts"
import { type ListedParts, ListedValues } from "./scalar/listed.ts"
import { Scalars } from "./scalar/scalars.ts"
import { type Punctuation, punctuation, type SurfacePolicy } from "./spelling.ts"
import { type Demands, type ItemValues, NoPart, type Values } from "./values.ts"
import { type Containers, Witnesses } from "./witness.ts"

/** The greatest number of values of one property by which alternatives are split. */
const MaxEqualities = 256

/**
 * The greatest number of facts that cut a value into parts. Each part is a conjunction of that many
 * facts, so the work grows with the cube.
 */
const MaxCuts = 64

/** The weight for `checkTime` of one part, which is tested for remaining values. */
const PartWeight = 8

const noSpecs: readonly never[] = []

export class JsonLanguage implements Values, Containers {
  readonly policy: SurfacePolicy
  readonly limits: Limits
  readonly tokens: Punctuation
  readonly all = new Conjunctions()
  readonly reader: KeywordReader
  readonly scalars: Scalars
  private readonly listed: ListedValues
  private readonly plain: PlainSchemas
  private readonly branches: Branches
  private readonly satisfiability: Satisfiability
  private readonly steps = new Map<number, readonly Step[]>()
  // Made on first use: most grammars need neither a witness nor the list of all their values.
  private madeWitnesses: Witnesses | null = null
  private madeFinite: FiniteValues | null = null
  private readonly objectSpecs = new Map<number, readonly ObjectSpec[]>()
  private readonly arraySpecs = new Map<number, readonly ArraySpec[]>()
  private readonly objects = new Map<number, readonly ObjectLanguage[]>()
  /** Conjunctions whose keys leave few readings open, as a check has shown. */
  private readonly checkedKeys = new Set<number>()

  /** `isBlind` turns shortcuts off, see `plain.ts`. */
  constructor(reader: KeywordReader, policy: SurfacePolicy, limits: Limits, isBlind = false) {
    this.reader = reader
    this.policy = policy
    this.limits = limits
    this.tokens = punctuation(policy)
    this.branches = new Branches(this.all, reader, limits, {
      isWithinQuestion: () => this.satisfiability.isSolving,
      mayHaveValue: (conjunction) => this.mayHaveValue(conjunction),
      isPossibleObject: (facts) => this.isPossibleObject(facts),
      valuesOf: (conjunction) => this.equalitiesOf(conjunction),
      isCutBy: (conjunction, fact) => this.isCutBy(conjunction, fact),
      isListed: (fact) => this.listed.isListed(fact),
      partsOf: (conjunction, facts, least) => this.partsOf(conjunction, facts, least),
    })
    this.satisfiability = new Satisfiability(
      limits,
      (conjunction, lookup) => this.evaluate(conjunction, lookup),
      (conjunction) => this.plain.rankOf(conjunction) ?? this.rankOfConstant(conjunction),
    )
    this.plain = new PlainSchemas(this.all, reader, this.satisfiability.nextRank, isBlind)
    this.scalars = new Scalars(this.all, reader, this.plain, policy)
    this.listed = new ListedValues(this.all, reader, this.scalars, this.plain)
    this.all.bindMeaning((node) => reader.meant(node))
    reader.bindNames((node) => this.scalars.strings.formula.of(node))
  }

  private get witnesses(): Witnesses {
    this.madeWitnesses ??= new Witnesses(this, this.finite)
    return this.madeWitnesses
  }

  private get finite(): FiniteValues {
    if (this.madeFinite === null) {
      const { finiteValues } = this.limits
      const listed = {
        scalars: (conjunction: number) => this.scalars.finite(conjunction, finiteValues),
        arrays: (conjunction: number) => this.arraysOf(conjunction),
        objects: (conjunction: number) => this.objectsOf(conjunction),
      }
      this.madeFinite = new FiniteValues(this.all, listed, this, this.limits)
    }
    return this.madeFinite
  }

  /** Whether some value satisfies `conjunction`. */
  isProductive(conjunction: number): boolean {
    if (conjunction === this.all.never) return false
    try {
      return this.satisfiability.isProductive(conjunction)
    } catch (error) {
      throw placed(error, this.all.pathOf(conjunction))
    }
  }

  /**
   * Returns the types all of whose values satisfy `conjunction` in their plain spelling, and the
   * types with some value that does.
   */
  plainTypes(conjunction: number): { readonly all: number; readonly some: number } {
    return this.plain.ofConjunction(conjunction)
  }

  and(conjunction: number, facts: readonly number[]): number {
    return this.all.and(conjunction, facts)
  }

  canBeMet(conjunction: number): boolean {
    return this.isProductive(conjunction)
  }

  scalarPart(conjunction: number, fact: number, holds: boolean): number | null {
    checkTime(PartWeight)
    const negation = this.negation(fact)
    if (negation === null) return null
    const part = this.all.and(conjunction, [holds ? fact : negation])
    if (this.all.isContradiction(this.all.factsOf(part))) return NoPart
    if ((this.typesOf(part) & (Types.object | Types.array)) !== 0) return null
    return this.scalars.hasValue(part) ? part : NoPart
  }

  listedParts(conjunction: number, chances: readonly Chance[]): ListedParts | null {
    return this.listed.partsOf(conjunction, chances)
  }

  /** Returns the functions on values that array rules need. */
  itemValues(isProductive: Lookup): ItemValues {
    return {
      limits: this.limits,
      and: (conjunction, facts) => this.and(conjunction, facts),
      isProductive,
      differences: (conjunction) => this.finite.differences(conjunction),
    }
  }

  /**
   * Returns the fact "equals it" for each value of a conjunction of scalars, or null for containers
   * and for many values.
   */
  private equalitiesOf(conjunction: number): readonly number[] | null {
    if ((this.typesOf(conjunction) & (Types.object | Types.array)) !== 0) return null
    const values = this.scalars.finite(conjunction, MaxEqualities)
    return values?.map((value) => this.all.fact({ kind: "equals", value, positive: true })) ?? null
  }

  /**
   * See `ValueTest`. Cuts by one fact after the other, where one side of the cut contains only
   * scalars.
   */
  private partsOf(conjunction: number, facts: readonly number[], least: number): number[][] | null {
    let parts = [{ value: conjunction, facts: [] as number[] }]
    const cuts = facts.filter((fact) => this.negation(fact) !== null && this.isCutBy(conjunction, fact))
    if (cuts.length < least || cuts.length > MaxCuts) return null
    for (const [count, fact] of cuts.entries()) {
      const negation = this.negation(fact) as number
      const next: typeof parts = []
      for (const part of parts) {
        for (const side of [fact, negation]) {
          const scalars = this.scalarPart(part.value, fact, side === fact)
          if (scalars !== NoPart)
            next.push({ value: scalars ?? this.and(part.value, [side]), facts: [...part.facts, side] })
        }
      }
      if (next.length > 2 * count + 3) return null
      parts = next
    }
    return parts.map((part) => part.facts)
  }

  private isCutBy(conjunction: number, fact: number): boolean {
    return (
      this.scalarPart(conjunction, fact, true) !== null || this.scalarPart(conjunction, fact, false) !== null
    )
  }

  /** Returns the ways to begin a value of `conjunction`; empty if it is unsatisfiable. */
  valueSteps(conjunction: number): readonly Step[] {
    let steps = this.steps.get(conjunction)
    if (steps === undefined) {
      steps = this.stepsOfTypes(conjunction, AllTypes)
      this.steps.set(conjunction, steps)
    }
    return steps
  }

  knownSteps(conjunction: number): readonly Step[] {
    return this.steps.get(conjunction) ?? noSpecs
  }

  /**
   * Returns the ways to begin a value that satisfies `conjunction` and has one of `types`, given as
   * bits. Not memoized.
   */
  stepsOfTypes(conjunction: number, types: number): readonly Step[] {
    try {
      return this.makeSteps(conjunction, types)
    } catch (error) {
      throw placed(error, this.all.pathOf(conjunction))
    }
  }

  private makeSteps(conjunction: number, types: number): Step[] {
    const steps: Step[] = []
    const isProductive = (part: number) => this.isProductive(part)
    for (const object of (types & Types.object) === 0 ? noSpecs : this.objectLanguages(conjunction)) {
      const start = object.start()
      if (start !== null) steps.push({ lexeme: this.tokens.openObject, frames: [start] })
    }
    for (const spec of (types & Types.array) === 0 ? noSpecs : this.arraysOf(conjunction)) {
      const start = arrayLanguage(spec, this, this.all.pathOf(conjunction), isProductive).start()
      if (start !== null) steps.push({ lexeme: this.tokens.openArray, frames: [start] })
    }
    for (const lexeme of this.scalars.lexemes(conjunction, types)) steps.push({ lexeme, frames: noFrames })
    return steps
  }

  /** Returns the objects of `conjunction`, one for each spec. */
  private objectLanguages(conjunction: number): readonly ObjectLanguage[] {
    let objects = this.objects.get(conjunction)
    if (objects === undefined) {
      const isProductive = (part: number) => this.isProductive(part)
      const path = this.all.pathOf(conjunction)
      objects = this.objectsOf(conjunction).map((spec) => new ObjectLanguage(spec, this, path, isProductive))
      this.objects.set(conjunction, objects)
    }
    return objects
  }

  /** Throws `limit` if objects of `conjunction` have more alternatives than may be open. */
  checkObjects(conjunction: number): void {
    try {
      this.objectsOf(conjunction)
    } catch (error) {
      throw placed(error, this.all.pathOf(conjunction))
    }
  }

  /**
   * Throws `limit` if the first key of an object of `conjunction` would leave more readings open
   * than allowed.
   */
  checkKeys(conjunction: number): void {
    if (this.checkedKeys.has(conjunction)) return
    this.checkedKeys.add(conjunction)
    const listed: Demands["listedParts"] = (value, chances) => this.listedParts(value, chances)
    if (!mayLeaveMany(this.objectsOf(conjunction), listed, this.scalars, this.limits)) return
    const rules = this.objectLanguages(conjunction).map((object) => object.rules)
    const possible = rules.filter((each) => each.isPossible())
    try {
      checkKeyReadings(possible, this.scalars, this.limits)
    } catch (error) {
      throw placed(error, this.all.pathOf(conjunction))
    }
  }

  /** Returns a short text of `conjunction`, which must be productive. */
  witness(conjunction: number): string {
    return this.witnesses.of(conjunction)
  }

  /**
   * Returns the rank of a productive conjunction: it has a value all of whose parts have lower
   * rank.
   */
  rank(conjunction: number): number {
    return this.satisfiability.rank(conjunction)
  }

  /** Whether `conjunction` has a value, given which of its parts have one. */
  private evaluate(conjunction: number, lookup: Lookup): boolean {
    try {
      return this.scalars.hasValue(conjunction) || this.hasContainer(conjunction, lookup)
    } catch (error) {
      throw placed(error, this.all.pathOf(conjunction))
    }
  }

  /**
   * Returns a rank if `conjunction` requires one scalar and that scalar satisfies the rest of it.
   * Otherwise returns null. No search is needed.
   */
  private rankOfConstant(conjunction: number): number | null {
    const isConstant = this.all.factsOf(conjunction).some((id) => {
      const fact = this.all.facts[id]
      if (fact.kind !== "equals" || !fact.positive) return false
      return fact.value.kind !== "object" && fact.value.kind !== "array"
    })
    return isConstant && this.scalars.hasValue(conjunction) ? this.satisfiability.nextRank() : null
  }

  private hasContainer(conjunction: number, lookup: Lookup): boolean {
    return (
      this.arraysOf(conjunction).some((spec) => isPossibleArray(spec, this.all, this.itemValues(lookup))) ||
      this.objectsOf(conjunction).some(
        (spec) =>
          // Required members come first: most others are not needed, and each lookup adds work.
          spec.names.every(({ isRequired, value }) => !isRequired || lookup(value)) &&
          this.rulesOf(spec, lookup).isPossible(),
      )
    )
  }

  private rulesOf(spec: ObjectSpec, isProductive: Lookup): ObjectRules {
    const ordered = this.policy.order === "schema" ? spec.declared : 0
    return new ObjectRules(spec, ordered, this, isProductive, this.limits)
  }

  objectsOf(conjunction: number): readonly ObjectSpec[] {
    if (!this.plain.isPossible(conjunction, Types.object)) return noSpecs
    let specs = this.objectSpecs.get(conjunction)
    if (specs === undefined) {
      const branches = this.branches.of(conjunction, Types.object)
      specs = branches.map(({ facts, obligations, verdicts }) =>
        objectSpec(this.all, this.reader, facts, this.limits, {
          obligations,
          verdicts,
          isImplied: (value, fact) => this.isImplied(value, fact),
          hasScalar: (value) => this.scalars.hasValue(value),
        }),
      )
      if (this.reader.closesObjects) {
        const pairs = specs.map((spec, i) => [branches[i], spec] as const)
        specs = closeObjects(this.all, this.reader, conjunction, pairs)
      }
      this.objectSpecs.set(conjunction, specs)
    }
    return specs
  }

  arraysOf(conjunction: number): readonly ArraySpec[] {
    if (!this.plain.isPossible(conjunction, Types.array)) return noSpecs
    let specs = this.arraySpecs.get(conjunction)
    if (specs === undefined) {
      specs = this.branches
        .of(conjunction, Types.array)
        .map(({ facts }) => arraySpec(this.all, this.reader, facts))
      this.arraySpecs.set(conjunction, specs)
    }
    return specs
  }

  /**
   * Whether an object could satisfy these facts, without their open clauses. Tests only the scalars
   * of required names.
   */
  private isPossibleObject(facts: readonly number[]): boolean {
    const spec = objectSpec(this.all, this.reader, facts, this.limits, { isComplete: false })
    return spec.names.every(({ value, isRequired }) => !isRequired || this.mayHaveValue(value))
  }

  /**
   * Whether every value of `conjunction` satisfies `fact`. Returns false if there is no cheap
   * proof.
   */
  private isImplied(conjunction: number, id: number): boolean {
    const negation = this.negation(id)
    return negation === null
      ? id === this.all.anything
      : !this.mayHaveValue(this.all.and(conjunction, [negation]))
  }

  negation(id: number): number | null {
    const { kind } = this.all.facts[id]
    return kind === "schema" || kind === "equals" || kind === "either" ? this.all.negation(id) : null
  }

  /**
   * Returns false only if `conjunction` is unsatisfiable. Containers are assumed to be satisfiable.
   */
  private mayHaveValue(conjunction: number): boolean {
    if (this.plain.ofConjunction(conjunction).some !== 0) return true
    if (this.all.isContradiction(this.all.factsOf(conjunction))) return false
    if ((this.typesOf(conjunction) & (Types.object | Types.array)) !== 0) return true
    return this.scalars.hasValue(conjunction)
  }

  /** Returns the types that no fact of `conjunction` excludes at sight. */
  private typesOf(conjunction: number): number {
    return this.all.factsOf(conjunction).reduce((bits, id) => {
      const fact = this.all.facts[id]
      if (fact.kind === "never") return 0
      if (fact.kind === "equals" && fact.positive) return bits & typeBit(fact.value)
      return fact.kind === "schema" && fact.positive ? bits & typesOf(this.reader, fact.node) : bits
    }, AllTypes)
  }
}
