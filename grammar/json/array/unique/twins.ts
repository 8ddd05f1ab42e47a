/**
 * Arrays in which some two items are equal: the negation of `uniqueItems`.
 *
 * An array has twins iff it can be read with one item marked and a later one equal to it. So an
 * item is read as an ordinary item, as the first twin, or as the second; these readings run in
 * parallel. The first twin must also satisfy the conjunction of a position where the second may
 * stand, hence a second always exists, and the second is an item of its own position and "equals
 * the first": no reading is a dead end. There is one reading for each value that was marked.
 */
import { checkLimit, fixedBounds, limitError } from "../../../errors.ts"
import type { Frame, Step } from "../../../frame.ts"
import { PairMap, TupleTable } from "../../../intern.ts"
import { type Conjunctions, Infinite } from "../../facts/conjunction.ts"
import type { Lookup } from "../../facts/satisfiable.ts"
import { readJson } from "../../read/reader.ts"
import type { ItemValues, Values } from "../../values.ts"
import { ArrayFrame, type ArrayProgress, type ArrayReader, Phase } from "../arrayframe.ts"
import { type ItemWay as ArrayItemWay, ArrayRules } from "../arrayrules.ts"
import type { ArraySpec } from "../arrayspec.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()

// Values for the first twin other than a fact "equals this value".
/** No item is marked yet. */
const NoTwin = -1
/** The item that is being read is marked. */
const ThisItem = -2
/** An item is marked, and its text is unknown. */
const UnknownTwin = -3
/** Both twins have been read. */
const BothRead = -4

interface Progress {
  readonly array: ArrayProgress
  readonly twin: number
}

interface ItemWay {
  readonly value: number
  readonly progress: Progress
}

/** Decides whether arrays of `spec` with twins exist, and what may come next in one. */
class TwinRules {
  readonly start: Progress
  private readonly rules: ArrayRules
  private readonly values: ItemValues
  private readonly isValue: Lookup
  private readonly all: Conjunctions
  readonly spec: ArraySpec
  /** By progress: all conjunctions that later items may have to satisfy, each once. */
  private readonly rests = new Map<string, readonly number[]>()
  private readonly hopeful = new Map<string, boolean>()
  private readonly pairs = new PairMap()
  private readonly verdicts = new PairMap()
  private readonly itemWays = new Map<string, readonly ArrayItemWay[]>()

  /**
   * `isValue` returns whether an item may be the value that was marked. Its answer does not depend
   * on ranks.
   */
  constructor(spec: ArraySpec, all: Conjunctions, values: ItemValues, isValue = values.isProductive) {
    this.spec = spec
    this.all = all
    this.values = values
    this.isValue = isValue
    this.rules = new ArrayRules(spec, values)
    this.start = { array: this.rules.start, twin: NoTwin }
  }

  isPossible(): boolean {
    return this.rules.isPossible() && this.mayEnd(this.start)
  }

  canClose({ array, twin }: Progress): boolean {
    return twin === BothRead && this.rules.canClose(array)
  }

  /**
   * Returns the ways to read one more item after which the array can be finished. Those that read a
   * twin come first.
   */
  ways({ array, twin }: Progress): ItemWay[] {
    const ways: ItemWay[] = []
    const free: ItemWay[] = []
    for (const { plain, progress: after } of this.waysOf(array)) {
      if (twin === NoTwin) {
        for (const value of this.firstTwins(plain, after))
          ways.push({ value, progress: { array: after, twin: ThisItem } })
      } else if (twin !== BothRead) {
        const value = twin === UnknownTwin ? plain : this.values.and(plain, [twin])
        if (twin === UnknownTwin || this.isValue(value))
          ways.push({ value, progress: { array: after, twin: BothRead } })
      }
      const progress = { array: after, twin }
      if (this.mayEnd(progress)) free.push({ value: plain, progress })
    }
    return [...ways, ...free]
  }

  /**
   * Whether the missing twins may still come, given that the array can be finished without them.
   */
  private mayEnd({ array, twin }: Progress): boolean {
    if (twin === BothRead || twin === UnknownTwin) return true
    const key = `${twin} ${keyOf(array)}`
    let result = this.hopeful.get(key)
    if (result === undefined) {
      result =
        twin === NoTwin
          ? this.reached(array).some((at) =>
              this.waysOf(at).some(({ plain, progress }) =>
                this.rest(progress).some((value) => this.values.isProductive(this.both(plain, value))),
              ),
            )
          : this.rest(array).some((value) => this.mayEqual(value, twin))
      this.hopeful.set(key, result)
    }
    return result
  }

  /**
   * Returns the conjunctions of items of `plain` to which some item after `progress` may be equal.
   */
  private firstTwins(plain: number, progress: ArrayProgress): readonly number[] {
    const both = this.rest(progress).map((value) => this.both(plain, value))
    // A conjunction that adds nothing to `plain` covers all others.
    const distinct = both.includes(plain) ? [plain] : [...new Set(both)]
    return distinct.filter((value) => this.values.isProductive(value))
  }

  private waysOf(progress: ArrayProgress): readonly ArrayItemWay[] {
    const key = keyOf(progress)
    let ways = this.itemWays.get(key)
    if (ways === undefined) {
      ways = this.rules.ways(progress)
      this.itemWays.set(key, ways)
    }
    return ways
  }

  /** Returns the conjunction of both. */
  private both(value: number, other: number): number {
    if (value === other) return value
    let both = this.pairs.get(value, other)
    if (both < 0) {
      both = this.values.and(value, this.all.factsOf(other))
      this.pairs.set(value, other, both)
    }
    return both
  }

  /** Whether an item of `value` may equal the twin that was marked. */
  private mayEqual(value: number, twin: number): boolean {
    let verdict = this.verdicts.get(value, twin)
    if (verdict < 0) {
      verdict = this.isValue(this.values.and(value, [twin])) ? 1 : 0
      this.verdicts.set(value, twin, verdict)
    }
    return verdict === 1
  }

  private rest(progress: ArrayProgress): readonly number[] {
    const key = keyOf(progress)
    let rest = this.rests.get(key)
    if (rest === undefined) {
      const ways = this.reached(progress).flatMap((at) => this.waysOf(at))
      rest = [...new Set(ways.map(({ plain }) => plain))]
      this.rests.set(key, rest)
    }
    return rest
  }

  /** Returns all progress from `start` on in which positions differ. */
  private reached(start: ArrayProgress): readonly ArrayProgress[] {
    const reached = [start]
    const keys = new Set([keyOf(start)])
    const { items, contains } = this.spec
    const { limits } = this.values
    const last = contains.length === 0 ? Math.max(start.index, items.length) : Infinite
    for (const at of reached) {
      for (const { progress } of this.waysOf(at)) {
        const key = keyOf(progress)
        if (progress.index > last || keys.has(key)) continue
        keys.add(key)
        if (reached.push(progress) <= limits.equalItems) continue
        throw limitError(limits, "equalItems", reached.length)
      }
    }
    return reached
  }
}

function keyOf({ index, counts }: ArrayProgress): string {
  return `${index} ${counts}`
}

/** Whether an array of `spec` with twins exists, given which conjunctions have values. */
export function hasTwins(spec: ArraySpec, all: Conjunctions, values: ItemValues): boolean {
  return new TwinRules(spec, all, values).isPossible()
}

export class TwinLanguage implements ArrayReader<Progress> {
  readonly path: string
  private readonly rules: TwinRules
  readonly values: Values
  private readonly frames = new Map<number, ArrayFrame<Progress>>()
  private readonly frameKeys = new TupleTable()

  /**
   * `isProductive` may know fewer values than the language: witnesses use only values of lower
   * rank.
   */
  constructor(spec: ArraySpec, values: Values, path: string, isProductive: Lookup) {
    this.values = values
    this.path = path
    this.rules = new TwinRules(spec, values.all, values.itemValues(isProductive), (value) =>
      values.isProductive(value),
    )
  }

  /** Returns the frame at the beginning, or null if no array satisfies the spec. */
  start(): Frame | null {
    return this.rules.isPossible() ? this.frame(Phase.Start, this.rules.start) : null
  }

  follow({ phase, progress }: ArrayFrame<Progress>, text: Uint8Array | null): readonly Step[] {
    const { tokens } = this.values
    const steps: Step[] = []
    if (phase === Phase.Item) {
      const after = this.afterItem(progress, text)
      if (this.rules.ways(after).length > 0)
        steps.push({ lexeme: tokens.comma, frames: [this.frame(Phase.Comma, after)] })
      if (this.rules.canClose(after)) steps.push({ lexeme: tokens.closeArray, frames: [] })
      return steps
    }
    // With an unknown twin, the caller tries whether this item equals it, and whether a later one
    // can.
    const isSymbolic = progress.twin === UnknownTwin
    for (const { value, progress: after } of this.rules.ways(progress)) {
      const below = this.frame(Phase.Item, after, isSymbolic)
      for (const { lexeme, frames } of this.values.valueSteps(value))
        steps.push({ lexeme, frames: [below, ...frames] })
    }
    return steps
  }

  get itemValues(): readonly number[] {
    return this.rules.spec.items
  }

  lacking({ array }: Progress): number {
    return Math.max(0, this.rules.spec.min - array.index)
  }

  /**
   * Returns a text that completes the array after the lexeme above `frame` ended. It reads twins as
   * soon as possible.
   */
  finish({ phase, progress }: ArrayFrame<Progress>, text: Uint8Array): string {
    let at = phase === Phase.Item ? this.afterItem(progress, text) : progress
    const items: string[] = []
    let length = 0
    while (!this.rules.canClose(at) || (phase === Phase.Comma && items.length === 0)) {
      const now = at
      const ways = this.rules.ways(now)
      // Takes a way to the next twin if there is one, else a way that changes something.
      const changes = ({ progress }: ItemWay) => progress.twin !== now.twin || progress.array !== now.array
      const way = ways.find(changes) ?? ways[0]
      if (way === undefined) throw new Error("internal: an array that can be finished has no next item")
      const item = this.values.witness(way.value)
      items.push(item)
      length += item.length + 1
      checkLimit(fixedBounds, "witnessUnits", length, this.path)
      if (way.progress.twin === ThisItem) checkLimit(fixedBounds, "comparedUnits", item.length, this.path)
      at = this.afterItem(way.progress, encoder.encode(item))
    }
    return `${phase === Phase.Item && items.length > 0 ? "," : ""}${items.join()}]`
  }

  /** Returns `progress` after an item with this text. A marked twin is remembered. */
  private afterItem(progress: Progress, text: Uint8Array | null): Progress {
    if (progress.twin !== ThisItem) return progress
    if (text === null) return { array: progress.array, twin: UnknownTwin }
    const value = readJson(decoder.decode(text))
    return { array: progress.array, twin: this.values.all.fact({ kind: "equals", value, positive: true }) }
  }

  private frame(phase: number, progress: Progress, isSymbolic = false): ArrayFrame<Progress> {
    const { index, counts } = progress.array
    const key = this.frameKeys.intern([phase, index, progress.twin, isSymbolic ? 1 : 0, ...counts])
    let frame = this.frames.get(key)
    if (frame === undefined) {
      const needsText = phase === Phase.Item && progress.twin === ThisItem
      frame = new ArrayFrame(this, phase, progress, needsText, isSymbolic)
      this.frames.set(key, frame)
    }
    return frame
  }
}
