/**
 * The arithmetic of items: which item may come next so that the array can still be finished.
 *
 * An item is its position's conjunction. It splits by the verdict of a `contains` only while that
 * verdict matters: an item that is not counted need not be excluded unless there is an upper bound.
 * With `uniqueItems` it also differs from every item before it, and from every value that the
 * positions which must still come cannot do without: finite domains need distinct representatives,
 * a bipartite matching (Kuhn 1955; Hall 1935).
 */
import { limitError } from "../../errors.ts"
import { TupleTable } from "../../intern.ts"
import { Infinite } from "../facts/conjunction.ts"
import type { ItemValues } from "../values.ts"
import type { ArrayProgress } from "./arrayframe.ts"
import type { ArraySpec } from "./arrayspec.ts"
import { DistinctValues } from "./unique/distinct.ts"
import { UniqueCounts } from "./unique/uniquecounts.ts"

/** A way to read an item, and the progress after it (its own value aside). */
export interface ItemWay {
  /** What the item must satisfy, values aside. */
  readonly plain: number
  /** Facts "differs from this value" that it must satisfy beside those in `progress.seen`. */
  readonly barred: readonly number[]
  readonly progress: ArrayProgress
}

const nothing: readonly number[] = []

/** The values of the unique items that were read, and memoized answers about them. */
class Taken {
  readonly id: number
  private readonly seen: readonly number[]
  private set: ReadonlySet<number> | null = null
  /** How many values each `contains` may still count, once it was asked. */
  left: readonly number[] | null = null
  /** How many values of a conjunction are left, as far as it was asked. */
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
  /** From this index on all positions and bounds are alike. */
  private readonly lastIndex: number
  private readonly finishable = new Map<string, boolean>()
  private readonly takens = new WeakMap<readonly number[], Taken>()
  private readonly seenIds = new TupleTable()
  /** The values of finite conjunctions, as sets. */
  private readonly domains = new Map<number, ReadonlySet<number>>()
  /** Values and ways looked at since somebody asked. */
  private work = 0
  private tried = 0

  constructor(spec: ArraySpec, values: ItemValues) {
    this.spec = spec
    this.values = values
    const { items, min, max } = spec
    this.lastIndex = Math.max(items.length - 1, max === Infinite ? min : max)
    this.start = { index: 0, counts: spec.contains.map(() => 0), seen: [] }
  }

  /** Whether any array at all satisfies the spec. */
  isPossible(): boolean {
    const { contains, min } = this.spec
    const counted = Math.max(min, ...contains.map((rule) => rule.min))
    const { limits } = this.values
    // Positions are counted one by one where `contains` counts too.
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
   * Ways to read one more item after which the array can be finished. The first counts as many
   * matches as it can.
   */
  ways(progress: ArrayProgress): ItemWay[] {
    this.tried = 0
    this.work = 0
    // Where all positions are alike an item uses up one value exactly when it is counted: the
    // answer before it is enough.
    const isFree = (this.canMatchAll(progress) ?? this.canMatchOne(progress)) !== null
    const unique = isFree ? null : this.uniqueCounts(progress)
    const ways: ItemWay[] = []
    for (const { plain, barred, progress: after } of this.steps(progress)) {
      if (unique === null) {
        if (this.canFinish(after)) ways.push({ plain, barred, progress: after })
        continue
      }
      // Values that another item cannot do without, or with which too many would be counted.
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

  /** All that an item read in this way satisfies. */
  valueOf({ plain, barred, progress }: ItemWay): number {
    const excluded = barred.length === 0 ? progress.seen : [...progress.seen, ...barred]
    return excluded.length === 0 ? plain : this.values.and(plain, excluded)
  }

  /** The values of unique items that are counted, as far as they are finitely many; else null. */
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

  /** The index after the item at `index`: the last one from which on all are alike. */
  after(index: number): number {
    return Math.min(index + 1, this.lastIndex)
  }

  /** Whether the item at `index` has finitely many values. */
  isFinite(index: number): boolean {
    return this.listed(index) !== null
  }

  /**
   * The values of the item at `index`, each as the fact that it is not the one; null where there is
   * no end of them.
   */
  listed(index: number): readonly number[] | null {
    return this.values.differences(this.item(index))
  }

  /** What the item at `index` must satisfy, counts aside. */
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
      // Depth first. Progress only grows, so the one way back to a progress on the path is a step
      // that changes nothing.
      this.finishable.set(key, false)
      const result = this.canClose(progress) || this.canGoOn(progress)
      this.finishable.set(key, result)
      return result
    } catch (error) {
      // Not known: the next one who asks is told the limit again.
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
   * Whether each `contains` can reach its minimum, for progress from which the minimum of items can
   * be reached. Null where bounds tie items together: elsewhere each is free to add its own, and
   * what others add does no harm.
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
   * As `canMatchAll`, for one `contains` from where all positions are alike: a items that it counts
   * and b that it does not, as many as there are values left, can be chosen within all bounds.
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

  /** How many different items of `conjunction` may still come. */
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
   * What is kept of a list of values seen. Lists are shared by all that is looked at from one
   * progress.
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
   * Unique items are counted by a `contains` at most once a value: whether enough values are left
   * to reach its minimum. Asked before an item is read; that item uses up one value exactly when it
   * is counted, so the answer stays right.
   */
  private hasMatchesLeft({ counts, seen }: ArrayProgress): boolean {
    if (!this.spec.unique) return true
    const taken = this.taken(seen)
    taken.left ??= this.matchesLeft(seen)
    return taken.left.every((count, i) => counts[i] + count >= this.spec.contains[i].min)
  }

  /** How many values that are not in `seen` each `contains` may count. */
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
   * Different values for the items from `index` to `min`, as far as these are finite; null where
   * there are none.
   */
  private distinctFrom(index: number, seen: ReadonlySet<number>): DistinctValues | null {
    const { min, items } = this.spec
    const chosen = new DistinctValues(seen, (work) => this.spend(work))
    for (let position = index; position < min; position++) {
      const values = this.values.differences(this.item(position))
      // Infinitely many values: one is always left, here and at all later positions once they are
      // alike.
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

  /** Values that the item at `index` must leave to the positions after it. */
  private reserved(index: number, seen: readonly number[]): readonly number[] {
    const { items, min } = this.spec
    const { values: taken } = this.taken(seen)
    if (index + 1 < items.length - 1) return this.distinctFrom(index + 1, taken)?.needed() ?? nothing
    // All alike: each value that is left is needed, or none.
    const item = this.item(index + 1)
    if (min <= index + 1 || this.left(item, seen) !== min - index - 1) return nothing
    return (this.values.differences(item) as readonly number[]).filter((value) => !taken.has(value))
  }

  /** Whether an item of `conjunction` may differ from all in `seen` and in `barred`. */
  private hasOther(conjunction: number, seen: readonly number[], barred: readonly number[]): boolean {
    if (barred.length === 0) return this.left(conjunction, seen) > 0
    // Values that are listed are there, whatever is known of their rank.
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
      // Unique items use up what matches: where that is finite, an item that is not counted must
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
      // Verdicts that exclude each other multiply no further.
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
