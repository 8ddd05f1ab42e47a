/**
 * One JSON Schema as a language of texts: the ways to begin a value that satisfies a conjunction, and whether there are any.
 *
 * Scalars are one lexeme each, whatever mix of keywords they come from. Containers are one frame per branch of the
 * conjunction; branches that nothing satisfies are never entered.
 */
import type { Limits } from "../errors.ts"
import type { Step } from "../frame.ts"
import { type ExprId, exprs } from "../lexeme/expr/expr.ts"
import { toText } from "../lexeme/number/decimal.ts"
import { type NumberCell, numbers } from "../lexeme/number/number.ts"
import { exprLexeme, numberLexeme } from "../lexeme/raw.ts"
import { anyContent, NoContent } from "../lexeme/string/content.ts"
import { type Escapes, stringLexeme } from "../lexeme/string/string.ts"
import { Dead } from "../lexeme/table.ts"
import { arrayLanguage, isPossibleArray } from "./array/array.ts"
import type { ItemValues } from "./array/arrayrules.ts"
import { type ArraySpec, arraySpec } from "./array/arrayspec.ts"
import { Branches } from "./facts/branches.ts"
import { Conjunctions, type Fact, Types, typeBit } from "./facts/conjunction.ts"
import { typesOf } from "./facts/oneof.ts"
import { PlainSchemas } from "./facts/plain.ts"
import { type Lookup, Satisfiability } from "./facts/satisfiable.ts"
import { FiniteValues } from "./finitevalues.ts"
import { ObjectLanguage } from "./object/object.ts"
import { ObjectRules } from "./object/objectrules.ts"
import { type ObjectSpec, objectSpec } from "./object/objectspec.ts"
import { type Punctuation, punctuation, type Whitespace } from "./punctuation.ts"
import type { KeywordReader } from "./read/keywordreader.ts"
import type { JsonNode } from "./read/reader.ts"
import { numberAlgebra } from "./scalar/numberalgebra.ts"
import {
  type Algebra,
  FalseBit,
  NullBit,
  ScalarFormula,
  stringAlgebra,
  TrueBit,
  wordAlgebra,
} from "./scalar/scalar.ts"
import { stringContent, stringTexts } from "./scalar/strings.ts"
import { Witnesses } from "./witness.ts"

/** How values are spelled; none of it changes which values are accepted, only `order` which key orders. */
export interface SurfacePolicy {
  readonly order: "schema" | "any"
  readonly whitespace: Whitespace
  readonly escapes: Escapes
  readonly numbers: "plain" | "all"
}

const booleanAlgebra = wordAlgebra(Types.boolean)
const nullAlgebra = wordAlgebra(Types.null)
/** Values of one property that alternatives are split by. */
const MaxEqualities = 256
const noSpecs: readonly never[] = []
const words: readonly (readonly [bit: number, text: string])[] = [
  [NullBit, "null"],
  [FalseBit, "false"],
  [TrueBit, "true"],
]

/** By bits of `words`; 0 is not known yet. */
const wordLexemes = new Int32Array(8)

/** The lexeme of some of the words; `Dead` for none. */
function wordLexeme(bits: number): number {
  if (bits !== 0 && wordLexemes[bits] === 0) {
    const texts = words.filter(([bit]) => (bits & bit) !== 0).map(([, text]) => exprs.literal(text))
    wordLexemes[bits] = exprLexeme(exprs.or(texts))
  }
  return wordLexemes[bits]
}

export class JsonLanguage {
  readonly policy: SurfacePolicy
  readonly limits: Limits
  readonly tokens: Punctuation
  readonly all = new Conjunctions()
  readonly reader: KeywordReader
  readonly strings: ScalarFormula<ExprId>
  private readonly numbers: ScalarFormula<readonly NumberCell[]>
  private readonly booleans: ScalarFormula<number>
  private readonly nulls: ScalarFormula<number>
  private readonly plain: PlainSchemas
  private readonly branches: Branches
  private readonly satisfiability: Satisfiability
  private readonly steps = new Map<number, readonly Step[]>()
  // Most grammars are never asked for a witness or for all their values.
  private madeWitnesses: Witnesses | null = null
  private madeFinite: FiniteValues | null = null
  private readonly objectSpecs = new Map<number, readonly ObjectSpec[]>()
  private readonly arraySpecs = new Map<number, readonly ArraySpec[]>()
  private anyNumber: number | undefined

  /** `isBlind`: prove everything, see `plain.ts`. */
  constructor(reader: KeywordReader, policy: SurfacePolicy, limits: Limits, isBlind = false) {
    this.reader = reader
    this.policy = policy
    this.limits = limits
    this.tokens = punctuation(policy.whitespace)
    this.strings = new ScalarFormula(stringAlgebra, reader)
    reader.bindNames((node) => this.strings.of(node))
    this.numbers = new ScalarFormula(numberAlgebra, reader)
    this.booleans = new ScalarFormula(booleanAlgebra, reader)
    this.nulls = new ScalarFormula(nullAlgebra, reader)
    this.branches = new Branches(this.all, reader, limits, {
      isWithinQuestion: () => this.satisfiability.isSolving,
      mayHaveValue: (conjunction) => this.mayHaveValue(conjunction),
      isPossibleObject: (facts) => this.isPossibleObject(facts),
      valuesOf: (conjunction) => this.equalitiesOf(conjunction),
    })
    this.satisfiability = new Satisfiability(
      limits,
      (conjunction, lookup) => this.evaluate(conjunction, lookup),
      (conjunction) => this.plain.rankOf(conjunction),
    )
    this.plain = new PlainSchemas(this.all, reader, this.satisfiability.nextRank, isBlind)
  }

  private get witnesses(): Witnesses {
    this.madeWitnesses ??= new Witnesses(this, this.finite)
    return this.madeWitnesses
  }

  private get finite(): FiniteValues {
    if (this.madeFinite === null) {
      const { finiteValues } = this.limits
      const listed = {
        scalars: (conjunction: number) => this.finiteScalars(conjunction, finiteValues),
        arrays: (conjunction: number) => this.arraysOf(conjunction),
        objects: (conjunction: number) => this.objectsOf(conjunction),
      }
      this.madeFinite = new FiniteValues(this.all, listed, finiteValues)
    }
    return this.madeFinite
  }

  /** Whether some value satisfies `conjunction`. */
  isProductive(conjunction: number): boolean {
    return conjunction !== this.all.never && this.satisfiability.isProductive(conjunction)
  }

  /** `conjunction` and these facts. */
  and(conjunction: number, facts: readonly number[]): number {
    return this.all.and(conjunction, facts)
  }

  /** What array rules need to know of values. */
  itemValues(isProductive: Lookup): ItemValues {
    return {
      and: (conjunction, facts) => this.and(conjunction, facts),
      isProductive,
      differences: (conjunction) => this.finite.differences(conjunction),
    }
  }

  /** For each value of a conjunction of scalars the fact "equals it"; null for containers, and for many. */
  private equalitiesOf(conjunction: number): readonly number[] | null {
    if ((this.typesOf(conjunction) & (Types.object | Types.array)) !== 0) return null
    const values = this.finiteScalars(conjunction, MaxEqualities)
    return values?.map((value) => this.all.fact({ kind: "equals", value, positive: true })) ?? null
  }

  /** The scalars of `conjunction`, or null when there are infinitely many or more than `cap` of a type. */
  private finiteScalars(conjunction: number, cap: number): JsonNode[] | null {
    const texts = stringTexts(this, conjunction, cap)
    if (texts === null) return null
    const numerals = numbers.values(this.scalar(conjunction, numberAlgebra, this.numbers), cap)
    if (numerals === null) return null
    const range = { start: 0, end: 0 }
    const values: JsonNode[] = [
      ...texts.map((value): JsonNode => ({ kind: "string", value, ...range })),
      ...numerals.map((value): JsonNode => ({ kind: "number", text: toText(value), ...range })),
    ]
    const bits =
      this.scalar(conjunction, booleanAlgebra, this.booleans) |
      this.scalar(conjunction, nullAlgebra, this.nulls)
    for (const [bit, text] of words) {
      if ((bits & bit) !== 0) values.push({ kind: text as "null" | "true" | "false", ...range })
    }
    return values
  }

  /** The ways to begin a value of `conjunction`; none if nothing satisfies it. */
  valueSteps(conjunction: number): readonly Step[] {
    let steps = this.steps.get(conjunction)
    if (steps === undefined) {
      steps = this.makeSteps(conjunction)
      this.steps.set(conjunction, steps)
    }
    return steps
  }

  private makeSteps(conjunction: number): Step[] {
    const steps: Step[] = []
    const isProductive = (part: number) => this.isProductive(part)
    for (const spec of this.objectsOf(conjunction)) {
      const start = new ObjectLanguage(spec, this, this.pathOf(conjunction), isProductive).start()
      if (start !== null) steps.push({ lexeme: this.tokens.openObject, frames: [start] })
    }
    for (const spec of this.arraysOf(conjunction)) {
      const start = arrayLanguage(spec, this, this.pathOf(conjunction), isProductive).start()
      if (start !== null) steps.push({ lexeme: this.tokens.openArray, frames: [start] })
    }
    for (const lexeme of this.scalarLexemes(conjunction)) steps.push({ lexeme, frames: [] })
    return steps
  }

  /** One lexeme a scalar type that has values. Types of which all values will do have the same one in all schemas. */
  scalarLexemes(conjunction: number): number[] {
    const { all, possible } = this.plain.ofConjunction(conjunction)
    const lexemesOf: number[] = []
    const add = (lexeme: number) => {
      if (lexeme !== Dead) lexemesOf.push(lexeme)
    }
    if ((possible & Types.string) !== 0) {
      const content = (all & Types.string) !== 0 ? anyContent : stringContent(this, conjunction)
      add(stringLexeme(content, this.policy.escapes))
    }
    if ((possible & Types.number) !== 0) add(this.numberLexemeOf(conjunction))
    const wordTypes = possible & (Types.boolean | Types.null)
    if (wordTypes !== 0) add(wordLexeme(this.wordsOf(conjunction, wordTypes & ~all, wordTypes & all)))
    return lexemesOf
  }

  /** Bits of the words of `conjunction`: of the types `some` those that it allows, of the types `all` all. */
  private wordsOf(conjunction: number, some: number, all: number): number {
    let bits = 0
    if ((all & Types.boolean) !== 0) bits |= booleanAlgebra.all
    else if ((some & Types.boolean) !== 0) bits |= this.scalar(conjunction, booleanAlgebra, this.booleans)
    if ((all & Types.null) !== 0) bits |= nullAlgebra.all
    else if ((some & Types.null) !== 0) bits |= this.scalar(conjunction, nullAlgebra, this.nulls)
    return bits
  }

  /** The lexeme of the numbers of `conjunction`; `Dead` if there are none. */
  numberLexemeOf(conjunction: number): number {
    if ((this.plain.ofConjunction(conjunction).all & Types.number) === 0)
      return numberLexeme(
        numbers.start(this.scalar(conjunction, numberAlgebra, this.numbers), this.policy.numbers),
      )
    this.anyNumber ??= numberLexeme(numbers.start(numberAlgebra.all, this.policy.numbers))
    return this.anyNumber
  }

  /** A short text of `conjunction`, which must be productive. */
  witness(conjunction: number): string {
    return this.witnesses.of(conjunction)
  }

  /** The rank of a productive conjunction: it has a value whose parts are all of lower rank. */
  rank(conjunction: number): number {
    return this.satisfiability.rank(conjunction)
  }

  /** The conjunction of the facts that do not say that a value is not this one. */
  withoutExclusions(conjunction: number): number {
    const facts = this.all.factsOf(conjunction)
    const lasting = facts.filter((id) => !this.isExclusion(id))
    return lasting.length === facts.length ? conjunction : this.all.of(lasting)
  }

  /** Whether fact `id` says that a value is not this one. */
  isExclusion(id: number): boolean {
    const fact = this.all.facts[id]
    return fact.kind === "equals" && !fact.positive
  }

  /** The language of `conjunction` within one scalar type. */
  scalar<T>(conjunction: number, algebra: Algebra<T>, formula: ScalarFormula<T>): T {
    if (!this.plain.isPossible(conjunction, algebra.type)) return algebra.none
    let result = algebra.all
    const excluded: T[] = []
    for (const id of this.all.factsOf(conjunction)) {
      const fact = this.all.facts[id]
      if (fact.kind === "equals" && !fact.positive) {
        if (typeBit(fact.value) === algebra.type) excluded.push(algebra.value(fact.value))
      } else result = algebra.and(result, this.scalarOfFact(fact, algebra, formula))
    }
    // Unique items exclude thousands of values: all at once.
    if (excluded.length === 0) return result
    return algebra.without?.(result, excluded) ?? algebra.and(result, algebra.not(algebra.or(excluded)))
  }

  /** The strings of which `fact` holds. */
  stringsOf(fact: Fact): ExprId {
    return this.scalarOfFact(fact, stringAlgebra, this.strings)
  }

  private scalarOfFact<T>(fact: Fact, algebra: Algebra<T>, formula: ScalarFormula<T>): T {
    switch (fact.kind) {
      case "schema":
        return fact.positive ? formula.of(fact.node) : algebra.not(formula.of(fact.node))
      case "equals": {
        const value = typeBit(fact.value) === algebra.type ? algebra.value(fact.value) : algebra.none
        return fact.positive ? value : algebra.not(value)
      }
      case "either": {
        const parts = fact.facts.map((id) => this.scalarOfFact(this.all.facts[id], algebra, formula))
        const some = algebra.or(parts)
        return fact.positive ? some : algebra.not(some)
      }
      case "never":
        return algebra.none
      default:
        return algebra.all
    }
  }

  /** Whether `conjunction` has a value, given which of its parts have. */
  private evaluate(conjunction: number, lookup: Lookup): boolean {
    if (this.scalar(conjunction, nullAlgebra, this.nulls) !== 0) return true
    if (this.scalar(conjunction, booleanAlgebra, this.booleans) !== 0) return true
    if (stringContent(this, conjunction) !== NoContent) return true
    if (!numbers.isEmpty(this.scalar(conjunction, numberAlgebra, this.numbers))) return true
    const and = (part: number, facts: readonly number[]) => this.and(part, facts)
    return (
      this.arraysOf(conjunction).some((spec) => isPossibleArray(spec, this.all, this.itemValues(lookup))) ||
      this.objectsOf(conjunction).some(
        (spec) =>
          // Required members first: others are mostly not needed, and each asked for is looked at.
          spec.names.every(({ isRequired, value }) => !isRequired || lookup(value)) &&
          new ObjectRules(spec, this.policy.order === "schema", and, lookup).isPossible(),
      )
    )
  }

  objectsOf(conjunction: number): readonly ObjectSpec[] {
    if (!this.plain.isPossible(conjunction, Types.object)) return noSpecs
    let specs = this.objectSpecs.get(conjunction)
    if (specs === undefined) {
      specs = this.branches.of(conjunction, Types.object).map(({ facts, obligations }) =>
        objectSpec(this.all, this.reader, facts, this.limits, {
          obligations,
          isImplied: (value, fact) => this.isImplied(value, fact),
        }),
      )
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

  /** Whether an object could satisfy these facts, their open clauses aside: scalars of required names only. */
  private isPossibleObject(facts: readonly number[]): boolean {
    const spec = objectSpec(this.all, this.reader, facts, this.limits, { isComplete: false })
    return spec.names.every(({ value, isRequired }) => !isRequired || this.mayHaveValue(value))
  }

  /** Whether every value of `conjunction` satisfies `fact`; false when there is no cheap proof. */
  private isImplied(conjunction: number, id: number): boolean {
    const { kind } = this.all.facts[id]
    if (kind !== "schema" && kind !== "equals" && kind !== "either") return id === this.all.anything
    return !this.mayHaveValue(this.and(conjunction, [this.all.negation(id)]))
  }

  /** False only when nothing satisfies `conjunction`: containers are taken on trust. */
  private mayHaveValue(conjunction: number): boolean {
    if (this.plain.ofConjunction(conjunction).some !== 0) return true
    if (this.all.isContradiction(this.all.factsOf(conjunction))) return false
    if ((this.typesOf(conjunction) & (Types.object | Types.array)) !== 0) return true
    return (
      this.scalar(conjunction, nullAlgebra, this.nulls) !== 0 ||
      this.scalar(conjunction, booleanAlgebra, this.booleans) !== 0 ||
      stringContent(this, conjunction) !== NoContent ||
      !numbers.isEmpty(this.scalar(conjunction, numberAlgebra, this.numbers))
    )
  }

  /** Types that no fact of `conjunction` excludes at first sight. */
  private typesOf(conjunction: number): number {
    return this.all.factsOf(conjunction).reduce((bits, id) => {
      const fact = this.all.facts[id]
      if (fact.kind === "never") return 0
      if (fact.kind === "equals" && fact.positive) return bits & typeBit(fact.value)
      return fact.kind === "schema" && fact.positive ? bits & typesOf(this.reader, fact.node) : bits
    }, 63)
  }

  /** Pointer of a schema that the conjunction comes from, for messages. */
  pathOf(conjunction: number): string {
    for (const id of this.all.factsOf(conjunction)) {
      const fact = this.all.facts[id]
      if (fact.kind === "schema") return fact.node.pointer
    }
    return ""
  }
}
