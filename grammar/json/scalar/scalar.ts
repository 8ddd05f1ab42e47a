/**
 * Scalars never multiply: the constraints of a schema on strings, numbers, booleans and null are
 * one Boolean formula over languages that are closed under and, or and not. So `allOf`, `anyOf`,
 * `oneOf`, `not` and `if` over scalars are evaluated, not expanded: one function, three algebras.
 */
import { fixedBounds, limitError, placed } from "../../errors.ts"
import { searchable } from "../../format/searchable.ts"
import { Empty, type ExprId, exprs, Never } from "../../lexeme/expr/expr.ts"
import { at, Kind, kindOf, length } from "../../lexeme/expr/nodes.ts"
import { type Conjunctions, type Fact, Types, typeBit } from "../facts/conjunction.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import type { Keywords } from "../read/keywords.ts"
import type { JsonNode } from "../read/reader.ts"
import type { SchemaNode } from "../refs/refs.ts"

/** A Boolean algebra of languages of one JSON type. */
export interface Algebra<T> {
  readonly type: number
  readonly all: T
  readonly none: T
  and(a: T, b: T): T
  /**
   * Returns the union of `parts`; `none` if it is empty. It takes all at once, since lists of
   * thousands of values are common.
   */
  or(parts: readonly T[]): T
  not(a: T): T
  /** Returns `a` without the languages of these single values. The default uses and, not, or. */
  without?(a: T, values: readonly T[]): T
  /**
   * Returns the language of the keywords for this type, without `type`, `enum` and in-place
   * keywords.
   */
  own(keywords: Keywords): T
  /** Returns the language of one value of this type. */
  value(value: JsonNode): T
  /**
   * Returns a key of the one value in `a`, equal for equal values, or null if that is not obvious.
   */
  keyOf(a: T): string | number | null
  /** Returns the cost of an intersection with `a`. */
  size(a: T): number
}

/** Evaluates schemas in one algebra, memoized by node. */
export class ScalarFormula<T> {
  private readonly algebra: Algebra<T>
  private readonly keywords: KeywordReader
  /**
   * By node id. Arrays, since each schema has a formula for each type, and most formulas are used
   * for a few nodes.
   */
  private readonly known: (T | undefined)[] = []
  private readonly isOpen: boolean[] = []
  private openCount = 0
  /**
   * Open nodes that were met again, each once. A result computed below them is valid only in their
   * context.
   */
  private cut: number[] = []

  constructor(algebra: Algebra<T>, keywords: KeywordReader) {
    this.algebra = algebra
    this.keywords = keywords
  }

  /** Returns the values of this type that `node` accepts. */
  of(node: SchemaNode): T {
    const known = this.known[node.id]
    if (known !== undefined) return known
    // In place, a repetition through allOf and $ref adds no constraint. Through other keywords it
    // has no meaning.
    if (this.isOpen[node.id]) {
      if (!this.cut.includes(node.id)) this.cut.push(node.id)
      return this.algebra.all
    }
    if (this.openCount >= fixedBounds.inPlaceDepth) {
      throw limitError(fixedBounds, "inPlaceDepth", this.openCount + 1, node.pointer)
    }
    let result: T
    try {
      this.openCount++
      this.isOpen[node.id] = true
      result = this.evaluate(this.keywords.of(node))
    } catch (error) {
      throw placed(error, node.pointer)
    } finally {
      this.isOpen[node.id] = false
      this.openCount--
      if (this.cut.length > 0) this.cut = this.cut.filter((id) => id !== node.id)
    }
    if (this.cut.length === 0) this.known[node.id] = result
    return result
  }

  private evaluate(keywords: Keywords): T {
    const { algebra } = this
    const { type } = algebra
    if ((keywords.types & type) === 0) return algebra.none
    let result = algebra.own(keywords)
    const and = (other: T) => {
      result = algebra.and(result, other)
    }
    if (keywords.enum !== null) and(algebra.or(keywords.enumOf(type).map((value) => algebra.value(value))))
    for (const node of keywords.all) and(this.of(node))
    for (const nodes of keywords.any) and(algebra.or(nodes.map((node) => this.of(node))))
    for (const nodes of keywords.one) and(this.exactlyOne(nodes.map((node) => this.of(node))))
    for (const node of keywords.not) and(algebra.not(this.of(node)))
    if (keywords.conditional !== null) {
      const { test, yes, no } = keywords.conditional
      const holds = this.of(test)
      if (yes !== null) and(algebra.or([algebra.not(holds), this.of(yes)]))
      if (no !== null) and(algebra.or([holds, this.of(no)]))
    }
    return result
  }

  /**
   * Returns the values in exactly one branch. Keeps the sets "at least once" and "at least twice",
   * so the work is linear in the branches.
   */
  private exactlyOne(branches: readonly T[]): T {
    const { algebra } = this
    const { limits } = this.keywords
    // Single values are distinguished by their keys.
    const values = new Map<string | number, T>()
    const repeated: T[] = []
    const others: T[] = []
    for (const branch of branches) {
      const key = algebra.keyOf(branch)
      if (key === null) others.push(branch)
      else if (values.has(key)) repeated.push(branch)
      else values.set(key, branch)
    }
    let once = algebra.or([...values.values()])
    let twice = algebra.or(repeated)
    let work = 0
    for (const branch of others) {
      work += algebra.size(once) * algebra.size(branch)
      if (work > limits.oneOfSteps) {
        throw limitError(limits, "oneOfSteps", work, "", { branches: branches.length })
      }
      twice = algebra.or([twice, algebra.and(once, branch)])
      once = algebra.or([once, branch])
    }
    return algebra.and(once, algebra.not(twice))
  }
}

/** The sources of the scalars of conjunctions. */
export interface ScalarContext {
  readonly all: Conjunctions
  readonly reader: KeywordReader
  /**
   * Returns false only if it is obvious that no value of the type, given by its bit, satisfies the
   * conjunction.
   */
  isPossible(conjunction: number, type: number): boolean
}

/** The language of a conjunction within one scalar type. */
export class ScalarType<T> {
  readonly formula: ScalarFormula<T>
  private readonly algebra: Algebra<T>
  private readonly context: ScalarContext

  constructor(algebra: Algebra<T>, context: ScalarContext) {
    this.algebra = algebra
    this.context = context
    this.formula = new ScalarFormula(algebra, context.reader)
  }

  /** Returns the values of this type that satisfy `conjunction`. */
  of(conjunction: number): T {
    const { algebra } = this
    const { all, isPossible } = this.context
    if (!isPossible(conjunction, algebra.type)) return algebra.none
    let result = algebra.all
    const excluded: T[] = []
    for (const id of all.factsOf(conjunction)) {
      const fact = all.facts[id]
      if (fact.kind === "equals" && !fact.positive) {
        if (typeBit(fact.value) === algebra.type) excluded.push(algebra.value(fact.value))
      } else result = algebra.and(result, this.ofFact(fact))
    }
    // Unique items exclude thousands of values, so all are excluded at once.
    if (excluded.length === 0) return result
    return algebra.without?.(result, excluded) ?? algebra.and(result, algebra.not(algebra.or(excluded)))
  }

  /** Returns the values of this type for which `fact` holds. */
  ofFact(fact: Fact): T {
    const { algebra, formula } = this
    switch (fact.kind) {
      case "schema":
        return fact.positive ? formula.of(fact.node) : algebra.not(formula.of(fact.node))
      case "equals": {
        const value = typeBit(fact.value) === algebra.type ? algebra.value(fact.value) : algebra.none
        return fact.positive ? value : algebra.not(value)
      }
      case "either": {
        const some = algebra.or(fact.facts.map((id) => this.ofFact(this.context.all.facts[id])))
        return fact.positive ? some : algebra.not(some)
      }
      case "never":
        return algebra.none
      default:
        return algebra.all
    }
  }
}

/** Strings as expressions over their decoded text, with lengths as counted repeats. */
export const stringAlgebra: Algebra<ExprId> = {
  type: Types.string,
  all: exprs.anyText,
  none: Never,
  and: (a, b) => exprs.and([a, b]),
  or: (parts) => exprs.or(parts),
  not: (a) => exprs.not(a),
  own: (keywords) => ownTexts(keywords, false),
  value: (value) => (value.kind === "string" && value.value.isWellFormed() ? textExpr(value.value) : Never),
  keyOf: (a) => (isLiteral(a) ? a : null),
  size: () => 1,
}

/**
 * The same for languages that are never negated: there a format may be replaced by its searchable
 * part.
 */
export const searchableAlgebra: Algebra<ExprId> = {
  ...stringAlgebra,
  own: (keywords) => ownTexts(keywords, true),
}

function ownTexts({ patterns, minLength, maxLength }: Keywords, isSearched: boolean): ExprId {
  const parts = [...patterns]
  if (minLength > 0 || maxLength !== Number.POSITIVE_INFINITY)
    parts.push(exprs.loop(exprs.anyChar, minLength, maxLength))
  if (parts.length === 0) return exprs.anyText
  return exprs.and(isSearched ? parts.map(searchable) : parts)
}

/** Whether the expression is a chain of single bytes. */
function isLiteral(expr: ExprId): boolean {
  for (let rest = expr; ; rest = at(rest, 2)) {
    const head = kindOf(rest) === Kind.Concat ? at(rest, 1) : rest
    if (kindOf(head) !== Kind.Set || length(head) !== 3 || at(head, 2) !== Empty) return false
    if ((at(head, 1) & 0xff) !== at(head, 1) >>> 8) return false
    if (head === rest) return true
  }
}

function textExpr(text: string): ExprId {
  return text === "" ? Empty : exprs.literal(text)
}

/** null, false and true as a bit set. */
export const NullBit = 1
export const FalseBit = 2
export const TrueBit = 4

export function wordAlgebra(type: number): Algebra<number> {
  const all = type === Types.null ? NullBit : FalseBit | TrueBit
  return {
    type,
    all,
    none: 0,
    and: (a, b) => a & b,
    or: (parts) => parts.reduce((a, b) => a | b, 0),
    not: (a) => all & ~a,
    own: () => all,
    keyOf: () => null,
    size: () => 1,
    value: ({ kind }) =>
      kind === "null" ? NullBit : kind === "false" ? FalseBit : kind === "true" ? TrueBit : 0,
  }
}
