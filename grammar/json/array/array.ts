/**
 * The array frame: items and commas. `arrayrules.ts` decides what may come next; this file turns it
 * into lexemes and frames.
 *
 * If items must differ, the frame receives the text of each item when it ends. From then on every
 * item carries the fact that it differs from that value: the exclusion is part of the item's own
 * language, so it never comes too late.
 */
import { checkLimit, fixedBounds } from "../../errors.ts"
import { type Frame, noFrames, type Step } from "../../frame.ts"
import { TupleTable } from "../../intern.ts"
import { firstMultiples } from "../../lexeme/number/cell.ts"
import { toPlainText } from "../../lexeme/number/decimal.ts"
import { numbers } from "../../lexeme/number/number.ts"
import { shortStrings } from "../../lexeme/string/string.ts"
import { lexemes } from "../../lexeme/table.ts"
import type { Conjunctions } from "../facts/conjunction.ts"
import type { Lookup } from "../facts/satisfiable.ts"
import { readJson } from "../read/reader.ts"
import type { ItemValues, Values } from "../values.ts"
import { ArrayFrame, type ArrayProgress, type ArrayReader, Phase } from "./arrayframe.ts"
import { ArrayRules, type ItemWay } from "./arrayrules.ts"
import type { ArraySpec } from "./arrayspec.ts"
import { ItemSteps } from "./unique/itemsteps.ts"
import { hasTwins, TwinLanguage } from "./unique/twins.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Up to this many unique items are made one after the other, each as short as possible. */
const FewItems = 16

/** The number of small integers that are tried while none of them is a value. */
const MaxMisses = 200

/** Bound on the decimal exponent of numbers that are written out in full. */
const MaxPlaces = 400

/** The number of text prefixes that are searched for each missing item. */
const PathsOfItem = 20

const nothing: readonly number[] = []
const noSteps: readonly Step[] = []

/** Stands for the values seen if one of them is unknown. */
const UnknownItem: readonly number[] = [-1]

/** Whether an array of `spec` exists, given which conjunctions have values. */
export function isPossibleArray(spec: ArraySpec, all: Conjunctions, values: ItemValues): boolean {
  return spec.twins ? hasTwins(spec, all, values) : new ArrayRules(spec, values).isPossible()
}

/**
 * Returns the language of the arrays of `spec`. `isProductive` may know fewer values than the
 * language: witnesses use only values of lower rank.
 */
export function arrayLanguage(
  spec: ArraySpec,
  values: Values,
  path: string,
  isProductive: Lookup,
): { start(): Frame | null } {
  const Language = spec.twins ? TwinLanguage : ArrayLanguage
  return new Language(spec, values, path, isProductive)
}

class ArrayLanguage implements ArrayReader<ArrayProgress> {
  readonly rules: ArrayRules
  readonly path: string
  readonly values: Values
  private readonly items: ItemSteps
  private last: { readonly progress: ArrayProgress; readonly ways: readonly ItemWay[] } | null = null
  private readonly frames = new Map<number, ArrayFrame<ArrayProgress>>()
  private readonly frameKeys = new TupleTable()

  /**
   * `isProductive` may know fewer values than the language: witnesses use only values of lower
   * rank.
   */
  constructor(spec: ArraySpec, values: Values, path: string, isProductive: Lookup) {
    this.values = values
    this.items = new ItemSteps(values)
    this.path = path
    this.rules = new ArrayRules(spec, values.itemValues(isProductive))
  }

  /** Returns the frame at the beginning, or null if no array satisfies the spec. */
  start(): Frame | null {
    return this.rules.isPossible() ? this.frame(Phase.Start, this.rules.start) : null
  }

  follow({ phase, progress }: ArrayFrame<ArrayProgress>, text: Uint8Array | null): readonly Step[] {
    const { tokens } = this.values
    if (phase === Phase.Item) {
      const after = this.afterItem(progress, text)
      // If there are infinitely many values, an unknown item leaves at least one. Otherwise the
      // caller tries each token.
      const hasMore =
        after.seen === UnknownItem ? progress.index < this.rules.spec.max : this.ways(after).length > 0
      const close = this.rules.canClose(after) ? { lexeme: tokens.closeArray, frames: noFrames } : null
      if (!hasMore) return close === null ? noSteps : [close]
      const comma = { lexeme: tokens.comma, frames: [this.frame(Phase.Comma, after)] }
      return close === null ? [comma] : [comma, close]
    }
    const steps: Step[] = []
    const isUnknown = progress.seen === UnknownItem
    for (const way of this.ways(isUnknown ? { ...progress, seen: nothing } : progress)) {
      const { plain, barred, progress: after } = way
      const below = this.frame(Phase.Item, isUnknown ? { ...after, seen: UnknownItem } : after)
      const under = [below]
      for (const { lexeme, frames } of this.items.of(plain, after.seen, barred))
        steps.push({ lexeme, frames: frames.length === 0 ? under : [below, ...frames] })
    }
    if (phase === Phase.Start && this.rules.canClose(progress))
      steps.push({ lexeme: tokens.closeEmptyArray, frames: noFrames })
    return steps
  }

  get itemValues(): readonly number[] {
    return this.rules.spec.items
  }

  lacking({ index }: ArrayProgress): number {
    return Math.max(0, this.rules.spec.min - index)
  }

  /** Returns a text that completes the array after the lexeme above `frame` ended. */
  finish({ phase, progress }: ArrayFrame<ArrayProgress>, text: Uint8Array): string {
    let at = phase === Phase.Item ? this.afterItem(progress, text) : progress
    const items: string[] = []
    let length = 0
    const { spec } = this.rules
    if (spec.contains.length === 0 && !spec.unique) {
      // Each item takes at least two characters.
      checkLimit(fixedBounds, "witnessUnits", 2 * (spec.min - at.index), this.path)
      const first = at.index
      while (first + items.length < spec.min || (phase === Phase.Comma && items.length === 0)) {
        const item = this.values.witness(this.rules.item(first + items.length))
        items.push(item)
        length += item.length + 1
        checkLimit(fixedBounds, "witnessUnits", length, this.path)
      }
      return `${phase === Phase.Item && items.length > 0 ? "," : ""}${items.join()}]`
    }
    const isFree = spec.contains.length === 0 && at.index >= spec.items.length - 1
    if (isFree && spec.min - at.index > FewItems) {
      const values = this.rules.listed(at.index)
      const count = spec.min - at.index
      const more =
        values === null
          ? this.freshItems(this.rules.item(at.index), count, at.seen)
          : this.listedItems(values, count, at.seen)
      if (more !== null) return `${phase === Phase.Item ? "," : ""}${more.join()}]`
    }
    while (!this.rules.canClose(at) || (phase === Phase.Comma && items.length === 0)) {
      const [way] = this.ways(at)
      if (way === undefined) throw new Error("internal: an array that can be finished has no next item")
      const item = this.values.witness(this.rules.valueOf(way))
      items.push(item)
      length += item.length + 1
      checkLimit(fixedBounds, "witnessUnits", length, this.path)
      if (this.rules.canClose(way.progress)) break
      if (spec.unique) checkLimit(fixedBounds, "comparedUnits", item.length, this.path)
      at = this.afterItem(way.progress, encoder.encode(item))
    }
    return `${phase === Phase.Item && items.length > 0 ? "," : ""}${items.join()}]`
  }

  /**
   * Returns `count` different scalars of `conjunction` that are not in `seen`, or null if there are
   * too few short numbers and texts.
   */
  private freshItems(conjunction: number, count: number, seen: readonly number[]): string[] | null {
    const { all } = this.values
    const taken = new Set(seen)
    const lexemesOf = this.values.valueSteps(conjunction).filter(({ frames }) => frames.length === 0)
    const items = new Set<string>()
    let length = 0
    const isRead = (item: string): boolean => {
      const bytes = encoder.encode(item)
      return lexemesOf.some(({ lexeme }) => lexemes.tagAfter(lexeme, bytes) !== 0)
    }
    const offer = (item: string, isAccepted = isRead): boolean => {
      if (items.has(item) || !isAccepted(item)) return false
      if (taken.size > 0 && taken.has(all.fact({ kind: "equals", value: readJson(item), positive: false })))
        return false
      items.add(item)
      length += item.length + 1
      checkLimit(fixedBounds, "witnessUnits", length, this.path)
      return true
    }
    // If none of the first integers is a value, hardly any later one is.
    for (let i = 0; i < 4 * count && items.size < count && (i < MaxMisses || items.size > 0); i++)
      if (!offer(`${i}`)) offer(`"${i}"`)
    if (items.size < count) {
      const cells = this.values.scalars.numbers.of(conjunction)
      const start = numbers.start(cells, this.values.policy.numbers)
      // A lexeme would compute the transitions of all bytes.
      const isNumber = (item: string) => numbers.accepts(start, encoder.encode(item))
      for (const value of firstMultiples(cells, count + seen.length)) {
        if (items.size === count) break
        if (Math.abs(value.exponent) < MaxPlaces) offer(toPlainText(value), isNumber)
      }
    }
    const expr = items.size < count ? this.values.scalars.strings.countedExpr(conjunction) : null
    if (expr !== null) {
      for (const text of shortStrings(expr, PathsOfItem * (count + seen.length))) {
        if (items.size === count) break
        offer(JSON.stringify(text))
      }
    }
    return items.size < count ? null : [...items]
  }

  /**
   * Returns `count` scalars of `values` that are not in `seen`, or null if there are too few.
   * Linear.
   */
  private listedItems(values: readonly number[], count: number, seen: readonly number[]): string[] | null {
    const { all } = this.values
    const taken = new Set(seen)
    const items: string[] = []
    let length = 0
    for (let i = 0; i < values.length && items.length < count; i++) {
      const fact = all.facts[values[i]]
      if (taken.has(values[i]) || fact.kind !== "equals") continue
      if (fact.value.kind === "object" || fact.value.kind === "array") continue
      // The fact stands alone: beside the list of its values, each would be searched for again.
      const same = all.of([all.fact({ kind: "equals", value: fact.value, positive: true })])
      if (!this.values.isProductive(same)) continue
      const item = this.values.witness(same)
      items.push(item)
      length += item.length + 1
      checkLimit(fixedBounds, "witnessUnits", length, this.path)
    }
    return items.length < count ? null : items
  }

  /** Returns `progress` after an item with this text. Unique items remember its value. */
  private afterItem(progress: ArrayProgress, text: Uint8Array | null): ArrayProgress {
    if (!this.rules.spec.unique) return progress
    if (text === null || progress.seen === UnknownItem) return { ...progress, seen: UnknownItem }
    const value = readJson(decoder.decode(text))
    const different = this.values.all.fact({ kind: "equals", value, positive: false })
    return { ...progress, seen: this.items.with(progress.seen, different) }
  }

  /**
   * Whether the continuation after an unknown item depends on its value, because the next item has
   * finitely many values.
   */
  private mayRunOut(progress: ArrayProgress): boolean {
    return this.rules.isFinite(progress.index)
  }

  /**
   * Returns the ways of the rules, memoized: the end of an item and its comma both ask for them.
   */
  private ways(progress: ArrayProgress): readonly ItemWay[] {
    if (this.last?.progress !== progress) this.last = { progress, ways: this.rules.ways(progress) }
    return this.last.ways
  }

  private frame(phase: number, progress: ArrayProgress): ArrayFrame<ArrayProgress> {
    const key = this.frameKeys.intern([phase, progress.index, ...progress.counts, ...progress.seen])
    let frame = this.frames.get(key)
    if (frame === undefined) {
      const isItem = phase === Phase.Item
      const isSymbolic =
        progress.seen === UnknownItem && (isItem || (phase === Phase.Comma && this.mayRunOut(progress)))
      frame = new ArrayFrame(this, phase, progress, isItem && this.rules.spec.unique, isSymbolic)
      this.frames.set(key, frame)
    }
    return frame
  }
}
