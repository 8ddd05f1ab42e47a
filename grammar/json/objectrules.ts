/**
 * The arithmetic of properties: which keys may come next so that the object can still be finished.
 *
 * With R = required names still to come: count + |R| + extra ≤ max, where extra is the fewest further keys that meet
 * the obligations R cannot meet; and count + all that is still available ≥ min. With order "schema" only names ahead
 * of the last one read are available, and the open classes come after every named key.
 */
import type { KeyClass, ObjectSpec } from "./objectspec.ts"
import type { Lookup } from "./satisfiable.ts"

/** What is known of the keys so far. */
export interface Progress {
  /** Bit i: declared name i has been read. Shape [ceil(names / 32)]. */
  readonly seen: Int32Array
  /** Interned list of the other keys read, or `UnknownKeys`. */
  readonly others: number
  readonly count: number
  /** Bit set of obligations that are not met yet. */
  readonly unmet: number
  /** Order "schema": first declared name that is still ahead. */
  readonly next: number
  /** Required names that have not been read. */
  readonly requiredCount: number
}

/** One of the other keys is not known: masks ask what follows before the key's text is there. */
export const UnknownKeys = -1

/** A way to read a key: what its value must satisfy, and the progress after it. */
export interface KeyWay {
  readonly value: number
  readonly progress: Progress
}

export class ObjectRules {
  readonly spec: ObjectSpec
  readonly ordered: boolean
  /** Classes whose values have a value. */
  readonly classes: readonly KeyClass[]
  /** Whether declared name i has a value that exists. */
  private readonly isOffered: readonly boolean[]
  private readonly and: (conjunction: number, facts: readonly number[]) => number
  private readonly isProductive: Lookup

  constructor(
    spec: ObjectSpec,
    ordered: boolean,
    and: (conjunction: number, facts: readonly number[]) => number,
    isProductive: Lookup,
  ) {
    this.spec = spec
    this.ordered = ordered
    this.and = and
    this.isProductive = isProductive
    this.isOffered = spec.names.map(({ name, value }) => name.isWellFormed() && isProductive(value))
    this.classes = spec.classes.filter(({ value }) => isProductive(value))
  }

  get start(): Progress {
    const { names, obligations } = this.spec
    return {
      seen: new Int32Array((names.length + 31) >>> 5),
      others: 0,
      count: 0,
      unmet: (1 << obligations.length) - 1,
      next: 0,
      requiredCount: names.reduce((count, { isRequired }) => count + (isRequired ? 1 : 0), 0),
    }
  }

  /** Whether any object at all satisfies the spec. */
  isPossible(): boolean {
    if (this.spec.min > this.spec.max) return false
    if (this.spec.names.some(({ isRequired }, i) => isRequired && !this.isOffered[i])) return false
    return this.canFinish(this.start)
  }

  canClose({ requiredCount, count, unmet }: Progress): boolean {
    return requiredCount === 0 && count >= this.spec.min && count <= this.spec.max && unmet === 0
  }

  /** Declared names that may be the next key, ascending. */
  available(progress: Progress): number[] {
    const { names } = this.spec
    const available: number[] = []
    for (let i = this.ordered ? progress.next : 0; i < names.length; i++) {
      if (this.isSeen(progress, i)) continue
      if (this.isOffered[i] && this.nameWays(progress, i).length > 0) available.push(i)
      if (this.ordered && names[i].isRequired) break
    }
    return available
  }

  /** Classes that may give the next key. */
  availableClasses(progress: Progress): number[] {
    if (this.ordered && progress.requiredCount > 0) return []
    return [...this.classes.keys()].filter((c) => this.classWays(progress, c, progress.others).length > 0)
  }

  /** Ways to read declared name `index` next. */
  nameWays(progress: Progress, index: number): KeyWay[] {
    const { value, obligations, isRequired } = this.spec.names[index]
    return this.ways(progress, value, obligations, (met) => {
      const seen = progress.seen.slice()
      seen[index >>> 5] |= 1 << (index & 31)
      return {
        seen,
        others: progress.others,
        count: progress.count + 1,
        unmet: progress.unmet & ~met,
        next: index + 1,
        requiredCount: progress.requiredCount - (isRequired ? 1 : 0),
      }
    })
  }

  /** Ways to read a key of class `index` next, after which the list of other keys is `others`. */
  classWays(progress: Progress, index: number, others: number): KeyWay[] {
    const { value, obligations } = this.classes[index]
    const next = this.ordered ? this.spec.names.length : 0
    return this.ways(progress, value, obligations, (met) => ({
      ...progress,
      others,
      count: progress.count + 1,
      unmet: progress.unmet & ~met,
      next,
    }))
  }

  /** A declared name that has to come, or can meet an obligation; -1 if there is none. */
  neededName(progress: Progress): number {
    const { names } = this.spec
    const available = this.available(progress)
    const required = available.find((i) => names[i].isRequired)
    const meeting = available.find((i) => this.meets(this.nameWays(progress, i), progress))
    if (required === undefined || meeting === undefined) return required ?? meeting ?? -1
    // In schema order a name that is passed over is given up.
    return this.ordered ? Math.min(required, meeting) : required
  }

  /** A class whose keys can meet an obligation; -1 if there is none. */
  neededClass(progress: Progress): number {
    const classes = this.availableClasses(progress)
    return classes.find((c) => this.meets(this.classWays(progress, c, progress.others), progress)) ?? -1
  }

  private meets(ways: readonly KeyWay[], progress: Progress): boolean {
    return ways.some((way) => way.progress.unmet !== progress.unmet)
  }

  private ways(
    progress: Progress,
    value: number,
    obligations: number,
    after: (met: number) => Progress,
  ): KeyWay[] {
    const open = obligations & progress.unmet
    const ways: KeyWay[] = []
    for (let met = open; ; met = (met - 1) & open) {
      const next = after(met)
      const demand = this.demand(value, met)
      if ((met === 0 || this.isProductive(demand)) && this.canFinish(next))
        ways.push({ value: demand, progress: next })
      if (met === 0) return ways
    }
  }

  /** The conjunction of `value` and of what the obligations in `met` ask. */
  private demand(value: number, met: number): number {
    return met === 0
      ? value
      : this.and(
          value,
          this.spec.obligations.filter((_, i) => ((met >>> i) & 1) === 1),
        )
  }

  private isSeen(progress: Progress, index: number): boolean {
    return ((progress.seen[index >>> 5] >>> (index & 31)) & 1) === 1
  }

  /** Whether the object can still be completed. */
  private canFinish(progress: Progress): boolean {
    const { min, max, names } = this.spec
    const { count, requiredCount, unmet } = progress
    if (count + requiredCount > max || (unmet !== 0 && !this.canMeet(progress))) return false
    if (this.classes.length > 0 || count + requiredCount >= min) return true
    let available = 0
    for (let i = this.ordered ? progress.next : 0; i < names.length; i++) {
      if (this.isOffered[i] && !this.isSeen(progress, i)) available++
    }
    return count + available >= min
  }

  /**
   * Whether the unmet obligations can be met within the bound on keys: each by a required name that is still to come or
   * by one more key; one key may meet several.
   */
  private canMeet(progress: Progress): boolean {
    const { names, max } = this.spec
    const candidates: { value: number; obligations: number; isFree: boolean; isNamed: boolean }[] = []
    for (let i = this.ordered ? progress.next : 0; i < names.length; i++) {
      const { value, obligations, isRequired } = names[i]
      if (!this.isOffered[i] || this.isSeen(progress, i) || (obligations & progress.unmet) === 0) continue
      candidates.push({ value, obligations, isFree: isRequired, isNamed: true })
    }
    for (const { value, obligations } of this.classes)
      candidates.push({ value, obligations, isFree: false, isNamed: false })
    const search = (unmet: number, from: number, room: number): boolean => {
      if (unmet === 0) return true
      for (let c = from; c < candidates.length; c++) {
        const { value, obligations, isFree, isNamed } = candidates[c]
        if (!isFree && room === 0) continue
        const open = obligations & unmet
        for (let met = open; met > 0; met = (met - 1) & open) {
          // A class has names without end: it may serve again.
          const rest = () => search(unmet & ~met, isNamed ? c + 1 : c, isFree ? room : room - 1)
          if (this.isProductive(this.demand(value, met)) && rest()) return true
        }
      }
      return false
    }
    return search(progress.unmet, 0, max - progress.count - progress.requiredCount)
  }
}
