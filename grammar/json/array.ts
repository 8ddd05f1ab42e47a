/**
 * The array frame: which item comes next and when the array may close.
 *
 * State: the index, saturating where positions no longer differ, and one counter per `contains`, saturating where it no
 * longer matters. An item is read as its position's conjunction; it splits by the verdict of a `contains` only while that
 * verdict matters: an item that is not counted need not be excluded unless there is an upper bound. An item is offered
 * only if the array can still be finished after it.
 */
import { describeSample, type Expectation, Frame, type Step } from "../frame.ts"
import { TupleTable } from "../intern.ts"
import { type Conjunctions, type Fact, Infinite } from "./conjunction.ts"
import type { KeywordReader, Keywords } from "./keywords.ts"
import type { JsonLanguage } from "./language.ts"
import type { JsonNode } from "./reader.ts"
import type { Lookup } from "./satisfiable.ts"

export interface ContainsRule {
  /** First index that is looked at. */
  readonly from: number
  readonly min: number
  readonly max: number
  /** Conjunctions: an item that counts, and one that does not. */
  readonly fact: number
  readonly complement: number
}

export interface ArraySpec {
  /** Conjunction of the item at each index; the last entry is that of all further items. */
  readonly items: readonly number[]
  readonly min: number
  readonly max: number
  readonly contains: readonly ContainsRule[]
}

/** The spec of the branch that consists of `facts`, for arrays. */
export function arraySpec(all: Conjunctions, reader: KeywordReader, facts: readonly number[]): ArraySpec {
  const keywords: Keywords[] = []
  const constants: Extract<JsonNode, { kind: "array" }>[] = []
  const single: Extract<Fact, { kind: "item" }>[] = []
  const contains: ContainsRule[] = []
  let min = 0
  let max = Infinite
  const addContains = (from: number, fact: number, low: number, high: number) => {
    contains.push({
      from,
      min: low,
      max: high,
      fact: all.of([fact]),
      complement: all.of([all.negation(fact)]),
    })
  }
  for (const id of facts) {
    const fact = all.facts[id]
    if (fact.kind === "schema" && fact.positive) {
      const own = reader.of(fact.node)
      keywords.push(own)
      min = Math.max(min, own.minItems)
      max = Math.min(max, own.maxItems)
      if (own.contains !== null)
        addContains(0, all.schema(own.contains.node), own.contains.min, own.contains.max)
    } else if (fact.kind === "equals" && fact.positive && fact.value.kind === "array") {
      constants.push(fact.value)
      min = Math.max(min, fact.value.items.length)
      max = Math.min(max, fact.value.items.length)
    } else if (fact.kind === "size") {
      min = Math.max(min, fact.min)
      max = Math.min(max, fact.max)
    } else if (fact.kind === "item") {
      single.push(fact)
    } else if (fact.kind === "contains") {
      addContains(fact.from, fact.fact, fact.min, fact.max)
    }
  }
  const positions = Math.max(
    0,
    ...keywords.map(({ prefix }) => prefix.length),
    ...constants.map(({ items }) => items.length),
    ...single.map(({ index }) => index + 1),
    ...contains.map(({ from }) => from),
  )
  const items: number[] = []
  for (let index = 0; index <= positions; index++) {
    const here: number[] = []
    for (const { prefix, rest } of keywords) {
      const node = index < prefix.length ? prefix[index] : rest
      if (node !== null) here.push(all.schema(node))
    }
    for (const { items: values } of constants) {
      if (index < values.length) here.push(all.fact({ kind: "equals", value: values[index], positive: true }))
    }
    for (const fact of single) if (fact.index === index) here.push(fact.fact)
    items.push(all.of(here))
  }
  // `contains` with no bound at all says nothing.
  return { items, min, max, contains: contains.filter((rule) => rule.min > 0 || rule.max !== Infinite) }
}

/** Where the reader is within the array. */
const Phase = { Start: 0, Item: 1, Comma: 2 } as const

interface Progress {
  /** Items read, saturating. */
  readonly index: number
  /** Items counted by each `contains`, saturating. */
  readonly counts: readonly number[]
}

/** A spec bound to a language. */
export class ArrayLanguage {
  readonly spec: ArraySpec
  readonly language: JsonLanguage
  readonly path: string
  private readonly frames = new Map<number, ArrayFrame>()
  private readonly frameKeys = new TupleTable()
  private readonly rules: ArrayRules

  constructor(spec: ArraySpec, language: JsonLanguage, path: string, isProductive: Lookup) {
    this.spec = spec
    this.language = language
    this.path = path
    this.rules = new ArrayRules(spec, (a, b) => language.and(a, b), isProductive)
  }

  /** The frame at the beginning, or null when nothing satisfies the spec. */
  start(): Frame | null {
    return this.rules.isPossible() ? this.frame(Phase.Start, this.rules.start) : null
  }

  follow(phase: number, progress: Progress): readonly Step[] {
    const { tokens } = this.language
    const steps: Step[] = []
    if (phase === Phase.Item) {
      if (this.rules.ways(progress).length > 0)
        steps.push({ lexeme: tokens.comma, frames: [this.frame(Phase.Comma, progress)] })
      if (this.rules.canClose(progress)) steps.push({ lexeme: tokens.closeArray, frames: [] })
      return steps
    }
    for (const way of this.rules.ways(progress)) {
      for (const { lexeme, frames } of this.language.valueSteps(way.value)) {
        steps.push({ lexeme, frames: [this.frame(Phase.Item, way.progress), ...frames] })
      }
    }
    if (phase === Phase.Start && this.rules.canClose(progress))
      steps.push({ lexeme: tokens.closeEmptyArray, frames: [] })
    return steps
  }

  /** What completes the array after the lexeme under a frame of this phase ended. */
  finish(phase: number, progress: Progress): string {
    if (this.rules.canClose(progress) && phase !== Phase.Comma) return "]"
    // The first way counts as many matches as it can.
    const [way] = this.rules.ways(progress)
    const comma = phase === Phase.Item ? "," : ""
    return comma + this.language.witness(way.value) + this.finish(Phase.Item, way.progress)
  }

  private frame(phase: number, progress: Progress): ArrayFrame {
    const key = this.frameKeys.intern([phase, progress.index, ...progress.counts])
    let frame = this.frames.get(key)
    if (frame === undefined) {
      frame = new ArrayFrame(this, phase, progress)
      this.frames.set(key, frame)
    }
    return frame
  }
}

/** The arithmetic of counts: what an item may be and whether the array can be finished, given which parts have values. */
export class ArrayRules {
  readonly start: Progress
  private readonly spec: ArraySpec
  private readonly and: (a: number, facts: readonly number[]) => number
  private readonly isProductive: Lookup
  /** From this index on all positions and bounds are alike. */
  private readonly lastIndex: number
  private readonly finishable = new Map<string, boolean>()

  constructor(
    spec: ArraySpec,
    and: (a: number, conjunctions: readonly number[]) => number,
    isProductive: Lookup,
  ) {
    this.spec = spec
    this.and = and
    this.isProductive = isProductive
    const { items, min, max } = spec
    this.lastIndex = Math.max(items.length - 1, max === Infinite ? min : max)
    this.start = { index: 0, counts: spec.contains.map(() => 0) }
  }

  /** Whether any array at all satisfies the spec. */
  isPossible(): boolean {
    return this.canFinish(this.start)
  }

  canClose({ index, counts }: Progress): boolean {
    const { min, max, contains } = this.spec
    return (
      index >= min &&
      index <= max &&
      contains.every((rule, i) => counts[i] >= rule.min && counts[i] <= rule.max)
    )
  }

  /** Ways to read one more item after which the array can be finished: the item's conjunction, and the progress then. */
  ways(progress: Progress): { value: number; progress: Progress }[] {
    return this.steps(progress).filter((way) => this.canFinish(way.progress))
  }

  /** Whether the array can be finished from `progress`. */
  canFinish(progress: Progress): boolean {
    const key = `${progress.index} ${progress.counts}`
    const known = this.finishable.get(key)
    if (known !== undefined) return known
    let result = this.canClose(progress)
    if (!result) {
      // Depth first; a progress on the path counts as unfinishable, which is right: it would have to be left anyway.
      this.finishable.set(key, false)
      result =
        this.spec.contains.length === 0
          ? this.canReachMin(progress)
          : this.steps(progress).some((way) => this.canFinish(way.progress))
    }
    this.finishable.set(key, result)
    return result
  }

  private canReachMin({ index }: Progress): boolean {
    const { items, min, max } = this.spec
    if (min > max) return false
    for (let i = index; i < Math.min(min, items.length); i++) if (!this.isProductive(items[i])) return false
    return min <= items.length || this.isProductive(items[items.length - 1])
  }

  private steps({ index, counts }: Progress): { value: number; progress: Progress }[] {
    const { items, max, contains } = this.spec
    if (index >= max) return []
    const item = items[Math.min(index, items.length - 1)]
    const after = Math.min(index + 1, this.lastIndex)
    let ways = [{ value: item, counts: [...counts] }]
    for (const [i, rule] of contains.entries()) {
      if (index < rule.from) continue
      const isBounded = rule.max !== Infinite
      if (!isBounded && counts[i] >= rule.min) continue
      ways = ways.flatMap((way) => {
        const counted = way.counts.with(i, Math.min(counts[i] + 1, isBounded ? rule.max + 1 : rule.min))
        const plain = isBounded ? this.and(way.value, [rule.complement]) : way.value
        return [
          { value: this.and(way.value, [rule.fact]), counts: counted },
          { value: plain, counts: way.counts },
        ]
      })
    }
    return ways
      .filter((way) => contains.every((rule, i) => way.counts[i] <= rule.max) && this.isProductive(way.value))
      .map((way) => ({ value: way.value, progress: { index: after, counts: way.counts } }))
  }
}

class ArrayFrame extends Frame {
  private readonly array: ArrayLanguage
  private readonly phase: number
  private readonly progress: Progress

  constructor(array: ArrayLanguage, phase: number, progress: Progress) {
    super()
    this.array = array
    this.phase = phase
    this.progress = progress
  }

  follow(): readonly Step[] {
    return this.array.follow(this.phase, this.progress)
  }

  finish(): string {
    return this.array.finish(this.phase, this.progress)
  }

  expect(sample: string): Expectation {
    return { what: describeSample(sample), example: sample, path: this.array.path }
  }
}
