/**
 * Unique items that `contains` counts, over finite sets of values: whether enough different values
 * are left for all counts.
 *
 * Two values are alike if the same positions allow them and the same `contains` count them, so only
 * the number of used values in each class matters. The search is depth first over the classes that
 * the next item may take, memoized by these numbers.
 */
import { fixedBounds, type Limits, limitError } from "../../../errors.ts"
import { Infinite } from "../../facts/conjunction.ts"
import type { ItemValues } from "../../values.ts"
import type { ArrayProgress } from "../arrayframe.ts"
import type { ArraySpec } from "../arrayspec.ts"

interface ValueClass {
  /** Conjunctions of the items that may be one of its values. */
  readonly items: ReadonlySet<number>
  /** Whether each `contains` counts its values. */
  readonly isCounted: readonly boolean[]
  size: number
}

/** The answers of the rules about progress without its values. */
export interface Bounds {
  canClose(progress: ArrayProgress): boolean
  item(index: number): number
  after(index: number): number
}

const nothing: readonly number[] = []

export class UniqueCounts {
  private readonly spec: ArraySpec
  private readonly bounds: Bounds
  private readonly limits: Limits
  private readonly classes: ValueClass[] = []
  private readonly classOf = new Map<number, number>()
  private readonly known = new Map<string, boolean>()
  private steps = 0

  /**
   * Returns the values of the items from `index` on that are not in `taken`, or null if some item
   * has infinitely many.
   */
  static from(
    spec: ArraySpec,
    bounds: Bounds,
    values: ItemValues,
    index: number,
    taken: ReadonlySet<number>,
  ): UniqueCounts | null {
    const counts = new UniqueCounts(spec, bounds, values.limits)
    return counts.classify(values, index, taken) ? counts : null
  }

  private constructor(spec: ArraySpec, bounds: Bounds, limits: Limits) {
    this.spec = spec
    this.bounds = bounds
    this.limits = limits
  }

  private classify(values: ItemValues, index: number, taken: ReadonlySet<number>): boolean {
    const { items, contains } = this.spec
    const ahead = new Set(items.slice(Math.min(index, items.length - 1)))
    const itemsOf = new Map<number, Set<number>>()
    for (const item of ahead) {
      const all = values.isProductive(item) ? values.differences(item) : nothing
      if (all === null) return false
      for (const value of all) {
        if (taken.has(value)) continue
        const of = itemsOf.get(value)
        if (of === undefined) itemsOf.set(value, new Set([item]))
        else of.add(item)
      }
    }
    const counted = contains.map(({ fact }) => {
      const all = new Set<number>()
      for (const item of ahead)
        for (const value of values.differences(values.and(item, [fact])) ?? nothing) all.add(value)
      return all
    })
    const ids = new Map<string, number>()
    for (const [value, of] of itemsOf) {
      const isCounted = counted.map((all) => all.has(value))
      const key = `${[...of]} ${isCounted}`
      let id = ids.get(key)
      if (id === undefined) {
        id = this.classes.push({ items: of, isCounted, size: 0 }) - 1
        ids.set(key, id)
      }
      this.classes[id].size++
      this.classOf.set(value, id)
    }
    return true
  }

  /** Whether the array can be finished from here. */
  canFinish(index: number, counts: readonly number[]): boolean {
    this.steps = 0
    return this.search(
      index,
      counts,
      this.classes.map(() => 0),
      0,
    )
  }

  /**
   * Whether the array can be finished after an item of this value. `index` and `counts` are those
   * after it.
   */
  canFinishAfter(value: number, index: number, counts: readonly number[]): boolean {
    const own = this.classOf.get(value)
    if (own === undefined) return false
    this.steps = 0
    return this.search(
      index,
      counts,
      this.classes.map((_, id) => (id === own ? 1 : 0)),
      0,
    )
  }

  private search(index: number, counts: readonly number[], used: readonly number[], depth: number): boolean {
    if (this.bounds.canClose({ index, counts, seen: nothing })) return true
    const key = `${index} ${counts} ${used}`
    const known = this.known.get(key)
    if (known !== undefined) return known
    this.steps += 1 + this.classes.length
    const { containsSteps } = this.limits
    const { containsAhead } = fixedBounds
    if (this.steps > containsSteps || depth > containsAhead) {
      const words = { steps: containsSteps, ahead: containsAhead }
      throw this.steps > containsSteps
        ? limitError(this.limits, "containsSteps", this.steps, "", words)
        : limitError(fixedBounds, "containsAhead", depth, "", words)
    }
    const result = this.hasEnough(counts, used) && this.someClass(index, counts, used, depth)
    this.known.set(key, result)
    return result
  }

  /** Whether each `contains` finds as many values as it still needs. */
  private hasEnough(counts: readonly number[], used: readonly number[]): boolean {
    return this.spec.contains.every(({ min }, i) => {
      const left = this.classes.reduce(
        (sum, { isCounted, size }, id) => sum + (isCounted[i] ? size - used[id] : 0),
        0,
      )
      return counts[i] + left >= min
    })
  }

  private someClass(
    index: number,
    counts: readonly number[],
    used: readonly number[],
    depth: number,
  ): boolean {
    const { contains, max } = this.spec
    if (index >= max) return false
    const item = this.bounds.item(index)
    const after = this.bounds.after(index)
    return this.classes.some(({ items, isCounted, size }, id) => {
      if (used[id] === size || !items.has(item)) return false
      const next = counts.map((count, i) => {
        const { from, min, max: most } = contains[i]
        if (!isCounted[i] || index < from) return count
        return Math.min(count + 1, most === Infinite ? min : most + 1)
      })
      if (next.some((count, i) => count > contains[i].max)) return false
      return this.search(after, next, used.with(id, used[id] + 1), depth + 1)
    })
  }
}
