/** What array rules keep about a list of unique items that were read. */
import type { UniqueCounts } from "./uniquecounts.ts"

/** Values that were seen, and what is asked about them. */
export class Taken {
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
