/**
 * The arithmetic of items: which item may come next so that the array can still be finished.
 *
 * An item is its position's conjunction. It splits by the verdict of a `contains` only while that verdict matters: an
 * item that is not counted need not be excluded unless there is an upper bound. With `uniqueItems` it also differs from
 * every item before it, and from every value that the positions which must still come cannot do without: finite domains
 * need distinct representatives, a bipartite matching (Kuhn 1955; Hall 1935).
 */
import { GrammarError } from "../errors.ts"
import type { ArraySpec } from "./arrayspec.ts"
import { Infinite } from "./conjunction.ts"
import type { Lookup } from "./satisfiable.ts"

export interface ArrayProgress {
  /** Items read, saturating where positions no longer differ. */
  readonly index: number
  /** Items counted by each `contains`, saturating where it no longer matters. */
  readonly counts: readonly number[]
  /** Unique items only: facts "differs from this value", ascending. */
  readonly seen: readonly number[]
}

/** A way to read an item: what it must satisfy, and the progress after it (its own value aside). */
export interface ItemWay {
  readonly value: number
  readonly progress: ArrayProgress
}

/** What the rules need to know of values. */
export interface ItemValues {
  and(conjunction: number, facts: readonly number[]): number
  isProductive: Lookup
  /** For each value of a finite conjunction, the fact "differs from it"; null: infinitely many values. */
  differences(conjunction: number): readonly number[] | null
}

/** Positions that are counted one by one where `contains` counts too. */
const MaxCounted = 1_000

/** Steps of matching positions with values. */
const MaxWork = 2_000_000

/** Ways to count one item, by several `contains`; and ways that are looked at to find out whether one item may come. */
const MaxWays = 1_024
const MaxTried = 100_000

export class ArrayRules {
  readonly start: ArrayProgress
  readonly spec: ArraySpec
  private readonly values: ItemValues
  /** From this index on all positions and bounds are alike. */
  private readonly lastIndex: number
  private readonly finishable = new Map<string, boolean>()
  private work = 0
  /** Ways looked at since somebody asked. */
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
    if (contains.length > 0 && counted > MaxCounted) {
      throw new GrammarError(
        "limit",
        "",
        `contains needs ${counted} items to be counted: above ${MaxCounted}. Lower minItems or minContains`,
      )
    }
    this.tried = 0
    return this.canFinish(this.start)
  }

  canClose({ index, counts }: ArrayProgress): boolean {
    const { min, max, contains } = this.spec
    const isCounted = contains.every((rule, i) => counts[i] >= rule.min && counts[i] <= rule.max)
    return index >= min && index <= max && isCounted
  }

  /** Ways to read one more item after which the array can be finished. The first counts as many matches as it can. */
  ways(progress: ArrayProgress): ItemWay[] {
    this.tried = 0
    return this.steps(progress).filter((way) => this.canFinish(way.progress))
  }

  /** Whether the item at `index` has finitely many values. */
  isFinite(index: number): boolean {
    return this.values.differences(this.item(index)) !== null
  }

  /** What the item at `index` must satisfy, counts aside. */
  item(index: number): number {
    const { items } = this.spec
    return items[Math.min(index, items.length - 1)]
  }

  /** Whether the array can be finished from `progress`. */
  private canFinish(progress: ArrayProgress): boolean {
    const key = `${progress.index} ${progress.counts} ${progress.seen}`
    const known = this.finishable.get(key)
    if (known !== undefined) return known
    let result = this.canClose(progress)
    if (!result) {
      // Depth first. Progress only grows, so the one way back to a progress on the path is a step that changes nothing.
      this.finishable.set(key, false)
      result =
        this.canReachMin(progress) &&
        this.hasMatchesLeft(progress) &&
        (this.spec.contains.length === 0 || this.steps(progress).some((way) => this.canFinish(way.progress)))
    }
    this.finishable.set(key, result)
    return result
  }

  private canReachMin({ index, seen }: ArrayProgress): boolean {
    const { items, min, max, unique } = this.spec
    if (min > max) return false
    for (let i = index; i < Math.min(min, items.length); i++)
      if (!this.values.isProductive(items[i])) return false
    if (min > items.length && !this.values.isProductive(items[items.length - 1])) return false
    return !unique || this.canDiffer(index, new Set(seen))
  }

  /**
   * Unique items are counted by a `contains` at most once a value: whether enough values are left to reach its minimum.
   * Asked before an item is read; that item uses up one value exactly when it is counted, so the answer stays right.
   */
  private hasMatchesLeft({ counts, seen }: ArrayProgress): boolean {
    if (!this.spec.unique) return true
    return this.spec.contains.every(({ from, min, fact }, i) => {
      const left = new Set<number>()
      for (let position = from; position < Math.max(this.spec.items.length, from + 1); position++) {
        const matches = this.values.differences(this.values.and(this.item(position), [fact]))
        if (matches === null) return true
        for (const value of matches) left.add(value)
      }
      for (const value of seen) left.delete(value)
      return counts[i] + left.size >= min
    })
  }

  /** Whether the items from `index` to `min` can be chosen so that all differ from each other and from `seen`. */
  private canDiffer(index: number, seen: ReadonlySet<number>): boolean {
    const { min } = this.spec
    const takenBy = new Map<number, number>()
    const place = (position: number, tried: Set<number>): boolean => {
      for (const value of this.values.differences(this.item(position)) as readonly number[]) {
        if (++this.work > MaxWork) {
          throw new GrammarError(
            "limit",
            "",
            "unique items over finite sets of values need more than " +
              `${MaxWork} steps. Lower minItems or allow more values`,
          )
        }
        if (seen.has(value) || tried.has(value)) continue
        tried.add(value)
        const holder = takenBy.get(value)
        if (holder === undefined || place(holder, tried)) {
          takenBy.set(value, position)
          return true
        }
      }
      return false
    }
    for (let position = index; position < min; position++) {
      // Infinitely many values: one is always left, here and at all later positions once they are alike.
      if (this.values.differences(this.item(position)) === null) {
        if (position >= this.spec.items.length - 1) return true
      } else if (!place(position, new Set())) {
        return false
      }
    }
    return true
  }

  /** Values that the item at `index` must leave to the positions after it. */
  private reserved(index: number, seen: readonly number[]): number[] {
    const { min, items } = this.spec
    const candidates = new Set<number>()
    for (let position = index + 1; position < Math.min(min, index + 1 + items.length); position++) {
      for (const value of this.values.differences(this.item(position)) ?? []) candidates.add(value)
    }
    return [...candidates].filter((value) => !this.canDiffer(index + 1, new Set([...seen, value])))
  }

  private steps({ index, counts, seen }: ArrayProgress): ItemWay[] {
    const { max, contains, unique } = this.spec
    if (index >= max) return []
    const excluded = unique ? [...seen, ...this.reserved(index, seen)] : []
    const after = Math.min(index + 1, this.lastIndex)
    let ways = [{ value: this.values.and(this.item(index), excluded), counts: [...counts] }]
    for (const [i, rule] of contains.entries()) {
      if (index < rule.from) continue
      const isBounded = rule.max !== Infinite
      if (!isBounded && counts[i] >= rule.min) continue
      // Unique items use up what matches: where that is finite, an item that is not counted must not match.
      const usesUp =
        unique && this.values.differences(this.values.and(this.item(index), [rule.fact])) !== null
      const complement = isBounded || usesUp ? rule.complement : null
      ways = ways.flatMap((way) => [
        {
          value: this.values.and(way.value, [rule.fact]),
          counts: way.counts.with(i, Math.min(counts[i] + 1, isBounded ? rule.max + 1 : rule.min)),
        },
        {
          value: complement === null ? way.value : this.values.and(way.value, [complement]),
          counts: way.counts,
        },
      ])
      this.tried += ways.length
      if (ways.length > MaxWays || this.tried > MaxTried) {
        const bound = ways.length > MaxWays ? MaxWays : MaxTried
        throw new GrammarError(
          "limit",
          "",
          `items that several contains count need more than ${bound} combinations. Use fewer of them`,
        )
      }
    }
    return ways
      .filter(
        (way) =>
          contains.every((rule, i) => way.counts[i] <= rule.max) && this.values.isProductive(way.value),
      )
      .map((way) => ({ value: way.value, progress: { index: after, counts: way.counts, seen } }))
  }
}
