/**
 * Types that can be decided for a schema at sight: the types all of whose values satisfy it, the
 * types with some value that does, and the types that may have one. Each is a number of type bits;
 * a type that is not decided is left open in all three.
 *
 * One pass decides, linear in the keywords that it looks at. It tests a schema's own keywords on
 * the smallest value that they could admit (an empty object or array, else the required members
 * alone), and combines the bits of in-place schemas. If some type has a value, no spec, clause or
 * automaton is needed to find that out. A schema is finished after all the schemas of which its
 * value is made, so the order in which they finish is a rank (see `satisfiable.ts`).
 */
import { TimeError } from "../../deadline.ts"
import { GrammarError } from "../../errors.ts"
import { exprs } from "../../lexeme/expr/expr.ts"
import { exprLengths } from "../../lexeme/expr/lengths.ts"
import { numbers, pointCell } from "../../lexeme/number/number.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import type { Keywords } from "../read/keywords.ts"
import type { JsonNode } from "../read/reader.ts"
import { decimalOfNode } from "../read/value.ts"
import type { SchemaNode } from "../refs/refs.ts"
import { numberAlgebra } from "../scalar/numberalgebra.ts"
import { AllTypes, type Conjunctions, type Fact, Infinite, Types, typeBit } from "./conjunction.ts"
import { areDisjoint } from "./oneof.ts"

export interface Plain {
  /** Types all of whose values satisfy the schema. */
  readonly all: number
  /** Types with some value that satisfies it; a superset of `all`. */
  readonly some: number
  /** Types that may have a value; all other types have none. */
  readonly possible: number
}

const everything: Plain = { all: AllTypes, some: AllTypes, possible: AllTypes }
const nothing: Plain = { all: 0, some: 0, possible: 0 }
const unknown: Plain = { all: 0, some: 0, possible: AllTypes }

/** The greatest depth of nesting that is followed; deeper schemas are left open. */
const MaxDepth = 256
/** Rank of the empty conjunction. */
const LowestRank = -1

export class PlainSchemas {
  private readonly all: Conjunctions
  private readonly reader: KeywordReader
  /** Called when a schema is found to have a value. */
  private readonly nextRank: () => number
  /** By node id. */
  private readonly known: (Plain | undefined)[] = []
  private readonly ranks: (number | undefined)[] = []
  private readonly isOpen: boolean[] = []
  /** By conjunction. */
  private readonly conjunctions: (Plain | undefined)[] = []
  private depth = 0
  private readonly isBlind: boolean
  private readonly isAnyTextAllowed: boolean

  /** `isBlind` turns these shortcuts off, so that tests can compare both results. */
  constructor(all: Conjunctions, reader: KeywordReader, nextRank: () => number, isBlind = false) {
    this.all = all
    this.reader = reader
    this.nextRank = nextRank
    this.isBlind = isBlind
    this.isAnyTextAllowed = reader.allowedText === exprs.anyText
  }

  /**
   * Whether `conjunction` may have values of the type with bit `type`. The answer false is certain.
   */
  isPossible(conjunction: number, type: number): boolean {
    return (this.ofConjunction(conjunction).possible & type) !== 0
  }

  /**
   * Returns a rank above those of all parts of `conjunction` if it has a value at sight, else null.
   */
  rankOf(conjunction: number): number | null {
    if (this.ofConjunction(conjunction).some === 0) return null
    const facts = this.all.factsOf(conjunction)
    if (facts.length === 0) return LowestRank
    const first = this.all.facts[facts[0]]
    return facts.length === 1 && first.kind === "schema" && first.positive
      ? (this.ranks[first.node.id] as number)
      : this.nextRank()
  }

  ofConjunction(conjunction: number): Plain {
    let plain = this.conjunctions[conjunction]
    if (plain === undefined) {
      plain = this.isBlind ? unknown : everything
      for (const id of this.all.factsOf(conjunction)) plain = both(plain, this.ofFact(this.all.facts[id]))
      this.conjunctions[conjunction] = plain
    }
    return plain
  }

  private ofFact(fact: Fact): Plain {
    switch (fact.kind) {
      case "schema":
        return fact.positive ? this.of(fact.node) : this.not(fact.node)
      case "equals":
        if (fact.positive) {
          const bit = typeBit(fact.value)
          return { all: 0, some: this.isPlainValue(fact.value) ? bit : 0, possible: bit }
        }
        return unknown
      case "never":
        return nothing
      case "either":
        return fact.positive ? this.anyOf(fact.facts.map((id) => this.ofFact(this.all.facts[id]))) : unknown
      default:
        return unknown
    }
  }

  of(node: SchemaNode): Plain {
    const known = this.known[node.id]
    if (known !== undefined) return known
    if (this.isOpen[node.id] || this.depth > MaxDepth || this.isBlind) return unknown
    let plain: Plain
    this.isOpen[node.id] = true
    this.depth++
    try {
      plain = this.look(this.reader.of(node))
    } finally {
      this.depth--
      this.isOpen[node.id] = false
    }
    if (plain.some !== 0) this.ranks[node.id] = this.nextRank()
    this.known[node.id] = plain
    return plain
  }

  private look(keywords: Keywords): Plain {
    let result = keywords.enum === null ? this.own(keywords) : this.values(keywords, keywords.enum)
    if (!keywords.isCombined) return result
    for (const node of keywords.all) result = both(result, this.of(node))
    for (const nodes of keywords.any) result = both(result, this.anyOf(nodes.map((node) => this.of(node))))
    for (const nodes of keywords.one) result = both(result, this.one(nodes))
    for (const node of keywords.not) result = both(result, this.not(node))
    if (keywords.conditional !== null) {
      const { test, yes, no } = keywords.conditional
      if (yes !== null || no !== null) {
        const holds = this.of(test)
        const [left, right] = [yes, no].map((node) => (node === null ? everything : this.of(node)))
        const all = left.all & right.all
        const some = all | (holds.all & left.some) | (~holds.possible & right.some)
        result = both(result, { all, some, possible: left.possible | right.possible })
      }
    }
    return result
  }

  /** A value of one branch that no other branch takes satisfies `oneOf`. */
  private one(nodes: readonly SchemaNode[]): Plain {
    let [all, some, once, twice] = [0, 0, 0, 0]
    for (const node of nodes) {
      const plain = this.of(node)
      all |= plain.all
      some |= plain.some
      twice |= once & plain.possible
      once |= plain.possible
    }
    const single = once & ~twice
    const { object } = Types
    const isObject =
      (some & ~single & object) !== 0 &&
      nodes.some(
        (node) =>
          (this.of(node).some & object) !== 0 &&
          nodes.every((other) => other === node || areDisjoint(this.reader, node, other, object)),
      )
    return { all: all & single, some: (some & single) | (isObject ? object : 0), possible: once }
  }

  private anyOf(parts: readonly Plain[]): Plain {
    let [all, some, possible] = [0, 0, 0]
    for (const plain of parts) {
      all |= plain.all
      some |= plain.some
      possible |= plain.possible
    }
    return { all, some, possible }
  }

  private not(node: SchemaNode): Plain {
    const plain = this.of(node)
    const keywords = this.reader.of(node)
    const all = AllTypes & ~plain.possible
    let some = all
    // A finite list of values leaves others, and an object without members lacks the required ones.
    if (keywords.enum !== null) some |= Types.string | Types.number
    if (keywords.required.length > 0) some |= Types.object
    return { all, some, possible: AllTypes & ~plain.all }
  }

  /** Returns the part of the own keywords that `enum` leaves. */
  private values(keywords: Keywords, values: readonly JsonNode[]): Plain {
    let [some, possible] = [0, 0]
    for (const value of values) {
      const bit = typeBit(value) & keywords.types
      possible |= bit
      if ((some & bit) === 0 && this.admits(keywords, value)) some |= bit
    }
    return { all: 0, some, possible }
  }

  private admits(keywords: Keywords, value: JsonNode): boolean {
    switch (value.kind) {
      case "string": {
        if (keywords.patterns.length > 0 || !this.reader.allows(value.value)) return false
        const { minLength, maxLength } = keywords
        if (minLength === 0 && maxLength >= value.value.length) return true
        const length = [...value.value].length
        return length >= minLength && length <= maxLength
      }
      case "number":
        return (
          keywords.number === null ||
          !numbers.isEmpty(numberAlgebra.and([keywords.number], [pointCell(decimalOfNode(value))]))
        )
      case "object":
        return value.keys.length === 0 && isAnyObject(keywords)
      case "array":
        return value.items.length === 0 && isAnyArray(keywords)
      default:
        return true
    }
  }

  private own(keywords: Keywords): Plain {
    const { types } = keywords
    let all = types & (Types.null | Types.boolean)
    let some = all
    let possible = types
    if ((types & Types.string) !== 0) {
      const { patterns, minLength, maxLength } = keywords
      if (patterns.length === 0 && minLength === 0 && maxLength === Infinite) all |= Types.string
      else if (hasText(keywords) && (patterns.length === 0 || this.isAnyTextAllowed)) some |= Types.string
    }
    if ((types & Types.number) !== 0) {
      if (keywords.number === null) all |= Types.number
      else if (numbers.isEmpty([keywords.number])) possible &= ~Types.number
      else some |= Types.number
    }
    if ((types & Types.object) !== 0) {
      if (isAnyObject(keywords)) all |= Types.object
      else if (this.hasObject(keywords)) some |= Types.object
    }
    if ((types & Types.array) !== 0) {
      if (isAnyArray(keywords)) all |= Types.array
      else if (this.hasArray(keywords)) some |= Types.array
    }
    return { all, some: some | all, possible }
  }

  /** Whether the value is a scalar that a text may hold. */
  private isPlainValue(value: JsonNode): boolean {
    return value.kind === "string"
      ? this.reader.allows(value.value)
      : value.kind !== "object" && value.kind !== "array"
  }

  /**
   * Whether an object of the required members, if necessary with further new names, satisfies the
   * keywords.
   */
  private hasObject(keywords: Keywords): boolean {
    const { required, properties, additional, minProperties, maxProperties } = keywords
    const { dependentRequired, dependentSchemas } = keywords
    const isOpen = keywords.patternProperties.length === 0 && keywords.propertyNames === null
    if (required.length > 0 || minProperties > 0) {
      if (!isOpen || keywords.unevaluatedProperties !== null) return false
      if (dependentRequired.length > 0 || dependentSchemas.length > 0) {
        const names = new Set(required)
        const isTriggered = ([name]: readonly [string, unknown]) => names.has(name)
        if (dependentRequired.some(isTriggered) || dependentSchemas.some(isTriggered)) return false
      }
      let isAdditional = false
      if (minProperties > 0 || maxProperties < Infinite) {
        // A name that is listed twice is one member.
        const { size } = new Set(required)
        if (Math.max(size, minProperties) > maxProperties) return false
        isAdditional = size < minProperties
        // Which names are possible depends on all schemas in force.
        if (isAdditional && this.reader.closesObjects && keywords.declaresNames) return false
      }
      for (const name of required) {
        if (!this.reader.allows(name)) return false
        const declared = properties.get(name)
        if (declared === undefined) isAdditional = true
        else if (this.of(declared).some === 0) return false
      }
      return !isAdditional || additional === null || this.of(additional).some !== 0
    }
    return true
  }

  /** Whether an array with the least number of items satisfies the keywords. */
  private hasArray(keywords: Keywords): boolean {
    const { minItems, maxItems, contains, unique, prefix, rest } = keywords
    if (minItems > maxItems || (contains !== null && contains.min > 0)) return false
    if (minItems === 0) return true
    if (contains !== null || keywords.unevaluatedItems !== null || (unique && minItems > 1)) return false
    for (let i = 0; i < Math.min(minItems, prefix.length); i++)
      if (this.of(prefix[i]).some === 0) return false
    return minItems <= prefix.length || rest === null || this.of(rest).some !== 0
  }
}

/**
 * Returns the values that satisfy both. If each of them leaves something out, it is open whether
 * anything remains.
 */
function both(a: Plain, b: Plain): Plain {
  if (a === everything) return b
  if (b === everything) return a
  const all = a.all & b.all
  return { all, some: all | (a.all & b.some) | (a.some & b.all), possible: a.possible & b.possible }
}

function isAnyObject(keywords: Keywords): boolean {
  return (
    keywords.required.length === 0 &&
    keywords.properties.size === 0 &&
    keywords.patternProperties.length === 0 &&
    keywords.additional === null &&
    keywords.propertyNames === null &&
    keywords.minProperties === 0 &&
    keywords.maxProperties === Infinite &&
    keywords.dependentRequired.length === 0 &&
    keywords.dependentSchemas.length === 0 &&
    keywords.unevaluatedProperties === null
  )
}

function isAnyArray(keywords: Keywords): boolean {
  return (
    keywords.prefix.length === 0 &&
    keywords.rest === null &&
    keywords.minItems === 0 &&
    keywords.maxItems === Infinite &&
    keywords.contains === null &&
    !keywords.unique &&
    keywords.unevaluatedItems === null
  )
}

function hasText({ patterns, minLength, maxLength }: Keywords): boolean {
  if (minLength > maxLength || patterns.length > 1) return false
  if (patterns.length === 0) return true
  const [expr] = patterns
  const { low, high, from, to } = exprLengths(expr)
  if (Math.max(minLength, from) <= Math.min(maxLength, to)) return true
  if (minLength > low || maxLength < high) return false
  try {
    return !exprs.isNever(expr)
  } catch (error) {
    // The pattern is too hard to decide here. The code that must decide it reports the error with
    // its path.
    if (error instanceof GrammarError && !(error instanceof TimeError)) return false
    throw error
  }
}
