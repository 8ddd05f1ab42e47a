/**
 * The constraints of one branch on objects: declared names with the conjunction of each value,
 * classes of other names, counts, and obligations ("some property in this class has such a value").
 *
 * Names that any keyword mentions are declared and handled one by one. All others fall into key
 * classes: the non-empty atoms of the Boolean algebra of the relevant patterns. A class with
 * finitely many names is expanded into its names, so every class that remains is infinite. The
 * expanded names come in any order, like those of a class.
 */
import { TimeError } from "../../deadline.ts"
import { checkLimit, fixedBounds, GrammarError, type Limits } from "../../errors.ts"
import { type ExprId, exprs } from "../../lexeme/expr/expr.ts"
import { finiteTexts, matchesText } from "../../lexeme/expr/finite.ts"
import { exprLengths } from "../../lexeme/expr/lengths.ts"
import { anyContent, exprContent, NoContent } from "../../lexeme/string/content.ts"
import { utf8 } from "../../utf8.ts"
import { type Conjunctions, Infinite, Types } from "../facts/conjunction.ts"
import { type Asserted, coverageOf } from "../facts/coverage.ts"
import type { Obligation } from "../facts/obligations.ts"
import { commonOrder, leavesOf, type Verdict } from "../facts/verdicts.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import type { Keywords } from "../read/keywords.ts"
import type { JsonNode } from "../read/reader.ts"
import type { SchemaNode } from "../refs/refs.ts"
import { type Condition, conditionsOf, countedBy } from "./conditions.ts"
import { eventsOf } from "./events.ts"
import { type NameClass, nameClasses } from "./nameclasses.ts"

interface DeclaredName {
  readonly name: string
  readonly bytes: Uint8Array
  /** Conjunction that the value must satisfy. */
  readonly value: number
  readonly isRequired: boolean
  /** The obligations that its value can meet. */
  readonly chances: readonly Chance[]
  /** Bit set of the obligations that are met as long as the name is absent. */
  readonly absence: bigint
}

/** A value that satisfies `fact` meets the obligations in `bits`. */
export interface Chance {
  readonly fact: number
  readonly bits: bigint
}

export interface KeyClass {
  /** The names, including declared ones, and their content automaton. */
  readonly expr: ExprId
  readonly content: number
  readonly value: number
  readonly chances: readonly Chance[]
  /**
   * Returns the conjunction of the value of one name. Present if the class does not split its names
   * by the patterns that they match. Then a value that satisfies `value` suits all names.
   */
  readonly valueByName?: (name: string) => number
}

export interface ObjectSpec {
  /**
   * The names that `properties` declares, in its order, then all others that are handled one by
   * one.
   */
  readonly names: readonly DeclaredName[]
  /** The number of declared names among `names`. Order "schema" applies to these. */
  readonly declared: number
  readonly classes: readonly KeyClass[]
  readonly min: number
  readonly max: number
  readonly obligationCount: number
  /** Bit set of the obligations that must be met when the object ends. */
  readonly owed: bigint
  /** Conditions that the other obligations must meet when the object ends. */
  readonly conditions: readonly Condition[]
  /** Bit set of the obligations that the conditions depend on. */
  readonly counted: bigint
  /** The fact of a chance that any value meets. */
  readonly anything: number
}

/** Patterns with up to this many texts are read as a list of names. */
const FewTexts = 16

/**
 * With at least this many patterns, undeclared names may stay one class. They are split only if
 * there are few states and classes.
 */
const ManyPatterns = 4
const FewStates = 4_000
const FewClasses = 64

/** Patterns with longer texts are not expanded into names. */
const MaxNameLength = 64

const noChances: readonly Chance[] = []
const noConditions: readonly Condition[] = []

/** The constraints of one schema on the values of names. */
interface MemberRules {
  readonly properties: ReadonlyMap<string, SchemaNode>
  readonly patternProperties: readonly { expr: ExprId; node: SchemaNode }[]
  readonly additional: SchemaNode | null
}

interface Parts {
  /** The constraints of the positive schemas on members, in order. */
  keywords: MemberRules[]
  constants: Extract<JsonNode, { kind: "object" }>[]
  properties: Map<string, number[]>
  absent: Set<string>
  required: Set<string>
  /** All names that are handled one by one, in order of first mention. */
  names: Set<string>
  /** The names among them that have a schema or a value of their own. */
  declared: Set<string>
  nameLanguages: ExprId[]
  obligations: Obligation[]
  min: number
  max: number
}

export interface SpecOptions {
  /** False if facts may still be added. */
  isComplete?: boolean
  obligations?: readonly Obligation[]
  verdicts?: readonly Verdict[]
  /**
   * Whether every value of a conjunction satisfies a fact. Returns false if there is no cheap
   * proof.
   */
  isImplied?: (conjunction: number, fact: number) => boolean
  /** Whether some scalar satisfies a conjunction. */
  hasScalar?: (conjunction: number) => boolean
  /** Takes the general way even for a single schema. The tests compare both. */
  isGeneral?: boolean
}

/**
 * Returns the spec for objects of the branch that consists of `facts`. Its values may still turn
 * out to be unsatisfiable.
 */
export function objectSpec(
  all: Conjunctions,
  reader: KeywordReader,
  facts: readonly number[],
  limits: Limits,
  options: SpecOptions = {},
): ObjectSpec {
  const { isComplete = true, obligations = [], verdicts = [], isImplied = () => false } = options
  if (facts.length === 1 && obligations.length + verdicts.length === 0 && !options.isGeneral) {
    const spec = specAtSight(all, reader, facts[0])
    if (spec !== null) return spec
  }
  const parts = collectParts(all, reader, facts, isComplete)
  parts.obligations.push(...obligations)
  const owed = (1n << BigInt(parts.obligations.length)) - 1n
  const conditions = conditionsOf(verdicts, parts.obligations)
  addNames(parts, obligations, verdicts, all.anything)
  checkLimit(fixedBounds, "obligations", parts.obligations.length)
  const asked = eventsOf(parts.obligations)
  const valueIdOf = (name: string) => all.of(valueFacts(all, parts, name))
  const chancesOf = (value: number, met: ReadonlyMap<number, bigint>) =>
    chances(met, (fact) => (isImplied(value, fact) ? all.anything : fact))
  const declare = (name: string): DeclaredName => {
    const value = name.isWellFormed() ? valueIdOf(name) : all.never
    return {
      name,
      bytes: utf8(name),
      value,
      isRequired: parts.required.has(name),
      chances: chancesOf(value, asked.ofName(name)),
      absence: asked.absences.get(name) ?? 0n,
    }
  }
  const patterns = patternsOf(parts)
  const whole = patterns.size < ManyPatterns ? null : wholeClass(all, parts, options.hasScalar, valueIdOf)
  const told = toldApart(patterns, parts, limits, whole !== null)
  const chancesIn = (value: number, matched: ReadonlySet<ExprId>) => chancesOf(value, asked.ofClass(matched))
  const classes =
    told === null && whole !== null ? [whole] : keyClasses(all, parts, limits, told ?? [], chancesIn)
  const isDeclared = (name: string) => parts.declared.has(name)
  const others = [...parts.names].filter((name) => !isDeclared(name))
  return {
    names: [...[...parts.names].filter(isDeclared), ...others].map(declare),
    declared: parts.declared.size,
    classes,
    min: parts.min,
    max: parts.max,
    obligationCount: parts.obligations.length,
    owed,
    conditions,
    counted: conditions.reduce((bits, condition) => bits | countedBy(condition), 0n),
    anything: all.anything,
  }
}

/**
 * Returns the classes whose names may have a value. If a class has finitely many names, they are
 * added to `parts` instead.
 */
function keyClasses(
  all: Conjunctions,
  parts: Parts,
  limits: Limits,
  told: readonly NameClass[],
  chancesIn: (value: number, matched: ReadonlySet<ExprId>) => readonly Chance[],
): KeyClass[] {
  const classes: KeyClass[] = []
  for (const { expr, matched } of told) {
    const value = all.of(classFacts(all, parts, matched))
    if (value === all.never || all.isFalse(value)) continue
    const texts = expr === exprs.anyText ? null : finiteTexts(expr, limits.finiteValues)
    if (texts !== null) {
      for (const text of texts) parts.names.add(text)
      continue
    }
    const content = expr === exprs.anyText ? anyContent : exprContent(expr)
    classes.push({ expr, content, value, chances: chancesIn(value, matched) })
  }
  return classes
}

/**
 * Returns the chances to meet the obligations in `met`, which are listed by fact. `known` maps all
 * facts that always hold to one fact.
 */
function chances(met: ReadonlyMap<number, bigint>, known: (fact: number) => number): readonly Chance[] {
  if (met.size === 0) return noChances
  const bits = new Map<number, bigint>()
  for (const [fact, bit] of met) {
    const sure = known(fact)
    bits.set(sure, (bits.get(sure) ?? 0n) | bit)
  }
  return [...bits].map(([fact, bits]) => ({ fact, bits }))
}

/**
 * Adds the names that obligations and verdicts mention. Those with a schema there become declared.
 * The names of verdicts get an order that suits each of their schemas, if there is one.
 */
function addNames(
  parts: Parts,
  obligations: readonly Obligation[],
  verdicts: readonly Verdict[],
  anything: number,
): void {
  for (const obligation of obligations) {
    for (const event of obligation) {
      if (event.kind === "some") continue
      parts.names.add(event.name)
      if (event.kind === "value" && event.fact !== anything) parts.declared.add(event.name)
    }
  }
  const lists: (readonly string[])[] = []
  for (const verdict of verdicts)
    for (const { names } of leavesOf(verdict)) lists.push(names.filter((name) => !parts.declared.has(name)))
  for (const name of commonOrder(lists) ?? lists.flat()) {
    parts.names.add(name)
    parts.declared.add(name)
  }
  for (const obligation of parts.obligations) {
    for (const event of obligation) {
      if (event.kind !== "some") parts.names.add(event.name)
      else if (typeof event.names !== "number") for (const name of event.names) parts.names.add(name)
    }
  }
}

/**
 * Returns a function from a name to the conjunction of its value, by the facts of a branch. It
 * computes on demand.
 */
export function memberValues(
  all: Conjunctions,
  reader: KeywordReader,
  facts: readonly number[],
): (name: string) => number {
  let parts: Parts | null = null
  return (name) => {
    parts ??= collectParts(all, reader, facts, false)
    return name.isWellFormed() ? all.of(valueFacts(all, parts, name)) : all.never
  }
}

/**
 * Collects the constraints of `facts`. Before a branch is complete its coverage is unknown, so
 * `unevaluatedProperties` is ignored.
 */
function collectParts(
  all: Conjunctions,
  reader: KeywordReader,
  facts: readonly number[],
  isComplete: boolean,
): Parts {
  const parts = emptyParts(reader)
  for (const id of facts) {
    const fact = all.facts[id]
    switch (fact.kind) {
      case "schema":
        if (fact.positive) {
          const keywords = reader.of(fact.node)
          addKeywords(parts, keywords)
          if (isComplete && keywords.unevaluatedProperties !== null) {
            const coverage = coverageOf(reader, fact.node, Types.object, asserted(all, reader, facts))
            if (!coverage.everything)
              parts.keywords.push({ ...coverage, additional: keywords.unevaluatedProperties })
          }
        }
        break
      case "equals":
        if (fact.positive && fact.value.kind === "object") {
          parts.constants.push(fact.value)
          for (const name of fact.value.keys) {
            parts.names.add(name)
            parts.declared.add(name)
            parts.required.add(name)
          }
        }
        break
      case "present":
        parts.names.add(fact.name)
        parts.required.add(fact.name)
        break
      case "absent":
        parts.names.add(fact.name)
        parts.absent.add(fact.name)
        break
      case "property":
        parts.names.add(fact.name)
        parts.declared.add(fact.name)
        parts.properties.set(fact.name, [...(parts.properties.get(fact.name) ?? []), fact.fact])
        break
      case "some":
        parts.obligations.push([fact])
        break
      case "size":
        parts.min = Math.max(parts.min, fact.min)
        parts.max = Math.min(parts.max, fact.max)
        break
      default:
    }
  }
  return parts
}

function emptyParts({ allowedText }: KeywordReader): Parts {
  return {
    keywords: [],
    constants: [],
    properties: new Map(),
    absent: new Set(),
    required: new Set(),
    names: new Set(),
    declared: new Set(),
    nameLanguages: allowedText === exprs.anyText ? [] : [allowedText],
    obligations: [],
    min: 0,
    max: Infinite,
  }
}

/**
 * Returns the assertions of the branch: schemas by their facts, names by the schemas that require
 * them.
 */
export function asserted(all: Conjunctions, reader: KeywordReader, facts: readonly number[]): Asserted {
  const ids = new Set(facts)
  return {
    holds: (node) => ids.has(all.schema(node)),
    fails: (node) => ids.has(all.schema(node, false)),
    isAbsent: (name) =>
      facts.some((id) => {
        const fact = all.facts[id]
        return fact.kind === "absent" && fact.name === name
      }),
    isPresent: (name) =>
      facts.some((id) => {
        const fact = all.facts[id]
        if (fact.kind === "present") return fact.name === name
        return fact.kind === "schema" && fact.positive && reader.of(fact.node).required.includes(name)
      }),
  }
}

function addKeywords(parts: Parts, keywords: Keywords): void {
  for (const name of keywords.properties.keys()) {
    parts.names.add(name)
    parts.declared.add(name)
  }
  for (const name of keywords.required) {
    parts.names.add(name)
    parts.required.add(name)
  }
  if (keywords.propertyNames !== null) parts.nameLanguages.push(keywords.namesOf(keywords.propertyNames))
  if (keywords.properties.size > 0 || keywords.patternProperties.length > 0 || keywords.additional !== null) {
    parts.keywords.push(keywords)
  }
  parts.min = Math.max(parts.min, keywords.minProperties)
  parts.max = Math.min(parts.max, keywords.maxProperties)
}

/** Returns the facts about the value of the property `name`. */
function valueFacts(all: Conjunctions, parts: Parts, name: string): number[] {
  const facts = [...(parts.properties.get(name) ?? [])]
  if (parts.absent.has(name) || parts.nameLanguages.some((names) => !matchesText(names, name)))
    facts.push(all.impossible)
  for (const constant of parts.constants) {
    const value = constant.members.get(name)
    facts.push(value === undefined ? all.impossible : all.fact({ kind: "equals", value, positive: true }))
  }
  for (const { properties, patternProperties, additional } of parts.keywords) {
    const declared = properties.get(name)
    let isMentioned = declared !== undefined
    if (declared !== undefined) facts.push(all.schema(declared))
    for (const { expr, node } of patternProperties) {
      if (!matchesText(expr, name)) continue
      isMentioned = true
      facts.push(all.schema(node))
    }
    if (!isMentioned && additional !== null) facts.push(all.schema(additional))
  }
  return facts
}

/**
 * Returns the facts about the value of an undeclared name that matches the patterns in `matched`.
 */
function classFacts(all: Conjunctions, parts: Parts, matched: ReadonlySet<ExprId>): number[] {
  const facts: number[] = []
  if (parts.constants.length > 0) facts.push(all.impossible)
  for (const { patternProperties, additional } of parts.keywords) {
    let isMatched = false
    for (const { expr, node } of patternProperties) {
      if (expr !== exprs.anyText && !matched.has(expr)) continue
      isMatched = true
      facts.push(all.schema(node))
    }
    if (!isMatched && additional !== null) facts.push(all.schema(additional))
  }
  return facts
}

/**
 * Returns the patterns that split names. Patterns with few texts become names instead, since they
 * split no class.
 */
function patternsOf(parts: Parts): ReadonlySet<ExprId> {
  const patterns = new Set<ExprId>()
  if (parts.constants.length > 0) return patterns
  for (const { patternProperties } of parts.keywords)
    for (const { expr } of patternProperties) patterns.add(expr)
  // Names in the lists of obligations are declared.
  for (const event of parts.obligations.flat())
    if (event.kind === "some" && typeof event.names === "number") patterns.add(event.names)
  patterns.delete(exprs.anyText)
  for (const pattern of patterns) {
    const texts = fewTexts(pattern)
    if (texts === null) continue
    for (const text of texts) parts.names.add(text)
    patterns.delete(pattern)
  }
  return patterns
}

/**
 * Returns the classes of names. If `hasOtherWay`, returns null where they are many or hard to
 * decide.
 */
function toldApart(
  patterns: ReadonlySet<ExprId>,
  parts: Parts,
  limits: Limits,
  hasOtherWay: boolean,
): readonly NameClass[] | null {
  if (parts.constants.length > 0) return []
  if (!hasOtherWay) return nameClasses(patterns, parts.nameLanguages, limits)
  const few = { ...limits, nameStates: FewStates, nameClasses: FewClasses }
  try {
    return nameClasses(patterns, parts.nameLanguages, few)
  } catch (error) {
    if (error instanceof GrammarError && error.kind === "limit" && !(error instanceof TimeError)) return null
    throw error
  }
}

/**
 * Returns all undeclared names as one class, whatever patterns they match. Returns null if some
 * name might have no value, as far as a cheap test shows: a scalar that satisfies the schemas of
 * all patterns together is a value of each name.
 */
function wholeClass(
  all: Conjunctions,
  parts: Parts,
  hasScalar: SpecOptions["hasScalar"],
  valueByName: (name: string) => number,
): KeyClass | null {
  if (hasScalar === undefined || parts.obligations.length > 0 || parts.constants.length > 0) return null
  const facts: number[] = []
  const languages: ExprId[] = [exprs.anyText, ...parts.nameLanguages]
  for (const { patternProperties, additional } of parts.keywords) {
    for (const { node } of patternProperties) facts.push(all.schema(node))
    if (additional === null) continue
    if (all.isFalse(all.of([all.schema(additional)])))
      languages.push(exprs.or(patternProperties.map(({ expr }) => expr)))
    else facts.push(all.schema(additional))
  }
  const value = all.of(facts)
  if (!hasScalar(value)) return null
  const expr = exprs.and(languages)
  const content = expr === exprs.anyText ? anyContent : exprContent(expr)
  return content === NoContent ? null : { expr, content, value, chances: noChances, valueByName }
}

/** Returns the texts of `pattern`, or null if there are many. */
function fewTexts(pattern: ExprId): string[] | null {
  const { high } = exprLengths(pattern)
  return high > MaxNameLength || exprs.isNever(pattern) ? null : finiteTexts(pattern, FewTexts)
}

/**
 * Returns the spec of a schema like most: each declared name has a schema, all others share one,
 * and nothing is combined. Null for any other schema. Without this, compiling MaskBench's median
 * schema takes 6 to 12 % longer.
 */
function specAtSight(all: Conjunctions, reader: KeywordReader, id: number): ObjectSpec | null {
  const fact = all.facts[id]
  if (fact.kind !== "schema" || !fact.positive) return null
  const keywords = reader.of(fact.node)
  const { properties, additional, required } = keywords
  const isSimple =
    keywords.patternProperties.length === 0 &&
    keywords.propertyNames === null &&
    keywords.unevaluatedProperties === null
  if (!isSimple) return null
  const other = additional === null ? all.everything : all.of([all.schema(additional)])
  const requiredNames = new Set(required)
  const names: DeclaredName[] = []
  const declare = (name: string, value: number) =>
    names.push({
      name,
      bytes: utf8(name),
      value: reader.allows(name) ? value : all.never,
      isRequired: requiredNames.has(name),
      chances: noChances,
      absence: 0n,
    })
  for (const [name, node] of properties) declare(name, all.of([all.schema(node)]))
  for (const name of requiredNames) if (!properties.has(name)) declare(name, other)
  const isClosed = other === all.never || all.isFalse(other)
  const expr = reader.allowedText
  return {
    names,
    declared: properties.size,
    classes: isClosed ? [] : [{ expr, content: exprContent(expr), value: other, chances: noChances }],
    min: keywords.minProperties,
    max: keywords.maxProperties,
    obligationCount: 0,
    owed: 0n,
    conditions: noConditions,
    counted: 0n,
    anything: all.anything,
  }
}
