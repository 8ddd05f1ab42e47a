/**
 * The arithmetic of items: which item may come next so that the array can still be finished.
 *
 * An item satisfies the conjunction of its position. It splits by the verdict of a `contains` only
 * while that verdict matters: an item that is not counted need not be excluded unless there is an
 * upper bound. With `uniqueItems` it also differs from every item before it, and from every value
 * that the mandatory later positions need: finite domains need distinct representatives, a
 * bipartite matching (Kuhn 1955; Hall 1935).
 */
import { limitError } from "../../errors.ts"
import { TupleTable } from "../../intern.ts"
import { Infinite } from "../facts/conjunction.ts"
import type { ItemValues } from "../values.ts"
import type { ArrayProgress } from "./arrayframe.ts"
import type { ArraySpec } from "./arrayspec.ts"
import { DistinctValues } from "./unique/distinct.ts"
import { UniqueCounts } from "./unique/uniquecounts.ts"

/** A way to read an item, and the progress after it, without its own value. */
export interface ItemWay {
  /** The conjunction that the item must satisfy, without excluded values. */
  readonly plain: number
  /** Facts "differs from this value" that it must satisfy besides those in `progress.seen`. */
  readonly barred: readonly number[]
  readonly progress: ArrayProgress
}

const nothing: readonly number[] = []

/** The values of the unique items that were read, and memoized answers about them. */
class Taken {
  readonly id: number
  private readonly seen: readonly number[]
  private set: ReadonlySet<number> | null = null
  /** The number of values that each `contains` may still count; null before the first request. */
  left: readonly number[] | null = null
  /** By conjunction: the number of its values that are left. */
  readonly lefts = new Map<number, number>()
  /** By index: the values that are left. */
  readonly unique = new Map<number, UniqueCounts | null>()

  constructor(id: number, seen: readonly number[]) {
    this.id = id
    this.seen = seen
  }

  get values(): ReadonlySet<number> {
    this.set ??= new Set(this.seen)
    return this.set
  }
}

export class ArrayRules {
  readonly start: ArrayProgress
  readonly spec: ArraySpec
  private readonly values: ItemValues
  /** From this index on, all positions and bounds are alike. */
  private readonly lastIndex: number
  private readonly finishable = new Map<string, boolean>()
  private readonly takens = new WeakMap<readonly number[], Taken>()
  private readonly seenIds = new TupleTable()
  /** The values of finite conjunctions, as sets. */
  private readonly domains = new Map<number, ReadonlySet<number>>()
  /** Number of values and ways examined for the current call. */
  private work = 0
  private tried = 0

  constructor(spec: ArraySpec, values: ItemValues) {
    this.spec = spec
    this.values = values
    const { items, min, max } = spec
    this.lastIndex = Math.max(items.length - 1, max === Infinite ? min : max)
    this.start = { index: 0, counts: spec.contains.map(() => 0), seen: [] }
  }

  /** Whether any array satisfies the spec. */
  isPossible(): boolean {
    const { contains, min } = this.spec
    const counted = Math.max(min, ...contains.map((rule) => rule.min))
    const { limits } = this.values
    // With `contains`, positions are counted one by one.
    if (contains.length > 0 && counted > limits.containsItems) {
      throw limitError(limits, "containsItems", counted)
    }
    this.tried = 0
    this.work = 0
    return this.canFinish(this.start)
  }

  canClose({ index, counts }: ArrayProgress): boolean {
    const { min, max, contains } = this.spec
    const isCounted = contains.every((rule, i) => counts[i] >= rule.min && counts[i] <= rule.max)
    return index >= min && index <= max && isCounted
  }

  /**
   * Returns the ways to read one more item after which the array can be finished. The first counts
   * as many matches as possible.
   */
  ways(progress: ArrayProgress): ItemWay[] {
    this.tried = 0
    this.work = 0
    // If all positions are alike, an item uses up one value exactly if it is counted, so the answer
    // before it is enough.
    const isFree = (this.canMatchAll(progress) ?? this.canMatchOne(progress)) !== null
    const unique = isFree ? null : this.uniqueCounts(progress)
    const ways: ItemWay[] = []
    for (const { plain, barred, progress: after } of this.steps(progress)) {
      if (unique === null) {
        if (this.canFinish(after)) ways.push({ plain, barred, progress: after })
        continue
      }
      // Excludes values that a later item needs, or with which too many items would be counted.
      const { values: taken } = this.taken(progress.seen)
      const reserved = new Set(barred)
      const left = (this.values.differences(plain) as readonly number[]).filter(
        (value) => !taken.has(value) && !reserved.has(value),
      )
      const wrong = left.filter((value) => !unique.canFinishAfter(value, after.index, after.counts))
      if (wrong.length < left.length) ways.push({ plain, barred: [...barred, ...wrong], progress: after })
    }
    return ways
  }

  /** Returns the conjunction of all constraints on an item read in this way. */
  valueOf({ plain, barred, progress }: ItemWay): number {
    const excluded = barred.length === 0 ? progress.seen : [...progress.seen, ...barred]
    return excluded.length === 0 ? plain : this.values.and(plain, excluded)
  }

  /** Returns the values of unique items that are counted if they are finitely many, else null. */
  private uniqueCounts({ index, seen }: ArrayProgress): UniqueCounts | null {
    if (!this.spec.unique || this.spec.contains.length === 0) return null
    const { values, unique } = this.taken(seen)
    let counts = unique.get(index)
    if (counts === undefined) {
      counts = UniqueCounts.from(this.spec, this, this.values, index, values)
      unique.set(index, counts)
    }
    return counts
  }

  /** Returns the index after the item at `index`, or the last index from which on all are alike. */
  after(index: number): number {
    return Math.min(index + 1, this.lastIndex)
  }

  /** Whether the item at `index` has finitely many values. */
  isFinite(index: number): boolean {
    return this.listed(index) !== null
  }

  /**
   * Returns the values of the item at `index`, each as the fact "differs from this value". Returns
   * null if there are infinitely many.
   */
  listed(index: number): readonly number[] | null {
    return this.values.differences(this.item(index))
  }

  /** Returns the conjunction that the item at `index` must satisfy, without counts. */
  item(index: number): number {
    const { items } = this.spec
    return items[Math.min(index, items.length - 1)]
  }

  /** Whether the array can be finished from `progress`. */
  canFinish(progress: ArrayProgress): boolean {
    const key = `${progress.index} ${progress.counts} ${this.taken(progress.seen).id}`
    const known = this.finishable.get(key)
    if (known !== undefined) return known
    try {
      // Depth first. Progress only grows, so a cycle can only be a step that changes nothing.
      this.finishable.set(key, false)
      const result = this.canClose(progress) || this.canGoOn(progress)
      this.finishable.set(key, result)
      return result
    } catch (error) {
      // The answer is unknown: the next call throws the limit again.
      this.finishable.delete(key)
      throw error
    }
  }

  /** Whether an array that may not end at `progress` can be finished from there. */
  private canGoOn(progress: ArrayProgress): boolean {
    return (
      this.canReachMin(progress) &&
      this.hasMatchesLeft(progress) &&
      (this.canMatchAll(progress) ??
        this.canMatchOne(progress) ??
        this.uniqueCounts(progress)?.canFinish(progress.index, progress.counts) ??
        this.steps(progress).some((way) => this.canFinish(way.progress)))
    )
  }

  /**
   * Whether each `contains` can reach its minimum, if the minimum number of items can be reached.
   * Returns null if bounds connect the items: otherwise each `contains` can add its own items, and
   * those of the others do no harm.
   */
  private canMatchAll({ index, counts, seen }: ArrayProgress): boolean | null {
    const { contains, items, max } = this.spec
    if (contains.length === 0) return true
    const isUniform = index >= items.length - 1 && contains.every(({ from }) => index >= from)
    if (!isUniform || max !== Infinite || contains.some((rule) => rule.max !== Infinite)) return null
    return contains.every(
      ({ min, fact }, i) =>
        counts[i] >= min || this.hasOther(this.values.and(this.item(index), [fact]), seen, nothing),
    )
  }

  /**
   * Like `canMatchAll`, for a single `contains` at a position from which on all are alike: whether
   * a items that it counts and b that it does not count, as many as values are left, can be chosen
   * within all bounds.
   */
  private canMatchOne({ index, counts, seen }: ArrayProgress): boolean | null {
    const { contains, items, min, max } = this.spec
    const [rule] = contains
    if (contains.length > 1 || rule.complement === null || index < Math.max(items.length - 1, rule.from))
      return null
    const item = this.item(index)
    const matching = this.left(this.values.and(item, [rule.fact]), seen)
    const other = this.left(this.values.and(item, [rule.complement]), seen)
    const least = Math.max(0, rule.min - counts[0])
    const most = Math.min(rule.max - counts[0], matching)
    return least <= most && index + least <= max && index + most + other >= min
  }

  /** Returns the number of different items of `conjunction` that may still come. */
  private left(conjunction: number, seen: readonly number[]): number {
    const values = this.spec.unique ? this.values.differences(conjunction) : null
    if (values === null) return this.values.isProductive(conjunction) ? Number.POSITIVE_INFINITY : 0
    const { lefts } = this.taken(seen)
    let left = lefts.get(conjunction)
    if (left === undefined) {
      const domain = this.domain(conjunction, values)
      left = domain.size
      if (seen.length < domain.size) {
        for (const value of seen) if (domain.has(value)) left--
      } else {
        const { values: taken } = this.taken(seen)
        for (const value of domain) if (taken.has(value)) left--
      }
      lefts.set(conjunction, left)
    }
    return left
  }

  private domain(conjunction: number, values: readonly number[]): ReadonlySet<number> {
    let domain = this.domains.get(conjunction)
    if (domain === undefined) {
      domain = new Set(values)
      this.domains.set(conjunction, domain)
    }
    return domain
  }

  /**
   * Returns the memoized answers about a list of values seen. Everything examined from one progress
   * shares its list.
   */
  private taken(seen: readonly number[]): Taken {
    let taken = this.takens.get(seen)
    if (taken === undefined) {
      taken = new Taken(this.seenIds.intern(seen), seen)
      this.takens.set(seen, taken)
    }
    return taken
  }

  private canReachMin({ index, seen }: ArrayProgress): boolean {
    const { items, min, max, unique } = this.spec
    if (min > max) return false
    for (let i = index; i < Math.min(min, items.length); i++)
      if (!this.values.isProductive(items[i])) return false
    if (min > items.length && !this.values.isProductive(items[items.length - 1])) return false
    return !unique || this.canDiffer(index, seen)
  }

  /**
   * Whether enough values are left for each `contains` to reach its minimum. A `contains` counts
   * each value of unique items at most once. The test runs before an item is read; that item uses
   * up one value exactly if it is counted, so the answer remains right.
   */
  private hasMatchesLeft({ counts, seen }: ArrayProgress): boolean {
    if (!this.spec.unique) return true
    const taken = this.taken(seen)
    taken.left ??= this.matchesLeft(seen)
    return taken.left.every((count, i) => counts[i] + count >= this.spec.contains[i].min)
  }

  /** Returns, for each `contains`, the number of values not in `seen` that it may count. */
  private matchesLeft(seen: readonly number[]): number[] {
    return this.spec.contains.map(({ from, fact }) => {
      const left = new Set<number>()
      for (let position = from; position < Math.max(this.spec.items.length, from + 1); position++) {
        const matches = this.values.differences(this.values.and(this.item(position), [fact]))
        if (matches === null) return Number.POSITIVE_INFINITY
        for (const value of matches) left.add(value)
      }
      for (const value of seen) left.delete(value)
      return left.size
    })
  }

  /**
   * Whether the items from `index` to `min` can be chosen so that all differ from each other and
   * from `seen`.
   */
  private canDiffer(index: number, seen: readonly number[]): boolean {
    if (index >= this.spec.items.length - 1)
      return this.spec.min <= index || this.left(this.item(index), seen) >= this.spec.min - index
    return this.distinctFrom(index, this.taken(seen).values) !== null
  }

  /**
   * Returns different values for the items from `index` to `min` whose domains are finite, or null
   * if there are none.
   */
  private distinctFrom(index: number, seen: ReadonlySet<number>): DistinctValues | null {
    const { min, items } = this.spec
    const chosen = new DistinctValues(seen, (work) => this.spend(work))
    for (let position = index; position < min; position++) {
      const values = this.values.differences(this.item(position))
      // Among infinitely many values one is always left, here and at all later positions once they
      // are alike.
      if (values === null) {
        if (position >= items.length - 1) break
      } else if (!chosen.place(values)) return null
    }
    return chosen
  }

  private spend(work: number): void {
    this.work += work
    const { limits } = this.values
    if (this.work <= limits.uniqueSteps) return
    throw limitError(limits, "uniqueSteps", this.work)
  }

  /** Returns the values that the item at `index` must leave to the positions after it. */
  private reserved(index: number, seen: readonly number[]): readonly number[] {
    const { items, min } = this.spec
    const { values: taken } = this.taken(seen)
    if (index + 1 < items.length - 1) return this.distinctFrom(index + 1, taken)?.needed() ?? nothing
    // All positions are alike: either each value that is left is needed, or none.
    const item = this.item(index + 1)
    if (min <= index + 1 || this.left(item, seen) !== min - index - 1) return nothing
    return (this.values.differences(item) as readonly number[]).filter((value) => !taken.has(value))
  }

  /** Whether an item of `conjunction` may differ from all values in `seen` and in `barred`. */
  private hasOther(conjunction: number, seen: readonly number[], barred: readonly number[]): boolean {
    if (barred.length === 0) return this.left(conjunction, seen) > 0
    // The listed values exist, whatever is known about their rank.
    const values = this.spec.unique ? this.values.differences(conjunction) : null
    if (values === null) return this.values.isProductive(conjunction)
    const { values: taken } = this.taken(seen)
    const reserved = new Set(barred)
    return values.some((value) => !taken.has(value) && !reserved.has(value))
  }

  private steps({ index, counts, seen }: ArrayProgress): ItemWay[] {
    const { max, contains, unique } = this.spec
    if (index >= max) return []
    const barred = unique ? this.reserved(index, seen) : nothing
    const after = this.after(index)
    let ways: { plain: number; counts: readonly number[] }[] = [{ plain: this.item(index), counts }]
    for (const [i, rule] of contains.entries()) {
      if (index < rule.from) continue
      const isBounded = rule.max !== Infinite
      if (!isBounded && counts[i] >= rule.min) continue
      // Unique items use up matching values. If these are finite, an item that is not counted must
      // not match.
      const usesUp =
        unique && this.values.differences(this.values.and(this.item(index), [rule.fact])) !== null
      const complement = isBounded || usesUp ? rule.complement : null
      ways = ways.flatMap((way) => [
        {
          plain: this.values.and(way.plain, [rule.fact]),
          counts: way.counts.with(i, Math.min(counts[i] + 1, isBounded ? rule.max + 1 : rule.min)),
        },
        {
          plain: complement === null ? way.plain : this.values.and(way.plain, [complement]),
          counts: way.counts,
        },
      ])
      this.tried += ways.length
      // Combinations of verdicts that exclude each other are dropped before they multiply.
      ways = ways.filter(
        (way) =>
          way.counts.every((count, i) => count <= contains[i].max) && this.hasOther(way.plain, seen, barred),
      )
      const { containsWays, containsTries } = this.values.limits
      if (ways.length > containsWays) throw limitError(this.values.limits, "containsWays", ways.length)
      if (this.tried > containsTries) throw limitError(this.values.limits, "containsTries", this.tried)
    }
    return ways
      .filter(
        ({ plain, counts }) =>
          contains.every((rule, i) => counts[i] <= rule.max) && this.hasOther(plain, seen, barred),
      )
      .map(({ plain, counts }) => ({ plain, barred, progress: { index: after, counts, seen } }))
  }
}
