/**
 * The string values of a conjunction as one content automaton.
 *
 * Lengths stay outside the expression and are counted beside it, so `maxLength: 65535` costs
 * nothing. Long enumerations become a trie: each member is tested against all other constraints
 * once, at compile time.
 */
import { TimeError } from "../../deadline.ts"
import { GrammarError, placed } from "../../errors.ts"
import { searchable } from "../../format/searchable.ts"
import { lengthApart } from "../../lexeme/expr/apart.ts"
import { Unbounded } from "../../lexeme/expr/counter.ts"
import { type ExprId, exprs } from "../../lexeme/expr/expr.ts"
import { finiteTexts, matchesText } from "../../lexeme/expr/finite.ts"
import { exprLengths } from "../../lexeme/expr/lengths.ts"
import { MaxCount } from "../../lexeme/expr/nodes.ts"
import {
  exprContent,
  lengthContent,
  NoContent,
  namesContent,
  partsOfContent,
} from "../../lexeme/string/content.ts"
import { buildNames, ExcludedTag, withName } from "../../lexeme/string/names.ts"
import { PlainTag } from "../../lexeme/table.ts"
import { utf8 } from "../../utf8.ts"
import { type Conjunctions, Types } from "../facts/conjunction.ts"
import type { KeywordReader } from "../read/keywordreader.ts"
import type { Keywords } from "../read/keywords.ts"
import { compareNames } from "../read/value.ts"
import type { SchemaNode } from "../refs/refs.ts"
import { type ScalarContext, ScalarFormula, ScalarType, searchableAlgebra, stringAlgebra } from "./scalar.ts"

/** The constraints of the facts on strings: every part must hold. */
interface Parts {
  exprs: ExprId[]
  enums: ReadonlySet<string>[]
  excluded: Set<string>
  /** Lists of excluded texts. Used only together with `enums`; otherwise they are in `exprs`. */
  denied: ReadonlySet<string>[]
  min: number
  max: number
  isNever: boolean
}

export class StringValues extends ScalarType<ExprId> {
  private readonly all: Conjunctions
  private readonly reader: KeywordReader
  /** Like `formula`, for schemas that are never negated. */
  private readonly searched: ScalarFormula<ExprId>
  private readonly contents = new Map<number, number>()
  private readonly lists = new Map<SchemaNode, ReadonlySet<string>>()
  /** Whether there are strings, for conjunctions where no automaton was needed to decide. */
  private readonly isListed = new Map<number, boolean>()

  constructor(context: ScalarContext) {
    super(stringAlgebra, context)
    this.all = context.all
    this.reader = context.reader
    this.searched = new ScalarFormula(searchableAlgebra, context.reader)
  }

  /**
   * Returns the content automaton of the strings in `conjunction`; `NoContent` if there are none.
   */
  content(conjunction: number): number {
    let content = this.contents.get(conjunction)
    if (content === undefined) {
      try {
        content = this.makeContent(conjunction)
      } catch (error) {
        throw placed(error, this.all.pathOf(conjunction))
      }
      this.contents.set(conjunction, content)
    }
    return content
  }

  /**
   * Whether there are strings in `conjunction`. It makes no automaton of a list, since a
   * discriminator has a list for each value.
   */
  hasText(conjunction: number): boolean {
    const content = this.contents.get(conjunction)
    if (content !== undefined) return content !== NoContent
    let isListed = this.isListed.get(conjunction)
    if (isListed === undefined) {
      try {
        const parts = this.partsOf(conjunction)
        if (parts.enums.length === 0) return this.content(conjunction) !== NoContent
        isListed = !parts.isNever && hasListed(parts, together(parts))
      } catch (error) {
        throw placed(error, this.all.pathOf(conjunction))
      }
      this.isListed.set(conjunction, isListed)
    }
    return isListed
  }

  /**
   * Returns the strings of `conjunction`, or null if there are infinitely many or more than `cap`.
   */
  texts(conjunction: number, cap: number): string[] | null {
    const parts = this.partsOf(conjunction)
    if (parts.isNever || parts.min > parts.max) return []
    const expr = exprs.and([
      exprs.anyText,
      ...parts.exprs,
      exprs.not(exprs.or([...parts.excluded].map((text) => exprs.literal(text)))),
    ])
    if (parts.enums.length > 0) return [...enumTexts(parts, expr)]
    if (expr === exprs.anyText && parts.max > 2) return null
    return finiteTexts(exprs.and([expr, exprs.loop(exprs.anyChar, parts.min, parts.max)]), cap)
  }

  /**
   * Returns the strings of `conjunction` as one expression, or null if their lengths must be
   * counted.
   */
  expr(conjunction: number): ExprId | null {
    const { exprs: all, enums, excluded, min, max, isNever } = this.partsOf(conjunction)
    if (isNever || enums.length > 0 || excluded.size > 0) return null
    const expr = exprs.and([exprs.anyText, ...all])
    const { low, high } = exprLengths(expr)
    return min <= low && max >= high && !exprs.isNever(expr) ? expr : null
  }

  /**
   * Returns the strings of `conjunction` as one expression that includes their lengths, or null for
   * lists of strings.
   */
  countedExpr(conjunction: number): ExprId | null {
    const { exprs: all, enums, excluded, min, max, isNever } = this.partsOf(conjunction)
    if (isNever || enums.length > 0) return null
    const others = [...excluded].map((text) => exprs.literal(text))
    return exprs.and([...all, exprs.loop(exprs.anyChar, min, max), exprs.not(exprs.or(others))])
  }

  private makeContent(conjunction: number): number {
    const parts = this.partsOf(conjunction)
    if (parts.isNever || parts.min > parts.max) return NoContent
    const expr = together(parts)
    if (parts.enums.length > 0) {
      const without = this.all.withoutExclusions(conjunction)
      if (without === conjunction) return namesContent(trieOf(enumTexts(parts, expr), PlainTag), NoContent)
      // Items that must differ: thousands of values without a few.
      const listed = this.content(without)
      if (listed === NoContent) return NoContent
      let names = partsOfContent(listed)[1]
      for (const text of parts.excluded) names = withName(names, utf8(text), 0)
      return namesContent(names, NoContent)
    }
    const content = countedContent(expr, parts.min, parts.max)
    return content === NoContent || parts.excluded.size === 0
      ? content
      : namesContent(trieOf(parts.excluded, ExcludedTag), content)
  }

  private partsOf(conjunction: number): Parts {
    const { allowedText } = this.reader
    const parts: Parts = {
      exprs: allowedText === exprs.anyText ? [] : [allowedText],
      enums: [],
      excluded: new Set(),
      denied: [],
      min: 0,
      max: Number.POSITIVE_INFINITY,
      isNever: false,
    }
    const seen = new Set<SchemaNode>()
    const denied: SchemaNode[] = []
    for (const id of this.all.factsOf(conjunction)) {
      const fact = this.all.facts[id]
      if (fact.kind === "schema" && fact.positive) this.addSchema(parts, fact.node, seen)
      else if (fact.kind === "schema") denied.push(fact.node)
      else if (fact.kind === "either") parts.exprs.push(this.ofFact(fact))
      else if (fact.kind === "never") parts.isNever = true
      else if (fact.kind === "equals") {
        const text = fact.value.kind === "string" && fact.value.value.isWellFormed() ? fact.value.value : null
        if (fact.positive) parts.enums.push(new Set(text === null ? [] : [text]))
        else if (text !== null) parts.excluded.add(text)
      }
    }
    for (const node of denied) {
      if (parts.enums.length > 0 && isPlainList(this.reader.of(node))) parts.denied.push(this.listed(node))
      else parts.exprs.push(exprs.not(this.formula.of(node)))
    }
    return parts
  }

  /**
   * Returns the strings of an `enum`. Memoized, since many conjunctions use the same thousands of
   * strings.
   */
  private listed(node: SchemaNode): ReadonlySet<string> {
    let texts = this.lists.get(node)
    if (texts === undefined) {
      const values = this.reader.of(node).enumOf(Types.string)
      texts = new Set(
        values.flatMap((value) =>
          value.kind === "string" && value.value.isWellFormed() ? [value.value] : [],
        ),
      )
      this.lists.set(node, texts)
    }
    return texts
  }

  private addSchema(parts: Parts, node: SchemaNode, seen: Set<SchemaNode>): void {
    if (seen.has(node)) return
    seen.add(node)
    const keywords = this.reader.of(node)
    if ((keywords.types & Types.string) === 0) parts.isNever = true
    if (keywords.enum !== null) parts.enums.push(this.listed(node))
    parts.exprs.push(...keywords.patterns)
    parts.min = Math.max(parts.min, keywords.minLength)
    parts.max = Math.min(parts.max, keywords.maxLength)
    for (const other of keywords.all) this.addSchema(parts, other, seen)
    if (
      keywords.any.length + keywords.one.length + keywords.not.length > 0 ||
      keywords.conditional !== null
    ) {
      parts.exprs.push((this.isMonotone(node, new Set()) ? this.searched : this.formula).of(node))
    }
  }

  /** Whether `node` has no negation in place. */
  private isMonotone(node: SchemaNode, seen: Set<SchemaNode>): boolean {
    if (seen.has(node)) return true
    seen.add(node)
    const { all, any, one, not, conditional } = this.reader.of(node)
    if (one.length + not.length > 0 || conditional !== null) return false
    return [...all, ...any.flat()].every((other) => this.isMonotone(other, seen))
  }
}

/**
 * Returns the language of all expressions of `parts`. If there are several, or if lengths bind,
 * each format is replaced by its searchable part. With a list this is not necessary, since its
 * members are tested one by one.
 */
function together({ exprs: all, enums, min, max }: Parts): ExprId {
  if (all.length === 0) return exprs.anyText
  const both = exprs.and(all)
  if (enums.length > 0) return both
  const { low, high } = exprLengths(both)
  return all.length === 1 && min <= low && max >= high ? both : exprs.and(all.map(searchable))
}

/** Returns the texts of `expr` with `min` to `max` characters. */
function countedContent(expr: ExprId, min: number, max: number): number {
  const apart = lengthApart(expr)
  if (apart !== null) {
    try {
      return boundedContent(apart.expr, Math.max(min, apart.min), Math.min(max, apart.max))
    } catch (error) {
      // The remaining expression may be larger than the whole.
      if (!(error instanceof GrammarError) || error instanceof TimeError) throw error
    }
  }
  return boundedContent(expr, min, max)
}

/** Bounds that every text of the pattern satisfies need no counting. */
function boundedContent(expr: ExprId, min: number, max: number): number {
  const { low, high } = exprLengths(expr)
  const most = max >= high || max > MaxCount ? Unbounded : max
  return lengthContent(exprContent(expr), min <= low ? 0 : min, most)
}

function trieOf(texts: Iterable<string>, tag: number): number {
  const entries = [...new Set(texts)].map((text) => ({ bytes: utf8(text), tag }))
  return buildNames(entries.sort((a, b) => compareNames(a.bytes, b.bytes)))
}

/** Yields the members of all enumerations that all other constraints allow. */
function* enumTexts({ enums, denied, min, max }: Parts, expr: ExprId): Generator<string> {
  const shortest = enums.reduce((short, other) => (other.size < short.size ? other : short))
  const isBounded = min > 0 || max !== Number.POSITIVE_INFINITY
  for (const text of shortest) {
    const length = isBounded ? [...text].length : 0
    if (length < min || length > max) continue
    if (!enums.every((texts) => texts.has(text)) || denied.some((texts) => texts.has(text))) continue
    if (expr === exprs.anyText || matchesText(expr, text)) yield text
  }
}

/** Whether a schema only lists its strings and has no other constraint on them. */
function isPlainList({ enum: values, isCombined, types, patterns, minLength, maxLength }: Keywords): boolean {
  if (values === null || isCombined || (types & Types.string) === 0) return false
  return patterns.length === 0 && minLength === 0 && maxLength === Number.POSITIVE_INFINITY
}

function hasListed(parts: Parts, expr: ExprId): boolean {
  for (const text of enumTexts(parts, expr)) if (!parts.excluded.has(text)) return true
  return false
}
