/**
 * The values of a conjunction that has finitely many. Unique items must know when they run out.
 *
 * Scalars are listed by their own languages. Containers are products of their parts if nothing
 * connects the parts. Otherwise the rules that read them from a text enumerate them member by
 * member. Values that contain values of their own conjunction are a least fixpoint, computed in
 * rounds from the empty set. If a few rounds in a row each add new values, there are infinitely
 * many, since every new value is a part of newer ones. Anything with more than
 * `limits.finiteValues` values counts as infinite: more items than that are never needed to notice
 * the difference.
 */
import { TimeError } from "../deadline.ts"
import { GrammarError, type Limits, limitError, placed } from "../errors.ts"
import { ArrayRules } from "./array/arrayrules.ts"
import type { ArraySpec } from "./array/arrayspec.ts"
import { type Conjunctions, Infinite } from "./facts/conjunction.ts"
import { ObjectRules, type Progress } from "./object/objectrules.ts"
import type { ObjectSpec } from "./object/objectspec.ts"
import type { JsonNode } from "./read/reader.ts"
import { valueKey } from "./read/value.ts"
import { type Demands, type ItemValues, wholeValues } from "./values.ts"

/** The sources of the values. */
export interface Listed {
  /** Returns the scalars of a conjunction, or null if there are infinitely many. */
  scalars(conjunction: number): readonly JsonNode[] | null
  arrays(conjunction: number): readonly ArraySpec[]
  objects(conjunction: number): readonly ObjectSpec[]
}

/** Null if there are infinitely many. */
type Values = readonly JsonNode[] | null

/**
 * A conjunction whose values are being listed: the values of the last round, and whether one of its
 * parts asked for them.
 */
interface Round {
  readonly depth: number
  values: readonly JsonNode[]
  isAsked: boolean
}

/** After this many rounds that each add new values, the values count as infinite. */
const MaxRounds = 8

/** The cost in steps of a value that rules decide. A value that is only examined costs one. */
const RulesWork = 16

/** The number of items that are copied in one step. */
const CopiedItems = 16

const range = { start: 0, end: 0 }

export class FiniteValues {
  private readonly all: Conjunctions
  private readonly listed: Listed
  private readonly demands: Demands
  private readonly limits: Limits
  private readonly known = new Map<number, Values>()
  private readonly facts = new Map<number, readonly number[] | null>()
  /** Texts of values, shortest first. */
  private readonly texts = new Map<number, { text: string; fact: number }[]>()
  private readonly rounds = new Map<number, Round>()
  /** The outermost round on which the current list depends. */
  private lowest = Number.POSITIVE_INFINITY
  private steps = 0

  constructor(all: Conjunctions, listed: Listed, demands: Demands, limits: Limits) {
    this.all = all
    this.listed = listed
    this.demands = demands
    this.limits = limits
  }

  /**
   * Returns the fact "differs from it" for each value, or null if there are infinitely many values.
   */
  differences(conjunction: number): readonly number[] | null {
    const known = this.facts.get(conjunction)
    if (known !== undefined) return known
    const values = this.of(conjunction)
    const facts = values?.map((value) => this.different(value)) ?? null
    if (this.known.has(conjunction)) this.facts.set(conjunction, facts)
    return facts
  }

  /**
   * Returns a short text of a value of `conjunction` that none of these facts excludes. Returns
   * null if it has too many values, or none with a plain text.
   */
  shortestOther(conjunction: number, excluded: ReadonlySet<number>): string | null {
    let texts = this.texts.get(conjunction)
    if (texts === undefined) {
      texts = []
      for (const value of this.ofIfFew(conjunction)) {
        const text = plainText(value)
        if (text !== null) texts.push({ text, fact: this.different(value) })
      }
      texts.sort((a, b) => a.text.length - b.text.length)
      this.texts.set(conjunction, texts)
    }
    return texts.find(({ fact }) => !excluded.has(fact))?.text ?? null
  }

  /**
   * Returns the values of `conjunction`, or none if there are too many or the search takes too
   * long.
   */
  private ofIfFew(conjunction: number): readonly JsonNode[] {
    try {
      return this.of(conjunction) ?? []
    } catch (error) {
      const isTime = error instanceof TimeError
      if (error instanceof GrammarError && error.kind === "limit" && !isTime) return []
      throw error
    }
  }

  private different(value: JsonNode): number {
    return this.all.fact({ kind: "equals", value, positive: false })
  }

  /** Returns the values of `conjunction`, each once. */
  private of(conjunction: number): Values {
    const known = this.known.get(conjunction)
    if (known !== undefined) return known
    const outer = this.rounds.get(conjunction)
    if (outer !== undefined) {
      outer.isAsked = true
      this.lowest = Math.min(this.lowest, outer.depth)
      return outer.values
    }
    const depth = this.rounds.size
    if (depth === 0) this.steps = 0
    const round: Round = { depth, values: [], isAsked: false }
    const before = this.lowest
    this.lowest = Number.POSITIVE_INFINITY
    let values: Values
    let reached = depth
    try {
      this.rounds.set(conjunction, round)
      values = this.rest(conjunction, round)
      reached = this.lowest
    } catch (error) {
      throw placed(error, this.all.pathOf(conjunction))
    } finally {
      this.rounds.delete(conjunction)
      this.lowest = before
    }
    const isFinal = reached >= depth
    if (!isFinal) this.lowest = Math.min(before, reached)
    // A list that depends on a round further out may still grow.
    if (isFinal || values === null) this.known.set(conjunction, values)
    return values
  }

  private rest(conjunction: number, round: Round): Values {
    for (let count = 0; ; count++) {
      round.isAsked = false
      const values = this.list(conjunction)
      if (values === null || !round.isAsked || values.length === round.values.length) return values
      if (count === MaxRounds) return null
      round.values = values
    }
  }

  private list(conjunction: number): Values {
    const scalars = this.listed.scalars(conjunction)
    if (scalars === null) return null
    const arrays = this.listed.arrays(conjunction)
    const objects = this.listed.objects(conjunction)
    if (arrays.length === 0 && objects.length === 0) return scalars
    const distinct = new Map<string, JsonNode>()
    for (const value of scalars) distinct.set(valueKey(value), value)
    for (const values of this.containers(arrays, objects)) {
      if (values === null) return null
      for (const value of values) distinct.set(valueKey(value), value)
      if (distinct.size > this.limits.finiteValues) return null
    }
    return [...distinct.values()]
  }

  private *containers(arrays: readonly ArraySpec[], objects: readonly ObjectSpec[]): Generator<Values> {
    for (const spec of arrays) yield this.arrays(spec)
    for (const spec of objects) yield this.objects(spec)
  }

  private hasValue(conjunction: number): boolean {
    return conjunction !== this.all.never && this.of(conjunction)?.length !== 0
  }

  /** Returns the functions that rules need, with the values known in this round. */
  private get itemValues(): ItemValues {
    return {
      limits: this.limits,
      and: (conjunction, facts) => this.all.and(conjunction, facts),
      isProductive: (conjunction) => this.hasValue(conjunction),
      differences: (conjunction) => this.differences(conjunction),
    }
  }

  private arrays(spec: ArraySpec): Values {
    if (spec.twins) {
      const arrays = this.arrays({ ...spec, twins: false })
      return arrays?.filter((array) => array.kind === "array" && hasEqualItems(array.items)) ?? null
    }
    if (spec.unique || spec.contains.length > 0) return this.tiedArrays(spec)
    const { items, min, max } = spec
    const itemAt = (index: number) => items[Math.min(index, items.length - 1)]
    if (min > max) return []
    for (let i = 0; i < Math.min(min, items.length); i++) if (!this.hasValue(items[i])) return []
    // One value is enough: there is an array of each length.
    if (max === Infinite && items.every((item) => this.hasValue(item))) return null
    const result: JsonNode[] = []
    let rows: JsonNode[][] = [[]]
    for (let length = 0; ; length++) {
      if (length >= min) for (const row of rows) result.push({ kind: "array", items: row, ...range })
      if (length === max || rows.length === 0) return result
      const values = this.of(itemAt(length))
      if (
        values === null ||
        rows.length * values.length > this.limits.finiteValues ||
        result.length > this.limits.finiteValues
      )
        return null
      this.spend(rows.length * values.length * (1 + Math.floor(length / CopiedItems)))
      rows = rows.flatMap((row) => values.map((item) => [...row, item]))
    }
  }

  /** Returns arrays whose items depend on each other. */
  private tiedArrays(spec: ArraySpec): Values {
    const domain = spec.items.length === 1 && spec.contains.length === 0 ? this.of(spec.items[0]) : null
    if (domain !== null && hasMoreSequences(domain.length, spec.min, spec.max, this.limits.finiteValues))
      return null
    const rules = new ArrayRules(spec, this.itemValues)
    if (!rules.isPossible()) return []
    const result: JsonNode[] = []
    const open = [{ row: [] as JsonNode[], progress: rules.start }]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { row, progress } = next
      if (rules.canClose(progress)) result.push({ kind: "array", items: row, ...range })
      for (const way of rules.ways(progress)) {
        const values = this.of(way.plain)
        if (values === null || result.length > this.limits.finiteValues) return null
        this.spend(RulesWork * (1 + values.length))
        for (const value of values) {
          const different = this.different(value)
          if (progress.seen.includes(different)) continue
          const seen = spec.unique ? [...progress.seen, different].sort((a, b) => a - b) : progress.seen
          const after = { ...way.progress, seen }
          if (rules.canFinish(after)) open.push({ row: [...row, value], progress: after })
        }
      }
    }
    return result
  }

  private objects(spec: ObjectSpec): Values {
    const { names, min, max } = spec
    const required = names.filter(({ isRequired }) => isRequired)
    if (min > max || required.length > max || required.some(({ value }) => !this.hasValue(value))) return []
    // A key of a class may be any of infinitely many names. This test comes before the values of
    // all names are listed.
    const hasRoom = spec.obligationCount === 0 && required.length < max
    if (hasRoom && spec.classes.some(({ value }) => this.hasValue(value))) return null
    const isFree = spec.obligationCount === 0 && min <= required.length && max >= names.length
    if (!isFree || spec.classes.length > 0) return this.tiedObjects(spec)
    if (names.some(({ value }) => this.listed.scalars(value) === null)) return null
    let rows: [string, JsonNode][][] = [[]]
    for (const { name, value, isRequired } of names) {
      const members = this.of(value)
      if (
        members === null ||
        rows.length * (members.length + (isRequired ? 0 : 1)) > this.limits.finiteValues
      )
        return null
      this.spend(rows.length * members.length)
      rows = rows.flatMap((row) => [
        ...(isRequired ? [] : [row]),
        ...members.map((member): [string, JsonNode][] => [...row, [name, member]]),
      ])
    }
    return rows.map(objectOf)
  }

  /**
   * Returns objects whose members depend on each other, or which may have any name of a class. They
   * are read in the order of the names.
   */
  private tiedObjects(spec: ObjectSpec): Values {
    const { isProductive } = this.itemValues
    const rules = new ObjectRules(
      spec,
      spec.names.length,
      wholeValues(this.demands, () => true),
      isProductive,
      this.limits,
    )
    if (!rules.isPossible()) return []
    const result: JsonNode[] = []
    const open: { row: [string, JsonNode][]; progress: Progress }[] = [{ row: [], progress: rules.start }]
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { row, progress } = next
      if (rules.canClose(progress)) result.push(objectOf(row))
      // Each class has infinitely many names.
      if (rules.availableClasses(progress).length > 0) return null
      for (const index of rules.available(progress)) {
        for (const way of rules.nameWays(progress, index)) {
          const values = this.of(way.value)
          if (values === null || result.length > this.limits.finiteValues) return null
          this.spend(RulesWork * (1 + values.length))
          for (const value of values)
            open.push({ row: [...row, [spec.names[index].name, value]], progress: way.progress })
        }
      }
    }
    return result
  }

  private spend(steps: number): void {
    this.steps += steps
    if (this.steps <= this.limits.valueSteps) return
    throw limitError(this.limits, "valueSteps", this.steps)
  }
}

function hasEqualItems(items: readonly JsonNode[]): boolean {
  return new Set(items.map(valueKey)).size < items.length
}

/**
 * Whether there are more than `cap` sequences of `min` to `max` different values out of `values`
 * values.
 */
function hasMoreSequences(values: number, min: number, max: number, cap: number): boolean {
  let count = 0
  // As long as values are left, each length has at least as many sequences as the one before.
  let sequences = 1
  for (let length = 0; length <= Math.min(max, values); length++) {
    if (length >= min) count += sequences
    if (count > cap || (sequences > cap && min <= values)) return true
    sequences *= values - length
  }
  return false
}

function objectOf(row: readonly [string, JsonNode][]): JsonNode {
  return { kind: "object", keys: row.map(([name]) => name), members: new Map(row), ...range }
}

/**
 * Returns a text for the value that every policy allows, or null if the numbers in it may need
 * another spelling.
 */
function plainText(value: JsonNode): string | null {
  switch (value.kind) {
    case "number":
      return /^-?[0-9.]{1,20}$/.test(value.text) ? value.text : null
    case "string":
      return value.value.isWellFormed() ? JSON.stringify(value.value) : null
    case "array": {
      const items = value.items.map(plainText)
      return items.includes(null) ? null : `[${items.join()}]`
    }
    case "object": {
      const members = value.keys.map((key) => {
        const text = plainText(value.members.get(key) as JsonNode)
        return text === null || !key.isWellFormed() ? null : `${JSON.stringify(key)}:${text}`
      })
      return members.includes(null) ? null : `{${members.join()}}`
    }
    default:
      return value.kind
  }
}
